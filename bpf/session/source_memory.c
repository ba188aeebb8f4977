/* The memory of an observed process: one handle for each of its address spaces.
 *
 * 1. Purpose
 * Whatever is read from a process or written to it belongs to one address space. A process that calls exec between two
 * looks gets another program, perhaps one of another user: what is known of the old address space says nothing about
 * the new one.
 *
 * 2. Terms
 * Handle: struct target. Registry: the list of heaps of one copy of libeden (eden_abi.h). Control word: sample_control
 * of a heap's header.
 *
 * 3. Algorithm
 * The handle is opened when the process is looked at, and again when its address space is gone. Then its registries are
 * forgotten, and its late heaps are read no more. Between two looks it stays open only while something may be read or
 * written through it: late heaps, control words.
 *
 * Each process takes descriptors: of itself (pidfd), of its memory, of what is attached to it. Half of those that the
 * tool may open are for these, shared by branch; the other half is for the tool, and for a look.
 *
 * 4. Invariants
 * I1. A control word, or the request for a collection, is written only in a heap that a registry lists now, read
 *     through the same handle.
 * I2. Only the user's request, the request to end and 0 are written. A request that is there already may have a profile
 *     with births that nobody here has seen: then EDEN_CONTROL_TURN makes the new one differ, so that a new profile
 *     begins. 0 replaces no request of another tool.
 * I3. A handle that is opened again gives the process no more time than it had.
 *
 * 5. Failure
 * A process that cannot be opened, does not answer in time, or whose branch has used up its descriptors is observed by
 * its probes alone. A message says so once a process. A process without a pidfd has ended when the kernel, or a look,
 * says so. */
#include "session/source_parts.h"
#include "util/clock.h"
#include "util/hash.h"
#include <errno.h>
#include <unistd.h>

enum { HANDLE_FILES = 3 };

/* ---- descriptors ------------------------------------------------------------------------------------------------ */

static bool needs_memory(const struct source *source, const struct observed *observed) {
    bool needed = source->options.lifetimes && observed->attachments != 0;
    for (size_t i = 0; i < observed->late_heaps && !needed; i++) {
        needed = !observed->late_heap[i].gone;
    }
    return needed;
}

/* How many descriptors it keeps between two looks. */
static uint32_t kept_by(const struct source *source, const struct observed *observed) {
    uint32_t kept = (observed->pidfd >= 0 ? 1u : 0u) + (needs_memory(source, observed) ? HANDLE_FILES : 0);
    for (size_t i = 0; i < observed->attachments; i++) {
        for (int program = 0; program < KERNEL_PROGRAMS; program++) {
            kept += kernel_descriptors(source->kernel, observed->attached[i].by[program]);
        }
    }
    return kept;
}

bool source_may_keep(const struct source *source, unsigned owner, const struct process_key *branch, uint32_t more) {
    uint32_t by_owner = 0, by_branch = 0, taken = 0;
    for (size_t i = 0; i < source->observed_count; i++) {
        const struct observed *observed = &source->observed[i];
        uint32_t kept = observed->ended ? 0 : kept_by(source, observed);
        taken += kept;
        by_owner += observed->owner == owner ? kept : 0;
        by_branch += process_is_same(&observed->branch, branch) ? kept : 0;
    }
    for (uint32_t i = 0; i < source->files; i++) {
        const struct file *file = &source->file[i];
        uint32_t kept =
            kernel_descriptors(source->kernel, file->attachment) + kernel_descriptors(source->kernel, file->requested);
        taken += kept;
        by_owner += file->owner == owner ? kept : 0;
        by_branch += process_is_same(&file->branch, branch) ? kept : 0;
    }
    return kernel_share_left(by_owner, by_branch, taken, source->most_descriptors) >= more;
}

bool source_may_hold(const struct source *source, const struct observed *observed) {
    return needs_memory(source, observed) || source_may_keep(source, observed->owner, &observed->branch, HANDLE_FILES);
}

void source_open_pidfd(const struct source *source, struct observed *observed) {
    if (source_may_keep(source, observed->owner, &observed->branch, 1)) {
        observed->pidfd = target_pidfd((int)observed->key.pid);
        observed->is_gone = observed->pidfd < 0 && errno == ESRCH;
    }
}

void source_close_pidfd(struct observed *observed) {
    if (observed->pidfd >= 0) {
        close(observed->pidfd);
    }
    observed->pidfd = -1;
}

bool source_is_gone(const struct observed *observed) {
    return observed->ended || observed->is_gone || (observed->pidfd >= 0 && target_has_ended(observed->pidfd));
}

/* ---- the handle ------------------------------------------------------------------------------------------------- */

void source_let_go(const struct source *source, struct observed *observed) {
    if (!needs_memory(source, observed)) {
        target_close(&observed->target);
        observed->registries = 0; /* I1: it may run another program when it is opened again */
    }
}

void source_release(struct observed *observed) {
    target_close(&observed->target);
    observed->registries = 0;
    observed->mapped = 0;
    for (size_t i = 0; i < observed->late_heaps; i++) {
        observed->late_heap[i].gone = true;
    }
}

static bool hold(const struct source *source, struct observed *observed) {
    const struct target before = observed->target;
    if (before.maps >= 0) {
        return true;
    }
    if (before.is_unread) {
        errno = ETIMEDOUT;
        return false;
    }
    bool held = inspect_process(source->inspect, (int)observed->key.pid, observed->owner, observed->key.start_ns,
                                source->options.lifetimes || source->options.collects, &observed->target);
    observed->target.opened_ns = before.opened_ns ? before.opened_ns : observed->target.opened_ns; /* I3 */
    observed->target.spent_ns += before.spent_ns;
    observed->held_ns = now_ns();
    return held;
}

/* errno is ESRCH afterwards. */
static bool has_lost_thread(const struct source *source, const struct observed *observed) {
    const int pid = (int)observed->key.pid;
    bool is_lost = !needs_memory(source, observed) && target_lacks_first_thread(pid) &&
                   inspect_start(source->inspect, pid) == observed->key.start_ns;
    errno = ESRCH;
    return is_lost;
}

bool source_map(struct source *source, struct observed *observed, struct mappings *mappings) {
    *mappings = (struct mappings){0};
    bool held = hold(source, observed), read = held && inspect_mappings(source->inspect, &observed->target, mappings);
    if (held && !read && errno == ESTALE) {
        source_release(observed);
        read = hold(source, observed) && inspect_mappings(source->inspect, &observed->target, mappings);
    }
    /* Where the first thread has ended, maps are another thread's, and end with it. */
    for (int tries = 0; tries < TARGET_TRIES && !read && errno == ESRCH && has_lost_thread(source, observed); tries++) {
        source_release(observed);
        read = hold(source, observed) && inspect_mappings(source->inspect, &observed->target, mappings);
    }
    if (!read && errno == ESRCH && has_lost_thread(source, observed)) {
        errno = EAGAIN;
    }
    int error = errno;
    source_report_unread(source, observed);
    observed->is_gone = observed->is_gone || (!held && error == ESRCH && observed->pidfd < 0);
    errno = error;
    return read;
}

void source_report_unread(struct source *source, struct observed *observed) {
    if (observed->target.is_unread && !observed->reported_unread) {
        observed->reported_unread = true;
        message_few(&source->message[MESSAGE_UNREAD],
                    "process %u (%s): reading its memory or files takes too long; no further probes are attached",
                    observed->key.pid, observed->command);
    }
}

uint64_t source_fingerprint(const struct mappings *mappings) {
    uint64_t hash = HASH_EMPTY;
    for (size_t i = 0; i < mappings->count; i++) {
        const struct mapping *at = &mappings->at[i];
        const uint64_t words[] = {at->start, at->offset, at->device, at->inode};
        for (size_t j = 0; j < sizeof words / sizeof *words; j++) {
            hash = hash_add(hash, words[j]);
        }
    }
    return hash;
}

bool source_find_registry(const struct source *source, struct observed *observed, uint32_t number,
                          const struct mapping *mapping, uint64_t *address) {
    const struct file *file = &source->file[number];
    uint64_t bias;
    if (file->registry == 0 || !notes_load_bias(&file->notes, mapping->offset, mapping->start, &bias)) {
        return false;
    }
    *address = file->registry + bias;
    for (size_t i = 0; i < observed->registries; i++) {
        if (observed->registry[i] == *address) {
            return true;
        }
    }
    if (observed->registries < MOST_REGISTRIES) {
        observed->registry[observed->registries++] = *address;
    }
    return true;
}

/* Finds the heap in the registries anew (I1). */
static bool find_heap(struct source *source, struct observed *observed, uint64_t heap, struct heapinfo *info) {
    for (size_t i = 0; i < observed->registries; i++) {
        if (inspect_find_heap(source->inspect, &observed->target, observed->registry[i], heap, info)) {
            return true;
        }
    }
    source_report_unread(source, observed);
    return false;
}

bool source_write_control(struct source *source, struct observed *observed, uint64_t heap, uint64_t value, bool anew) {
    struct heapinfo info;
    if (!find_heap(source, observed, heap, &info)) {
        return false;
    }
    uint64_t own = source->options.control, end = EDEN_CONTROL_ASKED | EDEN_CONTROL_END;
    bool is_left = value == own && value == info.control; /* I2 */
    bool is_others = value == 0 && info.control != end && (info.control & ~EDEN_CONTROL_TURN) != own;
    return info.control_word != 0 && !is_others &&
           ((is_left && !anew) || inspect_write(source->inspect, &observed->target, info.control_word,
                                                is_left ? value | EDEN_CONTROL_TURN : value));
}

bool source_request_collection(struct source *source, struct observed *observed, uint64_t heap) {
    struct heapinfo info;
    return find_heap(source, observed, heap, &info) && info.collect_word != 0 &&
           inspect_write(source->inspect, &observed->target, info.collect_word, SOURCE_COLLECT);
}

/* ---- at request ------------------------------------------------------------------------------------------------- */

bool source_read_heap(struct source *source, const struct process_key *process, uint64_t address, uint64_t id,
                      struct heap_params *params,
                      bool (*on_class)(void *context, uint32_t index, uint32_t class_index, const char *name),
                      void *context) {
    const struct observed *observed = source_find(source, process);
    struct target target;
    struct heapinfo info;
    if (!observed || observed->ended ||
        !inspect_process(source->inspect, (int)process->pid, observed->owner, process->start_ns, false, &target)) {
        return false;
    }
    uint32_t from = 0, unread = 0;
    bool good = inspect_heap(source->inspect, &target, address, &info) && (id == 0 || info.id == id) &&
                inspect_params(source->inspect, &target, &info, params);
    while (good && from != UINT32_MAX) {
        good = inspect_classes(source->inspect, &target, &info, on_class, context, &from, &unread) && unread == 0;
    }
    target_close(&target);
    return good;
}
