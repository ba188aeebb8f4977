/* One run of a command, measured and left without a trace: by a supervisor of its own (supervisor.c), a forked child
 * that owns what the command starts. Here it is started, interrupted, and its result is received. It ends the trial
 * when its control pipe is closed: by us, on an interrupt, or by the kernel, however we end. */
#include "advise/trials/trial.h"
#include "advise/trials/supervisor.h"
#include "eden_values.h"
#include "model/model.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/interrupt.h"
#include "util/message.h"
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What EDEN_STATS says of a run: one JSON object a line, one line a heap, in the order in which heaps ended. */

static void add_figure(uint64_t *figure, enum figure_kind kind, uint64_t value) {
    if (kind == KIND_sum) {
        *figure += value;
    } else if (value > *figure) {
        *figure = value;
    }
}

/* False: a figure is missing or is no number, as of a runtime that has other figures than we know. */
static bool add_line(struct trial_figures *figures, const json_t *line, const char **missing) {
    for (enum eden_figure i = 0; i < EDEN_FIGURE_COUNT; i++) {
        const json_t *value = json_object_get(line, figure_names[i]);
        *missing = figure_names[i];
        if (!json_is_integer(value) || json_integer_value(value) < 0) {
            return false;
        }
        add_figure(&figures->figure[i], figure_descriptions[i].kind, (uint64_t)json_integer_value(value));
    }
    const json_t *causes = json_object_get(line, "full_by_cause");
    for (unsigned i = 0; i < EDEN_FULL_CAUSES; i++) {
        const json_t *value = json_object_get(causes, eden_full_cause_name(i));
        *missing = "full_by_cause";
        if (!json_is_integer(value) || json_integer_value(value) < 0) {
            return false;
        }
        figures->full_by_cause[i] += (uint64_t)json_integer_value(value);
    }
    return true;
}

struct seen {
    json_int_t *pids;
    size_t count, room;
};

static bool add_process(struct seen *seen, json_int_t pid) {
    for (size_t i = 0; i < seen->count; i++) {
        if (seen->pids[i] == pid) {
            return true;
        }
    }
    json_int_t *more = array_grow(&seen->pids, &seen->room, seen->count, sizeof *more);
    if (more) {
        *more = pid;
        seen->count++;
    }
    return more != NULL;
}

static bool read_line(struct trial_figures *figures, struct seen *seen, const char *text, size_t length,
                      struct failure *why) {
    json_t *line = json_loadb(text, length, 0, NULL);
    const char *missing = "not a JSON object";
    bool read = json_is_object(line) && add_line(figures, line, &missing);
    bool added = read && add_process(seen, json_integer_value(json_object_get(line, "pid")));
    json_decref(line);
    if (!read) {
        return failure_set(why, 1,
                           "the command's EDEN_STATS is unreadable (%s): was it built with another version of libeden?",
                           missing);
    }
    figures->heaps++;
    return added || failure_set(why, 1, "out of memory for the command's EDEN_STATS");
}

bool trial_read_stats(struct trial_figures *figures, const char *text, size_t length, struct failure *why) {
    struct seen seen = {0};
    bool done = true;
    while (done && length > 0) {
        const char *end = memchr(text, '\n', length);
        size_t line = end ? (size_t)(end - text) : length;
        done = line == 0 || read_line(figures, &seen, text, line, why);
        line += end != NULL;
        text += line;
        length -= line;
    }
    figures->processes = (unsigned)seen.count;
    free(seen.pids);
    return done;
}

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
