/* Mechanisms of death: who finds out that a sampled object has died. One interface, so that they can be compared; all
 * tell the same records, by the same byte clock.
 *
 *  vm         lifetimes.c, eden_walk.c: the collections' own forwarding addresses and marks.
 *  ephemeron  life_ephemerons.c: an ephemeron an object, in eden (plain) or in old space (pretenured).
 *  oracle     life_oracle.c: passes over all that is reachable; moves the objects on as vm does. */
#ifndef EDEN_LIFE_MECHANISM_H
#define EDEN_LIFE_MECHANISM_H

#include "heap/heap.h"
#include "profile/lifetimes.h"

struct life_mechanism {
    /* Follows an object that has just been allocated, and is the latest. False: no memory, it is lost. Does not
     * collect.
     */
    bool (*follow)(struct profile *profile, struct life life, eden_value object, uint64_t ns);
    void (*before)(struct profile *profile); /* a scavenge starts, or `step` bytes are allocated; NULL: nothing */
    /* As observers' `reached`; NULL: nothing. */
    void (*keys)(struct profile *profile, bool full, eden_value (*now)(void *context, eden_value v), void *context);
    void (*settling)(struct profile *profile);  /* past survivors are about to be overwritten */
    void (*scavenged)(struct profile *profile); /* all is copied, nothing overwritten */
    /* Nothing is swept. sweeps: old space will be, and calls `dead`; else it may be slid together. */
    void (*marked)(struct profile *profile, bool sweeps);
    void (*visit)(struct profile *profile, eden_visit *visit); /* roots of its own; NULL: none */
    void (*censor)(struct profile *profile);                   /* tells all that is followed */
};

extern const struct life_mechanism vm_mechanism, oracle_mechanism; /* lifetimes.c */
extern const struct life_mechanism ephemeron_mechanism;            /* plain or pretenured: profile->mechanism says */

/* ---- what they share (lifetimes.c) ---- */

/* What an object was, that need not be there any more. */
struct kind {
    uint32_t site;
    uint64_t bytes;
};
static inline struct kind lifetimes_kind(eden_value object) {
    return (struct kind){eden_index_of(object), object_bytes(object)};
}
void lifetimes_tell_end_of(struct profile *profile, const struct life *life, struct kind kind, uint32_t flags,
                           bool censored);
/* Tells a death that was found at `death`; at `last` the object was alive (bytes 0: nobody looked). */
void lifetimes_tell_death(struct profile *profile, const struct life *life, struct eden_anchor death,
                          struct eden_anchor last);
struct eden_anchor lifetimes_now(const eden_heap *heap);

/* ---- ephemerons (life_ephemerons.c) ---- */
enum { OWN_KEY, OWN_BIRTH, OWN_TENURED, OWN_EPHEMERON_SLOTS };
enum { OWN_EPHEMERON_BYTES = 8 + 8 * OWN_EPHEMERON_SLOTS };
/* The profile ends: what it leaves in the heap is garbage, which must not wait for anything. */
void own_ephemerons_release(struct profile *profile);

/* ---- the oracle (life_oracle.c) ---- */
void oracle_pass(struct profile *profile);

#endif
