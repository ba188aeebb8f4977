/* `tune --verify` and `tune --search`: what the options of the command line ask for, run and told. */
#ifndef EDEN_TUNE_TRY_H
#define EDEN_TUNE_TRY_H

#include "failure.h"
#include "options.h"
#include <stdio.h>

/* Whether the options go together, those of trials with each other and with the rest. */
bool tune_try_check(const struct options *options, struct failure *why);

/* Verifies, or searches from, the proposed options ("": none), and tells on `out`. `command` is the command as one
 * would type it; may be NULL. Returns the exit status; a failure has been told. interrupt_install() has been called. */
int tune_try(const struct options *options, const char *proposed, const char *command, FILE *out);

#endif
