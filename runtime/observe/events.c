/* Events: the one place where something that happened becomes a counter, a probe, and a line of the log.
 *
 * Counters and probes can't disagree because the same function feeds both, with the same numbers. What is counted
 * between collections (bytes allocated, objects remembered and forgotten) is told by the next start probe in its
 * `..._since` arguments, and enters the figures at that moment: so the figures are at any time exactly what the probes
 * have said.
 *
 * The heap's public header gets a copy at the end of each collection, under its sequence lock. */
#include "heap/private.h"

uint64_t allocated_since(const eden_heap *heap) {
    return heap->since.allocated + (heap->mutator.free - heap->since.allocated_from);
}

/* Moves what was counted since the last start into the figures; the caller has told it through a probe. */
static void take_since(eden_heap *heap) {
    heap->figures.allocated_bytes += allocated_since(heap);
    heap->figures.remembered += heap->since.remembered;
    heap->figures.forgotten += heap->since.forgotten;
    heap->figures.tenured_objects += heap->since.tenured;
    heap->since = (struct since){.allocated_from = heap->mutator.free};
}

static void take_pretenured(eden_heap *heap) {
    heap->figures.pretenured_objects += heap->pretenured.objects;
    heap->figures.pretenured_bytes += heap->pretenured.bytes;
    heap->pretenured.objects = heap->pretenured.bytes = 0;
}

static void set_gauges(eden_heap *heap) {
    heap->figures.eden_size = heap->params.eden_size;
    heap->figures.survivor_used = heap_survivor_used(heap);
    heap->figures.old_used = old_used(heap);
    heap->figures.old_capacity = heap->old.capacity;
    heap->figures.remembered_now = remembered_now(heap);
}

/* The end of collection info.seq + 1: tools may read it from now on. */
static void publish(eden_heap *heap) {
    struct eden_heap_info *info = &heap->info;
    set_gauges(heap);
    __atomic_store_n(&info->lock, info->lock + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&info->seq, info->seq + 1, __ATOMIC_RELAXED);
#define EDEN_FIGURE(name, kind, unit, doc)                                                                             \
    __atomic_store_n(&info->figures[EDEN_FIGURE_##name], heap->figures.name, __ATOMIC_RELAXED);
#include "eden_figures.def"
#undef EDEN_FIGURE
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        __atomic_store_n(&info->full_by_cause[i], heap->figures.full_by_cause[i], __ATOMIC_RELAXED);
    }
    __atomic_store_n(&info->lock, info->lock + 1, __ATOMIC_RELEASE);
}

static void note_pause(eden_heap *heap, uint64_t ns) {
    if (ns > heap->figures.max_pause_ns) {
        heap->figures.max_pause_ns = ns;
    }
}

/* One event a collection: mourn, one an ephemeron, makes scavenges that fire many twice as long while it is traced. */
static void report_mourned(eden_heap *heap, uint64_t before) {
    uint64_t count = heap->figures.mourned - before;
    if (count != 0) {
        eden_fire_mourned(heap, heap->info.seq + 1, count, heap->mourners.end - heap->mourners.next);
    }
}

void event_heap_create(eden_heap *heap) {
    set_gauges(heap);
    heap->info.figures[EDEN_FIGURE_eden_size] = heap->figures.eden_size;
    eden_fire_heap__create(heap, heap->info.heap_id, heap->info.name);
    params_fire(heap, NULL);
}

void event_heap_destroy(eden_heap *heap) {
    eden_fire_heap__destroy(heap, heap->info.heap_id, allocated_since(heap), heap->since.remembered,
                            heap->since.forgotten, heap->since.tenured, heap->pretenured.objects,
                            heap->pretenured.bytes);
    take_since(heap);
    take_pretenured(heap);
}

struct scavenge_before event_scavenge_start(eden_heap *heap, enum eden_scavenge_cause cause) {
    struct scavenge_before before = {
        .start_ns = now_ns(),
        .eden_used = heap->mutator.free - heap->eden.start,
        .survivor_used = heap_survivor_used(heap),
        .remembered = remembered_now(heap),
        .tenured_objects = heap->figures.tenured_objects,
        .mourned = heap->figures.mourned,
        .cause = cause,
    };
    eden_fire_scavenge__start(heap, heap->info.seq + 1, cause, before.eden_used, before.survivor_used,
                              before.remembered, old_used(heap), allocated_since(heap), heap->since.remembered,
                              heap->since.forgotten, heap->since.tenured);
    take_since(heap);
    return before;
}

void event_scavenge_done(eden_heap *heap, const struct scavenge_before *before, const struct scavenge_totals *totals) {
    report_mourned(heap, before->mourned);
    uint64_t duration = now_ns() - before->start_ns;
    const struct space *survivors = &heap->semi[heap->past];
    uint64_t survivor_used = heap_survivor_used(heap);
    eden_figures *figures = &heap->figures;
    figures->scavenges++;
    figures->scavenge_ns += duration;
    figures->gc_ns += duration;
    figures->survived_bytes += survivor_used + totals->tenured_bytes;
    figures->tenured_objects += totals->tenured_objects;
    figures->tenured_bytes += totals->tenured_bytes;
    if (before->cause == EDEN_SCAVENGE_FULL) {
        heap->full_scavenge_ns = duration; /* part of the full collection's pause */
    } else {
        note_pause(heap, duration);
    }
    eden_fire_scavenge__done(heap, heap->info.seq + 1, duration, survivor_used, remembered_now(heap),
                             totals->tenured_bytes, totals->tenured_objects, (const void *)heap->tenure_threshold,
                             (const void *)survivors->start, (const void *)survivors->limit, heap->pretenured.objects,
                             heap->pretenured.bytes);
    take_pretenured(heap);
    log_scavenge(heap, before, totals, duration);
    publish(heap);
}

struct full_before event_full_start(eden_heap *heap, enum eden_full_cause cause, size_t requested) {
    struct full_before before = {
        .start_ns = now_ns(),
        .old_used = old_used(heap),
        .mark_ns = heap->figures.mark_ns,
        .sweep_ns = heap->figures.sweep_ns,
        .compact_ns = heap->figures.compact_ns,
        .mourned = heap->figures.mourned,
        .cause = cause,
    };
    eden_fire_full__start(heap, heap->info.seq + 1, cause, before.old_used, heap->old.capacity, requested,
                          allocated_since(heap), heap->since.remembered, heap->since.forgotten, heap->since.tenured);
    take_since(heap);
    return before;
}

void event_full_done(eden_heap *heap, const struct full_before *before, uint64_t survived, uint64_t young_freed) {
    report_mourned(heap, before->mourned);
    uint64_t duration = now_ns() - before->start_ns;
    uint64_t used = old_used(heap);
    uint64_t freed = before->old_used - used;
    eden_figures *figures = &heap->figures;
    figures->full_collections++;
    figures->full_by_cause[before->cause]++;
    figures->full_ns += duration;
    figures->gc_ns += duration;
    figures->freed_bytes += freed;
    note_pause(heap, heap->full_scavenge_ns + duration);
    eden_fire_full__done(heap, heap->info.seq + 1, duration, used, heap->old.capacity, heap->old.free.chunks,
                         old_largest_free(heap), heap->old.segment_count, freed, young_freed, remembered_now(heap));
    log_full(heap, before, duration, survived, freed, young_freed);
    publish(heap);
}

uint64_t event_phase_start(eden_heap *heap, enum eden_phase phase) {
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
    return now_ns();
}

void event_phase_done(eden_heap *heap, enum eden_phase phase, uint64_t start_ns, struct tally t) {
    uint64_t duration = now_ns() - start_ns;
    uint64_t seq = heap->info.seq + 1;
    heap->phase_ns[phase] = duration;
    heap->figures.mark_ns += phase == EDEN_PHASE_mark ? duration : 0;
    heap->figures.sweep_ns += phase == EDEN_PHASE_sweep ? duration : 0;
    heap->figures.compact_ns += phase == EDEN_PHASE_compact ? duration : 0;
    switch (phase) {
#define EDEN_PHASE(name, text, parent) case EDEN_PHASE_##name:
#define EDEN_PART(name, text, parent)                                                                                  \
    case EDEN_PHASE_##name:                                                                                            \
        eden_fire_##name##__done(heap, seq, duration, t.objects, t.bytes);                                             \
        break;
#include "eden_phases.def"
#undef EDEN_PHASE
    case EDEN_PHASE_COUNT:
        break;
    }
}

void event_large(eden_heap *heap, eden_value object, size_t bytes) {
    heap->figures.large_objects++;
    heap->figures.large_bytes += bytes;
    uint32_t index = eden_index_of(object);
    eden_fire_alloc__large(heap, (const void *)(uintptr_t)object, heap_class(heap, index)->class_index, bytes, index);
}

void event_pretenured(eden_heap *heap, size_t bytes) {
    heap->since.allocated += bytes;
    heap->pretenured.objects++;
    heap->pretenured.bytes += bytes;
}

void event_alloc_failed(eden_heap *heap, uint32_t index, size_t bytes) {
    heap->figures.alloc_failures++;
    eden_fire_alloc__failed(heap, index, bytes);
}

void event_mourn(eden_heap *heap, eden_value ephemeron, uint32_t key_class, size_t queue_length) {
    heap->figures.mourned++;
    eden_fire_mourn(heap, (const void *)(uintptr_t)ephemeron, key_class, queue_length);
}

void event_segment(eden_heap *heap, bool mapped, uintptr_t start, size_t bytes) {
    if (mapped) {
        heap->figures.segments_mapped++;
        eden_fire_segment__map(heap, (const void *)start, bytes, heap->old.capacity);
    } else {
        heap->figures.segments_unmapped++;
        eden_fire_segment__unmap(heap, (const void *)start, bytes, heap->old.capacity);
    }
}

void eden_heap_figures(const eden_heap *heap, eden_figures *figures) {
    *figures = heap->figures;
    figures->allocated_bytes += allocated_since(heap);
    figures->remembered += heap->since.remembered;
    figures->forgotten += heap->since.forgotten;
    figures->tenured_objects += heap->since.tenured;
    figures->pretenured_objects += heap->pretenured.objects;
    figures->pretenured_bytes += heap->pretenured.bytes;
}
