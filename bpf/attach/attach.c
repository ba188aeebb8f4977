/* Loading the kernel program and attaching it to probes.
 *
 * 1. Algorithm
 * A uprobe_multi link (Linux 6.6) attaches all sites of a file in one call and detaches them at once. Without that link
 * type, each site gets a perf event through libbpf; detaching those takes the kernel up to 100 ms each.
 *
 * Both ways take the mmap lock of each process that maps the file, which a stranger can hold for ever. So workers
 * (inspect.c) make and close links, before a deadline. Perf events are made and closed by this process, without one.
 *
 * 2. Invariants
 * I1. The file is named by /proc/self/fd/N of a descriptor that is already open: the file that was read is the one
 *     attached to, whatever happens to its path, and from whichever mount namespace it came.
 *
 * 3. Failure
 * Most failures are a missing right or kernel feature: the message names it and what provides it, and the status is 2.
 */
#include "attach/attach.h"
#include "attach/inspect/inspect.h"
#include "attach/ring.h"
#include "kernel/life_kernel.h"
#include "util/clock.h"
#include "util/interrupt.h"
#include "util/kernel_version.h"
#include "util/message.h"
#include "util/sum.h"
#include "util/test_switch.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <eden.skel.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
    EVENTS_BYTES = 8 << 20, /* 8 MiB: some 30,000 events */
    /* Batches of lifetimes. A program that is recorded object by object sends a gigabyte a second, and the
     * reader has other things to do for tenths of one. */
    RECORDS_MOST_BYTES = 256 << 20,
    RECORDS_LEAST_BYTES = 16 << 20,
    RECORDS_MEMORY_PART = 16, /* of the machine's memory at most this part */
    OBJECTS_BYTES = 64 << 20, /* a collection moves hundreds of thousands of objects between two drains */
};

struct kernel_side {
    struct inspect *inspect;
    int link[INSPECT_LINKS]; /* let go, and not yet detached */
    size_t links;
    bool is_late;           /* it was said that the kernel takes its time to detach */
    uint64_t detach_end_ns; /* when waiting for it ends; UINT64_MAX: each time INSPECT_LINK_SECONDS */
    struct eden_bpf *skeleton;
    struct ring *events, *chunks, *notices; /* NULL: there is none */
    uint64_t lost[LOST_KINDS];              /* left in the buffers at the end */
    bool multi, descent;
    bool pauses;            /* causes of pauses are followed */
    bool faults;            /* among them, page faults */
    int timing;             /* as long as it is open, the kernel measures; -1: it does not */
    uint64_t rights;        /* the capabilities it began with, which the workers keep */
    uint32_t records_bytes; /* of the ring buffer of batches */
    struct heap_entry *heaps;
    struct histogram *histograms;
    void (*on_event)(void *context, const struct event *event);
    void *context;
    bool (*on_chunk)(void *context, const struct life_chunk *chunk);
    void *chunk_context;
    void (*on_notice)(void *context, const struct notice *notice);
    void *notice_context;
};

struct attachment {
    int link; /* uprobe_multi; -1: none */
    uint32_t count;
    struct bpf_link *links[]; /* perf events */
};

/* ---- what is missing -------------------------------------------------------------------------------------------- */

enum {
    CAP_DAC_OVERRIDE_ = 1,
    CAP_DAC_READ_SEARCH_ = 2,
    CAP_SYS_PTRACE_ = 19,
    CAP_SYS_ADMIN_ = 21,
    CAP_PERFMON_ = 38,
    CAP_BPF_ = 39
};

/* Those that it may use, a bit each: rights.h. */
static uint64_t capabilities(void) {
    FILE *status = fopen("/proc/self/status", "re");
    unsigned long long permitted = ~0ull;
    char line[256];
    while (status && fgets(line, sizeof line, status)) {
        if (sscanf(line, "CapPrm: %llx", &permitted) == 1) {
            break;
        }
    }
    if (status) {
        fclose(status);
    }
    return permitted;
}

static bool has(uint64_t capabilities, int number) { return capabilities >> number & 1; }

bool kernel_may_read_others(void) {
    uint64_t rights = capabilities();
    return has(rights, CAP_SYS_PTRACE_) &&
           (has(rights, CAP_DAC_OVERRIDE_) || has(rights, CAP_DAC_READ_SEARCH_)); /* /proc/PID/mem is the user's */
}

enum lockdown kernel_lockdown(void) {
    FILE *file = fopen("/sys/kernel/security/lockdown", "re");
    char line[128] = "";
    const bool is_read = file && fgets(line, sizeof line, file);
    if (file) {
        fclose(file);
    }
    return !is_read ? LOCKDOWN_UNKNOWN : strstr(line, "[confidentiality]") ? LOCKDOWN_FORBIDS : LOCKDOWN_NONE;
}

/* NULL: none. */
static const char *missing_right(uint64_t rights) {
    if (has(rights, CAP_SYS_ADMIN_)) {
        return NULL;
    }
    return !has(rights, CAP_BPF_) ? "CAP_BPF" : !has(rights, CAP_PERFMON_) ? "CAP_PERFMON" : NULL;
}

static bool fail_right(struct failure *why, const char *what, const char *missing) {
    return failure_set(why, 2,
                       "%s: %s is missing; run as root, or grant capabilities to a group (docs/edenscope.md, Rights): "
                       "setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_override+ep edenscope",
                       what, missing);
}

bool kernel_check_rights(struct failure *why) {
    const char *missing = missing_right(capabilities());
    return !missing || fail_right(why, "cannot load the kernel programs", missing);
}

static void explain(const struct kernel_side *kernel, struct failure *why, const char *what, int error) {
    const char *missing = missing_right(kernel->rights);
    struct utsname system;
    uname(&system);
    if (error == EMFILE || error == ENFILE) {
        failure_set(why, 2, "%s: %s (ulimit -n)", what, strerror(error));
    } else if (error == ENOSYS) {
        failure_set(why, 2, "%s: this kernel (%s) has no bpf() system call, or a seccomp filter hides it", what,
                    system.release);
    } else if (missing) {
        fail_right(why, what, missing);
    } else if (kernel_lockdown() == LOCKDOWN_FORBIDS) {
        failure_set(why, 2, "%s: kernel lockdown (confidentiality) forbids tracing; boot with lockdown=none", what);
    } else if (access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
        failure_set(why, 2,
                    "%s: /sys/kernel/btf/vmlinux is missing; mount -t sysfs sysfs /sys, or use a kernel with "
                    "CONFIG_DEBUG_INFO_BTF=y",
                    what);
    } else if (error == ENOMEM || error == ESRCH) { /* libbpf says so of types that it cannot read */
        failure_set(why, 2,
                    "%s: there is too little memory, or the kernel's types cannot be read (ulimit -d, ulimit -v)",
                    what);
    } else if (error == EPERM || error == EACCES) {
        failure_set(
            why, 2,
            "%s: %s; in a container, run it with --privileged, or with CAP_BPF, CAP_PERFMON and a seccomp profile that "
            "allows bpf() and perf_event_open()",
            what, strerror(error));
    } else {
        failure_set(why, 2, "%s: %s (kernel %s; edenscope needs 5.15 or later)", what, strerror(error), system.release);
    }
}

/* ---- loading ---------------------------------------------------------------------------------------------------- */

static int say(enum libbpf_print_level level, const char *format, va_list arguments) {
    if (level != LIBBPF_DEBUG) {
        message_lines(format, arguments);
    }
    return 0;
}

static int print_nothing(enum libbpf_print_level level, const char *format, va_list arguments) {
    (void)level, (void)format, (void)arguments;
    return 0;
}

/* A kernel that knows the link type looks at the path first and says that "/" is no file; others know no such type. */
static bool multi_works(int program) {
    uint64_t offset = 1;
    int link = multi_link_create(program, "/", &(struct multi_link_sites){.offset = &offset, .count = 1}, 0);
    int error = errno;
    if (link >= 0) {
        close(link);
        return false;
    }
    return error == EBADF;
}

/* Programs and maps that nobody asked for take no room in the kernel. */
static void set_up_lifetimes(struct kernel_side *kernel, const struct kernel_options *options) {
    struct eden_bpf *skeleton = kernel->skeleton;
    bpf_program__set_autoload(skeleton->progs.on_batch, options->lifetimes);
    bpf_program__set_autoload(skeleton->progs.on_sample, options->stacks);
    if (!options->lifetimes) {
        bpf_map__set_max_entries(skeleton->maps.life_profiles, 1);
    } else if (options->records) {
        skeleton->rodata->send_records = true;
        skeleton->rodata->records_bytes = kernel->records_bytes;
        bpf_map__set_max_entries(skeleton->maps.life_records, kernel->records_bytes);
    } else {
        bpf_map__set_max_entries(skeleton->maps.life_sums, LIFE_SUMS);
        bpf_map__set_max_entries(skeleton->maps.life_buckets, LIFE_BUCKETS);
    }
}

/* Attached to nothing before kernel_follow(). */
static void set_up_descent(const struct kernel_side *kernel, const struct kernel_options *options) {
    struct eden_bpf *skeleton = kernel->skeleton;
    bpf_program__set_autoload(skeleton->progs.on_tool, kernel->descent);
    bpf_program__set_autoload(skeleton->progs.on_fork, kernel->descent);
    bpf_program__set_autoload(skeleton->progs.on_exec, kernel->descent);
    bpf_program__set_autoload(skeleton->progs.on_exit, kernel->descent);
    skeleton->rodata->reads_headers = options->headers;
    skeleton->rodata->by_descent = kernel->descent && options->by_descent;
    skeleton->rodata->selects = kernel->descent ? options->selection.kind : SELECT_NONE;
    for (size_t i = 0; i < options->selection.names && i < KERNEL_NAMES; i++) {
        snprintf((char *)skeleton->rodata->selected_name[i], KERNEL_NAME, "%s", options->selection.name[i]);
    }
    if (!kernel->descent) {
        bpf_map__set_max_entries(skeleton->maps.observed, 1);
        bpf_map__set_max_entries(skeleton->maps.notices, 4096);
    }
}

static void set_up_pauses(const struct kernel_side *kernel) {
    bpf_program__set_autoload(kernel->skeleton->progs.on_switch, kernel->pauses);
    bpf_program__set_autoload(kernel->skeleton->progs.on_wakeup, kernel->pauses);
    bpf_program__set_autoload(kernel->skeleton->progs.on_program, kernel->pauses);
    bpf_program__set_autoload(kernel->skeleton->progs.on_thread_end, kernel->pauses);
    bpf_program__set_autoload(kernel->skeleton->progs.on_fault, kernel->faults);
    bpf_program__set_autoload(kernel->skeleton->progs.on_fault_end, kernel->faults);
    if (!kernel->pauses) {
        bpf_map__set_max_entries(kernel->skeleton->maps.pausing, 1);
    }
}

static bool select_cgroup(struct kernel_side *kernel, const struct kernel_options *options, struct failure *why) {
    const uint32_t first = 0, cgroup = (uint32_t)options->selection.cgroup;
    if (bpf_map_update_elem(bpf_map__fd(kernel->skeleton->maps.selected_cgroup), &first, &cgroup, BPF_ANY) != 0) {
        explain(kernel, why, "cannot select the control group", errno);
        return false;
    }
    return true;
}

static bool open_skeleton(struct kernel_side *kernel, const struct kernel_options *options, bool multi,
                          struct failure *why) {
    kernel->skeleton = eden_bpf__open();
    if (!kernel->skeleton) {
        explain(kernel, why, "cannot open the kernel program", errno);
        return false;
    }
    struct eden_bpf *skeleton = kernel->skeleton;
    if (multi) {
        bpf_program__set_expected_attach_type(skeleton->progs.on_probe, (enum bpf_attach_type)MULTI_LINK_TYPE);
        bpf_program__set_expected_attach_type(skeleton->progs.on_batch, (enum bpf_attach_type)MULTI_LINK_TYPE);
        bpf_program__set_expected_attach_type(skeleton->progs.on_sample, (enum bpf_attach_type)MULTI_LINK_TYPE);
    }
    set_up_lifetimes(kernel, options);
    set_up_descent(kernel, options);
    set_up_pauses(kernel);
    bool events = options->events || options->lifetimes; /* for the names of classes at least */
    skeleton->rodata->send_events = events;
    if (options->lifetimes && !options->events) {
        skeleton->rodata->send_mask = 1ull << EDEN_PROBE_heap__create | 1ull << EDEN_PROBE_class__define;
    }
    if (events) {
        uint32_t bytes = options->objects ? OBJECTS_BYTES : EVENTS_BYTES;
        skeleton->rodata->events_bytes = bytes;
        bpf_map__set_max_entries(skeleton->maps.events, bytes);
    }
    struct stat namespace;
    if (stat("/proc/self/ns/pid", &namespace) == 0 && namespace.st_ino != 0xEFFFFFFCu) {
        skeleton->rodata->pid_namespace_dev = namespace.st_dev;
        skeleton->rodata->pid_namespace_ino = namespace.st_ino;
    }
    int error = eden_bpf__load(skeleton);
    if (error == 0 && skeleton->rodata->selects == SELECT_CGROUP && !select_cgroup(kernel, options, why)) {
        return false;
    }
    if (error == -ENOMEM && options->records && kernel->records_bytes > RECORDS_LEAST_BYTES) {
        eden_bpf__destroy(skeleton);
        kernel->skeleton = NULL;
        kernel->records_bytes /= 2;
        return open_skeleton(kernel, options, multi, why);
    }
    if (error && kernel->faults) {
        eden_bpf__destroy(skeleton);
        kernel->skeleton = NULL;
        kernel->faults = false;
        return open_skeleton(kernel, options, multi, why);
    }
    if (error && (kernel->pauses || kernel->descent)) {
        eden_bpf__destroy(skeleton);
        kernel->skeleton = NULL;
        kernel->descent = kernel->descent && kernel->pauses;
        kernel->pauses = false;
        return open_skeleton(kernel, options, multi, why);
    }
    if (error) {
        explain(kernel, why,
                options->lifetimes && kernel_is_older(5, 17)
                    ? "cannot load the kernel programs (lifetimes need Linux 5.17 or later)"
                    : "cannot load the kernel programs",
                -error);
        eden_bpf__destroy(skeleton);
        kernel->skeleton = NULL;
        return false;
    }
    return true;
}

static void *map_memory(struct bpf_map *map, size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, bpf_map__fd(map), 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static bool on_sample(void *context, const void *data, size_t bytes) {
    const struct kernel_side *kernel = context;
    if (bytes >= sizeof(struct event) && kernel->on_event) {
        kernel->on_event(kernel->context, data);
    }
    return true;
}

static bool is_whole_chunk(const struct life_chunk *chunk, size_t bytes) {
    return bytes >= sizeof *chunk && (uint64_t)chunk->count * chunk->record_bytes <= bytes - sizeof *chunk;
}

static bool on_chunk(void *context, const void *data, size_t bytes) {
    const struct kernel_side *kernel = context;
    return !is_whole_chunk(data, bytes) || kernel->on_chunk(kernel->chunk_context, data);
}

static bool is_whole_notice(const struct notice *notice, size_t bytes) {
    bool is_long = notice->kind == NOTICE_EXEC || notice->kind == NOTICE_FOUND || notice->kind == NOTICE_PROGRAM;
    return bytes >= (is_long ? sizeof(struct exec_notice) : sizeof *notice);
}

static bool on_child(void *context, const void *data, size_t bytes) {
    const struct kernel_side *kernel = context;
    if (is_whole_notice(data, bytes)) {
        kernel->on_notice(kernel->notice_context, data);
    }
    return true;
}

static struct ring *open_ring(struct kernel_side *kernel, const struct bpf_map *map, ring_record_fn *on_record) {
    return ring_open(bpf_map__fd(map), bpf_map__max_entries(map), on_record, kernel);
}

static size_t heaps_bytes(void) { return sizeof(struct heap_entry) * KERNEL_HEAPS; }
static size_t histograms_bytes(void) { return sizeof(struct histogram) * KERNEL_HISTOGRAMS; }

/* A power of two. */
static uint32_t wanted_records_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t most = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / RECORDS_MEMORY_PART : 0;
    uint32_t bytes = RECORDS_MOST_BYTES;
    while (bytes > most && bytes > RECORDS_LEAST_BYTES) {
        bytes /= 2;
    }
    return bytes;
}

static bool load(struct kernel_side *kernel, const struct kernel_options *options, struct failure *why) {
    kernel->records_bytes = wanted_records_bytes();
    kernel->multi = !test_switch("EDENSCOPE_NO_MULTI");
    kernel->descent = !test_switch("EDENSCOPE_NO_DESCENT");
    kernel->pauses = options->pauses && !test_switch("EDENSCOPE_NO_PAUSES");
    /* Where no function of the kernel can be watched, all programs would be verified twice to find that out. */
    kernel->faults = kernel->pauses && !test_switch("EDENSCOPE_NO_FAULTS") &&
                     libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_TRACING, NULL) == 1;
    if (kernel->multi) {
        /* Where loading for a multi link fails, loading for perf events has the last word, and the better message. */
        kernel->multi =
            open_skeleton(kernel, options, true, why) && multi_works(bpf_program__fd(kernel->skeleton->progs.on_probe));
        if (!kernel->multi) {
            eden_bpf__destroy(kernel->skeleton);
            kernel->skeleton = NULL;
        }
    }
    if (!kernel->skeleton && !open_skeleton(kernel, options, false, why)) {
        return false;
    }
    kernel->heaps = map_memory(kernel->skeleton->maps.heaps, heaps_bytes());
    kernel->histograms = map_memory(kernel->skeleton->maps.histograms, histograms_bytes());
    if (!kernel->heaps || !kernel->histograms) {
        return failure_set(why, 1, "cannot map the kernel program's memory: %s", strerror(errno));
    }
    if (options->events || options->lifetimes) {
        kernel->events = open_ring(kernel, kernel->skeleton->maps.events, on_sample);
        if (!kernel->events) {
            return failure_set(why, 1, "cannot read the kernel program's events: %s", strerror(errno));
        }
    }
    if (options->lifetimes && options->records) {
        kernel->chunks = open_ring(kernel, kernel->skeleton->maps.life_records, on_chunk);
        if (!kernel->chunks) {
            return failure_set(why, 1, "cannot read the kernel program's records: %s", strerror(errno));
        }
    }
    if (options->verbose) {
        message_print("attaching by %s", kernel->multi ? "uprobe_multi links" : "perf events");
    }
    return true;
}

/* Whether what /proc says of processes, and the clocks, can be compared with what the kernel program says. */
static bool sees_as_kernel(struct failure *why) {
    char self[32] = "", offsets[256] = "";
    long long monotonic_s = 0, monotonic_ns = 0, boot_s = 0, boot_ns = 0;
    FILE *file = fopen("/proc/self/timens_offsets", "re");
    bool read =
        file && fread(offsets, 1, sizeof offsets - 1, file) > 0 &&
        sscanf(offsets, "monotonic %lld %lld boottime %lld %lld", &monotonic_s, &monotonic_ns, &boot_s, &boot_ns) == 4;
    if (file) {
        fclose(file);
    }
    if (readlink("/proc/self", self, sizeof self - 1) < 0) {
        return failure_set(why, 2, "/proc is not mounted; mount -t proc proc /proc");
    }
    if (atoi(self) != getpid()) {
        return failure_set(why, 2,
                           "/proc belongs to another PID namespace; mount it anew (unshare --pid --fork --mount-proc)");
    }
    if (read && (monotonic_s || monotonic_ns || boot_s || boot_ns)) {
        return failure_set(why, 2,
                           "the clocks of this time namespace differ from the kernel's; run edenscope outside it");
    }
    return true;
}

struct kernel_side *kernel_open(const struct kernel_options *options, struct inspect *inspect, struct failure *why) {
    struct kernel_side *kernel = calloc(1, sizeof *kernel);
    if (!kernel) {
        failure_set(why, 1, "out of memory");
        return NULL;
    }
    kernel->inspect = inspect;
    kernel->detach_end_ns = UINT64_MAX;
    kernel->timing = options->timed ? bpf_enable_stats(BPF_STATS_RUN_TIME) : -1;
    kernel->rights = capabilities();
    libbpf_set_print(options->verbose ? say : print_nothing);
    if (!sees_as_kernel(why) || !load(kernel, options, why)) {
        kernel_close(kernel);
        return NULL;
    }
    return kernel;
}

void kernel_close(struct kernel_side *kernel) {
    if (!kernel) {
        return;
    }
    kernel_detach(kernel);
    ring_close(kernel->events);
    ring_close(kernel->chunks);
    ring_close(kernel->notices);
    if (kernel->heaps) {
        munmap(kernel->heaps, heaps_bytes());
    }
    if (kernel->histograms) {
        munmap(kernel->histograms, histograms_bytes());
    }
    if (kernel->timing >= 0) {
        close(kernel->timing);
    }
    eden_bpf__destroy(kernel->skeleton);
    free(kernel);
}

bool kernel_programs_ns(const struct kernel_side *kernel, uint64_t *ns) {
    struct bpf_program *program;
    *ns = 0;
    bpf_object__for_each_program(program, kernel->skeleton->obj) {
        struct bpf_prog_info info = {0};
        uint32_t bytes = sizeof info;
        int fd = bpf_program__fd(program);
        if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &bytes) != 0) {
            return false;
        }
        *ns += info.run_time_ns;
    }
    return kernel->timing >= 0;
}

bool kernel_uses_multi(const struct kernel_side *kernel) { return kernel->multi; }

bool kernel_set_spec(struct kernel_side *kernel, uint32_t index, const struct probe_spec *spec, struct failure *why) {
    if (bpf_map_update_elem(bpf_map__fd(kernel->skeleton->maps.specs), &index, spec, BPF_ANY) != 0) {
        return failure_set(why, 1, "too many probe sites: at most %d", KERNEL_SPECS);
    }
    return true;
}

bool kernel_arm(struct kernel_side *kernel, uint32_t target, bool on, struct failure *why) {
    uint32_t value = on;
    if (bpf_map_update_elem(bpf_map__fd(kernel->skeleton->maps.armed), &target, &value, BPF_ANY) != 0) {
        return failure_set(why, 1, "too many processes and libraries: at most %d", KERNEL_TARGETS);
    }
    return true;
}

bool kernel_can_use_maps(const struct kernel_side *kernel) {
    uint32_t target = 0, value;
    int map = bpf_map__fd(kernel->skeleton->maps.armed);
    return bpf_map_lookup_elem(map, &target, &value) == 0 && bpf_map_update_elem(map, &target, &value, BPF_ANY) == 0;
}

void kernel_expect_twins(struct kernel_side *kernel) {
    __atomic_store_n(&kernel->skeleton->bss->has_twins, 1, __ATOMIC_RELAXED);
}

void kernel_observe_since(struct kernel_side *kernel, uint64_t ns) {
    __atomic_store_n(&kernel->skeleton->bss->observed_since_ns, ns, __ATOMIC_RELAXED);
}

/* ---- attaching -------------------------------------------------------------------------------------------------- */

static void explain_attach(const struct kernel_side *kernel, struct failure *why,
                           const struct attachment_request *request, int error) {
    char what[300];
    snprintf(what, sizeof what, "cannot attach to %.200s", request->name);
    if (request->pid) {
        snprintf(what, sizeof what, "cannot attach to %.200s in process %d", request->name, request->pid);
    }
    if (error == ESRCH) {
        failure_set(why, 1, "%s: the process has ended", what);
    } else if (error == ETIMEDOUT) {
        failure_set(why, 1, "%s: the kernel did not answer in %d s; a process that maps this file may be stuck", what,
                    INSPECT_LINK_SECONDS);
    } else if (error == EINTR) {
        failure_set(why, 128 + interrupt_last(), "%s: stopped", what);
    } else if (error == EPERM || error == EACCES || error == EMFILE || error == ENFILE) {
        explain(kernel, why, what, error);
    } else if (error == EINVAL) {
        failure_set(why, 1,
                    "%s: the kernel may still hold probes of an earlier content of this file, which has then been "
                    "rewritten in place: attach to a new file (cp to another name, and mv)",
                    what);
    } else {
        failure_set(why, 1, "%s: %s", what, strerror(error));
    }
}

static struct bpf_program *program_for(const struct kernel_side *kernel, const struct attachment_request *request) {
    const struct eden_bpf *skeleton = kernel->skeleton;
    struct bpf_program *const programs[KERNEL_PROGRAMS] = {
        [KERNEL_ON_PROBE] = skeleton->progs.on_probe,
        [KERNEL_ON_BATCH] = skeleton->progs.on_batch,
        [KERNEL_ON_SAMPLE] = skeleton->progs.on_sample,
        [KERNEL_ON_REQUESTED] = skeleton->progs.on_batch,
    };
    return programs[request->program];
}

/* False with errno, as attach_singly(). */
static bool attach_multi(struct kernel_side *kernel, const struct attachment_request *request,
                         struct attachment *attachment) {
    const struct multi_link_sites sites = {
        .offset = request->site, .semaphore = request->semaphore, .cookie = request->cookie, .count = request->count};
    attachment->link = inspect_attach(kernel->inspect, bpf_program__fd(program_for(kernel, request)), request->file,
                                      &sites, request->pid);
    return attachment->link >= 0;
}

static bool attach_singly(struct kernel_side *kernel, const struct attachment_request *request,
                          struct attachment *attachment) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", request->file->fd);
    for (uint32_t i = 0; i < request->count; i++) {
        LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = request->cookie[i],
                    .ref_ctr_offset = request->semaphore[i]);
        errno = 0;
        struct bpf_link *link = bpf_program__attach_uprobe_opts(
            program_for(kernel, request), request->pid ? request->pid : -1, path, request->site[i], &options);
        if (!link) {
            return false;
        }
        attachment->links[attachment->count++] = link;
    }
    return true;
}

struct attachment *kernel_attach(struct kernel_side *kernel, const struct attachment_request *request,
                                 struct failure *why) {
    struct attachment *attachment =
        calloc(1, sizeof *attachment + (kernel->multi ? 0 : request->count) * sizeof(struct bpf_link *));
    if (!attachment) {
        failure_set(why, 1, "out of memory");
        errno = ENOMEM;
        return NULL;
    }
    attachment->link = -1;
    if (!(kernel->multi ? attach_multi : attach_singly)(kernel, request, attachment)) {
        int error = errno;
        explain_attach(kernel, why, request, error);
        kernel_let_go(kernel, attachment);
        errno = error;
        return NULL;
    }
    return attachment;
}

uint32_t kernel_descriptors(const struct kernel_side *kernel, const struct attachment *attachment) {
    return !attachment ? 0 : kernel->multi ? 1 : attachment->count;
}

void kernel_detach(struct kernel_side *kernel) {
    if (kernel->links != 0 && !inspect_detach(kernel->inspect, kernel->link, kernel->links, kernel->detach_end_ns) &&
        !kernel->is_late) {
        kernel->is_late = true;
        message_print(
            "the kernel has not detached all probes yet and continues in the background: there are many, or a "
            "process that maps a file with probes is stuck");
    }
    kernel->links = 0;
}

void kernel_detach_by(struct kernel_side *kernel, uint64_t end_ns) { kernel->detach_end_ns = end_ns; }

void kernel_let_go(struct kernel_side *kernel, struct attachment *attachment) {
    if (!attachment) {
        return;
    }
    if (attachment->link >= 0) {
        kernel->link[kernel->links++] = attachment->link;
    }
    if (kernel->links == INSPECT_LINKS) {
        kernel_detach(kernel);
    }
    for (uint32_t i = 0; i < attachment->count; i++) {
        bpf_link__destroy(attachment->links[i]);
    }
    free(attachment);
}

/* ---- following -------------------------------------------------------------------------------------------------- */

/* Both or none: after a beginning without its end, all would count as a page fault. */
static bool attach_faults(struct eden_bpf *skeleton) {
    skeleton->links.on_fault_end = bpf_program__attach(skeleton->progs.on_fault_end);
    skeleton->links.on_fault = skeleton->links.on_fault_end ? bpf_program__attach(skeleton->progs.on_fault) : NULL;
    if (!skeleton->links.on_fault) {
        bpf_link__destroy(skeleton->links.on_fault_end);
        skeleton->links.on_fault_end = NULL;
    }
    return skeleton->links.on_fault;
}

/* From now on causes are known of pauses that begin. */
static void explain_pauses(struct kernel_side *kernel) {
    struct eden_bpf *skeleton = kernel->skeleton;
    if (!kernel->pauses) {
        return;
    }
    skeleton->links.on_switch = bpf_program__attach(skeleton->progs.on_switch);
    skeleton->links.on_wakeup = bpf_program__attach(skeleton->progs.on_wakeup);
    skeleton->links.on_program = bpf_program__attach(skeleton->progs.on_program);
    skeleton->links.on_thread_end = bpf_program__attach(skeleton->progs.on_thread_end);
    kernel->pauses = skeleton->links.on_switch && skeleton->links.on_wakeup && skeleton->links.on_program &&
                     skeleton->links.on_thread_end;
    kernel->faults = kernel->faults && kernel->pauses && attach_faults(skeleton);
    skeleton->bss->explains_faults = kernel->faults;
    __atomic_store_n(&skeleton->bss->explains_pauses, kernel->pauses, __ATOMIC_RELEASE);
}

bool kernel_follow(struct kernel_side *kernel, struct failure *why) {
    struct eden_bpf *skeleton = kernel->skeleton;
    explain_pauses(kernel);
    if (!kernel->descent) {
        return true;
    }
    LIBBPF_OPTS(bpf_test_run_opts, once);
    if (bpf_prog_test_run_opts(bpf_program__fd(skeleton->progs.on_tool), &once) != 0) {
        explain(kernel, why, "cannot run a kernel program", errno);
        return false;
    }
    skeleton->links.on_fork = bpf_program__attach(skeleton->progs.on_fork);
    skeleton->links.on_exec = bpf_program__attach(skeleton->progs.on_exec);
    skeleton->links.on_exit = bpf_program__attach(skeleton->progs.on_exit);
    if (skeleton->links.on_fork && skeleton->links.on_exec && skeleton->links.on_exit) {
        kernel->notices = open_ring(kernel, skeleton->maps.notices, on_child);
    }
    if (!kernel->notices) {
        explain(kernel, why, "cannot follow child processes", errno);
        return false;
    }
    return true;
}

bool kernel_explains_pauses(const struct kernel_side *kernel) { return kernel->pauses; }

bool kernel_explains_faults(const struct kernel_side *kernel) { return kernel->faults; }

bool kernel_follows(const struct kernel_side *kernel) { return kernel->descent; }

void kernel_observe(struct kernel_side *kernel, const struct process_key *process, const struct process_key *branch) {
    struct observed_process observed = {.is_root = !branch};
    if (branch) {
        observed.branch = *branch;
    }
    if (kernel->descent) { /* a process that the kernel knows already has its branch there */
        bpf_map_update_elem(bpf_map__fd(kernel->skeleton->maps.observed), process, &observed, BPF_NOEXIST);
    }
}

void kernel_know_file(struct kernel_side *kernel, const struct executed_file *file) {
    const uint64_t now = now_ns();
    bpf_map_update_elem(bpf_map__fd(kernel->skeleton->maps.executed), file, &now, BPF_ANY);
}

void kernel_forget(struct kernel_side *kernel, const struct process_key *process) {
    if (kernel->descent) {
        bpf_map_delete_elem(bpf_map__fd(kernel->skeleton->maps.observed), process);
    }
}

bool kernel_share(const struct kernel_side *kernel, const struct process_key *process, struct share *share) {
    return bpf_map_lookup_elem(bpf_map__fd(kernel->skeleton->maps.shares), process, share) == 0 &&
           share->lost_heaps + share->lost_hits + share->lost_events > 0;
}

bool kernel_shares(const struct kernel_side *kernel, struct share *all) {
    const int map = bpf_map__fd(kernel->skeleton->maps.shares);
    enum { AT_ONCE = 256 }; /* on the stack: where memory is short, the sums become no smaller */
    struct process_key key[AT_ONCE];
    struct share share[AT_ONCE];
    uint32_t next = 0;
    bool has_more = true;
    *all = (struct share){0};
    for (void *from = NULL; has_more; from = &next) {
        uint32_t count = AT_ONCE;
        has_more = bpf_map_lookup_batch(map, from, &next, key, share, &count, NULL) == 0;
        bool is_read = has_more || errno == ENOENT; /* that was all */
        for (uint32_t i = 0; is_read && i < count; i++) {
            sum_add(&all->lost_heaps, share[i].lost_heaps);
            sum_add(&all->lost_hits, share[i].lost_hits);
            sum_add(&all->lost_events, share[i].lost_events);
        }
    }
    return all->lost_heaps + all->lost_hits + all->lost_events > 0;
}

bool kernel_notices(struct kernel_side *kernel, uint64_t end_ns,
                    void (*on_notice)(void *context, const struct notice *notice), void *context) {
    kernel->on_notice = on_notice;
    kernel->notice_context = context;
    return ring_drain(kernel->notices, end_ns);
}

int kernel_notices_fd(const struct kernel_side *kernel) { return ring_fd(kernel->notices); }

/* ---- reading ---------------------------------------------------------------------------------------------------- */

const volatile struct heap_entry *kernel_heaps(const struct kernel_side *kernel, uint32_t *count) {
    uint32_t used = *(volatile uint32_t *)&kernel->skeleton->bss->heap_count;
    *count = used < KERNEL_HEAPS ? used : KERNEL_HEAPS;
    return kernel->heaps;
}

/* The kernel programs empty it (entries.bpf.c). From now on it is nobody's for the tool. */
void kernel_give_back(struct kernel_side *kernel, uint32_t number) {
    const struct eden_bpf *skeleton = kernel->skeleton;
    struct heap_entry entry = kernel->heaps[number];
    uint32_t live;
    entry.flags &= ~(uint32_t)HEAP_USED;
    if (bpf_map_lookup_elem(bpf_map__fd(skeleton->maps.live), &entry.key, &live) == 0 && live == number) {
        bpf_map_delete_elem(bpf_map__fd(skeleton->maps.live), &entry.key);
    }
    bpf_map_update_elem(bpf_map__fd(skeleton->maps.heaps), &number, &entry, BPF_ANY);
    bpf_map_update_elem(bpf_map__fd(skeleton->maps.given_back), NULL, &number, BPF_ANY);
}

uint64_t kernel_last_serial(const struct kernel_side *kernel) {
    return __atomic_load_n(&kernel->skeleton->bss->last_serial, __ATOMIC_ACQUIRE);
}

uint64_t kernel_new_serial(struct kernel_side *kernel) {
    return __atomic_add_fetch(&kernel->skeleton->bss->last_serial, 1, __ATOMIC_RELAXED);
}

const volatile struct histogram *kernel_histogram(const struct kernel_side *kernel, uint32_t index) {
    return index < KERNEL_HISTOGRAMS ? &kernel->histograms[index] : NULL;
}

/* Hits that the kernel skipped, because one came in the middle of another. */
static uint64_t missed(const struct bpf_program *program) {
    struct bpf_prog_info info = {0};
    uint32_t bytes = sizeof info;
    int fd = bpf_program__fd(program);
    return fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0 ? info.recursion_misses : 0;
}

uint64_t kernel_lost_kind(const struct kernel_side *kernel, enum lost_kind kind) {
    uint64_t sum = ((volatile uint64_t *)kernel->skeleton->bss->lost)[kind];
    sum_add(&sum, kernel->lost[kind]);
    return sum;
}

static bool is_of_batches(enum lost_kind kind) {
    return kind == LOST_LIVES || kind == LOST_BUCKETS || kind == LOST_RECORDS || kind == LOST_UNREADABLE ||
           kind == LOST_STRAYS || kind == LOST_STACKS;
}

uint64_t kernel_lost(const struct kernel_side *kernel, bool of_batches) {
    const struct eden_bpf *skeleton = kernel->skeleton;
    uint64_t sum = missed(of_batches ? skeleton->progs.on_batch : skeleton->progs.on_probe);
    sum_add(&sum, of_batches ? missed(skeleton->progs.on_sample) : 0);
    for (enum lost_kind kind = 0; kind < LOST_CHILDREN; kind++) {
        sum_add(&sum, is_of_batches(kind) == of_batches ? kernel_lost_kind(kernel, kind) : 0);
    }
    return sum;
}

int kernel_life_map(const struct kernel_side *kernel, enum kernel_life_map map) {
    const struct bpf_map *maps[] = {
        [KERNEL_LIFE_SUMS] = kernel->skeleton->maps.life_sums,
        [KERNEL_LIFE_BUCKETS] = kernel->skeleton->maps.life_buckets,
        [KERNEL_LIFE_PROFILES] = kernel->skeleton->maps.life_profiles,
    };
    return bpf_map__fd(maps[map]);
}

bool kernel_chunks(struct kernel_side *kernel, uint64_t end_ns,
                   bool (*handler)(void *context, const struct life_chunk *chunk), void *context) {
    kernel->on_chunk = handler;
    kernel->chunk_context = context;
    return ring_drain(kernel->chunks, end_ns);
}

int kernel_chunks_fd(const struct kernel_side *kernel) { return ring_fd(kernel->chunks); }

int kernel_events_fd(const struct kernel_side *kernel) { return ring_fd(kernel->events); }

bool kernel_events(struct kernel_side *kernel, uint64_t end_ns,
                   void (*on_event)(void *context, const struct event *event), void *context) {
    kernel->on_event = on_event;
    kernel->context = context;
    return ring_drain(kernel->events, end_ns);
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

static bool lose_event(void *context, const void *data, size_t bytes) {
    struct kernel_side *kernel = context;
    (void)data;
    kernel->lost[LOST_EVENTS] += bytes >= sizeof(struct event);
    return true;
}

static bool lose_chunk(void *context, const void *data, size_t bytes) {
    struct kernel_side *kernel = context;
    const struct life_chunk *chunk = data;
    if (is_whole_chunk(chunk, bytes)) {
        bool is_stack = chunk->kind == LIFE_BATCH_STACK;
        kernel->lost[is_stack ? LOST_STACKS : LOST_RECORDS] += is_stack ? 1 : chunk->count;
    }
    return true;
}

/* Ends of processes are found by looking. */
static bool lose_notice(void *context, const void *data, size_t bytes) {
    struct kernel_side *kernel = context;
    const struct notice *notice = data;
    kernel->lost[LOST_NOTICES] += is_whole_notice(notice, bytes) && notice->kind != NOTICE_END;
    return true;
}

void kernel_end(struct kernel_side *kernel) {
    ring_end(kernel->events);
    ring_end(kernel->chunks);
    ring_end(kernel->notices);
}

void kernel_lose_rest(struct kernel_side *kernel) {
    ring_count_rest(kernel->events, lose_event, kernel);
    ring_count_rest(kernel->chunks, lose_chunk, kernel);
    ring_count_rest(kernel->notices, lose_notice, kernel);
}
