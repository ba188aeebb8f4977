/* Survivors against the threshold, scavenge by scavenge.
 *
 * A scavenge copies what lives to a semispace, and sets the threshold: the next one tenures survivors below it. So a
 * threshold of 0 tenures nothing by age, and one as large as the survivors tenures them all. Overflow tenures whatever
 * finds no room in the semispace. */
#include "eden_values.h"
#include "views/rows/views.h"
#include <stdlib.h>

static const struct column columns[] = {
    {"time_ns", "ended (s)", CELL_time},
    {"seq", "seq", CELL_count},
    {"cause", "cause", CELL_text},
    {"allocated_bytes", "allocated", CELL_bytes},
    {"survivor_bytes", "survivors", CELL_bytes},
    {"semispace_bytes", "semispace", CELL_bytes},
    {"filled", "filled", CELL_share},
    {"threshold_bytes", "threshold", CELL_bytes},
    {"tenured_bytes", "tenured", CELL_bytes},
    {"tenured_objects", "objects", CELL_count},
};

/* Of the scavenge under way. */
struct started {
    const char *cause; /* NULL: its start was not recorded */
    uint64_t allocated;
};

struct tenuring {
    struct rows *rows;
    struct started *started; /* owned; one a heap */
    const struct viewed *viewed;
};

static void add_row(const struct tenuring *all, size_t heap, const struct event *event) {
    const uint64_t *arg = event->arg;
    const struct started *started = &all->started[heap];
    uint64_t start = EDEN_ARG(arg, scavenge__done, survivor_start),
             limit = EDEN_ARG(arg, scavenge__done, survivor_limit),
             threshold = EDEN_ARG(arg, scavenge__done, tenure_threshold),
             survivors = EDEN_ARG(arg, scavenge__done, survivor_used), semispace = limit > start ? limit - start : 0;
    /* Outside of the semispace it is a fault of the runtime (compat.threshold_bug): then there is no such size. */
    bool has_threshold = threshold == 0 || (threshold >= start && threshold <= limit);
    const struct cell cells[] = {
        cell_time(viewed_since_start(all->viewed, event->time_ns)),
        cell_number(EDEN_ARG(arg, scavenge__done, seq)),
        cell_text(started->cause),
        cell_if(started->cause, started->allocated),
        cell_number(survivors),
        cell_number(semispace),
        cell_share((double)survivors, (double)semispace),
        cell_if(has_threshold, threshold > start ? threshold - start : 0),
        cell_number(EDEN_ARG(arg, scavenge__done, tenured_bytes)),
        cell_number(EDEN_ARG(arg, scavenge__done, tenured_objects)),
    };
    rows_add(all->rows, heap, 0, cells);
}

static bool on_event(void *context, size_t heap, const struct event *event) {
    struct tenuring *all = context;
    struct started *started = &all->started[heap];
    if (event->probe == EDEN_PROBE_scavenge__start) {
        started->cause = eden_scavenge_cause_name(EDEN_ARG(event->arg, scavenge__start, cause));
        started->allocated = EDEN_ARG(event->arg, scavenge__start, allocated_since);
    } else if (EDEN_HAS(event->args, scavenge__done, survivor_limit)) {
        if (viewed_has(all->viewed, event->time_ns)) {
            add_row(all, heap, event);
        }
        started->cause = NULL;
    }
    return true;
}

static bool gather(struct rows *rows, const struct viewed *viewed, struct failure *why) {
    static const enum eden_probe_id wanted[] = {EDEN_PROBE_scavenge__start, EDEN_PROBE_scavenge__done};
    struct heap_places *places = rows_places(rows);
    struct tenuring all = {rows, calloc(places->count + 1, sizeof *all.started), viewed};
    bool good = all.started ? heap_events(viewed->recording, places, wanted, sizeof wanted / sizeof *wanted, on_event,
                                          &all, why)
                            : failure_set(why, 1, "out of memory for the scavenges");
    free(all.started);
    return good;
}

static const struct table tables[] = {TABLE(
    "scavenges",
    "The next scavenge tenures survivors below the threshold; 0 B: none by age; ?: it lies outside of the semispace.",
    columns)};

const struct view view_tenuring = {"tenuring", "survivors against the threshold, scavenge by scavenge", tables, 1,
                                   gather};
