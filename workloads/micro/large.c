/* Large objects, one after the other, the last `live` of them kept.
 *
 * Each is born in old space, where no chunk is large enough for it unless memory was asked for ahead
 * (grow_headroom). Each has its number in its first and its last word. */
#include "micro.h"

static bool check(struct micro *micro, eden_value table) {
    for (size_t i = 0; i < micro->live; i++) {
        eden_value object = eden_slot(table, i);
        if (object == EDEN_NONE) {
            continue;
        }
        const uint64_t *words = eden_raw(object);
        uint64_t number = words[0];
        if (number % micro->live != i || words[eden_raw_count(object) - 1] != number) {
            return program_fail(micro->program, "object %zu is not what was stored", i);
        }
        micro_count(micro, number);
    }
    return true;
}

bool micro_large(struct micro *micro) {
    eden_class array;
    eden_class block;
    if (!micro_class(micro, "Array", EDEN_FORMAT_VARIABLE, 0, &array) ||
        !micro_class(micro, "Block", EDEN_FORMAT_WORDS64, 0, &block)) {
        return false;
    }
    size_t words = micro->size / sizeof(uint64_t) - 1;
    EDEN_FRAME(micro->mutator, table, 1);
    table[0] = eden_new_slots(micro->mutator, array, micro->live);
    for (uint64_t number = 1; table[0] != EDEN_NONE && number <= micro->objects; number++) {
        eden_value object = eden_new_raw(micro->mutator, block, words);
        if (object == EDEN_NONE) {
            return program_exhausted(micro->program, micro->mutator);
        }
        uint64_t *content = eden_raw(object);
        content[0] = content[words - 1] = number;
        eden_slot_set(micro->mutator, table[0], number % micro->live, object);
    }
    if (table[0] == EDEN_NONE) {
        return program_exhausted(micro->program, micro->mutator);
    }
    return check(micro, table[0]) && program_verify(micro->program, micro->mutator);
}
