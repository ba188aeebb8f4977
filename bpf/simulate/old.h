/* Old space of a simulated heap. */
#ifndef EDEN_SIMULATE_OLD_H
#define EDEN_SIMULATE_OLD_H

#include "parameters.h"
#include "portion.h"

struct simulated_old {
    const struct simulate_parameters *parameters;
    struct portions small, large; /* objects that were tenured; large ones */
    size_t merged;                /* of the small, when they were last added up */
    double used, used_at_full;
    double pieces;          /* free, in pieces as small as small objects */
    struct portions chunks; /* free stretches: `bytes` of each */
};

void simulated_old_init(struct simulated_old *old, const struct simulate_parameters *parameters);
void simulated_old_clear(struct simulated_old *old);
bool simulated_old_tenure(struct simulated_old *old, const struct portion *portion);   /* false: no memory */
bool simulated_old_allocate(struct simulated_old *old, const struct portion *portion); /* a large object; likewise */
bool simulated_old_has_room(const struct simulated_old *old, uint64_t bytes);          /* without growing */
bool simulated_old_has_grown(const struct simulated_old *old); /* so much that it asks for a full collection */
double simulated_old_collect(struct simulated_old *old, uint64_t time); /* what was freed, in bytes */
double simulated_old_died(const struct simulated_old *old, uint64_t since, uint64_t until); /* bytes, between two times */

#endif
