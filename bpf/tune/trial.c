/* One run of a command, measured and left without a trace.
 *
 * The figures of heaps come by EDEN_STATS, which names a file: a memory file of ours, which the command opens through
 * /proc, so that nothing stays on a disk even when we are killed. The peak of memory is what wait4 says. The kernel
 * counts into it what the child held before exec, which is what we hold: the child tells that number first, and a peak
 * that is no higher is marked as a bound.
 *
 * The command gets a process group of its own, and we become the reaper of its orphans. However it ends, what is left
 * of the group is killed, and then every child we still have, until there is none: so a process that has left the group
 * is found too. Should we be killed ourselves, the command dies with us (PR_SET_PDEATHSIG), though its children would
 * not.
 *
 * Two pipes are read while it runs: of its output a hash is kept, so that runs can be compared, and of its errors the
 * end, which is the best explanation of a failure. */
#include "trial.h"
#include "clock.h"
#include "interrupt.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

enum { CANNOT_EXECUTE = 126, NOT_FOUND = 127, TAIL = 200, POLL_MS = 100 };

struct run {
    pid_t pid;
    int pidfd, stats, output, errors, outcome; /* ours; -1: closed */
    uint64_t started_ns;
    char tail[TAIL]; /* the end of what it said on its standard error */
    size_t tail_length;
    struct trial_figures *figures;
};

/* What the child tells before exec, and again where exec fails. */
struct told {
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

static void tell(int outcome, const struct told *told) {
    ssize_t written = write(outcome, told, sizeof *told);
    (void)written; /* who reads it has gone, or will see that it is missing */
}

static _Noreturn void child_execute(char *const *command, const char *options, const struct run *run, int output,
                                    int errors, int outcome, pid_t parent) {
    interrupt_uninstall();
    setpgid(0, 0);
    signal(SIGPIPE, SIG_DFL); /* we may have ignored it */
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
    struct told told = {0, maxrss_bytes(&usage)};
    tell(outcome, &told);
    execvp(command[0], command);
    told.error = errno;
    tell(outcome, &told);
    _exit(told.error == ENOENT ? NOT_FOUND : CANNOT_EXECUTE);
}

/* ---- starting --------------------------------------------------------------------------------------------------- */

static bool start(struct run *run, char *const *command, const char *options, struct failure *why) {
    int output[2] = {-1, -1}, errors[2] = {-1, -1}, outcome[2] = {-1, -1};
    run->stats = memfd_create("eden-stats", MFD_CLOEXEC);
    bool ready = run->stats >= 0 && pipe2(output, O_CLOEXEC) == 0 && pipe2(errors, O_CLOEXEC) == 0 &&
                 pipe2(outcome, O_CLOEXEC) == 0;
    if (ready) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        fflush(NULL);
        pid_t parent = getpid();
        run->started_ns = now_ns();
        run->pid = fork();
        if (run->pid == 0) {
            child_execute(command, options, run, output[1], errors[1], outcome[1], parent);
        }
        run->pidfd = run->pid > 0 ? pidfd_open(run->pid, 0) : -1;
        ready = run->pidfd >= 0;
    }
    int error = errno;
    if (run->pid > 0) {
        setpgid(run->pid, run->pid); /* both do it, so that it is so whoever comes first */
    }
    close_fd(&output[1]), close_fd(&errors[1]), close_fd(&outcome[1]);
    run->output = output[0];
    run->errors = errors[0];
    run->outcome = outcome[0];
    return ready || failure_set(why, 1, "%.300s: it can't be run: %s", command[0], strerror(error));
}

/* ---- while it runs ---------------------------------------------------------------------------------------------- */

static uint64_t hash_more(uint64_t hash, const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
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

/* Reads what is there, once. False: nothing, and nothing to come. */
static bool read_pipe(struct run *run, int *fd) {
    char bytes[65536];
    ssize_t got = read(*fd, bytes, sizeof bytes);
    if (got < 0) {
        return errno == EINTR || errno == EAGAIN;
    }
    if (got == 0) {
        close_fd(fd);
        return false;
    }
    if (fd == &run->errors) {
        keep_tail(run, bytes, (size_t)got);
    } else {
        run->figures->output_bytes += (uint64_t)got;
        run->figures->output_hash = hash_more(run->figures->output_hash, (const unsigned char *)bytes, (size_t)got);
    }
    return true;
}

static int wait_ms(const struct run *run, uint64_t most_ns) {
    uint64_t took = now_ns() - run->started_ns;
    uint64_t left = most_ns && took >= most_ns ? 0 : most_ns ? (most_ns - took) / 1000000 + 1 : POLL_MS;
    return left < POLL_MS ? (int)left : POLL_MS; /* a signal just before poll() must not be waited out */
}

/* Until it has ended: TRIAL_RAN; or must: what else. */
static enum trial_outcome follow(struct run *run, uint64_t most_ns) {
    int interrupts = interrupt_count();
    for (;;) {
        struct pollfd wait[] = {{.fd = run->pidfd, .events = POLLIN},
                                {.fd = run->output, .events = POLLIN},
                                {.fd = run->errors, .events = POLLIN}};
        poll(wait, 3, wait_ms(run, most_ns));
        if (wait[1].revents) {
            read_pipe(run, &run->output);
        }
        if (wait[2].revents) {
            read_pipe(run, &run->errors);
        }
        if (wait[0].revents) {
            run->figures->wall_ns = now_ns() - run->started_ns;
            return TRIAL_RAN;
        }
        if (interrupt_count() > interrupts) {
            return TRIAL_INTERRUPTED;
        }
        if (most_ns && now_ns() - run->started_ns >= most_ns) {
            return TRIAL_TOO_LONG;
        }
    }
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

static void kill_children(void) {
    FILE *file = fopen("/proc/thread-self/children", "re");
    int pid;
    while (file && fscanf(file, "%d", &pid) == 1) {
        kill(pid, SIGKILL);
    }
    if (file) {
        fclose(file);
    }
}

/* Ends whatever still runs, and takes what each of our children took. Returns the command's wait status. */
static int reap(struct run *run) {
    int status = 0, ended;
    struct rusage usage;
    bool killed = false;
    struct trial_figures *figures = run->figures;
    kill(-run->pid, SIGKILL); /* the command itself is not reaped yet, so the number is still its group's */
    for (;;) {
        pid_t pid = wait4(-1, &ended, killed ? 0 : WNOHANG, &usage);
        if (pid == 0) {
            kill_children();
            killed = true;
            continue;
        }
        killed = false;
        if (pid < 0 && errno != EINTR) {
            return status;
        }
        if (pid <= 0) {
            continue;
        }
        figures->cpu_ns += usage_ns(&usage);
        if (maxrss_bytes(&usage) > figures->peak_bytes) {
            figures->peak_bytes = maxrss_bytes(&usage);
        }
        if (pid == run->pid) {
            status = ended;
        } else if (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL) {
            figures->left_behind++;
        }
    }
}

static bool read_stats(struct run *run, struct failure *why) {
    struct stat file;
    if (fstat(run->stats, &file) != 0) {
        return failure_set(why, 1, "EDEN_STATS: %s", strerror(errno));
    }
    if (file.st_size == 0) {
        return true;
    }
    char *text = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, run->stats, 0);
    if (text == MAP_FAILED) {
        return failure_set(why, 1, "EDEN_STATS: %s", strerror(errno));
    }
    bool done = trial_read_stats(run->figures, text, (size_t)file.st_size, why);
    munmap(text, (size_t)file.st_size);
    return done;
}

static enum trial_outcome fail_to_execute(const char *name, int error, struct failure *why) {
    bool found = error != ENOENT;
    failure_set(why, found ? CANNOT_EXECUTE : NOT_FOUND, "%.300s: %s", name,
                found || strchr(name, '/') ? strerror(error) : "command not found");
    return TRIAL_IMPOSSIBLE;
}

/* Of the last words that it left on its standard error the last line or two, made fit for one line. */
static const char *last_words(struct run *run, char text[TAIL + 16]) {
    size_t length = run->tail_length;
    while (length > 0 && run->tail[length - 1] == '\n') {
        length--;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)run->tail[i];
        run->tail[i] = byte < 32 || byte == 127 ? ' ' : run->tail[i];
    }
    snprintf(text, TAIL + 16, "%s%.*s", length ? "; it said: " : "", (int)length, run->tail);
    return text;
}

static enum trial_outcome judge(struct run *run, const char *name, const char *options, int status,
                                struct failure *why) {
    char words[TAIL + 16], with[128] = "";
    if (*options) {
        snprintf(with, sizeof with, " with EDEN_OPTIONS=%.90s", options);
    }
    if (WIFSIGNALED(status)) {
        failure_set(why, 1, "%.100s%s was killed by signal %d%s", name, with, WTERMSIG(status), last_words(run, words));
        return TRIAL_FAILED;
    }
    if (WEXITSTATUS(status) != 0) {
        failure_set(why, 1, "%.100s%s ended with status %d%s", name, with, WEXITSTATUS(status), last_words(run, words));
        return TRIAL_FAILED;
    }
    if (!read_stats(run, why)) {
        return TRIAL_FAILED;
    }
    if (run->figures->heaps == 0) {
        failure_set(why, 1,
                    "%.200s%s told of no Eden heap: it must use libeden, and end by exit() or by returning from "
                    "main(), not by _exit()",
                    name, with);
        return TRIAL_FAILED;
    }
    return TRIAL_RAN;
}

enum trial_outcome trial_run(char *const *command, const char *options, uint64_t most_ns, struct trial_figures *figures,
                             struct failure *why) {
    *figures = (struct trial_figures){.output_hash = 0xcbf29ce484222325u};
    struct run run = {.pidfd = -1, .stats = -1, .output = -1, .errors = -1, .outcome = -1, .figures = figures};
    struct told told = {0}, failed = {0};
    enum trial_outcome outcome = TRIAL_IMPOSSIBLE;
    if (start(&run, command, options, why)) {
        outcome = follow(&run, most_ns);
    }
    int status = run.pid > 0 ? reap(&run) : 0;
    if (outcome == TRIAL_RAN) {
        /* All writers are gone: what is left in the pipes ends. */
        while (run.output >= 0 && read_pipe(&run, &run.output)) {
        }
        while (run.errors >= 0 && read_pipe(&run, &run.errors)) {
        }
        bool begun = read(run.outcome, &told, sizeof told) == (ssize_t)sizeof told;
        if (begun && read(run.outcome, &failed, sizeof failed) == (ssize_t)sizeof failed) {
            outcome = fail_to_execute(command[0], failed.error, why);
        } else {
            outcome = judge(&run, command[0], options, status, why);
        }
        figures->peak_is_bound = figures->peak_bytes <= told.peak_bytes;
    } else if (outcome == TRIAL_TOO_LONG) {
        failure_set(why, 1, "%.200s was ended after %.1f s", command[0], (double)most_ns / 1e9);
    } else if (outcome == TRIAL_INTERRUPTED) {
        failure_set(why, 128 + interrupt_last(), "interrupted");
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    close_fd(&run.pidfd), close_fd(&run.stats), close_fd(&run.output), close_fd(&run.errors), close_fd(&run.outcome);
    return outcome;
}
