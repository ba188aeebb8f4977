/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Why a pause is long: what the thread that collects does, moment by moment.
 *
 * 1. Purpose
 * A collection of 41 ms may have worked for 6, waited for a CPU for 30, and for the disk in the rest. Only the kernel
 * knows.
 *
 * 2. Algorithm
 * While a thread is between the start and done probes of a collection it is in `pausing`, which leads to the heap's
 * entry. That has one cause (pause_causes.def), which the events of the scheduler change:
 *
 *     switched out, ready to run    -> no_cpu, or throttled where its control group may not run
 *     switched out, asleep          -> disk where it waits for input or output, else asleep
 *     woken                         -> no_cpu
 *     switched in                   -> working
 *
 * Each change adds the time since the last one to the cause before. The done probe adds it all to the heap's sums. Page
 * faults are those that the kernel has counted of the thread meanwhile. Their time on a CPU is part of working:
 * measuring it would take a kernel program for each page fault of the machine.
 *
 * 3. Invariants
 * I1. The causes of a pause add up to the time between the hits of its two probes.
 * I2. A heap has one thread here at most, but for those that begin at this moment, so nobody takes more room than his
 * heaps have. A thread that ends, or executes a program, is forgotten.
 * I3. Only the entry of a heap that names the thread is written: a process spoils the figures of its own heaps alone.
 *
 * 4. Failure
 * A pause whose start was not seen, or for which there is no room, adds nothing: the tool shows its time as unknown.
 * Where these programs cannot be attached, all of it is.
 *
 * 5. Cost
 * While no thread is in a pause: one load for each switch and wake-up on the machine. Else a look-up in a hash table.
 */
#include "kernel/pauses.bpf.h"

struct cfs_rq {
    int throttle_count;
} __attribute__((preserve_access_index));

struct sched_entity {
    struct cfs_rq *cfs_rq;
} __attribute__((preserve_access_index));

struct task_struct___run {
    int pid;
    unsigned int __state;
    unsigned int in_iowait : 1;
    struct sched_entity se;
} __attribute__((preserve_access_index));

/* From Linux 6.18 on each thread is held back by itself. */
struct task_struct___held {
    bool throttled;
} __attribute__((preserve_access_index));

static __always_inline bool any_pause(void) { return *(volatile uint32_t *)&pausing_threads != 0; }

static __always_inline bool is_throttled(struct task_struct___run *task) {
    const struct task_struct___held *held = (struct task_struct___held *)task;
    if (bpf_core_field_exists(held->throttled)) {
        return BPF_CORE_READ(held, throttled);
    }
    return bpf_core_field_exists(((struct cfs_rq *)0)->throttle_count) &&
           BPF_CORE_READ(task, se.cfs_rq, throttle_count) > 0;
}

static __always_inline enum pause_cause cause_out(struct task_struct___run *task, bool is_preempted) {
    if (is_preempted || BPF_CORE_READ(task, __state) == 0) {
        return is_throttled(task) ? PAUSE_throttled : PAUSE_no_cpu;
    }
    return BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait) ? PAUSE_disk : PAUSE_asleep;
}

SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx) {
    if (!any_pause()) {
        return 0;
    }
    struct task_struct___run *next = (struct task_struct___run *)ctx->args[2];
    uint32_t out = current_thread(), in = (uint32_t)BPF_CORE_READ(next, pid);
    uint64_t now = bpf_ktime_get_ns();
    struct heap_entry *heap = collected_by(out);
    if (heap) {
        turn(&heap->collector, cause_out((struct task_struct___run *)ctx->args[1], ctx->args[0]), now);
    }
    heap = collected_by(in);
    if (heap) {
        turn(&heap->collector, PAUSE_working, now);
    }
    return 0;
}

SEC("raw_tp/sched_wakeup")
int on_wakeup(struct bpf_raw_tracepoint_args *ctx) {
    if (!any_pause()) {
        return 0;
    }
    struct task_struct___run *task = (struct task_struct___run *)ctx->args[0];
    struct heap_entry *heap = collected_by((uint32_t)BPF_CORE_READ(task, pid));
    if (heap && (heap->collector.cause == PAUSE_disk || heap->collector.cause == PAUSE_asleep)) {
        turn(&heap->collector, PAUSE_no_cpu, bpf_ktime_get_ns());
    }
    return 0;
}

/* A thread that executes a program takes the id of the first thread: nobody else forgets the id that it had, which may
 * be a thread's of another process by now. */
SEC("raw_tp/sched_process_exec")
int on_program(struct bpf_raw_tracepoint_args *ctx) {
    if (any_pause()) {
        struct process_key own = {};
        uint32_t tid, before = (uint32_t)ctx->args[1];
        const struct heap_entry *heap = collected_by(before);
        current_process(&own, &tid);
        if (heap && heap->key.process.pid == own.pid && heap->key.process.start_ns == own.start_ns) {
            forget_thread(before);
        }
        forget_thread(current_thread());
    }
    return 0;
}

SEC("raw_tp/sched_process_exit")
int on_thread_end(struct bpf_raw_tracepoint_args *ctx) {
    (void)ctx;
    if (any_pause()) {
        forget_thread(current_thread());
    }
    return 0;
}
