/* Ranges of memory that hold objects, and what a phase counts in them. */
#ifndef EDEN_HEAP_SPACE_H
#define EDEN_HEAP_SPACE_H

#include <stdint.h>

/* A part of new space: objects lie from start to used. */
struct space {
    uintptr_t start, used, limit;
};
enum { YOUNG_SPACES = 3 }; /* two semispaces and eden */

struct tally { /* what a phase worked on */
    uint64_t objects, bytes;
};

#endif
