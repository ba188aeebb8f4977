/* Full collections: a scavenge, then marking of both generations, then compaction or sweeping of old space.
 *
 * The scavenge comes first, so that eden is empty and the young that remain are survivors; it is a collection of its
 * own, with its own number. After marking, remembered objects that are dead leave the remembered set, and survivors
 * that only dead old objects kept become fillers (nepotism ends here). Then old space is slid together (slide.c), or,
 * where the compactor is another or finds no memory for its tables, swept; `selective` then empties the sparsest
 * segments (before an allocation fails for pieces, it slides, too). At last empty segments go back to the system.
 *
 * When: old space grew by full_gc_ratio since the last one (here); an old allocation found no chunk, or memory has run
 * out (allocate.c); on request. */
#include "heap/private.h"

static void collect(eden_heap *heap, enum eden_full_cause cause, size_t requested, bool slide) {
    scavenge(heap, EDEN_SCAVENGE_FULL);
    heap->collecting = true;
    check_before_full(heap);
    struct full_before before = event_full_start(heap, cause, requested);

    uint64_t start = event_phase_start(heap, EDEN_PHASE_mark);
    struct tally marked = mark(heap);
    event_phase_done(heap, EDEN_PHASE_mark, start, marked);
    remembered_drop_unmarked(heap);
    lifetimes_marked(heap, before.start_ns, !slide);
    learning_marked(heap);

    uint64_t young_freed;
    if (slide && compact(heap)) {
        young_freed = sweep_young(heap);
    } else {
        start = event_phase_start(heap, EDEN_PHASE_sweep);
        struct tally freed = sweep_old(heap);
        young_freed = sweep_young(heap);
        bool selective = heap->params.compactor == EDEN_COMPACTOR_SELECTIVE;
        for (size_t i = 0; !selective && i < heap->old.segment_count; i++) {
            sweep_free_gaps(heap, &heap->old.segments[i]);
        }
        event_phase_done(heap, EDEN_PHASE_sweep, start, freed);
        if (selective) {
            compact_selectively(heap);
        }
    }
    lifetimes_swept(heap);
    old_shrink(heap);
    heap->old.used_at_full = old_used(heap);
    event_full_done(heap, &before, marked.bytes, young_freed);
    lifetimes_resume(heap);
    heap->collecting = false;
    check_after_full(heap);
    hooks_call(heap, EDEN_COLLECTION_FULL);
}

void full_collect(eden_heap *heap, enum eden_full_cause cause, size_t requested) {
    collect(heap, cause, requested, heap->params.compactor == EDEN_COMPACTOR_PLANNING);
}

/* Evacuation may find no room to move anything to; sliding needs none. */
void full_collect_sliding(eden_heap *heap, size_t requested) { collect(heap, EDEN_FULL_LIMIT, requested, true); }

void full_collect_if_grown(eden_heap *heap) {
    uint64_t used = old_used(heap), base = heap->old.used_at_full;
    if (used > base && used >= heap->params.full_gc_min_old &&
        (double)(used - base) >= heap->params.full_gc_ratio * (double)base) {
        full_collect(heap, EDEN_FULL_RATIO, 0);
    }
}

void eden_full_collect(eden_mutator *mutator) {
    check_call(mutator->heap, "eden_full_collect");
    if (!hooks_refuse(mutator->heap, "eden_full_collect")) {
        full_collect(mutator->heap, EDEN_FULL_REQUEST, 0);
    }
}

void eden_scavenge(eden_mutator *mutator) {
    check_call(mutator->heap, "eden_scavenge");
    if (!hooks_refuse(mutator->heap, "eden_scavenge")) {
        scavenge(mutator->heap, EDEN_SCAVENGE_REQUEST);
        full_collect_if_grown(mutator->heap);
    }
}
