/* The history of one heap, as a simulation needs it: when bytes were allocated, and between which two collections they
 * died. All times are on the allocation clock: bytes allocated in the heap so far. */
#ifndef EDEN_SIMULATE_HITRACE_H
#define EDEN_SIMULATE_HITRACE_H

#include "eden_batches.h"
#include "simulate/bias.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The share of allocated bytes that is alive after a number of further bytes, estimated from first scavenges. */
enum { CURVE_STEPS = 8, CURVE_POINTS = 64 * CURVE_STEPS }; /* steps: to a doubling of the age */

struct simulate_curve {
    uint64_t bytes[CURVE_POINTS], alive[CURVE_POINTS]; /* by age at a scavenge */
    double survival[CURVE_POINTS];                     /* once finished */
};

/* Objects of this age at a scavenge; did they survive it? */
void simulate_curve_add(struct simulate_curve *curve, uint64_t age, uint64_t bytes, bool alive);
void simulate_curve_finish(struct simulate_curve *curve);
/* The share that lives longer than `age`. 1 at 0; never rises. */
double simulate_curve_at(const struct simulate_curve *curve, uint64_t age);

enum {
    SIMULATE_BINS = 16,  /* of births, between two recorded collections */
    SIMULATE_BIG = 4096, /* bytes from which objects are kept one by one: the least that large_object can be */
};
#define SIMULATE_NEVER UINT64_MAX /* when what was alive at the end dies */

/* Small objects that were born in one bin and died in one interval: after `from`, until `to`. from 0: after birth. */
struct simulate_cell {
    uint64_t bin;
    uint64_t from, to;
    uint64_t bytes;
};

/* A big one. */
struct simulate_big {
    uint64_t birth, bytes;
    uint64_t from, to;
    bool pretenured; /* born old although it was not too large to be young */
};

/* Objects by whether a recorded collection saw them alive: `from` is not 0. Big ones count as seen. */
enum simulate_kind { SIMULATE_SEEN, SIMULATE_UNSEEN, SIMULATE_KINDS };

enum simulate_request { SIMULATE_SCAVENGE, SIMULATE_FULL };
struct simulate_asked {
    uint64_t at;
    enum simulate_request what;
};

struct simulate_history {
    uint64_t *times; /* owned; when collections began: ascending, no two alike; times[0] is 0 */
    size_t time_count, time_room;
    uint64_t end;                 /* bytes allocated in all: given before anything else */
    struct simulate_asked *asked; /* owned; what the program asked for, in order of time */
    size_t asked_count, asked_room;
    struct simulate_cell *cells; /* owned; in order of bins once finished; a hash table until then */
    size_t cell_count, cell_room;
    struct simulate_big *bigs; /* owned; in order of birth once finished */
    size_t big_count, big_room;
    struct simulate_curve curve; /* the first scavenge: survivors by age */
    uint64_t objects, bytes;     /* of all objects */
    uint64_t small_bytes;
    uint64_t held_bytes[SIMULATE_KINDS]; /* of what a scavenge kept and the full collection right after it found dead */
    double small_squares;                /* sum of the squares of small objects' bytes */
    struct bias bias;                    /* owned */
    uint64_t young_most;                 /* in the recorded run larger objects were born old */
    bool out_of_memory;
};

void simulate_history_clear(struct simulate_history *history);

/* All of these must come before the first object. False: no memory; or the clock goes backwards, or beyond the end. */
bool simulate_history_collection(struct simulate_history *history, uint64_t at);
bool simulate_history_asked(struct simulate_history *history, uint64_t at, enum simulate_request what);
/* False: no memory; else it lives beyond the end. */
bool simulate_history_object(struct simulate_history *history, const struct eden_life_record *record);
/* After the last object: sorts. */
void simulate_history_finish(struct simulate_history *history);

/* How many collections began at or before a time. */
size_t simulate_collections_until(const struct simulate_history *history, uint64_t time);
/* The bin of a birth, and the first byte of a bin; bin + 1 begins where bin ends. */
uint64_t simulate_bin(const struct simulate_history *history, uint64_t birth);
uint64_t simulate_bin_start(const struct simulate_history *history, uint64_t bin);

#endif
