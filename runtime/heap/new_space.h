/* New space: two survivor semispaces and eden, and their size. */
#ifndef EDEN_HEAP_NEW_SPACE_H
#define EDEN_HEAP_NEW_SPACE_H

#include "heap/heap.h"

/* Reserves the heap's address space and maps new space at the front of it. */
bool new_space_create(eden_heap *heap, eden_error *error);
/* Gives eden this size, a multiple of pages, and each semispace the other, as far as the reservation and the system
 * allow. Eden is empty, and so is the semispace that the next scavenge copies to. */
void new_space_resize(eden_heap *heap, size_t eden_bytes, size_t semispace);
/* What a semispace has beside an eden of this size, unless the policy wants it larger. */
size_t new_space_fifth(size_t eden_bytes);
/* Lets eden use no more than this of what is mapped for it; it is empty. */
void new_space_limit(eden_heap *heap, size_t eden_bytes);
/* Returns at least `bytes` of the memory beyond eden's limit to the system, or all of it if there is less. */
void new_space_yield(eden_heap *heap, uint64_t bytes);
/* Elsewhere in the reservation, the smallest new space: its memory is mapped, but the heap does not use it yet. False:
 * there is no address space or memory for it. */
bool new_space_prepare(eden_heap *heap, struct new_space *other);
/* From now on what lies in `other` is young, and all else is old. */
void new_space_turn(eden_heap *heap, const struct new_space *other);
/* The heap's spaces are those of `other`, and empty. */
void new_space_move(eden_heap *heap, const struct new_space *other);
/* Returns the end of one of its spaces, from `end` to `limit`, to the system. */
void new_space_cut(eden_heap *heap, uintptr_t end, uintptr_t limit);

#endif
