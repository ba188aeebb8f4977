/* The sizes of a simulated heap's new space: fixed, or as the rule of policy=auto decides. */
#ifndef EDEN_SIMULATE_SIZING_H
#define EDEN_SIMULATE_SIZING_H

#include "eden_policy_rule.h"
#include "simulate/parameters.h"

struct sizing {
    const struct simulate_parameters *parameters;
    struct eden_policy_rule rule;
    struct eden_policy_bounds bounds;
    double eden, eden_least; /* what the program may use of it: now, and the least so far; bytes */
    uint64_t semispace;
    uint64_t tenured_before; /* ever, when the last full collection ended */
    bool is_unknown;         /* it depends on what a recording does not hold */
};

/* Old space, bytes: in use, mapped, alive after the last full collection. */
struct sizing_old {
    double used, capacity, live;
};

void sizing_init(struct sizing *sizing, const struct simulate_parameters *parameters);
/* Does it tenure what survives a second time, or all that survives? Else the parameters decide. */
bool sizing_tenures(const struct sizing *sizing);
bool sizing_tenures_all(const struct sizing *sizing);
bool sizing_keeps(const struct sizing *sizing);
/* How large old space may become; infinite: the parameters decide. */
double sizing_goal(const struct sizing *sizing, double live);
/* After a scavenge: is old space to be collected? */
bool sizing_wants_full(const struct sizing *sizing, const struct sizing_old *old, double survivors);

/* The end of a scavenge. found: without the sizes of spaces. */
void sizing_scavenged(struct sizing *sizing, const struct eden_policy_scavenged *found, const struct sizing_old *old);
/* The end of a full collection. before: old space before it. */
void sizing_collected(struct sizing *sizing, const struct sizing_old *before, const struct sizing_old *old,
                      double tenured);
/* Old space has grown by a large object. */
void sizing_old_changed(struct sizing *sizing, const struct sizing_old *old);
/* What of old space stays mapped after a full collection; infinite: all. */
double sizing_kept(const struct sizing *sizing, double live);

#endif
