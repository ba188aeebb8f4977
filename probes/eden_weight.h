/* How many objects a sample stands for: for the runtime, whose records say so, and for readers of those that don't. */
#ifndef EDEN_WEIGHT_H
#define EDEN_WEIGHT_H

#include "eden_batches.h"
#include <math.h>

/* 1 / the probability that an object of that size is sampled (runtime/profile/sampling.c). bytes: of some use with
 * samplings by bytes only. */
static inline double eden_weight(uint32_t sampling, uint64_t rate, uint64_t bytes) {
    double every = (double)rate;
    switch ((enum eden_sampling)sampling) {
    case EDEN_SAMPLE_BYTES:
        return 1.0 / -expm1(-(double)bytes / every);
    case EDEN_SAMPLE_OBJECTS:
    case EDEN_SAMPLE_NTH:
        return every;
    case EDEN_SAMPLE_REFILL:
        return (double)bytes < every ? every / (double)bytes : 1;
    case EDEN_SAMPLE_WINDOW:
        break;
    }
    uint64_t open = rate >> 24, closed = rate & 0xffffff;
    return open == 0 ? 1 : (double)(open + closed) / (double)open;
}

/* To the nearest number of 64 bits: what a stranger's record says may be beyond them. */
static inline uint64_t eden_weight_rounded(double number) {
    return number < 0x1p64 ? (uint64_t)(number + 0.5) : UINT64_MAX;
}

static inline uint64_t eden_weight_units(uint32_t sampling, uint64_t rate, uint64_t bytes) {
    return eden_weight_rounded(eden_weight(sampling, rate, bytes) * EDEN_WEIGHT_ONE);
}

#endif
