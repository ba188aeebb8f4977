/* The process between edenscope and the command of a trial: parent and reaper of all that the command starts, and of
 * nothing else. */
#ifndef EDEN_TUNE_SUPERVISOR_H
#define EDEN_TUNE_SUPERVISOR_H

#include "advise/trials/trial.h"

struct supervisor {
    char *const *command;
    const char *options; /* set over EDEN_OPTIONS */
    uint64_t most_ns;    /* the command is ended after that; 0: no limit */
    int control;         /* a pipe: its end ends the trial */
    int result;          /* a pipe, that gets one struct supervisor_result */
};

/* At most PIPE_BUF bytes, so that it is written whole or not at all. */
struct supervisor_result {
    enum trial_outcome outcome;
    struct trial_figures figures;
    struct failure why;
    unsigned remaining;  /* processes that could not be ended */
    char processes[128]; /* some of them: "PID (state), ..." */
};

/* In a forked child: runs the command, ends what it has started, writes the result and exits. */
_Noreturn void supervisor_run(const struct supervisor *supervisor);

#endif
