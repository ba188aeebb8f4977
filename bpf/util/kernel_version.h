/* The version of the kernel that runs. */
#ifndef EDEN_KERNEL_VERSION_H
#define EDEN_KERNEL_VERSION_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/utsname.h>

/* Than that; false: it has another number. */
static inline bool kernel_is_older(unsigned major, unsigned minor) {
    struct utsname system;
    unsigned found[2];
    return uname(&system) == 0 && sscanf(system.release, "%u.%u", &found[0], &found[1]) == 2 &&
           (found[0] != major ? found[0] < major : found[1] < minor);
}

#endif
