/* The single pauses of heaps, from the events of a recording.
 *
 * A pause is one stop of the program: a scavenge, or a full collection with the scavenge before it; so the longest is
 * the figure max_pause_ns. It is of the time in which it ends, and counts with its whole duration. One that ends later,
 * or had not ended when the recording did, is no pause of this time, but what of it lies in the time is known. */
#ifndef EDEN_PAUSE_LIST_H
#define EDEN_PAUSE_LIST_H

#include "views/heap_events.h"

struct pause {
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC, within the viewed time; no two overlap */
    uint64_t began_ns, ns;     /* as it was; of one that has not ended, so far; began_ns 0: not known */
    bool is_full;
    bool is_under_way; /* when the recording ended; then is_after, too */
    bool is_after;     /* it ends after the viewed time: it is part of no statistics */
    const char *cause; /* NULL: its start was not seen */
    bool is_explained;
    struct pause_time spent; /* what its thread did, if it is explained */
};

struct pause_list {
    struct pause *at; /* owned */
    size_t count, room;
};

/* A list for each place, in order of their ends. NULL and why. */
struct pause_list *pause_lists(const struct viewed *viewed, struct heap_places *places, struct failure *why);
void pause_lists_free(struct pause_list *lists, size_t count);

#endif
