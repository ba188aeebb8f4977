/* A heap: its parts, and the few inline helpers that every room needs.
 *
 * Address space: one reservation a heap. New space is a range in it, which may change places (young/promote.c); the
 * rest is for segments of old space. So "is it young" and "is it in the heap at all" are one subtraction and comparison
 * each, and tables over old space index by offset.
 */
#ifndef EDEN_HEAP_HEAP_H
#define EDEN_HEAP_HEAP_H

#include <pthread.h>

#include "eden_policy_rule.h"
#include "eden_probes.h"
#include "heap/cycle.h"
#include "heap/ephemerons.h"
#include "heap/error.h"
#include "heap/invariant.h"
#include "heap/mark_stack.h"
#include "heap/object.h"
#include "heap/observer.h"
#include "heap/old_space.h"
#include "heap/pages.h"
#include "heap/params.h"
#include "heap/roots.h"
#include "heap/space.h"
#include "heap/system.h"

/* CARD_SLOTS references of a large old object, from slot `first` on. Why this many: young/cards.c. */
enum { CARD_SLOTS = 8, CARD_BYTES = CARD_SLOTS * 8 };
struct card {
    eden_value object;
    size_t first;
};

struct remembered_set { /* young/remembered.c */
    eden_value *objects;
    size_t count, room;
    size_t dropped;     /* of `count`, by the scan that is under way */
    struct card *cards; /* the dirty ones */
    size_t card_count, card_room;
    bool is_incomplete; /* it could not grow: the next scavenge scans all of old space */
};

struct deferred { /* objects of eden that a scavenge left for its second pass */
    eden_value *objects;
    size_t count, room;
};

struct new_space {                    /* heap/new_space.c; its spaces: semi and eden */
    uintptr_t start, end;             /* reserved: no segment of old space lies there */
    uintptr_t eden_start, eden_end;   /* mapped; eden's limit may lie below */
    size_t eden_most, semispace_most; /* reserved for eden, and for each of the others */
    uint64_t bytes;                   /* mapped for all three */
};

struct overhead {       /* whether collections have become too much */
    unsigned row;       /* full collections in a row that found the heap full, and were too much work */
    uint64_t collected; /* full collections that nobody asked for, up to the last one judged */
    uint64_t refused;   /* of these, because there was no memory to grow */
    uint64_t full_work; /* of the last full collection: bytes marked and swept */
    uint64_t copied_before, allocated_before; /* ever, when the last one was judged */
};

struct policy { /* heap/policy.c */
    struct eden_policy_rule rule;
    enum eden_decision_reason reason;  /* of the size that eden has */
    uint64_t reported[EDEN_DECISIONS]; /* EDEN_NO_LIMIT: the parameters decide */
    struct overhead overhead;
    uint64_t tenured_before; /* ever, when the last full collection ended */
    uint64_t in_place;       /* bytes promoted where they are since the last full collection */
};

/* What has happened since the last collection's start, for the `..._since` arguments. */
struct delta {
    uint64_t allocated; /* outside eden; eden's share is mutator->free - allocated_from */
    uint64_t remembered, forgotten, tenured, mourned;
    uintptr_t allocated_from;
};

struct eden_heap {
    struct eden_heap_info info; /* first: tools find it here */
    struct policy policy;       /* fills what the next one leaves for its alignment */
    double param_values[EDEN_PARAM_COUNT] __attribute__((aligned(256))); /* as the public header shows them */
    uintptr_t tenure_threshold;
    struct eden_mutator mutator __attribute__((aligned(64)));
    struct params params;
    struct system system;
    struct pages pages;
    uintptr_t reservation;
    size_t reservation_bytes;
    struct space eden, semi[2];
    struct new_space new_space;
    int from; /* semi[from] holds the survivors: the next scavenge copies from it to the other */
    struct old_space old;
    struct remembered_set remembered;
    struct roots roots;
    struct mark_stack mark_stack;
    struct cycle cycle;
    struct pending_keys pending;
    struct mourners mourners;
    struct weak_list weak;
    struct deferred deferred;
    struct eden_class_info **class_pages;
    uint32_t next_class;
    uint32_t observer_class; /* of ephemerons that an observer decides on (ephemerons.c); 0: there are none */
    uint32_t hash_seed;
    uint64_t alone_bytes;        /* a collection copies or marks so much before it wakes other threads */
    uint64_t survivor_fillers;   /* bytes among the survivors that are no objects (young/copiers.c) */
    uint64_t stress_allocations; /* since the heap was made, while `stress` was on */
    uint64_t group_memory;       /* what the rule stays below where max_heap is none; EDEN_NO_LIMIT: anything */
    struct delta delta;
    struct tally born_old; /* since the last scavenge's end: start probes have no room for it */
    eden_error last_error;
    eden_figures figures;         /* the sum of what the probes have reported */
    const char *broken_invariant; /* the first; NULL: none. The heap is corrupt, and neither allocates nor collects */
    bool is_mixed;                /* promotion failed in the last scavenge: all three young spaces may hold objects */
    bool is_attached;
    bool is_collecting;
    pthread_t thread;        /* that attached the mutator, or has collected since */
    bool has_born_old;       /* some class or site has EDEN_PRETENURED_BORN */
    uint32_t learnt_classes; /* classes and sites that have EDEN_PRETENURED_LEARNT */
    size_t eden_reserve;     /* bytes of eden that the program's allocation leaves to observers */
    struct observer *observers, *allocation_observers;
};

/* The public header's sequence lock, around what changes in it. */
static inline void heap_header_begin(struct eden_heap_info *info) {
    __atomic_store_n(&info->lock, info->lock + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}
static inline void heap_header_end(struct eden_heap_info *info) {
    __atomic_store_n(&info->lock, info->lock + 1, __ATOMIC_RELEASE);
}

static inline bool heap_is_young(const eden_heap *heap, eden_value v) { return eden_is_young(&heap->mutator, v); }
/* v must be an object of this heap. */
static inline bool heap_is_old(const eden_heap *heap, eden_value v) {
    return v - heap->reservation < heap->reservation_bytes && !heap_is_young(heap, v);
}
static inline struct eden_class_info *heap_class(const eden_heap *heap, uint32_t index) {
    return &heap->class_pages[index >> EDEN_CLASS_PAGE_SHIFT][index & ((1u << EDEN_CLASS_PAGE_SHIFT) - 1)];
}
/* How many of an object's slots are references (they come first). */
static inline size_t heap_reference_slots(const eden_heap *heap, eden_value object) {
    uint32_t format = eden_format_bits(object);
    if (format <= EDEN_FORMAT_EPHEMERON) {
        return eden_slot_count(object);
    }
    return format >= EDEN_FORMAT_COMPOUND ? heap_class(heap, eden_index_of(object))->fixed_slots : 0;
}
/* Those that keep what they refer to alive: of weak objects the fixed ones. */
static inline size_t heap_strong_slots(const eden_heap *heap, eden_value object) {
    return eden_format_bits(object) == EDEN_FORMAT_WEAK ? heap_class(heap, eden_index_of(object))->fixed_slots
                                                        : heap_reference_slots(heap, object);
}

/* New space's parts, whichever hold objects now. eden.used is brought up to date with the mutator. */
void heap_young_spaces(eden_heap *heap, struct space *spaces[YOUNG_SPACES]);
uint64_t heap_survivor_used(const eden_heap *heap);
/* Nothing of the heap is mapped from here on. */
uintptr_t heap_top(const eden_heap *heap);
static inline uint64_t heap_old_used(const eden_heap *heap) { return heap->old.capacity - heap->old.free_bytes; }
/* Room in old space, which grows where it is full; 0: there is none. */
static inline uintptr_t heap_old_room(eden_heap *heap, size_t bytes) {
    uintptr_t at = old_space_allocate(heap, bytes);
    if (at == 0 && old_space_grow(heap, bytes)) {
        at = old_space_allocate(heap, bytes);
    }
    return at == 0 ? old_space_allocate_swept(heap, bytes) : at;
}
static inline size_t heap_remembered(const eden_heap *heap) {
    return heap->remembered.count - heap->remembered.dropped + heap->remembered.card_count;
}
/* Bytes allocated since the last collection's start, and ever. */
static inline uint64_t heap_delta_allocated(const eden_heap *heap) {
    return heap->delta.allocated + (heap->mutator.free - heap->delta.allocated_from);
}
static inline uint64_t heap_allocated(const eden_heap *heap) {
    return heap->figures.allocated_bytes + heap_delta_allocated(heap);
}
/* How far allocation may bump inline: not at all under stress or in a corrupt heap, less than all of eden where an
 * observer says so, or where marking is late (cycle.c). */
void heap_set_limit(eden_heap *heap);

#endif
