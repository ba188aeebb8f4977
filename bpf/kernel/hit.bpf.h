/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the kernel programs share: who hit a probe, with which arguments, and which heap's entry that is.
 *
 * The programs are compiled apart and linked into one object (bpftool gen object), so the maps and counters here are
 * declared `extern` and defined once, in eden.bpf.c. */
#ifndef EDEN_HIT_BPF_H
#define EDEN_HIT_BPF_H

#include "kernel/kernel.h"
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

struct task_struct {
    struct task_struct *group_leader;
    uint64_t start_boottime;
    char comm[16];
} __attribute__((preserve_access_index));

/* As kernels before 5.5 call it. */
struct task_struct___old {
    uint64_t real_start_time;
} __attribute__((preserve_access_index));

struct ns_common {
    uint32_t inum;
} __attribute__((preserve_access_index));

struct pid_namespace {
    struct ns_common ns;
} __attribute__((preserve_access_index));

struct upid {
    int nr;
    struct pid_namespace *ns;
} __attribute__((preserve_access_index));

struct pid {
    uint32_t level;
    struct upid numbers[1];
} __attribute__((preserve_access_index));

struct signal_struct;

struct kernel_user {
    uint32_t val;
} __attribute__((preserve_access_index));

struct user_namespace {
    struct user_namespace *parent;
    struct kernel_user owner;
    struct ns_common ns;
} __attribute__((preserve_access_index));

struct cred {
    struct user_namespace *user_ns;
} __attribute__((preserve_access_index));

struct task_struct___more {
    const struct cred *cred;
    struct pid *thread_pid;
    struct signal_struct *signal;
    int tgid;
} __attribute__((preserve_access_index));

/* The tool's pid namespace, where it is not the first: pids are then those that the tool sees. */
extern const volatile uint64_t pid_namespace_dev;
extern const volatile uint64_t pid_namespace_ino;

/* Headers of heaps whose start was missed are read. */
extern const volatile bool reads_headers;

/* Probes are attached by file, for every process: hits of others than the observed ones are nobody's. */
extern const volatile bool by_descent;

/* enum kernel_selection, and the names of SELECT_NAMES. */
extern const volatile uint32_t selects;
extern const volatile char selected_name[KERNEL_NAMES][KERNEL_NAME];

extern uint64_t lost[LOST_KINDS];
extern uint64_t last_serial; /* of the entries so far */
extern uint32_t heap_count;  /* entries that have been taken, given back ones included */
extern uint32_t heaps_taken; /* without these */
extern uint32_t has_twins;   /* two attachments may be to one file: see is_taken() */

/* The hit that a thread's last program took. */
struct taken_hit {
    uint64_t ip, regs[16];
    uint32_t target, reserved;
};
struct taken_map {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, KERNEL_TAKEN);
    __type(key, uint64_t);
    __type(value, struct taken_hit);
};
extern struct taken_map taken SEC(".maps");

struct specs_map {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, KERNEL_SPECS);
    __type(key, uint32_t);
    __type(value, struct probe_spec);
};
extern struct specs_map specs SEC(".maps");

struct live_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, KERNEL_HEAPS);
    __type(key, struct heap_key);
    __type(value, uint32_t);
};
extern struct live_map live SEC(".maps");

struct heaps_map {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, KERNEL_HEAPS);
    __type(key, uint32_t);
    __type(value, struct heap_entry);
};
extern struct heaps_map heaps SEC(".maps");

struct histograms_map {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, KERNEL_HISTOGRAMS);
    __type(key, uint32_t);
    __type(value, struct histogram);
};
extern struct histograms_map histograms SEC(".maps");
extern uint32_t histogram_count, histograms_taken; /* as of heaps */

/* Numbers of entries that the tool has given back, of entries that are free, and of histograms that are. */
struct entries_queue {
    __uint(type, BPF_MAP_TYPE_QUEUE);
    __uint(max_entries, KERNEL_HEAPS);
    __uint(value_size, sizeof(uint32_t));
};
extern struct entries_queue given_back SEC(".maps"), free_heaps SEC(".maps");
struct histograms_queue {
    __uint(type, BPF_MAP_TYPE_QUEUE);
    __uint(max_entries, KERNEL_HISTOGRAMS);
    __uint(value_size, sizeof(uint32_t));
};
extern struct histograms_queue free_histograms SEC(".maps");

/* The living processes that descend from the observed one, and that one (descent.bpf.c). */
struct observed_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, KERNEL_PROCESSES);
    __type(key, struct process_key);
    __type(value, struct observed_process);
};
extern struct observed_map observed SEC(".maps");

struct selected_cgroup_map {
    __uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, uint32_t);
};
extern struct selected_cgroup_map selected_cgroup SEC(".maps");

struct notices_map {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, KERNEL_NOTICES_BYTES);
};
extern struct notices_map notices SEC(".maps");

struct shares_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, KERNEL_SHARES);
    __type(key, struct process_key);
    __type(value, struct share);
};
extern struct shares_map shares SEC(".maps");

struct users_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, KERNEL_SHARES);
    __type(key, uint32_t); /* current_owner() */
    __type(value, struct share);
};
extern struct users_map users SEC(".maps");

/* Of batches, and of stacks beside them (lifetimes.bpf.c). */
extern const volatile uint32_t records_bytes; /* of it */
struct life_records_map {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 4096);
};
extern struct life_records_map life_records SEC(".maps");

static __always_inline void add(uint64_t *sum, uint64_t value) { __sync_fetch_and_add(sum, value); }

static __always_inline void add32(uint32_t *sum, uint32_t value) { __sync_fetch_and_add(sum, value); }

/* A process may say any number: a sum that is large already stays, so that none makes it small again. */
static __always_inline void lose_many(enum lost_kind kind, uint64_t count) {
    const uint64_t most = 1ull << 48;
    if (*(volatile uint64_t *)&lost[kind] < 1ull << 62) {
        add(&lost[kind], count < most ? count : most);
    }
}

static __always_inline void lose(enum lost_kind kind) { lose_many(kind, 1); }

/* When a process began, as struct process_key has it, by its first thread. */
static __always_inline uint64_t start_of(struct task_struct *leader) {
    uint64_t start = bpf_core_field_exists(leader->start_boottime)
                         ? BPF_CORE_READ(leader, start_boottime)
                         : BPF_CORE_READ((struct task_struct___old *)leader, real_start_time);
    return start - start % PROCESS_START_STEP_NS;
}

enum { DEEPEST_NAMESPACE = 32 };

/* The id of a process in the tool's pid namespace; 0: it has none there. */
static __always_inline uint32_t pid_of(struct task_struct___more *task) {
    if (!pid_namespace_ino) {
        return (uint32_t)BPF_CORE_READ(task, tgid);
    }
    struct pid *pid = BPF_CORE_READ(task, thread_pid);
    uint32_t level = BPF_CORE_READ(pid, level);
    const char *at = (const char *)pid + bpf_core_field_offset(struct pid, numbers);
    for (uint32_t i = 0; i < DEEPEST_NAMESPACE && i <= level; i++) {
        struct upid *number = (struct upid *)(at + i * bpf_core_type_size(struct upid));
        if (BPF_CORE_READ(number, ns, ns.inum) == pid_namespace_ino) {
            return (uint32_t)BPF_CORE_READ(number, nr);
        }
    }
    return 0;
}

static __always_inline void current_process(struct process_key *key, uint32_t *tid) {
    struct task_struct *task = (struct task_struct *)bpf_get_current_task();
    key->start_ns = start_of(BPF_CORE_READ(task, group_leader));
    uint64_t both = bpf_get_current_pid_tgid();
    key->pid = (uint32_t)(both >> 32);
    key->reserved = 0;
    *tid = (uint32_t)both;
    if (pid_namespace_ino) {
        struct bpf_pidns_info seen = {};
        if (bpf_get_ns_current_pid_tgid(pid_namespace_dev, pid_namespace_ino, &seen, sizeof seen) == 0) {
            key->pid = seen.tgid;
            *tid = seen.pid;
        } else { /* in a namespace within it */
            key->pid = pid_of((struct task_struct___more *)BPF_CORE_READ(task, group_leader));
            *tid = pid_of((struct task_struct___more *)task);
        }
    }
}

/* That of its first thread, as /proc/PID/comm: others may have names of their own. */
static __always_inline void current_name(char name[KERNEL_NAME]) {
    const struct task_struct *task = (struct task_struct *)bpf_get_current_task();
    const struct task_struct *leader = BPF_CORE_READ(task, group_leader);
    const char *at = (const char *)leader + bpf_core_field_offset(struct task_struct, comm);
    if (bpf_probe_read_kernel_str(name, KERNEL_NAME, at) < 0) {
        name[0] = 0;
    }
}

static __always_inline void copy_registers(uint64_t *regs, const struct pt_regs *ctx) {
    regs[0] = ctx->rax;
    regs[1] = ctx->rcx;
    regs[2] = ctx->rdx;
    regs[3] = ctx->rbx;
    regs[4] = ctx->rsp;
    regs[5] = ctx->rbp;
    regs[6] = ctx->rsi;
    regs[7] = ctx->rdi;
    regs[8] = ctx->r8;
    regs[9] = ctx->r9;
    regs[10] = ctx->r10;
    regs[11] = ctx->r11;
    regs[12] = ctx->r12;
    regs[13] = ctx->r13;
    regs[14] = ctx->r14;
    regs[15] = ctx->r15;
}

/* The kernel attaches to the inode in which a file's bytes lie. Files of overlays of one folder look like several to
 * the tool, and have one: each hit then starts a program for every attachment, one after the other, with the same
 * registers. The first takes it. The others look at nothing but that: a user may mount many overlays of one folder. */
static __always_inline bool is_taken(const struct pt_regs *ctx, uint32_t target) {
    uint64_t thread = bpf_get_current_pid_tgid();
    if (!*(volatile uint32_t *)&has_twins) {
        return false;
    }
    const struct taken_hit *last = bpf_map_lookup_elem(&taken, &thread);
    if (!last || last->target == target || last->ip != ctx->rip || last->regs[4] != ctx->rsp) {
        return false;
    }
    return last->regs[0] == ctx->rax && last->regs[1] == ctx->rcx && last->regs[2] == ctx->rdx &&
           last->regs[3] == ctx->rbx && last->regs[5] == ctx->rbp && last->regs[6] == ctx->rsi &&
           last->regs[7] == ctx->rdi && last->regs[8] == ctx->r8 && last->regs[9] == ctx->r9 &&
           last->regs[10] == ctx->r10 && last->regs[11] == ctx->r11 && last->regs[12] == ctx->r12 &&
           last->regs[13] == ctx->r13 && last->regs[14] == ctx->r14 && last->regs[15] == ctx->r15;
}

static __noinline void note_taken(const struct pt_regs *ctx, uint32_t target) {
    uint64_t thread = bpf_get_current_pid_tgid();
    struct taken_hit hit = {.ip = ctx->rip, .target = target};
    copy_registers(hit.regs, ctx);
    bpf_map_update_elem(&taken, &thread, &hit, BPF_ANY);
}

static __always_inline void take(const struct pt_regs *ctx, uint32_t target) {
    if (*(volatile uint32_t *)&has_twins) {
        note_taken(ctx, target);
    }
}

static __always_inline uint64_t fetch(const struct operand *operand, const uint64_t *regs) {
    uint8_t reg = operand->reg;
    if (reg == OPERAND_CONSTANT) {
        return (uint64_t)operand->constant;
    }
    uint64_t value = regs[reg & 15] >> (operand->right & 63);
    uint8_t lift = operand->lift & 63;
    value <<= lift;
    return operand->is_signed ? (uint64_t)((int64_t)value >> lift) : value >> lift;
}

/* As target_owner(): whose shares the current process takes (entries.bpf.c). */
extern uint32_t current_owner(void);

/* ---- processes -------------------------------------------------------------------------------------------------- */

static __always_inline void submit_notice(struct notice *notice, enum notice_kind kind,
                                          const struct process_key *process, const struct process_key *branch) {
    notice->time_ns = bpf_ktime_get_ns();
    notice->process = *process;
    notice->branch = branch->pid ? *branch : *process;
    notice->kind = kind;
    notice->user = (uint32_t)bpf_get_current_uid_gid();
    notice->owner = current_owner();
    notice->reserved = 0;
    bool is_urgent = kind == NOTICE_EXEC || kind == NOTICE_FOUND || kind == NOTICE_PROGRAM;
    bool filling = bpf_ringbuf_query(&notices, BPF_RB_AVAIL_DATA) > KERNEL_NOTICES_BYTES / 4;
    bpf_ringbuf_submit(notice, is_urgent || filling ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

static __noinline bool has_selected_name(void) {
    char name[KERNEL_NAME] = {};
    current_name(name);
    for (int i = 0; i < KERNEL_NAMES; i++) {
        bool is_same = selected_name[i][0] != 0;
        for (int j = 0; j < KERNEL_NAME && is_same; j++) {
            is_same = selected_name[i][j] == name[j];
        }
        if (is_same) {
            return true;
        }
    }
    return false;
}

static __always_inline bool is_selected(void) {
    switch (selects) {
    case SELECT_ALL:
        return true;
    case SELECT_NAMES:
        return has_selected_name();
    case SELECT_CGROUP:
        return bpf_current_task_under_cgroup(&selected_cgroup, 0) == 1;
    default:
        return false;
    }
}

/* Observes a selected process from its first hit on. */
static __noinline bool find_process(const struct process_key *key) {
    struct process_key process = *key;
    struct observed_process found = {.branch = process};
    if (!is_selected()) {
        return false;
    }
    if (bpf_map_update_elem(&observed, &process, &found, BPF_NOEXIST) != 0) {
        if (bpf_map_lookup_elem(&observed, &process)) {
            return true; /* another thread was first */
        }
        lose(LOST_CHILDREN);
        return false;
    }
    struct exec_notice *notice = bpf_ringbuf_reserve(&notices, sizeof *notice, 0);
    if (!notice) {
        lose(LOST_NOTICES);
        return true;
    }
    notice->head.parent = (struct process_key){};
    current_name(notice->command);
    submit_notice(&notice->head, NOTICE_FOUND, &process, &process);
    return true;
}

/* The process, and which of its programs runs, of the heap whose address is known. False: it is not observed; nor is
 * one outside the tool's pid namespace, which has no name there. */
static __always_inline bool current_program(struct heap_key *key, uint32_t *tid) {
    current_process(&key->process, tid);
    if (key->process.pid == 0) {
        key->program = 0;
        return false;
    }
    const struct observed_process *known = bpf_map_lookup_elem(&observed, &key->process);
    key->program = known ? known->programs : 0;
    return known || (selects != SELECT_NONE && find_process(&key->process));
}

/* ---- entries ---------------------------------------------------------------------------------------------------- */

/* What an owner has taken. Where there are too many owners, what the branch has. */
static inline __noinline struct share *user_share(uint32_t owner, struct share *branch) {
    static const struct share none;
    uint32_t key = owner;
    struct share *share = bpf_map_lookup_elem(&users, &key);
    if (!share) {
        bpf_map_update_elem(&users, &key, &none, BPF_NOEXIST); /* another thread may be first */
        share = bpf_map_lookup_elem(&users, &key);
    }
    return share ? share : branch;
}

static __always_inline void find_branch(const struct process_key *process, struct process_key *branch) {
    struct process_key key = *process;
    const struct observed_process *known = bpf_map_lookup_elem(&observed, &key);
    *branch = known && known->branch.pid ? known->branch : key;
}

/* The share of a branch. Where there are too many branches, which one user can start, that of the owner; NULL: there
 * are too many of these, too. */
static inline __noinline struct share *branch_share(const struct process_key *branch, uint32_t owner) {
    static const struct share none;
    struct process_key key = *branch;
    struct share *share = bpf_map_lookup_elem(&shares, &key);
    if (!share) {
        bpf_map_update_elem(&shares, &key, &none, BPF_NOEXIST); /* another thread may be first */
        share = bpf_map_lookup_elem(&shares, &key);
    }
    return share ? share : user_share(owner, 0);
}

/* Copies the heap's header from the memory of its process, which is the current one (entries.bpf.c). */
extern bool read_header(const struct heap_entry *heap, struct eden_heap_info *header);

/* Gives back a histogram that the heap took and did not use (entries.bpf.c). Always 0. */
extern int give_back_histogram(const struct heap_entry *heap, uint32_t number);

/* 1 + the number of the entry of a heap that has none yet (entries.bpf.c). created_ns: of the hit of heap__create; 0:
 * of another one. 0: there is no room, and the hit is counted as lost. */
extern uint32_t new_entry(const struct heap_key *key, uint32_t spec, uint64_t created_ns);

/* The entry of a number that `live` had for this heap. The heap may have ended, and its place in `live` may be another
 * one's, before the number was read: what this process says must not count there, and is lost. */
static __always_inline struct heap_entry *entry_of(const struct heap_key *key, uint32_t number) {
    struct heap_entry *heap = bpf_map_lookup_elem(&heaps, &number);
    if (heap && (heap->key.address != key->address || heap->key.program != key->program ||
                 heap->key.process.pid != key->process.pid || heap->key.process.start_ns != key->process.start_ns)) {
        lose(LOST_HEAPS);
        return 0;
    }
    return heap;
}

static __always_inline struct heap_entry *added_entry(const struct heap_key *key, uint32_t spec, uint64_t created_ns) {
    return entry_of(key, new_entry(key, spec, created_ns) - 1);
}

static __always_inline struct heap_entry *find_entry(const struct heap_key *key, uint32_t spec) {
    const uint32_t *number = bpf_map_lookup_elem(&live, key);
    return number ? entry_of(key, *number) : added_entry(key, spec, 0);
}

#endif
