/* What the thread of a collection does: kept by the kernel program, part of the model. Plain types of fixed width. */
#ifndef EDEN_PAUSE_TIME_H
#define EDEN_PAUSE_TIME_H

#include <stdint.h>

enum pause_cause {
#define PAUSE_CAUSE(name, heading, meaning) PAUSE_##name,
#include "kernel/pause_causes.def"
    PAUSE_CAUSES
};

/* What the thread of one or more collections has done meanwhile. */
struct pause_time {
    uint64_t ns[PAUSE_CAUSES];
    uint64_t faults, disk_faults; /* page faults, and how many of them read from a disk */
    uint64_t unmeasured;          /* bit i: the time of cause i is not known; the kernel has it among another's */
};

#endif
