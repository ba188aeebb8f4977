/* The oracle: when objects die, exact to a step of bytes allocated. */
#ifndef EDEN_PROFILE_ORACLE_H
#define EDEN_PROFILE_ORACLE_H

#include "profile/lifetimes.h"

void oracle_pass(struct profile *profile);

#endif
