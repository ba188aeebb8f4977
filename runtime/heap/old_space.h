/* Old space: segments in one reserved range, and allocation in them. */
#ifndef EDEN_HEAP_OLD_SPACE_H
#define EDEN_HEAP_OLD_SPACE_H

#include "heap/free_chunks.h"
#include "heap/lazy_sweep.h"
#include "heap/object.h"
#include "heap/space.h"

/* A range of old space as mapped from the system. */
struct segment {
    uintptr_t start, limit;
    uintptr_t swept_to, dead_to; /* the limit, unless a part is unswept (heap/lazy_sweep.c) */
    /* Between a sweep and the end of compaction: */
    struct tally live;      /* objects */
    uint64_t fragments;     /* bytes of gaps too small for a chunk */
    uintptr_t gaps;         /* the first of a chain; 0: none */
    uintptr_t tail;         /* behind it, up to the limit, all is free */
    bool is_adopted;        /* it was new space at the last full collection */
    bool is_pinned;         /* it has a pinned object */
    bool is_chosen;         /* to be evacuated */
    struct segment *denser; /* the next in a list from the sparsest on (old/evacuate.c) */
};

/* The first `count` gaps between segments have less than `bytes`. */
struct passed_gaps {
    size_t count, bytes;
};

struct old_space {
    uintptr_t start, limit;   /* the reserved range */
    struct segment *segments; /* by address */
    size_t segment_count, segment_room;
    struct passed_gaps passed;
    uint64_t capacity;   /* bytes mapped */
    uint64_t free_bytes; /* of these not in objects: chunks, buffer, fragments of 8 bytes, the dead of unswept parts */
    uint64_t objects;    /* dead ones too, until a full collection finds them */
    struct free_chunks free;
    uintptr_t buffer_free, buffer_limit; /* small objects are bumped here */
    size_t refused;          /* an object of this size, in bytes, got no segment in this scavenge; SIZE_MAX: none yet */
    uint64_t used_at_full;   /* after the last full collection: what full_gc_ratio measures growth from */
    uint8_t *card_table;     /* a byte for each CARD_BYTES of the range; usable where segments are; NULL: no cards */
    size_t card_table_bytes; /* reserved */
    bool sweeps_later;       /* for tests: as with pause_goal, but only allocations and the test sweep on */
    struct lazy_sweep sweep;
};

/* Reserves the card table; false: refused. The range is set. */
bool old_space_reserve_cards(eden_heap *heap);
void old_space_destroy(struct old_space *old);

/* The start of free memory; 0: there is none, or none is found by sweeping for half a millisecond. */
uintptr_t old_space_allocate(eden_heap *heap, size_t bytes);
uintptr_t old_space_allocate_swept(eden_heap *heap, size_t bytes); /* likewise, but sweeps as far as it takes */
/* For threads that allocate on their own: the start of at least `least` bytes, and how many, at most `wanted`; 0: there
 * are none. */
uintptr_t old_space_take_buffer(eden_heap *heap, size_t least, size_t wanted, size_t *taken);
uintptr_t old_space_take_hole(eden_heap *heap, size_t bytes); /* a free chunk of just this size; 0: none */
bool old_space_grow(eden_heap *heap, size_t bytes);           /* maps a segment with room for an object of bytes */
uintptr_t old_space_gap(eden_heap *heap, size_t bytes); /* the start of a part that nothing is mapped in; 0: none */
/* For parts of new space that are to be segments: card tables, and room in the array for `count` of them. False:
 * refused. */
bool old_space_prepare(eden_heap *heap, const struct space *parts, size_t count);
void old_space_adopt(eden_heap *heap, uintptr_t start,
                     uintptr_t limit);  /* as a segment, prepared, without free memory */
void old_space_refill(eden_heap *heap); /* compat.growth=refill: after a scavenge */
void old_space_shrink(eden_heap *heap); /* returns empty segments, by shrink_threshold */
void old_space_retire_buffer(eden_heap *heap);
void old_space_reset_free(eden_heap *heap); /* before chunks are found anew */
void old_space_add_free(eden_heap *heap, uintptr_t start, size_t bytes);
/* Bytes that live in what was new space, as the full collection that runs has found; then it counts as other segments.
 */
uint64_t old_space_take_adopted(eden_heap *heap);
/* Is there any that has not been taken? */
bool old_space_has_adopted(const struct old_space *old);
/* I1 and I2, after a full collection. swept: by sweeping, which has counted what lives. */
void old_space_check(eden_heap *heap, bool swept);
uint64_t old_space_largest_free(const eden_heap *heap);
/* The index of the first segment that ends above an address. */
size_t old_space_segment(const struct old_space *old, uintptr_t address);
/* Walks old space: the first object or chunk at or after address (start with 0); EDEN_NONE at the end. Of unswept
 * parts, what lives. Objects allocated during the walk may or may not be seen. */
eden_value old_space_walk(const eden_heap *heap, uintptr_t address);

#endif
