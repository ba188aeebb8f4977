/* The simulated new space. collector.c allocates and decides when to collect, young.c scavenges, old.c keeps old space.
 */
#ifndef EDEN_SIMULATE_YOUNG_H
#define EDEN_SIMULATE_YOUNG_H

#include "simulate/cohort.h"
#include "simulate/collector.h"
#include "simulate/old.h"

struct simulated_young {
    const struct simulate_history *history;
    const struct simulate_parameters *parameters;
    const struct simulate_holding *holding;
    uint64_t semispace, young_most;
    double odds[BIAS_KINDS];     /* of being tenured: survivors that live until the next scavenge over those that die */
    uint64_t since;              /* when eden was last emptied */
    size_t cell, big;            /* of the history: the first that may have been born later */
    struct cohorts survivors;    /* of past scavenges */
    struct cohorts fresh;        /* survivors of eden, in the scavenge that runs */
    double died[SIMULATE_KINDS]; /* bytes, since the last one */
    size_t merged;               /* of the survivors, when they were last added up */
    double tenure_below;         /* bytes of the survivors that the next scavenge tenures */
    struct simulated_old *old;
    bool out_of_memory;
};

void simulated_young_init(struct simulated_young *young, const struct simulate_history *history,
                          const struct simulate_parameters *parameters, const struct simulate_holding *holding,
                          struct simulated_old *old);
void simulated_young_clear(struct simulated_young *young);
/* At this time; big objects of the history below `bigs` have been allocated. Adds to the figures. */
void simulated_young_scavenge(struct simulated_young *young, uint64_t time, size_t bigs,
                              struct simulate_figures *figures);
/* A full collection has found those survivors that only the dead hold. */
void simulated_young_release(struct simulated_young *young);
bool simulated_is_young(const struct simulated_young *young, const struct simulate_big *big);

/* A big object as a cohort of its own. */
struct cohort simulated_big_cohort(const struct simulate_big *big);

#endif
