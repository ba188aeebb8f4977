/* How much memory and how many processors the process's control group may use. */
#ifndef EDEN_HEAP_CGROUP_H
#define EDEN_HEAP_CGROUP_H

#include <stdint.h>

/* The least memory.max and memory.high of the group and those above it, in bytes; EDEN_NO_LIMIT: there is none, or it
 * cannot be read. self: /proc/self/cgroup; mount: where version 2 of control groups is mounted. */
uint64_t cgroup_memory(const char *self, const char *mount);
/* Likewise the least cpu.max, in processors, rounded up. */
uint64_t cgroup_cpus(const char *self, const char *mount);

#endif
