/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Why a pause is long: what the thread that collects does, moment by moment.
 *
 * 1. Purpose
 * A collection of 41 ms may have worked for 6, waited for a CPU for 30, and for the disk in the rest. Only the kernel
 * knows.
 *
 * 2. Algorithm
 * While a thread is between the start and done probes of a collection it is in `pausing`, which leads to the heap's
 * entry. That has one cause (pause_causes.def), which the events of the scheduler, and page faults, change:
 *
 *     switched out, ready to run    -> no_cpu, or throttled where its control group may not run
 *     switched out, asleep          -> disk where it waits for input or output, else asleep
 *     woken                         -> no_cpu
 *     switched in                   -> faulting in a page fault, else working
 *     page fault begins             -> faulting
 *     page fault ends               -> working
 *
 * Each change adds the time since the last one to the cause before. The done probe adds it all to the heap's sums. A
 * thread that waits in a page fault waits: for the disk, a CPU or a lock. So `faulting` is the time on a CPU within
 * handle_mm_fault() alone, and STATE_IN_FAULT says that the thread goes on there when it is switched in. What the
 * processor and the kernel do before and after that function is part of working. The number of page faults is what the
 * kernel has counted of the thread meanwhile.
 *
 * 3. Invariants
 * I1. The causes of a pause add up to the time between the hits of its two probes. If the thread is preempted within
 * the program of the second one, that time is added. A moment has one cause: a change is made by compare-and-swap,
 * since the scheduler's programs may interrupt those of page faults.
 * I2. A heap has one thread here at most, but for those that begin at this moment, so nobody takes more room than his
 * heaps have. A thread that ends, or executes a program, is forgotten.
 * I3. Only the entry of a heap that names the thread is written: a process spoils the figures of its own heaps alone.
 *
 * 4. Failure
 * A pause whose start was not seen, or for which there is no room, adds nothing: the tool shows its time as unknown.
 * Where these programs cannot be attached, all of it is. Where those of page faults cannot, `faulting` is unmeasured,
 * and its time part of working. The kernel skips a program that would interrupt itself on the same CPU: a page fault
 * whose begin is skipped is part of working; if its end is, the time up to the next end is part of faulting.
 *
 * 5. Cost
 * While no thread is in a pause: one load for each switch and wake-up on the machine, and for the begin and the end of
 * each page fault. Else a look-up in a hash table.
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
        const uint64_t was = collector_state(&heap->collector);
        turn(&heap->collector, was, cause_out((struct task_struct___run *)ctx->args[1], ctx->args[0]),
             was & STATE_IN_FAULT, now);
    }
    heap = collected_by(in);
    if (heap) {
        const uint64_t was = collector_state(&heap->collector), in_fault = was & STATE_IN_FAULT;
        turn(&heap->collector, was, in_fault ? PAUSE_faulting : PAUSE_working, in_fault, now);
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
    const uint64_t was = heap ? collector_state(&heap->collector) : 0, cause = was & STATE_CAUSE;
    if (heap && was != 0 && (cause == PAUSE_disk || cause == PAUSE_asleep)) {
        turn(&heap->collector, was, PAUSE_no_cpu, was & STATE_IN_FAULT, bpf_ktime_get_ns());
    }
    return 0;
}

enum { PREEMPTIONS = 8 }; /* within one program, at most */

/* in_fault: STATE_IN_FAULT or 0, from now on. */
static __always_inline void turn_fault(uint64_t in_fault) {
    struct heap_entry *heap = any_pause() ? collected_by(current_thread()) : NULL;
    for (int i = 0; heap && i < PREEMPTIONS; i++) {
        const uint64_t was = collector_state(&heap->collector);
        if (was == 0 || (was & STATE_IN_FAULT) == in_fault ||
            turn(&heap->collector, was, in_fault ? PAUSE_faulting : PAUSE_working, in_fault, bpf_ktime_get_ns())) {
            break;
        }
    }
}

SEC("fentry/handle_mm_fault")
int on_fault(void *ctx) {
    (void)ctx;
    turn_fault(STATE_IN_FAULT);
    return 0;
}

SEC("fexit/handle_mm_fault")
int on_fault_end(void *ctx) {
    (void)ctx;
    turn_fault(0);
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
