/* What heaps did in each of some equal intervals of the observed time.
 *
 * 1. Algorithm
 * The interval is the shortest of 1, 2 and 5 times a power of ten nanoseconds that makes at most MOST_INTERVALS. A
 * collection counts in the interval where it ends, and so does the longest pause; the time in collections counts in
 * each interval that it lies in. Bytes allocated count where the next collection reports them, at its start. The sizes
 * of spaces are the last ones reported by the end of the interval.
 *
 * 2. Failure
 * Before the first report the size of old space is not known. Where events were lost, that is said. */
#include "util/sum.h"
#include "views/rows/pause_list.h"
#include "views/rows/views.h"
#include <stdlib.h>

enum { MOST_INTERVALS = 40 };

struct interval {
    uint64_t scavenges, fulls, stopped_ns, longest_ns, allocated, survived, tenured, freed;
    uint64_t old_used, old_capacity;
    bool has_old, has_capacity;
};

struct heap_timeline {
    struct interval at[MOST_INTERVALS];
    struct interval before; /* its sizes: of old space before the viewed time */
    uint64_t ended_ns;      /* when the last collection ended */
    uint64_t began_ns;      /* the collection that has not ended; 0: there is none, or its start was not seen */
};

struct timeline {
    const struct viewed *viewed;
    struct heap_timeline *heaps; /* owned; one a heap */
    uint64_t start_ns, wall_ns, step_ns;
    uint64_t offset_ns; /* of the first interval, since the recording began */
    size_t intervals;
};

/* ---- from events ------------------------------------------------------------------------------------------------ */

static uint64_t step_of(uint64_t wall_ns) {
    static const uint64_t factors[] = {1, 2, 5};
    uint64_t power = 1;
    for (;; power *= 10) {
        for (int i = 0; i < 3; i++) {
            if (factors[i] * power >= (wall_ns + MOST_INTERVALS - 1) / MOST_INTERVALS || power > UINT64_MAX / 100) {
                return factors[i] * power;
            }
        }
    }
}

static size_t place_of(const struct timeline *all, uint64_t time_ns) {
    uint64_t since = time_ns > all->start_ns ? time_ns - all->start_ns : 0;
    size_t place = (size_t)(since / all->step_ns);
    return place < all->intervals ? place : all->intervals - 1;
}

/* Time in a collection, in each interval its share. Durations are what the process says: what it took before the one
 * before ended is there already. */
static void add_stopped(const struct timeline *all, struct heap_timeline *heap, uint64_t end_ns, uint64_t ns) {
    const uint64_t limit = all->start_ns + all->wall_ns;
    uint64_t start = end_ns > ns ? end_ns - ns : 0;
    start = start > heap->ended_ns ? start : heap->ended_ns;
    start = start > all->start_ns ? start : all->start_ns;
    heap->ended_ns = end_ns > heap->ended_ns ? end_ns : heap->ended_ns;
    end_ns = end_ns < limit ? end_ns : limit;
    for (size_t i = place_of(all, start); start < end_ns && i < all->intervals; i++) {
        uint64_t border = i + 1 < all->intervals ? all->start_ns + (i + 1) * all->step_ns : end_ns;
        uint64_t until = border < end_ns ? border : end_ns;
        if (until > start) {
            sum_add(&heap->at[i].stopped_ns, until - start);
            start = until;
        }
    }
}

/* The duration of the collection that an event ends; 0: it ends none. */
static uint64_t duration_of(const struct event *event) {
    return event->probe == EDEN_PROBE_scavenge__done && EDEN_HAS(event->args, scavenge__done, duration)
               ? EDEN_ARG(event->arg, scavenge__done, duration)
           : event->probe == EDEN_PROBE_full__done && EDEN_HAS(event->args, full__done, duration)
               ? EDEN_ARG(event->arg, full__done, duration)
               : 0;
}

/* The sizes of old space that an event reports. */
static void add_sizes(struct interval *at, const struct event *event) {
    const uint64_t *arg = event->arg;
    uint64_t capacity = 0;
    switch (event->probe) {
    case EDEN_PROBE_scavenge__start:
        at->old_used = EDEN_ARG(arg, scavenge__start, old_used);
        at->has_old = true;
        return;
    case EDEN_PROBE_scavenge__done:
        if (at->has_old) {
            sum_add(&at->old_used, EDEN_ARG(arg, scavenge__done, tenured_bytes));
        }
        return;
    case EDEN_PROBE_full__start:
        capacity = EDEN_ARG(arg, full__start, old_capacity);
        break;
    case EDEN_PROBE_full__done:
        at->old_used = EDEN_ARG(arg, full__done, old_used);
        at->has_old = true;
        capacity = EDEN_ARG(arg, full__done, old_capacity);
        break;
    case EDEN_PROBE_segment__map:
        capacity = EDEN_ARG(arg, segment__map, old_capacity);
        break;
    case EDEN_PROBE_segment__unmap:
        capacity = EDEN_ARG(arg, segment__unmap, old_capacity);
        break;
    default:
        return;
    }
    at->old_capacity = capacity;
    at->has_capacity = true;
}

static bool on_event(void *context, size_t number, const struct event *event) {
    struct timeline *all = context;
    struct heap_timeline *heap = &all->heaps[number];
    const uint64_t *arg = event->arg;
    bool is_start = event->probe == EDEN_PROBE_scavenge__start || event->probe == EDEN_PROBE_full__start,
         is_done = event->probe == EDEN_PROBE_scavenge__done || event->probe == EDEN_PROBE_full__done;
    heap->began_ns = is_start ? event->time_ns : is_done ? 0 : heap->began_ns;
    if (event->probe == EDEN_PROBE_heap__create) { /* no collection of it has begun before */
        heap->ended_ns = event->time_ns;
    }
    if (is_done) {
        add_stopped(all, heap, event->time_ns, duration_of(event));
    }
    if (event->time_ns > all->start_ns + all->wall_ns) {
        return true;
    }
    if (!viewed_has(all->viewed, event->time_ns)) {
        add_sizes(&heap->before, event);
        return true;
    }
    struct interval *at = &heap->at[place_of(all, event->time_ns)];
    add_sizes(at, event);
    switch (event->probe) {
    case EDEN_PROBE_scavenge__start:
        sum_add(&at->allocated, EDEN_ARG(arg, scavenge__start, allocated_since));
        break;
    case EDEN_PROBE_scavenge__done:
        at->scavenges++;
        sum_add(&at->survived, EDEN_ARG(arg, scavenge__done, survivor_used));
        sum_add(&at->survived, EDEN_ARG(arg, scavenge__done, tenured_bytes));
        sum_add(&at->tenured, EDEN_ARG(arg, scavenge__done, tenured_bytes));
        break;
    case EDEN_PROBE_full__start:
        sum_add(&at->allocated, EDEN_ARG(arg, full__start, allocated_since));
        break;
    case EDEN_PROBE_full__done:
        at->fulls++;
        sum_add(&at->freed, EDEN_ARG(arg, full__done, freed_bytes));
        break;
    case EDEN_PROBE_heap__destroy:
        sum_add(&at->allocated, EDEN_ARG(arg, heap__destroy, allocated_since));
        break;
    default:
        break;
    }
    return true;
}

/* Sizes stay as they are until the next report. */
static void carry_sizes(const struct timeline *all, struct heap_timeline *heap, const struct heap_model *model) {
    bool any = heap->before.has_capacity;
    for (size_t i = 0; i < all->intervals; i++) {
        any = any || heap->at[i].has_capacity;
    }
    if (!any && model->known >> EDEN_FIGURE_old_capacity & 1) { /* it has not changed */
        heap->before.old_capacity = model->figures[EDEN_FIGURE_old_capacity];
        heap->before.has_capacity = true;
    }
    for (size_t i = 0; i < all->intervals; i++) {
        struct interval *at = &heap->at[i], *before = i ? at - 1 : &heap->before;
        if (!at->has_old) {
            at->old_used = before->old_used;
            at->has_old = before->has_old;
        }
        if (!at->has_capacity) {
            at->old_capacity = before->old_capacity;
            at->has_capacity = before->has_capacity;
        }
    }
}

/* The last interval may be cut by the end. */
static uint64_t length_of(const struct timeline *all, size_t place) {
    uint64_t start = place * all->step_ns;
    uint64_t left = all->wall_ns > start ? all->wall_ns - start : 0;
    return left < all->step_ns && place + 1 == all->intervals ? left : all->step_ns;
}

static const struct column columns[] = {
    {"from_ns", "from (s)", CELL_time},         {"length_ns", "length", CELL_ns},
    {"stopped", "stopped", CELL_share},         {"stopped_ns", "for", CELL_ns},
    {"scavenges", "scavenges", CELL_count},     {"full_collections", "full", CELL_count},
    {"longest_ns", "longest", CELL_ns},         {"allocated_bytes", "allocated", CELL_bytes},
    {"survived_bytes", "survived", CELL_bytes}, {"tenured_bytes", "tenured", CELL_bytes},
    {"freed_bytes", "freed", CELL_bytes},       {"old_used", "old", CELL_bytes},
    {"old_capacity", "mapped", CELL_bytes},
};

/* A collection that had not ended when the recording did. */
static void add_under_way(const struct timeline *all, struct heap_timeline *heap,
                          const struct collection_model *collection) {
    uint64_t began = heap->began_ns ? heap->began_ns : collection->since_ns ? collection->since_ns : all->start_ns;
    if (collection->known && collection->under_way && collection->until_ns > began) {
        add_stopped(all, heap, collection->until_ns, collection->until_ns - began);
    }
}

static void add_rows(struct rows *rows, size_t heap, const struct timeline *all) {
    for (size_t i = 0; i < all->intervals; i++) {
        const struct interval *at = &all->heaps[heap].at[i];
        const struct cell cells[] = {
            cell_time((int64_t)(all->offset_ns + i * all->step_ns)),
            cell_number(length_of(all, i)),
            cell_share((double)at->stopped_ns, (double)length_of(all, i)),
            cell_number(at->stopped_ns),
            cell_number(at->scavenges),
            cell_number(at->fulls),
            cell_number(at->longest_ns),
            cell_number(at->allocated),
            cell_number(at->survived),
            cell_number(at->tenured),
            cell_number(at->freed),
            cell_if(at->has_old, at->old_used),
            cell_if(at->has_capacity, at->old_capacity),
        };
        rows_add(rows, heap, 0, cells);
    }
}

static bool gather(struct rows *rows, const struct viewed *viewed, struct failure *why) {
    static const enum eden_probe_id wanted[] = {
        EDEN_PROBE_scavenge__start, EDEN_PROBE_scavenge__done, EDEN_PROBE_full__start,  EDEN_PROBE_full__done,
        EDEN_PROBE_segment__map,    EDEN_PROBE_segment__unmap, EDEN_PROBE_heap__create, EDEN_PROBE_heap__destroy};
    struct heap_places *places = rows_places(rows);
    struct timeline all = {.viewed = viewed,
                           .heaps = calloc(places->count + 1, sizeof *all.heaps),
                           .start_ns = viewed->from_ns,
                           .offset_ns = viewed->from_ns - recording_info(viewed->recording)->mono_ns,
                           .wall_ns = viewed->until_ns - viewed->from_ns,
                           .step_ns = step_of(viewed->until_ns - viewed->from_ns)};
    all.intervals = (size_t)((all.wall_ns + all.step_ns - 1) / all.step_ns);
    all.intervals = all.intervals == 0 ? 1 : all.intervals > MOST_INTERVALS ? MOST_INTERVALS : all.intervals;
    if (!all.heaps) {
        failure_set(why, 1, "out of memory for the timeline");
        return false;
    }
    bool good = heap_events(viewed->recording, places, wanted, sizeof wanted / sizeof *wanted, on_event, &all, why);
    struct pause_list *pauses = good ? pause_lists(viewed, places, why) : NULL;
    good = pauses;
    for (size_t i = 0; good && i < places->count; i++) {
        for (size_t j = 0; j < pauses[i].count; j++) {
            const struct pause *pause = &pauses[i].at[j];
            struct interval *last = &all.heaps[i].at[place_of(&all, pause->end_ns)];
            last->longest_ns = !pause->is_after && pause->ns > last->longest_ns ? pause->ns : last->longest_ns;
        }
        add_under_way(&all, &all.heaps[i], &places->at[i].heap->collection);
        carry_sizes(&all, &all.heaps[i], places->at[i].heap);
        add_rows(rows, i, &all);
    }
    pause_lists_free(pauses, places->count);
    free(all.heaps);
    return good;
}

static const struct table tables[] = {TABLE(
    "intervals", "A collection counts where it ends, its time where it lies, allocation where the next one reports it.",
    columns)};

const struct view view_timeline = {"timeline", "collections, bytes and old space by intervals", tables, 1, gather};
