/* Opening a file that somebody else chose, as a program's loader or a script's interpreter. Opening, asking for its
 * size and closing can wait for ever, for the server of the file or of its folder: the opener does all of it. */
#ifndef EDEN_REGULAR_H
#define EDEN_REGULAR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Which file it is. The device is that of its mappings: some file systems (btrfs, overlayfs) have another one in
 * fstat(). */
struct file_identity {
    uint64_t device, inode;
};

/* A regular file that can be read. */
struct regular {
    int fd;             /* opened with O_PATH: closing it asks nobody; -1: none */
    uint32_t user;      /* for whom it was opened; 0: the tool's own */
    uint32_t owner;     /* whose shares that user takes */
    struct stat status; /* when it was opened */
};

/* Finds a regular file, opens it to read without ever waiting for its other end, and closes that again; `path` is
 * relative to `folder`, as for openat(). False with errno, and none: EINVAL for a pipe, a device, a file of /proc, /sys
 * and their like, or anything else that stores no bytes, which is not opened at all; ENOTSUP as regular_read(); ENOENT
 * where it does not have this inode number (0: any); EACCES where it must be executable and is not; ELOOP where a path
 * of a stranger leads through this process's own descriptors and folders (/proc/self/fd, cwd, root). */
bool regular_open(int folder, const char *path, uint64_t inode, bool is_executable, bool is_strangers,
                  struct regular *file);

/* Opens a file to read that is open with O_PATH, and says what it is. -1 with errno: EINVAL as above; ENOTSUP where
 * root would read a file that another user's process makes up (FUSE). */
int regular_read(int found, struct stat *status);

void regular_close(struct regular *file); /* also of none */

#endif
