/* The simulated collector: a history, run under other parameters. */
#ifndef EDEN_SIMULATE_COLLECTOR_H
#define EDEN_SIMULATE_COLLECTOR_H

#include "eden_abi.h"
#include "simulate/history.h"
#include "simulate/parameters.h"

/* As docs/figures.md has them; not rounded. */
struct simulate_figures {
    uint64_t scavenges, full_collections;
    uint64_t full_by_cause[EDEN_FULL_CAUSES];
    double survived_bytes, tenured_bytes;
    double held_bytes;                     /* dead, and kept by scavenges for dead old objects; each counted once */
    double old_used, old_used_peak;        /* at the last collection; at any collection, before it frees */
    double eden_size, eden_least;          /* at the end; the smallest */
    double holdable_bytes[SIMULATE_KINDS]; /* that died in new space, and that dead old objects could have held */
};

/* How much of the holdable bytes they did hold; not known: NAN. */
struct simulate_holding {
    double share[SIMULATE_KINDS];
};

enum simulate_outcome {
    SIMULATE_DONE,
    SIMULATE_NO_MEMORY,
    SIMULATE_TOO_LONG, /* it collects more often than a history of this size can */
    SIMULATE_UNKNOWN,  /* it comes to max_heap, or policy=auto may promote in place: what then happens is not known */
};

/* Where the holding is not known it counts as 0. */
enum simulate_outcome simulate_collector(const struct simulate_history *history,
                                         const struct simulate_parameters *parameters,
                                         const struct simulate_holding *holding, struct simulate_figures *figures);

#endif
