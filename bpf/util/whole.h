/* Whole numbers of real ones, which may come from figures that others supply: the conversion in C is undefined for what
 * does not fit. */
#ifndef EDEN_WHOLE_H
#define EDEN_WHOLE_H

#include <stdint.h>

/* Without the fraction; 0 of a negative number and of none, the largest of one that is too large. */
static inline uint64_t whole_of(double number) {
    return number >= 0x1p64 ? UINT64_MAX : number > 0 ? (uint64_t)number : 0;
}

#endif
