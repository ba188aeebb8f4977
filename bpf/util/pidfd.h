/* What a pidfd says of its process. */
#ifndef EDEN_PIDFD_H
#define EDEN_PIDFD_H

#include <stdint.h>
#include <sys/ioctl.h>

/* struct pidfd_info of Linux 6.13, which older headers do not have. */
struct pidfd_credentials {
    uint64_t mask, cgroup;
    uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
    int32_t exit_code;
};
#define PIDFD_GET_CREDENTIALS _IOWR(0xff, 11, struct pidfd_credentials)
_Static_assert(sizeof(struct pidfd_credentials) == 64, "the kernel knows it by its size");

/* A descriptor of its user namespace, since Linux 6.11. */
#define PIDFD_OPEN_USER_NAMESPACE _IO(0xff, 9)

#endif
