/* Objects: headers, sizes, and the forwarding addresses of those that a collection has moved. */
#ifndef EDEN_HEAP_OBJECT_H
#define EDEN_HEAP_OBJECT_H

/* The checked build's checks are for programs: here objects are read while they move. So the rest of runtime/ includes
 * this file, and not eden.h. */
#define EDEN_INSIDE 1
#include <eden/eden.h>

/* _by: with the header given, where the one in place may not be the object's (forwarded, a pending key). */
static inline uintptr_t object_start_by(uint64_t header, eden_value object) {
    return (uintptr_t)object - (header >> EDEN_HEADER_SLOTS_SHIFT == EDEN_SLOTS_OVERFLOW ? 8 : 0);
}
static inline uintptr_t object_start(eden_value object) { return object_start_by(eden_header(object), object); }
static inline size_t object_bytes_by(uint64_t header, eden_value object) {
    size_t slots = (size_t)(header >> EDEN_HEADER_SLOTS_SHIFT);
    return slots != EDEN_SLOTS_OVERFLOW ? 8 + 8 * slots
                                        : 16 + 8 * (size_t)(eden_words_(object)[-1] & EDEN_OVERFLOW_MASK);
}
static inline size_t object_bytes(eden_value object) { return object_bytes_by(eden_header(object), object); }
static inline uintptr_t object_end(eden_value object) { return object_start(object) + object_bytes(object); }
/* The object (or free chunk) that starts at an address: past the overflow word if there is one. */
static inline eden_value object_at(uintptr_t start) {
    return start + (*(uint64_t *)start >> EDEN_HEADER_SLOTS_SHIFT == EDEN_SLOTS_OVERFLOW ? 8 : 0);
}
static inline bool object_is_free(eden_value object) { return eden_index_of(object) == EDEN_CLASS_FREE; }

/* Bits of the header: has any, sets all, clears all. */
static inline bool object_has(eden_value object, uint64_t bits) { return (eden_header(object) & bits) != 0; }
static inline void object_set(eden_value object, uint64_t bits) { *eden_words_(object) |= bits; }
static inline void object_clear(eden_value object, uint64_t bits) { *eden_words_(object) &= ~bits; }

/* A moved object's header holds its new address and keeps the slot count: its size is known without the copy. */
#define EDEN_HEADER_SLOTS (0xffull << EDEN_HEADER_SLOTS_SHIFT)
static inline void object_forward(eden_value object, eden_value copy) {
    *eden_words_(object) = copy | EDEN_HEADER_FORWARDED | (eden_header(object) & EDEN_HEADER_SLOTS);
}
static inline eden_value object_forwarded_to(uint64_t header) {
    return header & ~(EDEN_HEADER_FORWARDED | EDEN_HEADER_SLOTS);
}

/* A slot of a raw format has 2 to the power of this units; the format's low bits count the last slot's unused ones. */
static inline unsigned object_unit_shift(uint32_t format) {
    return format >= EDEN_FORMAT_BYTES ? 3 : format >= EDEN_FORMAT_WORDS16 ? 2 : format >= EDEN_FORMAT_WORDS32 ? 1 : 0;
}

/* Makes [start, start + bytes) a free chunk, or a filler, that walks step over. bytes: a multiple of 8, not 0. */
static inline void object_fill(uintptr_t start, size_t bytes) {
    uint64_t *words = (uint64_t *)start;
    size_t slots = bytes / 8 - 1;
    uint64_t format = (uint64_t)EDEN_FORMAT_WORDS64 << EDEN_HEADER_FORMAT_SHIFT;
    if (slots < EDEN_SLOTS_OVERFLOW) {
        words[0] = format | (uint64_t)slots << EDEN_HEADER_SLOTS_SHIFT;
    } else {
        words[0] = (uint64_t)EDEN_SLOTS_OVERFLOW << EDEN_HEADER_SLOTS_SHIFT | (uint64_t)(slots - 1);
        words[1] = format | (uint64_t)EDEN_SLOTS_OVERFLOW << EDEN_HEADER_SLOTS_SHIFT;
    }
}

#endif
