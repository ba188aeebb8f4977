/* The process that starts the tool's workers: forked early, when it has the tool's rights and nothing else of it. */
#ifndef EDEN_ZYGOTE_H
#define EDEN_ZYGOTE_H

#include "util/failure.h"
#include <stdint.h>
#include <sys/types.h>

enum worker_kind {
    WORKER_OPENER,    /* has all rights, opens and attaches */
    WORKER_INSPECTOR, /* has no rights, parses */
    WORKER_DETACHER,  /* has no rights, closes */
    WORKER_KINDS
};

struct zygote {
    pid_t pid; /* 0: none */
    int socket;
    bool is_starting; /* a worker of this kind, for which nobody waits */
    enum worker_kind starting;
};

struct worker {
    pid_t pid; /* 0: none */
    int socket;
    int pidfd; /* -1: unknown to this kernel */
};

enum { ZYGOTE_MOST = 512 }; /* workers at a time */

/* `control`: the request that may be written to control words (opener_serve). False and why. */
bool zygote_start(struct zygote *zygote, uint64_t control, struct failure *why);
void zygote_end(struct zygote *zygote); /* ends its workers, too; waits at most a second */

/* Starts a worker before end_ns. False with errno: EAGAIN where too many hang and cannot be ended; ETIMEDOUT where
 * nothing can be forked, as another process hangs in attaching; EINTR as packet_wait(). */
bool zygote_start_worker(struct zygote *zygote, enum worker_kind kind, struct worker *worker, uint64_t end_ns);

/* Ends a worker, and does not wait for it: it may hang in the kernel for as long as a stranger wants. */
void zygote_end_worker(const struct zygote *zygote, struct worker *worker);

/* What each worker does with its end of the socket (protocol.h), until the tool closes the other.
 *
 * The opener, with rights: opens processes and files, writes control words, attaches. It parses nothing but maps. Of
 * all words it writes 0, `control` and the request to end; with control 0 it opens no process to write. */
void opener_serve(int socket, uint64_t control);
/* The inspector, in a sandbox: parses what strangers made, from descriptors that it is handed. */
void inspector_serve(int socket);
/* The detacher, in a sandbox: closes the links that it is sent, and answers each packet. Whoever closes the last
 * descriptor of one waits for every process that maps its file. */
void detacher_serve(int socket);

#endif
