/* Micro-benchmarks for the tuning paper's figures: small programs with one pattern of allocation each. */
#ifndef MICRO_H
#define MICRO_H

#include "program.h"

/* The arguments of a pattern, and its result. */
struct micro {
    struct program *program;
    eden_mutator *mutator;
    size_t objects; /* how many it allocates */
    size_t live;    /* how many of them it keeps, of the patterns that let some go */
    size_t size;    /* bytes an object has, its header included, at least MICRO_LEAST */
    size_t one_in;  /* survivors: one object in so many is kept */
    uint64_t seed;

    uint64_t alive;    /* objects alive at the end */
    uint64_t checksum; /* of their numbers, in order */
};
enum { MICRO_LEAST = 32 };

/* A pattern: false, after program_fail, where memory runs out or an object is not what was stored. */
struct micro_pattern {
    const char *name;
    size_t objects, live, size; /* defaults */
    bool (*run)(struct micro *micro);
};

bool micro_survivors(struct micro *micro);
bool micro_growth(struct micro *micro);
bool micro_large(struct micro *micro);

/* Defines a class of one name; false after program_fail. */
bool micro_class(struct micro *micro, const char *name, enum eden_format format, uint32_t slots, eden_class *defined);
/* Counts an object that is alive at the end, and adds its number to the checksum. */
void micro_count(struct micro *micro, uint64_t number);

#endif
