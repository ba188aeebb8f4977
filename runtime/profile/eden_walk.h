/* Walking eden: births and early deaths of an epoch. */
#ifndef EDEN_PROFILE_EDEN_WALK_H
#define EDEN_PROFILE_EDEN_WALK_H

#include "profile/lifetimes.h"

/* What was born in eden since the last collection: after copying, or, censored, where the profile ends. */
void eden_walk(struct profile *profile, struct eden_anchor end, bool censored);

#endif
