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
 * - seccomp: PARSER and SERVER have a list of the system calls that are allowed, OBSERVER a list of those that are not.
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
 * I4. No socket is connected, whatever it was: neither by connect() nor by what sends (an address, MSG_FASTOPEN). Nor
 * does PARSER or SERVER end the listening of one (SHUT_RD), after which it could be.
 *
 * I5. What PARSER and SERVER allocate counts as address space, so that its limit holds: they have no memory without a
 * mapping (memfd_create(), shared anonymous pages).
 *
 * I6. OBSERVER writes to what it has open to write, and changes names in its folders. It changes no other content, and
 * no attributes: root needs no capability for its own files.
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
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
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
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(close),
    SCMP_SYS(fstat),
    SCMP_SYS(fstatfs),
    SCMP_SYS(lseek),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
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

/* Adds a rule for each call; the first error is kept. */
static int add_calls(scmp_filter_ctx filter, uint32_t action, const int *call, size_t count, int error) {
    for (size_t i = 0; i < count && error == 0; i++) {
        error = seccomp_rule_add(filter, action, call[i], 0);
    }
    return error;
}

/* No page is executable (I3), and none stays when it is unmapped, as those of a shared object do (I5). */
static int add_mappings(scmp_filter_ctx filter, int error) {
    const struct scmp_arg_cmp plain = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    const struct scmp_arg_cmp private = SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_SHARED_VALIDATE, MAP_PRIVATE);
    error = error ? error : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, plain, private);
    return error ? error : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, plain);
}

/* Sends to whom a socket is connected (I4). */
static int add_sending(scmp_filter_ctx filter, int error) {
    const struct scmp_arg_cmp plain = SCMP_A2(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0);
    error = error ? error : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sendmsg), 1, plain);
    error = error ? error
                  : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sendto), 2,
                                     SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0), SCMP_A4(SCMP_CMP_EQ, 0, 0));
    return error ? error
                 : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(shutdown), 1, SCMP_A1(SCMP_CMP_EQ, SHUT_WR, 0));
}

/* What the library of the server sets. Not SO_LINGER, by which the last close of a socket waits, and not filters. */
static int add_socket_options(scmp_filter_ctx filter, int error) {
    static const int option[] = {TCP_NODELAY, TCP_CORK};
    for (size_t i = 0; i < sizeof option / sizeof *option && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(setsockopt), 2, SCMP_A1(SCMP_CMP_EQ, IPPROTO_TCP, 0),
                                 SCMP_A2(SCMP_CMP_EQ, (scmp_datum_t)option[i], 0));
    }
    return error;
}

/* What fcntl() may do. Not F_SETOWN and its like: the kernel then sends the signals, to whom the caller may signal. */
static const int parser_fcntl[] = {
    F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD,     F_SETFD,     F_GETFL,      F_SETFL,
    F_GETLK, F_SETLK,         F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_GET_SEALS,
};
static const int observer_never_fcntl[] = {F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLEASE, F_NOTIFY};
enum { EXT4_SETVERSION = 0x40086604 };

/* FIOSETOWN and SIOCSPGRP likewise; TIOCSTI and TIOCLINUX type on the operator's terminal; the others change attributes
 * of a file that is open to read. */
static const int observer_never_ioctl[] = {
    0x8901,
    0x8902,
    0x5412,
    0x541c,
    FS_IOC_SETFLAGS,
    FS_IOC_SETVERSION,
    EXT4_SETVERSION,
    FS_IOC_FSSETXATTR,
    FS_IOC_ENABLE_VERITY,
};

/* The kernel looks at 32 bits of a command. */
static int add_commands(scmp_filter_ctx filter, uint32_t action, int call, const int *command, size_t count,
                        int error) {
    for (size_t i = 0; i < count && error == 0; i++) {
        error = seccomp_rule_add(filter, action, call, 1,
                                 SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, (scmp_datum_t)command[i]));
    }
    return error;
}

/* Calls whose arguments decide: looking at limits, at one's own descriptors and terminals, aborting oneself. */
static int add_harmless(scmp_filter_ctx filter, int error) {
    const struct {
        int call;
        struct scmp_arg_cmp when;
    } rules[] = {
        {SCMP_SYS(prlimit64), SCMP_A2(SCMP_CMP_EQ, 0, 0)},
        {SCMP_SYS(newfstatat), SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH)},
        {SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, 0x5401, 0)}, /* TCGETS: isatty() */
        {SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0)},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, rules[i].call, 1, rules[i].when);
    }
    return error;
}

static int fill_allowed(scmp_filter_ctx filter, const struct sandbox *sandbox) {
    int error = add_calls(filter, SCMP_ACT_ALLOW, parser_calls, sizeof parser_calls / sizeof *parser_calls, 0);
    if (!sandbox->writes_nothing) {
        error = add_calls(filter, SCMP_ACT_ALLOW, writer_calls, sizeof writer_calls / sizeof *writer_calls, error);
    }
    if (sandbox->profile == SANDBOX_SERVER) {
        error = add_calls(filter, SCMP_ACT_ALLOW, server_calls, sizeof server_calls / sizeof *server_calls, error);
        error = add_socket_options(filter, error);
    }
    error = add_commands(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), parser_fcntl,
                         sizeof parser_fcntl / sizeof *parser_fcntl, error);
    return add_harmless(filter, add_mappings(filter, add_sending(filter, error)));
}

/* No socket that came with standard input or output is connected elsewhere (I4). */
static int forbid_addresses(scmp_filter_ctx filter, int error) {
    const struct {
        int call;
        struct scmp_arg_cmp when;
    } rules[] = {
        {SCMP_SYS(sendto), SCMP_A4(SCMP_CMP_NE, 0, 0)},
        {SCMP_SYS(sendto), SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN)},
        {SCMP_SYS(sendmsg), SCMP_A2(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN)},
        {SCMP_SYS(sendmmsg), SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN)},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules && error == 0; i++) {
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), rules[i].call, 1, rules[i].when);
    }
    return error;
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

static bool is_among(int number, const int *list, size_t count) {
    size_t i = 0;
    while (i < count && list[i] != number) {
        i++;
    }
    return i < count;
}

static int forbid_newer(scmp_filter_ctx filter, int error) {
    for (int call = FIRST_NEWER; call < PAST_NEWER && error == 0; call++) {
        if (!is_among(call, observer_newer, sizeof observer_newer / sizeof *observer_newer)) {
            error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), call, 0);
        }
    }
    return error;
}

/* bpf() has one list of what is allowed: each command below the largest that is not on it gets a rule, as all above. */
static int fill_forbidden(scmp_filter_ctx filter) {
    const uint32_t refuse = SCMP_ACT_ERRNO(EPERM);
    int error = add_calls(filter, refuse, observer_never, sizeof observer_never / sizeof *observer_never, 0);
    error = forbid_writing(filter, forbid_newer(filter, forbid_addresses(filter, error)));
    error = add_commands(filter, refuse, SCMP_SYS(fcntl), observer_never_fcntl,
                         sizeof observer_never_fcntl / sizeof *observer_never_fcntl, error);
    error = add_commands(filter, refuse, SCMP_SYS(ioctl), observer_never_ioctl,
                         sizeof observer_never_ioctl / sizeof *observer_never_ioctl, error);
    /* Its own limits, and signals to itself: abort(). */
    const struct scmp_arg_cmp other = SCMP_A0(SCMP_CMP_NE, 0, 0);
    error = error ? error : seccomp_rule_add(filter, refuse, SCMP_SYS(prlimit64), 1, other);
    const struct scmp_arg_cmp others = SCMP_A0(SCMP_CMP_NE, (scmp_datum_t)getpid(), 0);
    error = error ? error : seccomp_rule_add(filter, refuse, SCMP_SYS(tgkill), 1, others);
    const int commands = 64;
    for (int i = 0; i < commands && error == 0; i++) {
        if (!is_among(i, observer_bpf, sizeof observer_bpf / sizeof *observer_bpf)) {
            error = seccomp_rule_add(filter, refuse, SCMP_SYS(bpf), 1, SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)i, 0));
        }
    }
    error = error ? error : seccomp_rule_add(filter, refuse, SCMP_SYS(bpf), 1, SCMP_A0(SCMP_CMP_GE, commands, 0));
    const struct scmp_arg_cmp executable = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC);
    error = error ? error : seccomp_rule_add(filter, refuse, SCMP_SYS(mmap), 1, executable);
    return error ? error : seccomp_rule_add(filter, refuse, SCMP_SYS(mprotect), 1, executable);
}

static bool filter_calls(const struct sandbox *sandbox, struct failure *why) {
    bool observer = sandbox->profile == SANDBOX_OBSERVER;
    scmp_filter_ctx filter = seccomp_init(observer ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM));
    if (!filter) {
        return fail(why, "seccomp", ENOMEM);
    }
    /* The library forgets the state of the filter where it must; what remains is the kernel's error. */
    int error = observer ? fill_forbidden(filter) : fill_allowed(filter, sandbox);
    error = error ? error : seccomp_load(filter);
    seccomp_release(filter);
    return error == 0 || fail(why, "seccomp", -error);
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
