#include "util/regular.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

static void name_of(int fd, char name[64]) { snprintf(name, 64, "/proc/self/fd/%d", fd); }

/* Whoever serves a FUSE file system decides when a read of it, and closing a file, ends. Files that the kernel makes up
 * (/proc, /sys, tracefs) count as regular, but to open some of them is an order: tracefs's free_buffer stops tracing
 * when it is closed. Their file systems have no blocks; of those that store files only the two in memory may have none
 * either. 0, or errno. */
static int check_system(int found) {
    struct statfs system;
    if (fstatfs(found, &system) != 0) {
        return errno;
    }
    if (system.f_type == FUSE_SUPER_MAGIC) {
        return geteuid() == 0 ? ENOTSUP : 0;
    }
    return system.f_blocks == 0 && system.f_type != TMPFS_MAGIC && system.f_type != RAMFS_MAGIC ? EINVAL : 0;
}

int regular_read(int found, struct stat *status) {
    int error = fstat(found, status) != 0 ? errno : S_ISREG(status->st_mode) ? check_system(found) : EINVAL;
    char name[64];
    name_of(found, name);
    errno = error;
    return error == 0 ? open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
}

/* 0, or errno. */
static int check(int found, uint64_t inode, bool is_executable) {
    struct stat status;
    char name[64];
    if (inode != 0 && (fstat(found, &status) != 0 || status.st_ino != inode)) {
        return ENOENT;
    }
    name_of(found, name);
    return is_executable && faccessat(AT_FDCWD, name, X_OK, AT_EACCESS) != 0 ? errno : 0;
}

/* O_PATH finds the file without opening it: opening is what wakes a pipe's writer, rewinds a tape or hangs. */
static int find(int folder, const char *path, bool is_strangers) {
    const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};
    return is_strangers ? (int)syscall(SYS_openat2, folder, path, &how, sizeof how)
                        : openat(folder, path, O_PATH | O_CLOEXEC);
}

bool regular_open(int folder, const char *path, uint64_t inode, bool is_executable, bool is_strangers,
                  struct regular *file) {
    *file = (struct regular){.fd = find(folder, path, is_strangers)};
    int error = file->fd < 0 ? errno : check(file->fd, inode, is_executable);
    errno = error;
    int fd = error == 0 ? regular_read(file->fd, &file->status) : -1;
    if (fd >= 0) {
        close(fd);
        return true;
    }
    error = errno;
    regular_close(file);
    errno = error;
    return false;
}

void regular_close(struct regular *file) {
    if (file->fd >= 0) {
        close(file->fd);
    }
    file->fd = -1;
}
