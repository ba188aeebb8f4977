/* Invariants that every build checks, on cold paths: once a collection, a segment, or an entry that leaves a list.
 *
 * Each has a number in the essay of the file that keeps it, and its name is what a failure reports: "I1 of old space".
 *
 * Failure. Nothing ends the embedder's process. A heap with a broken invariant is corrupt, so it stops: allocation,
 * pinning and requested collections fail with EDEN_CORRUPT and the invariant's name (api/instance.h), and no further
 * collection runs that could spread the damage. What is in the heap can still be read, and the heap be destroyed. The
 * checked build ends the process there, as for the embedder's mistakes. */
#ifndef EDEN_HEAP_INVARIANT_H
#define EDEN_HEAP_INVARIANT_H

#include "heap/object.h"

/* Marks the heap as corrupt; the first failure is the one that is reported. */
void invariant_fail(eden_heap *heap, const char *name);

/* name: "I1 of old space: ...", static. */
static inline void invariant_check(eden_heap *heap, bool holds, const char *name) {
    if (__builtin_expect(!holds, 0)) {
        invariant_fail(heap, name);
    }
}

#endif
