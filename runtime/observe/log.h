/* EDEN_LOG and EDEN_STATS. */
#ifndef EDEN_OBSERVE_LOG_H
#define EDEN_OBSERVE_LOG_H

#include "heap/heap.h"
#include <limits.h>
#include <sys/types.h>

enum { LOG_ROOM = PATH_MAX }; /* bytes for the path of a file's folder, or the line of EDEN_STATS */

struct events;
struct log_file {
    int fd;       /* -1: nowhere */
    dev_t device; /* what is open there */
    ino_t inode;
    bool is_cut;   /* the last line was written in part */
    int error;     /* errno of the last line that was lost */
    uint64_t lost; /* lines not written, and not reported yet */
};

void log_open(struct events *events);
void log_close(struct events *events);
void log_scavenge(struct events *events, const struct scavenge_pass *pass, uint64_t ns);
void log_full(struct events *events, const struct full_pass *pass, uint64_t ns, uint64_t freed);
void log_decision(struct events *events, const struct policy_decision *decision);
void log_stats(struct events *events); /* EDEN_STATS */

#endif
