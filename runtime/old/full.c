/* Full collections: a scavenge, then marking of both generations, then compaction or sweeping of old space.
 *
 * 1. Algorithm
 * The scavenge comes first, so that eden is empty and the young that remain are survivors; it is a collection of its
 * own, with its own number. In a cycle (heap/cycle.c) most of old space is marked already. After marking, dead objects
 * leave the remembered set, and survivors that only dead old objects kept become fillers: nepotism ends here. Then old
 * space is slid together (slide.c), or, where the compactor is another or finds no memory for its tables, swept;
 * `selective` then empties the sparsest segments. Before an allocation fails because free memory is in pieces, it
 * slides, too. At last empty segments are returned to the system. With pause_goal, where nothing is to move, it ends
 * without sweeping: heap/lazy_sweep.c.
 *
 * 2. When
 * Old space has grown by full_gc_ratio since the last one, or a cycle has marked it (here); an old allocation found no
 * chunk, or memory has run out (api/allocate.c); on request, of the program or, by a word in the heap's header, of a
 * tool. One that ends a cycle keeps what has died since the cycle began. Where it is requested, or memory has run out,
 * it abandons the cycle, and keeps nothing dead. */
#include "old/full.h"
#include "heap/policy.h"
#include "old/evacuate.h"
#include "old/mark.h"
#include "old/slide.h"
#include "old/sweep.h"
#include "young/remembered.h"
#include "young/scavenge.h"

/* policy=auto moves objects only to return memory. Where parameters say what is returned, it may be all. */
static bool evacuates(const eden_heap *heap) {
    uint64_t goal = policy_old_kept(heap);
    if (params_decide(&heap->params, EDEN_PARAM_compactor) && goal != EDEN_NO_LIMIT &&
        params_decide(&heap->params, EDEN_PARAM_shrink_threshold)) {
        return heap->old.capacity > goal && heap->old.capacity - goal > goal / 4;
    }
    return heap->params.compactor == EDEN_COMPACTOR_SELECTIVE;
}

/* Before marking. Afterwards evacuation may be wanted. */
static bool may_sweep_later(const eden_heap *heap, const struct full_pass *pass) {
    return (heap->params.pause_goal > 0 || heap->old.sweeps_later) && pass->sweeps &&
           !old_space_has_adopted(&heap->old) && !observer_wants_dead(heap);
}

/* What the collection before has left unswept, and has reported as freed. */
static void sweep_rest(eden_heap *heap) {
    if (heap->old.sweep.unswept != 0) {
        uint64_t start = observer_phase_begin(heap, EDEN_PHASE_sweep);
        lazy_sweep_all(heap);
        observer_phase_end(heap, EDEN_PHASE_sweep, start, (struct tally){0, 0});
    }
}

static void sweep_now(eden_heap *heap, struct full_pass *pass, struct tally *young) {
    uint64_t start = observer_phase_begin(heap, EDEN_PHASE_sweep);
    struct tally freed = sweep_old(heap);
    pass->young_freed = sweep_young(heap, young);
    bool selective = evacuates(heap);
    for (size_t i = 0; !selective && i < heap->old.segment_count; i++) {
        sweep_free_gaps(heap, &heap->old.segments[i]);
    }
    observer_phase_end(heap, EDEN_PHASE_sweep, start, freed);
    if (selective) {
        evacuate_segments(heap);
    }
}

static struct tally subtract(struct tally from, struct tally tally) {
    return (struct tally){from.objects - tally.objects, from.bytes - tally.bytes};
}

/* The same figures: what was there and is not marked is dead. */
static void sweep_later(eden_heap *heap, struct full_pass *pass, struct tally marked, struct tally *young) {
    uint64_t start = observer_phase_begin(heap, EDEN_PHASE_sweep);
    struct tally before = {heap->old.objects, heap_old_used(heap)};
    pass->young_freed = sweep_young(heap, young);
    struct tally live = subtract(marked, *young);
    lazy_sweep_begin(heap, live);
    observer_phase_end(heap, EDEN_PHASE_sweep, start, subtract(before, live));
}

static bool is_requested(const eden_heap *heap) {
    return __atomic_load_n(&heap->info.collect_request, __ATOMIC_RELAXED) != 0;
}

static void collect(eden_heap *heap, enum eden_full_cause cause, size_t requested, bool slides) {
    scavenge(heap, EDEN_SCAVENGE_FULL);
    if (heap->broken_invariant != NULL) {
        return;
    }
    int cancellation = system_hold_cancellation();
    heap->is_collecting = true;
    if (is_requested(heap)) {
        __atomic_store_n(&heap->info.collect_request, 0, __ATOMIC_RELAXED);
    }
    pages_keep(&heap->pages);
    OBSERVE(heap, before_full);
    bool in_place = heap->policy.in_place != 0; /* then what is dead lies among what lives, and the end of old space */
    struct full_pass pass = {
        .cause = cause, .requested = requested, .start_ns = system_now_ns(), .sweeps = !slides && !in_place};
    OBSERVE(heap, full_begin, &pass);
    sweep_rest(heap);

    uint64_t live_before = heap->old.used_at_full, used = heap_old_used(heap);
    uint64_t start = observer_phase_begin(heap, EDEN_PHASE_mark);
    if (cause == EDEN_FULL_REQUEST || cause == EDEN_FULL_LIMIT) { /* section 2 */
        cycle_abandon(heap);
    }
    const struct tally ahead = cycle_is_running(&heap->cycle) ? heap->cycle.reported : (struct tally){0, 0};
    bool is_swept_later = may_sweep_later(heap, &pass);
    if (is_swept_later && !cycle_is_running(&heap->cycle)) {
        lazy_sweep_prepare(heap);
    }
    struct tally marked = mark(heap), young = {0, 0};
    observer_phase_end(heap, EDEN_PHASE_mark, start, marked);
    marked = (struct tally){ahead.objects + marked.objects, ahead.bytes + marked.bytes};
    pass.survived_bytes = marked.bytes;
    heap->old.used_at_full = marked.bytes; /* for the policy; new space's part of it is small */
    remembered_drop_unmarked(heap);
    OBSERVE(heap, marked, &pass);

    bool slid = (slides || (in_place && evacuates(heap))) && slide(heap);
    is_swept_later = is_swept_later && !evacuates(heap);
    if (is_swept_later) {
        sweep_later(heap, &pass, marked, &young);
    } else {
        lazy_sweep_cancel(heap);
        if (slid) {
            pass.young_freed = sweep_young(heap, &young);
        } else {
            sweep_now(heap, &pass, &young);
        }
    }
    heap->old.objects = marked.objects - young.objects;
    OBSERVE(heap, swept);
    old_space_check(heap, !slid && !is_swept_later);
    heap->old.used_at_full = heap_old_used(heap);
    policy_collected(heap, live_before, used, old_space_take_adopted(heap));
    old_space_shrink(heap);
    policy_old_changed(heap);
    policy_report(heap);
    pages_return(&heap->pages);
    OBSERVE(heap, full_end, &pass);
    heap->is_collecting = false;
    OBSERVE(heap, after_full);
    system_restore_cancellation(cancellation);
}

void full_collect(eden_heap *heap, enum eden_full_cause cause, size_t requested) {
    collect(heap, cause, requested, heap->params.compactor == EDEN_COMPACTOR_PLANNING);
}

/* Evacuation may find no room to move anything to; sliding needs none. */
void full_collect_sliding(eden_heap *heap, size_t requested) { collect(heap, EDEN_FULL_LIMIT, requested, true); }

static bool is_due(const eden_heap *heap) {
    uint64_t used = heap_old_used(heap), base = heap->old.used_at_full;
    if (heap->cycle.state == CYCLE_ENDS) {
        return true;
    }
    if (params_decide(&heap->params, EDEN_PARAM_full_gc_ratio)) {
        return policy_wants_full(heap);
    }
    return used > base && used >= heap->params.full_gc_min_old &&
           (double)(used - base) >= heap->params.full_gc_ratio * (double)base;
}

void full_collect_if_grown(eden_heap *heap) {
    if (is_requested(heap)) {
        full_collect(heap, EDEN_FULL_REQUEST, 0);
    } else if (is_due(heap)) {
        full_collect(heap, EDEN_FULL_RATIO, 0);
    }
    old_space_refill(heap);
}
