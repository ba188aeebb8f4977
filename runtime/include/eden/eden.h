/* Eden: a generational garbage collector that a language runtime embeds and an operator can see through.
 *
 *     eden_heap *heap = eden_heap_create(NULL, &error);
 *     eden_mutator *m = eden_mutator_attach(heap, &error);
 *     eden_class pair = eden_class_define(heap, &(eden_class_definition){"Pair", EDEN_FORMAT_FIXED, 2}, &error);
 *     {
 *         EDEN_FRAME(m, local, 1);
 *         local[0] = eden_new(m, pair);
 *         eden_slot_set(m, local[0], 0, eden_int(42));
 *     }
 *     eden_heap_destroy(heap);
 *
 * The rules for an embedder: (1) whatever must outlive a call that may collect stands in a root; (2) references are
 * stored with eden_slot_set; (3) a C pointer into an object is good until the next call that may collect.
 * docs/embedding.md goes through them. */
#ifndef EDEN_EDEN_H
#define EDEN_EDEN_H

#include "heap.h"   /* heaps, mutators, classes, parameters, collections, figures */
#include "object.h" /* allocation, slots, raw bodies */
#include "roots.h"  /* frames, global roots, visitors */
#include "value.h"  /* tagged values */

#endif
