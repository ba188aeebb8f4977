/* json DOCUMENTS KEEP DEPTH: a stream of JSON-like documents: numbers, strings, arrays that grow, objects with small
 * hash tables. Each document is built, walked, and KEEP documents later walked again and dropped. */
#include "peer.h"

PEER_VARIANT(number, PEER_KIND + 1); /* VALUE */
PEER_VARIANT(string, PEER_KIND + 3); /* BYTES, LENGTH, HASH */
PEER_VARIANT(list, PEER_KIND + 2);   /* ITEMS, COUNT */
PEER_VARIANT(object, PEER_KIND + 3); /* TABLE (keys and values in turn), COUNT, CAPACITY */
enum {
    VALUE = PEER_KIND,
    BYTES = PEER_KIND,
    LENGTH,
    HASH,
    ITEMS = PEER_KIND,
    COUNT,
    TABLE = PEER_KIND,
    CAPACITY = 2 + PEER_KIND
};
enum { SMALLEST = 4, SMALLEST_TABLE = 2 * SMALLEST };

static peer_ref make_number(uint32_t value) {
    peer_ref number = PEER_NEW_VARIANT(number);
    peer_int_set(number, VALUE, value);
    return number;
}

static peer_ref make_string(uint32_t seed, uint32_t length) {
    PEER_FRAME(local, 1);
    local[0] = peer_bytes(length);
    unsigned char *bytes = peer_data(local[0]);
    uint32_t hash = 0;
    for (uint32_t i = 0; i < length; i++) {
        bytes[i] = (unsigned char)('a' + (seed + i * i) % 26);
        hash = peer_mix(hash, bytes[i]);
    }
    peer_ref string = PEER_NEW_VARIANT(string);
    peer_slot_set(string, BYTES, local[0]);
    peer_int_set(string, LENGTH, length);
    peer_int_set(string, HASH, hash);
    return string;
}

/* Returns the place of the key in the object's table, or the free place for it. */
static size_t find(peer_ref object, peer_ref key) {
    size_t mask = (size_t)peer_int(object, CAPACITY) - 1, place = (size_t)peer_int(key, HASH) & mask;
    peer_ref table = peer_slot(object, TABLE), other;
    for (; (other = peer_slot(table, 2 * place)) != PEER_NONE; place = (place + 1) & mask) {
        if (peer_int(other, HASH) == peer_int(key, HASH) && peer_int(other, LENGTH) == peer_int(key, LENGTH) &&
            memcmp(peer_data(peer_slot(other, BYTES)), peer_data(peer_slot(key, BYTES)),
                   (size_t)peer_int(key, LENGTH)) == 0) {
            break;
        }
    }
    return place;
}

static void grow_object(peer_ref *object) {
    size_t capacity = (size_t)peer_int(*object, CAPACITY);
    peer_ref grown = peer_array(4 * capacity), table = peer_slot(*object, TABLE);
    peer_slot_set(*object, TABLE, grown);
    peer_int_set(*object, CAPACITY, (int64_t)(2 * capacity));
    for (size_t i = 0; i < capacity; i++) {
        peer_ref key = peer_slot(table, 2 * i);
        if (key != PEER_NONE) {
            size_t place = find(*object, key);
            peer_slot_set(grown, 2 * place, key);
            peer_slot_set(grown, 2 * place + 1, peer_slot(table, 2 * i + 1));
        }
    }
    peer_free(table);
}

static void release(peer_ref value) {
    if (!PEER_FREES || value == PEER_NONE) {
        return;
    }
    if (peer_is(value, string)) {
        peer_free(peer_slot(value, BYTES));
    } else if (!peer_is(value, number)) {
        size_t count = (size_t)(peer_is(value, list) ? peer_int(value, COUNT) : 2 * peer_int(value, CAPACITY));
        for (size_t i = 0; i < count; i++) {
            release(peer_slot(peer_slot(value, ITEMS), i));
        }
        peer_free(peer_slot(value, ITEMS));
    }
    peer_free(value);
}

/* Adds a member to the object, or replaces the one with the same key. All arguments are roots. May collect. */
static void put(peer_ref *object, peer_ref *key, peer_ref *value) {
    size_t place = find(*object, *key);
    if (peer_slot(peer_slot(*object, TABLE), 2 * place) == PEER_NONE) {
        if (4 * (peer_int(*object, COUNT) + 1) > 3 * peer_int(*object, CAPACITY)) {
            grow_object(object);
            place = find(*object, *key);
        }
        peer_int_set(*object, COUNT, peer_int(*object, COUNT) + 1);
    }
    peer_ref table = peer_slot(*object, TABLE);
    release(peer_slot(table, 2 * place));
    release(peer_slot(table, 2 * place + 1));
    peer_slot_set(table, 2 * place, *key);
    peer_slot_set(table, 2 * place + 1, *value);
}

static void append(peer_ref *list, size_t capacity, peer_ref *value) {
    size_t count = (size_t)peer_int(*list, COUNT);
    if (count == capacity) {
        peer_ref grown = peer_array(2 * count), items = peer_slot(*list, ITEMS);
        for (size_t i = 0; i < count; i++) {
            peer_slot_set(grown, i, peer_slot(items, i));
        }
        peer_slot_set(*list, ITEMS, grown);
        peer_free(items);
    }
    peer_slot_set(peer_slot(*list, ITEMS), count, *value);
    peer_int_set(*list, COUNT, (int64_t)count + 1);
}

static peer_ref make_value(uint32_t depth, uint32_t kind);

static peer_ref make_list(uint32_t depth) {
    PEER_FRAME(local, 2);
    local[1] = peer_array(SMALLEST);
    local[0] = PEER_NEW_VARIANT(list);
    peer_slot_set(local[0], ITEMS, local[1]);
    peer_int_set(local[0], COUNT, 0);
    size_t capacity = SMALLEST;
    for (uint32_t i = 0, n = 2 + peer_random(8); i < n; i++) {
        local[1] = make_value(depth - 1, peer_random(8));
        append(&local[0], capacity, &local[1]);
        capacity = i == capacity ? 2 * capacity : capacity;
    }
    return local[0];
}

static peer_ref make_object(uint32_t depth) {
    PEER_FRAME(local, 3);
    local[1] = peer_array(SMALLEST_TABLE);
    local[0] = PEER_NEW_VARIANT(object);
    peer_slot_set(local[0], TABLE, local[1]);
    peer_int_set(local[0], COUNT, 0);
    peer_int_set(local[0], CAPACITY, SMALLEST);
    for (uint32_t i = 0, n = 2 + peer_random(8); i < n; i++) {
        uint32_t name = peer_random(64);
        local[1] = make_string(name, 3 + name % 8);
        local[2] = make_value(depth - 1, peer_random(8));
        put(&local[0], &local[1], &local[2]);
    }
    return local[0];
}

/* kind: 0 and 1 are numbers, 2 and 3 strings, 4 and 5 arrays, 6 and 7 objects. At depth 0, only the first four. */
static peer_ref make_value(uint32_t depth, uint32_t kind) {
    kind = depth == 0 ? kind % 4 : kind;
    if (kind < 2) {
        return make_number(peer_random(1000000));
    }
    if (kind < 4) {
        uint32_t seed = peer_random(1000);
        return make_string(seed, 4 + peer_random(24));
    }
    return kind < 6 ? make_list(depth) : make_object(depth);
}

static uint32_t walk(peer_ref value, uint32_t checksum) {
    if (value == PEER_NONE) {
        return checksum;
    }
    if (peer_is(value, number)) {
        return peer_mix(checksum, peer_int(value, VALUE));
    }
    if (peer_is(value, string)) {
        size_t last = (size_t)peer_int(value, LENGTH) - 1;
        return peer_mix(peer_mix(checksum, peer_int(value, HASH)), peer_data(peer_slot(value, BYTES))[last]);
    }
    size_t count = (size_t)(peer_is(value, list) ? peer_int(value, COUNT) : 2 * peer_int(value, CAPACITY));
    for (size_t i = 0; i < count; i++) {
        checksum = walk(peer_slot(peer_slot(value, ITEMS), i), checksum);
    }
    return peer_mix(checksum, peer_int(value, COUNT));
}

static uint32_t run(char **arguments) {
    uint32_t documents = peer_number(arguments, 0), keep = peer_number(arguments, 1), checksum = 0;
    PEER_DEFINE(number);
    PEER_DEFINE(string);
    PEER_DEFINE(list);
    PEER_DEFINE(object);
    PEER_FRAME(local, 1);
    local[0] = peer_array(keep);
    for (uint32_t i = 0; i < documents; i++) {
        peer_ref dropped = peer_slot(local[0], i % keep);
        checksum = walk(dropped, checksum);
        release(dropped);
        peer_ref document = make_object(peer_number(arguments, 2));
        checksum = walk(document, checksum);
        peer_slot_set(local[0], i % keep, document);
    }
    return checksum;
}

int main(int argc, char **argv) { return peer_main(argc, argv, 3, "json DOCUMENTS KEEP DEPTH", run); }
