/* Many short-lived objects with some survivors.
 *
 * Of the objects, which are numbered, one in `one_in` is stored into a random place of a table of `live` places, where
 * it lives until another takes its place: lifetimes are geometric, so that at each scavenge some of the survivors have
 * died and others have come. The rest dies at once. The table is small (an array of references), so that what a
 * scavenge costs is the survivors. A second table in C says which object each place must have. */
#include "micro.h"

#include <stdlib.h>

static uint64_t next_random(uint64_t *state) { /* splitmix64 (Steele, Lea and Flood 2014) */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static bool check(struct micro *micro, eden_value table, const uint64_t *expected) {
    for (size_t i = 0; i < micro->live; i++) {
        eden_value object = eden_slot(table, i);
        uint64_t number = object == EDEN_NONE ? 0 : *(const uint64_t *)eden_raw(object);
        if (number != expected[i]) {
            return program_fail(micro->program, "place %zu has another object than was stored", i);
        }
        if (number != 0) {
            micro_count(micro, number);
        }
    }
    return true;
}

static bool fill(struct micro *micro, eden_class of, eden_value *table, uint64_t *expected) {
    size_t words = micro->size / sizeof(uint64_t) - 1;
    uint64_t random = micro->seed;
    for (uint64_t number = 1; number <= micro->objects; number++) {
        eden_value object = eden_new_raw(micro->mutator, of, words);
        if (object == EDEN_NONE) {
            return program_exhausted(micro->program, micro->mutator);
        }
        *(uint64_t *)eden_raw(object) = number;
        if (number % micro->one_in == 0) {
            size_t place = next_random(&random) % micro->live;
            eden_slot_set(micro->mutator, *table, place, object);
            expected[place] = number;
        }
    }
    return check(micro, *table, expected);
}

bool micro_survivors(struct micro *micro) {
    eden_class array;
    eden_class record;
    if (!micro_class(micro, "Array", EDEN_FORMAT_VARIABLE, 0, &array) ||
        !micro_class(micro, "Record", EDEN_FORMAT_WORDS64, 0, &record)) {
        return false;
    }
    uint64_t *expected = calloc(micro->live, sizeof *expected);
    if (expected == NULL) {
        return program_fail(micro->program, "no memory");
    }
    EDEN_FRAME(micro->mutator, table, 1);
    table[0] = eden_new_slots(micro->mutator, array, micro->live);
    bool ok = table[0] == EDEN_NONE ? program_exhausted(micro->program, micro->mutator)
                                    : fill(micro, record, table, expected);
    ok = ok && program_verify(micro->program, micro->mutator);
    free(expected);
    return ok;
}
