/* What /proc tells about a process: when it started, what it has mapped, its children. */
#ifndef EDEN_TARGET_H
#define EDEN_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping {
    uint64_t start, end, offset;
    uint64_t device, inode;
    bool executable;
    char path[256]; /* as the process sees it, cut; for messages */
};

/* The process that a thread or process id belongs to; 0: no such process. */
int target_process_of(int pid);

/* Start in nanoseconds of CLOCK_BOOTTIME, cut to PROCESS_START_STEP_NS; 0: no such process. A zombie has ended. */
uint64_t target_start_ns(int pid);
void target_command(int pid, char command[64]); /* /proc/PID/comm; "" where it cannot be read */

/* Calls on_mapping for each mapped file. False: the maps cannot be read (errno says why). */
bool target_mappings(int pid, bool (*on_mapping)(void *context, const struct mapping *mapping), void *context);

/* Opens a mapped file, to read. Works for files of other mount namespaces and for those replaced or deleted since. -1
 * with errno. */
int target_open_mapping(int pid, const struct mapping *mapping);

void target_children(int pid, void (*on_child)(void *context, int child), void *context);

/* Every process of /proc. */
void target_processes(void (*on_process)(void *context, int pid), void *context);

#endif
