/* Mechanisms of death: how a profile finds out that a tracked object has died. One interface, so that they can be
 * compared; all report the same records, by the same allocation clock.
 *
 *  vm         lifetimes.c, eden_walk.c: the collections' own forwarding addresses and marks.
 *  ephemeron  baseline/profiler_ephemerons.c: an ephemeron an object, in eden (plain) or in old space (pretenured).
 *  oracle     baseline/oracle.c: passes over all that is reachable; moves the objects on as vm does. */
#ifndef EDEN_PROFILE_MECHANISM_H
#define EDEN_PROFILE_MECHANISM_H

#include "profile/lifetimes.h"

struct mechanism {
    /* Follows an object that has just been allocated, and is the latest. False: no memory, it is lost. Does not
     * collect. */
    bool (*follow)(struct profile *profile, struct tracked tracked, eden_value object, uint64_t ns);
    void (*before)(struct profile *profile); /* a scavenge starts, or `step` bytes are allocated; NULL: nothing */
    /* As observers' `reached`; NULL: nothing. */
    void (*keys)(struct profile *profile, bool full, observer_now *now, void *context);
    void (*second_pass)(struct profile *profile); /* as observers' */
    void (*copied)(struct profile *profile);
    /* Nothing is swept. sweeps: old space will be, and calls `dead`; else it may be slid together. */
    void (*marked)(struct profile *profile, bool sweeps);
    void (*visit)(struct profile *profile, eden_visit *visit); /* roots of its own; NULL: none */
    void (*censor)(struct profile *profile);                   /* reports all that is followed */
};

#endif
