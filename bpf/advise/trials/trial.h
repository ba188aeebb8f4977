/* A trial: one run of a command under given parameters, and what it took. Needs no root: the heaps report their figures
 * through EDEN_STATS, the kernel reports time and memory. */
#ifndef EDEN_TUNE_TRIAL_H
#define EDEN_TUNE_TRIAL_H

#include "eden_abi.h"
#include "eden_params.h"
#include "util/failure.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What one run took. Figures are of all heaps of all its processes that ended normally: sums are added, of maxima and
 * gauges the largest is taken. */
struct trial_figures {
    uint64_t wall_ns;     /* from the fork until the command had ended */
    uint64_t cpu_ns;      /* of the command and the processes that it or the supervisor waited for, user and system */
    uint64_t peak_bytes;  /* resident memory of its largest process, at its peak */
    bool peak_is_bound;   /* the peak is at most that: it was no more than what we held when we forked it */
    unsigned heaps;       /* that reported their figures */
    unsigned processes;   /* that they were of */
    unsigned left_behind; /* processes that were still there when the command had ended, and were killed */
    uint64_t figure[EDEN_FIGURE_COUNT];
    uint64_t full_by_cause[EDEN_FULL_CAUSES];
    unsigned without[EDEN_PARAM_COUNT]; /* heaps in which this parameter of the options was not in force at the end */
    uint64_t output_bytes, output_hash; /* of its standard output; FNV-1a */
};

enum trial_outcome {
    TRIAL_RAN,         /* with status 0, and at least one heap reported its figures */
    TRIAL_FAILED,      /* it ended in another way, or reported no heap: `why` says which */
    TRIAL_TOO_LONG,    /* it was killed because its time was up */
    TRIAL_INTERRUPTED, /* ^C: it was killed */
    TRIAL_IMPOSSIBLE   /* it could not be started, or not be followed */
};

/* Runs the command with `options` (a text as of EDEN_OPTIONS; may be empty) set over what EDEN_OPTIONS holds already.
 * Its standard input is that of this process if that is a file, read from its beginning, and else empty; its output is
 * read and thrown away, of its standard error the end is kept for `why`. It is killed, with all that it has started,
 * after most_ns (0: no limit); what can't be killed is named on stderr and left. Figures are valid with TRIAL_RAN, and
 * `why` with all other outcomes. interrupt_install() has been called. */
enum trial_outcome trial_run(char *const *command, const char *options, uint64_t most_ns, struct trial_figures *figures,
                             struct failure *why);

/* Adds up lines of EDEN_STATS. A line that is none is an error: false, with `why`. */
bool trial_read_stats(struct trial_figures *figures, const char *options, const char *text, size_t length,
                      struct failure *why);

/* What is to be said of the figures of a command beside them. */
void trial_print_remarks(FILE *out, const struct trial_figures *figures, bool peak_is_bound);

#endif
