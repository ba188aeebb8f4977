/* libbpf may be older than this link type, so the call is made here, with the kernel's layout of its arguments. */
#include "attach/multi_link.h"
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The part of union bpf_attr that BPF_LINK_CREATE reads for a uprobe_multi link. */
struct request {
    uint32_t prog_fd;
    uint32_t target_fd;
    uint32_t attach_type;
    uint32_t link_flags;
    uint64_t path;
    uint64_t offsets;
    uint64_t ref_ctr_offsets;
    uint64_t cookies;
    uint32_t count;
    uint32_t flags;
    uint32_t pid;
    uint32_t reserved;
};

int multi_link_create(int program, const char *path, const struct multi_link_sites *sites, int pid) {
    struct request request = {.prog_fd = (uint32_t)program,
                              .attach_type = MULTI_LINK_TYPE,
                              .path = (uintptr_t)path,
                              .offsets = (uintptr_t)sites->offset,
                              .ref_ctr_offsets = (uintptr_t)sites->semaphore,
                              .cookies = (uintptr_t)sites->cookie,
                              .count = sites->count,
                              .pid = (uint32_t)pid};
    return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &request, sizeof request);
}
