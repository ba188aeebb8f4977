/* The simulated collector: a history, run under other parameters. */
#ifndef EDEN_SIMULATE_COLLECTOR_H
#define EDEN_SIMULATE_COLLECTOR_H

#include "history.h"
#include "parameters.h"

enum simulate_cause { SIMULATE_BY_RATIO, SIMULATE_BY_ALLOCATION, SIMULATE_BY_REQUEST, SIMULATE_CAUSES };

struct simulate_figures {
    uint64_t scavenges, full_collections;
    uint64_t full_by_cause[SIMULATE_CAUSES];
    uint64_t survived_bytes, tenured_bytes; /* as docs/figures.md has them */
    uint64_t freed_bytes;
    double holdable; /* bytes that dead old objects could have held */
    uint64_t old_used, old_used_peak; /* at the end; right after a collection's scavenge */
};

/* `holding`: how much of what could be held by the dead is. False: no memory. */
bool simulate_collector(const struct simulate_history *history, const struct simulate_parameters *parameters, double holding,
                        struct simulate_figures *figures);

#endif
