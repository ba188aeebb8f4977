/* New space: two survivor semispaces and eden, and their size. */
#ifndef EDEN_HEAP_NEW_SPACE_H
#define EDEN_HEAP_NEW_SPACE_H

#include "heap/heap.h"

/* Reserves the heap's address space and maps new space at the front of it. */
bool new_space_create(eden_heap *heap, eden_error *error);
/* Gives eden this size, a multiple of pages, and each semispace the size given or a fifth of eden, whichever is more;
 * as far as the reservation and the system allow. Eden is empty, and so is the semispace that the next scavenge copies
 * to. */
void new_space_resize(eden_heap *heap, size_t eden_bytes, size_t semispace);
/* Lets eden use no more than this of what is mapped for it; it is empty. */
void new_space_limit(eden_heap *heap, size_t eden_bytes);
/* Returns at least `bytes` of the memory beyond eden's limit to the system, or all of it if there is less. */
void new_space_yield(eden_heap *heap, uint64_t bytes);

#endif
