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
 * Failure: a process that cannot be held is observed by its probes alone. */
#include "source_parts.h"

bool source_hold(const struct source *source, struct observed *observed) {
    if (observed->target.maps >= 0 && target_is_alive(&observed->target)) {
        return true;
    }
    source_release(observed);
    return target_open(&observed->target, (int)observed->key.pid, observed->key.start_ns, source->options.lifetimes);
}

void source_release(struct observed *observed) {
    target_close(&observed->target);
    observed->registries = 0;
    for (size_t i = 0; i < observed->late_heaps; i++) {
        observed->late_heap[i].gone = true;
    }
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

bool source_write_control(struct observed *observed, uint64_t heap, uint64_t value) {
    struct heapinfo info;
    for (size_t i = 0; i < observed->registries; i++) {
        if (heapinfo_find(observed->target.mem, observed->registry[i], heap, &info)) { /* I1 */
            return info.control_word != 0 && target_write(&observed->target, info.control_word, value);
        }
    }
    return false;
}
