/* Bulk stores: many slots of one object, with one pass of the write barrier. */
#include "check/check.h"

/* Remembers the object for young references in [index, index + count), one call a card at most: where the remembered
 * set is of objects, or can't grow, the first call does all. */
static void remember_young(eden_mutator *mutator, eden_value object, size_t index, size_t count) {
    if (eden_is_young(mutator, object)) {
        return;
    }
    if (cycle_is_running(&mutator->heap->cycle)) {
        cycle_rescan(mutator->heap, object, index, index + count);
    }
    for (size_t i = index; i < index + count && !object_has(object, EDEN_HEADER_REMEMBERED); i++) {
        if (eden_is_young(mutator, eden_slot(object, i))) {
            eden_remember(mutator, object, i);
            i |= CARD_SLOTS - 1;
        }
    }
}

void eden_slots_set(eden_mutator *mutator, eden_value object, size_t index, const eden_value *values, size_t count) {
    check_stores(mutator, object, index, values, count, "eden_slots_set");
    if (count != 0) { /* values may be NULL then */
        memcpy(eden_words_(object) + 1 + index, values, count * sizeof *values);
    }
    remember_young(mutator, object, index, count);
}

void eden_slots_copy(eden_mutator *mutator, eden_value to, size_t to_index, eden_value from, size_t from_index,
                     size_t count) {
    check_loads(from, from_index, count, "eden_slots_copy");
    const eden_value *values = eden_words_(from) + 1 + from_index;
    check_stores(mutator, to, to_index, values, count, "eden_slots_copy");
    memmove(eden_words_(to) + 1 + to_index, values, count * sizeof *values);
    remember_young(mutator, to, to_index, count);
}
