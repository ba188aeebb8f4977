/* Compaction by sliding: live old objects move to the lowest addresses and keep their order (compactor `planning`).
 *
 * 1. Terms
 * A block is 512 bytes. A group is the live objects whose headers lie in one block. The dense prefix is everything
 * below the lowest garbage. Immobile are pinned objects, and all objects of a group with a pinned one.
 *
 * 2. Algorithm
 * plan    The dense prefix stays. Behind it, a finger moves over the segments from below and groups are placed there. A
 *         group that does not fit before the next obstacle (the end of a segment, or an immobile object) goes after it,
 *         and what it left is a gap.
 * update  Each reference to a mobile object is changed. The prefix loses its marks in passing.
 * move    Objects are copied down in order of addresses; gaps become free chunks.
 * New places are computed, not stored, as in the Compressor: a bit map has a bit for each 8 bytes of a live mobile
 * object, and a table has a base for each block, so that
 *
 *     new place of address a in block b = base[b] + 8 * (bits set in b below a).
 *
 * One base serves a block, so a group stays together. Where nothing lies behind the prefix but free memory, no
 * reference changes.
 *
 * 3. Invariants
 * I1. The finger is never above the group being placed, so objects only move down, and moving them in order of
 *     addresses overwrites nothing that is still to be moved.
 * I2. Every obstacle between the finger and the group has been seen.
 * I3. An object whose bits are clear stays.
 *
 * 4. Cost and failure
 * The tables take 1/32 of old space meanwhile. If the system refuses them, or I1 is broken, nothing is done, and full.c
 * sweeps instead. A reference to the middle of an object would be "updated" to nonsense: the verifier checks that
 * references are addresses of headers.
 *
 * 5. References
 * H. Kermany and E. Petrank, "The Compressor: Concurrent, Incremental, and Parallel Compaction", PLDI 2006. */
#include "old/slide.h"
#include "young/cards.h"
#include <stdlib.h>

enum { BLOCK = 512, AHEAD = 1024 };

struct obstacle { /* an immobile object */
    uintptr_t start, end;
};

struct compaction {
    eden_visit visit; /* first: root visitors get its address */
    eden_heap *heap;
    uintptr_t base; /* where block 0 starts: the lowest segment */
    uintptr_t limit;
    uintptr_t prefix;      /* objects below it stay */
    uint64_t *bits;        /* a word for each block */
    uintptr_t *block_base; /* an address for each block, in modular arithmetic */
    size_t table_bytes;
    /* The finger, and where it may go. */
    uintptr_t finger;
    size_t finger_segment;
    struct obstacle *obstacles;
    size_t obstacle_count, obstacle_room, obstacle_next;
    uintptr_t dead; /* where the dead and free begin that `plan` walks over; 0: it has come to something that lives */
    struct obstacle *gaps; /* free in the end */
    size_t gap_count, gap_room;
    bool mobile; /* something has a new place */
    struct tally planned, updated, moved;
};

static size_t block_of(const struct compaction *c, uintptr_t address) { return (address - c->base) / BLOCK; }

static void set_bits(struct compaction *c, uintptr_t start, uintptr_t end) {
    while (start < end) {
        size_t block = block_of(c, start);
        unsigned first = (unsigned)((start - c->base) % BLOCK / 8);
        size_t words = (end - start) / 8;
        size_t here = words < 64 - first ? words : 64 - first;
        c->bits[block] |= (here == 64 ? ~0ull : ((1ull << here) - 1)) << first;
        start += here * 8;
    }
}

/* In the open: without -mpopcnt the compiler's builtin is a call, and this runs for every reference. */
static uint64_t count_bits(uint64_t x) {
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    return ((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56;
}

static uint64_t bits_below(const struct compaction *c, uintptr_t address) {
    unsigned bit = (unsigned)((address - c->base) % BLOCK / 8);
    return count_bits(c->bits[block_of(c, address)] & ((1ull << bit) - 1));
}

static bool is_mobile(const struct compaction *c, eden_value v) {
    return v - c->base < c->limit - c->base && (c->bits[block_of(c, v)] >> ((v - c->base) % BLOCK / 8) & 1) != 0;
}

static eden_value new_place(const struct compaction *c, eden_value v) {
    return c->block_base[block_of(c, v)] + 8 * bits_below(c, v);
}

static bool add_range(struct compaction *c, struct obstacle **array, size_t *count, size_t *room, uintptr_t start,
                      uintptr_t end) {
    if (!system_grow(&c->heap->system, (void **)array, room, *count, sizeof **array, "compaction gaps")) {
        return false;
    }
    (*array)[(*count)++] = (struct obstacle){start, end};
    return true;
}

static bool add_gap(struct compaction *c, uintptr_t start, uintptr_t end) {
    return start == end || add_range(c, &c->gaps, &c->gap_count, &c->gap_room, start, end);
}

/* Where the finger must stop: the next obstacle of its segment, or the segment's end. */
static uintptr_t stop(const struct compaction *c) {
    uintptr_t limit = c->heap->old.segments[c->finger_segment].limit;
    if (c->obstacle_next < c->obstacle_count && c->obstacles[c->obstacle_next].start < limit) {
        return c->obstacles[c->obstacle_next].start;
    }
    return limit;
}

/* Leaves a gap up to the next stop and goes on behind it. */
static bool jump(struct compaction *c) {
    const struct segment *segment = &c->heap->old.segments[c->finger_segment];
    uintptr_t at = stop(c);
    if (!add_gap(c, c->finger, at)) {
        return false;
    }
    if (at < segment->limit) {
        c->finger = c->obstacles[c->obstacle_next++].end;
    } else {
        c->finger_segment++;
        c->finger = c->finger_segment < c->heap->old.segment_count ? segment[1].start : 0;
    }
    return true;
}

/* The live objects whose headers lie in one block; the next group starts at end. */
struct group {
    eden_value objects[BLOCK / 8];
    size_t count;
    uintptr_t end;
    size_t bytes;
    bool pinned;
};

/* What is dead, up to an address, becomes one filler, over which later walks step at once. */
static void end_dead(struct compaction *c, uintptr_t at) {
    if (c->dead != 0) {
        object_fill(c->dead, at - c->dead);
        c->dead = 0;
    }
}

static void find_group(struct compaction *c, uintptr_t at, uintptr_t limit, struct group *group) {
    size_t block = block_of(c, object_at(at));
    group->count = 0;
    group->bytes = 0;
    group->pinned = false;
    for (; at < limit; at = object_end(object_at(at))) {
        __builtin_prefetch((const void *)(at + AHEAD), 1);
        eden_value object = object_at(at);
        if (block_of(c, object) != block) {
            break;
        }
        if (!object_has(object, EDEN_HEADER_MARKED)) {
            c->dead = c->dead == 0 ? at : c->dead;
        } else {
            end_dead(c, at);
            group->objects[group->count++] = object;
            group->bytes += object_bytes(object);
            group->pinned |= object_has(object, EDEN_HEADER_PINNED);
        }
    }
    group->end = at;
}

static bool place_immobile(struct compaction *c, const struct group *group) {
    for (size_t i = 0; i < group->count; i++) {
        if (!add_range(c, &c->obstacles, &c->obstacle_count, &c->obstacle_room, object_start(group->objects[i]),
                       object_end(group->objects[i]))) {
            return false;
        }
    }
    return true;
}

static bool place(struct compaction *c, const struct group *group) {
    while (stop(c) - c->finger < group->bytes) {
        if (!jump(c)) {
            return false;
        }
    }
    eden_value first = group->objects[0];
    if (c->finger > object_start(first)) {
        invariant_fail(c->heap, "I1 of sliding: an object would move up");
        return false;
    }
    for (size_t i = 0; i < group->count; i++) {
        set_bits(c, object_start(group->objects[i]), object_end(group->objects[i]));
    }
    c->block_base[block_of(c, first)] = c->finger + (first - object_start(first)) - 8 * bits_below(c, first);
    c->finger += group->bytes;
    c->mobile = true;
    c->planned.objects += group->count;
    c->planned.bytes += group->bytes;
    return true;
}

/* The lowest garbage: where the dense prefix ends. Sets finger and prefix; the index of its segment. */
static size_t find_prefix(struct compaction *c) {
    const struct old_space *old = &c->heap->old;
    for (size_t i = 0; i < old->segment_count; i++) {
        old->segments[i].live = (struct tally){0, 0};
        old->segments[i].tail = old->segments[i].limit;
    }
    for (size_t i = 0; i < old->segment_count; i++) {
        for (uintptr_t at = old->segments[i].start; at < old->segments[i].limit;) {
            eden_value object = object_at(at);
            if (!object_has(object, EDEN_HEADER_MARKED)) {
                c->prefix = c->finger = at;
                return i;
            }
            size_t bytes = object_bytes(object);
            c->planned.objects++;
            c->planned.bytes += bytes;
            old->segments[i].live.bytes += bytes;
            at += bytes;
        }
    }
    c->prefix = c->limit;
    return old->segment_count;
}

static bool plan(struct compaction *c) {
    const struct old_space *old = &c->heap->old;
    size_t first = c->finger_segment = find_prefix(c);
    for (size_t i = first; i < old->segment_count; i++) {
        uintptr_t at = i == first ? c->prefix : old->segments[i].start;
        while (at < old->segments[i].limit) {
            struct group group;
            find_group(c, at, old->segments[i].limit, &group);
            if (group.count != 0 && !(group.pinned ? place_immobile(c, &group) : place(c, &group))) {
                return false;
            }
            old->segments[i].live.bytes += group.bytes;
            at = group.end;
        }
        end_dead(c, at);
    }
    while (c->finger_segment < old->segment_count) {
        if (!jump(c)) {
            return false;
        }
    }
    return true;
}

static void update_slots(eden_visit *visit, eden_value *slots, size_t count) {
    struct compaction *c = (struct compaction *)visit;
    for (size_t i = 0; i < count; i++) {
        /* An immediate's tag makes no address of a header: its bits may lie in the range, so look at the tag first. */
        if (eden_is_object(slots[i]) && is_mobile(c, slots[i])) {
            slots[i] = new_place(c, slots[i]);
        }
    }
}

/* A root slot may be visited more than once in a round (added twice, or by two visitors), but its value is changed
 * once: the first round marks what it has changed, with a bit that no address of a process has, and the second takes
 * the marks off. */
static const uint64_t CHANGED = 1ull << 63;

static void update_root_slots(eden_visit *visit, eden_value *slots, size_t count) {
    struct compaction *c = (struct compaction *)visit;
    for (size_t i = 0; i < count; i++) {
        if (eden_is_object(slots[i]) && is_mobile(c, slots[i])) {
            slots[i] = new_place(c, slots[i]) | CHANGED;
        }
    }
}

static void reconcile_root_slots(eden_visit *visit, eden_value *slots, size_t count) {
    (void)visit;
    for (size_t i = 0; i < count; i++) {
        if (eden_is_object(slots[i])) {
            slots[i] &= ~CHANGED;
        }
    }
}

static void update_roots(struct compaction *c) {
    c->visit.slots = update_root_slots;
    roots_visit(&c->visit);
    c->visit.slots = reconcile_root_slots;
    roots_visit(&c->visit);
    c->visit.slots = update_slots;
}

static void update_object(struct compaction *c, eden_value object, size_t bytes) {
    update_slots(&c->visit, eden_words_(object) + 1, heap_reference_slots(c->heap, object));
    c->updated.objects++;
    c->updated.bytes += bytes;
}

/* References change only if something moves: then everything that may hold one is scanned. In passing, the objects of
 * the prefix lose their marks. */
static void update(struct compaction *c) {
    eden_heap *heap = c->heap;
    bool moves = c->mobile;
    if (moves) {
        update_roots(c);
        update_slots(&c->visit, heap->remembered.objects, heap->remembered.count);
        for (size_t i = 0; i < heap->remembered.card_count; i++) {
            update_slots(&c->visit, &heap->remembered.cards[i].object, 1);
        }
        struct space *spaces[YOUNG_SPACES];
        heap_young_spaces(heap, spaces);
        for (int i = 0; i < YOUNG_SPACES; i++) {
            for (uintptr_t at = spaces[i]->start; at < spaces[i]->used;) {
                eden_value object = object_at(at);
                size_t bytes = object_bytes(object);
                if (object_has(object, EDEN_HEADER_MARKED)) {
                    update_object(c, object, bytes);
                }
                at += bytes;
            }
        }
    }
    for (size_t i = 0; i < heap->old.segment_count; i++) {
        uintptr_t limit = heap->old.segments[i].limit;
        for (uintptr_t at = heap->old.segments[i].start; at < limit && (moves || at < c->prefix);) {
            __builtin_prefetch((const void *)(at + AHEAD), 1);
            eden_value object = object_at(at);
            size_t bytes = object_bytes(object);
            if (moves && object_has(object, EDEN_HEADER_MARKED)) {
                update_object(c, object, bytes);
            }
            if (at < c->prefix) {
                object_clear(object, EDEN_HEADER_MARKED);
            }
            at += bytes;
        }
    }
}

static void move(struct compaction *c) {
    eden_heap *heap = c->heap;
    for (size_t i = 0; i < heap->old.segment_count; i++) {
        struct segment segment = heap->old.segments[i];
        for (uintptr_t at = segment.start > c->prefix ? segment.start : c->prefix; at < segment.limit;) {
            __builtin_prefetch((const void *)(at + AHEAD), 1);
            eden_value object = object_at(at);
            size_t bytes = object_bytes(object);
            if (object_has(object, EDEN_HEADER_MARKED)) {
                object_clear(object, EDEN_HEADER_MARKED);
                eden_value to = is_mobile(c, object) ? new_place(c, object) : object;
                if (to != object) {
                    memmove((void *)(to - (object - at)), (void *)at, bytes);
                    c->moved.objects++;
                    c->moved.bytes += bytes;
                }
            }
            at += bytes;
        }
    }
    old_space_reset_free(heap);
    struct segment *segment = heap->old.segments;
    for (size_t i = 0; i < c->gap_count; i++) {
        struct obstacle gap = c->gaps[i];
        old_space_add_free(heap, gap.start, gap.end - gap.start);
        for (; segment->limit < gap.end; segment++) {
        }
        segment->tail = segment->limit == gap.end ? gap.start : segment->tail;
    }
}

static eden_value place_after(void *context, eden_value object) {
    const struct compaction *c = context;
    return is_mobile(c, object) ? new_place(c, object) : object;
}

bool slide(eden_heap *heap) {
    struct compaction c = {.visit = {.heap = heap, .slots = update_slots}, .heap = heap};
    const struct old_space *old = &heap->old;
    uint64_t start = observer_phase_begin(heap, EDEN_PHASE_compact);
    bool done = true;
    if (old->segment_count != 0) {
        old_space_retire_buffer(heap);
        c.base = old->segments[0].start;
        c.limit = old->segments[old->segment_count - 1].limit;
        size_t blocks = (c.limit - c.base + BLOCK - 1) / BLOCK;
        c.table_bytes = blocks * (sizeof *c.bits + sizeof *c.block_base);
        c.bits = system_map(&heap->system, c.table_bytes, "compaction tables");
        done = c.bits != NULL;
        if (done) {
            c.block_base = (uintptr_t *)(c.bits + blocks);
            uint64_t phase = observer_phase_begin(heap, EDEN_PHASE_compact__plan);
            done = plan(&c);
            observer_phase_end(heap, EDEN_PHASE_compact__plan, phase, c.planned);
        }
        if (done) {
            uint64_t phase = observer_phase_begin(heap, EDEN_PHASE_compact__update);
            cards_unset(heap); /* needs the objects where they are */
            update(&c);
            OBSERVE(heap, moved, place_after, &c);
            observer_phase_end(heap, EDEN_PHASE_compact__update, phase, c.updated);
            phase = observer_phase_begin(heap, EDEN_PHASE_compact__move);
            move(&c);
            cards_set(heap); /* and where they will be */
            observer_phase_end(heap, EDEN_PHASE_compact__move, phase, c.moved);
        }
        if (c.bits != NULL) {
            system_unmap(c.bits, c.table_bytes);
        }
        free(c.obstacles);
        free(c.gaps);
    }
    observer_phase_end(heap, EDEN_PHASE_compact, start, c.moved);
    return done;
}
