/* patterns KEY: a program that a collector with the wrong parameters serves badly, in the way that KEY names; KEY-near:
 * one like it that is well. pattern.h says what they are for. */
#include "parts.h"

#include <inttypes.h>

static const char usage[] =
    "usage: patterns [OPTION]... KEY\n"
    "       patterns --list\n"
    "\n"
    "Runs a program with an allocation pattern that the collector's parameters don't suit, or, with KEY-near, one "
    "like\n"
    "it that they suit. Prints how many operations it did and a checksum of what they read.\n"
    "\n"
    "  --list       the keys, what further keys are true of each (-: none), and what it does; separated by tabs\n"
    "  --json       print one JSON object\n"
    "  --verify     check the whole heap at the end\n"
    "  --help       this text\n"
    "\n"
    "EDEN_OPTIONS overrides the parameters that a pattern sets. Exit status: 0; 1: memory is exhausted, or an object\n"
    "does not hold what was written; 2: wrong usage.\n";

static int list(void) {
    for (const struct pattern *const *at = patterns; *at != NULL; at++) {
        printf("%s\t%s\t%s\n", (*at)->key, (*at)->also == NULL ? "-" : (*at)->also, (*at)->about);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}

static const struct pattern *find(const struct program *program) {
    const struct pattern *const *at = patterns;
    while (*at != NULL && strcmp((*at)->key, program->operands[0]) != 0) {
        at++;
    }
    return *at;
}

static bool prepare(struct program *program) {
    const struct pattern *pattern = find(program);
    if (pattern == NULL) {
        return program_fail(program, "there is no pattern '%s'; patterns --list shows them", program->operands[0]);
    }
    /* The patterns are about what parameters do: none is left to the collector. */
    static char parameters[200];
    snprintf(parameters, sizeof parameters, "policy=fixed%s%s", pattern->parameters == NULL ? "" : ",",
             pattern->parameters == NULL ? "" : pattern->parameters);
    program->parameters = parameters;
    return true;
}

static bool run(struct program *program, eden_mutator *mutator) {
    const struct pattern *pattern = find(program);
    struct run run = {.program = program, .mutator = mutator, .checksum = CHECKSUM_START};
    run.random = random_start(1);
    if (!parts_define(&run) || !pattern->run(&run)) {
        return false;
    }
    printf(program->json ? "{\"pattern\": \"%s\", \"operations\": %" PRId64 ", \"checksum\": \"%016" PRIx64 "\"}\n"
                         : "%s: %" PRId64 " operations, checksum %016" PRIx64 "\n",
           pattern->key, run.operations, run.checksum);
    return program_flush(program);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        return list();
    }
    struct program program = {
        .name = "patterns", .usage = usage, .operand_least = 1, .operand_most = 1, .prepare = prepare, .run = run};
    return program_main(&program, argc, argv);
}
