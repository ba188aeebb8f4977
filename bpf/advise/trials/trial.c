/* One run of a command, measured and left without a trace: by a supervisor of its own (supervisor.c), a forked child
 * that owns what the command starts. Here it is started, interrupted, and its result is received. It ends the trial
 * when its control pipe is closed: by us, on an interrupt, or by the kernel, however we end. */
#include "advise/trials/trial.h"
#include "advise/trials/supervisor.h"
#include "util/clock.h"
#include "util/interrupt.h"
#include "util/message.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_MS = 100 }; /* a signal just before poll() must not be waited out */

/* A supervisor has 60 s to end the trial; one that was stopped does not come to it. */
static const uint64_t MOST_END_NS = 90000000000u;

static void close_fd(int *fd) {
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

/* Returns the supervisor's pid, with our ends of the two pipes; -1, with errno. */
static pid_t start(struct supervisor *supervisor, int *control, int *result) {
    int to[2] = {-1, -1}, from[2] = {-1, -1};
    pid_t pid = -1;
    if (pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0) {
        fflush(NULL);
        pid = fork();
        if (pid == 0) {
            close(to[1]), close(from[0]);
            supervisor->control = to[0];
            supervisor->result = from[1];
            supervisor_run(supervisor);
        }
    }
    int error = errno;
    close_fd(&to[0]), close_fd(&from[1]);
    *control = to[1];
    *result = from[0];
    errno = error;
    return pid;
}

/* Waits for the result. False: the supervisor ended without one. *interrupted: the trial was ended early. */
static bool receive(const struct supervisor *supervisor, pid_t pid, int *control, int from, int interrupts,
                    struct supervisor_result *result, bool *interrupted) {
    uint64_t end_ns = supervisor->most_ns ? now_ns() + supervisor->most_ns + MOST_END_NS : UINT64_MAX;
    for (;;) {
        struct pollfd wait = {.fd = from, .events = POLLIN};
        if (poll(&wait, 1, POLL_MS) > 0) {
            return read(from, result, sizeof *result) == (ssize_t)sizeof *result;
        }
        if (!*interrupted && interrupt_count() > interrupts) {
            *interrupted = true;
            close_fd(control);
            end_ns = now_ns() + MOST_END_NS;
        }
        if (now_ns() > end_ns) {
            kill(pid, SIGKILL);
        }
    }
}

enum trial_outcome trial_run(char *const *command, const char *options, uint64_t most_ns, struct trial_figures *figures,
                             struct failure *why) {
    struct supervisor supervisor = {.command = command, .options = options, .most_ns = most_ns};
    struct supervisor_result result = {.outcome = TRIAL_IMPOSSIBLE};
    int control, from, interrupts = interrupt_count();
    bool interrupted = false;
    pid_t pid = start(&supervisor, &control, &from);
    if (pid < 0) {
        failure_set(&result.why, 1, "%.300s: cannot be run: %s", command[0], strerror(errno));
    } else {
        if (!receive(&supervisor, pid, &control, from, interrupts, &result, &interrupted)) {
            failure_set(&result.why, 1, "%.200s: the process that supervised it was killed", command[0]);
        }
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    close_fd(&control), close_fd(&from);
    if (result.remaining) {
        message_print("%u process%s of %.100s could not be killed and %s left: %s", result.remaining,
                      result.remaining == 1 ? "" : "es", command[0], result.remaining == 1 ? "is" : "are",
                      result.processes);
    }
    if (interrupted) {
        result.outcome = TRIAL_INTERRUPTED;
        failure_set(&result.why, 128 + interrupt_last(), "interrupted");
    }
    *figures = result.figures;
    *why = result.why;
    return result.outcome;
}
