/* The share of allocated bytes that is alive after so many more bytes, estimated from first scavenges. */
#ifndef EDEN_SIMULATE_CURVE_H
#define EDEN_SIMULATE_CURVE_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
