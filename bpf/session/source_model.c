/* The model from the kernel program's entries.
 *
 * 1. Algorithm
 * Each entry is copied under its sequence lock and becomes a heap of the model. For late heaps the header's totals are
 * added (source_late.c). A collection that is under way counts from its start, or from the attachment.
 *
 * 2. Invariants
 * I1. An entry's sums and its phase are of one moment.
 * I2. A figure is known only if every probe that reports it is attached in the heap's file. An unknown figure is shown
 *     as unknown, never as 0. */
#include "eden_values.h"
#include "model/probe_table.h"
#include "session/source_parts.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/sum.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A figure is known where every argument that feeds it is passed. A runtime without the probe of a correction has
 * nothing to correct, and one without that of `more` nothing to add. */
#define NEEDS_count true
#define NEEDS_sum true
#define NEEDS_gauge true
#define NEEDS_rule true
#define NEEDS_correction false
#define NEEDS_more false
static uint64_t known_figures(const struct file *file) {
    uint64_t known = (1ull << EDEN_FIGURE_COUNT) - 1;
#define FED(how, figure, argument)                                                                                     \
    if (NEEDS_##how && args <= (int)(offsetof(typeof(*from), argument) / sizeof(uint64_t))) {                          \
        known &= ~(1ull << EDEN_FIGURE_##figure);                                                                      \
    }
#define EDEN_FEEDS(probe, ...)                                                                                         \
    {                                                                                                                  \
        const struct eden_args_##probe *from = NULL;                                                                   \
        const int args = file->args[EDEN_PROBE_##probe];                                                               \
        (void)from;                                                                                                    \
        EDEN_EACH(FED, __VA_ARGS__)                                                                                    \
    }
#include "eden_figures.def"
#undef FED
    return known;
}

static uint64_t mask_of_kind(enum figure_kind kind) {
    uint64_t mask = 0;
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        mask |= figure_descriptions[i].kind == kind ? 1ull << i : 0;
    }
    return mask;
}

/* Whether each collection's start and end are seen. */
static bool collections_are_seen(const struct file *file) {
    return file->args[EDEN_PROBE_scavenge__start] && file->args[EDEN_PROBE_scavenge__done] > 2 &&
           file->args[EDEN_PROBE_full__start] && file->args[EDEN_PROBE_full__done] > 2;
}

static enum eden_phase whole_of(enum eden_phase phase) {
    while (phase_parents[phase] >= 0) {
        phase = (enum eden_phase)phase_parents[phase];
    }
    return phase;
}

/* By what its probes have said. */
static struct collection_model collection_seen(const struct heap_entry *entry) {
    struct collection_model collection = {.known = entry->flags & (HEAP_PHASE_SEEN | HEAP_DESTROYED)};
    if (entry->flags & HEAP_PHASE_SEEN && !(entry->flags & HEAP_DESTROYED) && entry->current_phase < EDEN_PHASE_COUNT) {
        collection.under_way = true;
        collection.phase = (enum eden_phase)entry->current_phase;
        collection.since_ns = entry->began_ns[whole_of(collection.phase)];
        collection.phase_since_ns = entry->began_ns[entry->current_phase];
    }
    return collection;
}

/* The header of a late heap says in which collection it was. Where no probe has fired since, it is in that phase still,
 * or in none; where one has, the collection whose start was not seen is that one. */
static void add_activity(const struct heapinfo *first, struct collection_model *collection) {
    bool stopped = first->activity == EDEN_ACTIVITY_STOPPED;
    if (!collection->known && first->activity != EDEN_ACTIVITY_UNKNOWN) {
        collection->known = true;
        collection->under_way = stopped;
        collection->phase = first->phase;
        collection->since_ns = stopped ? first->activity_ns : 0;
        collection->phase_since_ns = stopped ? first->phase_ns : 0;
    } else if (stopped && collection->under_way && collection->since_ns == 0) {
        collection->since_ns = first->activity_ns;
        if (phase_parents[collection->phase] < 0) {
            collection->phase_since_ns = first->activity_ns;
        }
    }
}

/* What a collection began before the tool was there is counted from then on. A process that was killed in a collection
 * is in it to its end; one that executes another program, until then. `entry`: what its probes have said; `first`: a
 * late heap's header. Either may be NULL. */
static void set_collection(const struct source *source, const struct heap_entry *entry, const struct heapinfo *first,
                           const struct observed *observed, uint64_t now, struct collection_model *collection) {
    *collection = entry ? collection_seen(entry) : (struct collection_model){0};
    const uint64_t seen_ns = collection->since_ns, phase_seen_ns = collection->phase_since_ns;
    now = now > phase_seen_ns ? now : phase_seen_ns; /* the entry was read later */
    if (first) {
        add_activity(first, collection);
    }
    if (!collection->under_way) {
        return;
    }
    uint64_t until = observed->ended && observed->ended_ns < now ? observed->ended_ns : now;
    bool is_former = collection->since_ns && collection->since_ns < observed->image_ns;
    until = is_former && observed->image_ns < until ? observed->image_ns : until;
    collection->until_ns = until;
    uint64_t attached = observed->attachments ? observed->attached[0].since_ns : 0;
    uint64_t from = seen_ns ? seen_ns : attached;
    from = from > source->start_ns ? from : source->start_ns;
    collection->observed_ns = until > from ? until - from : 0;
}

/* place: of the entry. False: `to` is NULL, for there is no memory. */
static bool copy_calls(const struct source *source, const struct heap_entry *entry, unsigned place,
                       struct phase_model *to) {
    const struct phase_sums *sums = &entry->phase[place];
    if (!to) {
        return false;
    }
    to->calls = sums->calls;
    to->total_ns = sums->total_ns;
    to->max_ns = sums->max_ns;
    to->outside_ns = sums->outside_ns;
    to->missing = sums->missing;
    to->missing_ns = sums->missing_ns;
    to->objects = sums->objects;
    to->bytes = sums->bytes;
    const volatile struct histogram *histogram =
        entry->histogram[place] ? kernel_histogram(source->kernel, entry->histogram[place] - 1) : NULL;
    for (uint32_t i = 0; histogram && i < HISTOGRAM_BUCKETS; i++) {
        to->buckets[i] = histogram->count[i];
    }
    return true;
}

static bool copy_phase(const struct source *source, const struct heap_entry *entry, enum eden_phase phase,
                       struct heap_model *heap) {
    struct phase_model *to = model_phase(heap, phase);
    if (to && phase_parents[phase] < 0) {
        const struct pause_sums *pauses = phase == EDEN_PHASE_full ? &entry->full : &entry->scavenge;
        to->pauses = pauses->all;
        to->longest = pauses->longest;
    }
    return copy_calls(source, entry, phase, to);
}

/* What had happened before the first event that was seen: as many events of the script, calls in the table of phases
 * and collections of the figures follow. Until the heap is reconciled, what the header said at attach. */
static uint64_t before_first(const struct late_heap *late, uint64_t first, uint64_t base, uint64_t sum) {
    return late->is_reconciled ? (base > sum ? base - sum : 0) : first;
}

/* A full collection whose start was not seen has its cause from the later header alone, which does not say when it
 * ended: it counts as seen, as it does in full_collections. Its cause has come since the first header. */
static void move_unseen_causes(struct heap_model *heap, const struct late_heap *late) {
    uint64_t unseen = 0;
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        sum_add(&unseen, heap->full_by_cause_before[i]);
    }
    unseen = sum_less(unseen, heap->before[EDEN_FIGURE_full_collections]);
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        const uint64_t since = sum_less(heap->full_by_cause_before[i], late->first.full_by_cause[i]);
        const uint64_t moved = since < unseen ? since : unseen;
        heap->full_by_cause_before[i] -= moved;
        unseen -= moved;
    }
}

/* Adds what a late heap's header knew to what was seen since. */
static void add_header(struct heap_model *heap, const struct heap_entry *entry, const struct late_heap *late) {
    uint64_t gauges = mask_of_kind(KIND_gauge), maxima = mask_of_kind(KIND_max);
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        uint64_t bit = 1ull << i;
        uint64_t base = late->base.figures[i], seen = entry ? entry->figures[i] : 0;
        if (!(late->base.known & bit)) {
            heap->known &= ~bit;
        }
        if (gauges & bit) {
            heap->figures[i] = entry && entry->gauges_set & bit ? seen : base;
        } else if (maxima & bit) {
            heap->figures[i] = seen > base ? seen : base;
            heap->before[i] = late->first.figures[i];
        } else {
            heap->figures[i] = base + seen - late->sums.figures[i];
            heap->before[i] = before_first(late, late->first.figures[i], base, late->sums.figures[i]);
        }
    }
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        heap->full_by_cause[i] =
            late->base.full_by_cause[i] + (entry ? entry->full_by_cause[i] : 0) - late->sums.full_by_cause[i];
        heap->full_by_cause_before[i] =
            before_first(late, late->first.full_by_cause[i], late->base.full_by_cause[i], late->sums.full_by_cause[i]);
    }
    move_unseen_causes(heap, late);
    heap->id = late->first.id;
    memcpy(heap->name, late->first.name, sizeof heap->name);
}

static bool snapshot_entry(struct source *source, struct process_model *process, const struct heap_entry *entry,
                           const struct observed *observed, uint64_t now, bool is_former) {
    bool created = entry->flags & HEAP_CREATED;
    const uint64_t serial = source_serial(source, entry->number);
    struct late_heap late = {0};
    enum earlier earlier = created ? EARLIER_WHOLE : source_late_of(observed, entry, serial, &late);
    const struct heap_ref ref = {entry->key.address, late.first.id ? late.first.id : entry->id, serial};
    struct heap_model *heap = model_heap(process, ref);
    if (!heap) {
        return false;
    }
    uint32_t file = 0;
    while (file + 1 < source->files &&
           entry->spec >= source->file[file].first_spec + source_sites(&source->file[file])) {
        file++;
    }
    heap->late = !created;
    heap->earlier = earlier;
    heap->destroyed = entry->flags & HEAP_DESTROYED;
    heap->is_former = !heap->destroyed && is_former;
    heap->owner = late.serial != 0 ? late.owner : entry->owner; /* its owner when it was found */
    snprintf(heap->command, sizeof heap->command, "%.16s", entry->command);
    heap->known = known_figures(&source->file[file]);
    if (collections_are_seen(&source->file[file])) {
        set_collection(source, entry, created ? NULL : &late.first, observed, now, &heap->collection);
    }
    memcpy(heap->name, entry->name, sizeof heap->name - 1);
    memcpy(heap->figures, entry->figures, sizeof heap->figures);
    memcpy(heap->full_by_cause, entry->full_by_cause, sizeof heap->full_by_cause);
    if (created) {
        /* Gauges of a heap without collections are 0, but eden has a size from the first. */
        heap->known &= entry->gauges_set | ~(1ull << EDEN_FIGURE_eden_size);
    } else if (earlier != EARLIER_UNKNOWN) {
        add_header(heap, entry, &late);
    } else {
        heap->known &= entry->gauges_set | ~mask_of_kind(KIND_gauge);
        if (late.first.id) {
            memcpy(heap->name, late.first.name, sizeof heap->name);
        }
    }
    for (enum eden_phase phase = 0; phase < EDEN_PHASE_COUNT; phase++) {
        if (entry->phase[phase].calls && !copy_phase(source, entry, phase, heap)) {
            return false;
        }
    }
    if (entry->phase[KERNEL_PAUSE].calls && !copy_calls(source, entry, KERNEL_PAUSE, model_phase(heap, MODEL_PAUSE))) {
        return false;
    }
    if (entry->command[0] && observed->command[0] == 0) {
        snprintf(process->command, sizeof process->command, "%.16s", entry->command);
    }
    return true;
}

/* Whether it is a copy made by fork, and each event of it is seen. */
static bool is_seen_copy(const struct source *source, const struct observed *observed, const struct late_heap *late) {
    bool has_executed = observed->exec_ns != 0 && observed->exec_ns <= late->read_ns;
    return observed->image_ns != 0 && !observed->is_root && source->file[late->file].attachment &&
           !observed->image_late && !has_executed;
}

/* Heaps known by their header alone: nothing has happened in them since. A copy whose events would be seen is left out:
 * whether its header is read depends on how long its process lives. */
static bool snapshot_idle(const struct source *source, struct process_model *process, const struct observed *observed,
                          uint64_t now) {
    for (size_t i = 0; i < observed->late_heaps; i++) {
        const struct late_heap *late = &observed->late_heap[i];
        const struct heap_ref ref = {late->first.address, late->first.id, late->serial};
        bool there = is_seen_copy(source, observed, late) || model_find_heap(process, ref);
        struct heap_model *heap = there ? NULL : model_heap(process, ref);
        if (heap) {
            heap->late = true;
            heap->is_former = (late->gone && !observed->ended) || late->read_ns < observed->image_ns;
            heap->owner = late->owner;
            memcpy(heap->command, late->command, sizeof heap->command);
            heap->known = known_figures(&source->file[late->file]);
            add_header(heap, NULL, late);
            if (collections_are_seen(&source->file[late->file])) {
                set_collection(source, NULL, &late->first, observed, now, &heap->collection);
            }
        } else if (!there) {
            return false;
        }
    }
    return true;
}

/* The kernel program may be changing it; it takes less than a microsecond, unless the program's thread is preempted. */
static void copy_entry(struct heap_entry *to, const volatile struct heap_entry *from) {
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        uint32_t changes = from->changes;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        *to = *from;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (changes % 2 == 0 && from->changes == changes) {
            return;
        }
        sched_yield();
    }
}

/* The parameter holds until the policy decides. */
static void read_eden_size(struct heap_entry *entry) {
    const uint64_t bit = 1ull << EDEN_FIGURE_eden_size;
    entry->eden_size[sizeof entry->eden_size - 1] = 0;
    if (!(entry->gauges_set & bit) && eden_size_parse(entry->eden_size, &entry->figures[EDEN_FIGURE_eden_size])) {
        entry->gauges_set |= bit;
    }
}

static struct model_losses losses_of(const struct share *share) {
    return (struct model_losses){share->lost_heaps, share->lost_hits, share->lost_events};
}

/* What processes have lost that have been forgotten, and branches that began with one: their others may go on. */
static struct model_losses forgotten_losses(const struct source *source) {
    struct share all, share;
    struct model_losses lost = {0};
    if (kernel_shares(source->kernel, &all)) {
        lost = losses_of(&all);
        for (size_t i = 0; i < source->observed_count + source->ended_count; i++) {
            const struct process_key *key = i < source->observed_count
                                                ? &source->observed[i].key
                                                : &source->ended[i - source->observed_count].process.key;
            if (kernel_share(source->kernel, key, &share)) {
                lost.heaps = sum_less(lost.heaps, share.lost_heaps); /* it may have lost more meanwhile */
                lost.hits = sum_less(lost.hits, share.lost_hits);
                lost.events = sum_less(lost.events, share.lost_events);
            }
        }
    }
    sum_add(&lost.heaps, source->children.forgotten_heaps);
    return lost;
}

bool source_snapshot_process(struct source *source, struct model *model, const struct observed *observed, uint64_t now,
                             uint64_t last) {
    uint32_t count;
    const volatile struct heap_entry *entries = kernel_heaps(source->kernel, &count);
    struct share share = {0};
    bool has_lost = kernel_share(source->kernel, &observed->key, &share);
    if (observed->attachments == 0 && !has_lost && observed->lost_heaps == 0 && !source_has_heaps(source, observed)) {
        return true;
    }
    struct process_model *process = model_process(model, &observed->key);
    if (!process) {
        return false;
    }
    snprintf(process->command, sizeof process->command, "%s", observed->command);
    snprintf(process->unit, sizeof process->unit, "%s", observed->unit);
    process->late = observed->late;
    process->ended = observed->ended;
    process->lost = losses_of(&share);
    sum_add(&process->lost.heaps, observed->lost_heaps);
    for (uint32_t i = 0; i < count; i++) {
        if (!(entries[i].flags & HEAP_USED) || entries[i].serial > last ||
            !process_is_same(&entries[i].key.process, &observed->key)) {
            continue;
        }
        struct heap_entry entry;
        copy_entry(&entry, &entries[i]);
        read_eden_size(&entry);
        if (!snapshot_entry(source, process, &entry, observed, now, entry.serial <= observed->image_serial)) {
            return false;
        }
    }
    if (!snapshot_idle(source, process, observed, now)) {
        return false;
    }
    model_sort_heaps(process); /* entries come in the order of their first events */
    return true;
}

bool source_snapshot(struct source *source, struct model *model, struct failure *why) {
    const uint64_t last = kernel_last_serial(source->kernel);
    size_t next = 0;
    model_clear(model);
    source_take_notices(source, now_ns() + ROUND_NS); /* so that the program of each of these heaps is known */
    source_reconcile(source, now_ns() + (source->finished ? ENDING_NS : ROUND_NS));
    uint64_t now = source->finished ? source->end_ns : now_ns();
    now = now > source->shown_ns ? now : source->shown_ns; /* a snapshot may come before the notice of the end */
    source->shown_ns = now;
    model->wall_ns = now - source->start_ns;
    const uint64_t counted = kernel_lost_kind(source->kernel, LOST_EVENTS); /* first: both grow meanwhile */
    model->lost = kernel_lost(source->kernel, false);
    model->uncounted = sum_less(model->lost, counted);
    model->lost_records = kernel_lost(source->kernel, true);
    model->missed_children = source_missed_children(source);
    model->status = source_exit_status(source);
    model->has_status = model->status >= 0;
    model->others = forgotten_losses(source);
    bool good = true;
    for (size_t i = 0; i < source->observed_count && good; i++) {
        good = source_snapshot_ended(source, model, &next, source->observed[i].order) &&
               source_snapshot_process(source, model, &source->observed[i], now, last);
    }
    if (!good || !source_snapshot_ended(source, model, &next, UINT64_MAX)) {
        return failure_set(why, 1, "out of memory");
    }
    model_set_stopped(model, NULL);
    return true;
}
