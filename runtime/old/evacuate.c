/* Compaction by evacuation: the live objects of the sparsest segments move to free memory elsewhere, so that whole
 * segments become free (compactor `selective`).
 *
 * 1. Algorithm
 * It follows a sweep, which has counted what lives in each segment and left each segment's gaps in a chain of its own.
 * plan    Sparse are segments filled to a half at most; to 15/16 where more is free than shrink_threshold: then there
 *         is memory to return, and only whole segments can be. From the sparsest on, as many are chosen as the free
 *         memory of the others can take in. The gaps of all others become free chunks.
 * move    Objects of the chosen are copied to free chunks; their old headers become forwarding addresses.
 * update  Each reference to a forwarded object is changed, in one pass over the heap. Then what is left in the chosen
 *         segments becomes free: usually all of them.
 *
 * 2. Invariants
 * I1. Segments with pinned objects are not chosen, so pinned objects stay.
 * I2. No memory is asked of the system. An object that finds no room stays, and its segment with it.
 * I3. Before it begins no object is marked, and dead young objects are fillers.
 *
 * 3. Failure
 * Free memory may be in pieces too small for the objects. Then a segment is emptied in part, which costs time and gains
 * nothing. */
#include "old/evacuate.h"
#include "old/sweep.h"
#include "young/cards.h"

enum { AHEAD = 1024 };

struct evacuation {
    eden_visit visit; /* first: root visitors get its address */
    eden_heap *heap;
    uintptr_t low, high; /* the chosen segments lie between */
    struct tally planned, moved, updated;
};

static uint64_t segment_bytes(const struct segment *segment) { return segment->limit - segment->start; }
static uint64_t segment_free(const struct segment *segment) { return segment_bytes(segment) - segment->live.bytes; }

static bool is_sparse(const eden_heap *heap, const struct segment *segment, uint64_t all_free) {
    uint64_t sixteenths = all_free > heap->params.shrink_threshold ? 15 : 8;
    return !segment->is_pinned && segment->live.bytes <= segment_bytes(segment) / 16 * sixteenths;
}

static struct segment *merge(struct segment *a, struct segment *b) {
    struct segment *first = NULL, **last = &first;
    while (a != NULL && b != NULL) {
        struct segment **least = a->live.bytes <= b->live.bytes ? &a : &b;
        *last = *least;
        last = &(*last)->denser;
        *least = *last;
    }
    *last = a != NULL ? a : b;
    return first;
}

/* The sparse ones of `count` segments that are not chosen yet, in a list from the sparsest on; the lower first. */
static struct segment *sparse_list(const eden_heap *heap, struct segment *segments, size_t count, uint64_t all_free) {
    if (count > 1) {
        size_t half = count / 2;
        return merge(sparse_list(heap, segments, half, all_free),
                     sparse_list(heap, segments + half, count - half, all_free));
    }
    bool sparse = count == 1 && !segments->is_chosen && is_sparse(heap, segments, all_free);
    segments->denser = NULL;
    return sparse ? segments : NULL;
}

static void plan(struct evacuation *e) {
    eden_heap *heap = e->heap;
    uint64_t all_free = 0, taken_in = 0;
    for (size_t i = 0; i < heap->old.segment_count; i++) {
        all_free += segment_free(&heap->old.segments[i]);
    }
    uint64_t room = all_free;
    struct segment *segment;
    /* The sparsest are the empty ones, which may be many. Nothing moves into them. */
    for (size_t i = 0; i < heap->old.segment_count; i++) {
        segment = &heap->old.segments[i];
        if (segment->live.bytes == 0 && is_sparse(heap, segment, all_free)) {
            segment->is_chosen = true;
            room -= segment_free(segment);
        }
    }
    for (segment = heap->old.segment_count == 0
                       ? NULL
                       : sparse_list(heap, heap->old.segments, heap->old.segment_count, all_free);
         segment != NULL && taken_in + segment->live.bytes <= room - segment_free(segment); segment = segment->denser) {
        segment->is_chosen = true;
        room -= segment_free(segment);
        taken_in += segment->live.bytes;
        e->planned.objects += segment->live.objects;
        e->planned.bytes += segment->live.bytes;
        e->low = e->low == 0 || segment->start < e->low ? segment->start : e->low;
        e->high = segment->limit > e->high ? segment->limit : e->high;
    }
    for (size_t i = 0; i < heap->old.segment_count; i++) {
        if (!heap->old.segments[i].is_chosen) {
            sweep_free_gaps(heap, &heap->old.segments[i]);
        }
    }
}

/* Empties a segment as far as there is room. */
static void empty_segment(struct evacuation *e, const struct segment *segment) {
    for (uintptr_t at = segment->start; at < segment->limit;) {
        eden_value object = object_at(at);
        size_t bytes = object_bytes(object);
        eden_value to = object_is_free(object) ? 0 : old_space_allocate(e->heap, bytes);
        if (to != 0) {
            eden_value copy = to + (object - at);
            memcpy((void *)to, (void *)at, bytes);
            object_forward(object, copy);
            e->moved.objects++;
            e->moved.bytes += bytes;
        }
        at += bytes;
    }
}

static void update_slots(eden_visit *visit, eden_value *slots, size_t count) {
    const struct evacuation *e = (const struct evacuation *)visit;
    for (size_t i = 0; i < count; i++) {
        eden_value v = slots[i];
        if (eden_is_object(v) && v - e->low < e->high - e->low && object_has(v, EDEN_HEADER_FORWARDED)) {
            slots[i] = object_forwarded_to(eden_header(v));
        }
    }
}

static void update_object(struct evacuation *e, eden_value object, size_t bytes) {
    size_t count = object_is_free(object) ? 0 : heap_reference_slots(e->heap, object);
    if (count != 0) {
        update_slots(&e->visit, eden_words_(object) + 1, count);
        e->updated.objects++;
        e->updated.bytes += bytes;
    }
}

static void update_old(struct evacuation *e) {
    const struct old_space *old = &e->heap->old;
    for (size_t i = 0; i < old->segment_count; i++) {
        uintptr_t limit = old->segments[i].limit;
        for (uintptr_t at = old->segments[i].start; at < limit;) {
            if (at == old->buffer_free && at < old->buffer_limit) {
                at = old->buffer_limit;
                continue;
            }
            __builtin_prefetch((const void *)(at + AHEAD), 1); /* as sweep.c does */
            eden_value object = object_at(at);
            bool forwarded = object_has(object, EDEN_HEADER_FORWARDED);
            size_t bytes = object_bytes(object);
            if (!forwarded) {
                update_object(e, object, bytes);
            }
            at += bytes;
        }
    }
}

static eden_value place_after(void *context, eden_value object) {
    (void)context;
    return object_has(object, EDEN_HEADER_FORWARDED) ? object_forwarded_to(eden_header(object)) : object;
}

static void update(struct evacuation *e) {
    eden_heap *heap = e->heap;
    struct space *spaces[YOUNG_SPACES];
    roots_visit(&e->visit);
    update_slots(&e->visit, heap->remembered.objects, heap->remembered.count);
    for (size_t i = 0; i < heap->remembered.card_count; i++) {
        update_slots(&e->visit, &heap->remembered.cards[i].object, 1);
    }
    heap_young_spaces(heap, spaces);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        for (uintptr_t at = spaces[i]->start; at < spaces[i]->used;) {
            eden_value object = object_at(at);
            size_t bytes = object_bytes(object);
            update_object(e, object, bytes);
            at += bytes;
        }
    }
    update_old(e);
    OBSERVE(heap, moved, place_after, NULL);
}

/* What an evacuated segment has left lives; all else in it becomes free. */
static void free_forwarded(eden_heap *heap, struct segment *segment) {
    uintptr_t gap = segment->start;
    for (uintptr_t at = segment->start; at < segment->limit;) {
        eden_value object = object_at(at);
        bool forwarded = object_has(object, EDEN_HEADER_FORWARDED);
        uintptr_t next = at + object_bytes(object);
        if (!forwarded && !object_is_free(object)) {
            if (gap < at) {
                old_space_add_free(heap, gap, at - gap);
            }
            gap = next;
        }
        at = next;
    }
    if (gap < segment->limit) {
        old_space_add_free(heap, gap, segment->limit - gap);
    }
    segment->is_chosen = false;
}

void evacuate_segments(eden_heap *heap) {
    struct evacuation e = {.visit = {.heap = heap, .slots = update_slots}, .heap = heap};
    uint64_t start = observer_phase_begin(heap, EDEN_PHASE_compact);
    uint64_t phase = observer_phase_begin(heap, EDEN_PHASE_compact__plan);
    plan(&e);
    observer_phase_end(heap, EDEN_PHASE_compact__plan, phase, e.planned);

    phase = observer_phase_begin(heap, EDEN_PHASE_compact__move);
    cards_unset(heap); /* needs the objects where they are */
    for (size_t i = 0; i < heap->old.segment_count; i++) {
        if (heap->old.segments[i].is_chosen) {
            empty_segment(&e, &heap->old.segments[i]);
        }
    }
    observer_phase_end(heap, EDEN_PHASE_compact__move, phase, e.moved);

    phase = observer_phase_begin(heap, EDEN_PHASE_compact__update);
    if (e.moved.objects != 0) {
        update(&e);
    }
    cards_set(heap); /* and where they are now */
    old_space_retire_buffer(heap);
    for (size_t i = 0; i < heap->old.segment_count; i++) {
        if (heap->old.segments[i].is_chosen) {
            free_forwarded(heap, &heap->old.segments[i]);
        }
    }
    observer_phase_end(heap, EDEN_PHASE_compact__update, phase, e.updated);
    observer_phase_end(heap, EDEN_PHASE_compact, start, e.moved);
}
