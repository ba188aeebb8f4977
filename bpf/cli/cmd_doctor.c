/* `edenscope doctor`: what works on this machine with these rights, what does not, and what to do.
 *
 * Nothing is guessed: the kernel programs are loaded as the commands load them, and one is attached, to edenscope's own
 * file, where it is never hit. */
#include "attach/attach.h"
#include "attach/inspect/inspect.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "eden_version.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/message.h"
#include "util/style.h"
#include "util/text.h"
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

static const char usage[] = "doctor [--json] [-v]\n\n"
                            "  Says what works on this machine with these rights, what does not, and what to do.";

enum verdict { VERDICT_OK, VERDICT_LIMITED, VERDICT_FAILS };
static const char *const verdicts[] = {"ok", "limited", "fails"};

struct doctor {
    struct inspect *inspect;
    bool is_verbose;
    json_t *checks; /* NULL: they are printed */
    enum verdict worst;
};

__attribute__((format(printf, 4, 5))) static void report(struct doctor *doctor, enum verdict verdict, const char *what,
                                                         const char *format, ...) {
    char text[600], escaped[TEXT_GROWTH * sizeof text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    doctor->worst = verdict > doctor->worst ? verdict : doctor->worst;
    if (doctor->checks) {
        json_array_append_new(doctor->checks, json_pack("{s:s, s:s, s:o}", "check", what, "verdict", verdicts[verdict],
                                                        "text", json_text(text, sizeof text)));
    } else {
        static const enum style styles[] = {STYLE_GOOD, STYLE_WARNING, STYLE_BAD};
        printf("  %s%-8s%s %-20s %s\n", style_on(stdout, styles[verdict]), verdicts[verdict],
               style_off(stdout, styles[verdict]), what, text_escape(escaped, sizeof escaped, text, ""));
    }
}

/* ---- kernel programs -------------------------------------------------------------------------------------------- */

struct place {
    uintptr_t address;
    uint64_t offset;
};

static int find_offset(struct dl_phdr_info *info, size_t size, void *context) {
    struct place *place = context;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && place->address - start < header->p_memsz) {
            place->offset = place->address - start + header->p_offset;
            return 1;
        }
    }
    return 0;
}

static void check_attach(struct doctor *doctor, struct kernel_side *kernel) {
    struct place place = {.address = (uintptr_t)find_offset};
    const uint64_t none = 0;
    struct regular file = {.fd = -1};
    struct failure why;
    if (dl_iterate_phdr(find_offset, &place) == 0 ||
        !inspect_open_path(doctor->inspect, NULL, 0, "/proc/self/exe", NULL, false, &file)) {
        report(doctor, VERDICT_LIMITED, "attaching", "not tried: edenscope's own file cannot be opened: %s",
               strerror(errno));
        return;
    }
    const struct attachment_request request = {.file = &file,
                                               .name = "edenscope",
                                               .pid = getpid(),
                                               .site = &place.offset,
                                               .semaphore = &none,
                                               .cookie = &none,
                                               .count = 1,
                                               .program = KERNEL_ON_PROBE};
    struct attachment *attachment = kernel_attach(kernel, &request, &why);
    if (!attachment) {
        report(doctor, VERDICT_FAILS, "attaching", "%s", why.message);
    } else if (kernel_uses_multi(kernel)) {
        report(doctor, VERDICT_OK, "attaching", "all probes of a file at once");
    } else {
        report(doctor, VERDICT_LIMITED, "attaching",
               "probe by probe: from Linux 6.6 on, all probes of a file are attached at once");
    }
    kernel_let_go(kernel, attachment);
    kernel_detach(kernel);
    regular_close(&file);
}

static void check_programs(struct doctor *doctor) {
    struct failure why;
    struct kernel_side *kernel = kernel_open(
        &(struct kernel_options){.events = true, .headers = true, .pauses = true, .verbose = doctor->is_verbose},
        doctor->inspect, &why);
    if (!kernel) {
        report(doctor, VERDICT_FAILS, "stat, record, tune", "%s", why.message);
        return;
    }
    report(doctor, VERDICT_OK, "stat, record, tune", "their kernel programs load");
    check_attach(doctor, kernel);
    if (kernel_follow(kernel, &why) && kernel_follows(kernel)) {
        report(doctor, VERDICT_OK, "children", "followed by the kernel, however short they live");
    } else {
        report(doctor, VERDICT_LIMITED, "children",
               "looked for five times a second: those that live shorter may be missed, and are not counted");
    }
    if (kernel_explains_faults(kernel)) {
        report(doctor, VERDICT_OK, "causes of pauses",
               "distinguished: disk, other threads, CPU limits, sleep, page faults");
    } else if (kernel_explains_pauses(kernel)) {
        report(doctor, VERDICT_LIMITED, "causes of pauses",
               "distinguished: disk, other threads, CPU limits, sleep; the time of page faults is unknown: this kernel "
               "lets no program watch handle_mm_fault()");
    } else {
        report(doctor, VERDICT_LIMITED, "causes of pauses",
               "unknown: this kernel has no BTF or no raw tracepoints, or forbids them");
    }
    kernel_close(kernel);
}

static void check_lifetimes(struct doctor *doctor) {
    struct failure why;
    struct kernel_side *kernel = kernel_open(
        &(struct kernel_options){.lifetimes = true, .records = true, .stacks = true}, doctor->inspect, &why);
    report(doctor, kernel ? VERDICT_OK : VERDICT_FAILS, "lifetimes", "%s",
           kernel ? "its kernel programs load" : why.message);
    kernel_close(kernel);
}

/* ---- the kernel ------------------------------------------------------------------------------------------------- */

static void check_kernel(struct doctor *doctor) {
    if (access("/sys/kernel/btf/vmlinux", R_OK) == 0) {
        report(doctor, VERDICT_OK, "kernel types", "known (BTF): the kernel programs are fitted to this kernel");
    } else {
        report(doctor, VERDICT_LIMITED, "kernel types",
               "unknown: /sys/kernel/btf/vmlinux: %s; it takes sysfs, and a kernel with CONFIG_DEBUG_INFO_BTF",
               strerror(errno));
    }
    static const struct {
        enum verdict verdict;
        const char *text;
    } lockdown[] = {
        [LOCKDOWN_NONE] = {VERDICT_OK, "forbids nothing that edenscope does"},
        [LOCKDOWN_UNKNOWN] = {VERDICT_OK, "not known: the kernel has none, or securityfs is not mounted"},
        [LOCKDOWN_FORBIDS] = {VERDICT_LIMITED, "confidentiality: it forbids tracing; boot with lockdown=none"},
    };
    const enum lockdown found = kernel_lockdown();
    report(doctor, lockdown[found].verdict, "lockdown", "%s", lockdown[found].text);
}

/* ---- rights and limits ------------------------------------------------------------------------------------------ */

struct refused {
    struct inspect *inspect;
    size_t count, unread; /* unread: it is not known, in that time */
    int first;
};

/* Whether the process may be read, as `list` finds out. */
static void try_process(void *context, int pid) {
    struct refused *refused = context;
    struct target target;
    if (target_is_kernel_thread(pid)) {
        return;
    }
    if (inspect_process(refused->inspect, pid, inspect_owner(refused->inspect, pid), 0, false, &target)) {
        target_close(&target);
    } else if (errno == EACCES) {
        refused->first = refused->count++ == 0 ? pid : refused->first;
    } else if (errno != ESRCH && errno != ENOENT) { /* it has not ended */
        refused->unread++;
    }
}

static void check_rights(struct doctor *doctor) {
    enum { SHARE_NS = 30000000, TOTAL_NS = 1000000000 };
    struct refused refused = {.inspect = doctor->inspect};
    if (kernel_may_read_others()) {
        inspect_limit(doctor->inspect, SHARE_NS / 4, SHARE_NS, now_ns() + TOTAL_NS);
        target_processes(try_process, &refused);
        if (refused.count == 0 && refused.unread == 0) {
            report(doctor, VERDICT_OK, "other users", "their processes can be observed");
        } else if (refused.count == 0) {
            report(doctor, VERDICT_LIMITED, "other users",
                   "%zu process%s did not answer in time; edenscope list -p PID looks at one longer", refused.unread,
                   refused.unread == 1 ? "" : "es");
        } else {
            char which[64];
            snprintf(which, sizeof which, refused.count == 1 ? "process %d" : "%2$zu (the first is process %1$d)",
                     refused.first, refused.count);
            report(doctor, VERDICT_LIMITED, "other users",
                   "observable but for %s: protected even from root (security module, container?)", which);
        }
    } else {
        report(doctor, VERDICT_LIMITED, "other users",
               "only your own processes: others need CAP_SYS_PTRACE and CAP_DAC_OVERRIDE (run as root)");
    }
    if (access("/proc/self", F_OK) != 0) {
        report(doctor, VERDICT_FAILS, "/proc", "not mounted; mount -t proc proc /proc");
    } else if (target_are_hidden()) {
        report(doctor, VERDICT_LIMITED, "/proc", "mounted with hidepid: other users' processes need rights to be seen");
    } else {
        report(doctor, VERDICT_OK, "/proc", "shows all processes");
    }
}

static void check_limits(struct doctor *doctor) {
    enum { FILES = 1024 };
    struct rlimit files = {0}, memory = {0};
    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_AS, &memory);
    if (files.rlim_cur < FILES) {
        report(doctor, VERDICT_LIMITED, "ulimit -n", "%" PRIu64 " open files: set at least %d to follow many children",
               (uint64_t)files.rlim_cur, FILES);
    }
    if (memory.rlim_cur != RLIM_INFINITY) {
        report(doctor, VERDICT_LIMITED, "ulimit -v", "%" PRIu64 " KiB of address space: set unlimited",
               (uint64_t)memory.rlim_cur / 1024);
    }
}

/* edenscope does without. */
static void check_others(struct doctor *doctor) {
    if (access("/sys/kernel/tracing/uprobe_events", F_OK) == 0 ||
        access("/sys/kernel/debug/tracing/uprobe_events", F_OK) == 0) {
        report(doctor, VERDICT_OK, "perf, bpftrace", "tracefs is mounted");
    } else if (errno == EACCES) {
        report(doctor, VERDICT_LIMITED, "perf, bpftrace",
               "they need tracefs, edenscope does not; only root may see whether it is mounted");
    } else {
        report(doctor, VERDICT_LIMITED, "perf, bpftrace",
               "they need tracefs, edenscope does not; as root: mount -t tracefs tracefs /sys/kernel/tracing");
    }
}

int cmd_doctor(int argc, char **argv) {
    struct options options;
    struct failure why;
    struct utsname system = {0};
    int status;
    if (!options_parse(&options, ACCEPT_JSON, usage, argc, argv, &status)) {
        return status;
    }
    struct doctor doctor = {
        .is_verbose = options.verbose, .checks = options.json ? json_array() : NULL, .inspect = inspect_open(0, &why)};
    if (!doctor.inspect) {
        json_decref(doctor.checks);
        return failure_report(&why);
    }
    uname(&system);
    if (!doctor.checks) {
        printf("edenscope %s with libbpf %s on Linux %s (%s)\n\n", EDEN_VERSION, libbpf_version_string(),
               system.release, system.machine);
    }
    check_kernel(&doctor);
    check_programs(&doctor);
    check_lifetimes(&doctor);
    check_rights(&doctor);
    check_limits(&doctor);
    check_others(&doctor);
    inspect_close(doctor.inspect);
    if (doctor.checks) {
        json_t *object = json_pack("{s:s, s:s, s:s, s:o}", "version", EDEN_VERSION, "libbpf", libbpf_version_string(),
                                   "kernel", system.release, "checks", doctor.checks);
        bool printed = json_print_as(stdout, "edenscope/doctor/1", object);
        return !printed ? 1 : doctor.worst == VERDICT_FAILS ? 2 : 0;
    }
    printf(
        "\n%s\n",
        doctor.worst == VERDICT_FAILS
            ? "Not all commands work here; list, report, script, diff and simulate do, and what reads recordings (-i)."
        : doctor.worst == VERDICT_LIMITED ? "All commands work here, with the limits above."
                                          : "All commands work here.");
    return doctor.worst == VERDICT_FAILS ? 2 : 0;
}
