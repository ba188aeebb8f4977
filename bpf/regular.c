#include "regular.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

static void name_of(int fd, char name[64]) { snprintf(name, 64, "/proc/self/fd/%d", fd); }

/* Whoever serves a FUSE file system decides when a read of it, and closing a file, ends. */
static bool can_hang(int found) {
    struct statfs system;
    return geteuid() == 0 && (fstatfs(found, &system) != 0 || system.f_type == FUSE_SUPER_MAGIC);
}

int regular_reopen(int found) {
    struct stat status;
    int fd = -1, error = EINVAL;
    if (can_hang(found)) {
        error = ENOTSUP;
    } else if (fstat(found, &status) == 0 && S_ISREG(status.st_mode)) {
        char name[64];
        name_of(found, name);
        fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        error = errno;
    }
    close(found);
    errno = error;
    return fd;
}

/* 0, or errno. */
static int check(int found, uint64_t inode, bool is_executable) {
    struct stat status;
    char name[64];
    if (inode != 0 && (fstat(found, &status) != 0 || status.st_ino != inode)) {
        return ENOENT;
    }
    name_of(found, name);
    return is_executable && access(name, X_OK) != 0 ? errno : 0;
}

int regular_open(int folder, const char *path, uint64_t inode, bool is_executable) {
    /* O_PATH finds the file without opening it: opening is what wakes a pipe's writer, rewinds a tape or hangs. */
    int found = openat(folder, path, O_PATH | O_CLOEXEC);
    int error = found < 0 ? errno : check(found, inode, is_executable);
    if (found >= 0 && error == 0) {
        return regular_reopen(found);
    }
    if (found >= 0) {
        close(found);
    }
    errno = error;
    return -1;
}
