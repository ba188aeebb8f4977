/* Tenuring policy: which survivors a scavenge moves to old space. */
#ifndef EDEN_YOUNG_TENURE_H
#define EDEN_YOUNG_TENURE_H

#include "heap/heap.h"

struct tenure_policy {         /* of one scavenge */
    uint64_t criterion;        /* enum eden_criterion, or one of heap/params.h */
    unsigned least_references; /* EDEN_BY_REMEMBERED: tenures what at least so many remembered slots refer to */
    uintptr_t young_from;      /* from this address on, tenure_reason has none but for pinned objects */
};
enum { NOT_TENURED = -1 };
struct tenure_policy tenure_policy(eden_heap *heap, enum eden_scavenge_cause cause);
/* What the policy says of a live young object with this header: enum eden_tenure_reason or NOT_TENURED. */
int tenure_reason(const eden_heap *heap, const struct tenure_policy *policy, eden_value object, uint64_t header);
/* For the next scavenge, from the semispace whose survivors it will copy and the other one. */
uintptr_t tenure_threshold(const eden_heap *heap, const struct space *survivors, const struct space *other);
double tenure_proportion(const eden_heap *heap);
/* Young objects have no use for the remembered, pinned and grey bits: with EDEN_BY_REMEMBERED they count references. */
enum { YOUNG_COUNT_SHIFT = 29, YOUNG_COUNT_MAX = 7 };
#define YOUNG_COUNT_BITS ((uint64_t)YOUNG_COUNT_MAX << YOUNG_COUNT_SHIFT)

#endif
