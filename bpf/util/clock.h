/* The clock of the events: CLOCK_MONOTONIC in nanoseconds, as bpf_ktime_get_ns() and the probes' durations have it. */
#ifndef EDEN_CLOCK_H
#define EDEN_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline uint64_t now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

#endif
