/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The threads that are in a collection: what pauses.bpf.c and eden.bpf.c share. */
#ifndef EDEN_PAUSES_BPF_H
#define EDEN_PAUSES_BPF_H

#include "kernel/hit.bpf.h"

/* Which heap a thread collects: its serial, and in the last bits the number of its entry. An element of the map is used
 * again at once when it has been deleted, by whatever thread comes next: so nothing but this word is in it, it is read
 * once, and it counts only where the entry names the same thread (collected_by). */
enum { PAUSING_BITS = 16, PAUSING_MORE = 256 /* of collections that begin at the same moment */ };
_Static_assert(KERNEL_HEAPS <= 1 << PAUSING_BITS, "an entry's number fits");
struct pausing_map {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, KERNEL_HEAPS + PAUSING_MORE);
    __type(key, uint32_t); /* thread, as the kernel counts them */
    __type(value, uint64_t);
};
extern struct pausing_map pausing SEC(".maps");
extern uint32_t pausing_threads; /* in the map */
extern uint32_t explains_pauses; /* all programs of pauses.bpf.c are attached, but for those of page faults */
extern uint32_t explains_faults; /* those, too */

/* What a collecting thread does, in one word: the cause in the last bits, whether the thread is in a page fault, and
 * since when. The scheduler's events come one at a time. But a thread can be preempted within its own programs, which
 * then find another word. */
enum { STATE_BITS = 4, STATE_CAUSE = 7, STATE_IN_FAULT = 8 };
_Static_assert(PAUSE_CAUSES <= STATE_CAUSE + 1, "each cause has a number");

static __always_inline uint64_t state_of(uint64_t since, enum pause_cause cause, uint64_t in_fault) {
    return since << STATE_BITS | in_fault | cause;
}

static __always_inline uint64_t collector_state(const struct collector *collector) {
    return *(const volatile uint64_t *)&collector->state;
}

static __always_inline uint32_t current_thread(void) { return (uint32_t)bpf_get_current_pid_tgid(); }

static __always_inline uint64_t word_of(const struct heap_entry *heap) {
    return heap->serial << PAUSING_BITS | heap->number;
}

static __always_inline uint64_t pausing_word(uint32_t thread) {
    const uint64_t *word = bpf_map_lookup_elem(&pausing, &thread);
    return word ? *(volatile uint64_t *)word : 0;
}

/* The entry of the heap that a thread collects; NULL: it collects none. */
static __always_inline struct heap_entry *collected_by(uint32_t thread) {
    const uint64_t word = pausing_word(thread);
    uint32_t number = word & ((1u << PAUSING_BITS) - 1);
    struct heap_entry *heap = word ? bpf_map_lookup_elem(&heaps, &number) : NULL;
    return heap && *(volatile uint32_t *)&heap->collector.thread == thread && word_of(heap) == word &&
                   collector_state(&heap->collector) != 0
               ? heap
               : NULL;
}

/* Adds the time since the last change to the cause that it had. */
static __always_inline void attribute(struct collector *collector, uint64_t was, uint64_t now) {
    uint32_t cause = was & STATE_CAUSE;
    const uint64_t since = was >> STATE_BITS;
    if (cause < PAUSE_CAUSES && now > since) {
        add(&collector->so_far.ns[cause], now - since);
    }
}

/* Changes what the thread does from now on. False, and nothing is changed: the state is not `was` any more. */
static __always_inline bool turn(struct collector *collector, uint64_t was, enum pause_cause cause, uint64_t in_fault,
                                 uint64_t now) {
    const uint64_t since = was >> STATE_BITS, next = now > since ? now : since;
    if (__sync_val_compare_and_swap(&collector->state, was, state_of(next, cause, in_fault)) != was) {
        return false;
    }
    attribute(collector, was, next);
    return true;
}

static __always_inline void forget_thread(uint32_t thread) {
    if (bpf_map_delete_elem(&pausing, &thread) == 0) {
        __sync_fetch_and_add(&pausing_threads, -1);
    }
}

#endif
