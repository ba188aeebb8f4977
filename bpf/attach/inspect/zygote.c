/* The zygote: starts workers and ends those that hang.
 *
 * 1. Purpose
 * Workers are forked again and again from a process that has all rights and none of the tool's state.
 *
 * 2. Terms
 * Worker: a process that answers requests over its socket, one at a time: the opener, the inspector or the detacher. To
 * hang: to wait in the kernel for a page, a lock or a file that a stranger holds; SIGKILL ends that at once, later, or
 * never.
 *
 * 3. Algorithm
 * The tool forks the zygote before it opens kernel objects, files or recordings. On request the zygote forks a worker,
 * and hands the tool the other end of the worker's socket. A worker that misses a deadline is killed, and the next
 * request gets a new one.
 *
 * 4. Invariants
 * I1. Zygote and workers hold no descriptor of the tool or its parent but their sockets: a worker that hangs for ever
 *     keeps no pipe open that somebody reads to its end.
 * I2. The zygote never waits for a worker; it reaps those that have ended.
 * I3. All end when the tool ends, however it ends: the zygote at the end of its socket, the workers with the zygote.
 * I4. The tool waits for the zygote before a deadline: no process of the machine can fork while one hangs in attaching.
 *
 * 5. Failure
 * At most ZYGOTE_MOST workers exist. If all of them hang, none is started. */
#include "attach/inspect/zygote.h"
#include "attach/inspect/packet.h"
#include "util/clock.h"
#include "util/sandbox.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum request { START, END };
#define ANSWER_NS 1000000000u

/* Leaves the process with one descriptor, `socket`, which gets number 3 (I1). */
static int keep_only(int socket) {
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++) {
        dup2(null, fd);
    }
    if (socket != 3) {
        dup2(socket, 3);
    }
    syscall(SYS_close_range, 4, ~0u, 0);
    fcntl(3, F_SETFD, FD_CLOEXEC);
    return 3;
}

/* Signals of the terminal are for the tool, which ends its helpers. */
static void ignore_signals(void) {
    static const int ignored[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) {
        signal(ignored[i], SIG_IGN);
    }
    signal(SIGCHLD, SIG_DFL);
}

/* What the workers need to open. The tool raises its own limit once its command has been forked. */
static void raise_files(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

struct children {
    pid_t pid[ZYGOTE_MOST];
    size_t count;
};

static void reap(struct children *children) {
    pid_t ended;
    while ((ended = waitpid(-1, NULL, WNOHANG)) > 0) {
        for (size_t i = 0; i < children->count; i++) {
            if (children->pid[i] == ended) {
                children->pid[i] = children->pid[--children->count];
                break;
            }
        }
    }
}

static _Noreturn void work(enum worker_kind kind, int socket, pid_t zygote, uint64_t control) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* I3 */
    if (getppid() != zygote) {
        _exit(1);
    }
    socket = keep_only(socket);
    if (kind == WORKER_OPENER) {
        opener_serve(socket, control);
    } else if (kind == WORKER_INSPECTOR) {
        inspector_serve(socket);
    } else {
        detacher_serve(socket);
    }
    _exit(0);
}

static void start(int socket, enum worker_kind kind, struct children *children, uint64_t control) {
    int pair[2] = {-1, -1};
    struct packet answer = {.kind = START, .error = EAGAIN};
    pid_t child = -1, self = getpid();
    int pidfd = -1;
    if (children->count < ZYGOTE_MOST && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) {
        child = fork();
        answer.error = child < 0 ? errno : 0;
    }
    if (child == 0) {
        work(kind, pair[1], self, control);
    }
    if (child > 0) {
        children->pid[children->count++] = child;
        answer.data = &child;
        answer.bytes = sizeof child;
        answer.descriptor[answer.descriptors++] = pair[0];
        pidfd = (int)syscall(SYS_pidfd_open, child, 0);
    }
    if (pidfd >= 0) {
        answer.descriptor[answer.descriptors++] = pidfd;
    }
    packet_send(socket, &answer, UINT64_MAX);
    if (pidfd >= 0) {
        close(pidfd);
    }
    if (pair[0] >= 0) {
        close(pair[0]);
        close(pair[1]);
    }
}

static void end(pid_t pid, const struct children *children) {
    for (size_t i = 0; i < children->count; i++) {
        if (children->pid[i] == pid) { /* not reaped: the id is still its own */
            kill(pid, SIGKILL);
        }
    }
}

static _Noreturn void run(int socket, uint64_t control) {
    static struct children children;
    struct packet request;
    prctl(PR_SET_NAME, "edenscope-start");
    ignore_signals();
    raise_files();
    socket = keep_only(socket);
    if (chdir("/") != 0) {
        _exit(1);
    }
    while (packet_receive(socket, &request, 0, UINT64_MAX)) {
        reap(&children);
        uint32_t value = 0;
        if (request.bytes == sizeof value) {
            memcpy(&value, request.data, sizeof value);
        }
        if (request.kind == START && value < WORKER_KINDS) {
            start(socket, (enum worker_kind)value, &children, control);
        } else if (request.kind == END) {
            end((pid_t)value, &children);
        }
        packet_clear(&request);
    }
    for (size_t i = 0; i < children.count; i++) {
        kill(children.pid[i], SIGKILL);
    }
    _exit(0);
}

bool zygote_start(struct zygote *zygote, uint64_t control, struct failure *why) {
    int pair[2];
    *zygote = (struct zygote){.socket = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return failure_set(why, 1, "cannot make a socket: %s", strerror(errno));
    }
    zygote->pid = fork();
    int error = errno;
    if (zygote->pid == 0) {
        run(pair[1], control);
    }
    close(pair[1]);
    if (zygote->pid < 0) {
        close(pair[0]);
        zygote->pid = 0;
        return failure_set(why, 1, "cannot fork: %s", strerror(error));
    }
    zygote->socket = pair[0];
    return true;
}

void zygote_end(struct zygote *zygote) {
    if (zygote->pid > 0) {
        close(zygote->socket);
        sandbox_await_end(zygote->pid);
    }
    *zygote = (struct zygote){.socket = -1};
}

/* Takes the worker that the zygote was asked for. */
static bool take_started(struct zygote *zygote, struct worker *worker, uint64_t end_ns) {
    struct packet answer;
    if (!packet_wait(zygote->socket, end_ns) || !packet_receive(zygote->socket, &answer, 2, now_ns() + ANSWER_NS)) {
        return false;
    }
    zygote->is_starting = false;
    if (answer.error == 0 && answer.descriptors >= 1 && answer.bytes == sizeof worker->pid) {
        memcpy(&worker->pid, answer.data, sizeof worker->pid);
        worker->socket = answer.descriptor[0];
        worker->pidfd = answer.descriptors > 1 ? answer.descriptor[1] : -1;
        answer.descriptors = 0;
    }
    int error = answer.error;
    packet_clear(&answer);
    errno = error;
    return worker->pid > 0;
}

bool zygote_start_worker(struct zygote *zygote, enum worker_kind kind, struct worker *worker, uint64_t end_ns) {
    uint32_t value = kind;
    const struct packet request = {.kind = START, .data = &value, .bytes = sizeof value};
    *worker = (struct worker){.socket = -1, .pidfd = -1};
    if (zygote->is_starting && !take_started(zygote, worker, end_ns) && zygote->is_starting) {
        return false;
    }
    if (worker->pid > 0 && zygote->starting == kind) {
        return true;
    }
    zygote_end_worker(zygote, worker);
    zygote->is_starting = packet_send(zygote->socket, &request, end_ns);
    zygote->starting = kind;
    return zygote->is_starting && take_started(zygote, worker, end_ns);
}

void zygote_end_worker(const struct zygote *zygote, struct worker *worker) {
    if (worker->pid > 0) {
        uint32_t value = (uint32_t)worker->pid;
        struct packet request = {.kind = END, .data = &value, .bytes = sizeof value};
        packet_send(zygote->socket, &request, now_ns());
        close(worker->socket);
        if (worker->pidfd >= 0) {
            close(worker->pidfd);
        }
    }
    *worker = (struct worker){.socket = -1, .pidfd = -1};
}
