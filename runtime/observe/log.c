/* EDEN_LOG: one JSON line a collection, with the fields of the tuning paper's log and those it missed, and one a
 * decision of policy=auto. EDEN_STATS: one JSON line a heap, at its end. docs/log.md describes the fields.
 *
 * A line is built in a buffer and written by one write to a file opened for appending, so lines of several heaps or
 * processes don't mix. A collector can't call a JSON library (which allocates) in the middle of a collection: the
 * lines are numbers and a name, and written by hand here.
 *
 * Invariants:
 * I1. Nothing here waits for another process. Files are opened and written without blocking; a pipe takes a line whole
 *     or not at all (PIPE_BUF). Only standard error ("-") is written as the program left it.
 * I2. Nothing here ends or stops the process: the signals of a pipe without a reader, of the file size limit and of a
 *     terminal's background are held back.
 * I3. A line that could not be written is counted. The log reports the count as soon as it takes lines again; standard
 *     error reports it if the log never does.
 * I4. A program may close the descriptor, and get its number for a file of its own: what is open there is looked at
 *     before each line, and is never written to or closed if it is another file.
 * I5. In a folder where others may write, a link is not followed, and another user's file is not written to, unless the
 *     folder is that user's.
 * I6. No function takes 2 KiB of stack: the thread may have little. The heap has a buffer for its end and its
 *     beginning (events.h); a collection's line is shorter, for another thread may end the heap meanwhile, at exit. */
#include "observe/log.h"
#include "eden_values.h"
#include "observe/events.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIPE_ROOM = 1 << 20, /* asked for; the system's usual limit */
    MESSAGE_ROOM = 512,
    COLLECTION_ROOM = 1536, /* bytes of a line of EDEN_LOG, at most; it is on the stack of the thread that collects */
};

struct line {
    char *text;
    size_t room, used;
};
#define LINE(text) ((struct line){(text), sizeof(text), 0})

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line->text + line->used, line->room - line->used, format, arguments);
    va_end(arguments);
    if (length > 0) {
        line->used += (size_t)length;
    }
    if (line->used >= line->room) {
        line->used = line->room - 1;
    }
}

/* A JSON string. Names are at most 63 bytes; what is not plain ASCII is escaped byte by byte as Latin-1. */
static void add_string(struct line *line, const char *string) {
    add(line, "\"");
    for (const unsigned char *at = (const unsigned char *)string; *at != '\0'; at++) {
        if (*at < 0x20 || *at >= 0x7f || *at == '"' || *at == '\\') {
            add(line, "\\u%04x", *at);
        } else {
            add(line, "%c", *at);
        }
    }
    add(line, "\"");
}

/* write(), but an error is only an error: the signal that may come with it is taken back, unless it was pending before.
 */
static ssize_t write_quietly(int fd, const char *text, size_t bytes) {
    sigset_t signals, before, pending;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGXFSZ);
    sigaddset(&signals, SIGTTOU); /* blocked, it lets a background process write to its terminal */
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    ssize_t written = write(fd, text, bytes);
    int error = errno;
    int raised = written >= 0 ? 0 : error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
    if (raised != 0 && sigismember(&pending, raised) == 0) {
        sigemptyset(&signals);
        sigaddset(&signals, raised);
        sigtimedwait(&signals, NULL, &(struct timespec){0, 0});
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return written;
}

/* Writes a line and its newline. False: it was not written, or in part (is_cut); `error` says why. */
static bool write_line(struct log_file *file, struct line *line) {
    add(line, "\n");
    for (size_t done = 0; done < line->used;) {
        ssize_t written = write_quietly(file->fd, line->text + done, line->used - done);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            file->error = written == 0 ? EIO : errno;
            file->is_cut |= done != 0;
            return false;
        }
        done += (size_t)written;
    }
    file->is_cut = false;
    return true;
}

static void write_error(struct line *line) { write_line(&(struct log_file){.fd = STDERR_FILENO}, line); }

/* May `folder` hold what others put there? Then they may not choose where we write (I5). */
static bool is_shared(const struct stat *folder) {
    return (folder->st_uid != geteuid() && folder->st_uid != 0) || (folder->st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

/* `at`, `name`: of what is open. Others may take a link away once it is open: then the file has one name, but another
 * one. So the name is asked which file it is and how many there are, in one answer. */
static const char *refusal(const struct stat *file, const struct stat *folder, int at, const char *name) {
    struct stat named;
    if (S_ISBLK(file->st_mode)) {
        return "it is a block device";
    }
    if (is_shared(folder) && file->st_uid != geteuid() && file->st_uid != folder->st_uid) {
        return "it belongs to another user, in a folder that others may write to";
    }
    if (is_shared(folder) && S_ISREG(file->st_mode) &&
        (fstatat(at, name, &named, AT_SYMLINK_NOFOLLOW) != 0 || named.st_dev != file->st_dev ||
         named.st_ino != file->st_ino || named.st_nlink != 1)) {
        return "it has other hard links, in a folder that others may write to";
    }
    return NULL;
}

/* What a program without standard streams writes to them is not for our file. */
static int above_streams(int fd) {
    if (fd < 0 || fd > STDERR_FILENO) {
        return fd;
    }
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    close(fd);
    errno = error;
    return moved;
}

static const char *open_error(int folder, const char *name, bool is_shared, int error) {
    struct stat file;
    if (error == ENXIO && fstatat(folder, name, &file, 0) == 0 && !S_ISCHR(file.st_mode)) {
        return S_ISFIFO(file.st_mode) ? "it has no reader: start the reader first" : "it is a socket";
    }
    if (error == ELOOP && is_shared) {
        return "it is a symbolic link, in a folder that others may write to";
    }
    return strerrordesc_np(name[0] == '\0' ? EISDIR : error);
}

/* The descriptor; `log` gets what is open there. -1, and why, where path can't be appended to. */
static int open_path(const char *path, char folder_path[LOG_ROOM], struct log_file *log, const char **why) {
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    struct stat folder, file;
    if ((size_t)(name - path) >= LOG_ROOM) {
        *why = strerrordesc_np(ENAMETOOLONG);
        return -1;
    }
    memcpy(folder_path, path, (size_t)(name - path));
    folder_path[name - path] = '\0';
    int at = open(slash == NULL ? "." : folder_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0 || fstat(at, &folder) != 0) {
        *why = strerrordesc_np(errno);
        return -1;
    }
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int fd = above_streams(openat(at, name, flags | (is_shared(&folder) ? O_NOFOLLOW : 0), 0644));
    *why = fd >= 0 ? NULL : open_error(at, name, is_shared(&folder), errno);
    if (fd >= 0) {
        *why = fstat(fd, &file) != 0 ? strerrordesc_np(errno) : refusal(&file, &folder, at, name);
    }
    close(at);
    if (fd >= 0 && *why != NULL) {
        close(fd);
        return -1;
    }
    if (fd >= 0) {
        log->device = file.st_dev;
        log->inode = file.st_ino;
        if (S_ISFIFO(file.st_mode)) {
            fcntl(fd, F_SETPIPE_SZ, PIPE_ROOM); /* a reader may fall back by so much; refused: by less */
        }
    }
    return fd;
}

/* "-" is standard error. fd -1: not wanted, or can't be opened (reported on standard error). `room`: for a path. */
static struct log_file open_target(const char *variable, char room[LOG_ROOM]) {
    const char *path = secure_getenv(variable);
    struct log_file file = {.fd = -1};
    if (path == NULL || path[0] == '\0') {
        return file;
    }
    if (strcmp(path, "-") == 0) {
        file.fd = STDERR_FILENO;
        return file;
    }
    const char *why = NULL;
    file.fd = open_path(path, room, &file, &why);
    if (file.fd < 0) {
        char text[MESSAGE_ROOM];
        struct line line = LINE(text);
        add(&line, "eden: %s=%.200s cannot be opened for writing: %s; continuing without it", variable, path, why);
        write_error(&line);
    }
    return file;
}

static bool is_ours(const struct log_file *file) {
    struct stat now;
    return file->fd == STDERR_FILENO ||
           (fstat(file->fd, &now) == 0 && now.st_dev == file->device && now.st_ino == file->inode);
}

static void close_target(struct log_file *file) {
    if (file->fd > STDERR_FILENO && is_ours(file)) {
        close(file->fd);
    }
    file->fd = -1;
}

static void report_lost(const eden_heap *heap, const char *variable, const struct log_file *file) {
    char text[MESSAGE_ROOM];
    struct line line = LINE(text);
    add(&line, "eden: %s: heap %" PRIu64 ": lines lost: %" PRIu64 " (%s)", variable, heap->info.heap_id, file->lost,
        file->error == EAGAIN ? "the reader is too slow" : strerrordesc_np(file->error));
    write_error(&line);
}

/* A line for the lines before it that were lost. True: none, or reported. */
static bool write_lost(struct events *events) {
    const eden_heap *heap = events->observer.heap;
    struct log_file *file = &events->log;
    if (file->lost != 0) {
        char text[MESSAGE_ROOM];
        struct line line = LINE(text);
        add(&line, "%s{\"kind\": \"lost\", \"pid\": %d, \"heap\": %" PRIu64 ", \"lines\": %" PRIu64 "}",
            file->is_cut ? "\n" : "", (int)getpid(), heap->info.heap_id, file->lost);
        if (!write_line(file, &line)) {
            return false;
        }
        file->lost = 0;
    }
    return true;
}

static void log_line(struct events *events, struct line *line) {
    if (!is_ours(&events->log)) {
        char text[MESSAGE_ROOM];
        struct line message = LINE(text);
        add(&message, "eden: EDEN_LOG: the program has closed its descriptor; continuing without it");
        write_error(&message);
        events->log.fd = -1;
        return;
    }
    if (!write_lost(events) || !write_line(&events->log, line)) {
        events->log.lost++;
    }
}

void log_open(struct events *events) { events->log = open_target("EDEN_LOG", events->room); }

void log_close(struct events *events) {
    const struct log_file *log = &events->log;
    if (log->fd >= 0 && log->lost != 0 && (!is_ours(log) || !write_lost(events))) {
        report_lost(events->observer.heap, "EDEN_LOG", &events->log);
    }
    close_target(&events->log);
}

void log_scavenge(struct events *events, const struct scavenge_pass *pass, uint64_t ns) {
    if (events->log.fd < 0) {
        return;
    }
    const eden_heap *heap = events->observer.heap;
    const struct scavenge_before *before = &events->scavenge;
    char text[COLLECTION_ROOM];
    struct line line = LINE(text);
    const struct space *survivors = &heap->semi[heap->from];
    add(&line, "{\"kind\": \"scavenge\", \"pid\": %d, \"heap\": %" PRIu64 ", \"seq\": %" PRIu64, (int)getpid(),
        heap->info.heap_id, heap->info.seq + 1);
    add(&line, ", \"time_ns\": %" PRIu64 ", \"cause\": \"%s\", \"eden_used\": %" PRIu64, pass->start_ns,
        eden_scavenge_cause_name(pass->cause), before->eden_used);
    add(&line, ", \"survivors_before\": %" PRIu64 ", \"survivors_after\": %" PRIu64, before->survivor_used,
        heap_survivor_used(heap));
    add(&line, ", \"remembered_before\": %" PRIu64 ", \"remembered_after\": %zu", before->remembered,
        heap_remembered(heap));
    add(&line, ", \"tenured_before\": %" PRIu64 ", \"tenured_after\": %" PRIu64, before->tenured_objects,
        heap->figures.tenured_objects);
    add(&line, ", \"tenured_objects\": %" PRIu64 ", \"tenured_bytes\": %" PRIu64, pass->tenured_objects,
        pass->tenured_bytes);
    add(&line, ", \"threshold\": %" PRIu64 ", \"semispace\": %" PRIu64,
        heap->tenure_threshold <= survivors->start ? 0 : (uint64_t)(heap->tenure_threshold - survivors->start),
        (uint64_t)(survivors->limit - survivors->start));
    add(&line, ", \"old_used\": %" PRIu64 ", \"old_capacity\": %" PRIu64, heap_old_used(heap), heap->old.capacity);
    const uint64_t *phase_ns = events->phase_ns; /* those of marking and sweeping are 0 without a step (heap/cycle.c) */
    add(&line, ", \"remembered_ns\": %" PRIu64 ", \"roots_ns\": %" PRIu64, phase_ns[EDEN_PHASE_scavenge__remembered],
        phase_ns[EDEN_PHASE_scavenge__roots]);
    add(&line, ", \"copy_ns\": %" PRIu64 ", \"weak_ns\": %" PRIu64, phase_ns[EDEN_PHASE_scavenge__copy],
        phase_ns[EDEN_PHASE_scavenge__weak]);
    add(&line, ", \"mark_ns\": %" PRIu64 ", \"sweep_ns\": %" PRIu64 ", \"duration_ns\": %" PRIu64 ", \"in_place\": %s}",
        phase_ns[EDEN_PHASE_scavenge__mark], phase_ns[EDEN_PHASE_scavenge__sweep], ns,
        pass->in_place ? "true" : "false");
    log_line(events, &line);
}

void log_full(struct events *events, const struct full_pass *pass, uint64_t ns, uint64_t freed) {
    if (events->log.fd < 0) {
        return;
    }
    const eden_heap *heap = events->observer.heap;
    const struct full_before *before = &events->full;
    char text[COLLECTION_ROOM];
    struct line line = LINE(text);
    add(&line, "{\"kind\": \"full\", \"pid\": %d, \"heap\": %" PRIu64 ", \"seq\": %" PRIu64, (int)getpid(),
        heap->info.heap_id, heap->info.seq + 1);
    add(&line, ", \"time_ns\": %" PRIu64 ", \"cause\": \"%s\"", pass->start_ns, eden_full_cause_name(pass->cause));
    add(&line, ", \"mark_ns\": %" PRIu64 ", \"sweep_ns\": %" PRIu64 ", \"compact_ns\": %" PRIu64,
        heap->figures.mark_ns - before->mark_ns, heap->figures.sweep_ns - before->sweep_ns,
        heap->figures.compact_ns - before->compact_ns);
    add(&line, ", \"duration_ns\": %" PRIu64 ", \"survived_bytes\": %" PRIu64 ", \"freed_bytes\": %" PRIu64, ns,
        pass->survived_bytes, freed);
    add(&line, ", \"young_freed\": %" PRIu64 ", \"old_used_before\": %" PRIu64 ", \"old_used\": %" PRIu64,
        pass->young_freed, before->old_used, heap_old_used(heap));
    add(&line, ", \"old_capacity\": %" PRIu64 ", \"free_chunks\": %" PRIu64 ", \"largest_chunk\": %" PRIu64,
        heap->old.capacity, heap->old.free.chunks, old_space_largest_free(heap));
    add(&line, ", \"segments\": %zu}", heap->old.segment_count);
    log_line(events, &line);
}

void log_decision(struct events *events, const struct policy_decision *decision) {
    if (events->log.fd < 0) {
        return;
    }
    const eden_heap *heap = events->observer.heap;
    char text[COLLECTION_ROOM];
    struct line line = LINE(text);
    add(&line, "{\"kind\": \"policy\", \"pid\": %d, \"heap\": %" PRIu64 ", \"seq\": %" PRIu64, (int)getpid(),
        heap->info.heap_id, heap->info.seq + 1);
    add(&line, ", \"time_ns\": %" PRIu64 ", \"decision\": \"%s\", \"reason\": \"%s\"", system_now_ns(),
        eden_decision_name(decision->decision), eden_decision_reason_name(decision->reason));
    add(&line, ", \"from_bytes\": %" PRIu64 ", \"to_bytes\": %" PRIu64 "}", decision->from, decision->to);
    log_line(events, &line);
}

/* Those that are set. A file has no room: its name may be long. */
static void add_parameters(struct line *line, const struct params *params) {
    char text[64];
    const char *before = "";
    add(line, ", \"parameters\": {");
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        const struct eden_param *param = eden_param(id);
        if (params_has(params, id) && param->kind != EDEN_KIND_file) {
            params_get(params, param->name, text, sizeof text);
            add(line, "%s\"%s\": \"%s\"", before, param->name, text);
            before = ", ";
        }
    }
    add(line, "}");
}

void log_stats(struct events *events) {
    const eden_heap *heap = events->observer.heap;
    struct log_file file = open_target("EDEN_STATS", events->room);
    if (file.fd < 0) {
        return;
    }
    struct line line = LINE(events->room);
    eden_figures figures;
    eden_heap_figures(heap, &figures);
    add(&line, "{\"pid\": %d, \"heap\": %" PRIu64 ", \"name\": ", (int)getpid(), heap->info.heap_id);
    if (heap->info.name[0] == 0) {
        add(&line, "null");
    } else {
        add_string(&line, heap->info.name);
    }
#define EDEN_FIGURE(name, kind, unit, doc) add(&line, ", \"" #name "\": %" PRIu64, figures.name);
#include "eden_figures.def"
#undef EDEN_FIGURE
    add(&line, ", \"full_by_cause\": {");
    for (unsigned i = 0; i < EDEN_FULL_CAUSES; i++) {
        add(&line, "%s\"%s\": %" PRIu64, i == 0 ? "" : ", ", eden_full_cause_name(i), figures.full_by_cause[i]);
    }
    add(&line, "}");
    add_parameters(&line, &heap->params);
    add(&line, "}");
    if (!write_line(&file, &line)) {
        file.lost = 1;
        report_lost(heap, "EDEN_STATS", &file);
    }
    close_target(&file);
}
