/* Tagged values: what a slot holds.
 *
 * An eden_value is 64 bits: a reference to an object (its address, a multiple of 8), or an immediate with a tag in its
 * low three bits, which the collector never follows: a 61-bit integer (tag 1), a character (tag 2), a small float (tag
 * 4). Zero is EDEN_NONE, never an object. Nothing here fails or collects. */
#ifndef EDEN_VALUE_H
#define EDEN_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EDEN_API __attribute__((visibility("default")))
/* The paths that a program takes for each object: gcc 12 -O2 calls some of them unless it must not. */
#define EDEN_INLINE __attribute__((always_inline)) static inline

/* What a slot, a root or a variable holds. Values are compared with ==: that is identity. */
typedef uint64_t eden_value;

#define EDEN_NONE ((eden_value)0)
#define EDEN_INT_MAX ((int64_t)((1ull << 60) - 1))
#define EDEN_INT_MIN (-EDEN_INT_MAX - 1)

enum { EDEN_TAG_INT = 1, EDEN_TAG_CHAR = 2, EDEN_TAG_FLOAT = 4, EDEN_TAG_MASK = 7 };

/* Is v a reference to an object? (EDEN_NONE is not.) */
EDEN_INLINE bool eden_is_object(eden_value v) { return v != EDEN_NONE && (v & EDEN_TAG_MASK) == 0; }
/* Is v an immediate of this kind? */
static inline bool eden_is_int(eden_value v) { return (v & EDEN_TAG_MASK) == EDEN_TAG_INT; }
static inline bool eden_is_char(eden_value v) { return (v & EDEN_TAG_MASK) == EDEN_TAG_CHAR; }
static inline bool eden_is_float(eden_value v) { return (v & EDEN_TAG_MASK) == EDEN_TAG_FLOAT; }

/* An integer: n must be in EDEN_INT_MIN..EDEN_INT_MAX (eden_int_fits); its upper three bits are lost otherwise.
 * eden_int_value returns it; v must be an integer. */
static inline bool eden_int_fits(int64_t n) { return n >= EDEN_INT_MIN && n <= EDEN_INT_MAX; }
#ifdef EDEN_CHECKED
EDEN_API void eden_check_int(int64_t n); /* as those of checked.h */
#endif
#if defined(EDEN_CHECKED) && !defined(EDEN_INSIDE)
#define EDEN_CHECK_INT(n) eden_check_int(n)
#else
#define EDEN_CHECK_INT(n) ((void)0)
#endif
static inline eden_value eden_int(int64_t n) {
    EDEN_CHECK_INT(n);
    return ((uint64_t)n << 3) | EDEN_TAG_INT;
}
static inline int64_t eden_int_value(eden_value v) { return (int64_t)v >> 3; }

/* A character: any 32-bit code. */
static inline eden_value eden_char(uint32_t code) { return ((uint64_t)code << 3) | EDEN_TAG_CHAR; }
static inline uint32_t eden_char_value(eden_value v) { return (uint32_t)(v >> 3); }

/* Small floats: doubles whose exponent lies within 8 bits of 1.0 (magnitudes of about 1e-38 to 1e38) and both zeros;
 * the sign is rotated to the lowest bit and the exponent made smaller by 896, which frees the three upper bits. */
static inline bool eden_float_fits(double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    uint64_t turned = (bits << 1) | (bits >> 63);
    uint64_t small = turned - (896ull << 53);
    return turned <= 1 || (small > 1 && small < (1ull << 61));
}
/* A small float; d must fit (eden_float_fits). */
static inline eden_value eden_float(double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    uint64_t turned = (bits << 1) | (bits >> 63);
    uint64_t small = turned <= 1 ? turned : turned - (896ull << 53);
    return (small << 3) | EDEN_TAG_FLOAT;
}
/* The double that v holds; v must be a small float. */
static inline double eden_float_value(eden_value v) {
    uint64_t small = v >> 3;
    uint64_t turned = small <= 1 ? small : small + (896ull << 53);
    uint64_t bits = (turned >> 1) | (turned << 63);
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

#ifdef __cplusplus
}
#endif
#endif
