/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Who descends from the observed process: kept in the kernel, where a child is known before its first instruction.
 *
 *     fork of an observed process -> `observed` += child   \
 *     exec                                                  > notice -> ring buffer -> source_children.c
 *     end of its last thread      -> `observed` -= process /
 *
 * The tool puts the root into `observed`; from then on the map holds exactly its living descendants. Where probes are
 * attached by file, for every process, on_probe (eden.bpf.c) counts hits of processes in the map only: so a file that
 * was attached to once is observed in each later child from that child's start.
 *
 * Invariants:
 * I1. A child is in the map before it runs: the tracepoint of fork comes before the child is woken.
 * I2. A child that finds no room in the map, and a notice of a new program that finds no room in its ring buffer, are
 *     counted.
 *
 * Cost: one look-up in a hash table for each fork, exec and exit on the machine. Where processes are selected (-a, -n,
 * --cgroup), each exec of one also reads the environment. Threads are no processes here. */
#include "kernel/hit.bpf.h"

struct observed_map observed SEC(".maps");

struct notices_map notices SEC(".maps");

struct selected_cgroup_map selected_cgroup SEC(".maps");
const volatile uint32_t selects = SELECT_NONE;
const volatile char selected_name[KERNEL_NAMES][KERNEL_NAME] = {};

/* When the tool has known the file, CLOCK_MONOTONIC. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, KERNEL_EXECUTED);
    __type(key, struct executed_file);
    __type(value, uint64_t);
} executed SEC(".maps");

struct atomic_counter {
    int counter;
} __attribute__((preserve_access_index));

struct signal_struct {
    struct atomic_counter live;
} __attribute__((preserve_access_index));

struct super_block {
    uint32_t s_dev;
} __attribute__((preserve_access_index));

struct inode {
    unsigned long i_ino;
    struct super_block *i_sb;
} __attribute__((preserve_access_index));

struct timespec64 {
    int64_t tv_sec;
    long tv_nsec;
} __attribute__((preserve_access_index));

/* As the kernel has its time of change: from Linux 6.11 on, from 6.6 on, and before. */
struct inode___new {
    int64_t i_ctime_sec;
    uint32_t i_ctime_nsec;
} __attribute__((preserve_access_index));

struct inode___middle {
    struct timespec64 __i_ctime;
} __attribute__((preserve_access_index));

struct inode___old {
    struct timespec64 i_ctime;
} __attribute__((preserve_access_index));

struct file {
    struct inode *f_inode;
} __attribute__((preserve_access_index));

struct linux_binprm {
    struct file *file;
    const char *interp;
    unsigned int secureexec : 1;
} __attribute__((preserve_access_index));

struct mm_struct {
    unsigned long start_stack;
} __attribute__((preserve_access_index));

struct path {
    void *mnt, *dentry;
} __attribute__((preserve_access_index));

struct fs_struct {
    struct path root;
} __attribute__((preserve_access_index));

struct task_struct___memory {
    struct mm_struct *mm;
    struct fs_struct *fs;
} __attribute__((preserve_access_index));

/* In a row that are not the loader's, and that are. */
enum { MOST_VARIABLES = 512, MOST_OF_LOADER = 4 };

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx) {
    struct task_struct *child = (struct task_struct *)ctx->args[1];
    struct process_key parent, key = {};
    struct observed_process process = {};
    uint32_t tid;
    if (BPF_CORE_READ(child, group_leader) != child) {
        return 0;
    }
    current_process(&parent, &tid);
    struct observed_process *forker = bpf_map_lookup_elem(&observed, &parent);
    if (!forker) {
        return 0;
    }
    key.start_ns = start_of(child);
    key.pid = pid_of((struct task_struct___more *)child);
    process.branch = forker->is_root ? key : forker->branch;
    if (bpf_map_update_elem(&observed, &key, &process, BPF_ANY) != 0) {
        lose(LOST_CHILDREN);
        return 0;
    }
    struct notice *notice = bpf_ringbuf_reserve(&notices, sizeof *notice, 0);
    if (!notice) {
        lose(LOST_NOTICES);
        return 0;
    }
    notice->parent = parent;
    submit_notice(notice, NOTICE_FORK, &key, &process.branch);
    return 0;
}

/* Of the tool: where its absolute paths begin. A mount is of one mount namespace only. */
uint64_t tool_root_mount, tool_root_folder;

static __always_inline struct path current_root(void) {
    const struct task_struct___memory *task = (struct task_struct___memory *)bpf_get_current_task();
    return (struct path){BPF_CORE_READ(task, fs, root.mnt), BPF_CORE_READ(task, fs, root.dentry)};
}

/* Run once, by the tool. */
SEC("raw_tp")
int on_tool(struct bpf_raw_tracepoint_args *ctx) {
    (void)ctx;
    struct path root = current_root();
    tool_root_mount = (uint64_t)root.mnt;
    tool_root_folder = (uint64_t)root.dentry;
    return 0;
}

/* At most eight characters as a number. */
static __always_inline uint64_t word(const char *text) {
    uint64_t word = 0;
    for (int i = 0; i < 8 && text[i]; i++) {
        word |= (uint64_t)(uint8_t)text[i] << i * 8;
    }
    return word;
}

/* Copies a variable's value. False: it is cut. */
static __always_inline bool copy_value(char *to, uint64_t from) {
    long bytes = bpf_probe_read_user_str(to, KERNEL_VARIABLE, (const void *)from);
    return bytes >= 0 && bytes < KERNEL_VARIABLE;
}

/* What an environment variable is to the loader. */
enum variable { VARIABLE_END, VARIABLE_OTHER, VARIABLE_PATH, VARIABLE_PRELOAD, VARIABLE_UNKNOWN };

/* This and next_variable() are global functions: the verifier follows them once, not in each turn of a loop. */
__noinline int variable_at(uint64_t at) {
    union {
        char text[17];
        uint64_t word[3];
    } name = {};
    uint64_t variable;
    if (bpf_probe_read_user(&variable, sizeof variable, (const void *)at) != 0) {
        return VARIABLE_UNKNOWN;
    }
    if (variable == 0) {
        return VARIABLE_END;
    }
    if (bpf_probe_read_user_str(name.text, sizeof name.text, (const void *)variable) < 0) {
        return VARIABLE_UNKNOWN;
    }
    uint64_t first = name.word[0], second = name.word[1];
    if (first == word("LD_LIBRA") && second == word("RY_PATH=")) {
        return VARIABLE_PATH;
    }
    if (first == word("LD_PRELO") && (second & 0xffffff) == word("AD=")) {
        return VARIABLE_PRELOAD;
    }
    return first == word("LD_AUDIT") && (second & 0xff) == word("=") ? VARIABLE_UNKNOWN : VARIABLE_OTHER;
}

/* The first one from there on that is not VARIABLE_OTHER. 0: it is too far. */
__noinline uint64_t next_variable(uint64_t at) {
    for (uint32_t i = 0; i < MOST_VARIABLES; i++, at += sizeof at) {
        if (variable_at(at) != VARIABLE_OTHER) {
            return at;
        }
    }
    return 0;
}

/* A set-user-id program's loader heeds no variable. */
static __always_inline bool heeds_environment(struct linux_binprm *program) {
    return !BPF_CORE_READ_BITFIELD_PROBED(program, secureexec);
}

/* Where the variables of a program that has just been executed begin, on its new stack. It has not run yet, so they are
 * what its loader will see. 0: that cannot be read. */
static __always_inline uint64_t environment(void) {
    const struct task_struct___memory *task = (struct task_struct___memory *)bpf_get_current_task();
    uint64_t at = BPF_CORE_READ(task, mm, start_stack), arguments;
    if (bpf_probe_read_user(&arguments, sizeof arguments, (const void *)at) != 0) {
        return 0;
    }
    return at + (arguments + 2) * sizeof arguments;
}

/* Takes from there what directs the loader. False: not all of it is known. */
static __always_inline bool read_environment(struct exec_notice *notice, struct linux_binprm *program) {
    notice->library_path[0] = notice->preload[0] = 0;
    if (!heeds_environment(program)) {
        return true;
    }
    uint64_t at = environment(), variable;
    for (int i = 0; i < MOST_OF_LOADER; i++, at += sizeof variable) {
        at = next_variable(at);
        int kind = variable_at(at);
        if (kind == VARIABLE_END) {
            return true;
        }
        if (bpf_probe_read_user(&variable, sizeof variable, (const void *)at) != 0 ||
            (kind == VARIABLE_PATH && !copy_value(notice->library_path, variable + 16)) ||
            (kind == VARIABLE_PRELOAD && !copy_value(notice->preload, variable + 11)) || kind == VARIABLE_UNKNOWN) {
            return false;
        }
    }
    return false;
}

static __always_inline bool is_elsewhere(void) {
    struct path root = current_root();
    return (uint64_t)root.mnt != tool_root_mount || (uint64_t)root.dentry != tool_root_folder;
}

/* Executed as anybody may execute it: nothing directs its loader, and its paths lead where the tool's do. What is known
 * of a file holds for such programs alone. */
static __always_inline bool is_plain(struct linux_binprm *program) {
    return !is_elsewhere() &&
           (!heeds_environment(program) || variable_at(next_variable(environment())) == VARIABLE_END);
}

static __always_inline struct executed_file executed_file(struct linux_binprm *program) {
    const struct inode *inode = BPF_CORE_READ(program, file, f_inode);
    const struct inode___new *new = (const struct inode___new *)inode;
    const struct inode___middle *middle = (const struct inode___middle *)inode;
    const struct inode___old *old = (const struct inode___old *)inode;
    struct executed_file file = {.inode = BPF_CORE_READ(inode, i_ino), .device = BPF_CORE_READ(inode, i_sb, s_dev)};
    if (bpf_core_field_exists(new->i_ctime_sec)) {
        file.changed_s = (uint64_t)BPF_CORE_READ(new, i_ctime_sec);
        file.changed_ns = BPF_CORE_READ(new, i_ctime_nsec);
    } else if (bpf_core_field_exists(middle->__i_ctime)) {
        file.changed_s = (uint64_t)BPF_CORE_READ(middle, __i_ctime.tv_sec);
        file.changed_ns = (uint64_t)BPF_CORE_READ(middle, __i_ctime.tv_nsec);
    } else if (bpf_core_field_exists(old->i_ctime)) {
        file.changed_s = (uint64_t)BPF_CORE_READ(old, i_ctime.tv_sec);
        file.changed_ns = (uint64_t)BPF_CORE_READ(old, i_ctime.tv_nsec);
    }
    return file;
}

/* Not known to those who execute it plainly. Another library may have come where the file finds its own: so it is
 * looked into again from time to time. */
static __always_inline bool is_new(const struct executed_file *file) {
    const uint64_t *known_ns = bpf_map_lookup_elem(&executed, file);
    return !known_ns || bpf_ktime_get_ns() - *known_ns > KERNEL_KNOWN_NS;
}

static __noinline void report_exec(struct linux_binprm *program, enum notice_kind kind,
                                   const struct process_key *process, const struct process_key *branch,
                                   const struct executed_file *file) {
    struct exec_notice *notice = bpf_ringbuf_reserve(&notices, sizeof *notice, 0);
    if (!notice) {
        lose(LOST_NOTICES);
        return;
    }
    notice->last_serial = *(volatile uint64_t *)&last_serial;
    notice->file = *file;
    notice->reserved = 0;
    current_name(notice->command);
    if (bpf_probe_read_kernel_str(notice->path, sizeof notice->path, BPF_CORE_READ(program, interp)) < 0) {
        notice->path[0] = 0;
    }
    notice->is_elsewhere = is_elsewhere();
    notice->knows_environment = read_environment(notice, program);
    submit_notice(&notice->head, kind, process, branch);
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx) {
    struct linux_binprm *program = (struct linux_binprm *)ctx->args[2];
    struct process_key key;
    uint32_t tid;
    current_process(&key, &tid);
    struct observed_process *known = bpf_map_lookup_elem(&observed, &key);
    if (!known && (key.pid == 0 || !is_selected())) {
        return 0;
    }
    const struct executed_file file = executed_file(program);
    if (known) {
        known->programs++; /* another user's perhaps: it does not go on with the heaps of the one before */
        report_exec(program, NOTICE_EXEC, &key, &known->branch, &file);
    } else if (is_new(&file) || !is_plain(program)) {
        report_exec(program, NOTICE_PROGRAM, &key, &key, &file);
    }
    return 0;
}

SEC("raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args *ctx) {
    struct task_struct___more *task = (struct task_struct___more *)ctx->args[0];
    struct process_key key;
    uint32_t tid;
    current_process(&key, &tid);
    const struct observed_process *known = bpf_map_lookup_elem(&observed, &key);
    if (!known || BPF_CORE_READ(task, signal, live.counter) != 0) {
        return 0;
    }
    struct process_key branch = known->branch;
    if (bpf_map_delete_elem(&observed, &key) != 0) {
        return 0;
    }
    struct notice *notice = bpf_ringbuf_reserve(&notices, sizeof *notice, 0);
    if (!notice) {
        return 0; /* the tool finds out by looking */
    }
    notice->parent = (struct process_key){};
    submit_notice(notice, NOTICE_END, &key, &branch);
    return 0;
}
