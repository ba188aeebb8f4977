/* The facts of a heap: from its events, from lifetimes, from a recording; and what rules ask of them. */
#include "advise/facts/facts.h"
#include "eden_policy.h"
#include "eden_weight.h"
#include "stats/lifetimes.h"
#include "util/array.h"
#include "util/text.h"
#include "views/lifetimes/view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tune_facts_clear(struct tune_facts *facts) {
    free(facts->passes);
    free(facts->large);
    free(facts->failures);
    free(facts->segments);
    free(facts->scans);
    free(facts->sites);
    free(facts->survivors);
    free(facts->classes);
    *facts = (struct tune_facts){0};
}

const struct tune_site *tune_most(const struct tune_facts *facts, double (*measure)(const struct tune_site *site)) {
    const struct tune_site *most = NULL;
    for (size_t i = 0; i < facts->site_count; i++) {
        const struct tune_site *site = &facts->sites[i];
        if (measure(site) > (most ? measure(most) : 0)) {
            most = site;
        }
    }
    return most;
}

uint64_t tune_figure(const struct tune_facts *facts, enum eden_figure figure) { return facts->figures[figure]; }

double tune_number(const struct tune_facts *facts, enum eden_param_id id) { return facts->parameters[id].number; }

bool tune_is_decided(const struct tune_facts *facts, enum eden_param_id id) {
    return tune_number(facts, EDEN_PARAM_policy) == EDEN_POLICY_AUTO &&
           tune_number(facts, id) == eden_param(id)->fallback;
}

bool tune_assumes_defaults(const struct tune_facts *facts) {
    return facts->late && !facts->parameters[EDEN_PARAM_grow_headroom].is_reported;
}

bool tune_is_old_decided(const struct tune_facts *facts) { return tune_is_decided(facts, EDEN_PARAM_full_gc_ratio); }

bool tune_is_tenuring_decided(const struct tune_facts *facts) {
    return tune_is_decided(facts, EDEN_PARAM_tenure_proportion) &&
           tune_is_decided(facts, EDEN_PARAM_survivors_to_keep) && tune_is_decided(facts, EDEN_PARAM_tenure_fill) &&
           tune_is_decided(facts, EDEN_PARAM_compat_threshold_bug);
}

double tune_growth(const struct tune_facts *facts) {
    return tune_is_old_decided(facts) ? 0.75 : tune_number(facts, EDEN_PARAM_full_gc_ratio); /* eden_policy_old */
}

bool tune_has_collections(const struct tune_facts *facts) {
    return tune_figure(facts, EDEN_FIGURE_scavenges) || tune_figure(facts, EDEN_FIGURE_full_collections);
}

static bool is_before_full(const struct tune_pass *pass) { return !pass->full && pass->cause == EDEN_SCAVENGE_FULL; }

uint64_t tune_pause_ns(const struct tune_facts *facts, size_t pass) {
    const struct tune_pass *at = &facts->passes[pass];
    if (is_before_full(at) && pass + 1 < facts->pass_count) {
        return 0;
    }
    uint64_t ns = at->duration_ns;
    for (; at->full && pass > 0 && is_before_full(&facts->passes[pass - 1]); pass--) {
        ns += facts->passes[pass - 1].duration_ns;
    }
    return ns;
}

bool tune_is_at_rest(const struct tune_facts *facts) { return facts->collection.known && !facts->collection.under_way; }

uint64_t tune_under_way_ns(const struct tune_facts *facts) {
    const struct collection_model *collection = &facts->collection;
    uint64_t ns = collection->known && collection->under_way ? collection->observed_ns : 0;
    return ns < facts->wall_ns ? ns : facts->wall_ns;
}

uint64_t tune_unfinished_ns(const struct tune_facts *facts) {
    uint64_t ns = tune_under_way_ns(facts);
    return ns > facts->wall_ns / 2 ? ns : 0;
}

int tune_unfinished_kind(const struct tune_facts *facts) {
    return phase_whole(facts->collection.phase) == EDEN_PHASE_full ? TUNE_FULLS : TUNE_SCAVENGES;
}

double tune_gc_share(const struct tune_facts *facts) {
    return tune_share_of_time(facts, (double)tune_figure(facts, EDEN_FIGURE_gc_ns));
}

double tune_share_of_gc(const struct tune_facts *facts, double ns) {
    uint64_t all = tune_figure(facts, EDEN_FIGURE_gc_ns);
    return all ? ns / (double)all : 0;
}

double tune_share_of_time(const struct tune_facts *facts, double ns) {
    return facts->wall_ns ? fmin(ns / (double)facts->wall_ns, 1) : 0;
}

double tune_old_peak(const struct tune_facts *facts) {
    double most = (double)tune_figure(facts, EDEN_FIGURE_old_capacity);
    for (size_t i = 0; i < facts->pass_count; i++) {
        most = fmax(most, (double)facts->passes[i].capacity_before);
    }
    for (size_t i = 0; i < facts->segment_count; i++) {
        most = fmax(most, (double)facts->segments[i].capacity_after);
    }
    return most;
}

static double new_space(const struct tune_facts *facts) { return tune_number(facts, EDEN_PARAM_eden_size) * 7 / 5; }

double tune_heap_peak(const struct tune_facts *facts) { return tune_old_peak(facts) + new_space(facts); }

double tune_alive(const struct tune_facts *facts) {
    double most = 0;
    for (size_t i = 0; i < facts->pass_count; i++) {
        most = fmax(most, facts->passes[i].full ? (double)facts->passes[i].old_after : 0);
    }
    return most;
}

double tune_least_heap(const struct tune_facts *facts) {
    bool is_decided = tune_is_decided(facts, EDEN_PARAM_eden_size);
    return tune_alive(facts) + (is_decided ? (double)EDEN_POLICY_LEAST * 7 / 5 : new_space(facts));
}

void tune_ask_max_heap(struct tune_facts *facts, uint64_t bytes) {
    struct tune_parameter *limit = &facts->parameters[EDEN_PARAM_max_heap];
    facts->ran_with_max_heap = tune_ran_with_max_heap(facts);
    limit->number = (double)bytes;
}

bool tune_asks_max_heap(const struct tune_facts *facts) { return facts->ran_with_max_heap > 0; }

double tune_ran_with_max_heap(const struct tune_facts *facts) {
    return tune_asks_max_heap(facts) ? facts->ran_with_max_heap : tune_number(facts, EDEN_PARAM_max_heap);
}

const struct tune_class *tune_class(const struct tune_facts *facts, uint32_t id) {
    size_t low = 0, high = facts->class_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (facts->classes[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < facts->class_count && facts->classes[low].id == id ? &facts->classes[low] : NULL;
}

char *tune_class_label(char text[TUNE_LABEL], const struct tune_facts *facts, uint32_t class_id) {
    const struct tune_class *class = tune_class(facts, class_id);
    const struct tune_class *of = class && class->of != class_id ? tune_class(facts, class->of) : NULL;
    char name[TUNE_LABEL / 2 - 1], owner[TUNE_LABEL / 2 - 1];
    if (!class || !class->name[0]) {
        snprintf(text, TUNE_LABEL, "class %u", (unsigned)class_id);
    } else if (of && of->name[0]) {
        snprintf(text, TUNE_LABEL, "%s, %s", text_escape(owner, sizeof owner, of->name, ""),
                 text_escape(name, sizeof name, class->name, ""));
    } else {
        text_escape(text, TUNE_LABEL, class->name, "");
    }
    return text;
}

/* What events add to the facts of a heap.
 *
 * A collection's probes are put together by number (seq): the start opens a pass, the parts fill it, the done probe
 * closes it. Collections don't nest, so one is open at a time; what opens while another is open replaces it. A pass
 * whose end lacks arguments, as an older runtime's or after losses, is counted and left out: half a pass would look
 * like a small one. */

struct heap_reader {
    struct tune_facts facts;
    uint64_t wall_ns, end_ns;            /* of the recording */
    uint64_t ended_ns[EDEN_PHASE_COUNT]; /* by phase_in_turn(): when the last one ended */
    struct tune_pass open;
    bool is_open;
};

enum { FACTS_PROBE_WORDS = (EDEN_PROBE_COUNT + 63) / 64 };

/* Room for one more at the end of an array; NULL: no memory, which is noted. */
static void *more(bool *refused, void *array, size_t count, size_t *room, size_t size) {
    void *at = array_grow(array, room, count, size);
    *refused = *refused || !at;
    return at;
}

static void open_pass(struct heap_reader *heap, const struct event *event) {
    const uint64_t *arg = event->arg;
    heap->open = (struct tune_pass){.started = true,
                                    .seq = EDEN_ARG(arg, scavenge__start, seq),
                                    .cause = EDEN_ARG(arg, scavenge__start, cause),
                                    .start_ns = event->time_ns};
    heap->is_open = true;
    if (event->probe == EDEN_PROBE_scavenge__start) {
        heap->open.eden_used = EDEN_ARG(arg, scavenge__start, eden_used);
        heap->open.survivors_before = EDEN_ARG(arg, scavenge__start, survivor_used);
        heap->open.remembered_before = EDEN_ARG(arg, scavenge__start, remembered_now);
        heap->open.old_before = EDEN_ARG(arg, scavenge__start, old_used);
        heap->open.allocated_since = EDEN_ARG(arg, scavenge__start, allocated_since);
    } else {
        heap->open.full = true;
        heap->open.old_before = EDEN_ARG(arg, full__start, old_used);
        heap->open.capacity_before = EDEN_ARG(arg, full__start, old_capacity);
        heap->open.requested = EDEN_ARG(arg, full__start, requested_bytes);
        heap->open.allocated_since = EDEN_ARG(arg, full__start, allocated_since);
    }
}

/* What a phase that ends took. Durations are what the process says: it began after the one before. */
static uint64_t duration_of(struct heap_reader *heap, const struct event *event, enum eden_phase phase) {
    uint64_t *ended = &heap->ended_ns[phase_in_turn(phase)],
             since = *ended > heap->facts.start_ns ? *ended : heap->facts.start_ns;
    uint64_t passed = event->time_ns > since ? event->time_ns - since : 0;
    uint64_t duration = EDEN_ARG(event->arg, mark__done, duration);
    *ended = event->time_ns > *ended ? event->time_ns : *ended;
    return duration < passed ? duration : passed;
}

static void add_part(struct heap_reader *heap, const struct event *event, enum eden_phase phase) {
    uint64_t duration = duration_of(heap, event, phase);
    if (heap->is_open && heap->open.seq == EDEN_ARG(event->arg, mark__done, seq)) {
        heap->open.part_ns[phase] += duration;
        heap->open.part_objects[phase] += EDEN_ARG(event->arg, mark__done, objects);
        heap->open.part_bytes[phase] += EDEN_ARG(event->arg, mark__done, bytes);
    }
}

static void close_pass(bool *refused, struct heap_reader *heap, const struct event *event) {
    const uint64_t *arg = event->arg;
    bool full = event->probe == EDEN_PROBE_full__done;
    struct tune_facts *facts = &heap->facts;
    uint64_t duration = duration_of(heap, event, full ? EDEN_PHASE_full : EDEN_PHASE_scavenge);
    bool started = heap->is_open && heap->open.seq == EDEN_ARG(arg, mark__done, seq) && heap->open.full == full;
    if (!started || !(full ? EDEN_HAS(event->args, full__done, young_freed)
                           : EDEN_HAS(event->args, scavenge__done, survivor_limit))) {
        facts->unreported_passes++;
        heap->is_open = false;
        return;
    }
    struct tune_pass *pass = more(refused, &facts->passes, facts->pass_count, &facts->pass_room, sizeof *facts->passes);
    if (!pass) {
        return;
    }
    *pass = heap->open;
    heap->is_open = false;
    facts->pass_count++;
    pass->duration_ns = duration;
    pass->part_ns[full ? EDEN_PHASE_full : EDEN_PHASE_scavenge] = duration;
    phase_limit_parts(pass->part_ns);
    if (full) {
        pass->old_after = EDEN_ARG(arg, full__done, old_used);
        pass->capacity_after = EDEN_ARG(arg, full__done, old_capacity);
        pass->free_chunks = EDEN_ARG(arg, full__done, free_chunks);
        pass->largest_free = EDEN_ARG(arg, full__done, largest_free);
        pass->segments = EDEN_ARG(arg, full__done, segments);
        pass->freed_bytes = EDEN_ARG(arg, full__done, freed_bytes);
        pass->young_freed = EDEN_ARG(arg, full__done, young_freed);
    } else {
        pass->survivors_after = EDEN_ARG(arg, scavenge__done, survivor_used);
        pass->remembered_after = EDEN_ARG(arg, scavenge__done, remembered_now);
        pass->tenured_bytes = EDEN_ARG(arg, scavenge__done, tenured_bytes);
        pass->tenured_objects = EDEN_ARG(arg, scavenge__done, tenured_objects);
        pass->threshold = EDEN_ARG(arg, scavenge__done, tenure_threshold);
        pass->semispace_start = EDEN_ARG(arg, scavenge__done, survivor_start);
        pass->semispace_limit = EDEN_ARG(arg, scavenge__done, survivor_limit);
    }
}

static void add_scan(bool *refused, struct tune_facts *facts, const uint64_t *arg) {
    struct tune_scans *scans = NULL;
    uint32_t class_id = (uint32_t)EDEN_ARG(arg, remembered__scan, class_id);
    for (size_t i = 0; i < facts->scan_count && !scans; i++) {
        scans = facts->scans[i].class_id == class_id ? &facts->scans[i] : NULL;
    }
    if (!scans) {
        scans = more(refused, &facts->scans, facts->scan_count, &facts->scan_room, sizeof *facts->scans);
        if (!scans) {
            return;
        }
        facts->scan_count++;
        *scans = (struct tune_scans){.class_id = class_id};
    }
    scans->count++;
    scans->slots += EDEN_ARG(arg, remembered__scan, slots);
    scans->young_references += EDEN_ARG(arg, remembered__scan, young_refs);
    scans->duration_ns += EDEN_ARG(arg, remembered__scan, duration);
    facts->scans_reported = true;
}

static void add_class(bool *refused, struct tune_facts *facts, const struct event *event) {
    struct tune_class *class =
        more(refused, &facts->classes, facts->class_count, &facts->class_room, sizeof *facts->classes);
    if (class) {
        facts->class_count++;
        uint32_t id = (uint32_t)EDEN_ARG(event->arg, class__define, class_id), of = (uint32_t)event_of_class(event);
        *class = (struct tune_class){.id = id, .of = of ? of : id};
        memcpy(class->name, event->text[0], sizeof class->name);
    }
}

static void add_segment(bool *refused, struct tune_facts *facts, const struct event *event) {
    struct tune_segment *segment =
        more(refused, &facts->segments, facts->segment_count, &facts->segment_room, sizeof *facts->segments);
    if (segment) {
        facts->segment_count++;
        *segment = (struct tune_segment){event->time_ns, EDEN_ARG(event->arg, segment__map, bytes),
                                         EDEN_ARG(event->arg, segment__map, old_capacity),
                                         event->probe == EDEN_PROBE_segment__map};
    }
}

/* A large object was born. */
static void add_large(bool *refused, struct tune_facts *facts, const struct event *event) {
    struct tune_allocation *large = more(refused, &facts->large, facts->large_count, &facts->large_room, sizeof *large);
    if (large) {
        facts->large_count++;
        *large = (struct tune_allocation){event->time_ns, EDEN_ARG(event->arg, alloc__large, bytes),
                                          (uint32_t)EDEN_ARG(event->arg, alloc__large, class_id)};
    }
}

static void add_failure(bool *refused, struct tune_facts *facts, const struct event *event) {
    struct tune_allocation *failure =
        more(refused, &facts->failures, facts->failure_count, &facts->failure_room, sizeof *failure);
    if (failure) {
        facts->failure_count++;
        *failure = (struct tune_allocation){event->time_ns, EDEN_ARG(event->arg, alloc__failed, bytes),
                                            (uint32_t)EDEN_ARG(event->arg, alloc__failed, class_id)};
    }
}

/* The part of the observed time between two events; a broken process sends them in any order. */
static uint64_t observed_between(const struct heap_reader *heap, uint64_t from_ns, uint64_t to_ns) {
    uint64_t passed = to_ns > from_ns ? to_ns - from_ns : 0;
    return passed < heap->wall_ns ? passed : heap->wall_ns;
}

/* Adds an event of this heap. False: no memory. */
static bool facts_take(struct heap_reader *heap, const struct event *event) {
    bool out_of_memory = false, *refused = &out_of_memory;
    struct tune_facts *facts = &heap->facts;
    switch (event->probe) {
    case EDEN_PROBE_heap__create:
        facts->wall_ns = observed_between(heap, event->time_ns, heap->end_ns);
        facts->start_ns = event->time_ns;
        break;
    case EDEN_PROBE_heap__destroy:
        facts->wall_ns = observed_between(heap, facts->start_ns, event->time_ns);
        break;
    case EDEN_PROBE_class__define:
        add_class(refused, facts, event);
        break;
    case EDEN_PROBE_scavenge__start:
    case EDEN_PROBE_full__start:
        open_pass(heap, event);
        break;
    case EDEN_PROBE_scavenge__done:
    case EDEN_PROBE_full__done:
        close_pass(refused, heap, event);
        break;
#define EDEN_PHASE(probe, name, parent)
#define EDEN_PART(part, name, parent)                                                                                  \
    case EDEN_PROBE_##part##__done:                                                                                    \
        add_part(heap, event, EDEN_PHASE_##part);                                                                      \
        break;
#include "eden_phases.def"
#undef EDEN_PHASE
    case EDEN_PROBE_remembered__scan:
        add_scan(refused, facts, event->arg);
        break;
    case EDEN_PROBE_alloc__large:
        add_large(refused, facts, event);
        break;
    case EDEN_PROBE_alloc__failed:
        add_failure(refused, facts, event);
        break;
    case EDEN_PROBE_segment__map:
    case EDEN_PROBE_segment__unmap:
        add_segment(refused, facts, event);
        break;
    default:
        break;
    }
    return !out_of_memory;
}

/* The probes that facts_take takes: bit i of word i / 64. */
static void facts_probes(uint64_t probes[FACTS_PROBE_WORDS]) {
    static const int wanted[] = {
        EDEN_PROBE_heap__create,   EDEN_PROBE_heap__destroy, EDEN_PROBE_class__define, EDEN_PROBE_scavenge__start,
        EDEN_PROBE_scavenge__done, EDEN_PROBE_full__start,   EDEN_PROBE_full__done,    EDEN_PROBE_remembered__scan,
        EDEN_PROBE_alloc__large,   EDEN_PROBE_alloc__failed, EDEN_PROBE_segment__map,  EDEN_PROBE_segment__unmap,
#define EDEN_PHASE(probe, name, parent)
#define EDEN_PART(part, name, parent) EDEN_PROBE_##part##__done,
#include "eden_phases.def"
#undef EDEN_PHASE
    };
    memset(probes, 0, FACTS_PROBE_WORDS * sizeof *probes);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        probes[wanted[i] / 64] |= 1ull << wanted[i] % 64;
    }
}

/* Facts from lifetimes: what each class and site allocated, and its fate.
 *
 * Sums give what classes and sites allocated and how much of it was tenured. Two facts need the records of single
 * objects: how often scavenges copied an object, and whether it was tenured in vain. It was if the first full
 * collection that started after its tenuring found it dead. All are estimates: a sample counts with its weight.
 *
 * A record has the start of a collection by the runtime's clock, a pass has the time of its start probe, which is
 * later. So the collection that a record names is the first pass after that time. */

struct life_readers {
    const struct life_model *model;
    struct tune_facts **of; /* owned; of each heap of the model; NULL: none */
};

/* Collections of one kind recorded after `from` and not after `to`; a thousand at most. */
static uint64_t passes_between(const struct tune_facts *facts, bool full, uint64_t from, uint64_t to) {
    size_t low = 0, high = facts->pass_count;
    uint64_t count = 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (facts->passes[middle].start_ns <= from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < facts->pass_count && facts->passes[low].start_ns <= to && count < 1000; low++) {
        count += facts->passes[low].full == full;
    }
    return count;
}

static void add_survivor(struct tune_survivors *survivors, const struct eden_life_record *record, bool tenured,
                         uint64_t copies, double bytes) {
    /* What is old and alive at the end counts as living for ever: that a run ends is no merit of its parameters. */
    uint64_t life = (record->death_bytes - record->birth_bytes) / 1024;
    uint32_t bucket = tenured && record->censored ? HISTOGRAM_BUCKETS - 1 : histogram_bucket(life);
    uint64_t place = copies < TUNE_COPIES ? copies : TUNE_COPIES - 1;
    if (bucket < HISTOGRAM_BUCKETS) {
        (tenured ? survivors->tenured : survivors->died_young)[bucket][place] += bytes;
    }
}

static void add_object(struct tune_facts *facts, struct tune_site *site, const struct eden_life_record *record) {
    double bytes = (double)record->weight / EDEN_WEIGHT_ONE * (double)record->bytes;
    bool tenured = record->flags & EDEN_LIFE_TENURED && !(record->flags & EDEN_LIFE_BORN_OLD) && record->tenured_ns;
    if (record->flags & EDEN_LIFE_BORN_OLD) {
        return;
    }
    uint64_t copies =
        tenured ? passes_between(facts, false, record->birth_ns, record->tenured_ns) + 1 : record->scavenges;
    bool in_vain =
        tenured && !record->censored && passes_between(facts, true, record->tenured_ns, record->death_ns) == 0;
    site->copied_bytes += bytes * (double)copies;
    site->survivor_bytes += copies ? bytes : 0;
    site->wasted_bytes += in_vain ? bytes : 0;
    site->old_bound_bytes += copies && !in_vain && (tenured || record->censored) ? bytes : 0;
    if (copies && record->death_bytes >= record->birth_bytes) {
        add_survivor(facts->survivors, record, tenured, copies, bytes);
    }
}

static bool on_object(void *context, const struct life_heap *heap, const struct eden_life_record *record) {
    const struct life_readers *readers = context;
    struct tune_facts *facts = readers->of[heap - readers->model->heaps];
    const struct life_site *found = facts ? life_heap_find(heap, record->site) : NULL;
    if (found) {
        add_object(facts, &facts->sites[found - heap->sites], record);
    }
    return true;
}

static void add_sums(struct tune_site *site, const struct life_site *from) {
    site->samples = from->births.count;
    site->objects = life_objects(&from->births);
    site->bytes = (double)from->births.weight_bytes;
    site->alive_bytes = site->bytes;
    for (enum life_outcome outcome = 0; outcome < LIFE_OUTCOMES; outcome++) {
        for (unsigned flags = 0; flags < EDEN_LIFE_FLAGS; flags++) {
            const struct life_sums *sums = life_site_ended(from, outcome, flags);
            site->alive_bytes -= outcome == LIFE_DIED ? (double)sums->weight_bytes : 0;
            if (flags & EDEN_LIFE_TENURED && !(flags & EDEN_LIFE_BORN_OLD)) {
                site->tenured_samples += sums->count;
                site->tenured_bytes += (double)sums->weight_bytes;
            }
            if (flags & EDEN_LIFE_NEPOTISM) {
                site->nepotism_bytes += (double)sums->weight_bytes;
            }
        }
    }
}

static void add_up(struct tune_site *all, const struct tune_site *site) {
    all->samples += site->samples;
    all->tenured_samples += site->tenured_samples;
    all->objects += site->objects;
    all->bytes += site->bytes;
    all->tenured_bytes += site->tenured_bytes;
    all->wasted_bytes += site->wasted_bytes;
    all->nepotism_bytes += site->nepotism_bytes;
    all->alive_bytes += site->alive_bytes;
    all->copied_bytes += site->copied_bytes;
    all->survivor_bytes += site->survivor_bytes;
    all->old_bound_bytes += site->old_bound_bytes;
}

static int by_bytes(const void *a, const void *b) {
    const struct tune_site *x = a, *y = b;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static bool begin_lifetimes(struct life_readers *readers, struct tune_heaps *heaps, const struct life_model *model) {
    for (size_t i = 0; i < model->heap_count; i++) {
        const struct life_heap *heap = &model->heaps[i];
        for (size_t j = 0; heap->begun && heaps->at && !readers->of[i] && j < heaps->count; j++) {
            struct tune_facts *facts = &heaps->at[j];
            if (!process_is_same(&facts->process, &heap->process) || !heap_is_same(HEAP_REF(facts), HEAP_REF(heap)) ||
                facts->sites) {
                continue;
            }
            facts->sites = calloc(heap->site_count + 1, sizeof *facts->sites);
            facts->survivors = model->objects.each ? calloc(1, sizeof *facts->survivors) : NULL;
            if (!facts->sites || (model->objects.each && !facts->survivors)) {
                return false;
            }
            facts->lifetimes = true;
            facts->details = model->objects.each;
            facts->site_count = heap->site_count;
            for (size_t k = 0; k < heap->site_count; k++) {
                char label[LIFE_HEAP_LABEL];
                struct tune_site *site = &facts->sites[k];
                text_copy(site->name, sizeof site->name, life_place_label(label, &heap->sites[k]));
                add_sums(site, &heap->sites[k]);
            }
            readers->of[i] = facts;
        }
    }
    return true;
}

static bool tune_facts_add_lifetimes(struct tune_heaps *heaps, struct recording *recording, struct failure *why) {
    struct life_model model = {0};
    struct life_readers readers = {.model = &model};
    if (!recording_info(recording)->lifetimes) {
        return true;
    }
    bool good = recording_lifetimes(recording, &model, why);
    readers.of = calloc(model.heap_count + 1, sizeof(struct tune_facts *));
    if (good && (!readers.of || !begin_lifetimes(&readers, heaps, &model))) {
        good = failure_set(why, 1, "out of memory for the recorded lifetimes");
    }
    if (good && model.objects.each) {
        good = model.objects.each(model.objects.from, &model, on_object, &readers, why);
    }
    for (size_t i = 0; good && readers.of && i < model.heap_count; i++) {
        struct tune_facts *facts = readers.of[i];
        for (size_t j = 0; facts && j < facts->site_count; j++) {
            add_up(&facts->all, &facts->sites[j]);
        }
        if (facts && facts->site_count) {
            qsort(facts->sites, facts->site_count, sizeof *facts->sites, by_bytes);
        }
    }
    free(readers.of);
    life_model_clear(&model);
    return good;
}

/* Facts from a recording: what the kernel summed up, the parameters, the events in order of time, and lifetimes. */

struct reader {
    struct heap_reader *heaps;
    size_t count;
    bool out_of_memory;
};

static bool on_event(void *context, const struct event *event, uint64_t heap_id) {
    struct reader *reader = context;
    for (size_t i = 0; i < reader->count; i++) {
        struct heap_reader *heap = &reader->heaps[i];
        const struct process_key *process = &heap->facts.process;
        if (process_is_same(process, &event->process) &&
            heap_is_same(HEAP_REF(&heap->facts), event_heap_ref(event, heap_id))) {
            reader->out_of_memory = !facts_take(heap, event);
            break;
        }
    }
    return !reader->out_of_memory;
}

/* ---- the recording ----------------------------------------------------------------------------------------------- */

/* The time figures are of the observed time: less what the first collections took before. */
static void clip_times(struct tune_facts *facts, const struct heap_model *heap) {
    static const struct {
        enum eden_figure figure;
        enum eden_phase phase;
    } parts[] = {
        {EDEN_FIGURE_scavenge_ns, EDEN_PHASE_scavenge}, {EDEN_FIGURE_gc_ns, EDEN_PHASE_scavenge},
        {EDEN_FIGURE_full_ns, EDEN_PHASE_full},         {EDEN_FIGURE_gc_ns, EDEN_PHASE_full},
        {EDEN_FIGURE_mark_ns, EDEN_PHASE_mark},         {EDEN_FIGURE_mark_ns, EDEN_PHASE_scavenge__mark},
        {EDEN_FIGURE_sweep_ns, EDEN_PHASE_sweep},       {EDEN_FIGURE_sweep_ns, EDEN_PHASE_scavenge__sweep},
        {EDEN_FIGURE_compact_ns, EDEN_PHASE_compact},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct phase_model *phase = heap->phase[parts[i].phase];
        uint64_t outside = phase ? phase->outside_ns : 0, *ns = &facts->figures[parts[i].figure];
        *ns -= outside < *ns ? outside : *ns;
    }
}

static void begin_heap(struct heap_reader *reader, const struct process_model *process, const struct heap_model *heap,
                       const struct model *model, const struct recording_info *info) {
    struct tune_facts *facts = &reader->facts;
    reader->wall_ns = model->wall_ns;
    reader->end_ns = info->commit_ns;
    facts->recorded_ns = model->wall_ns;
    facts->process = process->key;
    memcpy(facts->command, process->command, sizeof facts->command);
    memcpy(facts->heap_name, heap->name, sizeof facts->heap_name);
    facts->address = heap->address;
    facts->id = heap->id;
    facts->serial = heap->serial;
    facts->suffix = heap->suffix;
    facts->late = heap->late;
    facts->complete = heap_is_complete(heap) && model->lost == 0;
    facts->collection = heap->collection;
    facts->lost = model->lost + model->lost_records;
    facts->start_ns = info->mono_ns;
    facts->wall_ns = model->wall_ns;
    facts->known = heap->known;
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        facts->figures[i] = heap->figures[i] - heap->before[i];
    }
    clip_times(facts, heap);
    static const enum eden_phase kinds[TUNE_KINDS] = {
        [TUNE_SCAVENGES] = EDEN_PHASE_scavenge, [TUNE_FULLS] = EDEN_PHASE_full};
    for (int i = 0; i < TUNE_KINDS; i++) {
        facts->spent[i] = heap->phase[kinds[i]] ? heap->phase[kinds[i]]->pauses : (struct pause_time){0};
    }
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        facts->full_by_cause[i] = heap->full_by_cause[i] - heap->full_by_cause_before[i];
    }
    /* If no pause was longer than those before, the observed ones are in the events: finish(). */
    uint64_t longest = heap->figures[EDEN_FIGURE_max_pause_ns];
    facts->figures[EDEN_FIGURE_max_pause_ns] = longest > heap->before[EDEN_FIGURE_max_pause_ns] ? longest : 0;
    tune_parameters_default(facts->parameters);
}

static void on_parameter(void *context, const char *name, const char *value) {
    tune_parameter_read(context, name, value);
}

static bool begin(struct reader *reader, struct recording *recording, const struct heap_choice *choice,
                  struct failure *why) {
    struct model model = {0};
    bool good = recording_model(recording, &model, why);
    size_t room = 0;
    for (size_t i = 0; i < model.process_count; i++) {
        room += model.processes[i].heap_count;
    }
    reader->heaps = calloc(room + 1, sizeof *reader->heaps);
    reader->out_of_memory = !reader->heaps;
    for (size_t i = 0; good && reader->heaps && i < model.process_count; i++) {
        const struct process_model *process = &model.processes[i];
        for (size_t j = 0; good && j < process->heap_count; j++) {
            const struct heap_model *heap = &process->heaps[j];
            if (!heap_is_chosen(choice, process->key.pid, HEAP_REF(heap))) {
                continue;
            }
            struct heap_reader *to = &reader->heaps[reader->count++];
            begin_heap(to, process, heap, &model, recording_info(recording));
            good =
                recording_parameters(recording, &process->key, HEAP_REF(heap), on_parameter, to->facts.parameters, why);
        }
    }
    model_clear(&model);
    return good;
}

static int by_class_id(const void *a, const void *b) {
    const struct tune_class *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_duration(const void *a, const void *b) {
    const struct tune_scans *x = a, *y = b;
    return (x->duration_ns < y->duration_ns) - (x->duration_ns > y->duration_ns);
}

static uint64_t longest_pause(const struct tune_facts *facts) {
    uint64_t longest = 0;
    for (size_t i = 0; i < facts->pass_count; i++) {
        uint64_t pause = tune_pause_ns(facts, i);
        longest = pause > longest ? pause : longest;
    }
    return longest;
}

/* A runtime that reports parameters but no policy is older than that, and decides nothing. */
static void finish_policy(struct tune_facts *facts) {
    bool is_any_reported = false;
    for (int i = 0; i < EDEN_PARAM_COUNT; i++) {
        is_any_reported = is_any_reported || (i != EDEN_PARAM_eden_size && facts->parameters[i].is_reported);
    }
    if (is_any_reported && !facts->parameters[EDEN_PARAM_policy].is_reported) {
        facts->parameters[EDEN_PARAM_policy].number = EDEN_POLICY_FIXED;
    }
}

/* policy=auto: what scavenges found eden to be on average, for the rules reckon with one size. */
static void finish_eden(struct tune_facts *facts) {
    double sum = 0, count = 0;
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        if (!pass->full && pass->cause == EDEN_SCAVENGE_EDEN) {
            sum += (double)pass->eden_used;
            count++;
        }
    }
    if (tune_number(facts, EDEN_PARAM_policy) == EDEN_POLICY_AUTO && count > 0 && sum > 0) {
        facts->parameters[EDEN_PARAM_eden_size].number = sum / count;
    }
}

/* The figures of a late heap give the size of its eden. */
static void finish(struct tune_facts *facts) {
    if (!facts->figures[EDEN_FIGURE_max_pause_ns]) {
        facts->figures[EDEN_FIGURE_max_pause_ns] = longest_pause(facts);
    }
    struct tune_parameter *eden = &facts->parameters[EDEN_PARAM_eden_size];
    if (!eden->is_reported && facts->known >> EDEN_FIGURE_eden_size & 1 && facts->figures[EDEN_FIGURE_eden_size]) {
        eden->number = (double)facts->figures[EDEN_FIGURE_eden_size];
        eden->is_reported = true;
    }
    finish_policy(facts);
    finish_eden(facts);
    if (facts->class_count) {
        qsort(facts->classes, facts->class_count, sizeof *facts->classes, by_class_id);
    }
    if (facts->scan_count) {
        qsort(facts->scans, facts->scan_count, sizeof *facts->scans, by_duration);
    }
}

bool tune_heaps_read(struct tune_heaps *heaps, struct recording *recording, const struct heap_choice *choice,
                     struct failure *why) {
    uint64_t probes[FACTS_PROBE_WORDS];
    facts_probes(probes);
    struct reader reader = {0};
    *heaps = (struct tune_heaps){0};
    bool good = begin(&reader, recording, choice, why) && recording_events(recording, probes, on_event, &reader, why);
    heaps->at = good ? calloc(reader.count + 1, sizeof *heaps->at) : NULL;
    for (size_t i = 0; reader.heaps && i < reader.count; i++) {
        if (heaps->at) {
            finish(&reader.heaps[i].facts);
            heaps->at[heaps->count++] = reader.heaps[i].facts;
        } else {
            tune_facts_clear(&reader.heaps[i].facts);
        }
    }
    free(reader.heaps);
    if (good && (reader.out_of_memory || !heaps->at)) {
        good = failure_set(why, 1, "out of memory for the recorded events");
    }
    good = good && tune_facts_add_lifetimes(heaps, recording, why);
    if (!good) {
        tune_heaps_clear(heaps);
    }
    return good;
}

void tune_heaps_clear(struct tune_heaps *heaps) {
    for (size_t i = 0; heaps->at && i < heaps->count; i++) {
        tune_facts_clear(&heaps->at[i]);
    }
    free(heaps->at);
    *heaps = (struct tune_heaps){0};
}
