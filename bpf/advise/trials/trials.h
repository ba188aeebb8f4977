/* `tune --verify` and `tune --search`: what the options of the command line ask for, run and told. */
#ifndef EDEN_TUNE_TRY_H
#define EDEN_TUNE_TRY_H

#include "cli/options.h"
#include "util/failure.h"
#include <stdio.h>

/* Whether the options go together, those of trials with each other and with the rest. */
bool tune_try_check(const struct options *options, struct failure *why);

struct trial_start {
    const char *proposed; /* options to verify, or to search from; "": none */
    const char *in_force; /* the parameters of the command as it is, as far as they are known; NULL: not at all */
    const char *command;  /* as one would type it; NULL: not known */
};

/* Verifies, or searches, and tells on `out`. Returns the exit status; a failure has been told. interrupt_install() has
 * been called. */
int tune_try(const struct options *options, const struct trial_start *start, FILE *out);

#endif
