/* Sampling: which objects a profile follows. */
#ifndef EDEN_PROFILE_SAMPLING_H
#define EDEN_PROFILE_SAMPLING_H

#include "profile/lifetimes.h"

/* Sets the control word's first value (EDEN_SAMPLING) and the seed of random numbers (EDEN_SAMPLING_SEED; 0: the time).
 */
void sampling_from_environment(struct lifetimes *lifetimes);
void sampling_seed(struct profile *profile);
void sampling_read_request(struct profile *profile);
double sampling_weight(const struct profile *profile, uint64_t bytes);
uint64_t sampling_weight_units(const struct profile *profile, uint64_t bytes); /* in 1 / EDEN_WEIGHT_ONE */
uint64_t sampling_weight_bytes(const struct profile *profile, uint64_t bytes); /* times its size */
bool sampling_is_even(const struct profile *profile);                          /* all weights are alike */
bool sampling_walks(const struct profile *profile); /* eden is walked at each scavenge: no trap a sample */

/* An allocation has reached next_trap. What is to be done? Sets the next trap. */
enum trap {
    TRAP_NOTHING,
    TRAP_MARK,   /* an anchor */
    TRAP_REPORT, /* likewise, and the object, which the walk will find, is a sample */
    TRAP_SAMPLE, /* it is a sample, to be followed from now on */
};
enum trap sampling_trap(struct profile *profile, uintptr_t start, size_t bytes);
bool sampling_large(struct profile *profile, size_t bytes); /* is this object of old space a sample? */
void sampling_begin_epoch(struct profile *profile, uint64_t now);
/* Walking: is this object, the next in order of birth, a sample? */
bool sampling_next(struct profile *profile);
/* Ends the range that is open, if one is. */
void sampling_end_epoch(struct profile *profile, uintptr_t at);

#endif
