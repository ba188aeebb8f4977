/* A ring of references whose headers are on their way from memory.
 *
 * Who marks wants the header of each object that it comes to, and would wait for most of them. So a reference is asked
 * for (prefetched), goes into the ring, and pushes out the oldest one, for which memory has answered in between. */
#ifndef EDEN_HEAP_REACH_RING_H
#define EDEN_HEAP_REACH_RING_H

#include "heap/object.h"

enum { REACH_RING = 16 };

struct reach_ring {
    eden_value entries[REACH_RING];
    size_t first, end; /* modulo REACH_RING */
};

static inline bool reach_ring_is_empty(const struct reach_ring *ring) { return ring->first == ring->end; }

/* The oldest; the ring is not empty. */
static inline eden_value reach_ring_take(struct reach_ring *ring) { return ring->entries[ring->first++ % REACH_RING]; }

static inline bool reach_ring_is_full(const struct reach_ring *ring) { return ring->end - ring->first == REACH_RING; }

/* The ring is not full. */
static inline void reach_ring_put(struct reach_ring *ring, eden_value object) {
    ring->entries[ring->end++ % REACH_RING] = object;
}

/* The header is wanted soon, to be written. */
static inline void reach_ring_ask(eden_value object) { __builtin_prefetch((const void *)(uintptr_t)object, 1); }

#endif
