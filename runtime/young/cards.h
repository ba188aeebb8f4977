/* Cards: the remembered set of large objects. */
#ifndef EDEN_YOUNG_CARDS_H
#define EDEN_YOUNG_CARDS_H

#include "heap/heap.h"

/* Is the object remembered by cards, rather than whole? Those with a word of their own for the slot count are, but for
 * weak ones: what is weak in them is known for the object as a whole only. */
static inline bool cards_apply(const eden_heap *heap, eden_value object) {
    return heap->old.card_table != NULL && eden_header(object) >> EDEN_HEADER_SLOTS_SHIFT == EDEN_SLOTS_OVERFLOW &&
           eden_format_bits(object) != EDEN_FORMAT_WEAK;
}
bool cards_is_dirty(const eden_heap *heap, struct card card);
void cards_add(eden_heap *heap, struct card card, enum eden_remember_origin origin);
void cards_forget(eden_heap *heap, struct card card, size_t remaining); /* the event and the byte; not the list */
void cards_drop_unmarked(eden_heap *heap);
void cards_unset(eden_heap *heap); /* around a change of the objects' addresses */
void cards_set(eden_heap *heap);

#endif
