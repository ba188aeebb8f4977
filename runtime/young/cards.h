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
enum card_bits { CARD_BIT_OTHER = 1, CARD_BIT_LAST = 2 };

static inline uint8_t *cards_byte(const eden_heap *heap, struct card card) {
    return &heap->old.card_table[(card.object + 8 + card.first * 8 - heap->old.start) / CARD_BYTES];
}

static inline uint8_t cards_bit(struct card card) {
    return card.first + CARD_SLOTS >= eden_slot_count(card.object) ? CARD_BIT_LAST : CARD_BIT_OTHER;
}

static inline bool cards_is_dirty(const eden_heap *heap, struct card card) {
    return (*cards_byte(heap, card) & cards_bit(card)) != 0;
}

/* The card must be clean. */
void cards_add(eden_heap *heap, struct card card, enum eden_remember_origin origin);
void cards_forget(eden_heap *heap, struct card card, size_t remaining); /* the event and the byte; not the list */
void cards_drop_unmarked(eden_heap *heap);
void cards_unset(eden_heap *heap); /* around a change of the objects' addresses */
void cards_set(eden_heap *heap);

#endif
