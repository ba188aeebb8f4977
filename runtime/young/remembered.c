/* The remembered set: the old objects that may refer to young ones, the scavenger's roots in old space.
 *
 * 1. Algorithm
 * remembered_set=object, as in the papers: the slow path of the write barrier sets the object's remembered bit and
 * appends the object. A scavenge scans each object whole and drops those that no longer refer to anything young.
 * remembered_set=card treats large objects in another way: cards.c.
 *
 * 2. Invariants
 * I1. An object is in the list exactly if its remembered bit is set, so it is there once.
 * I2. Each old object with a young reference is in the list, or is_incomplete is set. (The verifier.)
 *
 * 3. Failure
 * A store cannot fail. If the list cannot grow, the object is left out, its bit stays clear, and is_incomplete makes
 * the next scavenge walk all of old space; that walk tries to remember what it finds. A missed barrier breaks I2. */
#include "young/remembered.h"
#include "young/cards.h"
#include <stdlib.h>

void remembered_add(eden_heap *heap, eden_value object, enum eden_remember_origin origin) {
    struct remembered_set *set = &heap->remembered;
    if (!system_grow_from(&heap->system, (void **)&set->objects, &set->room, set->count, sizeof *set->objects,
                          REMEMBERED_FIRST, "remembered set")) {
        set->is_incomplete = true;
        return;
    }
    object_set(object, EDEN_HEADER_REMEMBERED);
    set->objects[set->count++] = object;
    heap->delta.remembered++;
    eden_fire_remember(heap, (const void *)(uintptr_t)object, eden_index_of(object), heap_remembered(heap), origin);
}

void eden_remember(eden_mutator *mutator, eden_value object, size_t index) {
    eden_heap *heap = mutator->heap;
    if (cycle_is_running(&heap->cycle) && !heap_is_young(heap, eden_slot(object, index))) {
        cycle_rescan(heap, object, index, index + 1);
        return;
    }
    if (!cards_apply(heap, object)) {
        remembered_add(heap, object, EDEN_REMEMBER_STORE);
        return;
    }
    struct card card = {object, index / CARD_SLOTS * CARD_SLOTS};
    if (!cards_is_dirty(heap, card)) { /* of many stores into a large object, few make a card dirty */
        cards_add(heap, card, EDEN_REMEMBER_STORE);
    }
}

void remembered_forget(eden_heap *heap, eden_value object, size_t remaining) {
    invariant_check(heap, object_has(object, EDEN_HEADER_REMEMBERED),
                    "I1 of the remembered set: an object in the list has no remembered bit");
    object_clear(object, EDEN_HEADER_REMEMBERED);
    if (cycle_is_running(&heap->cycle)) {
        cycle_rescan(heap, object, 0, heap_reference_slots(heap, object));
    }
    heap->delta.forgotten++;
    eden_fire_forget(heap, (const void *)(uintptr_t)object, eden_index_of(object), remaining);
}

void remembered_drop_unmarked(eden_heap *heap) {
    struct remembered_set *set = &heap->remembered;
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (object_has(set->objects[i], EDEN_HEADER_MARKED)) {
            set->objects[kept++] = set->objects[i];
        } else {
            remembered_forget(heap, set->objects[i], kept + (set->count - i - 1) + set->card_count);
        }
    }
    set->count = kept;
    cards_drop_unmarked(heap);
}

void remembered_clear(eden_heap *heap) {
    struct remembered_set *set = &heap->remembered;
    cycle_forgets_all(heap);
    while (set->count != 0) {
        set->count--;
        remembered_forget(heap, set->objects[set->count], heap_remembered(heap));
    }
    while (set->card_count != 0) {
        set->card_count--;
        cards_forget(heap, set->cards[set->card_count], set->card_count);
    }
    set->is_incomplete = false;
}

void remembered_destroy(struct remembered_set *set) {
    free(set->objects);
    free(set->cards);
}
