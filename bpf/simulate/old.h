/* Old space of a simulated heap. */
#ifndef EDEN_SIMULATE_OLD_H
#define EDEN_SIMULATE_OLD_H

#include "simulate/cohort.h"
#include "simulate/parameters.h"

struct simulated_old {
    const struct simulate_parameters *parameters;
    struct cohorts tenured, large; /* objects */
    size_t merged;                 /* of the tenured, when they were last added up */
    double used, used_at_full;
    double pieces;         /* free, in pieces as small as objects are */
    struct cohorts chunks; /* free in larger ones; of these cohorts only `bytes` is of use */
};

void simulated_old_init(struct simulated_old *old, const struct simulate_parameters *parameters);
void simulated_old_clear(struct simulated_old *old);
/* These answer false where there is no memory. */
bool simulated_old_tenure(struct simulated_old *old, const struct cohort *cohort);
bool simulated_old_allocate(struct simulated_old *old, const struct cohort *cohort); /* a large object */
bool simulated_old_collect(struct simulated_old *old, uint64_t time);

bool simulated_old_has_room(const struct simulated_old *old, uint64_t bytes); /* for a large one, without growing? */
bool simulated_old_has_grown(const struct simulated_old *old);                /* so much that it is to be collected? */
/* Bytes that died then, and may have referred to young objects. */
double simulated_old_died(const struct simulated_old *old, uint64_t since, uint64_t until);

#endif
