/* Lists that grow, as Pharo's OrderedCollection and Heap: an object with an array, which doubles when it is full. */
#ifndef AGENTS_LIST_H
#define AGENTS_LIST_H

#include "world.h"

/* *list, a root, becomes a new empty list. May collect. False, after program_fail, where memory is exhausted. */
bool list_new(struct world *world, eden_value *list, enum site site, enum site array_site);

/* Appends *item; both are roots. May collect. False, after program_fail, where memory is exhausted. */
bool list_add(struct world *world, const eden_value *list, const eden_value *item, enum site array_site);

static inline size_t list_size(eden_value list) { return (size_t)int_at(list, LIST_SIZE); }
static inline eden_value list_at(eden_value list, size_t index) {
    return eden_slot(eden_slot(list, LIST_ARRAY), index);
}

#endif
