/* The remembered set: the old objects that may refer to young ones. */
#ifndef EDEN_YOUNG_REMEMBERED_H
#define EDEN_YOUNG_REMEMBERED_H

#include "heap/heap.h"

/* Room that the lists of objects and of cards begin with, as in Spur: with less, the census of young/tenure.c would
 * come too early in tiny edens. */
enum { REMEMBERED_FIRST = 1024 };
void remembered_add(eden_heap *heap, eden_value object, enum eden_remember_origin origin);
void remembered_forget(eden_heap *heap, eden_value object, size_t remaining); /* the event and the bit; not the list */
void remembered_drop_unmarked(eden_heap *heap);
void remembered_clear(eden_heap *heap); /* nothing is young */
void remembered_destroy(struct remembered_set *set);

#endif
