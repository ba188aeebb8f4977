/* What the benchmark programs have in common: their options, their heap, their classes and sites, how they fail. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "eden/eden.h"

#include <stdio.h>

/* An option --NAME N, a whole number. */
struct program_number {
    const char *name;
    int64_t least, most;
    int64_t value;    /* the default, then what was given */
    bool is_fraction; /* given as a decimal number; all three are in thousandths */
};

struct program {
    const char *name;
    const char *usage; /* what --help prints; --help, --json and --verify are understood by all */
    struct program_number *numbers;
    size_t number_count;
    int operand_least, operand_most; /* how many operands there may be */
    bool can_keep;                   /* every allocation passes through program_kept: --keep-class is understood */
    /* Called before the heap is made, may set `parameters`; NULL: nothing to do. False, after program_fail: wrong
     * usage. */
    bool (*prepare)(struct program *program);
    const char *parameters; /* of the heap, as in eden_options; NULL: the defaults */
    /* The work, with the mutator of a new heap. False, after program_fail: it could not be done. */
    bool (*run)(struct program *program, eden_mutator *mutator);

    /* Set by program_main before it runs: */
    int operand_count;
    char *const *operands;
    bool json;              /* print one JSON object */
    bool verify;            /* program_verify is to check the heap */
    const char *keep_class; /* NAME,...: classes whose instances program_kept keeps; NULL: none */

    /* What is kept. Programs leave this alone. */
    bool is_misused; /* the arguments were wrong, as only the run found */
    bool *is_kept;   /* by index of class or site; NULL: nothing is */
    size_t is_kept_size;
    eden_class kept_class; /* of the chunks */
    eden_value kept;       /* the newest chunk, a root; its slot 0 is the chunk before */
    size_t kept_count;     /* its slots that are used */

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

/* The part of program_kept that is not inline. */
eden_value program_keep(struct program *program, eden_mutator *mutator, eden_value object);

/* Keeps a new object alive to the end, if --keep-class names its class. Wrap each allocation:
 *     eden_value point = program_kept(program, m, eden_new(m, sites[SITE_POINT]));
 * Its classes and sites must come from program_define. Returns the object, which may have moved, or EDEN_NONE if it was
 * that or memory is exhausted (program_exhausted). May collect: what the allocation needs in roots is needed here. */
static inline eden_value program_kept(struct program *program, eden_mutator *mutator, eden_value object) {
    return __builtin_expect(program->is_kept != NULL, 0) && object != EDEN_NONE ? program_keep(program, mutator, object)
                                                                                : object;
}

/* A place of the program that allocates instances of a class. */
struct program_site {
    size_t class; /* its place among the definitions */
    const char *name;
};
/* Defines classes, in `classes`, and sites, in `sites`. Call it once where --keep-class is understood: that must name
 * some of these classes. */
bool program_define(struct program *program, eden_heap *heap, const eden_class_definition *definitions,
                    size_t class_count, eden_class *classes, const struct program_site *site_definitions,
                    size_t site_count, eden_class *sites);

#endif
