/* What each profile of the sandbox allows and forbids. Every case runs in a child: there is no way back. */
#include "util/pidfd.h"
#include "util/sandbox.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/nsfs.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "suite.h"

static char folder[] = "/tmp/eden-sandbox-XXXXXX";
static int folder_fd;

/* Address sanitizer reserves terabytes of addresses: no limit then. */
#if defined(__SANITIZE_ADDRESS__)
enum { MEMORY = 0 };
#else
enum { MEMORY = 64 << 20 };
#endif

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            dprintf(2, "line %d: %s (errno %d)\n", __LINE__, #condition, errno);                                       \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

/* Runs `what` in a child that has entered the profile. */
static void in_sandbox(enum sandbox_profile profile, void (*what)(void)) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct sandbox sandbox = {.profile = profile, .memory = MEMORY};
        if (profile == SANDBOX_OBSERVER) {
            sandbox.folder[sandbox.folders++] = folder_fd;
        }
        struct failure why = {0};
        if (!sandbox_enter(&sandbox, &why)) {
            dprintf(2, "%s\n", why.message);
            _exit(1);
        }
        what();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static bool is_refused(long result) { return result < 0 && (errno == EPERM || errno == EACCES); }

/* A call that an older kernel may lack: I2 of sandbox.c. */
static bool is_lacking(long result) { return result < 0 && (errno == ENOSYS || errno == EPERM); }

static bool is_unmapped(const void *at) { return at == MAP_FAILED && (errno == EPERM || errno == EACCES); }

static bool opens(const char *path, int flags) {
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

static char page[4096] __attribute__((aligned(4096)));

static void check_no_rights(void) {
    cap_t now = cap_get_proc(), none = cap_init();
    CHECK(now && none && cap_compare(now, none) == 0);
    char *const arguments[] = {NULL};
    CHECK(is_refused(execve("/bin/true", arguments, arguments)));
    CHECK(is_refused(syscall(SYS_ptrace, PTRACE_ATTACH, getppid(), 0, 0)));
    CHECK(is_refused(socket(AF_INET, SOCK_STREAM, 0)));
    CHECK(is_refused(syscall(SYS_fork)) && is_refused(fcntl(0, F_SETOWN, getppid())));
    CHECK(is_refused(fcntl(0, F_SETSIG, SIGKILL)) && is_refused(syscall(SYS_fcntl, 0, F_SETOWN | 1l << 32, getppid())));
    /* A terminal with O_ASYNC signals the shell, whose it is. */
    CHECK(is_refused(fcntl(0, F_SETFL, O_ASYNC)) && is_refused(fcntl(0, F_SETFL, 0)));
    CHECK(is_refused(syscall(SYS_fcntl, 0, F_SETFL | 1l << 32, 0)) && is_refused(ioctl(0, FIOASYNC, page)));
    CHECK(is_refused(prlimit(getppid(), RLIMIT_CORE, NULL, NULL)) &&
          prlimit(0, RLIMIT_CORE, NULL, (struct rlimit *)page) == 0);
    CHECK(is_refused(ioctl(0, TIOCSTI, "x")) && is_refused(utimensat(AT_FDCWD, "/", NULL, 0)));
    CHECK(is_refused(shmget(IPC_PRIVATE, 4096, 0600)) &&
          is_refused(syscall(SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, NULL)));
    CHECK(is_refused(syscall(SYS_bpf, BPF_PROG_LOAD, NULL, 0)));
}

static int shared_memory;

static void check_no_code(void) {
    enum { IO_URING_SETUP = 425, MAP_SHADOW_STACK = 453, READ_AND_RUN = PROT_READ | PROT_EXEC };
    struct iovec part = {page, 1};
    char *volatile empty = NULL;                             /* the compiler warns of what it knows to be NULL */
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC); /* an observer's */
    CHECK(is_unmapped(mmap(NULL, 4096, READ_AND_RUN, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)));
    CHECK(is_unmapped(mmap(NULL, 4096, READ_AND_RUN, MAP_SHARED | MAP_ANONYMOUS, -1, 0)));
    CHECK(is_unmapped(mmap(NULL, 4096, READ_AND_RUN | PROT_GROWSDOWN, MAP_PRIVATE, file, 0)));
    CHECK(is_refused(mprotect(page, 4096, READ_AND_RUN)));
    CHECK(is_refused(mprotect(page, 4096, READ_AND_RUN | PROT_GROWSDOWN)));
    CHECK(is_refused(syscall(SYS_pkey_mprotect, page, 4096, READ_AND_RUN, -1)));
    CHECK(is_unmapped(shmat(shared_memory, NULL, SHM_EXEC)) && is_refused(syscall(SYS_personality, 0x400000)));
    CHECK(is_refused(syscall(SYS_remap_file_pages, page, 4096, 0, 0, 0)));
    CHECK(is_refused(syscall(SYS_process_vm_writev, getpid(), &part, 1, &part, 1, 0)));
    CHECK(is_refused(syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0)) && is_refused(syscall(SYS_arch_prctl, 0x2003, 0)));
    CHECK(is_lacking(syscall(IO_URING_SETUP, 1, empty)) && is_lacking(syscall(MAP_SHADOW_STACK, 0, 4096, 0)));
    CHECK(!opens("/proc/self/mem", O_WRONLY) && !opens("/proc/self/mem", O_RDWR) && !opens("/proc/self/mem", 3));
}
TEST(no_page_becomes_executable) {
    shared_memory = shmget(IPC_PRIVATE, 4096, 0600);
    assert_true(shared_memory >= 0);
    in_sandbox(SANDBOX_PARSER, check_no_code);
    in_sandbox(SANDBOX_SERVER, check_no_code);
    in_sandbox(SANDBOX_OBSERVER, check_no_code);
    shmctl(shared_memory, IPC_RMID, NULL);
}

static void check_parser(void) {
    check_no_rights();
    CHECK(!opens("/etc/hostname", O_RDONLY) && !opens("/proc/self/status", O_RDONLY));
    CHECK(is_refused(kill(getppid(), SIGTERM)));
    char *memory = malloc(1 << 20);
    CHECK(memory);
    memset(memory, 1, 1 << 20);
    free(memory);
    /* Nor has it memory that counts as no address space of its own. */
    CHECK(is_refused(memfd_create("test", MFD_CLOEXEC)) && is_refused(fallocate(folder_fd, 0, 0, 4096)));
    CHECK(is_unmapped(mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0)));
    CHECK(is_unmapped(mmap(NULL, 4096, PROT_READ, MAP_SHARED_VALIDATE, folder_fd, 0)));
    if (MEMORY) {
        CHECK(mmap(NULL, (size_t)2 * MEMORY + 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    }
}
TEST(parser_opens_starts_and_signals_nothing) { in_sandbox(SANDBOX_PARSER, check_parser); }

/* A socket that listens, and one that can reach that. */
static int listening_fd, reaching_fd;
static struct sockaddr_in listening_at;

static void make_sockets(void) {
    socklen_t bytes = sizeof listening_at;
    listening_at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    listening_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    reaching_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(listening_fd >= 0 && reaching_fd >= 0);
    assert_int_equal(bind(listening_fd, (struct sockaddr *)&listening_at, bytes), 0);
    assert_int_equal(listen(listening_fd, 1), 0);
    assert_int_equal(getsockname(listening_fd, (struct sockaddr *)&listening_at, &bytes), 0);
}

static void close_sockets(void) {
    close(listening_fd);
    close(reaching_fd);
}

static void check_server(void) {
    const struct linger linger = {1, 100000};
    const int yes = 1;
    check_parser();
    const struct sockaddr *address = (struct sockaddr *)&listening_at;
    CHECK(is_refused(connect(reaching_fd, address, sizeof listening_at)) && is_refused(listen(reaching_fd, 1)));
    CHECK(is_refused(bind(reaching_fd, address, sizeof listening_at)));
    /* A socket that no longer listens could be connected. */
    CHECK(is_refused(shutdown(listening_fd, SHUT_RD)) && is_refused(shutdown(listening_fd, SHUT_RDWR)));
    CHECK(shutdown(reaching_fd, SHUT_WR) < 0 && errno == ENOTCONN);
    CHECK(is_refused(setsockopt(reaching_fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger)));
    CHECK(setsockopt(reaching_fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0);
    CHECK(setsockopt(reaching_fd, SOL_SOCKET, SO_RCVLOWAT, &yes, sizeof yes) == 0);
    CHECK(is_refused(setsockopt(reaching_fd, IPPROTO_TCP, SO_RCVLOWAT, &yes, sizeof yes)));
    CHECK(is_refused(prctl(PR_SET_PDEATHSIG, 0)));                                  /* it ends with its parent */
    CHECK(accept4(listening_fd, NULL, NULL, SOCK_NONBLOCK) < 0 && errno == EAGAIN); /* nobody is there */
}
TEST(server_accepts_and_reaches_nobody) {
    make_sockets();
    in_sandbox(SANDBOX_SERVER, check_server);
    close_sockets();
}

static void check_sending(void) {
    struct iovec part = {(char[]){"x"}, 1};
    struct mmsghdr message = {
        .msg_hdr = {.msg_name = &listening_at, .msg_namelen = sizeof listening_at, .msg_iov = &part, .msg_iovlen = 1}};
    const struct sockaddr *address = (struct sockaddr *)&listening_at;
    const int flags = MSG_FASTOPEN | MSG_NOSIGNAL;
    CHECK(is_refused(sendto(reaching_fd, "x", 1, flags, address, sizeof listening_at)));
    CHECK(is_refused(sendto(reaching_fd, "x", 1, MSG_NOSIGNAL, address, sizeof listening_at)));
    CHECK(is_refused(sendto(reaching_fd, "x", 1, flags, NULL, 0)));
    CHECK(is_refused(sendmsg(reaching_fd, &message.msg_hdr, flags)));
    CHECK(is_refused(sendmmsg(reaching_fd, &message, 1, flags)));
    /* A filter does not see the address: a standard file may be a datagram socket. */
    CHECK(is_refused(sendmsg(0, &message.msg_hdr, MSG_NOSIGNAL)) && is_refused(sendmmsg(0, &message, 1, MSG_NOSIGNAL)));
}
TEST(what_sends_connects_no_socket) {
    make_sockets();
    in_sandbox(SANDBOX_PARSER, check_sending);
    in_sandbox(SANDBOX_SERVER, check_sending);
    in_sandbox(SANDBOX_OBSERVER, check_sending);
    close_sockets();
}

/* An inspector is handed memory that is open to be written. */
TEST(what_writes_nothing_writes_through_no_descriptor) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct failure why = {0};
        static char word[] = "old";
        int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC), status = 1;
        struct iovec part = {(char[]){"new"}, sizeof word};
        CHECK(mem >= 0 && pwrite(mem, "old", sizeof word, (off_t)(uintptr_t)word) == sizeof word);
        if (sandbox_enter(&(struct sandbox){.profile = SANDBOX_PARSER, .writes_nothing = true}, &why)) {
            bool refused = is_refused(pwrite(mem, "new", sizeof word, (off_t)(uintptr_t)word)) &&
                           is_refused(pwritev(mem, &part, 1, (off_t)(uintptr_t)word)) &&
                           lseek(mem, (off_t)(uintptr_t)word, SEEK_SET) >= 0 &&
                           is_refused(write(mem, "new", sizeof word)) && is_refused(writev(mem, &part, 1)) &&
                           is_refused(sendfile(mem, mem, NULL, 1));
            status = !refused || strcmp(word, "old") != 0;
        }
        _exit(status);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void check_observer(void) {
    check_no_rights();
    CHECK(opens("/proc/self/status", O_RDONLY));
    /* Names in its folder, and nothing else. Without Landlock the file system's rights alone decide. */
    CHECK(renameat(folder_fd, "old", folder_fd, "new") == 0);
    if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0) {
        CHECK(openat(folder_fd, "new", O_RDWR) < 0);
        CHECK(!opens("/tmp/eden-sandbox-outside", O_RDWR | O_CREAT) && !opens("/etc/hostname", O_RDONLY));
    }
    CHECK(unlinkat(folder_fd, "new", 0) == 0);
    /* Root's own files take no capability for these. */
    CHECK(is_refused(fchmod(folder_fd, 0777)) || errno == EBADF);
    CHECK(is_refused(chmod(folder, 0777)) && is_refused(syscall(SYS_chown, folder, 1, 1)));
    CHECK(is_refused(kill(getppid(), 0)) && is_refused(syscall(SYS_tgkill, getppid(), getppid(), 0)));
    errno = 0;
    CHECK(syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, NULL, 0) < 0 && errno != EPERM);
    CHECK(is_refused(syscall(SYS_bpf, BPF_MAP_CREATE, NULL, 0)));
    CHECK(is_refused(syscall(SYS_bpf, BPF_LINK_CREATE, NULL, 0)));
    CHECK(is_refused(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0)));
    CHECK(is_refused(setuid(1)));
}

/* Operators append to a log by `>>`: a process that writes to it can not cut it, nor write over what stands there. */
static void check_log(void) {
    const off_t at = 0;
    int file = openat(folder_fd, "log", O_RDONLY | O_CLOEXEC);
    CHECK(is_refused(ftruncate(1, 0)) && is_refused(syscall(SYS_ftruncate, 1 | 1l << 32, 0)));
    CHECK(is_refused(pwrite(1, "new", 3, 0)) && is_refused(lseek(1, 0, SEEK_SET)));
    CHECK(is_refused(fallocate(1, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 3)));
    CHECK(is_refused(syscall(SYS_pwritev, 1, NULL, 0, 0, 0)) && is_refused(syscall(SYS_pwritev2, 1, NULL, 0, 0, 0, 0)));
    CHECK(is_refused(syscall(SYS_copy_file_range, file, &at, 1, &at, 1, 0)));
    CHECK(is_refused(syscall(SYS_splice, file, NULL, 1, &at, 1, 0)));
    CHECK(is_refused(dup(1)) && is_refused(dup2(1, 40)) && is_refused(dup3(1, 40, 0)));
    CHECK(is_refused(fcntl(1, F_DUPFD, 3)) && is_refused(fcntl(1, F_DUPFD_CLOEXEC, 3)));
    CHECK(write(1, "more", 4) == 4 && fcntl(1, F_GETFL) & O_APPEND);
    CHECK(is_unmapped(mmap(NULL, 4, PROT_READ, MAP_SHARED, file, 0)) && (file < 0 || close(file) == 0));
}
static int own_file;
static void check_own_file(void) {
    int other = dup(own_file);
    CHECK(pwrite(own_file, "old", 3, 0) == 3 && ftruncate(other, 1) == 0 && lseek(other, 1, SEEK_SET) == 1);
    CHECK(fcntl(own_file, F_DUPFD_CLOEXEC, 3) >= 3 && dup2(own_file, 1) == 1);
}
static void check_log_of(enum sandbox_profile profile) {
    char content[16] = "";
    fflush(stdout);
    int kept = dup(1), log = openat(folder_fd, "log", O_RDWR | O_CREAT | O_APPEND | O_TRUNC | O_CLOEXEC, 0600);
    int appending = openat(folder_fd, "log", O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_true(kept > 2 && log > 2 && appending > 2 && write(log, "old,", 4) == 4 && dup2(appending, 1) == 1);
    in_sandbox(profile, check_log);
    assert_int_equal(dup2(kept, 1), 1);
    assert_int_equal(pread(log, content, sizeof content - 1, 0), 8);
    assert_string_equal(content, "old,more");
    own_file = log;
    in_sandbox(profile, check_own_file);
    close(kept);
    close(log);
    close(appending);
    assert_int_equal(unlinkat(folder_fd, "log", 0), 0);
}
TEST(standard_files_are_only_appended_to) {
    check_log_of(SANDBOX_PARSER);
    check_log_of(SANDBOX_SERVER);
    check_log_of(SANDBOX_OBSERVER);
}

enum { INHERITED = 60 };
static void check_inherited(void) { CHECK(fcntl(INHERITED, F_GETFD) < 0 && errno == EBADF); }
TEST(descriptors_that_the_tool_was_started_with_are_closed) {
    assert_int_equal(dup2(folder_fd, INHERITED), INHERITED); /* not closed on exec, as what came through one */
    in_sandbox(SANDBOX_PARSER, check_inherited);
    in_sandbox(SANDBOX_SERVER, check_inherited);
    in_sandbox(SANDBOX_OBSERVER, check_inherited);
    close(INHERITED);
}

static bool is_allowed_ioctl(unsigned long command) {
    const unsigned long allowed[] = {TCGETS, TIOCGWINSZ, TCSETS, TCSETSW, TCSETSF, PIDFD_GET_CREDENTIALS};
    size_t i = 0;
    while (i < sizeof allowed / sizeof *allowed && allowed[i] != command) {
        i++;
    }
    return i < sizeof allowed / sizeof *allowed;
}
/* No descriptor: what is allowed fails for that alone. */
static void check_ioctl(unsigned long command) {
    errno = 0;
    CHECK(syscall(SYS_ioctl, -1, command, 0) < 0 && errno == (is_allowed_ioctl(command & 0xffffffff) ? EBADF : EPERM));
}
static void check_ioctls(void) {
    static const unsigned long changing[] = {FS_IOC_SETFLAGS,
                                             FS_IOC_FSSETXATTR,
                                             FS_IOC_ENABLE_VERITY,
                                             FS_IOC_SET_ENCRYPTION_POLICY,
                                             BTRFS_IOC_SUBVOL_CREATE,
                                             BTRFS_IOC_SNAP_CREATE,
                                             BTRFS_IOC_SNAP_DESTROY,
                                             BTRFS_IOC_SUBVOL_SETFLAGS,
                                             BTRFS_IOC_DEFRAG,
                                             FICLONE,
                                             FIFREEZE,
                                             FIOASYNC,
                                             FIONBIO,
                                             FIOSETOWN,
                                             TIOCSETD,
                                             TIOCSTI,
                                             TIOCLINUX,
                                             TIOCSCTTY,
                                             TIOCSWINSZ,
                                             0xffffffff};
    for (size_t i = 0; i < sizeof changing / sizeof *changing; i++) {
        check_ioctl(changing[i]);
        for (int bit = 0; bit < 32; bit++) { /* and each of those that begin or end alike */
            check_ioctl(changing[i] ^ 1ul << bit);
        }
    }
    for (unsigned long command = 0; command < 0x10000; command++) {
        check_ioctl(command);
        check_ioctl(command | 1ul << 32);
        check_ioctl(command | (NS_GET_PARENT & ~0xfffful));
        check_ioctl(command | 0xc0400000);
    }
}
TEST(observer_has_the_ioctls_that_it_needs) { in_sandbox(SANDBOX_OBSERVER, check_ioctls); }

/* What changes a file by a path, or by a descriptor that is open to read, and takes no right of root's. */
static void check_attributes(void) {
    enum {
        QUOTACTL_FD = 443,
        MOUNT_SETATTR = 442,
        FCHMODAT2 = 452,
        SETXATTRAT = 463,
        REMOVEXATTRAT = 466,
        OPEN_TREE_ATTR,
        FILE_GETATTR,
        FILE_SETATTR,
        NEWEST = 511
    };
    char path[sizeof folder + 8];
    int file = openat(folder_fd, "old", O_RDONLY | O_CLOEXEC), flags = 0;
    const long newer[] = {QUOTACTL_FD,   MOUNT_SETATTR,  FCHMODAT2,    SETXATTRAT,
                          REMOVEXATTRAT, OPEN_TREE_ATTR, FILE_SETATTR, NEWEST};
    snprintf(path, sizeof path, "%s/old", folder);
    CHECK(file >= 0);
    CHECK(is_refused(setxattr(path, "user.a", "1", 1, 0)) && is_refused(lsetxattr(path, "user.a", "1", 1, 0)) &&
          is_refused(fsetxattr(file, "user.a", "1", 1, 0)));
    CHECK(is_refused(removexattr(path, "user.a")) && is_refused(lremovexattr(path, "user.a")) &&
          is_refused(fremovexattr(file, "user.a")));
    CHECK(is_refused(truncate(path, 0)) && is_refused(creat(path, 0600)) && is_refused(open(path, O_RDONLY | O_TRUNC)));
    CHECK(is_refused(openat(folder_fd, "old", O_RDONLY | O_TRUNC)) && is_refused(openat(folder_fd, "old", O_WRONLY)));
    CHECK(is_refused(openat(folder_fd, "more", O_RDONLY | O_CREAT, 0600)));
    CHECK(is_refused(mkdirat(folder_fd, "more", 0700)) && is_refused(symlinkat("old", folder_fd, "more")));
    CHECK(is_refused(mknodat(folder_fd, "more", S_IFREG | 0600, 0)));
    CHECK(is_refused(fchmod(file, 0777)) && is_refused(fchown(file, 1, 1)) && is_refused(futimens(file, NULL)));
    CHECK(is_refused(ioctl(file, FS_IOC_SETFLAGS, &flags)) && is_refused(ioctl(file, FS_IOC_FSSETXATTR, &flags)));
    CHECK(is_refused(ioctl(file, 0x40086604, &flags))); /* ext4's own FS_IOC_SETVERSION */
    CHECK(is_refused(ioctl(file, FS_IOC_ENABLE_VERITY, &flags)));
    CHECK(is_refused(syscall(SYS_quotactl, 0, path, 0, NULL)) &&
          is_refused(syscall(SYS_open_by_handle_at, folder_fd, NULL, O_RDONLY)));
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++) {
        CHECK(is_lacking(syscall(newer[i], folder_fd, "", 0777, AT_EMPTY_PATH, 0)));
    }
    CHECK(is_refused(setpriority(PRIO_PROCESS, (id_t)getppid(), 19)));
    CHECK(is_refused(sched_setaffinity(getppid(), 0, NULL)));
    CHECK(unlinkat(folder_fd, "old", 0) == 0);
}
static void make_old(void) {
    int file = openat(folder_fd, "old", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    close(file);
}
TEST(observer_reads_proc_and_maps_but_starts_nothing) {
    make_old();
    in_sandbox(SANDBOX_OBSERVER, check_observer);
}
TEST(observer_changes_names_alone) {
    make_old();
    in_sandbox(SANDBOX_OBSERVER, check_attributes);
}

static void check_other_folder(void) {
    cap_t now = cap_get_proc();
    cap_flag_value_t has = CAP_CLEAR;
    CHECK(now && cap_get_flag(now, CAP_DAC_OVERRIDE, CAP_EFFECTIVE, &has) == 0 && has == CAP_SET);
    CHECK(cap_get_flag(now, CAP_BPF, CAP_PERMITTED, &has) == 0 && has == CAP_CLEAR);
    CHECK(cap_clear_flag(now, CAP_EFFECTIVE) == 0 && cap_get_flag(now, CAP_FOWNER, CAP_PERMITTED, &has) == 0);
    CHECK(has == CAP_CLEAR && unlinkat(folder_fd, "old", 0) == 0);
}
TEST(only_a_folder_of_another_user_takes_a_right) {
    if (geteuid() != 0) {
        skip();
    }
    make_old();
    assert_int_equal(chown(folder, 65534, 65534), 0);
    in_sandbox(SANDBOX_OBSERVER, check_other_folder);
    assert_int_equal(chown(folder, 0, 0), 0);
}

static void check_sticky_folder(void) { CHECK(unlinkat(folder_fd, "old", 0) == 0); /* somebody else's */ }
TEST(a_sticky_folder_of_another_user_takes_a_right) {
    if (geteuid() != 0) {
        skip();
    }
    make_old();
    assert_int_equal(fchownat(folder_fd, "old", 65533, 65533, 0), 0);
    assert_int_equal(chown(folder, 65534, 65534), 0);
    assert_int_equal(chmod(folder, 01777), 0);
    in_sandbox(SANDBOX_OBSERVER, check_sticky_folder);
    assert_int_equal(chown(folder, 0, 0), 0);
    assert_int_equal(chmod(folder, 0700), 0);
}

static bool maps_take_a_right(const void *context) {
    (void)context;
    cap_t now = cap_get_proc(), none = cap_init();
    cap_flag_value_t has = CAP_SET;
    CHECK(now && none && cap_get_flag(now, CAP_BPF, CAP_EFFECTIVE, &has) == 0 && has == CAP_CLEAR);
    return false;
}
TEST(maps_that_take_a_right_keep_it) {
    if (geteuid() != 0) {
        skip();
    }
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct failure why = {0};
        CHECK(sandbox_enter(&(struct sandbox){.profile = SANDBOX_OBSERVER, .can_use_maps = maps_take_a_right}, &why));
        cap_t now = cap_get_proc(), bpf = cap_init();
        const cap_value_t kept = CAP_BPF;
        CHECK(now && bpf && cap_set_flag(bpf, CAP_PERMITTED, 1, &kept, CAP_SET) == 0);
        CHECK(cap_set_flag(bpf, CAP_EFFECTIVE, 1, &kept, CAP_SET) == 0 && cap_compare(now, bpf) == 0);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static volatile sig_atomic_t signals;
static pid_t endless;

/* What begins to wait anew at each of a hundred signals waits for ever. */
static void on_signal(int number) {
    (void)number;
    if (++signals == 100) {
        kill(endless, SIGKILL);
    }
}
TEST(signals_do_not_lengthen_the_wait_for_an_end) {
    const struct itimerval often = {{.tv_usec = 100000}, {.tv_usec = 100000}}, never = {{0}, {0}};
    endless = fork();
    assert_true(endless >= 0);
    if (endless == 0) {
        for (;;) {
            pause();
        }
    }
    signal(SIGALRM, on_signal);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    sandbox_await_end(endless);
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_true(signals < 100);
    assert_int_equal(kill(endless, SIGKILL), 0);
    assert_int_equal(waitpid(endless, NULL, 0), endless);
}

static int make_folder(void **state) {
    (void)state;
    folder_fd = mkdtemp(folder) ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    return folder_fd < 0;
}

static int remove_folder(void **state) {
    (void)state;
    close(folder_fd);
    return rmdir(folder);
}

SUITE(make_folder, remove_folder)
