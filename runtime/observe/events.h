/* Events: the one place where something that happened becomes a counter, a probe, and a line of the log. */
#ifndef EDEN_OBSERVE_EVENTS_H
#define EDEN_OBSERVE_EVENTS_H

#include "heap/heap.h"
#include "observe/log.h"

/* A collection at its start. */
struct scavenge_before {
    uint64_t eden_used, survivor_used, remembered, tenured_objects;
};
struct full_before {
    uint64_t old_used;
    uint64_t mark_ns, sweep_ns, compact_ns; /* figures */
};

struct events {
    struct observer observer; /* first */
    struct log_file log;
    struct scavenge_before scavenge;
    struct full_before full;
    uint64_t phase_ns[EDEN_PHASE_COUNT]; /* how long each took when it last ran */
    uint64_t began_ns[EDEN_PHASE_COUNT]; /* when each last began */
    uint64_t full_scavenge_ns;           /* the scavenges of the full collection that runs */
    uint64_t cycle_ns;                   /* when the cycle that runs began; 0: none runs */
    char room[LOG_ROOM];                 /* as the heap begins and ends */
};

void events_subscribe(struct events *events, eden_heap *heap);
void events_create(struct events *events); /* the heap is registered: opens the log, fires heap__create */
void events_destroy(struct events *events);

/* Of allocation, which reports them itself. */
void events_large(eden_heap *heap, eden_value object, size_t bytes);
void events_born_old(eden_heap *heap, size_t bytes);
void events_alloc_failed(eden_heap *heap, uint32_t index, size_t bytes, enum eden_failure_reason reason);

#endif
