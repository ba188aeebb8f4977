/* The events of a recording, heap by heap. */
#ifndef EDEN_HEAP_EVENTS_H
#define EDEN_HEAP_EVENTS_H

#include "model/probe_table.h"
#include "recording/recording.h"

struct heap_place {
    const struct process_model *process;
    const struct heap_model *heap;
};

/* All heaps of a model, in its order. */
struct heap_places {
    struct heap_place *at; /* owned: free() */
    size_t count, last;    /* last: that of the event before */
};

/* False: no memory. */
bool heap_places(const struct model *model, struct heap_places *places);

/* Hands on the events of these heaps, of `count` probes, in order of time, each with the number of its heap; stops
 * where on_event returns false. False and why. */
typedef bool heap_event_fn(void *context, size_t heap, const struct event *event);
bool heap_events(struct recording *recording, struct heap_places *places, const enum eden_probe_id *probe, size_t count,
                 heap_event_fn *on_event, void *context, struct failure *why);

#endif
