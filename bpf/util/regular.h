/* Opening a file that somebody else chose, as a program's loader or a script's interpreter. It can wait for ever for
 * whoever serves the file's folder: the opener does it. */
#ifndef EDEN_REGULAR_H
#define EDEN_REGULAR_H

#include <stdbool.h>
#include <stdint.h>

/* Opens a regular file to read, without ever waiting for its other end; `path` is relative to `folder`, as for
 * openat(). -1 with errno: EINVAL for a pipe, a device, a file of /proc, /sys and their like, or anything else that
 * stores no bytes, which is not opened at all; ENOTSUP as regular_reopen(); ENOENT where it does not have this inode
 * number (0: any); EACCES where it must be executable and is not. */
int regular_open(int folder, const char *path, uint64_t inode, bool is_executable);

/* Takes a file opened with O_PATH, and opens it to read. -1 with errno: EINVAL as above; ENOTSUP where root would read
 * a file that another user's process makes up (FUSE). */
int regular_reopen(int found);

#endif
