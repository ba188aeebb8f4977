/* Threads that race need processors of their own. */
#ifndef EDEN_RUN_ON_H
#define EDEN_RUN_ON_H

#include <sched.h>
#include <stddef.h>

/* The calling thread runs on this processor alone. */
static inline void run_on(size_t processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof set, &set);
}

#endif
