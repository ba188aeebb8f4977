/* Open addressing with linear steps, as Pharo's HashedCollection: an Array of keys (Set) or of Associations
 * (Dictionary), its size a power of two, at most three quarters full. An object's hash is its identity hash, which
 * stays with it however it moves; bytes (names, large integers) hash by content (FNV-1a: Fowler, Noll and Vo, 1991).
 * Both are spread by a multiplication before the upper bits are used. */
#include "collection.h"

enum { HASHED, KEY, VALUE, LOCALS };
enum { FIRST_CAPACITY = 8 };

static bool is_bytes(eden_value key) { return eden_is_object(key) && eden_format_bits(key) >= EDEN_FORMAT_BYTES; }

static uint64_t hash_of(struct model *model, eden_value key) {
    uint64_t hash = key;
    if (is_bytes(key)) {
        const unsigned char *bytes = eden_raw(key);
        size_t size = eden_raw_count(key);
        hash = 0xcbf29ce484222325u;
        for (size_t i = 0; i < size; i++) {
            hash = (hash ^ bytes[i]) * 0x100000001b3u;
        }
    } else if (eden_is_object(key)) {
        hash = eden_identity_hash(model->mutator, key);
    }
    return (hash * 0x9e3779b97f4a7c15u) >> 32;
}

static bool same(eden_value a, eden_value b) {
    if (a == b || !is_bytes(a) || !is_bytes(b)) {
        return a == b;
    }
    size_t size = eden_raw_count(a);
    return size == eden_raw_count(b) && memcmp(eden_raw(a), eden_raw(b), size) == 0;
}

static eden_value key_of(eden_value member, bool is_pair) { return is_pair ? eden_slot(member, PAIR_KEY) : member; }

/* Where key is, or the free place where it belongs. Does not collect. */
static size_t place_of(struct model *model, eden_value array, eden_value key, bool is_pair) {
    size_t mask = eden_slot_count(array) - 1;
    size_t at = (size_t)hash_of(model, key) & mask;
    while (eden_slot(array, at) != EDEN_NONE && !same(key_of(eden_slot(array, at), is_pair), key)) {
        at = (at + 1) & mask;
    }
    return at;
}

static eden_value find(struct model *model, eden_value hashed, eden_value key, bool is_pair) {
    eden_value array = eden_slot(hashed, HASHED_ARRAY);
    return eden_slot(array, place_of(model, array, key, is_pair));
}

eden_value hashed_new(struct model *model, enum site site) {
    EDEN_FRAME(model->mutator, local, 1);
    local[HASHED] = object_new(model, site);
    if (local[HASHED] == EDEN_NONE) {
        return EDEN_NONE;
    }
    int_at_put(model->mutator, local[HASHED], HASHED_TALLY, 0);
    eden_value array = array_new(model, site + 1, FIRST_CAPACITY);
    if (array == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_slot_set(model->mutator, local[HASHED], HASHED_ARRAY, array);
    return local[HASHED];
}

/* Makes room for one more. *hashed is a root. */
static bool reserve(struct model *model, enum site site, const eden_value *hashed, bool is_pair) {
    size_t capacity = eden_slot_count(eden_slot(*hashed, HASHED_ARRAY));
    if ((hashed_size(*hashed) + 1) * 4 <= capacity * 3) {
        return true;
    }
    eden_value larger = array_new(model, site + 1, 2 * capacity);
    if (larger == EDEN_NONE) {
        return false;
    }
    eden_value array = eden_slot(*hashed, HASHED_ARRAY);
    for (size_t i = 0; i < capacity; i++) {
        eden_value member = eden_slot(array, i);
        if (member != EDEN_NONE) {
            size_t at = place_of(model, larger, key_of(member, is_pair), is_pair);
            eden_slot_set(model->mutator, larger, at, member);
        }
    }
    eden_slot_set(model->mutator, *hashed, HASHED_ARRAY, larger);
    return true;
}

/* Stores a member for which there is room. Does not collect. */
static void put(struct model *model, eden_value hashed, eden_value member, bool is_pair) {
    eden_value array = eden_slot(hashed, HASHED_ARRAY);
    size_t at = place_of(model, array, key_of(member, is_pair), is_pair);
    eden_slot_set(model->mutator, array, at, member);
    int_at_put(model->mutator, hashed, HASHED_TALLY, (int64_t)hashed_size(hashed) + 1);
}

eden_value set_find(struct model *model, eden_value set, eden_value key) { return find(model, set, key, false); }

bool set_add(struct model *model, enum site site, eden_value set, eden_value key, bool *added) {
    bool is_new = set_find(model, set, key) == EDEN_NONE;
    if (added != NULL) {
        *added = is_new;
    }
    if (!is_new) {
        return true;
    }
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[HASHED] = set;
    local[KEY] = key;
    if (!reserve(model, site, &local[HASHED], false)) {
        return false;
    }
    put(model, local[HASHED], local[KEY], false);
    return true;
}

eden_value dictionary_find(struct model *model, eden_value dictionary, eden_value key) {
    return find(model, dictionary, key, true);
}

eden_value dictionary_add(struct model *model, enum site site, eden_value dictionary, eden_value key,
                          eden_value value) {
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[HASHED] = dictionary;
    local[KEY] = key;
    local[VALUE] = value;
    if (!reserve(model, site, &local[HASHED], true)) {
        return EDEN_NONE;
    }
    eden_value pair = pair_new(model, site + 2, local[KEY], local[VALUE]);
    if (pair != EDEN_NONE) {
        put(model, local[HASHED], pair, true);
    }
    return pair;
}

eden_value dictionary_pairs(struct model *model, eden_value dictionary) {
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[HASHED] = dictionary;
    local[VALUE] = list_new(model, SITE_RANKED, hashed_size(dictionary));
    if (local[VALUE] == EDEN_NONE) {
        return EDEN_NONE;
    }
    size_t capacity = eden_slot_count(eden_slot(local[HASHED], HASHED_ARRAY));
    for (size_t i = 0; i < capacity; i++) {
        eden_value pair = eden_slot(eden_slot(local[HASHED], HASHED_ARRAY), i);
        if (pair != EDEN_NONE && !list_add(model, SITE_RANKED, local[VALUE], pair)) {
            return EDEN_NONE;
        }
    }
    return local[VALUE];
}
