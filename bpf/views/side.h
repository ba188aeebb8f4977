/* What `edenscope diff` compares: one recording in a few numbers, which a process without rights hands to another. */
#ifndef EDEN_SIDE_H
#define EDEN_SIDE_H

#include "eden_params.h"
#include "recording/recording.h"

/* Of some pauses; the lower quartile with its 95% interval, whose ends are 0 and UINT64_MAX where pauses are too few:
 * other load of the machine only lengthens pauses, so this depends least on it. */
struct percentiles {
    uint64_t count, p25_ns, p25_low_ns, p25_high_ns, p50_ns, p99_ns;
};

enum side_param { SIDE_UNKNOWN, SIDE_KNOWN, SIDE_VARIES }; /* not the same in all heaps */

/* Plain data: it goes through a pipe. */
struct side {
    uint64_t wall_ns, lost, heaps;
    uint64_t stopped_ns; /* observed time in collections, those under way included */
    bool knows_stopped;  /* of every heap */
    uint64_t known;      /* bit i: figures[i] is there, in every heap */
    uint64_t figures[EDEN_FIGURE_COUNT];
    uint64_t marked_bytes;
    struct percentiles scavenges, fulls;
    enum side_param has_param[EDEN_PARAM_COUNT];
    char param[EDEN_PARAM_COUNT][64]; /* terminated */
    bool is_partial;                  /* still being recorded, or cut short, or lost events that figures lack */
    bool is_part;                     /* of some heap, the beginning or the end was not observed */
};

/* All chosen heaps of a recording as one, which may be none. False and why: it cannot be read. */
bool side_read(struct recording *recording, const struct heap_choice *choice, struct side *side, struct failure *why);
/* Puts right what another process could have made up. */
void side_check(struct side *side);

#endif
