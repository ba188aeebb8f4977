/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel half of edenscope: one program behind every probe.
 *
 * A uprobe_multi link has a single program, so this one serves all probes but batch (lifetimes.bpf.c): the attachment's
 * cookie names a spec (which probe, where its arguments are) and a target (which attachment). What a hit does:
 *
 *     cookie -> spec -> arguments from the registers -> heap entry -> sums, phases, histogram   [-> ring buffer]
 *
 * Invariants:
 * - Every hit of an armed target, where probes are attached by file those of observed processes (descent.bpf.c), is
 *   counted, or counted as lost, once (is_taken). An attachment to a process that runs already is armed only when all
 *   its sites are in place; earlier hits are ignored, since the heap's header includes them.
 * - Sums change by atomic adds, maxima by compare-and-swap: kernel programs can be preempted and a process's threads
 * run on several CPUs. No scratch memory is shared.
 * - A heap is named by process, the process's start time and address; at heap__destroy its name is taken out of `live`
 *   and its entry keeps what it has, until the tool gives back those of its process, which has ended then. A later heap
 *   at that address gets another entry.
 * - Whatever the traced process passes is only counted, copied or compared here: a process that lies about its heaps
 *   spoils its own figures. It fills its own share of the tables only (struct share); what it loses then is counted
 *   there, not among what was lost to all.
 *
 * The figures are derived by feed() and aggregate() and must be the runtime's own counters, exactly: see
 * docs/internals.md. */
#include "kernel/hit.bpf.h"
#include "kernel/pauses.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile bool send_events = false;
const volatile uint64_t send_mask = ~0ull; /* bit i: events of probe i are sent */
_Static_assert(EDEN_PROBE_COUNT <= 64, "send_mask has a bit for each probe");
/* The tool's pid namespace, where it is not the first: pids are then those that the tool sees. */
const volatile uint64_t pid_namespace_dev = 0;
const volatile uint64_t pid_namespace_ino = 0;

/* Headers of heaps whose start was missed are read. */
const volatile bool reads_headers = false;

/* Probes are attached by file, for every process: hits of others than the observed ones are nobody's. */
const volatile bool by_descent = false;

uint64_t lost[LOST_KINDS];
uint64_t last_serial;
uint32_t heap_count, heaps_taken;
uint32_t histogram_count, histograms_taken;
uint64_t observed_since_ns;                                 /* 0: what is hit is before observation */
uint32_t has_twins;                                         /* two attachments may be to one file: see is_taken() */
uint32_t pausing_threads, explains_pauses, explains_faults; /* pauses.bpf.h */

struct specs_map specs SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, KERNEL_TARGETS);
    __type(key, uint32_t);
    __type(value, uint32_t);
} armed SEC(".maps");

struct live_map live SEC(".maps");

struct taken_map taken SEC(".maps");

struct shares_map shares SEC(".maps");

struct users_map users SEC(".maps");

struct heaps_map heaps SEC(".maps");

struct histograms_map histograms SEC(".maps");

/* Defined here, as the linker wants it: after this file it would lose its place. */
struct pausing_map pausing SEC(".maps");

struct entries_queue given_back SEC(".maps");

struct entries_queue free_heaps SEC(".maps");

struct histograms_queue free_histograms SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 4096); /* the tool makes it larger where events are wanted */
} events SEC(".maps");

const volatile uint32_t events_bytes = 4096;

/* Gives what it was before; the largest number where the race was lost too often. */
static __always_inline uint64_t raise(uint64_t *max, uint64_t value) {
    uint64_t seen = *(volatile uint64_t *)max;
    for (int i = 0; i < 8; i++) {
        if (value <= seen) {
            return seen;
        }
        uint64_t was = __sync_val_compare_and_swap(max, seen, value);
        if (was == seen) {
            return seen;
        }
        seen = was;
    }
    lose(LOST_RETRIES);
    return UINT64_MAX;
}

/* ---- pauses ----------------------------------------------------------------------------------------------------- */

struct task_struct___faults {
    unsigned long min_flt, maj_flt;
} __attribute__((preserve_access_index));

/* Of the current thread, in its life. */
static __always_inline void count_faults(struct pause_time *time) {
    const struct task_struct___faults *task = (struct task_struct___faults *)bpf_get_current_task();
    time->disk_faults = BPF_CORE_READ(task, maj_flt);
    time->faults = BPF_CORE_READ(task, min_flt) + time->disk_faults;
}

/* A collection begins: at the hit of its first probe. Whoever comes after another thread takes that one's element away,
 * so that a heap has one at most, and however many threads begin at once, each finds another one before it. */
static __noinline void begin_pause(struct heap_entry *heap, uint64_t now) {
    uint32_t thread = current_thread();
    uint64_t word = word_of(heap);
    struct collector *collector = &heap->collector;
    if (bpf_map_update_elem(&pausing, &thread, &word, BPF_NOEXIST) == 0) {
        add32(&pausing_threads, 1);
    } else {
        bpf_map_update_elem(&pausing, &thread, &word, BPF_EXIST); /* the end of the one before was not seen */
    }
    uint32_t before = __sync_lock_test_and_set(&collector->thread, thread);
    if (before != thread && pausing_word(before) == word) {
        forget_thread(before);
    }
    *(volatile uint64_t *)&collector->state = 0; /* nobody adds anything meanwhile */
    struct pause_time none = {.unmeasured = explains_faults ? 0 : 1u << PAUSE_faulting};
    count_faults(&none);
    collector->so_far = none;
    *(volatile uint64_t *)&collector->state = state_of(now, PAUSE_working, 0);
}

/* The collection ends: at the hit of its last probe. */
static __noinline void end_pause(struct heap_entry *heap, struct pause_sums *sums, bool is_longest, uint64_t now) {
    const uint32_t thread = current_thread();
    struct collector *collector = &heap->collector;
    const bool is_ours = pausing_word(thread) == word_of(heap);
    sums->has_last = is_ours && collector->thread == thread && collector_state(collector) != 0;
    if (!sums->has_last) { /* or it has begun a collection of another heap since */
        if (is_longest) {
            sums->longest = (struct pause_time){};
        }
    } else {
        attribute(collector, __sync_lock_test_and_set(&collector->state, 0), now);
        for (int i = 0; i < PAUSE_CAUSES; i++) {
            add(&sums->all.ns[i], collector->so_far.ns[i]);
        }
        struct pause_time faults;
        count_faults(&faults);
        collector->so_far.faults = faults.faults - collector->so_far.faults;
        collector->so_far.disk_faults = faults.disk_faults - collector->so_far.disk_faults;
        add(&sums->all.faults, collector->so_far.faults);
        add(&sums->all.disk_faults, collector->so_far.disk_faults);
        __sync_fetch_and_or(&sums->all.unmeasured, collector->so_far.unmeasured);
        sums->last = collector->so_far;
        if (is_longest) {
            sums->longest = sums->last;
        }
    }
    if (is_ours) {
        forget_thread(thread);
    }
}

/* ---- sums ------------------------------------------------------------------------------------------------------- */

/* 1 + the number of a new histogram; 0: there is no room. */
static __noinline uint32_t new_histogram(const struct heap_entry *heap) {
    struct process_key branch = heap->branch;
    struct share *share = branch_share(&branch, heap->owner);
    if (!share) {
        lose(LOST_HISTOGRAMS);
        return 0;
    }
    struct share *user = user_share(heap->owner, share);
    if (!kernel_share_left(*(volatile uint32_t *)&user->histograms, *(volatile uint32_t *)&share->histograms,
                           *(volatile uint32_t *)&histograms_taken, KERNEL_HISTOGRAMS)) {
        add(&share->lost_hits, 1);
        return 0;
    }
    uint32_t fresh;
    if (bpf_map_pop_elem(&free_histograms, &fresh) != 0) {
        fresh = __sync_fetch_and_add(&histogram_count, 1);
        if (fresh >= KERNEL_HISTOGRAMS) {
            __sync_fetch_and_add(&histogram_count, -1);
            lose(LOST_HISTOGRAMS);
            return 0;
        }
    }
    add32(&histograms_taken, 1);
    add32(&user->histograms, 1);
    if (user != share) {
        add32(&share->histograms, 1);
    }
    return fresh + 1;
}

/* False: there is no room for its histogram. */
static __always_inline bool count_duration(struct heap_entry *heap, uint32_t phase, uint64_t ns) {
    uint32_t index = *(volatile uint32_t *)&heap->histogram[phase];
    if (index == 0) {
        uint32_t fresh = new_histogram(heap);
        if (fresh == 0) {
            return false;
        }
        uint32_t was = __sync_val_compare_and_swap(&heap->histogram[phase], 0, fresh);
        index = was ? was : fresh;
        if (was) { /* another thread was first */
            give_back_histogram(heap, fresh - 1);
        }
    }
    index--;
    struct histogram *histogram = bpf_map_lookup_elem(&histograms, &index);
    uint32_t bucket = histogram_bucket(ns);
    if (!histogram || bucket >= HISTOGRAM_BUCKETS) {
        return false;
    }
    add32(&histogram->count[bucket], 1);
    return true;
}

/* Counts a call of a phase, or a pause. True: it is the longest so far. */
static __noinline bool count_call(struct heap_entry *heap, uint32_t place, uint64_t duration) {
    if (place >= KERNEL_PHASES) {
        return false;
    }
    struct phase_sums *sums = &heap->phase[place];
    add(&sums->calls, 1);
    add(&sums->total_ns, duration);
    if (!count_duration(heap, place, duration)) {
        add(&sums->missing, 1);
        add(&sums->missing_ns, duration);
    }
    return raise(&sums->max_ns, duration) < duration;
}

/* What a phase took before observation began is not in the observed time: a share of that must not count it. Nor what
 * it took before the one before ended: durations are what the process says. */
static __always_inline uint64_t outside(uint64_t *ended_ns, uint64_t duration, uint64_t now) {
    uint64_t observed = *(volatile uint64_t *)&observed_since_ns, ended = raise(ended_ns, now);
    uint64_t since = ended > observed ? ended : observed;
    uint64_t inside = observed != 0 && now > since ? now - since : 0;
    return duration > inside ? duration - inside : 0;
}

static __always_inline void count_phase(struct heap_entry *heap, const struct probe_spec *spec, const uint64_t *arg,
                                        uint64_t now) {
    uint32_t phase = spec->phase;
    if (phase >= KERNEL_PHASES) {
        return;
    }
    struct phase_sums *sums = &heap->phase[phase];
    uint64_t duration = EDEN_ARG(arg, mark__done, duration);
    bool is_longest = count_call(heap, phase, duration);
    if (explains_pauses && spec->parent == KERNEL_NO_PHASE) {
        end_pause(heap, phase == EDEN_PHASE_full ? &heap->full : &heap->scavenge, is_longest, now);
    }
    uint32_t in_turn = spec->parent == KERNEL_NO_PHASE ? EDEN_PHASE_scavenge : phase; /* as phase_in_turn() */
    add(&sums->outside_ns, outside(&heap->phase[in_turn].ended_ns, duration, now));
    if (spec->two_more) {
        add(&sums->objects, EDEN_ARG(arg, mark__done, objects));
        add(&sums->bytes, EDEN_ARG(arg, mark__done, bytes));
    }
}

static __always_inline void flag(struct heap_entry *heap, uint32_t bit, bool on) {
    if (on) {
        __sync_fetch_and_or(&heap->flags, bit);
    } else {
        __sync_fetch_and_and(&heap->flags, ~bit);
    }
}

static __always_inline void gauge(struct heap_entry *heap, enum eden_figure figure, uint64_t value) {
    heap->figures[figure] = value;
    __sync_fetch_and_or(&heap->gauges_set, 1ull << figure);
}

static __always_inline void latch_capacity(struct heap_entry *heap) {
    if (heap->flags & HEAP_CAPACITY_SEEN) {
        gauge(heap, EDEN_FIGURE_old_capacity, heap->pending_capacity);
    }
}

#define FEED_count(figure, at) add(&heap->figures[figure], 1);
#define FEED_sum(figure, at) add(&heap->figures[figure], arg[at]);
#define FEED_more(figure, at) FEED_sum(figure, at)
#define FEED_gauge(figure, at)                                                                                         \
    if (args > (at)) {                                                                                                 \
        gauge(heap, figure, arg[at]);                                                                                  \
    }
#define FEED_rule(figure, at)
#define FEED_correction(figure, at)
#define FEED(how, figure, argument) FEED_##how(EDEN_FIGURE_##figure, offsetof(typeof(*from), argument) / 8)

/* What eden_figures.def says of the probe. Arguments that an older runtime does not pass are 0. */
static __always_inline void feed(struct heap_entry *heap, uint16_t probe, const uint64_t *arg, uint8_t args) {
    switch (probe) {
#define EDEN_FEEDS(probe, ...)                                                                                         \
    case EDEN_PROBE_##probe: {                                                                                         \
        const struct eden_args_##probe *from = 0;                                                                      \
        (void)from;                                                                                                    \
        EDEN_EACH(FEED, __VA_ARGS__)                                                                                   \
        break;                                                                                                         \
    }
#include "eden_figures.def"
    default:
        break;
    }
}

static __always_inline void capacity(struct heap_entry *heap, uint64_t bytes) {
    heap->pending_capacity = bytes;
    flag(heap, HEAP_CAPACITY_SEEN, true);
}

/* The size of eden as the parameter gives it is kept as text: the tool reads it. What the policy decides is a gauge,
 * and holds instead. */
static __always_inline void parameter(struct heap_entry *heap, uint64_t name_at, uint64_t value_at) {
    const char wanted[] = "eden_size";
    char name[16] = {};
    if (bpf_probe_read_user_str(name, sizeof name, (const void *)name_at) < 0) {
        return;
    }
    for (unsigned i = 0; i < sizeof wanted; i++) {
        if (name[i] != wanted[i]) {
            return;
        }
    }
    if (bpf_probe_read_user_str(heap->eden_size, sizeof heap->eden_size, (const void *)value_at) < 0) {
        heap->eden_size[0] = 0;
    }
}

/* What had been counted when collection seq ended, of a heap whose start was missed, until a header fits it. */
static __always_inline void checkpoint(struct heap_entry *heap, uint64_t seq) {
    if (heap->flags & (HEAP_CREATED | HEAP_RECONCILED)) {
        return;
    }
    volatile struct checkpoint *to = &heap->checkpoint[seq % KERNEL_CHECKPOINTS];
    to->seq = 0;
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        to->figures[i] = heap->figures[i];
    }
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        to->full_by_cause[i] = heap->full_by_cause[i];
    }
    to->seq = seq;
    heap->ended_seq = seq;
}

/* At the first hit after a collection, the header has all that had happened by this one's end, and its checkpoint what
 * was seen of that. */
static __always_inline void reconcile(struct heap_entry *heap) {
    uint64_t seq = heap->ended_seq;
    heap->ended_seq = 0;
    if (seq != 0 && read_header(heap, &heap->base) && heap->base.seq == seq) {
        flag(heap, HEAP_RECONCILED, true);
    }
}

static __always_inline void scavenge_done(struct heap_entry *heap, const uint64_t *arg) {
    uint64_t duration = EDEN_ARG(arg, scavenge__done, duration);
    bool seen = heap->flags & HEAP_SCAVENGE_SEEN;
    if (seen) {
        gauge(heap, EDEN_FIGURE_old_used, heap->scavenge_old_used + EDEN_ARG(arg, scavenge__done, tenured_bytes));
    }
    latch_capacity(heap);
    /* A full collection and the scavenge before it are one pause: its length is known when the second part ends. Where
     * the start was not seen, this may be such a scavenge: what starts next shows it. */
    if (!seen) {
        heap->scavenge_cause = EDEN_SCAVENGE_CAUSES;
        heap->pause_before = duration;
    } else if (heap->scavenge_cause == EDEN_SCAVENGE_FULL) {
        heap->pause_before += duration; /* two, where the first found no room for what survives */
    }
    if (heap->scavenge_cause != EDEN_SCAVENGE_FULL) {
        raise(&heap->figures[EDEN_FIGURE_max_pause_ns], duration);
        count_call(heap, KERNEL_PAUSE, duration);
    }
    flag(heap, HEAP_SCAVENGE_SEEN, false);
    checkpoint(heap, EDEN_ARG(arg, scavenge__done, seq));
}

static __always_inline void full_done(struct heap_entry *heap, const uint64_t *arg) {
    uint64_t duration = EDEN_ARG(arg, full__done, duration);
    if (heap->flags & HEAP_FULL_SEEN && heap->full_cause < EDEN_FULL_CAUSES) {
        add(&heap->full_by_cause[heap->full_cause & 3], 1);
    }
    raise(&heap->figures[EDEN_FIGURE_max_pause_ns], heap->pause_before + duration);
    /* As `report` counts pauses: a scavenge whose start was not seen is one of its own already. */
    count_call(heap, KERNEL_PAUSE, (heap->scavenge_cause == EDEN_SCAVENGE_FULL ? heap->pause_before : 0) + duration);
    heap->pause_before = 0;
    capacity(heap, EDEN_ARG(arg, full__done, old_capacity));
    latch_capacity(heap);
    flag(heap, HEAP_FULL_SEEN, false);
    checkpoint(heap, EDEN_ARG(arg, full__done, seq));
}

/* Follows the heap from phase to phase. Classes are defined, and large objects allocated, between collections. */
static __always_inline void follow_phase(struct heap_entry *heap, const struct probe_spec *spec, uint64_t now) {
    if (spec->begins != KERNEL_NO_PHASE) {
        heap->began_ns[spec->begins % KERNEL_PHASES] = now;
        heap->current_phase = spec->begins;
        if (explains_pauses && (spec->begins == EDEN_PHASE_scavenge || spec->begins == EDEN_PHASE_full)) {
            begin_pause(heap, now);
        }
    } else if (spec->phase != KERNEL_NO_PHASE) {
        heap->began_ns[spec->phase % KERNEL_PHASES] = 0;
        heap->current_phase = spec->parent;
    } else if (spec->probe == EDEN_PROBE_class__define || spec->probe == EDEN_PROBE_alloc__large ||
               spec->probe == EDEN_PROBE_alloc__failed) {
        heap->current_phase = KERNEL_NO_PHASE;
    } else {
        return;
    }
    flag(heap, HEAP_PHASE_SEEN, true);
}

static __always_inline void aggregate(struct heap_entry *heap, const struct probe_spec *spec, const uint64_t *arg,
                                      uint64_t now) {
    add32(&heap->changes, 1);
    reconcile(heap);
    follow_phase(heap, spec, now);
    feed(heap, spec->probe, arg, spec->args);
    switch (spec->probe) {
    case EDEN_PROBE_param__set:
        parameter(heap, EDEN_ARG(arg, param__set, name), EDEN_ARG(arg, param__set, value));
        break;
    case EDEN_PROBE_scavenge__start:
        if (heap->scavenge_cause != EDEN_SCAVENGE_FULL || EDEN_ARG(arg, scavenge__start, cause) != EDEN_SCAVENGE_FULL) {
            heap->pause_before = 0;
        }
        heap->scavenge_cause = EDEN_ARG(arg, scavenge__start, cause);
        heap->scavenge_old_used = EDEN_ARG(arg, scavenge__start, old_used);
        flag(heap, HEAP_SCAVENGE_SEEN, true);
        break;
    case EDEN_PROBE_scavenge__done:
        scavenge_done(heap, arg);
        break;
    case EDEN_PROBE_full__start:
        heap->full_cause = EDEN_ARG(arg, full__start, cause);
        flag(heap, HEAP_FULL_SEEN, true);
        break;
    case EDEN_PROBE_full__done:
        full_done(heap, arg);
        break;
    case EDEN_PROBE_policy__decide:
        if (EDEN_ARG(arg, policy__decide, decision) == EDEN_DECISION_EDEN) {
            gauge(heap, EDEN_FIGURE_eden_size, EDEN_ARG(arg, policy__decide, to_bytes));
        }
        break;
    case EDEN_PROBE_segment__map:
        capacity(heap, EDEN_ARG(arg, segment__map, old_capacity));
        break;
    case EDEN_PROBE_segment__unmap:
        capacity(heap, EDEN_ARG(arg, segment__unmap, old_capacity));
        break;
    case EDEN_PROBE_heap__destroy:
        heap->id = EDEN_ARG(arg, heap__destroy, heap_id);
        flag(heap, HEAP_DESTROYED, true);
        break;
    default:
        break;
    }
    count_phase(heap, spec, arg, now);
    add32(&heap->changes, 1);
}

/* ---- events ----------------------------------------------------------------------------------------------------- */

static __always_inline void send(const struct probe_spec *spec, const uint64_t *arg, const struct process_key *process,
                                 const struct heap_entry *heap, uint32_t tid, uint64_t now) {
    struct event *event = bpf_ringbuf_reserve(&events, sizeof *event, 0);
    if (!event) {
        struct process_key branch;
        find_branch(process, &branch);
        struct share *share = branch_share(&branch, current_owner());
        if (share) {
            add(&share->lost_events, 1);
        }
        lose(LOST_EVENTS);
        return;
    }
    event->time_ns = now;
    event->process = *process;
    event->tid = tid;
    event->probe = spec->probe;
    event->args = spec->args;
    event->serial = heap ? heap->serial : 0;
    event->entry = heap ? heap->number + 1 : 0;
    event->has_pause = 0;
    for (int i = 0; i < EDEN_PROBE_MAX_ARGS; i++) {
        event->arg[i] = arg[i];
    }
    __builtin_memset(event->text, 0, sizeof event->text);
    for (int i = 0; i < EVENT_TEXTS; i++) {
        if (i < spec->strings) {
            uint32_t at = spec->string_at[i];
            uint64_t from = at < EDEN_PROBE_MAX_ARGS ? arg[at] : 0;
            if (bpf_probe_read_user_str(event->text[i], EVENT_TEXT, (const void *)from) < 0) {
                event->text[i][0] = 0;
            }
        }
    }
    const struct pause_sums *sums = !heap                                      ? NULL
                                    : spec->probe == EDEN_PROBE_scavenge__done ? &heap->scavenge
                                    : spec->probe == EDEN_PROBE_full__done     ? &heap->full
                                                                               : NULL;
    if (sums && sums->has_last) {
        event->has_pause = 1;
        event->pause = sums->last;
    }
    /* The tool looks by itself several times a second; waking it for each event would cost the traced process more
     * than the probe does. */
    bool filling = bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > events_bytes / 4;
    bpf_ringbuf_submit(event, filling ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

SEC("uprobe")
int on_probe(struct pt_regs *ctx) {
    uint64_t cookie = bpf_get_attach_cookie(ctx);
    uint32_t index = (uint32_t)cookie, target = (uint32_t)(cookie >> 32);
    uint32_t *ready = bpf_map_lookup_elem(&armed, &target);
    if (!ready || !*(volatile uint32_t *)ready || is_taken(ctx, target)) {
        return 0;
    }
    struct heap_key key = {};
    uint32_t tid;
    if (!current_program(&key, &tid) && by_descent) {
        return 0;
    }
    struct probe_spec *spec = bpf_map_lookup_elem(&specs, &index);
    if (!spec || spec->args == 0) {
        lose(LOST_SPECS);
        return 0;
    }
    uint64_t now = bpf_ktime_get_ns();
    uint64_t regs[16];
    copy_registers(regs, ctx);
    uint64_t arg[EDEN_PROBE_MAX_ARGS] = {};
    for (int i = 0; i < EDEN_PROBE_MAX_ARGS; i++) {
        if (i < spec->args) {
            arg[i] = fetch(&spec->arg[i], regs);
        }
    }
    take(ctx, target);
    key.address = EDEN_ARG(arg, heap__create, heap);
    struct heap_entry *heap;
    if (spec->probe == EDEN_PROBE_heap__create) {
        heap = added_entry(&key, index, now);
        if (heap) {
            heap->id = EDEN_ARG(arg, heap__create, heap_id);
            bpf_probe_read_user_str(heap->name, sizeof heap->name, (const void *)EDEN_ARG(arg, heap__create, name));
        }
    } else {
        heap = find_entry(&key, index);
        if (heap) {
            aggregate(heap, spec, arg, now);
        }
        if (spec->probe == EDEN_PROBE_heap__destroy) {
            bpf_map_delete_elem(&live, &key);
        }
    }
    if (send_events && send_mask >> (spec->probe & 63) & 1) {
        send(spec, arg, &key.process, heap, tid, now);
    }
    return 0;
}
