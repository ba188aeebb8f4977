/* The sandbox: how a process of the tool gives up its rights.
 *
 * 1. Purpose
 *
 * The tool often runs as root, and reads what strangers made: ELF files, memory of traced processes, recordings.
 * Whoever finds a mistake in a parser must not get root for it. So each parser runs in a process that has no rights.
 *
 * 2. Layers
 *
 * Each layer holds without the others:
 * - capabilities: none. An observer keeps CAP_DAC_OVERRIDE where its folder is another user's and closed to it,
 * CAP_FOWNER where it is another user's and sticky, and CAP_BPF where the kernel (before Linux 5.19) refuses others the
 * use of maps: the first and the last are tried, not assumed. The user id stays: strangers may signal processes of
 * their own id (such as nobody's), but not ours.
 * - no_new_privs: no program that is executed can give rights. (Execution is forbidden anyway.)
 * - limits: address space, no core file. Not dumpable: other processes of the same user can't trace it.
 * - Landlock (Linux 5.13): no file is opened, but an observer reads /proc, and reads and changes names below its
 * folders. From Linux 6.7 on no TCP socket is bound or connected.
 * - seccomp: PARSER and SERVER have a list of the system calls that are allowed, OBSERVER a list of those that are not,
 * and all a list of what none may do. Of ioctl(), fcntl() and bpf() OBSERVER has a list of commands that are allowed.
 *
 * 3. Invariants
 *
 * I1. After sandbox_enter() no descriptor can be had but by the profile's own calls, or from another process of the
 * tool. Of those that the tool was started with, the three standard files are left: all that the tool opens is closed
 * by an exec, and what is not came through one.
 *
 * I2. A call that is not allowed fails with EPERM; one that OBSERVER lacks because it is newer than Linux 5.0, with
 * ENOSYS. It ends no process: a library that tries a newer system call first must be able to fall back.
 *
 * I3. No page becomes executable, but more of a file whose pages are: mremap() maps more of the tool's own.
 *
 * I4. No socket is connected, whatever it was: neither by connect() nor by what sends (MSG_FASTOPEN, an address of
 * sendto()). Nor does PARSER or SERVER end the listening of one (SHUT_RD), after which it could be. The address of
 * sendmsg() is in memory, where no filter looks: it is refused for standard files. The tool's own sockets are pairs and
 * TCP's, which ignore it.
 *
 * I5. What PARSER and SERVER allocate counts as address space, so that its limit holds: they have no memory without a
 * mapping (memfd_create(), shared anonymous pages).
 *
 * I6. OBSERVER writes to what it has open to write, and changes names in its folders. It changes no other content, and
 * no attributes: root needs no capability for its own files. No profile cuts a standard file, writes over what is there
 * (without O_APPEND: what was there before the tool began), or changes its flags, which it shares with the operator.
 *
 * I7. No profile signals others, nor has the kernel signal them: by an owner of a descriptor, or by O_ASYNC, for which
 * a terminal gets its shell's job as owner unasked. Left is what a terminal sends to the process group that uses it in
 * the background.
 *
 * 4. Failure
 *
 * A kernel without seccomp gets an error. A kernel without Landlock (ENOSYS, or switched off: EOPNOTSUPP) does without
 * that layer. A container's own filter that forbids seccomp() gets an error, too.
 *
 * 5. References
 *
 * seccomp(2), landlock(7), capabilities(7); Provos, Friedl, Honeyman: Preventing Privilege Escalation, USENIX Security
 * 2003. */
#include "util/sandbox.h"
#include "util/pidfd.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/landlock.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Of Landlock's versions 3 and 4: Debian 12's header is older. */
#define ACCESS_TRUNCATE (1ull << 14)
#define ACCESS_BIND_AND_CONNECT 3ull /* TCP */
struct rules {
    uint64_t files, network;
};

static bool fail(struct failure *why, const char *what, int error) {
    return failure_set(why, 2, "cannot drop rights before reading untrusted input: %s: %s", what, strerror(error));
}

/* ---- capabilities and limits ------------------------------------------------------------------------------------ */

static bool keep(const cap_value_t *kept, int count, bool effective) {
    cap_t set = cap_init();
    bool good = set != NULL;
    if (good && count > 0) {
        good = cap_set_flag(set, CAP_PERMITTED, count, kept, CAP_SET) == 0 &&
               (!effective || cap_set_flag(set, CAP_EFFECTIVE, count, kept, CAP_SET) == 0);
    }
    good = good && cap_set_proc(set) == 0;
    int error = errno;
    cap_free(set);
    errno = error;
    return good;
}

static bool has(cap_value_t capability) {
    cap_flag_value_t value = CAP_CLEAR;
    cap_t now = cap_get_proc();
    bool found = now && cap_get_flag(now, capability, CAP_PERMITTED, &value) == 0 && value == CAP_SET;
    cap_free(now);
    return found;
}

/* With the rights that the process has at this moment. */
static bool may_write(const struct sandbox *sandbox) {
    for (size_t i = 0; i < sandbox->folders && i < SANDBOX_FOLDERS; i++) {
        if (faccessat(sandbox->folder[i], ".", W_OK | X_OK, AT_EACCESS) != 0) {
            return false;
        }
    }
    return true;
}

/* Whether a folder is one in which only its owner and a file's may rename and remove the file. */
static bool is_sticky(const struct sandbox *sandbox) {
    struct stat status;
    for (size_t i = 0; i < sandbox->folders && i < SANDBOX_FOLDERS; i++) {
        if (fstat(sandbox->folder[i], &status) != 0 || (status.st_mode & S_ISVTX && status.st_uid != geteuid())) {
            return true;
        }
    }
    return false;
}

static bool is_needed(cap_value_t capability, const struct sandbox *sandbox) {
    switch (capability) {
    case CAP_DAC_OVERRIDE:
        return !may_write(sandbox);
    case CAP_FOWNER:
        return is_sticky(sandbox);
    default:
        return sandbox->can_use_maps && !sandbox->can_use_maps(sandbox->context);
    }
}

/* First none is in force, and what does not work then decides which stay. */
static bool drop_capabilities(const struct sandbox *sandbox, struct failure *why) {
    static const cap_value_t candidates[] = {CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_BPF};
    enum { CANDIDATES = sizeof candidates / sizeof *candidates };
    cap_value_t kept[CANDIDATES];
    int had = 0, needed = 0;
    for (size_t i = 0; sandbox->profile == SANDBOX_OBSERVER && i < CANDIDATES; i++) {
        if (has(candidates[i]) && (geteuid() == 0 || candidates[i] == CAP_BPF)) {
            kept[had++] = candidates[i];
        }
    }
    if (!keep(kept, had, false)) {
        return fail(why, "capabilities", errno);
    }
    for (int i = 0; i < had; i++) {
        if (is_needed(kept[i], sandbox)) {
            kept[needed++] = kept[i];
        }
    }
    return keep(kept, needed, true) || fail(why, "capabilities", errno);
}

static bool set_limits(const struct sandbox *sandbox, struct failure *why) {
    const struct rlimit none = {0, 0};
    struct rlimit memory;
    if (setrlimit(RLIMIT_CORE, &none) != 0 || getrlimit(RLIMIT_AS, &memory) != 0) {
        return fail(why, "limits", errno);
    }
    if (sandbox->memory && (memory.rlim_max == RLIM_INFINITY || memory.rlim_max > sandbox->memory)) {
        memory = (struct rlimit){sandbox->memory, sandbox->memory};
        if (setrlimit(RLIMIT_AS, &memory) != 0) {
            return fail(why, "memory limit", errno);
        }
    }
    return prctl(PR_SET_DUMPABLE, 0) == 0 || fail(why, "prctl", errno);
}

/* What is not closed by an exec came from one: all that the tool opens is. */
static bool close_inherited(struct failure *why) {
    DIR *descriptors = opendir("/proc/self/fd");
    if (!descriptors) {
        return fail(why, "/proc/self/fd", errno);
    }
    for (const struct dirent *entry = readdir(descriptors); entry; entry = readdir(descriptors)) {
        const int fd = atoi(entry->d_name);
        if (fd > 2 && fcntl(fd, F_GETFD) == 0) {
            close(fd);
        }
    }
    closedir(descriptors);
    return true;
}

/* ---- Landlock --------------------------------------------------------------------------------------------------- */

static int landlock_create(const struct rules *rules, size_t bytes, uint32_t flags) {
    return (int)syscall(SYS_landlock_create_ruleset, rules, bytes, flags);
}

static bool allow_below(int rules, int folder, uint64_t access) {
    struct landlock_path_beneath_attr below = {.allowed_access = access, .parent_fd = folder};
    return syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0) == 0;
}

static bool allow_proc(int rules, uint64_t access) {
    int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool good = proc >= 0 && allow_below(rules, proc, access);
    if (proc >= 0) {
        close(proc);
    }
    return good;
}

static bool restrict_access(const struct sandbox *sandbox, struct failure *why) {
    int version = landlock_create(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version <= 0) {
        return version < 0 && (errno == ENOSYS || errno == EOPNOTSUPP) ? true : fail(why, "Landlock", errno);
    }
    const uint64_t read = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    const uint64_t names = LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR;
    const struct rules handled = {.files = read | names | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                           (version >= 3 ? ACCESS_TRUNCATE : 0) | LANDLOCK_ACCESS_FS_EXECUTE |
                                           LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
                                           LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                           LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM,
                                  .network = version >= 4 ? ACCESS_BIND_AND_CONNECT : 0};
    int rules = landlock_create(&handled, sizeof handled, 0);
    bool good = rules >= 0 && (sandbox->profile != SANDBOX_OBSERVER || allow_proc(rules, read));
    for (size_t i = 0; good && i < sandbox->folders && i < SANDBOX_FOLDERS; i++) {
        good = allow_below(rules, sandbox->folder[i], read | names);
    }
    good = good && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    int error = errno;
    if (rules >= 0) {
        close(rules);
    }
    return good || fail(why, "Landlock", error);
}

/* ---- seccomp ---------------------------------------------------------------------------------------------------- */

static const int parser_calls[] = {
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(pread64),
    SCMP_SYS(recvmsg),
    SCMP_SYS(recvfrom),
    SCMP_SYS(sendto),
    SCMP_SYS(sendmsg),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(close),
    SCMP_SYS(fstat),
    SCMP_SYS(fstatfs),
    SCMP_SYS(lseek),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
    SCMP_SYS(fcntl),
    SCMP_SYS(mmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(brk),
    SCMP_SYS(futex),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(tgkill),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(getpid),
    SCMP_SYS(getppid),
    SCMP_SYS(gettid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getrandom),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(uname),
    SCMP_SYS(sysinfo),
    SCMP_SYS(getrusage),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(rseq),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(membarrier),
    SCMP_SYS(capget),
    SCMP_SYS(wait4),
};

static const int server_calls[] = {
    SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(accept),
    SCMP_SYS(accept4),   SCMP_SYS(getsockopt), SCMP_SYS(getsockname), SCMP_SYS(getpeername),
};

static const int writer_calls[] = {
    SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(pwrite64), SCMP_SYS(ftruncate), SCMP_SYS(fsync), SCMP_SYS(fdatasync),
};

/* Of the calls since Linux 5.1, whose numbers are those of all machines, the tool needs these. The others are refused
 * by number: many change files (fchmodat2, file_setattr), and newer ones may. */
enum { FIRST_NEWER = 424, PAST_NEWER = 512 };
static const int observer_newer[] = {
    SCMP_SYS(pidfd_open), SCMP_SYS(close_range), SCMP_SYS(faccessat2), SCMP_SYS(epoll_pwait2), SCMP_SYS(futex_waitv),
};

/* What the tool itself never does once it is attached. */
static const int observer_never[] = {
    SCMP_SYS(chmod),
    SCMP_SYS(fchmod),
    SCMP_SYS(fchmodat),
    SCMP_SYS(chown),
    SCMP_SYS(lchown),
    SCMP_SYS(fchown),
    SCMP_SYS(fchownat),
    SCMP_SYS(setxattr),
    SCMP_SYS(lsetxattr),
    SCMP_SYS(fsetxattr),
    SCMP_SYS(removexattr),
    SCMP_SYS(lremovexattr),
    SCMP_SYS(fremovexattr),
    SCMP_SYS(fallocate),
    SCMP_SYS(pwritev),
    SCMP_SYS(pwritev2),
    SCMP_SYS(splice),
    SCMP_SYS(copy_file_range),
    SCMP_SYS(truncate),
    SCMP_SYS(creat),
    SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat),
    SCMP_SYS(symlink),
    SCMP_SYS(symlinkat),
    SCMP_SYS(utime),
    SCMP_SYS(utimes),
    SCMP_SYS(futimesat),
    SCMP_SYS(utimensat),
    SCMP_SYS(fork),
    SCMP_SYS(vfork),
    SCMP_SYS(clone),
    SCMP_SYS(socketpair),
    SCMP_SYS(shmget),
    SCMP_SYS(shmat),
    SCMP_SYS(shmctl),
    SCMP_SYS(semop),
    SCMP_SYS(semtimedop),
    SCMP_SYS(msgsnd),
    SCMP_SYS(msgrcv),
    SCMP_SYS(semget),
    SCMP_SYS(semctl),
    SCMP_SYS(msgget),
    SCMP_SYS(msgctl),
    SCMP_SYS(mq_open),
    SCMP_SYS(mq_unlink),
    SCMP_SYS(io_setup),
    SCMP_SYS(kill),
    SCMP_SYS(tkill),
    SCMP_SYS(rt_sigqueueinfo),
    SCMP_SYS(rt_tgsigqueueinfo),
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(setpriority),
    SCMP_SYS(sched_setparam),
    SCMP_SYS(sched_setscheduler),
    SCMP_SYS(sched_setaffinity),
    SCMP_SYS(sched_setattr),
    SCMP_SYS(ioprio_set),
    SCMP_SYS(migrate_pages),
    SCMP_SYS(move_pages),
    SCMP_SYS(fanotify_init),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(setns),
    SCMP_SYS(unshare),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(reboot),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    SCMP_SYS(acct),
    SCMP_SYS(quotactl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(keyctl),
    SCMP_SYS(iopl),
    SCMP_SYS(ioperm),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(adjtimex),
    SCMP_SYS(clock_adjtime),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    SCMP_SYS(mknod),
    SCMP_SYS(mknodat),
    SCMP_SYS(setuid),
    SCMP_SYS(setgid),
    SCMP_SYS(setreuid),
    SCMP_SYS(setregid),
    SCMP_SYS(setresuid),
    SCMP_SYS(setresgid),
    SCMP_SYS(setgroups),
    SCMP_SYS(setfsuid),
    SCMP_SYS(setfsgid),
    SCMP_SYS(personality),
    SCMP_SYS(pkey_mprotect),
    SCMP_SYS(remap_file_pages),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(modify_ldt),
    SCMP_SYS(socket),
    SCMP_SYS(connect),
    SCMP_SYS(bind),
    SCMP_SYS(listen),
    SCMP_SYS(kcmp),
    SCMP_SYS(lookup_dcookie),
    SCMP_SYS(syslog),
};

/* On maps that are open. */
static const int observer_bpf[] = {
    BPF_MAP_LOOKUP_ELEM,  BPF_MAP_UPDATE_ELEM,  BPF_MAP_DELETE_ELEM,    BPF_MAP_GET_NEXT_KEY,
    BPF_MAP_LOOKUP_BATCH, BPF_MAP_UPDATE_BATCH, BPF_OBJ_GET_INFO_BY_FD,
};

/* Others change attributes of files that are open to read, make folders, and type on the operator's terminal. */
static const int observer_ioctl[] = {
    /* isatty() */
    TCGETS,
    /* With TCGETS, a view that draws on the terminal; what it was set to stays. */
    TIOCGWINSZ,
    TCSETS,
    TCSETSW,
    TCSETSF,
    /* The user of a process. */
    (int)PIDFD_GET_CREDENTIALS,
};

/* Adds a rule for each call; the first error is kept. */
static int add_calls(scmp_filter_ctx filter, uint32_t action, const int *call, size_t count, int error) {
    for (size_t i = 0; i < count && error == 0; i++) {
        error = seccomp_rule_add(filter, action, call[i], 0);
    }
    return error;
}

/* What the server and its library set. Not SO_LINGER, by which the last close of a socket waits, and not filters. */
static int add_socket_options(scmp_filter_ctx filter, int error) {
    static const int option[][2] = {{IPPROTO_TCP, TCP_NODELAY}, {IPPROTO_TCP, TCP_CORK}, {SOL_SOCKET, SO_RCVLOWAT}};
    for (size_t i = 0; i < sizeof option / sizeof *option && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(setsockopt), 2,
                                 SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)option[i][0], 0),
                                 SCMP_A2(SCMP_CMP_EQ, (scmp_datum_t)option[i][1], 0));
    }
    return error;
}

/* Calls whose arguments decide. A filter sees no path: newfstatat(), by which glibc looks at descriptors, looks at any
 * file's size and times, too. */
static int add_harmless(scmp_filter_ctx filter, int error) {
    const struct {
        int call;
        struct scmp_arg_cmp when;
    } rules[] = {
        {SCMP_SYS(prlimit64), SCMP_A2(SCMP_CMP_EQ, 0, 0)},
        {SCMP_SYS(newfstatat), SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH)},
        {SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, TCGETS, 0)}, /* isatty() */
        {SCMP_SYS(shutdown), SCMP_A1(SCMP_CMP_EQ, SHUT_WR, 0)},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, rules[i].call, 1, rules[i].when);
    }
    return error;
}

/* What PARSER and SERVER may do, of what is not forbidden. */
static int fill_allowed(scmp_filter_ctx filter, const struct sandbox *sandbox) {
    int error = add_calls(filter, SCMP_ACT_ALLOW, parser_calls, sizeof parser_calls / sizeof *parser_calls, 0);
    if (!sandbox->writes_nothing) {
        error = add_calls(filter, SCMP_ACT_ALLOW, writer_calls, sizeof writer_calls / sizeof *writer_calls, error);
    }
    if (sandbox->profile == SANDBOX_SERVER) {
        error = add_calls(filter, SCMP_ACT_ALLOW, server_calls, sizeof server_calls / sizeof *server_calls, error);
        error = add_socket_options(filter, error);
    }
    return add_harmless(filter, error);
}

/* Whether a value of an argument begins as one of the list does, down to the bits of the mask. */
static bool begins_as_one(uint32_t value, uint32_t mask, const int *list, size_t count) {
    size_t i = 0;
    while (i < count && ((uint32_t)list[i] & mask) != value) {
        i++;
    }
    return i < count;
}

/* Refuses all values of an argument but those of a list; the kernel looks at 32 bits of it. Each other value has a
 * first bit in which it differs from what begins as it does: a rule for each such beginning. */
static int refuse_others(scmp_filter_ctx filter, int call, unsigned argument, const int *list, size_t count,
                         int error) {
    for (size_t i = 0; i < 32 * count && error == 0; i++) {
        const uint32_t bit = 1u << i % 32, mask = ~(bit - 1), value = ((uint32_t)list[i / 32] ^ bit) & mask;
        if (!begins_as_one(value, mask, list, count)) {
            error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 1,
                                     SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, mask, value));
        }
    }
    return error;
}

/* Standard files are the operator's: what is in a log stays, and a datagram goes to whom the socket is connected. So
 * there is no call that changes a file elsewhere than write() does (I6), none that sends to an address which a filter
 * does not see (I4), and none that gives such a descriptor another number. */
static int forbid_on_standard_files(scmp_filter_ctx filter, int error) {
    const struct {
        int call;
        struct scmp_arg_cmp when; /* .op is 0: always */
    } rules[] = {
        {.call = SCMP_SYS(ftruncate)},
        {.call = SCMP_SYS(pwrite64)},
        {.call = SCMP_SYS(sendmsg)},
        {.call = SCMP_SYS(sendmmsg)},
        {.call = SCMP_SYS(dup)},
        {.call = SCMP_SYS(dup2)},
        {.call = SCMP_SYS(dup3)},
        {SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, F_DUPFD)},
        {SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, F_DUPFD_CLOEXEC)},
        {SCMP_SYS(lseek), SCMP_A1(SCMP_CMP_NE, 0, 0)}, /* stdio asks where it is */
        {SCMP_SYS(lseek), SCMP_A2(SCMP_CMP_NE, SEEK_CUR, 0)},
    };
    for (size_t i = 0; i < 3 * sizeof rules / sizeof *rules && error == 0; i++) {
        const struct scmp_arg_cmp when[] = {SCMP_A0(SCMP_CMP_MASKED_EQ, UINT32_MAX, i % 3), rules[i / 3].when};
        error = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), rules[i / 3].call, when[1].op ? 2 : 1, when);
    }
    return error;
}

/* What fcntl() may do. Not F_SETOWN and its like: the kernel then sends the signals, to whom the caller may signal. Nor
 * F_SETFL: a terminal with O_ASYNC signals the shell, and without O_APPEND a log is written over. */
static const int fcntl_commands[] = {
    F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD,     F_SETFD,      F_GETFL,     F_GETLK,
    F_SETLK, F_OFD_GETLK,     F_OFD_SETLK, F_OFD_SETLKW, F_GET_SEALS,
};

/* What no profile does: connecting a socket (I4), mapping code (I3), or pages that change a file, or stay when they are
 * unmapped (I5, I6), looking at another process's limits, signalling another than itself, by abort(). */
static int fill_forbidden(scmp_filter_ctx filter) {
    const struct {
        int call;
        struct scmp_arg_cmp when;
    } rules[] = {
        {SCMP_SYS(sendto), SCMP_A4(SCMP_CMP_NE, 0, 0)},
        {SCMP_SYS(sendto), SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN)},
        {SCMP_SYS(sendmsg), SCMP_A2(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN)},
        {SCMP_SYS(sendmmsg), SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN)},
        {SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC)},
        {SCMP_SYS(mmap), SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_SHARED, MAP_SHARED)}, /* nor MAP_SHARED_VALIDATE */
        {SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC)},
        {SCMP_SYS(prlimit64), SCMP_A0(SCMP_CMP_NE, 0, 0)},
        {SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_NE, (scmp_datum_t)getpid(), 0)},
    };
    int error = 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), rules[i].call, 1, rules[i].when);
    }
    return forbid_on_standard_files(filter, refuse_others(filter, SCMP_SYS(fcntl), 1, fcntl_commands,
                                                          sizeof fcntl_commands / sizeof *fcntl_commands, error));
}

/* Files are opened to be read, and none is made or cut (I6): before Linux 6.2 Landlock does not know truncation. */
static int forbid_writing(scmp_filter_ctx filter, int error) {
    static const struct {
        int call;
        unsigned flags;
    } calls[] = {{SCMP_SYS(open), 1}, {SCMP_SYS(openat), 2}};
    static const struct {
        scmp_datum_t mask, value;
    } never[] = {
        {O_ACCMODE, O_WRONLY}, {O_ACCMODE, O_RDWR}, {O_ACCMODE, O_ACCMODE}, {O_CREAT, O_CREAT}, {O_TRUNC, O_TRUNC}};
    for (size_t i = 0; i < 2 * sizeof never / sizeof *never && error == 0; i++) {
        error =
            seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i % 2].call, 1,
                             SCMP_CMP(calls[i % 2].flags, SCMP_CMP_MASKED_EQ, never[i / 2].mask, never[i / 2].value));
    }
    return error;
}

static int forbid_newer(scmp_filter_ctx filter, int error) {
    for (int call = FIRST_NEWER; call < PAST_NEWER && error == 0; call++) {
        if (!begins_as_one((uint32_t)call, UINT32_MAX, observer_newer,
                           sizeof observer_newer / sizeof *observer_newer)) {
            error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), call, 0);
        }
    }
    return error;
}

static int fill_observer(scmp_filter_ctx filter) {
    int error = fill_forbidden(filter);
    error =
        add_calls(filter, SCMP_ACT_ERRNO(EPERM), observer_never, sizeof observer_never / sizeof *observer_never, error);
    error = forbid_writing(filter, forbid_newer(filter, error));
    error = refuse_others(filter, SCMP_SYS(bpf), 0, observer_bpf, sizeof observer_bpf / sizeof *observer_bpf, error);
    return refuse_others(filter, SCMP_SYS(ioctl), 1, observer_ioctl, sizeof observer_ioctl / sizeof *observer_ioctl,
                         error);
}

/* Puts a filter in force, and releases it. The library forgets the state of the filter where it must; what remains is
 * the kernel's error. */
static bool load(scmp_filter_ctx filter, int error, struct failure *why) {
    error = error ? error : seccomp_load(filter);
    seccomp_release(filter);
    return error == 0 || fail(why, "seccomp", -error);
}

/* PARSER and SERVER have two filters, and the kernel asks both: one can only have exceptions to one action. */
static bool filter_calls(const struct sandbox *sandbox, struct failure *why) {
    bool observer = sandbox->profile == SANDBOX_OBSERVER;
    scmp_filter_ctx forbidden = seccomp_init(SCMP_ACT_ALLOW);
    if (!forbidden) {
        return fail(why, "seccomp", ENOMEM);
    }
    if (!load(forbidden, observer ? fill_observer(forbidden) : fill_forbidden(forbidden), why)) {
        return false;
    }
    if (observer) {
        return true;
    }
    scmp_filter_ctx allowed = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!allowed) {
        return fail(why, "seccomp", ENOMEM);
    }
    return load(allowed, fill_allowed(allowed, sandbox), why);
}

bool sandbox_enter(const struct sandbox *sandbox, struct failure *why) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return fail(why, "no_new_privs", errno);
    }
    return close_inherited(why) && restrict_access(sandbox, why) && set_limits(sandbox, why) &&
           drop_capabilities(sandbox, why) && filter_calls(sandbox, why);
}

void sandbox_await_end(pid_t child) {
    struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN};
    sigset_t all;
    sigfillset(&all); /* a signal would begin the second anew */
    ppoll(&ended, 1, &(struct timespec){.tv_sec = 1}, &all);
    waitpid(child, NULL, WNOHANG);
    if (ended.fd >= 0) {
        close(ended.fd);
    }
}
