/* The events of a recording, heap by heap. */
#ifndef EDEN_HEAP_EVENTS_H
#define EDEN_HEAP_EVENTS_H

#include "model/probe_table.h"
#include "recording/recording.h"
#include "util/lookup.h"

struct heap_place {
    const struct process_model *process;
    const struct heap_model *heap;
};

/* What of a recording a view shows: the heaps of a model, in a part of the observed time. The first events may be from
 * just before that time, while probes were attached: the figures count them, and so do views from the beginning. */
struct viewed {
    struct recording *recording;
    const struct model *model;
    uint64_t from_ns, until_ns; /* CLOCK_MONOTONIC */
    bool is_from_beginning;
};

static inline bool viewed_has(const struct viewed *viewed, uint64_t time_ns) {
    return (viewed->is_from_beginning || time_ns >= viewed->from_ns) && time_ns <= viewed->until_ns;
}

/* When it happened, since the recording began; what happened before has a time below 0. */
static inline int64_t viewed_since_start(const struct viewed *viewed, uint64_t time_ns) {
    return (int64_t)(time_ns - recording_info(viewed->recording)->mono_ns);
}

/* How much of a time lies in the viewed time. */
static inline uint64_t viewed_part(const struct viewed *viewed, uint64_t start_ns, uint64_t end_ns) {
    uint64_t start = start_ns > viewed->from_ns ? start_ns : viewed->from_ns;
    uint64_t end = end_ns < viewed->until_ns ? end_ns : viewed->until_ns;
    return end > start ? end - start : 0;
}

/* The same of a duration, which is what the process says: what it took before *ended_ns, when the one before ended, is
 * counted already. */
static inline uint64_t viewed_part_since(const struct viewed *viewed, uint64_t *ended_ns, uint64_t start_ns,
                                         uint64_t end_ns) {
    uint64_t start = start_ns > *ended_ns ? start_ns : *ended_ns;
    *ended_ns = end_ns > *ended_ns ? end_ns : *ended_ns;
    return viewed_part(viewed, start, end_ns);
}

/* The whole observed time. */
static inline struct viewed viewed_whole(struct recording *recording, const struct model *model) {
    const uint64_t from = recording_info(recording)->mono_ns;
    return (struct viewed){recording, model, from, from + model->wall_ns, true};
}

/* All heaps of a model, in its order. */
struct heap_places {
    struct heap_place *at; /* owned */
    size_t count, last;    /* last: that of the event before */
    struct lookup by_heap;
};

/* False: no memory; they are to be cleared in any case. */
bool heap_places(const struct model *model, struct heap_places *places);
void heap_places_clear(struct heap_places *places);

/* Hands on the events of these heaps, of `count` probes, in order of time, each with the number of its heap; stops
 * where on_event returns false. Events outside of the viewed time are included, because a pause that ends within it may
 * have begun before, and names and sizes are reported once: test each with viewed_has(). Returns false and sets why. */
typedef bool heap_event_fn(void *context, size_t heap, const struct event *event);
bool heap_events(struct recording *recording, struct heap_places *places, const enum eden_probe_id *probe, size_t count,
                 heap_event_fn *on_event, void *context, struct failure *why);

#endif
