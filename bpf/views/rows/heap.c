/* The spaces of a heap after each collection: the curve of memory over time. */
#include "util/sum.h"
#include "views/rows/views.h"
#include <stdlib.h>

static const struct column columns[] = {
    {"time_ns", "ended (s)", CELL_time},          {"seq", "seq", CELL_count},
    {"collection", "collection", CELL_text},      {"eden_used", "eden before", CELL_bytes},
    {"survivor_used", "survivors", CELL_bytes},   {"old_used", "old", CELL_bytes},
    {"old_capacity", "mapped", CELL_bytes},       {"segments", "segments", CELL_count},
    {"free_chunks", "free chunks", CELL_count},   {"largest_free", "largest free", CELL_bytes},
    {"remembered_now", "remembered", CELL_count},
};

/* What is known of a heap from the events so far. */
struct sizes {
    uint64_t eden_used, survivors, old_used, old_capacity;
    bool has_eden, has_survivors, has_old, has_capacity;
};

struct spaces {
    struct rows *rows;
    struct sizes *sizes; /* owned; one a heap */
    const struct viewed *viewed;
};

static void add_scavenge(const struct spaces *all, size_t heap, const struct event *event) {
    struct sizes *sizes = &all->sizes[heap];
    const uint64_t *arg = event->arg;
    sizes->survivors = EDEN_ARG(arg, scavenge__done, survivor_used);
    sizes->has_survivors = true;
    sum_add(&sizes->old_used, EDEN_ARG(arg, scavenge__done, tenured_bytes));
    const struct cell cells[] = {
        cell_time(viewed_since_start(all->viewed, event->time_ns)),
        cell_number(EDEN_ARG(arg, scavenge__done, seq)),
        cell_text("scavenge"),
        cell_if(sizes->has_eden, sizes->eden_used),
        cell_number(sizes->survivors),
        cell_if(sizes->has_old, sizes->old_used),
        cell_if(sizes->has_capacity, sizes->old_capacity),
        cell_none(),
        cell_none(),
        cell_none(),
        cell_number(EDEN_ARG(arg, scavenge__done, remembered_now)),
    };
    sizes->has_eden = false;
    if (viewed_has(all->viewed, event->time_ns)) {
        rows_add(all->rows, heap, 0, cells);
    }
}

static void add_full(const struct spaces *all, size_t heap, const struct event *event) {
    struct sizes *sizes = &all->sizes[heap];
    const uint64_t *arg = event->arg;
    uint64_t young_freed = EDEN_ARG(arg, full__done, young_freed);
    sizes->survivors -= young_freed < sizes->survivors ? young_freed : sizes->survivors;
    sizes->old_used = EDEN_ARG(arg, full__done, old_used);
    sizes->old_capacity = EDEN_ARG(arg, full__done, old_capacity);
    sizes->has_old = sizes->has_capacity = true;
    const struct cell cells[] = {
        cell_time(viewed_since_start(all->viewed, event->time_ns)),
        cell_number(EDEN_ARG(arg, full__done, seq)),
        cell_text("full"),
        cell_none(),
        cell_if(sizes->has_survivors, sizes->survivors),
        cell_number(sizes->old_used),
        cell_number(sizes->old_capacity),
        cell_number(EDEN_ARG(arg, full__done, segments)),
        cell_number(EDEN_ARG(arg, full__done, free_chunks)),
        cell_number(EDEN_ARG(arg, full__done, largest_free)),
        cell_if(EDEN_HAS(event->args, full__done, remembered_now), EDEN_ARG(arg, full__done, remembered_now)),
    };
    if (viewed_has(all->viewed, event->time_ns)) {
        rows_add(all->rows, heap, 0, cells);
    }
}

static bool on_event(void *context, size_t heap, const struct event *event) {
    const struct spaces *all = context;
    struct sizes *sizes = &all->sizes[heap];
    const uint64_t *arg = event->arg;
    switch (event->probe) {
    case EDEN_PROBE_scavenge__start:
        sizes->eden_used = EDEN_ARG(arg, scavenge__start, eden_used);
        sizes->old_used = EDEN_ARG(arg, scavenge__start, old_used);
        sizes->has_eden = sizes->has_old = true;
        break;
    case EDEN_PROBE_full__start:
        sizes->old_capacity = EDEN_ARG(arg, full__start, old_capacity);
        sizes->has_capacity = true;
        break;
    case EDEN_PROBE_segment__map:
        sizes->old_capacity = EDEN_ARG(arg, segment__map, old_capacity);
        sizes->has_capacity = true;
        break;
    case EDEN_PROBE_segment__unmap:
        sizes->old_capacity = EDEN_ARG(arg, segment__unmap, old_capacity);
        sizes->has_capacity = true;
        break;
    case EDEN_PROBE_scavenge__done:
        if (EDEN_HAS(event->args, scavenge__done, tenured_bytes)) {
            add_scavenge(all, heap, event);
        }
        break;
    default:
        if (EDEN_HAS(event->args, full__done, young_freed)) {
            add_full(all, heap, event);
        }
        break;
    }
    return true;
}

static bool gather(struct rows *rows, const struct viewed *viewed, struct failure *why) {
    static const enum eden_probe_id wanted[] = {EDEN_PROBE_scavenge__start, EDEN_PROBE_scavenge__done,
                                                EDEN_PROBE_segment__map,    EDEN_PROBE_segment__unmap,
                                                EDEN_PROBE_full__start,     EDEN_PROBE_full__done};
    struct heap_places *places = rows_places(rows);
    struct spaces all = {rows, calloc(places->count + 1, sizeof *all.sizes), viewed};
    bool good =
        all.sizes ? heap_events(viewed->recording, places, wanted, sizeof wanted / sizeof *wanted, on_event, &all, why)
                  : failure_set(why, 1, "out of memory for the spaces");
    free(all.sizes);
    return good;
}

static const struct table tables[] = {TABLE("collections", NULL, columns)};

const struct view view_heap = {"heap", "the spaces after each collection", tables, 1, gather};
