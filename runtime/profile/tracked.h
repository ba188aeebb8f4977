/* Tracked objects: the sampled objects that are alive. */
#ifndef EDEN_PROFILE_TRACKED_H
#define EDEN_PROFILE_TRACKED_H

#include <stddef.h>
#include <stdint.h>

/* Small: there may be one for every object of the heap. */
struct tracked {
    uint64_t where; /* WHERE_BITS: granule of the heap's reservation; above: the epoch it was tenured in, 0: young */
    uint64_t birth; /* BIRTH_BITS: granules allocated in the heap before it; above: EDEN_LIFE_... */
};
enum { WHERE_BITS = 36, BIRTH_BITS = 48 };

/* On the allocation clock, in bytes. */
static inline uint64_t tracked_birth(const struct tracked *tracked) {
    return (tracked->birth & ((1ull << BIRTH_BITS) - 1)) * 8;
}

struct tracked_list {
    struct tracked *at;
    size_t count, room;
};

#endif
