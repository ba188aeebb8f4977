#include "heap/heap.h"

void heap_young_spaces(eden_heap *heap, struct space *spaces[YOUNG_SPACES]) {
    heap->eden.used = heap->mutator.free;
    spaces[0] = &heap->semi[0];
    spaces[1] = &heap->semi[1];
    spaces[2] = &heap->eden;
}

uint64_t heap_survivor_used(const eden_heap *heap) {
    /* Outside a scavenge one of them is empty, unless promotion failed. */
    return (heap->semi[0].used - heap->semi[0].start) + (heap->semi[1].used - heap->semi[1].start) -
           heap->survivor_fillers;
}

uintptr_t heap_top(const eden_heap *heap) {
    const struct old_space *old = &heap->old;
    uintptr_t top = heap->new_space.eden_end;
    return old->segment_count != 0 && old->segments[old->segment_count - 1].limit > top
               ? old->segments[old->segment_count - 1].limit
               : top;
}

void heap_set_limit(eden_heap *heap) {
    uintptr_t limit = heap->params.stress > 0 || heap->broken_invariant != NULL ? heap->mutator.free : heap->eden.limit;
    limit = limit < heap->cycle.eden_limit ? limit : heap->cycle.eden_limit;
    for (struct observer *at = heap->allocation_observers; at != NULL; at = at->next_allocation) {
        limit = at->calls->limit(at, limit);
    }
    heap->mutator.limit = limit;
}
