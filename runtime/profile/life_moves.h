/* Objects that a scavenge has moved, on their way to a profile's lists.
 *
 * What became of an object stands in its copy, or, where survivors overflowed and were copied twice, in the copy's
 * copy. These lie in another order than the corpses that lead to them, so each is a miss of the cache, and waiting for
 * them one after the other was most of what following a survivor took. So some are gathered first: a copy is asked for
 * as it comes in, copies' copies all before the first is looked at. They leave in the order in which they came, which
 * is that of birth. */
#ifndef EDEN_LIFE_MOVES_H
#define EDEN_LIFE_MOVES_H

#include "heap/heap.h"
#include "profile/lifetimes.h"

static inline bool moves_are_full(const struct life_moves *moves) { return moves->count == MOVES; }

/* Where an object that a scavenge has kept is now. */
static inline eden_value moved_to(eden_value object, uint64_t header) {
    return (header & EDEN_HEADER_FORWARDED) != 0 ? object_forwarded_to(header) : object;
}

/* There must be room. */
static inline void moves_add(struct life_moves *moves, struct life life, eden_value now) {
    moves->at[moves->count++] = (struct life_move){life, now};
    __builtin_prefetch((const void *)(uintptr_t)now);
}

/* Before they arrive, after a scavenge of two rounds: asks for what the copies lead to. */
static inline void moves_settle(struct life_moves *moves) {
    for (size_t i = 0; i < moves->count; i++) {
        uint64_t header = eden_header(moves->at[i].now);
        if ((header & EDEN_HEADER_FORWARDED) != 0) {
            moves->at[i].now = object_forwarded_to(header);
            __builtin_prefetch((const void *)(uintptr_t)moves->at[i].now);
        }
    }
}

#endif
