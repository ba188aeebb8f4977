/* Lifetimes: requesting profiles from the heaps, ending them, and the model of their reports.
 *
 * 1. Purpose
 * Each heap is asked before its profile begins, and each profile ends with its live objects reported, where the program
 * collects in time.
 *
 * 2. Terms
 * Control word: sample_control of a heap's header. Request: what is written to it. Censored: alive when the profile
 * ended.
 *
 * 3. Algorithm
 * A command and its children get the request in their environment (EDEN_SAMPLING), and the probe batch__requested is
 * attached to for every process: the profile of each of their heaps is observed from its beginning. If a child has
 * another environment, or its runtime has no such probe, its heaps are asked when they are seen. Heaps of a running
 * process get the request in their control word, before the probe batch is attached to, which starts their profiles. A
 * heap that such a process creates later starts at once with its environment's setting; its control word is written
 * when the heap is seen, for its next profile.
 *
 * Only a collection can report live objects, and the tool cannot make a program collect. So at the end it requests that
 * each profile end (EDEN_CONTROL_END), and waits at most ENDING_NS. Then it lowers the semaphores, and last writes 0 to
 * the control words: no request. Each of these rounds of writing ends after ASKING_NS, however many heaps there are.
 * The tool does not restore old values: they are data of the process, and it never writes those.
 *
 * 4. Invariants
 * I1. A profile's settings come from its own records, never from the request; a message reports differences.
 * I2. A profile counts only if its beginning was observed: else births are missing (is_partial of struct life_profile).
 *     A forked child has a copy of its parent's semaphores and breakpoints. So if a process is attached to for batch, a
 *     heap that it creates before that begins a profile that reports to nobody. It is asked for another one.
 * I3. Once the semaphores have fallen, the control word of each asked heap that is still alive is 0, but for those that
 *     a message counts.
 *
 * 5. Failure
 * A profile without a reported end lacks its censored objects: births - deaths, of unknown age. A heap without a
 * profile that counts is unprofiled, and a message says so. If the tool is killed, the semaphores fall and the profiles
 * end with the next collections; control words keep the request for the next listener that writes none. */
#include "kernel/life_kernel.h"
#include "model/lifetimes/limit.h"
#include "session/source_parts.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/message.h"
#include "util/sum.h"
#include <bpf/bpf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASKING_NS 3000000000ull

/* ---- control words ---------------------------------------------------------------------------------------------- */

static bool is_asked(const struct life_source *life, const struct process_key *process, uint64_t address) {
    for (size_t i = 0; i < life->asked_count; i++) {
        if (life->asked[i].address == address && process_is_same(&life->asked[i].process, process)) {
            return true;
        }
    }
    return false;
}

/* False: as source_write_control(). */
static bool ask(struct source *source, struct observed *observed, uint64_t address, uint64_t request, bool anew) {
    struct life_source *life = &source->life;
    if (!source_write_control(source, observed, address, request, anew)) {
        return false;
    }
    if (is_asked(life, &observed->key, address)) {
        return true;
    }
    struct asked_heap *asked = array_grow(&life->asked, &life->asked_room, life->asked_count, sizeof *asked);
    if (asked) {
        *asked = (struct asked_heap){observed->key, address};
        life->asked_count++;
    }
    return true;
}

static struct observed *find_observed(const struct source *source, const struct process_key *process) {
    for (size_t i = 0; i < source->observed_count; i++) {
        if (process_is_same(&source->observed[i].key, process)) {
            return &source->observed[i];
        }
    }
    return NULL;
}

/* What is known of a heap's profile; false: it has none yet. */
static bool read_profile(const struct source *source, uint32_t number, struct life_profile *profile) {
    return bpf_map_lookup_elem(kernel_life_map(source->kernel, KERNEL_LIFE_PROFILES), &number, profile) == 0 &&
           profile->last.time_ns != 0;
}

/* Whether the beginning of its last profile was observed. */
static bool has_profile(const struct source *source, uint32_t number) {
    struct life_profile profile;
    return read_profile(source, number, &profile) && !profile.is_partial;
}

/* The number of the file whose probe a heap hit first. */
static uint32_t file_of(const struct source *source, const volatile struct heap_entry *heap) {
    uint32_t file = 0;
    while (file < source->files && (heap->spec < source->file[file].first_spec ||
                                    heap->spec >= source->file[file].first_spec + source_sites(&source->file[file]))) {
        file++;
    }
    return file;
}

/* Whether profiles that begin in heaps of this file are observed from then on. */
static bool is_requested(const struct source *source, uint32_t file) {
    return file < source->files && source->file[file].requested;
}

/* Heaps created since the last look. Those of a command have it from their environment, and a profile by now: if not,
 * their environment is another one. */
static void ask_new_heaps(struct source *source) {
    uint32_t count;
    const volatile struct heap_entry *entry = kernel_heaps(source->kernel, &count);
    for (; source->life.entries_seen < count; source->life.entries_seen++) {
        const volatile struct heap_entry *heap = &entry[source->life.entries_seen];
        struct process_key process = heap->key.process;
        struct observed *observed = find_observed(source, &process);
        bool is_late = !source->options.command ||
                       (is_requested(source, file_of(source, heap)) && !has_profile(source, source->life.entries_seen));
        if (heap->flags & HEAP_CREATED && is_late && observed) {
            ask(source, observed, heap->key.address, source->options.control, !source->options.command);
        }
    }
}

/* Whether a heap has a profile that has not ended. */
static bool profiles(const struct source *source, const volatile struct heap_entry *entry, uint32_t number) {
    struct life_profile profile;
    struct process_key process = entry->key.process;
    const struct observed *observed = find_observed(source, &process);
    return observed && !observed->ended && (entry->flags & (HEAP_USED | HEAP_DESTROYED)) == HEAP_USED &&
           read_profile(source, number, &profile) && !profile.last.ended;
}

/* Writes the control words of all heaps that were asked before, for at most ASKING_NS. Returns how many are left. */
static size_t ask_all(struct source *source, uint64_t request) {
    const uint64_t start_ns = now_ns();
    size_t left = 0;
    for (size_t i = 0; i < source->life.asked_count; i++) {
        struct observed *observed = find_observed(source, &source->life.asked[i].process);
        if (observed && !observed->ended && now_ns() - start_ns >= ASKING_NS) {
            left++;
        } else if (observed && !observed->ended) {
            ask(source, observed, source->life.asked[i].address, request, true);
        }
    }
    return left;
}

bool source_end_lifetimes(struct source *source, bool at_once) {
    uint32_t count;
    const volatile struct heap_entry *entry = kernel_heaps(source->kernel, &count);
    if (source->life.ending_ns == 0) {
        const uint64_t end = EDEN_CONTROL_ASKED | EDEN_CONTROL_END;
        source->life.ending_ns = now_ns();
        ask_all(source, end);
        for (uint32_t i = 0; i < count && now_ns() - source->life.ending_ns < 2 * ASKING_NS; i++) {
            struct process_key process = entry[i].key.process;
            if (profiles(source, &entry[i], i)) {
                ask(source, find_observed(source, &process), entry[i].key.address, end, true);
            }
        }
    }
    bool waiting = false;
    for (uint32_t i = 0; i < count; i++) {
        waiting = waiting || profiles(source, &entry[i], i);
    }
    return at_once || !waiting || now_ns() - source->life.ending_ns >= ENDING_NS;
}

void source_close_lifetimes(struct source *source) {
    size_t left = ask_all(source, 0);
    if (left > 0) {
        message_print("the request for lifetimes stays in %zu heap%s: clearing it takes too long", left, plural(left));
    }
    free(source->life.asked);
    life_names_clear(&source->life.names);
    source_clear_stacks(source);
    source->life = (struct life_source){0};
}

/* ---- what comes ------------------------------------------------------------------------------------------------- */

/* What its header says; NULL: it was seen from its start, or its header could not be read. */
static const struct late_heap *late_heap_of(const struct observed *observed, const volatile struct heap_entry *entry,
                                            uint64_t serial) {
    return observed && !(entry->flags & HEAP_CREATED) ? source_find_late(observed, serial) : NULL;
}

/* The model's heap for an entry; NULL: no memory. */
static struct life_heap *heap_of(struct source *source, struct life_model *model,
                                 const volatile struct heap_entry *entry) {
    struct process_key process = entry->key.process;
    const struct observed *observed = find_observed(source, &process);
    const uint64_t serial = source_serial(source, entry->number);
    const struct late_heap *late = late_heap_of(observed, entry, serial);
    struct life_heap *heap = life_model_heap(
        model, &process, (struct heap_ref){entry->key.address, late ? late->first.id : entry->id, serial});
    if (heap && heap->name[0] == 0) {
        for (size_t i = 0; i + 1 < sizeof heap->name; i++) {
            heap->name[i] = late ? late->first.name[i] : entry->name[i];
        }
    }
    if (heap && observed) {
        memcpy(heap->command, observed->command, sizeof heap->command);
    }
    return heap;
}

static void on_event(void *context, const struct event *event) {
    struct source *source = context;
    life_names_event(&source->life.names, event);
}

bool source_check_profiles(const struct source *source, const struct observed *observed, struct failure *why) {
    /* A child forked since then has a copy of our own request. */
    bool is_checked = source->options.lifetimes && !source->options.command && observed->key.start_ns < source->open_ns;
    for (size_t i = 0; is_checked && i < observed->late_heaps; i++) {
        if (heapinfo_is_profiled(&observed->late_heap[i].first)) {
            return failure_set(why, 1,
                               "process %u (%s) is being profiled already, by another edenscope; repeat when that ends",
                               observed->key.pid, observed->command);
        }
    }
    return true;
}

static void ask_late_heaps(struct source *source, struct observed *observed) {
    for (size_t i = 0; i < observed->late_heaps; i++) {
        struct late_heap *late = &observed->late_heap[i];
        if (!late->gone && !late->is_asked) {
            bool anew = !is_requested(source, late->file);
            late->is_asked = ask(source, observed, late->first.address, source->options.control, anew);
        }
    }
}

/* Of a command, those that were created before the process was looked at. */
static void ask_created_heaps(struct source *source, struct observed *observed) {
    uint32_t count;
    const volatile struct heap_entry *entry = kernel_heaps(source->kernel, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct process_key process = entry[i].key.process;
        if ((entry[i].flags & (HEAP_CREATED | HEAP_DESTROYED)) == HEAP_CREATED && !has_profile(source, i) &&
            process_is_same(&process, &observed->key)) {
            ask(source, observed, entry[i].key.address, source->options.control,
                !is_requested(source, file_of(source, &entry[i])));
        }
    }
}

void source_ask_heaps(struct source *source, struct observed *observed) {
    if (source->options.lifetimes) {
        ask_late_heaps(source, observed);
    }
    for (size_t i = 0; source->options.collects && i < observed->late_heaps; i++) {
        struct late_heap *late = &observed->late_heap[i];
        late->is_asked =
            late->is_asked || late->gone || source_request_collection(source, observed, late->first.address);
    }
    if (source->options.lifetimes && source->options.command) {
        ask_created_heaps(source, observed);
    }
    if (source_is_for_lifetimes(&source->options)) {
        source_report_late(source, now_ns() + ROUND_NS, on_event, source); /* while there is somebody to ask */
    }
}

static bool on_chunk(void *context, const struct life_chunk *chunk) {
    struct source *source = context;
    uint32_t count;
    const volatile struct heap_entry *entry = kernel_heaps(source->kernel, &count);
    if (chunk->heap >= count) {
        return true; /* can't be: the entry comes before the chunk */
    }
    entry += chunk->heap;
    struct life_batch batch = {.time_ns = chunk->time_ns,
                               .process = entry->key.process,
                               .address = entry->key.address,
                               .id = entry->id,
                               .serial = source_serial(source, chunk->heap),
                               .kind = chunk->kind,
                               .count = chunk->count,
                               .record_bytes = chunk->record_bytes,
                               .records = chunk + 1};
    const struct late_heap *late = late_heap_of(find_observed(source, &batch.process), entry, batch.serial);
    batch.id = late ? late->first.id : batch.id;
    if (batch.kind == LIFE_BATCH_STACK) {
        return source_take_stack(source, chunk, &batch);
    }
    return source->options.on_batch(source->options.batch_context, &batch);
}

bool source_follow_lifetimes(struct source *source, uint64_t end_ns) {
    ask_new_heaps(source);
    return kernel_chunks(source->kernel, end_ns, on_chunk, source);
}

bool source_take_names(struct source *source, uint64_t end_ns) {
    uint64_t now = now_ns(), half = now < end_ns ? now + (end_ns - now) / 2 : now;
    bool has_all = source_report_late(source, half, on_event, source);
    return source_events(source, end_ns, on_event, source) && has_all;
}

/* ---- the model -------------------------------------------------------------------------------------------------- */

struct sums_entry {
    struct life_sums_key key;
    struct life_sums sums;
};

/* Where the model has the heap of a number of the kernel's, and which of its profiles is the last one. */
struct taken_heap {
    size_t place;
    uint32_t profile;
    bool is_profiled;
};

struct taking {
    struct source *source;
    struct life_model *model;
    struct taken_heap *heaps; /* owned; by number */
    uint32_t count;
    struct failure *why;
};

/* All heaps are in the model already: they stay where they are. */
static bool find_heaps(struct taking *taking) {
    const volatile struct heap_entry *entry = kernel_heaps(taking->source->kernel, &taking->count);
    taking->heaps = calloc(taking->count + 1, sizeof *taking->heaps);
    for (uint32_t i = 0; taking->heaps && i < taking->count; i++) {
        struct life_profile last;
        bool is_profiled = entry[i].flags & HEAP_USED && read_profile(taking->source, i, &last) && !last.is_partial;
        struct life_heap *heap = is_profiled ? heap_of(taking->source, taking->model, &entry[i]) : NULL;
        if (heap) {
            taking->heaps[i] =
                (struct taken_heap){(size_t)(heap - taking->model->heaps), life_profile_of(i, last.number), true};
        }
    }
    return taking->heaps;
}

/* The heap that sums are of; NULL: another profile has replaced theirs. */
static struct life_heap *heap_of_profile(const struct taking *taking, uint32_t profile) {
    const uint32_t number = profile & ((1u << LIFE_HEAP_BITS) - 1);
    const struct taken_heap *heap = number < taking->count ? &taking->heaps[number] : NULL;
    return heap && heap->is_profiled && heap->profile == profile ? &taking->model->heaps[heap->place] : NULL;
}

/* Those of one site and outcome are one entry. */
static void take_sum(const struct taking *taking, const struct sums_entry *entry) {
    const struct life_sums_key *key = &entry->key;
    const struct life_sums *sums = &entry->sums;
    struct life_heap *heap = heap_of_profile(taking, key->profile);
    struct life_site *site = heap ? life_heap_site(heap, key->site) : NULL;
    bool is_end = key->outcome < LIFE_OUTCOMES;
    if (site && !is_end) {
        site->births = *sums;
    } else if (heap && !is_end) {
        sum_add(&heap->beyond.births, sums->count);
    } else if (heap && (!site || !life_site_end(heap, site, (enum life_outcome)key->outcome,
                                                key->flags % EDEN_LIFE_FLAGS, sums))) {
        sum_add(&heap->beyond.ends, sums->count);
    }
}

static bool take_sums(const struct taking *taking) {
    int map = kernel_life_map(taking->source->kernel, KERNEL_LIFE_SUMS);
    struct sums_entry entry;
    struct life_sums_key before;
    for (void *from = NULL; bpf_map_get_next_key(map, from, &entry.key) == 0; from = &before) {
        before = entry.key;
        if (life_model_is_interrupted(taking->model, taking->why)) {
            return false;
        }
        if (bpf_map_lookup_elem(map, &entry.key, &entry.sums) == 0) {
            take_sum(taking, &entry);
        }
    }
    return true;
}

static void take_bucket(const struct taking *taking, const struct life_bucket_key *key,
                        const struct life_bucket_sums *sums) {
    const struct life_bucket bucket = {key->bucket, sums->count, sums->weight, sums->weight_bytes};
    struct life_heap *heap = heap_of_profile(taking, key->profile);
    struct life_site *site = heap ? life_heap_site(heap, key->site) : NULL;
    if (heap && (!site || !life_site_bucket(heap, site, (enum life_outcome)(key->outcome % LIFE_OUTCOMES),
                                            (enum life_clock)(key->clock % LIFE_CLOCKS), &bucket))) {
        sum_add(&heap->beyond.buckets, sums->count);
    }
}

static bool take_buckets(const struct taking *taking) {
    int map = kernel_life_map(taking->source->kernel, KERNEL_LIFE_BUCKETS);
    struct life_bucket_key key, before;
    struct life_bucket_sums sums;
    for (void *from = NULL; bpf_map_get_next_key(map, from, &key) == 0; from = &before) {
        before = key;
        if (life_model_is_interrupted(taking->model, taking->why)) {
            return false;
        }
        if (bpf_map_lookup_elem(map, &key, &sums) == 0) {
            take_bucket(taking, &key, &sums);
        }
    }
    return true;
}

static bool take_all(struct source *source, struct life_model *model, struct failure *why) {
    struct taking taking = {.source = source, .model = model, .why = why};
    bool taken = find_heaps(&taking) ? take_sums(&taking) && take_buckets(&taking)
                                     : failure_set(why, 1, "out of memory for the lifetimes");
    free(taking.heaps);
    return taken;
}

static bool take_reported_heaps(struct source *source, struct life_model *model) {
    uint32_t count;
    const volatile struct heap_entry *entry = kernel_heaps(source->kernel, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct life_heap *heap = entry[i].flags & HEAP_USED ? heap_of(source, model, &entry[i]) : NULL;
        if (heap) {
            struct life_profile profile;
            heap->begun = read_profile(source, i, &profile) && !profile.is_partial;
            heap->state = heap->begun ? profile.last : (struct eden_profile_record){0};
        } else if (entry[i].flags & HEAP_USED) {
            return false;
        }
    }
    return true;
}

/* Every heap that was seen is in the model, even where no probe fired: beyond the most that it holds, those are left
 * out. */
static bool take_heaps(struct source *source, struct life_model *model) {
    bool taken = take_reported_heaps(source, model);
    for (size_t i = 0; taken && i < source->observed_count; i++) {
        const struct observed *observed = &source->observed[i];
        for (size_t j = 0; j < observed->late_heaps; j++) {
            const struct heapinfo *late = &observed->late_heap[j].first;
            const struct heap_ref ref = {late->address, late->id, observed->late_heap[j].serial};
            struct life_heap *heap = life_model_heap(model, &observed->key, ref);
            if (heap) {
                snprintf(heap->name, sizeof heap->name, "%s", late->name);
                snprintf(heap->command, sizeof heap->command, "%s", observed->command);
            }
        }
    }
    return taken;
}

/* ---- what was lost ---------------------------------------------------------------------------------------------- */

static void print_lost(const struct source *source) {
    static const char *const kinds[LOST_KINDS] = {
        [LOST_HEAPS] = "hits of too many heaps",
        [LOST_EVENTS] = "class names that came too fast",
        [LOST_SPECS] = "hits of probes with unknown arguments",
        [LOST_LIVES] = "sampled objects of too many classes and sites",
        [LOST_BUCKETS] = "sampled objects missing in histograms",
        [LOST_RECORDS] = "records that came faster than they could be read (without --details there are fewer)",
        [LOST_UNREADABLE] = "records that were unreadable or invalid",
        [LOST_STRAYS] = "batches of too many heaps, or of probes with unknown arguments",
        [LOST_STACKS] = "stacks that came faster than they could be read, or from a runtime that reports no births",
    };
    for (enum lost_kind kind = 0; kind < LOST_KINDS; kind++) {
        uint64_t lost = kernel_lost_kind(source->kernel, kind);
        if (lost) {
            message_print("lost: %" PRIu64 " %s", lost, kinds[kind] ? kinds[kind] : "hits");
        }
    }
}

static void print_missed(const struct source *source) {
    char text[MODEL_TEXT];
    uint64_t missed = source_missed_children(source);
    if (missed) {
        message_print("%s", model_missed_text(missed, text));
    }
}

static unsigned user_of(const void *context, const struct process_key *process) {
    const struct observed *observed = find_observed(context, process);
    return observed ? observed->owner : UINT_MAX;
}

void source_share_lifetimes(const struct source *source, struct life_model *model) {
    model->user_of = user_of;
    model->user_context = source;
    model->wall_ns = (source->finished ? source->end_ns : now_ns()) - source->start_ns;
}

bool source_lifetimes(struct source *source, struct life_model *model, struct failure *why) {
    if (!take_heaps(source, model)) {
        return failure_set(why, 1, "out of memory for the lifetimes, or too many heaps");
    }
    if (!source->options.on_batch && !take_all(source, model, why)) {
        return false;
    }
    life_limit(model);
    sum_add(&model->lost, kernel_lost(source->kernel, false));
    sum_add(&model->lost, kernel_lost(source->kernel, true));
    life_model_sort(model);
    for (size_t i = 0; i < model->heap_count; i++) {
        if (life_model_is_interrupted(model, why)) {
            return false;
        }
        sum_add(&model->lost, model->heaps[i].state.lost);
        life_names_apply(&source->life.names, &model->heaps[i]);
    }
    print_lost(source);
    print_missed(source);
    life_model_report_beyond(model);
    return true;
}
