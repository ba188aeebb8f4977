/* Cards: the remembered set of large objects.
 *
 * An object of 255 slots or more is not remembered whole, or each scavenge would scan it whole: in the tuning paper
 * scavenges took 52 times as long, and it blames one object or very few. It is divided into cards of 8 slots, counted
 * from its start, and only those that a young reference was stored into since they were last found clean are remembered
 * and scanned.
 *
 * A dirty card is in a list (so a scavenge need not search) and has its bit in a byte table over old space (so a
 * store reads one byte to find out whether it is in the list already). A card's byte is that of the address of its
 * first slot, 64 bytes a byte. Two cards can share a byte only if one is the last, short card of an object (of five
 * slots or less: two words of the other object lie between) and the other is the first of an object above; hence two
 * bits, one for last cards and one for the others. An object that has cards has more than one.
 *
 * Why 8 slots: what a card costs is the lines of memory that its slots lie in, here two. Microseconds of the remembered
 * phase with 1,000 stores into an array of 10 million slots at the places of last time, at new places (2,000 cards),
 * and with 100,000 stores side by side into one of a million:
 *
 *     slots   same   new   side by side
 *         8     25    58           1180
 *        16     35    87           1190
 *        32     60   129           1090
 *        64    101   370           1070   (this one without prefetching, see scan_cards)
 *
 * Stores cost the same with all of them. A table of 64 bytes a byte takes 1.6% of old space if all of it is large
 * objects that are stored into; pages of the table that no store has touched take nothing. The list has 16 bytes a
 * dirty card, a quarter of what is dirty, and room for twice as many at most; it does not shrink.
 *
 * Invariants
 * I1. A card is in the list exactly if its bit is set. Compaction changes addresses: it clears all bits before
 *     (cards_unset) and sets them after (cards_set).
 * I2. A large object never has the remembered bit, so that every store of a young value reaches the slow path. Large
 *     weak objects are the exception: they are remembered whole (cards_apply).
 *
 * Failure. The list cannot grow: the card stays clean and the next scavenge scans all of old space. */
#include "young/cards.h"
#include "young/remembered.h"

_Static_assert(CARD_SLOTS < EDEN_SLOTS_OVERFLOW, "the first card of an object is not its last");

void cards_add(eden_heap *heap, struct card card, enum eden_remember_origin origin) {
    struct remembered_set *set = &heap->remembered;
    if (!system_grow_from(&heap->system, (void **)&set->cards, &set->card_room, set->card_count, sizeof *set->cards,
                          REMEMBERED_FIRST, "remembered set")) {
        set->is_incomplete = true;
        return;
    }
    *cards_byte(heap, card) |= cards_bit(card);
    set->cards[set->card_count++] = card;
    heap->delta.remembered++;
    eden_fire_remember(heap, (const void *)(uintptr_t)card.object, eden_index_of(card.object), heap_remembered(heap),
                       origin);
}

void cards_forget(eden_heap *heap, struct card card, size_t remaining) {
    invariant_check(heap, cards_is_dirty(heap, card), "I1 of cards: a card in the list is clean in the table");
    *cards_byte(heap, card) &= (uint8_t)~cards_bit(card);
    if (cycle_is_running(&heap->cycle)) {
        size_t count = heap_reference_slots(heap, card.object), left = count - card.first;
        cycle_rescan(heap, card.object, card.first, left > CARD_SLOTS ? card.first + CARD_SLOTS : count);
    }
    heap->delta.forgotten++;
    eden_fire_forget(heap, (const void *)(uintptr_t)card.object, eden_index_of(card.object),
                     heap->remembered.count + remaining);
}

void cards_drop_unmarked(eden_heap *heap) {
    struct remembered_set *set = &heap->remembered;
    size_t kept = 0;
    for (size_t i = 0; i < set->card_count; i++) {
        if (object_has(set->cards[i].object, EDEN_HEADER_MARKED)) {
            set->cards[kept++] = set->cards[i];
        } else {
            cards_forget(heap, set->cards[i], kept + (set->card_count - i - 1));
        }
    }
    set->card_count = kept;
}

void cards_unset(eden_heap *heap) {
    for (size_t i = 0; i < heap->remembered.card_count; i++) {
        struct card card = heap->remembered.cards[i];
        *cards_byte(heap, card) &= (uint8_t)~cards_bit(card);
    }
}

void cards_set(eden_heap *heap) {
    for (size_t i = 0; i < heap->remembered.card_count; i++) {
        struct card card = heap->remembered.cards[i];
        *cards_byte(heap, card) |= cards_bit(card);
    }
}
