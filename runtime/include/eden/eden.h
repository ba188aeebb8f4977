/* Eden: a generational garbage collector to embed in language runtimes, with probes for tools that observe it.
 *
 *     static void run(eden_mutator *m, eden_class pair) {
 *         EDEN_FRAME(m, local, 1); // roots until the function returns
 *         local[0] = eden_new(m, pair);
 *         eden_slot_set(m, local[0], 0, eden_int(42));
 *     }
 *
 *     eden_heap *heap = eden_heap_create(NULL, &error);
 *     eden_mutator *m = eden_mutator_attach(heap, &error);
 *     eden_class pair = eden_class_define(heap, &(eden_class_definition){"Pair", EDEN_FORMAT_FIXED, 2}, &error);
 *     run(m, pair);
 *     eden_heap_destroy(heap); // all frames are closed by now
 *
 * The rules for an embedder: (1) anything still needed after a call that may collect must be in a root; (2) references
 * are stored with eden_slot_set; (3) a C pointer into an object is valid until the next call that may collect.
 * docs/embedding.md explains them, with complete programs.
 *
 * Conventions of these headers. Sizes are in bytes, times in nanoseconds, counts of slots in words of 8 bytes. A call
 * that may collect says so; all others don't. Objects belong to their heap; memory that the caller passes remains the
 * caller's. A pointer to an eden_error may be NULL. Except where a declaration allows it, a call must not be made from
 * a root visitor, a memory hook or, if it may collect, a collection hook. */
#ifndef EDEN_EDEN_H
#define EDEN_EDEN_H

#include "heap.h"   /* heaps, mutators, classes, parameters, collections, figures */
#include "object.h" /* allocation, slots, raw bodies */
#include "roots.h"  /* frames, global roots, visitors */
#include "value.h"  /* tagged values */

#endif
