/* Large Arrays, one after the other, the last `live` of them kept.
 *
 * Each is born in old space, where no chunk is large enough for it unless memory was asked for ahead (grow_headroom). A
 * full collection looks at all slots of those that are kept. Each has its number in its first and its last slot. */
#include "micro.h"

static bool check(struct micro *micro, eden_value table) {
    for (size_t i = 0; i < micro->live; i++) {
        eden_value object = eden_slot(table, i);
        if (object == EDEN_NONE) {
            continue;
        }
        uint64_t number = (uint64_t)eden_int_value(eden_slot(object, 0));
        if (number % micro->live != i || eden_slot(object, eden_slot_count(object) - 1) != eden_slot(object, 0)) {
            return program_fail(micro->program, "object %zu is not what was stored", i);
        }
        micro_count(micro, number);
    }
    return true;
}

bool micro_large(struct micro *micro) {
    eden_class array;
    if (!micro_class(micro, "Array", EDEN_FORMAT_VARIABLE, 0, &array)) {
        return false;
    }
    size_t slots = micro->size / sizeof(uint64_t) - 1;
    EDEN_FRAME(micro->mutator, table, 1);
    table[0] = eden_new_slots(micro->mutator, array, micro->live);
    for (uint64_t number = 1; table[0] != EDEN_NONE && number <= micro->objects; number++) {
        eden_value object = eden_new_slots(micro->mutator, array, slots);
        if (object == EDEN_NONE) {
            return program_exhausted(micro->program, micro->mutator);
        }
        eden_slot_set(micro->mutator, object, 0, eden_int((int64_t)number));
        eden_slot_set(micro->mutator, object, slots - 1, eden_int((int64_t)number));
        eden_slot_set(micro->mutator, table[0], number % micro->live, object);
    }
    if (table[0] == EDEN_NONE) {
        return program_exhausted(micro->program, micro->mutator);
    }
    return check(micro, table[0]) && program_verify(micro->program, micro->mutator);
}
