/* The allocation clock: time by what a heap has allocated, and what that is in nanoseconds. */
#ifndef EDEN_PROFILE_ALLOCATION_CLOCK_H
#define EDEN_PROFILE_ALLOCATION_CLOCK_H

#include "eden_allocation_clock.h"
#include "eden_batches.h"
#include "heap/heap.h"

struct allocation_clock {
    struct eden_epoch *epochs;
    size_t epoch_count, epoch_room;
    struct eden_anchor *anchors; /* of epochs that are over, in order */
    size_t anchor_count, anchor_room;
    struct eden_mark *marks; /* of the one that runs, in order */
    size_t mark_count, mark_room;
};

/* False: no memory. */
struct profile;
bool allocation_clock_begin(struct profile *profile, uintptr_t at, struct eden_anchor now);
bool allocation_clock_mark(struct profile *profile, uintptr_t at, struct eden_anchor time);
/* The epoch that runs ends with a collection that starts now. */
bool allocation_clock_advance(struct profile *profile, bool full, struct eden_anchor start);
void allocation_clock_resume(struct profile *profile, uintptr_t at, struct eden_anchor now);
void allocation_clock_free(struct allocation_clock *clock);
size_t allocation_clock_held(const struct allocation_clock *clock); /* bytes */
uint64_t allocation_clock_ns(const struct allocation_clock *clock, uint64_t bytes);
/* The anchors around it. False: there is none after, as yet. */
bool allocation_clock_around(const struct allocation_clock *clock, uint64_t bytes, struct eden_anchor *before,
                             struct eden_anchor *after);
/* The last epoch that had begun before an object was born there. */
size_t allocation_clock_epoch(const struct allocation_clock *clock, uint64_t bytes);

#endif
