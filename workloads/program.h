/* What the benchmark programs have in common: their options, their heap, their classes and sites, how they fail. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "eden/eden.h"

#include <stdio.h>

/* An option --NAME N. */
struct program_number {
    const char *name;
    int64_t least, most;
    int64_t value; /* the default, then what was given */
};

struct program {
    const char *name;
    const char *usage; /* what --help prints; --help, --json and --verify are understood by all */
    struct program_number *numbers;
    size_t number_count;
    int operand_least, operand_most; /* how many operands there may be */
    /* Called before the heap is made, may set `parameters`; NULL: nothing to do. False, after program_fail: wrong
     * usage. */
    bool (*prepare)(struct program *program);
    const char *parameters; /* of the heap, as in eden_options; NULL: the defaults */
    /* The work, with the mutator of a new heap. False, after program_fail: it could not be done. */
    bool (*run)(struct program *program, eden_mutator *mutator);

    /* Set by program_main before it runs: */
    int operand_count;
    char *const *operands;
    bool json;   /* print one JSON object */
    bool verify; /* program_verify is to check the heap */
    char error[512];
};

/* Reads the arguments, makes the heap and runs. The exit status: 0; 1 the work could not be done, with one line on
 * standard error that says why; 2 wrong usage. */
int program_main(struct program *program, int argc, char **argv);

/* Notes why; always false, so that `return program_fail(...)` reads well. */
bool program_fail(struct program *program, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* For a failed allocation. */
bool program_exhausted(struct program *program, eden_mutator *mutator);
/* Checks the whole heap, if that was asked for. To be called while what is to be checked is alive. */
bool program_verify(struct program *program, eden_mutator *mutator);
/* Flushes standard output. */
bool program_flush(struct program *program);

/* A place of the program that allocates instances of a class. */
struct program_site {
    size_t class; /* its place among the definitions */
    const char *name;
};
/* Defines classes, in `classes`, and sites, in `sites`. */
bool program_define(struct program *program, eden_heap *heap, const eden_class_definition *definitions,
                    size_t class_count, eden_class *classes, const struct program_site *site_definitions,
                    size_t site_count, eden_class *sites);

#endif
