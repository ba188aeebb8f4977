/* Small programs that a collector with the wrong parameters serves badly, each in its own way, and near misses.
 *
 * A pattern is named by the key under which `edenscope tune` reports it. Its near miss (KEY-near) has the same shape
 * and is well. A pattern's file opens with what goes wrong, why, and the cure: the parameter and value that
 * `EDEN_OPTIONS` cures it with. What a pattern sets itself are parameters of its heap, so that EDEN_OPTIONS overrides
 * them. */
#ifndef PATHOLOGY_PATTERN_H
#define PATHOLOGY_PATTERN_H

#include "program.h"
#include "random.h"

/* A run of a pattern. Its answer, `operations` and `checksum`, depends on the pattern alone. */
struct run {
    struct program *program;
    eden_mutator *mutator;
    struct random random;
    int64_t operations;
    uint64_t checksum;
    eden_class classes[5]; /* enum part_class */
};

struct pattern {
    const char *key;
    const char *about;      /* one line for --list */
    const char *parameters; /* of its heap, besides policy=fixed; NULL: the defaults */
    const char *also;       /* further keys that are true of it, separated by spaces; NULL: none */
    /* False, after program_fail: it could not be done, or an object did not hold what was put into it. */
    bool (*run)(struct run *run);
};

/* All of them, in the order of --list; ended by one without a key. */
extern const struct pattern *const patterns[];

#endif
