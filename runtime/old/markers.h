/* Marking by several threads. */
#ifndef EDEN_OLD_MARKERS_H
#define EDEN_OLD_MARKERS_H

#include "heap/workers.h"

/* Marks what the objects on the heap's mark stack from entry `left` on, and `count` references, lead to. On the mark
 * stack then is what the collecting thread alone may scan: ephemerons, weak objects, and what the queues had no room
 * for; and what one thread has had while no other had anything, as of a list: true. Adds to *marked. The pool is taken.
 */
bool markers_run(eden_heap *heap, size_t left, const eden_value *references, size_t count, struct tally *marked);

#endif
