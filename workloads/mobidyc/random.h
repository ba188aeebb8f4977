/* Random numbers: the generator xorshift64* (George Marsaglia, "Xorshift RNGs", 2003; the multiplication is Sebastiano
 * Vigna's, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016).
 *
 * A state of 64 bits, never 0, is changed by three shifts; its product with an odd constant is the output. The upper 32
 * bits, times n, divided by 2^32, are a number in [0, n): its values' odds differ by less than n / 2^32. */
#ifndef AGENTS_RANDOM_H
#define AGENTS_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t state;
};

/* seed: not 0. Seeds that differ in few bits begin with states that differ in many: the factor, odd, is 2^64 divided by
 * the golden ratio. */
static inline void random_seed(struct random *random, int64_t seed) {
    random->state = (uint64_t)seed * 0x9E3779B97F4A7C15u;
}

/* n: from 1 to 2^32 - 1. */
static inline int64_t random_below(struct random *random, int64_t n) {
    uint64_t x = random->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    random->state = x;
    return (int64_t)(((x * 0x2545F4914F6CDD1Du) >> 32) * (uint64_t)n >> 32);
}

#endif
