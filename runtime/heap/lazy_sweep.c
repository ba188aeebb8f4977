/* Lazy sweeping: a full collection ends when it has marked, and old space is swept afterwards, a part at a time.
 *
 * 1. Purpose
 * Sweeping takes time in proportion to all of old space, and the program need not wait for it: what is dead stays dead.
 * With pause_goal the pause of a full collection ends with what must follow from the marks at once: weak slots,
 * ephemerons, the remembered set, dead survivors, figures.
 *
 * 2. Terms
 * A part of a segment is unswept where the sweep has not come: what lives there is marked, everything else is dead, and
 * none of it is free yet. The boundary is segment->swept_to. A page is live if the header of a marked object lies in
 * it. The open gap is what the sweep has found dead since the last live object: it becomes one chunk when the next one
 * is found, however many steps that takes.
 *
 *    start              swept_to        dead_to                 limit
 *      | objects, chunks   | open gap      | unswept              |
 *      |                   | all is dead   | marked: alive        |
 *
 * 3. Algorithm
 * mark     sets a byte for each live page (old/mark.c, old/markers.c, heap/cycle.c).
 * begin    Free chunks are forgotten. A segment without a live page becomes one chunk at once, so that it can be used,
 *          or returned to the system, without a walk. All others are unswept from their start.
 * sweep    In order of addresses. Live objects lose their mark, and what lies between them becomes chunks.
 *
 *    who sweeps                                       how much
 *    an allocation that finds no chunk                a megabyte; then the system is asked for a segment, and where
 *                                                     there is none, until there is a chunk
 *    each scavenge (heap/cycle.c)                     until a time; it may end within a segment
 *    the next full collection, before it marks        all; as a phase full.sweep of its own
 *
 * When a step has swept the last segment, old space shrinks, as after a full collection. Where an allocation has swept
 * it, the next full collection returns what can be returned.
 *
 * 4. What is known without sweeping
 * Marking has counted what lives. So the bytes in use and free are exact: free_bytes has the dead of unswept parts in
 * it, and sweeping does not change it. So are the objects and bytes freed, since old_space counts its objects. What is
 * known of swept parts only is how free memory is cut: the number of chunks, and the largest.
 *
 * 5. Who else reads old space
 * What is allocated or tenured meanwhile lies in chunks, hence in swept parts, and is not marked. Walks pass over the
 * dead of unswept parts (old_space_walk): they may refer to what is free by now. Several threads scan remembered
 * objects and write their headers, and so would the sweep, which clears marks. So a scavenge goes alone while something
 * is unswept (needs_order, young/scavenge.c). To sweep all before would be the pause that this file is to avoid; a
 * scavenge alone takes longer, but no more than without gc_threads.
 *
 * 6. Who sweeps at once
 * A full collection (old/full.c) that slides or evacuates, which moves objects into the gaps; one after a promotion in
 * place, whose live bytes the policy wants; one whose dead an observer wants to see. An observer that begins to want
 * them later misses nothing: the dead of unswept parts were found by the collection before.
 *
 * 7. Invariants
 * I1. An object of old space at or above swept_to of its segment lives exactly if it is marked. Below, none is marked.
 * I2. Between swept_to and dead_to nothing is marked.
 * I3. While objects are marked, and while they move, all is swept.
 * I4. What the sweep finds alive is what marking has counted.
 * I5. No chunk, and no buffer, lies in an unswept part.
 * I6. From lazy_sweep_prepare to lazy_sweep_begin, whoever sets the mark of an object of old space notes its page: else
 *     its segment may be taken for empty. `live` has each such object once.
 * The verifier checks I1, I2, I4 and I5.
 *
 * 8. Failure
 * There is no memory for the pages' bytes: no segment is known to be empty before it is swept. Sweeping needs none.
 *
 * 9. Cost
 * As of sweeping at once, but that free memory is not returned to the system before it is swept, and that the lowest
 * gaps are used first, not those that fit best. Marking: three instructions an object; eight more where sweeping is to
 * come later, and a byte for each page of old space, mapped during the pause. Where old space may not grow, an
 * allocation may have to sweep much. What is returned to the system is returned in one step.
 *
 * 10. References
 * R. J. M. Hughes, "A Semi-incremental Garbage Collection Algorithm", Software: Practice and Experience 12(11), 1982.
 */
#include "heap/lazy_sweep.h"
#include "heap/heap.h"
#include "heap/poison.h"
#include "heap/policy.h"

/* PART: between two looks at the clock, some ten microseconds. AHEAD: as in old/sweep.c. */
enum { PART = 64 * 1024, AHEAD = 1024, CHUNK_LEAST = 16 };

/* ---- beginning ---- */

void lazy_sweep_prepare(eden_heap *heap) {
    struct old_space *old = &heap->old;
    struct lazy_sweep *sweep = &old->sweep;
    invariant_check(heap, sweep->unswept == 0, "I3 of lazy sweeping: marking begins, and not all is swept");
    if (old->segment_count != 0) {
        sweep->base = old->segments[0].start;
        sweep->page_count = (old->segments[old->segment_count - 1].limit - sweep->base) / LIVE_PAGE;
        sweep->pages = system_map(&heap->system, sweep->page_count, "live pages");
    }
}

void lazy_sweep_cancel(eden_heap *heap) {
    struct lazy_sweep *sweep = &heap->old.sweep;
    if (sweep->pages != NULL) {
        system_unmap(sweep->pages, sweep->page_count);
    }
    sweep->pages = NULL;
    sweep->page_count = 0;
}

static bool has_live_page(const struct lazy_sweep *sweep, const struct segment *segment) {
    size_t first = (segment->start - sweep->base) / LIVE_PAGE, count = (segment->limit - segment->start) / LIVE_PAGE;
    bool is_known = sweep->pages != NULL && first < sweep->page_count && count <= sweep->page_count - first;
    return !is_known || memchr(sweep->pages + first, 1, count) != NULL;
}

static void begin_segment(struct old_space *old, struct segment *segment) {
    if (has_live_page(&old->sweep, segment)) {
        segment->swept_to = segment->dead_to = segment->start;
        old->sweep.unswept++;
    } else {
        segment->tail = segment->start;
        segment->swept_to = segment->dead_to = segment->limit;
        free_chunks_add(&old->free, segment->start, segment->limit - segment->start);
    }
}

void lazy_sweep_begin(eden_heap *heap, struct tally live) {
    struct old_space *old = &heap->old;
    invariant_check(heap, live.bytes <= old->capacity, "I4 of lazy sweeping: more is marked than there is");
    old_space_retire_buffer(heap);
    old_space_reset_free(heap);
    old->free_bytes = old->capacity - live.bytes;
    old->sweep.from = old->start;
    old->sweep.live = live;
    old->sweep.found = (struct tally){0, 0};
    for (size_t i = 0; i < old->segment_count; i++) {
        begin_segment(old, &old->segments[i]);
    }
    lazy_sweep_cancel(heap);
}

/* ---- sweeping ---- */

/* Something is unswept. */
static struct segment *next_segment(struct old_space *old) {
    struct segment *segment = &old->segments[old_space_segment(old, old->sweep.from)];
    while (segment->swept_to == segment->limit) {
        segment++;
    }
    old->sweep.from = segment->start;
    return segment;
}

static void add_gap(struct old_space *old, uintptr_t start, uintptr_t end) {
    if (start < end) {
        free_chunks_add(&old->free, start, end - start);
        poison_chunk_swept(start, end - start);
    }
}

static void close_gap(struct old_space *old, struct segment *segment) {
    add_gap(old, segment->swept_to, segment->dead_to);
    segment->swept_to = segment->dead_to;
}

static void end_segment(eden_heap *heap, struct segment *segment) {
    struct lazy_sweep *sweep = &heap->old.sweep;
    segment->tail = segment->swept_to;
    close_gap(&heap->old, segment);
    sweep->unswept--;
    invariant_check(heap,
                    sweep->unswept != 0 ||
                        (sweep->found.objects == sweep->live.objects && sweep->found.bytes == sweep->live.bytes),
                    "I4 of lazy sweeping: what lives is not what was marked");
}

/* Sweeps about `bytes` of a segment that is not swept to its end. Returns how many. */
static size_t sweep_part(eden_heap *heap, struct segment *segment, size_t bytes) {
    struct tally *found = &heap->old.sweep.found;
    uintptr_t from = segment->dead_to, gap = segment->swept_to, at = from;
    uintptr_t end = segment->limit - from > bytes ? from + bytes : segment->limit;
    while (at < end) {
        __builtin_prefetch((const void *)(at + AHEAD), 1);
        eden_value object = object_at(at);
        uintptr_t next = at + object_bytes(object);
        if (object_has(object, EDEN_HEADER_MARKED)) {
            object_clear(object, EDEN_HEADER_MARKED);
            found->objects++;
            found->bytes += next - at;
            add_gap(&heap->old, gap, at);
            gap = next;
        }
        at = next;
    }
    segment->swept_to = gap;
    segment->dead_to = at < segment->limit ? at : segment->limit;
    if (at >= segment->limit) {
        end_segment(heap, segment);
    }
    return at - from;
}

bool lazy_sweep_find(eden_heap *heap, size_t bytes, size_t most) {
    struct old_space *old = &heap->old;
    size_t least = bytes > CHUNK_LEAST ? bytes : CHUNK_LEAST;
    for (size_t swept = 0; old->sweep.unswept != 0 && swept < most;) {
        struct segment *segment = next_segment(old);
        if (segment->dead_to - segment->swept_to >= least) {
            close_gap(old, segment);
        } else {
            swept += sweep_part(heap, segment, PART);
        }
        if (free_chunks_largest(&old->free) >= least) {
            return true;
        }
    }
    return false;
}

void lazy_sweep_all(eden_heap *heap) {
    while (heap->old.sweep.unswept != 0) {
        sweep_part(heap, next_segment(&heap->old), SIZE_MAX);
    }
}

/* ---- steps ---- */

/* All has been swept. What a collection changes of the sizes, it decides itself. */
static void return_memory(eden_heap *heap) {
    old_space_shrink(heap);
    if (!heap->is_collecting) {
        policy_old_changed(heap);
    }
}

bool lazy_sweep_bytes(eden_heap *heap, size_t bytes) {
    struct old_space *old = &heap->old;
    if (old->sweep.unswept == 0) {
        return true;
    }
    for (size_t swept = 0; swept < bytes && old->sweep.unswept != 0;) {
        swept += sweep_part(heap, next_segment(old), bytes - swept);
    }
    if (old->sweep.unswept == 0) {
        return_memory(heap);
    }
    return old->sweep.unswept == 0;
}

bool lazy_sweep_step(eden_heap *heap, uint64_t until_ns) {
    while (heap->old.sweep.unswept != 0 && system_now_ns() < until_ns) {
        lazy_sweep_bytes(heap, PART);
    }
    return heap->old.sweep.unswept == 0;
}
