/* Objects that a scavenge has moved, on their way to a profile's lists.
 *
 * What became of an object stands in its copy, or, where survivors overflowed and were copied twice, in the copy's
 * copy. These lie in another order than the corpses that lead to them, so each is a miss of the cache, and waiting for
 * them one after the other was most of what following a survivor took. So some objects are under way at any time: of
 * the one that comes in the copy is asked for; of one half-way the copy's copy; who goes out is looked at. They go out
 * in the order in which they came in, which is that of birth. */
#ifndef EDEN_LIFE_MOVES_H
#define EDEN_LIFE_MOVES_H

#include "lifetimes.h"
#include "private.h"

struct life_move {
    struct life life;
    eden_value now; /* its copy; itself, if it was kept in place; EDEN_NONE: there is none */
};

enum { MOVES = 32 };
struct life_moves {
    unsigned next;
    struct life_move at[MOVES];
};

/* One comes in, another goes out. To empty it: MOVES times one that is none. */
static inline struct life_move moves_pass(struct life_moves *moves, const struct profile *profile,
                                          struct life_move in) {
    struct life_move *place = &moves->at[moves->next++ % MOVES], out = *place;
    *place = in;
    __builtin_prefetch((const void *)(uintptr_t)in.now);
    struct life_move *half_way = &moves->at[(moves->next + MOVES / 2) % MOVES];
    if (profile->settled && half_way->now != EDEN_NONE && header_has(half_way->now, EDEN_HEADER_FORWARDED)) {
        half_way->now = forwarded_to(eden_header(half_way->now));
        __builtin_prefetch((const void *)(uintptr_t)half_way->now);
    }
    return out;
}

#endif
