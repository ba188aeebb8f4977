/* The observed process and its children: what the kernel says of them (descent.bpf.c), and which of them could not be
 * observed.
 *
 * 1. Purpose
 * A process is looked at as soon as it executes a program. Programs that came and went before that are counted.
 *
 * 2. Terms
 * Image: what a process runs between fork or exec and the next exec or its end. Program: a file that was executed.
 * Inspected: an image whose probes are all attached to, or that is known to have none.
 *
 * 3. Algorithm
 * A program that is executed for the first time is inspected at once, with its libraries as its loader will find them.
 * For a command the files are attached to for every process, so each later image of that program is observed from its
 * first instruction, however short it lives. With -p PID each process is attached to by itself, in its mappings
 * (source_follow.c). A fork continues its parent's image. The file is opened through /proc/PID/exe or, if the child has
 * ended, by the path that it was executed by, if that leads to the device and inode that the kernel named.
 *
 * What is known of a program holds for one user: another may be allowed to open other libraries, and may have executed
 * the file by another path. It also holds only for the same loader variables and the same folder of $ORIGIN: a file can
 * be bound to several places. A process with a root folder of its own finds other files by the same paths. Where the
 * loader may find other libraries than the search did, only a process whose mappings have stayed as they are for
 * LOADED_NS of its CPU time counts as inspected (source_follow.c): its loader may not have been done at the first look.
 *
 * 4. Invariants
 * I1. A process that ends is counted as missed, once, if one of its images was not inspected, or attached to after it
 *     had begun, and nothing of a heap was seen in it. Whether it used Eden is unknown. What a fork continues counts
 *     only if the process ends with it: it runs the parent's program until it executes its own.
 * I2. An ended process without heaps is forgotten: memory is bounded by the living processes and the heaps.
 *
 * 5. Failure
 * A lost notice counts as a missed child. The processes themselves are then found by looking, at once and every few
 * seconds. */
#include "session/source_parts.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/sum.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MOST_PROGRAMS = 1024 };

static bool open_executed(struct source *source, const struct exec_notice *notice, struct regular *file) {
    struct libraries *libraries = &source->libraries;
    const uint32_t user = notice->head.user;
    const uint64_t device = notice->file.device;
    const struct file_identity executed = {
        makedev((unsigned)(device >> KERNEL_MINOR_BITS), (unsigned)device & ((1u << KERNEL_MINOR_BITS) - 1)),
        notice->file.inode};
    char path[64];
    libraries_empty(libraries);
    libraries_charge(libraries, user, notice->head.owner);
    const uint64_t spent_ns = libraries->budget.spent_ns;
    snprintf(path, sizeof path, "/proc/%u/exe", notice->head.process.pid);
    /* If it has ended: the path is its own word, and leads only where its user may go. */
    bool is_open = libraries_open_program(libraries, 0, path, &executed, false, file) ||
                   libraries_open_program(libraries, user, notice->path, &executed, false, file);
    if (is_open) { /* most are known: however often they are executed, that leaves the budget alone */
        libraries->budget.spent_ns = spent_ns;
    }
    return is_open;
}

static bool is_executed_so(const struct program *program, const struct exec_notice *notice, const char *folder) {
    return program->knows_environment == notice->knows_environment && program->is_elsewhere == notice->is_elsewhere &&
           strcmp(program->folder, folder) == 0 && strcmp(program->library_path, notice->library_path) == 0 &&
           strcmp(program->preload, notice->preload) == 0;
}

static struct program *find_program(const struct children *children, const struct observed *observed,
                                    const struct exec_notice *notice, const struct regular *file) {
    const struct stat *status = &file->status;
    char folder[PATH_MAX];
    libraries_folder_of(file->fd, folder);
    for (size_t i = 0; i < children->programs; i++) {
        struct program *program = &children->program[i];
        if (program->user == observed->user && program->device == status->st_dev && program->inode == status->st_ino &&
            program->changed.tv_sec == status->st_ctim.tv_sec && program->changed.tv_nsec == status->st_ctim.tv_nsec &&
            is_executed_so(program, notice, folder) &&
            (!program->failed || process_is_same(&program->branch, &observed->branch))) {
            return program;
        }
    }
    return NULL;
}

static bool may_add_program(const struct children *children, const struct observed *observed) {
    uint32_t owner = 0, branch = 0;
    for (size_t i = 0; i < children->programs; i++) {
        owner += children->program[i].owner == observed->owner;
        branch += process_is_same(&children->program[i].branch, &observed->branch);
    }
    return kernel_share_left(owner, branch, (uint32_t)children->programs, MOST_PROGRAMS) != 0;
}

/* Looks into a program that is new. Takes the file. NULL: it could not be looked into. */
static struct program *add_program(struct source *source, struct observed *observed, const struct exec_notice *notice,
                                   struct regular *executed) {
    struct children *children = &source->children;
    struct program *added =
        may_add_program(children, observed)
            ? array_grow(&children->program, &children->program_room, children->programs, sizeof *added)
            : NULL;
    if (!added) {
        regular_close(executed);
        return NULL;
    }
    char folder[PATH_MAX];
    libraries_folder_of(executed->fd, folder);
    struct program program = {.device = executed->status.st_dev,
                              .inode = executed->status.st_ino,
                              .changed = executed->status.st_ctim,
                              .branch = observed->branch,
                              .owner = observed->owner,
                              .user = observed->user,
                              .folder = strdup(folder),
                              .is_elsewhere = notice->is_elsewhere,
                              .knows_environment = notice->knows_environment};
    if (!program.folder) {
        regular_close(executed);
        return NULL;
    }
    memcpy(program.library_path, notice->library_path, sizeof program.library_path);
    memcpy(program.preload, notice->preload, sizeof program.preload);
    const struct loader_environment environment = {program.library_path, program.preload,
                                                   program.knows_environment && !program.is_elsewhere, false};
    struct failure why;
    uint64_t attached_ns = 0;
    bool is_read = libraries_add(&source->libraries, notice->path, executed, &environment);
    for (size_t i = 0; i < source->libraries.count; i++) {
        if (source->stops >= source_last_stop(source)) { /* it is unknown what the others have */
            program.failed = true;
            break;
        }
        const struct library *file = &source->libraries.file[i];
        int64_t number =
            source_add_file(source, observed, source_budget(observed), &file->file, file->path, true, &why);
        program.has_probes = program.has_probes || (number >= 0 && source->file[number].sites[KERNEL_ON_PROBE] != 0);
        program.failed =
            program.failed || number < 0 || source->file[number].is_malformed ||
            (source_is_by_file(source) && !source_attach_file(source, observed, (uint32_t)number, &file->file, &why));
        if (!program.failed && source->file[number].attached_ns > attached_ns) {
            attached_ns = source->file[number].attached_ns;
        }
    }
    program.is_partial = source->libraries.is_partial;
    program.failed = program.failed || source->libraries.budget.is_unread;
    libraries_empty(&source->libraries);
    program.ready_ns = is_read && !program.failed ? attached_ns : UINT64_MAX;
    children->program[children->programs++] = program;
    return &children->program[children->programs - 1];
}

/* Whether anything is known of a heap that the process has had from one time to another, which are also given as
 * serials of entries: after `last`, up to `end`. */
static bool has_heaps_within(const struct source *source, const struct observed *observed, uint64_t since,
                             uint64_t until, uint64_t last, uint64_t end) {
    uint32_t count;
    const volatile struct heap_entry *entry = kernel_heaps(source->kernel, &count);
    bool found = false;
    for (size_t i = 0; i < observed->late_heaps && !found; i++) {
        found = observed->late_heap[i].read_ns >= since && observed->late_heap[i].read_ns <= until;
    }
    for (uint32_t i = 0; i < count && !found; i++) {
        found = entry[i].flags & HEAP_USED && entry[i].serial > last && entry[i].serial <= end &&
                process_is_same(&entry[i].key.process, &observed->key);
    }
    return found;
}

/* Whether something was attached to after its image had begun, up to this time. */
static bool is_late(const struct observed *observed, uint64_t end_ns) {
    bool is_late = false;
    for (size_t i = 0; observed->image_ns != 0 && i < observed->attachments; i++) {
        const uint64_t since_ns = observed->attached[i].since_ns;
        is_late = is_late || (since_ns > observed->image_ns && since_ns <= end_ns);
    }
    return is_late;
}

/* Whether the image that ends at this time, and serial of an entry, could not be observed. What was found and attached
 * to later is the next image's, whose notice came late. */
static bool is_missed(const struct source *source, const struct observed *observed, uint64_t end_ns, uint64_t end) {
    const bool is_inspected = observed->inspected_ns != 0 && observed->inspected_ns <= end_ns;
    return (!is_inspected || is_late(observed, end_ns)) &&
           !has_heaps_within(source, observed, observed->image_ns, end_ns, observed->image_serial, end);
}

/* Whether what was found of a program holds for the next process that executes its file: all of it was found, by the
 * usual paths, and is attached to. */
static bool holds_for_all(const struct program *program) {
    return program && !program->failed && !program->is_partial && program->knows_environment &&
           !program->is_elsewhere && program->library_path[0] == 0 && program->preload[0] == 0;
}

/* Returns the program; NULL: it could not be looked into. */
static const struct program *take_exec(struct source *source, struct observed *observed,
                                       const struct exec_notice *notice) {
    struct regular file;
    bool is_open = open_executed(source, notice, &file);
    struct program *program = is_open ? find_program(&source->children, observed, notice, &file) : NULL;
    if (!program && is_open) {
        program = add_program(source, observed, notice, &file);
    } else {
        regular_close(&file);
    }
    if (observed->held_ns < notice->head.time_ns) { /* what vfork() shared with the parent can still be read */
        source_release(observed);
    }
    observed->has_missed_image =
        observed->has_missed_image ||
        (observed->has_executed && is_missed(source, observed, notice->head.time_ns, notice->last_serial));
    observed->has_executed = true;
    observed->image_ns = notice->head.time_ns;
    observed->image_serial = notice->last_serial;
    observed->exec_ns = observed->exec_ns ? observed->exec_ns : notice->head.time_ns;
    observed->image_late = is_late(observed, UINT64_MAX); /* the notice may come after the attachment */
    observed->expects_probes = program && program->has_probes;
    observed->is_partial = !program || program->failed || program->is_partial;
    observed->has_all = false;
    const bool is_inspected =
        !observed->is_partial &&
        (!program->has_probes || (source_is_by_file(source) && program->ready_ns <= notice->head.time_ns));
    observed->inspected_ns = is_inspected ? notice->head.time_ns : 0;
    observed->look_ns = 0;
    observed->pause_ns = 1000000;
    snprintf(observed->command, sizeof observed->command, "%.16s", notice->command);
    return program;
}

static void take_fork(struct source *source, struct observed *child, const struct notice *notice) {
    const struct observed *parent = source_find(source, &notice->parent);
    child->image_ns = notice->time_ns;
    if (parent) {
        memcpy(child->command, parent->command, sizeof child->command);
        if (child->unit[0] == 0) { /* perhaps it has ended before it could be looked at */
            memcpy(child->unit, parent->unit, sizeof child->unit);
        }
        child->expects_probes = parent->expects_probes || parent->attachments > 0;
        child->is_partial = parent->is_partial;
        const bool is_inspected = parent->inspected_ns != 0 &&
                                  ((source_is_by_file(source) && !source->is_by_process) || !child->expects_probes);
        child->inspected_ns = is_inspected ? notice->time_ns : 0;
    }
}

/* What is attached to has been seen since it began. What was there before is found by a look. */
static void take_found(struct observed *observed, const struct exec_notice *notice, bool is_new) {
    observed->is_candidate = false;
    if (is_new) {
        observed->inspected_ns = now_ns();
        observed->look_ns = 0;
        snprintf(observed->command, sizeof observed->command, "%.16s", notice->command);
    }
}

static void on_notice(void *context, const struct notice *notice) {
    struct source *source = context;
    struct observed *observed = source_find(source, &notice->process);
    /* A candidate that was given up a moment ago, and uses Eden after all, begins anew. */
    bool is_new = !observed || (observed->empty && (notice->kind == NOTICE_FOUND || notice->kind == NOTICE_PROGRAM));
    if (is_new) {
        observed = source_observe(source, &notice->process, &notice->branch, notice->user, notice->owner);
    }
    if (!observed) {
        source->children.missed += notice->kind == NOTICE_END;
        return;
    }
    observed->user = notice->user;
    observed->owner = notice->owner;
    if (notice->kind == NOTICE_FORK && is_new) {
        take_fork(source, observed, notice);
    } else if (notice->kind == NOTICE_EXEC) {
        take_exec(source, observed, (const struct exec_notice *)notice);
    } else if (notice->kind == NOTICE_PROGRAM) {
        observed->is_candidate = is_new || observed->is_candidate;
        if (holds_for_all(take_exec(source, observed, (const struct exec_notice *)notice))) {
            kernel_know_file(source->kernel, &((const struct exec_notice *)notice)->file);
        }
    } else if (notice->kind == NOTICE_FOUND) {
        take_found(observed, (const struct exec_notice *)notice, is_new);
    } else if (notice->kind == NOTICE_END) {
        source_end(source, observed, notice->time_ns);
    }
}

bool source_take_notices(struct source *source, uint64_t end_ns) {
    return kernel_notices(source->kernel, end_ns, on_notice, source);
}

/* ---- those that have ended -------------------------------------------------------------------------------------- */

bool source_has_heaps(const struct source *source, const struct observed *observed) {
    return has_heaps_within(source, observed, 0, UINT64_MAX, 0, UINT64_MAX);
}

void source_count_missed(struct source *source, struct observed *observed) {
    const bool is_root = observed->is_root;
    struct share share;
    observed->empty =
        !is_root && !source_has_heaps(source, observed) && !kernel_share(source->kernel, &observed->key, &share);
    /* The root before its first exec that is noticed: our own process, or one that was attached to. */
    source->children.missed += observed->has_missed_image || ((!is_root || observed->has_executed) &&
                                                              is_missed(source, observed, UINT64_MAX, UINT64_MAX));
}

uint64_t source_missed_children(const struct source *source) {
    return source->children.missed + kernel_lost_kind(source->kernel, LOST_CHILDREN) +
           kernel_lost_kind(source->kernel, LOST_NOTICES);
}

void source_clear_children(struct children *children) {
    for (size_t i = 0; i < children->programs; i++) {
        free(children->program[i].folder);
    }
    free(children->program);
}

void source_forget_empty(struct source *source) {
    size_t kept = 0;
    for (size_t i = 0; i < source->observed_count; i++) {
        struct observed *observed = &source->observed[i];
        if (observed->empty) {
            sum_add(&source->children.forgotten_heaps, observed->lost_heaps);
            free(observed->attached);
            free(observed->late_heap);
        } else {
            source->observed[kept++] = *observed;
        }
    }
    source->observed_count = kept;
}
