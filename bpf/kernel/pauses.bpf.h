/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The threads that are in a collection: what pauses.bpf.c and eden.bpf.c share. */
#ifndef EDEN_PAUSES_BPF_H
#define EDEN_PAUSES_BPF_H

#include "kernel/hit.bpf.h"

struct pausing {
    uint64_t since_ns;
    uint32_t cause;           /* of the time since then */
    uint32_t heap;            /* that it collects: its number */
    struct pause_time so_far; /* its faults: when the collection began, those of the thread's whole life */
};
struct pausing_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, KERNEL_HEAPS);
    __type(key, uint32_t); /* thread, as the kernel counts them */
    __type(value, struct pausing);
};
extern struct pausing_map pausing SEC(".maps");
extern uint32_t pausing_threads; /* in the map */
extern uint32_t explains_pauses; /* all programs of pauses.bpf.c are attached */

static __always_inline uint32_t current_thread(void) { return (uint32_t)bpf_get_current_pid_tgid(); }

/* What the time up to now was spent on is known; `cause`: of what comes. */
static __always_inline void turn(struct pausing *thread, enum pause_cause cause, uint64_t now) {
    uint32_t was = thread->cause;
    if (was < PAUSE_CAUSES && now > thread->since_ns) {
        thread->so_far.ns[was] += now - thread->since_ns;
    }
    thread->since_ns = now;
    thread->cause = cause;
}

static __always_inline void forget_thread(uint32_t thread) {
    if (bpf_map_delete_elem(&pausing, &thread) == 0) {
        __sync_fetch_and_add(&pausing_threads, -1);
    }
}

#endif
