/* The patterns, a file each; table.c lists them. */
#ifndef PATHOLOGY_ALL_H
#define PATHOLOGY_ALL_H

#include "pattern.h"

extern const struct pattern full_growth, full_growth_near;
extern const struct pattern full_headroom, full_headroom_near;
extern const struct pattern full_explicit, full_explicit_near;
extern const struct pattern scavenge_remembered, scavenge_remembered_near;
extern const struct pattern scavenge_copying, scavenge_copying_near;
extern const struct pattern scavenge_overflow, scavenge_overflow_near;
extern const struct pattern tenure_premature, tenure_premature_near;
extern const struct pattern threshold_outside, threshold_outside_near;
extern const struct pattern tenure_nepotism, tenure_nepotism_near;
extern const struct pattern eden_small, eden_small_near;
extern const struct pattern full_frequent, full_frequent_near;
extern const struct pattern heap_thrash, heap_thrash_near;
extern const struct pattern heap_fragmented, heap_fragmented_near;
extern const struct pattern heap_limit, heap_limit_near;
extern const struct pattern ephemeron_load, ephemeron_load_near;
extern const struct pattern program_allocates, program_allocates_near;
extern const struct pattern healthy, shifting;

#endif
