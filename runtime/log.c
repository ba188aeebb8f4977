/* EDEN_LOG: one JSON line a collection, with the fields of the tuning paper's log and those it missed. EDEN_STATS: one
 * JSON line a heap, at its end. docs/log.md describes the fields.
 *
 * A line is built in a buffer and written by one write to a file opened for appending, so lines of several heaps or
 * processes don't mix. A collector can't call a JSON library (which allocates) in the middle of a collection: the
 * lines are numbers and a name, and written by hand here. */
#include "private.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct line {
    char text[4096];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line->text + line->used, sizeof line->text - line->used, format, arguments);
    va_end(arguments);
    if (length > 0) {
        line->used += (size_t)length;
    }
    if (line->used >= sizeof line->text) {
        line->used = sizeof line->text - 1;
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

static void write_line(int fd, struct line *line) {
    add(line, "\n");
    for (size_t done = 0; done < line->used;) {
        ssize_t written = write(fd, line->text + done, line->used - done);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return; /* a full disk must not stop the program; the reader sees a cut line */
        }
        done += (size_t)written;
    }
}

/* "-" is standard error. -1: not wanted, or can't be opened (said once, on standard error). */
static int open_target(const char *variable) {
    const char *path = secure_getenv(variable);
    if (path == NULL || path[0] == '\0') {
        return -1;
    }
    if (strcmp(path, "-") == 0) {
        return STDERR_FILENO;
    }
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) {
        struct line line = {.used = 0};
        char reason[128];
        add(&line, "eden: %s=%.200s can't be opened for writing: %s; going on without it", variable, path,
            strerror_r(errno, reason, sizeof reason));
        write_line(STDERR_FILENO, &line);
    }
    return fd;
}

void log_open(eden_heap *heap) { heap->log_fd = open_target("EDEN_LOG"); }

void log_close(eden_heap *heap) {
    if (heap->log_fd > STDERR_FILENO) {
        close(heap->log_fd);
    }
    heap->log_fd = -1;
}

void log_scavenge(eden_heap *heap, const struct scavenge_before *before, const struct scavenge_totals *totals,
                  uint64_t duration) {
    static const char *const causes[] = EDEN_SCAVENGE_CAUSE_NAMES;
    if (heap->log_fd < 0) {
        return;
    }
    struct line line = {.used = 0};
    const struct space *survivors = &heap->semi[heap->past];
    add(&line, "{\"kind\": \"scavenge\", \"pid\": %d, \"heap\": %" PRIu64 ", \"seq\": %" PRIu64, (int)getpid(),
        heap->info.heap_id, heap->info.seq + 1);
    add(&line, ", \"time_ns\": %" PRIu64 ", \"cause\": \"%s\", \"eden_used\": %" PRIu64, before->start_ns,
        causes[before->cause], before->eden_used);
    add(&line, ", \"survivors_before\": %" PRIu64 ", \"survivors_after\": %" PRIu64, before->survivor_used,
        heap_survivor_used(heap));
    add(&line, ", \"remembered_before\": %" PRIu64 ", \"remembered_after\": %zu", before->remembered,
        remembered_now(heap));
    add(&line, ", \"tenured_before\": %" PRIu64 ", \"tenured_after\": %" PRIu64, before->tenured_objects,
        heap->figures.tenured_objects);
    add(&line, ", \"tenured_objects\": %" PRIu64 ", \"tenured_bytes\": %" PRIu64, totals->tenured_objects,
        totals->tenured_bytes);
    add(&line, ", \"threshold\": %" PRIu64 ", \"semispace\": %" PRIu64,
        heap->tenure_threshold == 0 ? 0 : (uint64_t)(heap->tenure_threshold - survivors->start),
        (uint64_t)(survivors->limit - survivors->start));
    add(&line, ", \"old_used\": %" PRIu64 ", \"old_capacity\": %" PRIu64, old_used(heap), heap->old.capacity);
    const uint64_t *ns = heap->phase_ns; /* every scavenge has run each of them once */
    add(&line, ", \"remembered_ns\": %" PRIu64 ", \"roots_ns\": %" PRIu64, ns[EDEN_PHASE_scavenge__remembered],
        ns[EDEN_PHASE_scavenge__roots]);
    add(&line, ", \"copy_ns\": %" PRIu64 ", \"weak_ns\": %" PRIu64, ns[EDEN_PHASE_scavenge__copy],
        ns[EDEN_PHASE_scavenge__weak]);
    add(&line, ", \"duration_ns\": %" PRIu64 "}", duration);
    write_line(heap->log_fd, &line);
}

void log_full(eden_heap *heap, const struct full_before *before, uint64_t duration, uint64_t survived, uint64_t freed,
              uint64_t young_freed) {
    static const char *const causes[] = EDEN_FULL_CAUSE_NAMES;
    if (heap->log_fd < 0) {
        return;
    }
    struct line line = {.used = 0};
    add(&line, "{\"kind\": \"full\", \"pid\": %d, \"heap\": %" PRIu64 ", \"seq\": %" PRIu64, (int)getpid(),
        heap->info.heap_id, heap->info.seq + 1);
    add(&line, ", \"time_ns\": %" PRIu64 ", \"cause\": \"%s\"", before->start_ns, causes[before->cause]);
    add(&line, ", \"mark_ns\": %" PRIu64 ", \"sweep_ns\": %" PRIu64 ", \"compact_ns\": %" PRIu64,
        heap->figures.mark_ns - before->mark_ns, heap->figures.sweep_ns - before->sweep_ns,
        heap->figures.compact_ns - before->compact_ns);
    add(&line, ", \"duration_ns\": %" PRIu64 ", \"survived_bytes\": %" PRIu64 ", \"freed_bytes\": %" PRIu64, duration,
        survived, freed);
    add(&line, ", \"young_freed\": %" PRIu64 ", \"old_used_before\": %" PRIu64 ", \"old_used\": %" PRIu64, young_freed,
        before->old_used, old_used(heap));
    add(&line, ", \"old_capacity\": %" PRIu64 ", \"free_chunks\": %" PRIu64 ", \"largest_chunk\": %" PRIu64,
        heap->old.capacity, heap->old.free.chunks, old_largest_free(heap));
    add(&line, ", \"segments\": %zu}", heap->old.segment_count);
    write_line(heap->log_fd, &line);
}

void stats_write(const eden_heap *heap) {
    static const char *const causes[] = EDEN_FULL_CAUSE_NAMES;
    int fd = open_target("EDEN_STATS");
    if (fd < 0) {
        return;
    }
    struct line line = {.used = 0};
    eden_figures figures;
    eden_heap_figures(heap, &figures);
    add(&line, "{\"pid\": %d, \"heap\": %" PRIu64 ", \"name\": ", (int)getpid(), heap->info.heap_id);
    add_string(&line, heap->info.name);
#define EDEN_FIGURE(name, kind, unit, doc) add(&line, ", \"" #name "\": %" PRIu64, figures.name);
#include "eden_figures.def"
#undef EDEN_FIGURE
    add(&line, ", \"full_by_cause\": {");
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        add(&line, "%s\"%s\": %" PRIu64, i == 0 ? "" : ", ", causes[i], figures.full_by_cause[i]);
    }
    add(&line, "}}");
    write_line(fd, &line);
    if (fd > STDERR_FILENO) {
        close(fd);
    }
}
