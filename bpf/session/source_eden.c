/* The source for provider `eden`: whom it observes, and how observing begins, goes on and ends.
 *
 *     root process (-p or the command) -+- looks (source_follow.c): files with probes --> kernel program -> entries
 *     its children, from the kernel ----+                                                                      |
 *     headers of heaps that were alive at attach ---------------------------- totals up to a collection ----> model
 *
 * A heap whose heap__create was seen has its whole life in its entry. The figures of one that was alive at attach come
 * from its header and from later events (source_late.c). A lost hit is counted and reported. */
#include "session/source_parts.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/interrupt.h"
#include "util/kernel_version.h"
#include "util/sandbox.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static bool open_process(struct source *source, int id, struct failure *why) {
    int pid = target_process_of(id);
    struct observed *observed = pid > 0 ? source_observe_found(source, pid, NULL, true) : NULL;
    if (!observed) {
        return failure_set(why, 1, pid > 0 ? "process %d has ended" : "process %d does not exist", id);
    }
    errno = 0;
    struct look look;
    struct failure first = {0};
    look = (struct look){.source = source, .observed = observed, .why = &first};
    bool read = source_look_at_mappings(&look);
    if (look.failed) {
        *why = first;
        return false;
    }
    bool is_one = look.refused == 1;
    if (read && look.refused > 0 && look.files > 0 && observed->attachments == 0) {
        return failure_set(why, 1,
                           "process %d (%s): whether it uses Eden is unknown, because %d of its mapped files %s%s", pid,
                           observed->command, look.refused,
                           look.refusal == ENOEXEC   ? "cannot be read; -v prints the reason"
                           : look.refusal != ENOTSUP ? "cannot be opened: "
                           : is_one                  ? "is on FUSE"
                                                     : "are on FUSE",
                           look.refusal == ENOTSUP || look.refusal == ENOEXEC ? "" : strerror(look.refusal));
    }
    if (!read && errno == EAGAIN) {
        return failure_set(why, 1, "process %d (%s) cannot be read: its threads end too fast", pid, observed->command);
    }
    if (!read || (look.files == 0 && look.refused > 0)) {
        return failure_set(
            why, 2, "process %d (%s) cannot be read: %s; %s", pid, observed->command, strerror(errno ? errno : EACCES),
            kernel_may_read_others()
                ? "the system protects it even from root (a security module or a container?)"
                : "it belongs to another user, which needs CAP_SYS_PTRACE and CAP_DAC_OVERRIDE (run as root)");
    }
    if (look.files == 0) {
        return failure_set(why, 1, "process %d (%s) runs no program: it is a kernel thread, or has just ended", pid,
                           observed->command);
    }
    if (observed->attachments == 0) {
        char descendant[128];
        const size_t number = (size_t)(observed - source->observed);
        source_name_descendant(source, number, descendant, sizeof descendant); /* may move source->observed */
        observed = &source->observed[number];
        static const char hint[] = "to observe children that end soon, start it with edenscope: -- PROGRAM";
        return descendant[0]
                   ? failure_set(why, 1, "process %d (%s) does not use Eden%s; %s", pid, observed->command, descendant,
                                 hint)
                   : failure_set(why, 1,
                                 "process %d (%s) does not use Eden: of its %d readable mapped file%s none has probes "
                                 "of provider eden; %s",
                                 pid, observed->command, look.files, plural((uint64_t)look.files), hint);
    }
    return true;
}

static bool open_processes(struct source *source, struct failure *why) {
    if (!kernel_follow(source->kernel, why)) {
        return false;
    }
    for (size_t i = 0; i < source->options.pids; i++) {
        if (!open_process(source, source->options.pid[i], why)) {
            return false;
        }
    }
    source_reconcile(source, now_ns() + ROUND_NS);
    return true;
}

static bool open_command(struct source *source, struct failure *why) {
    struct observed *observed =
        kernel_follow(source->kernel, why) ? source_observe_found(source, source->launch.pid, NULL, false) : NULL;
    if (!observed && !why->message[0]) {
        return failure_set(why, 1, "%.300s: was killed before it started", source->options.command[0]);
    }
    if (!observed) {
        return false;
    }
    size_t own = launch_find_files(&source->launch, source->options.command, &source->libraries);
    for (size_t i = 0; i < source->libraries.count && interrupt_count() == 0; i++) {
        const struct library *file = &source->libraries.file[i];
        int64_t number = source_add_file(source, observed, i < own ? NULL : &source->libraries.budget, &file->file,
                                         file->path, true, why);
        bool attached = number >= 0 && source_attach(source, observed, (uint32_t)number, &file->file, why) &&
                        source_attach_batches(source, observed, (uint32_t)number, &file->file, why);
        if (!attached && i < own) {
            return false;
        }
        if (!attached && number >= 0 && (source->file[number].misses || source->file[number].by_process)) {
            message_print("%s", why->message);
        }
    }
    libraries_empty(&source->libraries);
    return true;
}

/* Attaching takes a descriptor a process, or a probe where there are no uprobe_multi links. The command has been forked
 * with the limit that it is to have. */
static void allow_files(struct source *source) {
    enum { ENOUGH_FILES = 65536, MOST_OWN = 512 };
    struct rlimit limit;
    source->most_descriptors = ENOUGH_FILES;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return;
    }
    rlim_t most = limit.rlim_max < ENOUGH_FILES ? limit.rlim_max : ENOUGH_FILES;
    if (limit.rlim_cur < most) {
        limit.rlim_cur = most;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    rlim_t own = limit.rlim_cur / 2 < MOST_OWN ? limit.rlim_cur / 2 : MOST_OWN;
    source->most_descriptors = limit.rlim_cur - own < INT_MAX ? (uint32_t)(limit.rlim_cur - own) : INT_MAX;
}

static bool prepare_command(struct source *source, struct failure *why) {
    char assignment[64];
    const struct source_options *options = &source->options;
    snprintf(assignment, sizeof assignment, "EDEN_SAMPLING=%#" PRIx64, options->control);
    return launch_prepare(&source->launch, options->command, options->lifetimes ? assignment : NULL, why);
}

static struct kernel_side *open_kernel(const struct source_options *options, struct inspect *inspect,
                                       struct failure *why) {
    const struct kernel_options kernel = {.events = options->events,
                                          .objects = options->objects != OBJECTS_NONE,
                                          .lifetimes = options->lifetimes,
                                          .records = options->on_batch != NULL,
                                          .stacks = options->stacks != NULL,
                                          .headers = !options->no_headers,
                                          .pauses = !source_is_for_lifetimes(options),
                                          .by_descent = options->command || options->selection.kind != SELECT_NONE,
                                          .selection = options->selection,
                                          .timed = options->timed,
                                          .verbose = options->verbose};
    return kernel_open(&kernel, inspect, why);
}

static bool fail_interrupted(const struct source_options *options, struct failure *why) {
    const int status = 128 + interrupt_last();
    return options->next_file
               ? failure_set(why, status,
                             "interrupted while attaching: %.200s was not begun; the files before it are complete",
                             options->next_file)
               : failure_set(why, status, "interrupted while attaching: nothing was observed%s",
                             options->command ? ", and the program was not started" : "");
}

struct source *source_open(const struct source_options *options, struct failure *why) {
    struct source *source = calloc(1, sizeof *source);
    if (!source) {
        failure_set(why, 1, "out of memory");
        return NULL;
    }
    source->options = *options;
    source->options.units = options->units && !kernel_is_older(6, 8); /* before, reading one waits for a lock of all */
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    source->open_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    source->exit_status = source->root_fd = -1;
    source->launch.go = source->launch.outcome = -1;
    source->inspect = inspect_open(options->lifetimes ? options->control : options->collects ? SOURCE_COLLECT : 0, why);
    if (!source->inspect) {
        source_close(source);
        return NULL;
    }
    if (options->command && !prepare_command(source, why)) {
        source_close(source);
        return NULL;
    }
    uint64_t before = now_ns();
    libraries_open(&source->libraries, source->inspect);
    allow_files(source);
    source->kernel = open_kernel(options, source->inspect, why);
    bool is_open = source->kernel && (options->command         ? open_command
                                      : source_selects(source) ? source_open_selection
                                                               : open_processes)(source, why);
    if (interrupt_count() > 0) {
        is_open = fail_interrupted(options, why);
    }
    if (!is_open) {
        source_close(source);
        return NULL;
    }
    source->start_ns = now_ns();
    source->attach_ns = source->start_ns - before;
    source->roots = options->command ? 1 : options->pids;
    source->root_fd = source->roots == 1 ? (int)syscall(SYS_pidfd_open, source->observed[0].key.pid, 0) : -1;
    return source;
}

static bool can_use_maps(const void *context) { return kernel_can_use_maps(context); }

bool source_give_up_rights(struct source *source, int folder, struct failure *why) {
    const struct sandbox sandbox = {.profile = SANDBOX_OBSERVER,
                                    .folder = {folder},
                                    .folders = folder >= 0,
                                    .can_use_maps = can_use_maps,
                                    .context = source->kernel};
    if (!kernel_uses_multi(source->kernel) || target_are_hidden()) {
        return true;
    }
    tzset(); /* reads a file */
    return sandbox_enter(&sandbox, why);
}

static void report_start(const struct source *source) {
    if (!source->options.until_interrupt || !message_is_on_terminal()) {
        return;
    }
    if (source->roots == 1) {
        message_print("observing process %u; Ctrl-C ends and reports", source->observed[0].key.pid);
    } else {
        message_print("observing %zu processes%s; Ctrl-C ends and reports", source->observed_count,
                      source_selects(source) ? ", and those that start" : "");
    }
}

bool source_start(struct source *source, struct failure *why) {
    source->started = true;
    source->start_ns = now_ns();
    kernel_observe_since(source->kernel, source->start_ns);
    for (size_t i = 0; !source->options.command && i < source->roots; i++) {
        const struct observed *root = &source->observed[i];
        if (target_is_stopped((int)root->key.pid)) {
            message_print("process %u (%s) is stopped (state T): nothing happens in it until it is continued",
                          root->key.pid, root->command);
        }
    }
    if (!source->options.command) {
        report_start(source);
        return true;
    }
    if (!launch_go(&source->launch, source->options.command, why)) {
        return false;
    }
    target_command((int)source->observed[0].key.pid, source->observed[0].command);
    return true;
}

static void report_more(const struct source *source) {
    static const char *const kinds[MESSAGES] = {
        [MESSAGE_UNOBSERVED] = "processes are not observed in full",
        [MESSAGE_UNREAD] = "processes whose memory or files take too long to read",
        [MESSAGE_HEADERS] = "times the headers of a process's heaps cannot be read",
        [MESSAGE_UNNAMED] = "processes have unreadable class names",
        [MESSAGE_PROBES] = "times probes of a file are skipped"};
    for (enum source_message kind = 0; kind < MESSAGES; kind++) {
        message_more(&source->message[kind], kinds[kind]);
    }
}

void source_close(struct source *source) {
    if (!source) {
        return;
    }
    report_more(source);
    if (source->kernel) {
        kernel_detach_by(source->kernel, now_ns() + CLOSE_NS);
    }
    for (size_t i = 0; i < source->observed_count; i++) {
        struct observed *observed = &source->observed[i];
        for (size_t j = 0; j < observed->attachments; j++) {
            source_detach(source, &observed->attached[j]);
        }
        free(observed->attached);
    }
    for (uint32_t i = 0; i < source->files; i++) {
        kernel_let_go(source->kernel, source->file[i].requested);
        kernel_let_go(source->kernel, source->file[i].attachment);
    }
    if (source->kernel) {
        kernel_detach(source->kernel);
    }
    source_close_lifetimes(source);
    for (size_t i = 0; i < source->observed_count; i++) {
        source_release(&source->observed[i]);
        source_close_pidfd(&source->observed[i]);
        free(source->observed[i].late_heap);
    }
    free(source->observed);
    source_clear_ended(source);
    for (uint32_t i = 0; i < source->files; i++) {
        source_clear_file(&source->file[i]);
    }
    free(source->file);
    free(source->free_target);
    free(source->slow);
    source_clear_children(&source->children);
    source_close_selection(source);
    libraries_clear(&source->libraries);
    launch_clear(&source->launch);
    kernel_close(source->kernel);
    inspect_close(source->inspect);
    if (source->root_fd >= 0) {
        close(source->root_fd);
    }
    free(source);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static void reap(struct source *source) {
    int status;
    if (!source->options.command || source->reaped ||
        waitpid((int)source->observed[0].key.pid, &status, WNOHANG) != (pid_t)source->observed[0].key.pid) {
        return;
    }
    source->reaped = true;
    source->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool root_has_ended(struct source *source) {
    reap(source);
    bool all = source->roots != 0;
    for (size_t i = 0; i < source->roots && all && !source->options.command; i++) {
        all = source_is_gone(&source->observed[i]);
    }
    return source->options.command ? source->reaped : all;
}

static bool must_stop(struct source *source) {
    const int last = source_last_stop(source);
    return source->stops >= last && (!source->options.lifetimes || source_end_lifetimes(source, source->stops > last));
}

/* Takes what is in the buffers, until end_ns. False: not all that was there. */
static bool take_records(struct source *source, uint64_t end_ns,
                         void (*on_event)(void *context, const struct event *event), void *context) {
    bool has_all = !source->options.lifetimes || source_follow_lifetimes(source, end_ns);
    if (source_is_for_lifetimes(&source->options)) {
        return source_take_names(source, end_ns) && has_all;
    }
    if (source->options.events && on_event) {
        /* Classes take half of the round, so that events, which may be lost, have theirs. */
        uint64_t now = now_ns();
        has_all =
            source_report_late(source, now < end_ns ? now + (end_ns - now) / 2 : now, on_event, context) && has_all;
    }
    return source_events(source, end_ns, on_event, context) && has_all;
}

/* Whether what is left in the buffers at the end is given up: a stop waits no longer for it. */
static bool has_waited(const struct source *source) {
    const int last = source_last_stop(source);
    return source->stops > last || (source->stops == last && now_ns() - source->done_ns >= ENDING_NS);
}

/* Where processes are selected, the kernel program reports the end of those only that were found to use Eden. */
static void end_gone(struct source *source) {
    for (size_t i = source->roots; i < source->observed_count; i++) {
        if (source_is_gone(&source->observed[i])) {
            source_end(source, &source->observed[i], source->done_ns);
        }
    }
}

static void finish(struct source *source, bool ended) {
    source->finished = true;
    end_gone(source);
    source->end_ns = ended ? 0 : source->done_ns;
    for (size_t i = 0; i < source->roots; i++) {
        struct observed *root = &source->observed[i];
        if (ended) {
            source_end(source, root, source->done_ns); /* unless the kernel's notice has said when */
        }
        root->ended_ns = root->ended_ns ? root->ended_ns : source->done_ns;
        root->ended = ended || (root->ended && source->roots > 1);
        source->end_ns = root->ended_ns > source->end_ns ? root->ended_ns : source->end_ns;
        if (ended && !source->options.command) {
            message_print("process %u (%s) has ended", root->key.pid, root->command);
        }
    }
    source->end_ns = source->end_ns > source->start_ns ? source->end_ns : source->start_ns; /* it ended meanwhile */
}

bool source_poll(struct source *source, int timeout_ms, void (*on_event)(void *context, const struct event *event),
                 void *context) {
    if (source->finished) {
        return false;
    }
    struct pollfd fds[] = {{.fd = source->root_fd, .events = POLLIN},
                           {.fd = kernel_events_fd(source->kernel), .events = POLLIN},
                           {.fd = kernel_chunks_fd(source->kernel), .events = POLLIN},
                           {.fd = kernel_notices_fd(source->kernel), .events = POLLIN},
                           {.fd = source->options.wake_fd ? source->options.wake_fd : -1, .events = POLLIN}};
    if (source->root_fd < 0 && (timeout_ms < 0 || timeout_ms > 50)) {
        timeout_ms = 50; /* nothing reports the root's end */
    }
    bool ended = root_has_ended(source);
    if (!ended && !must_stop(source)) {
        timeout_ms = source->life.ending_ns && timeout_ms > 10 ? 10 : timeout_ms;
        timeout_ms = source->is_behind ? 0 : timeout_ms;
        poll(fds, sizeof fds / sizeof *fds,
             source_until_look(source, timeout_ms)); /* a signal is as good an end of waiting as any */
        ended = root_has_ended(source);
    }
    bool has_notices = source_take_notices(source, now_ns() + ROUND_NS);
    if (!ended) {
        source_follow(source);
    }
    bool done = ended || must_stop(source);
    if (done && source->done_ns == 0) {
        source->done_ns = now_ns();
        kernel_end(source->kernel); /* what has ended fires no more: what is in the buffers now is all */
        has_notices = source_take_notices(source, now_ns() + ROUND_NS);
    }
    source_ready_ended(source);
    bool has_records = take_records(source, now_ns() + ROUND_NS, on_event, context);
    source->is_behind = !has_notices || !has_records;
    if (has_records) {
        source_close_ended(source);
    }
    if (!done) {
        return true;
    }
    if (source->is_behind && !has_waited(source)) {
        return true;
    }
    if (source->is_behind) {
        kernel_lose_rest(source->kernel);
        source_lose_classes(source);
    }
    finish(source, ended);
    return false;
}

void source_stop(struct source *source) { source->stops++; }

bool source_programs_ns(const struct source *source, uint64_t *ns) { return kernel_programs_ns(source->kernel, ns); }

int source_exit_status(const struct source *source) { return source->exit_status; }

uint64_t source_began_ns(const struct source *source) { return source->start_ns; }

uint64_t source_attach_ns(const struct source *source) { return source->attach_ns; }
