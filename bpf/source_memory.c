/* The memory of an observed process: one handle for each of its address spaces.
 *
 * Purpose: whatever is read from a process or written to it belongs to one address space. A process that calls exec
 * between two looks gets another program, perhaps one of another user; what was learnt of the old address space says
 * nothing about the new one.
 *
 * Terms: handle, struct target; registry, the list of heaps of one copy of libeden (eden_abi.h); control word,
 * sample_mailbox of a heap's header.
 *
 * Algorithm: the handle is opened when the process is first looked at, and again when its address space is gone. Then
 * registries are forgotten, and late heaps are read no more.
 *
 * Invariants:
 * I1. A control word is written only in a heap that a registry lists now, read through the same handle.
 * I2. Only two values are written: what the user asked for, and 0.
 *
 * Failure: a process that cannot be held, or that does not answer in time, is observed by its probes alone. That is
 * said once a process. */
#include "source_parts.h"
#include <errno.h>

void source_release(struct observed *observed) {
    target_close(&observed->target);
    observed->registries = 0;
    observed->mapped = 0;
    for (size_t i = 0; i < observed->late_heaps; i++) {
        observed->late_heap[i].gone = true;
    }
}

static bool hold(const struct source *source, struct observed *observed) {
    return observed->target.maps >= 0 ||
           inspect_process(source->inspect, (int)observed->key.pid, observed->key.start_ns, source->options.lifetimes,
                           &observed->target);
}

bool source_map(struct source *source, struct observed *observed, struct mappings *mappings) {
    *mappings = (struct mappings){0};
    bool held = hold(source, observed), read = held && inspect_mappings(source->inspect, &observed->target, mappings);
    if (held && !read && errno == ESTALE) {
        source_release(observed);
        read = hold(source, observed) && inspect_mappings(source->inspect, &observed->target, mappings);
    }
    int error = errno;
    source_report_unread(source, observed);
    errno = error;
    return read;
}

void source_report_unread(struct source *source, struct observed *observed) {
    if (observed->target.is_unread && !observed->told_unread) {
        observed->told_unread = true;
        message_few(&source->message[MESSAGE_UNREAD],
                    "process %u (%s) does not answer in time when its memory or its files are read: from now on it is "
                    "observed by what is attached to already",
                    observed->key.pid, observed->command);
    }
}

uint64_t source_fingerprint(const struct mappings *mappings) {
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a, by words */
    for (size_t i = 0; i < mappings->count; i++) {
        const struct mapping *at = &mappings->at[i];
        const uint64_t words[] = {at->start, at->offset, at->device, at->inode};
        for (size_t j = 0; j < sizeof words / sizeof *words; j++) {
            hash = (hash ^ words[j]) * 0x100000001b3u;
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

bool source_write_control(struct source *source, struct observed *observed, uint64_t heap, uint64_t value) {
    struct heapinfo info;
    for (size_t i = 0; i < observed->registries; i++) {
        if (inspect_find_heap(source->inspect, &observed->target, observed->registry[i], heap, &info)) { /* I1 */
            return info.control_word != 0 &&
                   inspect_write(source->inspect, &observed->target, info.control_word, value);
        }
    }
    source_report_unread(source, observed);
    return false;
}
