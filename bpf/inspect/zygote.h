/* The process that starts the tool's workers: forked early, when it has the tool's rights and nothing else of it. */
#ifndef EDEN_ZYGOTE_H
#define EDEN_ZYGOTE_H

#include "failure.h"
#include <stdint.h>
#include <sys/types.h>

enum worker_kind {
    WORKER_OPENER,    /* has all rights, opens and attaches */
    WORKER_INSPECTOR, /* has no rights, parses */
    WORKER_KINDS
};

struct zygote {
    pid_t pid; /* 0: none */
    int socket;
};

struct worker {
    pid_t pid; /* 0: none */
    int socket;
};

/* `control`: the request that may be written to control words (opener.h). False and why. */
bool zygote_start(struct zygote *zygote, uint64_t control, struct failure *why);
void zygote_end(struct zygote *zygote); /* ends its workers, too */

/* Starts a worker. False with errno: EAGAIN where too many hang and cannot be ended. */
bool zygote_start_worker(const struct zygote *zygote, enum worker_kind kind, struct worker *worker);

/* Ends a worker, and does not wait for it: it may hang in the kernel for as long as a stranger wants. */
void zygote_end_worker(const struct zygote *zygote, struct worker *worker);

#endif
