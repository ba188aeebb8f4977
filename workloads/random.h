/* Random numbers: the generator xorshift64* (George Marsaglia, "Xorshift RNGs", 2003; the multiplication is Sebastiano
 * Vigna's, "An experimental exploration of Marsaglia's xorshift generators, scrambled", ACM Transactions on
 * Mathematical Software 42(4), 2016).
 *
 * A state of 64 bits, never 0, is changed by three shifts; its product with an odd constant is the output. */
#ifndef PROGRAM_RANDOM_H
#define PROGRAM_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t state;
};

/* seed: not 0. Seeds that differ in few bits begin with states that differ in many: the factor, odd, is 2^64 divided by
 * the golden ratio. */
static inline struct random random_start(uint64_t seed) { return (struct random){.state = seed * 0x9E3779B97F4A7C15u}; }

static inline uint64_t random_next(struct random *random) {
    uint64_t x = random->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    random->state = x;
    return x * 0x2545F4914F6CDD1Du;
}

/* In [0, n), n from 1 to 2^32 - 1: the upper 32 bits, times n, divided by 2^32. The odds of the values differ by less
 * than n / 2^32. */
static inline int64_t random_below(struct random *random, int64_t n) {
    return (int64_t)((random_next(random) >> 32) * (uint64_t)n >> 32);
}

/* In [0, 1), a multiple of 2^-53. */
static inline double random_uniform(struct random *random) { return (double)(random_next(random) >> 11) * 0x1p-53; }

/* In -reach..reach. */
static inline int64_t random_within(struct random *random, int64_t reach) {
    return (int64_t)(random_next(random) >> 33) % (2 * reach + 1) - reach;
}

#endif
