#include "collection.h"

enum { FIRST_LIST = 10, FIRST_DICTIONARY = 32 };

static bool array_new(struct simulation *s, enum sph_site site, size_t size, eden_value *result) {
    eden_value array = eden_new_slots(s->mutator, s->sites[site], size);
    if (array == EDEN_NONE) {
        return program_exhausted(s->program, s->mutator);
    }
    *result = array;
    return true;
}

static bool object_new(struct simulation *s, enum sph_site site, eden_value *result) {
    eden_value object = eden_new(s->mutator, s->sites[site]);
    if (object == EDEN_NONE) {
        return program_exhausted(s->program, s->mutator);
    }
    *result = object;
    return true;
}

/* An instance of `site` with an empty array and a count of 0. */
static bool container_new(struct simulation *s, enum sph_site site, enum sph_site array_site, size_t size,
                          size_t array_slot, size_t count_slot, eden_value *result) {
    EDEN_FRAME(s->mutator, local, 1);
    if (!array_new(s, array_site, size, &local[0]) || !object_new(s, site, result)) {
        return false;
    }
    eden_slot_set(s->mutator, *result, array_slot, local[0]);
    eden_slot_set(s->mutator, *result, count_slot, eden_int(0));
    return true;
}

bool list_new(struct simulation *s, enum sph_site site, eden_value *result) {
    return container_new(s, site, SITE_LIST_ARRAY, FIRST_LIST, LIST_ARRAY, LIST_SIZE, result);
}

static bool list_grow(struct simulation *s, const eden_value *list) {
    size_t size = list_size(*list);
    eden_value larger = EDEN_NONE;
    if (!array_new(s, SITE_LIST_GROWN, 2 * size, &larger)) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        eden_slot_set(s->mutator, larger, i, list_at(*list, i));
    }
    eden_slot_set(s->mutator, *list, LIST_ARRAY, larger);
    return true;
}

bool list_add(struct simulation *s, const eden_value *list, const eden_value *item) {
    size_t size = list_size(*list);
    if (size == eden_slot_count(eden_slot(*list, LIST_ARRAY)) && !list_grow(s, list)) {
        return false;
    }
    eden_slot_set(s->mutator, eden_slot(*list, LIST_ARRAY), size, *item);
    eden_slot_set(s->mutator, *list, LIST_SIZE, eden_int((int64_t)size + 1));
    return true;
}

bool association_new(struct simulation *s, enum sph_site site, const eden_value *key, const eden_value *value,
                     eden_value *result) {
    if (!object_new(s, site, result)) {
        return false;
    }
    eden_slot_set(s->mutator, *result, ASSOCIATION_KEY, *key);
    eden_slot_set(s->mutator, *result, ASSOCIATION_VALUE, *value);
    return true;
}

bool dictionary_new(struct simulation *s, enum sph_site site, eden_value *result) {
    return container_new(s, site, SITE_MAP_ARRAY, FIRST_DICTIONARY, DICTIONARY_ARRAY, DICTIONARY_TALLY, result);
}

/* Where the key stands, or would. An integer is its own hash, as in Pharo; sizes are powers of two, and a quarter of
 * the places stay free. */
static size_t place_of(eden_value array, int64_t key) {
    size_t mask = eden_slot_count(array) - 1;
    for (size_t at = (size_t)key & mask;; at = (at + 1) & mask) {
        eden_value there = eden_slot(array, at);
        if (there == EDEN_NONE || eden_slot(there, ASSOCIATION_KEY) == eden_int(key)) {
            return at;
        }
    }
}

static bool dictionary_grow(struct simulation *s, const eden_value *dictionary) {
    size_t size = eden_slot_count(eden_slot(*dictionary, DICTIONARY_ARRAY));
    eden_value larger = EDEN_NONE;
    if (!array_new(s, SITE_DICTIONARY_GROWN, 2 * size, &larger)) {
        return false;
    }
    eden_value array = eden_slot(*dictionary, DICTIONARY_ARRAY);
    for (size_t i = 0; i < size; i++) {
        eden_value there = eden_slot(array, i);
        if (there != EDEN_NONE) {
            size_t at = place_of(larger, eden_int_value(eden_slot(there, ASSOCIATION_KEY)));
            eden_slot_set(s->mutator, larger, at, there);
        }
    }
    eden_slot_set(s->mutator, *dictionary, DICTIONARY_ARRAY, larger);
    return true;
}

bool dictionary_put(struct simulation *s, const eden_value *dictionary, int64_t key, const eden_value *value) {
    size_t tally = (size_t)eden_int_value(eden_slot(*dictionary, DICTIONARY_TALLY));
    if (tally >= eden_slot_count(eden_slot(*dictionary, DICTIONARY_ARRAY)) / 4 * 3 && !dictionary_grow(s, dictionary)) {
        return false;
    }
    eden_value small_key = eden_int(key);
    eden_value association = EDEN_NONE;
    if (!association_new(s, SITE_PARTITION_KEYED, &small_key, value, &association)) {
        return false;
    }
    eden_value array = eden_slot(*dictionary, DICTIONARY_ARRAY);
    eden_slot_set(s->mutator, array, place_of(array, key), association);
    eden_slot_set(s->mutator, *dictionary, DICTIONARY_TALLY, eden_int((int64_t)tally + 1));
    return true;
}

eden_value dictionary_at(eden_value dictionary, int64_t key) {
    eden_value array = eden_slot(dictionary, DICTIONARY_ARRAY);
    eden_value there = eden_slot(array, place_of(array, key));
    return there == EDEN_NONE ? EDEN_NONE : eden_slot(there, ASSOCIATION_VALUE);
}
