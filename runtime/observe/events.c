/* Events: the one place where something that happened becomes a counter, a probe, and a line of the log.
 *
 * Invariants
 * I1. Counters and probes agree: the same function feeds both, with the same numbers.
 * I2. The figures are at any time the sum of what the probes have reported. What is counted between collections (bytes
 *     allocated, objects remembered and forgotten) is reported by the next start probe in its `..._since` arguments,
 *     and enters the figures at that moment.
 * I3. The heap's public header gets a copy at the end of each collection, under its sequence lock.
 * I4. The header says which phase is under way: the innermost that has begun and not ended. Between the scavenge of a
 *     full collection and its start, that is the full collection; between the steps of a cycle, the marking. */
#include "observe/events.h"

static const int parents[EDEN_PHASE_COUNT] = {
#define EDEN_PHASE(name, text, parent) parent,
#include "eden_phases.def"
#undef EDEN_PHASE
};

/* Moves what was counted since the last start into the figures; the caller has reported it by a probe. */
static void take_since(eden_heap *heap) {
    heap->figures.allocated_bytes += heap_delta_allocated(heap);
    heap->figures.remembered += heap->delta.remembered;
    heap->figures.forgotten += heap->delta.forgotten;
    heap->figures.tenured_objects += heap->delta.tenured;
    heap->delta = (struct delta){.allocated_from = heap->mutator.free};
}

static void take_born_old(eden_heap *heap) {
    heap->figures.pretenured_objects += heap->born_old.objects;
    heap->figures.pretenured_bytes += heap->born_old.bytes;
    heap->born_old = (struct tally){0, 0};
}

static void set_gauges(eden_heap *heap) {
    heap->figures.eden_size = heap->params.eden_size;
    heap->figures.survivor_used = heap_survivor_used(heap);
    heap->figures.old_used = heap_old_used(heap);
    heap->figures.old_capacity = heap->old.capacity;
    heap->figures.remembered_now = heap_remembered(heap);
}

/* The end of collection info.seq + 1: tools may read it from now on. */
static void publish(eden_heap *heap) {
    struct eden_heap_info *info = &heap->info;
    set_gauges(heap);
    heap_header_begin(info);
    __atomic_store_n(&info->seq, info->seq + 1, __ATOMIC_RELAXED);
#define EDEN_FIGURE(name, kind, unit, doc)                                                                             \
    __atomic_store_n(&info->figures[EDEN_FIGURE_##name], heap->figures.name, __ATOMIC_RELAXED);
#include "eden_figures.def"
#undef EDEN_FIGURE
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        __atomic_store_n(&info->full_by_cause[i], heap->figures.full_by_cause[i], __ATOMIC_RELAXED);
    }
    heap_header_end(info);
}

static struct events *events_of(struct observer *observer) { return (struct events *)observer; }

/* A reader sees all of it or nothing. */
static void show(struct events *events, enum eden_activity activity, uint64_t since_ns, enum eden_phase phase,
                 uint64_t phase_ns) {
    struct eden_heap_info *info = &events->observer.heap->info;
    events->began_ns[phase] = phase_ns;
    heap_header_begin(info);
    __atomic_store_n(&info->activity, (uint32_t)activity, __ATOMIC_RELAXED);
    __atomic_store_n(&info->activity_ns, since_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&info->phase, (uint64_t)phase, __ATOMIC_RELAXED);
    __atomic_store_n(&info->phase_ns, phase_ns, __ATOMIC_RELAXED);
    heap_header_end(info);
}

/* Of the stop under way. */
static void show_phase(struct events *events, enum eden_phase phase, uint64_t phase_ns) {
    show(events, EDEN_ACTIVITY_STOPPED, events->observer.heap->info.activity_ns, phase, phase_ns);
}

/* The program goes on, perhaps amid a cycle, which began with its first step. */
static void show_program(struct events *events, uint64_t now_ns) {
    if (!cycle_is_running(&events->observer.heap->cycle)) {
        events->cycle_ns = 0;
        show(events, EDEN_ACTIVITY_RUNNING, now_ns, EDEN_PHASE_scavenge, now_ns);
        return;
    }
    if (events->cycle_ns == 0) {
        events->cycle_ns = events->began_ns[EDEN_PHASE_scavenge__mark];
    }
    show(events, EDEN_ACTIVITY_BESIDE, events->cycle_ns, EDEN_PHASE_scavenge__mark, events->cycle_ns);
}

static void note_pause(eden_heap *heap, uint64_t ns) {
    if (ns > heap->figures.max_pause_ns) {
        heap->figures.max_pause_ns = ns;
    }
}

/* One event a collection: mourn, one an ephemeron, makes scavenges that fire many twice as long while it is traced. */
static void take_mourned(eden_heap *heap) {
    uint64_t count = heap->delta.mourned;
    heap->figures.mourned += count;
    heap->delta.mourned = 0;
    if (count != 0) {
        eden_fire_mourned(heap, heap->info.seq + 1, count, heap->mourners.end - heap->mourners.next);
    }
}

void events_create(struct events *events) {
    eden_heap *heap = events->observer.heap;
    int cancellation = system_hold_cancellation();
    log_open(events);
    system_restore_cancellation(cancellation);
    set_gauges(heap);
    heap->info.figures[EDEN_FIGURE_eden_size] = heap->figures.eden_size;
    show_program(events, heap->info.created_ns);
    eden_fire_heap__create(heap, heap->info.heap_id, heap->info.name);
    params_fire(heap, NULL);
}

void events_destroy(struct events *events) {
    eden_heap *heap = events->observer.heap;
    eden_fire_heap__destroy(heap, heap->info.heap_id, heap_delta_allocated(heap), heap->delta.remembered,
                            heap->delta.forgotten, heap->delta.tenured, heap->born_old.objects, heap->born_old.bytes);
    take_since(heap);
    take_born_old(heap);
    int cancellation = system_hold_cancellation();
    log_stats(events);
    log_close(events);
    system_restore_cancellation(cancellation);
}

/* ---- collections ---- */

static void scavenge_begin(struct observer *self, const struct scavenge_pass *pass) {
    eden_heap *heap = self->heap;
    struct scavenge_before before = {
        .eden_used = heap->mutator.free - heap->eden.start,
        .survivor_used = heap_survivor_used(heap),
        .remembered = heap_remembered(heap),
        .tenured_objects = heap->figures.tenured_objects,
    };
    eden_fire_scavenge__start(heap, heap->info.seq + 1, pass->cause, before.eden_used, before.survivor_used,
                              before.remembered, heap_old_used(heap), heap_delta_allocated(heap),
                              heap->delta.remembered, heap->delta.forgotten, heap->delta.tenured);
    take_since(heap);
    events_of(self)->scavenge = before;
    events_of(self)->phase_ns[EDEN_PHASE_scavenge__mark] = 0; /* but for these, all run in each scavenge */
    events_of(self)->phase_ns[EDEN_PHASE_scavenge__sweep] = 0;
    show(events_of(self), EDEN_ACTIVITY_STOPPED, pass->start_ns, EDEN_PHASE_scavenge, pass->start_ns);
}

static void scavenge_end(struct observer *self, const struct scavenge_pass *pass) {
    struct events *events = events_of(self);
    eden_heap *heap = self->heap;
    take_mourned(heap);
    uint64_t ns = system_now_ns() - pass->start_ns;
    const struct space *survivors = &heap->semi[heap->from];
    uint64_t survivor_used = heap_survivor_used(heap);
    eden_figures *figures = &heap->figures;
    figures->scavenges++;
    figures->scavenge_ns += ns;
    figures->gc_ns += ns;
    figures->survived_bytes += survivor_used + pass->tenured_bytes;
    figures->tenured_objects += pass->tenured_objects;
    figures->tenured_bytes += pass->tenured_bytes;
    if (pass->cause == EDEN_SCAVENGE_FULL) {
        events->full_scavenge_ns += ns; /* part of the full collection's pause */
    } else {
        note_pause(heap, ns);
    }
    eden_fire_scavenge__done(heap, heap->info.seq + 1, ns, survivor_used, heap_remembered(heap), pass->tenured_bytes,
                             pass->tenured_objects, (const void *)heap->tenure_threshold,
                             (const void *)survivors->start, (const void *)survivors->limit, heap->born_old.objects,
                             heap->born_old.bytes);
    take_born_old(heap);
    log_scavenge(events, pass, ns);
    publish(heap);
    if (pass->cause == EDEN_SCAVENGE_FULL && heap->broken_invariant == NULL) {
        show_phase(events, EDEN_PHASE_full, pass->start_ns + ns);
    } else {
        show_program(events, pass->start_ns + ns);
    }
}

static void full_begin(struct observer *self, const struct full_pass *pass) {
    eden_heap *heap = self->heap;
    struct full_before before = {
        .old_used = heap_old_used(heap),
        .mark_ns = heap->figures.mark_ns,
        .sweep_ns = heap->figures.sweep_ns,
        .compact_ns = heap->figures.compact_ns,
    };
    eden_fire_full__start(heap, heap->info.seq + 1, pass->cause, before.old_used, heap->old.capacity, pass->requested,
                          heap_delta_allocated(heap), heap->delta.remembered, heap->delta.forgotten,
                          heap->delta.tenured);
    take_since(heap);
    events_of(self)->full = before;
    show_phase(events_of(self), EDEN_PHASE_full, pass->start_ns);
}

static void full_end(struct observer *self, const struct full_pass *pass) {
    struct events *events = events_of(self);
    eden_heap *heap = self->heap;
    take_mourned(heap);
    uint64_t ns = system_now_ns() - pass->start_ns;
    uint64_t used = heap_old_used(heap);
    uint64_t freed = events->full.old_used - used;
    eden_figures *figures = &heap->figures;
    figures->full_collections++;
    figures->full_by_cause[pass->cause]++;
    figures->full_ns += ns;
    figures->gc_ns += ns;
    figures->freed_bytes += freed;
    note_pause(heap, events->full_scavenge_ns + ns);
    events->full_scavenge_ns = 0;
    eden_fire_full__done(heap, heap->info.seq + 1, ns, used, heap->old.capacity, heap->old.free.chunks,
                         old_space_largest_free(heap), heap->old.segment_count, freed, pass->young_freed,
                         heap_remembered(heap));
    log_full(events, pass, ns, freed);
    publish(heap);
    show_program(events, pass->start_ns + ns);
}

static void phase_begin(struct observer *self, enum eden_phase phase) {
    eden_heap *heap = self->heap;
    uint64_t seq = heap->info.seq + 1;
    switch (phase) {
#define EDEN_PHASE(name, text, parent) case EDEN_PHASE_##name: /* a whole collection: above */
#define EDEN_PART(name, text, parent)                                                                                  \
    case EDEN_PHASE_##name:                                                                                            \
        eden_fire_##name##__start(heap, seq);                                                                          \
        break;
#include "eden_phases.def"
#undef EDEN_PHASE
    case EDEN_PHASE_COUNT:
        break;
    }
}

static void phase_began(struct observer *self, enum eden_phase phase, uint64_t start_ns) {
    show_phase(events_of(self), phase, start_ns);
}

static void phase_end(struct observer *self, enum eden_phase phase, uint64_t ns, struct tally tally) {
    eden_heap *heap = self->heap;
    uint64_t seq = heap->info.seq + 1;
    struct events *events = events_of(self);
    enum eden_phase parent = (enum eden_phase)parents[phase];
    events->phase_ns[phase] = ns;
    show_phase(events, parent, events->began_ns[parent]);
    heap->figures.mark_ns += phase == EDEN_PHASE_mark || phase == EDEN_PHASE_scavenge__mark ? ns : 0;
    heap->figures.sweep_ns += phase == EDEN_PHASE_sweep || phase == EDEN_PHASE_scavenge__sweep ? ns : 0;
    heap->figures.compact_ns += phase == EDEN_PHASE_compact ? ns : 0;
    switch (phase) {
#define EDEN_PHASE(name, text, parent) case EDEN_PHASE_##name:
#define EDEN_PART(name, text, parent)                                                                                  \
    case EDEN_PHASE_##name:                                                                                            \
        eden_fire_##name##__done(heap, seq, ns, tally.objects, tally.bytes);                                           \
        break;
#include "eden_phases.def"
#undef EDEN_PHASE
    case EDEN_PHASE_COUNT:
        break;
    }
}

static void segment(struct observer *self, bool mapped, uintptr_t start, size_t bytes) {
    eden_heap *heap = self->heap;
    if (mapped) {
        heap->figures.segments_mapped++;
        eden_fire_segment__map(heap, (const void *)start, bytes, heap->old.capacity);
    } else {
        heap->figures.segments_unmapped++;
        eden_fire_segment__unmap(heap, (const void *)start, bytes, heap->old.capacity);
    }
}

static void adopted(struct observer *self, uintptr_t start, size_t bytes) { segment(self, true, start, bytes); }

static void decided(struct observer *self, const struct policy_decision *decision) {
    eden_heap *heap = self->heap;
    eden_fire_policy__decide(heap, heap->info.seq + 1, decision->decision, decision->from, decision->to,
                             decision->reason);
    params_publish(heap);
    log_decision(events_of(self), decision);
}

void events_subscribe(struct events *events, eden_heap *heap) {
    static const struct observer_calls calls = {
        .scavenge_begin = scavenge_begin,
        .scavenge_end = scavenge_end,
        .full_begin = full_begin,
        .full_end = full_end,
        .phase_begin = phase_begin,
        .phase_began = phase_began,
        .phase_end = phase_end,
        .segment = segment,
        .adopted = adopted,
        .decided = decided,
    };
    events->log.fd = -1;
    observer_subscribe(&events->observer, heap, &calls);
}

/* ---- allocation ---- */

void events_large(eden_heap *heap, eden_value object, size_t bytes) {
    heap->figures.large_objects++;
    heap->figures.large_bytes += bytes;
    uint32_t index = eden_index_of(object);
    eden_fire_alloc__large(heap, (const void *)(uintptr_t)object, heap_class(heap, index)->class_index, bytes, index);
}

void events_born_old(eden_heap *heap, size_t bytes) {
    heap->delta.allocated += bytes;
    heap->born_old.objects++;
    heap->born_old.bytes += bytes;
}

void events_alloc_failed(eden_heap *heap, uint32_t index, size_t bytes, enum eden_failure_reason reason) {
    heap->figures.alloc_failures++;
    eden_fire_alloc__failed(heap, index, bytes, reason);
}

void eden_heap_figures(const eden_heap *heap, eden_figures *figures) {
    *figures = heap->figures;
    figures->allocated_bytes += heap_delta_allocated(heap);
    figures->remembered += heap->delta.remembered;
    figures->forgotten += heap->delta.forgotten;
    figures->tenured_objects += heap->delta.tenured;
    figures->mourned += heap->delta.mourned;
    figures->pretenured_objects += heap->born_old.objects;
    figures->pretenured_bytes += heap->born_old.bytes;
}
