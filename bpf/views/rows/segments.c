/* When old space grew and gave back. */
#include "views/rows/views.h"

static const struct column columns[] = {
    {"time_ns", "when (s)", CELL_time},          {"event", "segment", CELL_text},
    {"address", "address", CELL_address},        {"bytes", "size", CELL_bytes},
    {"old_capacity", "mapped then", CELL_bytes},
};

struct segments {
    struct rows *rows;
    const struct viewed *viewed;
};

_Static_assert(EDEN_AT(segment__map, address) == EDEN_AT(segment__unmap, address) &&
                   EDEN_AT(segment__map, bytes) == EDEN_AT(segment__unmap, bytes) &&
                   EDEN_AT(segment__map, old_capacity) == EDEN_AT(segment__unmap, old_capacity),
               "the arguments of both");

static bool on_event(void *context, size_t heap, const struct event *event) {
    const struct segments *all = context;
    const uint64_t *arg = event->arg;
    const struct cell cells[] = {
        cell_time(viewed_since_start(all->viewed, event->time_ns)),
        cell_text(event->probe == EDEN_PROBE_segment__map ? "mapped" : "returned"),
        cell_number(EDEN_ARG(arg, segment__map, address)),
        cell_number(EDEN_ARG(arg, segment__map, bytes)),
        cell_number(EDEN_ARG(arg, segment__map, old_capacity)),
    };
    if (EDEN_HAS(event->args, segment__map, old_capacity) && viewed_has(all->viewed, event->time_ns)) {
        rows_add(all->rows, heap, 0, cells);
    }
    return true;
}

static bool gather(struct rows *rows, const struct viewed *viewed, struct failure *why) {
    static const enum eden_probe_id wanted[] = {EDEN_PROBE_segment__map, EDEN_PROBE_segment__unmap};
    struct segments all = {rows, viewed};
    return heap_events(viewed->recording, rows_places(rows), wanted, sizeof wanted / sizeof *wanted, on_event, &all,
                       why);
}

static const struct table tables[] = {TABLE("segments", NULL, columns)};

const struct view view_segments = {"segments", "when old space grew and shrank", tables, 1, gather};
