/* Random numbers: xorshift64* (S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled",
 * ACM Transactions on Mathematical Software 42(4), 2016). */
#ifndef BOIDS_RANDOM_H
#define BOIDS_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t state; /* never 0 */
};

/* seed must not be 0. Multiplied by an odd number, so that small seeds don't begin alike. */
static inline struct random random_start(uint64_t seed) { return (struct random){.state = seed * 0x9E3779B97F4A7C15u}; }

static inline uint64_t random_next(struct random *random) {
    uint64_t x = random->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    random->state = x;
    return x * 0x2545F4914F6CDD1Du;
}

/* In [0, 1), a multiple of 2^-53. */
static inline double random_uniform(struct random *random) { return (double)(random_next(random) >> 11) * 0x1p-53; }

/* In -reach..reach. */
static inline int64_t random_within(struct random *random, int64_t reach) {
    return (int64_t)(random_next(random) >> 33) % (2 * reach + 1) - reach;
}

#endif
