/* How many different strings a column holds: a hash set on the collector.
 *
 * Open addressing with linear steps in an array of references, two slots an entry: the string and its hash, a tagged
 * integer, so that growing reads no string and most comparisons are of two words. Capacity is a power of two, at most
 * three quarters full. */
#include "frame.h"

enum { FIRST_CAPACITY = 64 };

/* FNV-1a, 64 bits, folded to what a tagged integer holds. */
static int64_t hash_bytes(const unsigned char *bytes, size_t size) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    }
    return (int64_t)((hash ^ hash >> 32) & (uint64_t)EDEN_INT_MAX);
}

static bool same_bytes(eden_value a, eden_value b) {
    size_t size = eden_raw_count(a);
    return size == eden_raw_count(b) && memcmp(eden_raw(a), eden_raw(b), size) == 0;
}

/* The entry that holds `string`, or the free one where it belongs. string may be EDEN_NONE: finds a free entry. */
static size_t set_find(eden_value set, eden_value string, int64_t hash) {
    size_t capacity = eden_slot_count(set) / 2;
    size_t at = (size_t)hash & (capacity - 1);
    for (;; at = (at + 1) & (capacity - 1)) {
        eden_value there = eden_slot(set, 2 * at);
        if (there == EDEN_NONE) {
            return at;
        }
        if (string != EDEN_NONE && eden_int_value(eden_slot(set, 2 * at + 1)) == hash && same_bytes(there, string)) {
            return at;
        }
    }
}

static void set_put(eden_mutator *m, eden_value set, size_t at, eden_value string, int64_t hash) {
    eden_slot_set(m, set, 2 * at, string);
    eden_slot_set(m, set, 2 * at + 1, eden_int(hash));
}

/* *set, a root, becomes a set of twice the capacity with the same entries. False where memory is exhausted. */
static bool set_grow(struct frame *frame, eden_value *set) {
    eden_mutator *m = frame->mutator;
    size_t capacity = eden_slot_count(*set) / 2;
    eden_value larger = eden_new_slots(m, frame->sites->set, 4 * capacity);
    if (larger == EDEN_NONE) {
        return frame_fail_memory(frame);
    }
    for (size_t i = 0; i < capacity; i++) {
        eden_value string = eden_slot(*set, 2 * i);
        if (string != EDEN_NONE) {
            int64_t hash = eden_int_value(eden_slot(*set, 2 * i + 1));
            set_put(m, larger, set_find(larger, EDEN_NONE, hash), string, hash);
        }
    }
    *set = larger;
    return true;
}

bool frame_count_distinct(struct frame *frame, eden_value column, uint64_t *distinct) {
    enum { COLUMN, SET, LOCALS };
    eden_mutator *m = frame->mutator;
    EDEN_FRAME(m, local, LOCALS);
    local[COLUMN] = column;
    local[SET] = eden_new_slots(m, frame->sites->set, (size_t)2 * FIRST_CAPACITY);
    if (local[SET] == EDEN_NONE) {
        return frame_fail_memory(frame);
    }
    size_t count = 0;
    size_t rows = eden_slot_count(column);
    for (size_t row = 0; row < rows; row++) {
        if (count >= eden_slot_count(local[SET]) / 8 * 3 && !set_grow(frame, &local[SET])) {
            return false;
        }
        eden_value string = eden_slot(local[COLUMN], row);
        int64_t hash = hash_bytes(eden_raw(string), eden_raw_count(string));
        size_t at = set_find(local[SET], string, hash);
        if (eden_slot(local[SET], 2 * at) == EDEN_NONE) {
            set_put(m, local[SET], at, string, hash);
            count++;
        }
    }
    *distinct = count;
    return true;
}
