/* Old space: segments of memory in one reserved range, and allocation in them.
 *
 * 1. Segments
 * The range is reserved when the heap is made. Segments are committed in it on demand, first gap first, at least
 * grow_headroom at a time, and returned when empty. Objects never straddle them, so a walk over old space is a walk
 * over segments. With compat.growth=refill, as in Spur, a segment's size is a power of two or the headroom, and after
 * each scavenge another is added if less than the headroom is free: then a large object finds room, and causes no full
 * collection, if it fits into the headroom and comes after a scavenge. The search for a gap begins where the last one
 * ended (`passed`), unless that one was for more bytes: filling n gaps of a size takes one walk, not n. The card table
 * (young/cards.c) is mapped along with them.
 *
 * 2. Allocation
 * Small objects take a free chunk of exactly their size if there is one. Otherwise they are bumped in a buffer that is
 * cut from a larger chunk, so that tenuring a million objects does not search a million times. Objects of 512 bytes and
 * more are best fit. What is cut off is free again. Where no chunk is left, unswept parts are swept (lazy_sweep.c).
 *
 * 3. Invariants
 * I1. Segments are pages, and their sizes add up to `capacity`.
 * I2. Objects and free_bytes add up to `capacity`. free_bytes is chunks, buffer, fragments of 8 bytes, and what is dead
 *     in unswept parts.
 * I3. Segments are sorted by address and do not overlap.
 * I4. Between allocations [buffer_free, buffer_limit) is not formatted: walks step over it (old_space_walk).
 *
 * 4. Failure
 * The system refuses a segment, the range has no gap for it, or the array of segments cannot grow: old_space_grow
 * returns false and nothing has changed. During a scavenge it then returns false at once for as many bytes or more:
 * each of a million survivors would ask again, and nothing is returned before the scavenge ends. */
#include "heap/heap.h"
#include "heap/new_space.h"
#include "heap/poison.h"
#include "heap/policy.h"
#include <stdlib.h>

enum { BUFFER_BYTES = 256 * 1024, SMALL = FREE_LIST_SIZES * 8, PAGE = 4096 };

bool old_space_reserve_cards(eden_heap *heap) {
    struct old_space *old = &heap->old;
    if (heap->params.remembered_set != EDEN_REMEMBERED_CARD) {
        return true;
    }
    old->card_table_bytes = system_page_round((old->limit - old->start) / CARD_BYTES + 1);
    old->card_table = system_reserve(&heap->system, old->card_table_bytes);
    return old->card_table != NULL;
}

void old_space_destroy(struct old_space *old) {
    free(old->segments);
    if (old->card_table != NULL) {
        system_release(old->card_table, old->card_table_bytes);
    }
}

void old_space_retire_buffer(eden_heap *heap) {
    struct old_space *old = &heap->old;
    if (old->buffer_free < old->buffer_limit) {
        free_chunks_add(&old->free, old->buffer_free, old->buffer_limit - old->buffer_free);
    }
    old->buffer_free = old->buffer_limit = 0;
}

/* A chunk of just bytes, cut from the best fit; the rest is free again. 0: none is large enough. */
static uintptr_t take_cut(struct old_space *old, size_t bytes) {
    size_t found = 0;
    uintptr_t chunk = free_chunks_take(&old->free, bytes, &found);
    if (chunk != 0 && found > bytes) {
        free_chunks_add(&old->free, chunk + bytes, found - bytes);
    }
    return chunk;
}

static bool refill_buffer(eden_heap *heap, size_t bytes) {
    struct old_space *old = &heap->old;
    old_space_retire_buffer(heap);
    size_t taken = BUFFER_BYTES;
    uintptr_t chunk = take_cut(old, taken);
    if (chunk == 0) {
        taken = free_chunks_largest(&old->free);
        chunk = taken < bytes ? 0 : take_cut(old, taken);
    }
    old->buffer_free = chunk;
    old->buffer_limit = chunk == 0 ? 0 : chunk + taken;
    return chunk != 0;
}

static uintptr_t taken_for_use(eden_heap *heap, uintptr_t at, size_t bytes) {
    if (at != 0) {
        poison_used(at, bytes);
        heap->old.free_bytes -= bytes;
    }
    return at;
}

/* What is free by now. */
static uintptr_t take(eden_heap *heap, size_t bytes) {
    struct old_space *old = &heap->old;
    uintptr_t at = 0;
    if (bytes < SMALL) {
        at = bytes >= 16 ? free_chunks_pop(&old->free, bytes) : 0;
        if (at == 0 && (old->buffer_limit - old->buffer_free >= bytes || refill_buffer(heap, bytes))) {
            at = old->buffer_free;
            old->buffer_free += bytes;
        }
    } else {
        at = take_cut(old, bytes);
        if (at == 0 && old->buffer_limit - old->buffer_free >= bytes) {
            old_space_retire_buffer(heap); /* the buffer may be the chunk that is large enough */
            at = take_cut(old, bytes);
        }
    }
    return at;
}

static uintptr_t allocate(eden_heap *heap, size_t bytes, size_t most_swept) {
    uintptr_t at = take(heap, bytes);
    if (at == 0 && lazy_sweep_find(heap, bytes, most_swept)) {
        at = take(heap, bytes);
    }
    return taken_for_use(heap, at, bytes);
}

uintptr_t old_space_allocate(eden_heap *heap, size_t bytes) {
    enum { MOST_SWEPT = 1 << 20 };
    return allocate(heap, bytes, MOST_SWEPT);
}

uintptr_t old_space_allocate_swept(eden_heap *heap, size_t bytes) { return allocate(heap, bytes, SIZE_MAX); }

uintptr_t old_space_take_buffer(eden_heap *heap, size_t least, size_t wanted, size_t *taken) {
    struct old_space *old = &heap->old;
    uintptr_t at = 0;
    *taken = 0;
    if (old->buffer_limit - old->buffer_free >= least || refill_buffer(heap, least)) {
        size_t left = old->buffer_limit - old->buffer_free;
        at = old->buffer_free;
        *taken = left < wanted ? left : wanted;
        old->buffer_free += *taken;
    }
    return taken_for_use(heap, at, *taken);
}

uintptr_t old_space_take_hole(eden_heap *heap, size_t bytes) {
    return taken_for_use(heap, free_chunks_pop(&heap->old.free, bytes), bytes);
}

struct gap {
    uintptr_t start;
    size_t bytes;
};

static struct gap make_gap(uintptr_t start, uintptr_t end) {
    return (struct gap){start, end > start ? end - start : 0};
}

/* The gap before a segment, or behind the last: of its parts below and above new space, the larger. */
static struct gap gap_before(const eden_heap *heap, size_t index) {
    const struct old_space *old = &heap->old;
    const struct new_space *new = &heap->new_space;
    uintptr_t start = index == 0 ? old->start : old->segments[index - 1].limit;
    uintptr_t end = index < old->segment_count ? old->segments[index].start : old->limit;
    struct gap below = make_gap(start, end < new->start ? end : new->start);
    struct gap above = make_gap(start > new->end ? start : new->end, end);
    return above.bytes > below.bytes ? above : below;
}

/* Where a segment of *bytes fits: the first gap of the range that has so much; else the largest that has `least`, and
 * *bytes is what it has. index: the segment's place in the array. 0: nowhere. */
static uintptr_t find_gap(eden_heap *heap, size_t least, size_t *bytes, size_t *index) {
    struct old_space *old = &heap->old;
    struct gap largest = {0, 0};
    for (size_t i = *bytes >= old->passed.bytes ? old->passed.count : 0; i <= old->segment_count; i++) {
        struct gap gap = gap_before(heap, i);
        if (gap.bytes >= *bytes) {
            old->passed = (struct passed_gaps){i, *bytes};
            *index = i;
            return gap.start;
        }
    }
    for (size_t i = 0; i <= old->segment_count; i++) {
        struct gap gap = gap_before(heap, i);
        if (gap.bytes > largest.bytes) {
            largest = gap;
            *index = i;
        }
    }
    *bytes = largest.bytes < *bytes ? largest.bytes : *bytes;
    return largest.bytes >= least ? largest.start : 0;
}

uintptr_t old_space_gap(eden_heap *heap, size_t bytes) {
    size_t index, found = bytes;
    return find_gap(heap, bytes, &found, &index);
}

/* Room that max_heap leaves for another segment, of `wanted` bytes if eden has no use for them. */
static uint64_t allowance(eden_heap *heap, uint64_t wanted) {
    uint64_t limit = heap->params.max_heap, kept = policy_kept_free(heap);
    uint64_t used = heap->new_space.bytes + heap->old.capacity + kept;
    if (limit < used || limit - used < wanted) {
        policy_yield(heap, limit < used ? wanted + (used - limit) : wanted - (limit - used));
        used = heap->new_space.bytes + heap->old.capacity + kept;
    }
    return limit > used ? limit - used : 0;
}

/* The part of the card table that belongs to a segment. */
static bool commit_cards(eden_heap *heap, uintptr_t start, size_t bytes) {
    const struct old_space *old = &heap->old;
    if (old->card_table == NULL) {
        return true;
    }
    uintptr_t from = (uintptr_t)old->card_table + (start - old->start) / CARD_BYTES;
    uintptr_t to = from + bytes / CARD_BYTES + 1;
    from &= ~(uintptr_t)(PAGE - 1);
    return system_commit(&heap->system, from, system_page_round(to - from), "card table");
}

static bool commit(eden_heap *heap, uintptr_t start, size_t size) {
    return commit_cards(heap, start, size) && pages_commit(&heap->pages, &heap->system, start, size, "segment");
}

static bool is_below_next(const struct old_space *old, size_t index) {
    return index + 1 == old->segment_count || old->segments[index].limit <= old->segments[index + 1].start;
}

/* There is room in the array. */
static void insert(eden_heap *heap, size_t index, uintptr_t start, uintptr_t limit) {
    struct old_space *old = &heap->old;
    memmove(&old->segments[index + 1], &old->segments[index], (old->segment_count - index) * sizeof *old->segments);
    old->segments[index] =
        (struct segment){.start = start, .limit = limit, .swept_to = limit, .dead_to = limit, .tail = limit};
    old->segment_count++;
    old->capacity += limit - start;
    invariant_check(heap, (index == 0 || old->segments[index - 1].limit <= start) && is_below_next(old, index),
                    "I3 of old space: segments overlap, or are out of order");
}

/* A segment of size, or of the half, a quarter... of it where the system refuses or the range has no such gap; but of
 * least. */
static bool map_segment(eden_heap *heap, size_t least, size_t size) {
    struct old_space *old = &heap->old;
    uint64_t allowed = allowance(heap, size) & ~4095ull;
    size = size > allowed ? allowed : size;
    if (size < least || !system_grow(&heap->system, (void **)&old->segments, &old->segment_room, old->segment_count,
                                     sizeof *old->segments, "segment table")) {
        return false;
    }
    size_t index = 0;
    uintptr_t start = find_gap(heap, least, &size, &index);
    while (start != 0 && !commit(heap, start, size)) {
        if (size == least) {
            return false;
        }
        size = system_page_round(size / 2) > least ? system_page_round(size / 2) : least;
        start = find_gap(heap, least, &size, &index);
    }
    if (start == 0) {
        return false;
    }
    insert(heap, index, start, start + size);
    old->free_bytes += size;
    OBSERVE(heap, segment, true, start, size);
    free_chunks_add(&old->free, start, size);
    return true;
}

bool old_space_prepare(eden_heap *heap, const struct space *parts, size_t count) {
    struct old_space *old = &heap->old;
    for (size_t i = 0; i < count; i++) {
        if (!commit_cards(heap, parts[i].start, parts[i].limit - parts[i].start) ||
            !system_grow(&heap->system, (void **)&old->segments, &old->segment_room, old->segment_count + i,
                         sizeof *old->segments, "segment table")) {
            return false;
        }
    }
    return true;
}

void old_space_adopt(eden_heap *heap, uintptr_t start, uintptr_t limit) {
    size_t index = 0;
    while (index < heap->old.segment_count && heap->old.segments[index].start < start) {
        index++;
    }
    insert(heap, index, start, limit);
    heap->old.segments[index].is_adopted = true;
    heap->old.passed = (struct passed_gaps){0, 0};
    OBSERVE(heap, adopted, start, limit - start);
}

bool old_space_has_adopted(const struct old_space *old) {
    bool has = false;
    for (size_t i = 0; i < old->segment_count; i++) {
        has |= old->segments[i].is_adopted;
    }
    return has;
}

uint64_t old_space_take_adopted(eden_heap *heap) {
    uint64_t live = 0;
    for (size_t i = 0; i < heap->old.segment_count; i++) {
        live += heap->old.segments[i].is_adopted ? heap->old.segments[i].live.bytes : 0;
        heap->old.segments[i].is_adopted = false;
    }
    return live;
}

/* A new segment's size: Spur adds room for its own headers, and rounds up to a power of two. */
static size_t wanted_size(const eden_heap *heap, size_t bytes) {
    size_t headroom = system_page_round(heap->params.grow_headroom), size = system_page_round(bytes);
    if (heap->params.compat_growth == EDEN_GROWTH_REFILL) {
        for (size = PAGE; size < bytes + 32; size *= 2) {
        }
    }
    return size > headroom ? size : headroom;
}

/* The headroom is a wish, room for the object a need. */
static bool grow(eden_heap *heap, size_t bytes) {
    return bytes <= heap->old.limit - heap->old.start &&
           map_segment(heap, system_page_round(bytes), wanted_size(heap, bytes));
}

void old_space_refill(eden_heap *heap) {
    size_t headroom = system_page_round(heap->params.grow_headroom);
    if (heap->params.compat_growth == EDEN_GROWTH_REFILL && heap->old.free_bytes < headroom) {
        map_segment(heap, headroom, headroom);
    }
}

bool old_space_grow(eden_heap *heap, size_t bytes) {
    if (heap->is_collecting && bytes >= heap->old.refused) {
        return false;
    }
    bool grown = grow(heap, bytes);
    if (!grown) {
        heap->old.refused = bytes;
    }
    return grown;
}

/* Takes segments without memory out of the array. */
static void remove_gone(struct old_space *old) {
    size_t kept = 0;
    for (size_t i = 0; i < old->segment_count; i++) {
        if (old->segments[i].limit != old->segments[i].start) {
            old->segments[kept++] = old->segments[i];
        }
    }
    old->segment_count = kept;
}

/* Returns the free end of a segment, from this address on, or all of it. Those are two events: the whole segment is
 * unmapped, and what stays is a new one. */
static void cut(eden_heap *heap, struct segment *segment, uintptr_t from) {
    uintptr_t limit = segment->limit;
    segment->limit = segment->swept_to = segment->dead_to = segment->tail = from;
    heap->old.passed = (struct passed_gaps){0, 0};
    heap->old.capacity -= limit - from;
    heap->old.free_bytes -= limit - from;
    OBSERVE(heap, segment, false, segment->start, limit - segment->start);
    if (from != segment->start) {
        OBSERVE(heap, adopted, segment->start, from - segment->start);
    }
    pages_decommit(&heap->pages, from, limit - from);
}

/* Where the free end of a segment begins: all of it may be free. Of one that is unswept nothing is known. */
static uintptr_t free_end(const struct segment *segment) {
    if (segment->swept_to != segment->limit) {
        return segment->limit;
    }
    eden_value first = object_at(segment->start);
    bool all = object_is_free(first) && object_bytes(first) == segment->limit - segment->start;
    return all ? segment->start : segment->tail;
}

/* Above the threshold, give back all free memory but the headroom, in whole segments; where the policy decides, also
 * their free ends. From the highest, because compaction slides towards the lowest. */
void old_space_shrink(eden_heap *heap) {
    struct old_space *old = &heap->old;
    uint64_t headroom = heap->params.grow_headroom, threshold = heap->params.shrink_threshold;
    uint64_t goal = policy_old_kept(heap), used = heap_old_used(heap);
    /* What it may grow by is not returned only to be mapped again. */
    bool decided = goal != EDEN_NO_LIMIT && params_decide(&heap->params, EDEN_PARAM_shrink_threshold);
    if (decided) {
        threshold = headroom = goal > used + headroom ? goal - used : headroom;
    }
    if (old->free_bytes <= threshold || old->free_bytes <= headroom) {
        return;
    }
    uint64_t left = old->free_bytes - headroom;
    old_space_retire_buffer(heap);
    for (size_t i = old->segment_count; i-- > 0;) {
        struct segment *segment = &old->segments[i];
        uintptr_t end = free_end(segment), from = system_page_round(end);
        size_t size = segment->limit - end;
        if (decided && from < segment->limit && segment->limit - from > left) {
            from = segment->limit - left / PAGE * PAGE;
        }
        if (from >= segment->limit || segment->limit - from > left || (!decided && from != segment->start) ||
            !free_chunks_take_exact(&old->free, end, size)) {
            continue;
        }
        if (end < from) {
            free_chunks_add(&old->free, end, from - end);
        }
        left -= segment->limit - from;
        cut(heap, segment, from);
    }
    remove_gone(old);
}

void old_space_reset_free(eden_heap *heap) {
    free_chunks_clear(&heap->old.free);
    heap->old.free_bytes = 0;
    heap->old.buffer_free = heap->old.buffer_limit = 0;
}

void old_space_add_free(eden_heap *heap, uintptr_t start, size_t bytes) {
    free_chunks_add(&heap->old.free, start, bytes);
    heap->old.free_bytes += bytes;
}

void old_space_check(eden_heap *heap, bool swept) {
    const struct old_space *old = &heap->old;
    uint64_t mapped = 0, live = 0;
    for (size_t i = 0; i < old->segment_count; i++) {
        mapped += old->segments[i].limit - old->segments[i].start;
        live += old->segments[i].live.bytes;
    }
    invariant_check(heap, mapped == old->capacity, "I1 of old space: the segments are not what the capacity says");
    invariant_check(heap, old->free_bytes <= old->capacity && old->buffer_limit - old->buffer_free <= old->free_bytes,
                    "I2 of old space: more bytes are free than there are");
    invariant_check(heap, !swept || live == old->capacity - old->free_bytes,
                    "I2 of old space: objects and free memory are not what the capacity says");
}

uint64_t old_space_largest_free(const eden_heap *heap) {
    size_t largest = free_chunks_largest(&heap->old.free);
    size_t buffer = heap->old.buffer_limit - heap->old.buffer_free;
    return largest > buffer ? largest : buffer;
}

size_t old_space_segment(const struct old_space *old, uintptr_t address) {
    size_t low = 0, high = old->segment_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (old->segments[middle].limit <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The first one that lives. */
static uintptr_t skip_dead(const struct segment *segment, uintptr_t at) {
    at = at < segment->dead_to ? segment->dead_to : at;
    while (at < segment->limit && !object_has(object_at(at), EDEN_HEADER_MARKED)) {
        at = object_end(object_at(at));
    }
    return at;
}

eden_value old_space_walk(const eden_heap *heap, uintptr_t address) {
    const struct old_space *old = &heap->old;
    for (size_t i = old_space_segment(old, address); i < old->segment_count; i++) {
        const struct segment *segment = &old->segments[i];
        uintptr_t at = address > segment->start ? address : segment->start;
        if (at == old->buffer_free && old->buffer_free < old->buffer_limit) {
            at = old->buffer_limit;
        }
        at = at < segment->swept_to ? at : skip_dead(segment, at);
        if (at < segment->limit) {
            return object_at(at);
        }
    }
    return EDEN_NONE;
}
