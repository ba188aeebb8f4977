/* Sums of counts that others supply: too large a number makes a sum stay at the largest, never small again. */
#ifndef EDEN_SUM_H
#define EDEN_SUM_H

#include <stdint.h>

static inline void sum_add(uint64_t *sum, uint64_t value) {
    if (__builtin_add_overflow(*sum, value, sum)) {
        *sum = UINT64_MAX;
    }
}

/* 0 where b is the larger one. */
static inline uint64_t sum_less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

#endif
