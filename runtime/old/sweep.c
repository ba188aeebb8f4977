/* Sweeping: what marking did not reach becomes free, at once (heap/lazy_sweep.c: later).
 *
 * Old space is walked once, in order of addresses. Each maximal run of dead objects and free chunks becomes one gap, so
 * neighbours coalesce both ways. The gaps of a segment stay in a chain until it is known whether the segment will be
 * evacuated (evacuate.c), for then its gaps take no objects. New space is walked too: its dead, which only dead old
 * objects kept until now, become fillers, because their references may lead to what has just been freed.
 *
 * Cost. Where an object ends is in its header, so a walk waits for memory at each new line: asked for AHEAD bytes
 * early, the lines come in time.
 *
 * Invariants
 * I1. Nothing at or above the object that the sweep has come to is changed (observers' `dead` relies on it).
 * I2. After it, no object is marked. */
#include "old/sweep.h"

enum { AHEAD = 1024 };

/* Where a gap keeps the address of the next in its segment's chain: behind its headers, one word or two. */
static uintptr_t *chain(uintptr_t gap, size_t bytes) { return (uintptr_t *)gap + (bytes == 16 ? 1 : 2); }

static void add_gap(struct segment *segment, uintptr_t start, uintptr_t end) {
    size_t bytes = end - start;
    if (bytes == 0) {
        return;
    }
    object_fill(start, bytes);
    if (bytes < 16) {
        segment->fragments += bytes;
        return;
    }
    *chain(start, bytes) = segment->gaps;
    segment->gaps = start;
}

/* unseen: the address from which on observers want to see dead objects. */
static struct tally sweep_segment(eden_heap *heap, struct segment *segment, uintptr_t *unseen) {
    struct tally freed = {0, 0};
    uintptr_t gap = segment->start;
    segment->live = (struct tally){0, 0};
    segment->fragments = segment->gaps = 0;
    segment->is_pinned = false;
    for (uintptr_t at = segment->start; at < segment->limit;) {
        __builtin_prefetch((const void *)(at + AHEAD), 1);
        eden_value object = object_at(at);
        uintptr_t next = at + object_bytes(object);
        if (object_has(object, EDEN_HEADER_MARKED)) {
            object_clear(object, EDEN_HEADER_MARKED);
            segment->live.objects++;
            segment->live.bytes += next - at;
            segment->is_pinned |= object_has(object, EDEN_HEADER_PINNED);
            add_gap(segment, gap, at);
            gap = next;
        } else if (!object_is_free(object)) {
            freed.objects++;
            freed.bytes += next - at;
            if (object >= *unseen) {
                *unseen = observer_dead(heap, object);
            }
        }
        at = next;
    }
    add_gap(segment, gap, segment->limit);
    segment->tail = gap;
    return freed;
}

struct tally sweep_old(eden_heap *heap) {
    struct tally freed = {0, 0};
    old_space_retire_buffer(heap);
    old_space_reset_free(heap);
    uintptr_t unseen = observer_wants_dead(heap) ? 0 : UINTPTR_MAX;
    for (size_t i = 0; i < heap->old.segment_count; i++) {
        struct tally here = sweep_segment(heap, &heap->old.segments[i], &unseen);
        freed.objects += here.objects;
        freed.bytes += here.bytes;
    }
    return freed;
}

void sweep_free_gaps(eden_heap *heap, struct segment *segment) {
    heap->old.free_bytes += segment->fragments;
    for (uintptr_t gap = segment->gaps; gap != 0;) {
        size_t bytes = object_bytes(object_at(gap));
        uintptr_t next = *chain(gap, bytes);
        old_space_add_free(heap, gap, bytes);
        gap = next;
    }
}

uint64_t sweep_young(eden_heap *heap, struct tally *live) {
    struct space *spaces[YOUNG_SPACES];
    uint64_t dead = 0;
    heap_young_spaces(heap, spaces);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        uintptr_t gap = spaces[i]->start;
        for (uintptr_t at = spaces[i]->start; at < spaces[i]->used;) {
            eden_value object = object_at(at);
            uintptr_t next = at + object_bytes(object);
            if (object_has(object, EDEN_HEADER_MARKED)) {
                object_clear(object, EDEN_HEADER_MARKED);
                live->objects++;
                live->bytes += next - at;
                if (gap < at) {
                    object_fill(gap, at - gap);
                }
                gap = next;
            } else if (!object_is_free(object)) {
                dead += next - at;
            }
            at = next;
        }
        if (gap < spaces[i]->used) {
            object_fill(gap, spaces[i]->used - gap);
        }
    }
    return dead;
}
