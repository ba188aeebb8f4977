/* One run of a command, measured and left without a trace: by a supervisor of its own (below), a forked child
 * that owns what the command starts. Here it is started, interrupted, and its result is received. It ends the trial
 * when its control pipe is closed: by us, on an interrupt, or by the kernel, however we end. */
#include "advise/trials/trial.h"
#include "attach/target.h"
#include "eden_values.h"
#include "model/model.h"
#include "model/parameters.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/hash.h"
#include "util/interrupt.h"
#include "util/message.h"
#include "util/sum.h"
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Supervisor: the process that runs the command of one trial, measures it, and ends all that it has started.
 *
 * 1. Purpose. edenscope may have children that it did not start: those of the shell whose place it took (`sleep 78 &
 *    exec edenscope ...`). So it must neither reap nor kill "all its children". A forked child has none but those that
 *    it starts itself: it becomes the reaper of the command's orphans (PR_SET_CHILD_SUBREAPER), and what is its child
 *    is the trial's.
 *
 * 2. Terms. Descendants: the command and all processes that it has started, directly or not. Left behind: descendants
 *    that still run when the command has ended. Remaining: descendants that SIGKILL does not end.
 *
 * 3. Algorithm. The command gets a process group of its own. Two pipes are read while it runs: its output is hashed,
 *    so that runs can be compared, and the end of its errors is kept, as the best explanation of a failure. Heaps write
 *    their figures (EDEN_STATS) to a memory file, which the command opens through /proc: nothing stays on a disk. The
 *    peak of memory is that of wait4. The kernel counts into it what the child held before exec: the child reports that
 *    first, and a peak that is no higher is marked as a bound.
 *    However the command ends, the children are killed and reaped in passes until none is left. A killed child's own
 *    children become ours, and are killed in the next pass; so is a process that left the group or the session.
 *
 * 4. Invariants.
 *    I1. Only an unreaped child, or the process group that one of them or the command leads, gets a signal: no number
 *        can have passed to a stranger's process.
 *    I2. The supervisor is in a process group of its own and handles the signals that end edenscope: it ends when the
 *        trial has, or when edenscope has closed the control pipe or died.
 *    I3. Every wait is bounded: the passes by MOST_IDLE_NS without a process that ended, and by MOST_END_NS in all; the
 *        pipes are not blocking.
 *
 * 5. Failure. What remains (in state D, or another user's) is counted and named, and the next trial goes on. If the
 *    supervisor itself is killed, the command dies with it (PR_SET_PDEATHSIG), but not the command's children.
 *
 * 6. Cost. A fork of edenscope, before the time of the trial begins. */

struct supervisor {
    char *const *command;
    const char *options; /* set over EDEN_OPTIONS */
    uint64_t most_ns;    /* the command is ended after that; 0: no limit */
    int control;         /* a pipe: its end ends the trial */
    int result;          /* a pipe, that gets one struct supervisor_result */
};

/* At most PIPE_BUF bytes, so that it is written whole or not at all. */
struct supervisor_result {
    enum trial_outcome outcome;
    struct trial_figures figures;
    struct failure why;
    unsigned remaining;  /* processes that could not be ended */
    char processes[128]; /* some of them: "PID (state), ..." */
};

enum { CANNOT_EXECUTE = 126, NOT_FOUND = 127, TAIL = 200, POLL_MS = 100, MOST_READS = 256, MOST_PAUSE_MS = 50 };

static const uint64_t MOST_IDLE_NS = 10000000000u, MOST_END_NS = 60000000000u;
static const size_t MOST_STATS = 64u << 20;

_Static_assert(sizeof(struct supervisor_result) <= PIPE_BUF, "a result is written whole or not at all");

struct run {
    const struct supervisor *order;
    pid_t pid;
    int pidfd, stats, output, errors, outcome; /* ours; -1: closed */
    uint64_t started_ns;
    int status;      /* the command's wait status */
    char tail[TAIL]; /* the end of its standard error */
    size_t tail_length;
    struct supervisor_result *result;
};

/* What the child reports before exec, and again where exec fails. */
struct before_exec {
    int error;
    uint64_t peak_bytes;
};

static uint64_t maxrss_bytes(const struct rusage *usage) { return (uint64_t)usage->ru_maxrss * 1024; }

static uint64_t usage_ns(const struct rusage *usage) {
    return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000u +
           (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000u;
}

static void close_fd(int *fd) {
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

/* ---- the child -------------------------------------------------------------------------------------------------- */

/* A file is read anew by each run; a terminal or a pipe could be read by one only. */
static int open_input(void) {
    struct stat input;
    const char *name = fstat(0, &input) == 0 && S_ISREG(input.st_mode) ? "/proc/self/fd/0" : "/dev/null";
    return open(name, O_RDONLY | O_CLOEXEC);
}

static void report_before_exec(int outcome, const struct before_exec *report) {
    ssize_t written = write(outcome, report, sizeof *report);
    (void)written; /* the reader has gone, or will see that it is missing */
}

static _Noreturn void child_execute(const struct run *run, int output, int errors, int outcome, pid_t parent) {
    const char *options = run->order->options;
    interrupt_uninstall();
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(NOT_FOUND);
    }
    char stats[64];
    snprintf(stats, sizeof stats, "/proc/%d/fd/%d", (int)parent, run->stats);
    const char *before = getenv("EDEN_OPTIONS");
    char *merged = NULL;
    int input = open_input();
    if (asprintf(&merged, "%s%s%s", before ? before : "", before && *before && *options ? "," : "", options) < 0 ||
        setenv("EDEN_OPTIONS", merged, 1) != 0 || setenv("EDEN_STATS", stats, 1) != 0 || input < 0 ||
        dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(errors, 2) < 0) {
        _exit(NOT_FOUND);
    }
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    struct before_exec report = {0, maxrss_bytes(&usage)};
    report_before_exec(outcome, &report);
    execvp(run->order->command[0], run->order->command);
    report.error = errno;
    report_before_exec(outcome, &report);
    _exit(report.error == ENOENT ? NOT_FOUND : CANNOT_EXECUTE);
}

/* ---- starting --------------------------------------------------------------------------------------------------- */

/* Our end does not block: a process that could not be ended may hold the other one open. */
static bool make_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0; }

static bool start(struct run *run) {
    int output[2] = {-1, -1}, errors[2] = {-1, -1}, outcome[2] = {-1, -1};
    run->stats = memfd_create("eden-stats", MFD_CLOEXEC);
    bool ready = run->stats >= 0 && make_pipe(output) && make_pipe(errors) && make_pipe(outcome) &&
                 prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
    if (ready) {
        pid_t parent = getpid();
        run->started_ns = now_ns();
        run->pid = fork();
        if (run->pid == 0) {
            child_execute(run, output[1], errors[1], outcome[1], parent);
        }
        run->pidfd = run->pid > 0 ? pidfd_open(run->pid, 0) : -1;
        ready = run->pidfd >= 0;
    }
    int error = errno;
    if (run->pid > 0) {
        setpgid(run->pid, run->pid); /* both do it, so that it is so whichever comes first */
    }
    close_fd(&output[1]), close_fd(&errors[1]), close_fd(&outcome[1]);
    run->output = output[0];
    run->errors = errors[0];
    run->outcome = outcome[0];
    return ready ||
           failure_set(&run->result->why, 1, "%.300s: cannot be run: %s", run->order->command[0], strerror(error));
}

/* ---- while it runs ---------------------------------------------------------------------------------------------- */

static uint64_t hash_more(uint64_t hash, const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        hash = hash_add(hash, bytes[i]);
    }
    return hash;
}

static void keep_tail(struct run *run, const char *bytes, size_t count) {
    size_t keep = count < TAIL ? count : TAIL;
    size_t old = run->tail_length + keep <= TAIL ? run->tail_length : TAIL - keep;
    memmove(run->tail, run->tail + run->tail_length - old, old);
    memcpy(run->tail + old, bytes + count - keep, keep);
    run->tail_length = old + keep;
}

/* Reads what is there, once. False: nothing is there. */
static bool read_pipe(struct run *run, int *fd) {
    char bytes[65536];
    struct trial_figures *figures = &run->result->figures;
    ssize_t got = read(*fd, bytes, sizeof bytes);
    if (got < 0) {
        return errno == EINTR;
    }
    if (got == 0) {
        close_fd(fd);
        return false;
    }
    if (fd == &run->errors) {
        keep_tail(run, bytes, (size_t)got);
    } else {
        figures->output_bytes += (uint64_t)got;
        figures->output_hash = hash_more(figures->output_hash, (const unsigned char *)bytes, (size_t)got);
    }
    return true;
}

static void drain_pipe(struct run *run, int *fd) {
    for (int i = 0; i < MOST_READS && *fd >= 0 && read_pipe(run, fd); i++) {
    }
}

static int wait_ms(const struct run *run) {
    uint64_t most_ns = run->order->most_ns, took = now_ns() - run->started_ns;
    if (most_ns == 0) {
        return -1;
    }
    uint64_t left = took >= most_ns ? 0 : (most_ns - took) / 1000000 + 1;
    return left < INT_MAX ? (int)left : INT_MAX;
}

/* Until it has ended: TRIAL_RAN; or must: what else. */
static enum trial_outcome follow(struct run *run) {
    for (;;) {
        struct pollfd wait[] = {{.fd = run->pidfd, .events = POLLIN},
                                {.fd = run->output, .events = POLLIN},
                                {.fd = run->errors, .events = POLLIN},
                                {.fd = run->order->control, .events = POLLIN}};
        if (poll(wait, sizeof wait / sizeof *wait, wait_ms(run)) < 0) {
            continue; /* a signal is edenscope's to act on: it closes the control pipe */
        }
        if (wait[1].revents) {
            read_pipe(run, &run->output);
        }
        if (wait[2].revents) {
            read_pipe(run, &run->errors);
        }
        if (wait[0].revents) {
            run->result->figures.wall_ns = now_ns() - run->started_ns;
            return TRIAL_RAN;
        }
        if (wait[3].revents) {
            return TRIAL_INTERRUPTED;
        }
        if (wait_ms(run) == 0) {
            return TRIAL_TOO_LONG;
        }
    }
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

static void kill_child(const struct run *run, pid_t pid) {
    pid_t group = getpgid(pid);
    kill(pid, SIGKILL);
    if (group == run->pid || group == pid) { /* as a whole: no member can fork meanwhile */
        kill(-group, SIGKILL);
    }
}

static void name_child(struct supervisor_result *result, pid_t pid) {
    char state = target_state((int)pid);
    size_t length = strlen(result->processes);
    snprintf(result->processes + length, sizeof result->processes - length, "%s%d (state %c)", length ? ", " : "",
             (int)pid, state != 0 ? state : '?');
    result->remaining++;
}

/* Kills, or counts and names, each child. */
static void each_child(struct run *run, bool is_kill) {
    FILE *file = fopen("/proc/thread-self/children", "re");
    int pid;
    while (file && fscanf(file, "%d", &pid) == 1) {
        if (is_kill) {
            kill_child(run, pid);
        } else {
            name_child(run->result, pid);
        }
    }
    if (file) {
        fclose(file);
    }
}

/* Reaps the children that have ended, and adds up what each of them took. Returns their number; -1: none is left. */
static int reap(struct run *run) {
    struct trial_figures *figures = &run->result->figures;
    struct rusage usage;
    int count = 0, status;
    for (;;) {
        pid_t pid = wait4(-1, &status, WNOHANG, &usage);
        if (pid < 0 && errno == EINTR) {
            continue;
        }
        if (pid <= 0) {
            return pid < 0 ? -1 : count;
        }
        count++;
        figures->cpu_ns += usage_ns(&usage);
        if (maxrss_bytes(&usage) > figures->peak_bytes) {
            figures->peak_bytes = maxrss_bytes(&usage);
        }
        if (pid == run->pid) {
            run->status = status;
        } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
            figures->left_behind++;
        }
    }
}

/* Ends and reaps whatever still runs. */
static void end_all(struct run *run) {
    uint64_t begun_ns = now_ns(), progress_ns = begun_ns;
    int pause_ms = 0, reaped;
    while ((reaped = reap(run)) >= 0) {
        uint64_t now = now_ns();
        if (reaped > 0) {
            progress_ns = now;
            pause_ms = 0;
        }
        if (now - progress_ns > MOST_IDLE_NS || now - begun_ns > MOST_END_NS) {
            each_child(run, false);
            return;
        }
        each_child(run, true);
        poll(NULL, 0, pause_ms);
        pause_ms = pause_ms < MOST_PAUSE_MS ? 2 * pause_ms + 1 : pause_ms;
    }
}

/* A copy: a process that has the file open may cut it at any moment. NULL, with `why`, where there is none. */
static char *copy_stats(const struct run *run, size_t *length) {
    struct failure *why = &run->result->why;
    struct stat file;
    if (fstat(run->stats, &file) != 0) {
        failure_set(why, 1, "EDEN_STATS: %s", strerror(errno));
        return NULL;
    }
    if ((uint64_t)file.st_size > MOST_STATS) {
        failure_set(why, 1, "%.200s: writes more than %zu MiB to EDEN_STATS: run it with fewer heaps",
                    run->order->command[0], MOST_STATS >> 20);
        return NULL;
    }
    char *text = malloc((size_t)file.st_size + 1);
    ssize_t got = 1;
    for (*length = 0; text && got > 0 && *length < (size_t)file.st_size; *length += (size_t)(got > 0 ? got : 0)) {
        got = pread(run->stats, text + *length, (size_t)file.st_size - *length, (off_t)*length);
    }
    if (!text || got < 0) {
        failure_set(why, 1, "EDEN_STATS: %s", strerror(errno));
        free(text);
        return NULL;
    }
    return text;
}

static bool read_stats(struct run *run) {
    size_t length;
    char *text = copy_stats(run, &length);
    bool done = text && trial_read_stats(&run->result->figures, run->order->options, text, length, &run->result->why);
    free(text);
    return done;
}

static enum trial_outcome fail_to_execute(struct run *run, int error) {
    const char *name = run->order->command[0];
    bool found = error != ENOENT;
    failure_set(&run->result->why, found ? CANNOT_EXECUTE : NOT_FOUND, "%.300s: %s", name,
                found || strchr(name, '/') ? strerror(error) : "command not found");
    return TRIAL_IMPOSSIBLE;
}

/* The last line or two of its standard error. */
static const char *last_words(const struct run *run, char text[TAIL + 16]) {
    size_t length = run->tail_length;
    while (length > 0 && run->tail[length - 1] == '\n') {
        length--;
    }
    *text = 0;
    if (length > 0) {
        snprintf(text, TAIL + 16, "; its last output: %.*s", (int)length, run->tail);
    }
    return text;
}

static enum trial_outcome judge(struct run *run) {
    const char *name = run->order->command[0], *options = run->order->options;
    struct failure *why = &run->result->why;
    char words[TAIL + 16], with[128] = "";
    if (*options) {
        snprintf(with, sizeof with, " with EDEN_OPTIONS=%.90s", options);
    }
    if (WIFSIGNALED(run->status)) {
        failure_set(why, 1, "%.100s%s was killed by signal %d%s", name, with, WTERMSIG(run->status),
                    last_words(run, words));
        return TRIAL_FAILED;
    }
    if (WEXITSTATUS(run->status) != 0) {
        failure_set(why, 1, "%.100s%s ended with status %d%s", name, with, WEXITSTATUS(run->status),
                    last_words(run, words));
        return TRIAL_FAILED;
    }
    if (!read_stats(run)) {
        return TRIAL_FAILED;
    }
    if (run->result->figures.heaps == 0) {
        failure_set(why, 1,
                    "%.200s%s reported no Eden heap: it must use libeden, and end with exit() or a return from main(), "
                    "not with _exit()",
                    name, with);
        return TRIAL_FAILED;
    }
    return TRIAL_RAN;
}

static enum trial_outcome conclude(struct run *run) {
    struct before_exec begun = {0}, failed = {0};
    drain_pipe(run, &run->output);
    drain_pipe(run, &run->errors);
    bool known = read(run->outcome, &begun, sizeof begun) == (ssize_t)sizeof begun;
    bool executed = !known || read(run->outcome, &failed, sizeof failed) != (ssize_t)sizeof failed;
    enum trial_outcome outcome = executed ? judge(run) : fail_to_execute(run, failed.error);
    run->result->figures.peak_is_bound = run->result->figures.peak_bytes <= begun.peak_bytes;
    return outcome;
}

/* In a forked child: runs the command, ends what it has started, writes the result and exits. */
_Noreturn static void supervisor_run(const struct supervisor *supervisor) {
    struct supervisor_result result = {.outcome = TRIAL_IMPOSSIBLE, .figures = {.output_hash = HASH_EMPTY}};
    struct run run = {
        .order = supervisor, .pidfd = -1, .stats = -1, .output = -1, .errors = -1, .outcome = -1, .result = &result};
    setpgid(0, 0);
    if (start(&run)) {
        result.outcome = follow(&run);
    }
    if (run.pid > 0) {
        end_all(&run);
    }
    if (result.outcome == TRIAL_RAN) {
        result.outcome = conclude(&run);
    } else if (result.outcome == TRIAL_TOO_LONG) {
        failure_set(&result.why, 1, "%.200s was stopped after %.1f s", supervisor->command[0],
                    (double)supervisor->most_ns / 1e9);
    }
    ssize_t written = write(supervisor->result, &result, sizeof result);
    _exit(written == (ssize_t)sizeof result ? 0 : 1);
}

/* What EDEN_STATS says of a run: one JSON object a line, one line a heap, in the order in which heaps ended. */

static void add_figure(uint64_t *figure, enum figure_kind kind, uint64_t value) {
    if (kind == KIND_sum) {
        sum_add(figure, value);
    } else if (value > *figure) {
        *figure = value;
    }
}

/* False: a figure is missing or is no number, as of a runtime that has other figures than we know. */
static bool add_line(struct trial_figures *figures, const json_t *line, const char **missing) {
    for (enum eden_figure i = 0; i < EDEN_FIGURE_COUNT; i++) {
        const json_t *value = json_object_get(line, figure_descriptions[i].name);
        *missing = figure_descriptions[i].name;
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
        sum_add(&figures->full_by_cause[i], (uint64_t)json_integer_value(value));
    }
    return true;
}

/* An older runtime does not report parameters, and none does files. */
static void check_options(struct trial_figures *figures, const struct tune_parameter wanted[EDEN_PARAM_COUNT],
                          const json_t *line) {
    const json_t *set = json_object_get(line, "parameters");
    for (enum eden_param_id id = 0; set && id < EDEN_PARAM_COUNT; id++) {
        const struct eden_param *param = eden_param(id);
        const char *text = json_string_value(json_object_get(set, param->name));
        char form[64];
        eden_param_text(param, wanted[id].number, form, sizeof form);
        figures->without[id] +=
            wanted[id].is_reported && param->kind != EDEN_KIND_file && (!text || strcmp(text, form) != 0);
    }
}

struct seen {
    struct tune_parameter wanted[EDEN_PARAM_COUNT];
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
    check_options(figures, seen->wanted, line);
    json_decref(line);
    if (!read) {
        return failure_set(why, 1,
                           "the command's EDEN_STATS is unreadable (%s): was it built with another version of libeden?",
                           missing);
    }
    figures->heaps++;
    return added || failure_set(why, 1, "out of memory for the command's EDEN_STATS");
}

bool trial_read_stats(struct trial_figures *figures, const char *options, const char *text, size_t length,
                      struct failure *why) {
    struct seen seen = {0};
    struct failure ignored; /* without options there are none to check */
    tune_parameters_parse(options, seen.wanted, &ignored);
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

/* The trial. */

/* A supervisor has 60 s to end the trial; one that was stopped does not come to it. */
static const uint64_t MOST_WAIT_NS = 90000000000u;

/* Returns the supervisor's pid, with our ends of the two pipes; -1, with errno. */
static pid_t start_supervisor(struct supervisor *supervisor, int *control, int *result) {
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
    uint64_t end_ns = supervisor->most_ns ? now_ns() + supervisor->most_ns + MOST_WAIT_NS : UINT64_MAX;
    for (;;) {
        struct pollfd wait = {.fd = from, .events = POLLIN};
        if (poll(&wait, 1, POLL_MS) > 0) {
            return read(from, result, sizeof *result) == (ssize_t)sizeof *result;
        }
        if (!*interrupted && interrupt_count() > interrupts) {
            *interrupted = true;
            close_fd(control);
            end_ns = now_ns() + MOST_WAIT_NS;
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
    pid_t pid = start_supervisor(&supervisor, &control, &from);
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

void trial_print_remarks(FILE *out, const struct trial_figures *figures, bool peak_is_bound) {
    if (figures->heaps > 1) {
        fprintf(out, "Figures are sums of %u heaps in %u process%s; memory is that of the largest process.\n",
                figures->heaps, figures->processes, figures->processes == 1 ? "" : "es");
    }
    if (figures->left_behind) {
        fprintf(out, "%u of its processes were still running when the command ended, and were killed.\n",
                figures->left_behind);
    }
    if (peak_is_bound) {
        fprintf(out,
                "Memory is an upper bound: the system counts what edenscope held when it started the command, and the "
                "command took no more.\n");
    }
}
