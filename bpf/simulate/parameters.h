/* The parameters that a simulation knows: those of a recorded heap, or those to predict. */
#ifndef EDEN_SIMULATE_PARAMETERS_H
#define EDEN_SIMULATE_PARAMETERS_H

#include "eden_params.h"
#include "util/failure.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* As probes/eden_params.def has them: sizes in bytes, INFINITY for none; choices by their number. */
struct simulate_parameters {
    double eden_size, grow_headroom, large_object, full_gc_min_old;
    double tenure_proportion, tenure_fill, full_gc_ratio;
    double survivors_to_keep; /* negative: unset */
    double tenure_criterion;
    double overflow; /* compat.overflow */
    double growth;   /* compat.growth */
    double policy, max_heap;
    uint64_t set; /* bit EDEN_PARAM_x: somebody has set it, so that policy=auto does not decide it */
};

void simulate_parameters_default(struct simulate_parameters *parameters);

/* Sets a parameter of the recorded heap from the text of param__set. False if the heap's run can't be simulated: a
 * parameter that is unknown here does not have its default. */
bool simulate_parameter_recorded(struct simulate_parameters *parameters, const char *name, const char *value,
                                 struct failure *why);

/* The base of a prediction: the parameters as recorded, except those that a recording sets for its own sake (eden_size,
 * full_gc_ratio, grow_headroom, tenure_fill, tenure_proportion), which get their defaults. */
void simulate_parameters_usual(struct simulate_parameters *parameters, const struct simulate_parameters *recorded);

/* "NAME=VALUE", as a person gives it; refused by name where it is not simulated, or the value is out of bounds. */
bool simulate_parameter_wanted(struct simulate_parameters *parameters, const char *text, struct failure *why);

/* The policy, eden_size, and all others that are simulated and differ from the default, as EDEN_OPTIONS takes them.
 */
void simulate_parameters_text(const struct simulate_parameters *parameters, char *text, size_t size);

/* Does policy=auto decide it? */
bool simulate_decides(const struct simulate_parameters *parameters, enum eden_param_id id);
bool simulate_tenures_by_age(const struct simulate_parameters *parameters);
bool simulate_refills(const struct simulate_parameters *parameters);
bool simulate_overflows_in_order(const struct simulate_parameters *parameters); /* of the scan; else the oldest first */
/* The share of a semispace that is tenured when tenuring triggers. */
double simulate_tenure_share(const struct simulate_parameters *parameters, uint64_t semispace);
/* A semispace is a fifth of eden; larger objects are born in old space. */
uint64_t simulate_semispace(double eden);
uint64_t simulate_young_most(const struct simulate_parameters *parameters, double eden);

#endif
