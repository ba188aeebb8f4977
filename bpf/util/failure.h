/* Why something failed: what, where and what to do about it; and the exit status to give (1: failed, 2: this machine or
 * these rights can't). */
#ifndef EDEN_FAILURE_H
#define EDEN_FAILURE_H

#include <stdbool.h>

struct failure {
    int status;
    char message[512];
};

/* Always false, so that `return failure_set(...)` fails and reports why at once. */
__attribute__((format(printf, 3, 4))) bool failure_set(struct failure *why, int status, const char *format, ...);

/* Prints it on stderr and returns its status, for a subcommand to return in turn. */
int failure_report(const struct failure *why);

#endif
