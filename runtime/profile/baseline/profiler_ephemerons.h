/* Ephemerons that a profile makes, to find deaths by them. */
#ifndef EDEN_PROFILE_PROFILER_EPHEMERONS_H
#define EDEN_PROFILE_PROFILER_EPHEMERONS_H

#include "profile/mechanism.h"

enum { PROFILER_KEY, PROFILER_BIRTH, PROFILER_TENURED, PROFILER_EPHEMERON_SLOTS };
enum { PROFILER_EPHEMERON_BYTES = 8 + 8 * PROFILER_EPHEMERON_SLOTS };

extern const struct mechanism ephemeron_mechanism; /* plain or pretenured: profile->mechanism says */
/* The profile ends: what it leaves in the heap is garbage, which must not wait for anything. */
void profiler_ephemerons_release(struct profile *profile);

#endif
