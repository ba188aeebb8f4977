/* The heap from inside: its parts, and the few inline helpers that every part needs.
 *
 * Who owns what: heap.c makes and ends heaps; system.c is the only door to mmap and malloc; new space belongs to
 * scavenge.c, old space to old_space.c and free_chunks.c, the remembered set to remembered.c; full.c drives mark.c,
 * sweep.c and slide.c; events.c is where counters, probes and log are fed, all three from one place.
 *
 * Address space: one reservation a heap, new space first, then room for old space. So "is it young", "is it old" and
 * "is it in the heap at all" are one subtraction and comparison each, and tables over old space index by offset. */
#ifndef EDEN_PRIVATE_H
#define EDEN_PRIVATE_H

#define EDEN_INSIDE 1 /* objects are looked at while they move */
#include <eden/eden.h>

#include <pthread.h>

#include "eden_probes.h"
#include "heap/observer.h"

/* ---- parameters (params.c) ---- */

/* No value of tenure_criterion: age, where pretenure=auto has chosen sites. */
enum { EDEN_BY_AGE_OR_LEARNT = EDEN_CRITERIA };

#define EDEN_PARAM_TYPE_size uint64_t
#define EDEN_PARAM_TYPE_number double
#define EDEN_PARAM_TYPE_whole int64_t
#define EDEN_PARAM_TYPE_choice uint64_t
#define EDEN_PARAM_TYPE_file struct param_file
/* One of the choices, or FILE_CHOICE and a file's name. */
struct param_file {
    uint64_t choice;
    char path[256];
    const char *where; /* who said it, for errors of reading; static */
};
enum { FILE_CHOICE = 255 };
struct params {
#define EDEN_PARAM(id, name, kind, fallback, low, high, choices, doc) EDEN_PARAM_TYPE_##kind id;
#include "eden_params.def"
#undef EDEN_PARAM
};

void params_defaults(struct params *params);
/* "a=1,b=2"; where is who said it, for the error. The first fault stops it. */
bool params_parse(struct params *params, const char *text, const char *where, eden_error *error);
bool params_set(struct params *params, const char *name, const char *value, const char *where, eden_error *error);
bool params_get(const struct params *params, const char *name, char *text, size_t size);
void params_fire(eden_heap *heap, const char *only); /* param__set for one, or for all where NULL */

/* ---- spaces ---- */

/* A part of new space: objects lie from start to used. */
struct space {
    uintptr_t start, used, limit;
};

struct tally { /* what a phase worked on */
    uint64_t objects, bytes;
};

/* A stretch of old space as mapped from the system; sorted by address in heap->segments. */
struct segment {
    uintptr_t start, limit;
    /* Between a sweep and the end of compaction: */
    struct tally live;      /* objects */
    uint64_t slivers;       /* bytes of gaps too small for a chunk */
    uintptr_t gaps;         /* the first of a chain; 0: none */
    bool pinned;            /* it has a pinned object */
    bool chosen;            /* to be evacuated */
    struct segment *denser; /* the next in a list from the sparsest on (evacuate.c) */
};

/* Free chunks of old space, by size: see free_chunks.c. */
enum { FREE_LIST_SIZES = 64 }; /* exact lists for 16 to 504 bytes, index bytes / 8; larger ones in the tree */
struct chunk;
struct free_chunks {
    struct chunk *list[FREE_LIST_SIZES];
    uint64_t filled; /* bit i: list[i] is not empty */
    struct chunk *tree;
    uint64_t chunks; /* in lists and tree */
};

/* The first `count` gaps between segments have less than `bytes`. */
struct passed_gaps {
    size_t count, bytes;
};

struct old_space {
    uintptr_t start, limit; /* the reserved range */
    struct segment *segments;
    size_t segment_count, segment_room;
    struct passed_gaps passed;
    uint64_t capacity;   /* bytes mapped */
    uint64_t free_bytes; /* of these not in objects: chunks, buffer, and slivers of 8 bytes */
    struct free_chunks free;
    uintptr_t buffer_free, buffer_limit; /* small objects are bumped here */
    size_t refused;        /* an object of so many bytes got no segment in this scavenge; SIZE_MAX: none yet */
    uint64_t used_at_full; /* after the last full collection: what full_gc_ratio measures growth from */
};

/* A card: a stretch of CARD_SLOTS references of a large old object, from slot `first` on. Why so many: cards.c. */
enum { CARD_SLOTS = 8, CARD_BYTES = CARD_SLOTS * 8 };
struct card {
    eden_value object;
    size_t first;
};

struct remembered_set {
    eden_value *objects;
    size_t count, room;
    struct card *cards; /* the dirty ones */
    size_t card_count, card_room;
    uint8_t *card_table; /* a byte for each CARD_BYTES of the old range; usable where segments are; NULL: no cards */
    size_t card_table_bytes; /* reserved */
    bool incomplete;         /* it could not grow: the next scavenge scans all of old space */
};

struct root_range { /* a single slot is a range of one */
    eden_value *slots;
    size_t count;
};

struct root_visitor {
    eden_root_visitor visit;
    void *context;
};

struct roots {
    struct root_range *ranges;
    size_t count, room;
    struct root_visitor *visitors;
    size_t visitor_count, visitor_room;
};

/* The keys, not reached yet, that ephemerons wait for: ephemerons.c. */
struct waiting {
    eden_value *keys;
    size_t count, room;
};
struct mourners {
    eden_value *queue;
    size_t next, end, room;
};
struct waiters { /* objects of eden that a scavenge left for its second round */
    eden_value *objects;
    size_t count, room;
};
struct weak_list { /* weak objects that this collection has reached */
    eden_value *objects;
    size_t count, room;
};

/* A bounded stack of objects to scan; on overflow they are marked grey instead and found by walking. mark.c. */
struct mark_stack {
    uint64_t *entries;
    size_t count, room;
    bool overflowed;
    eden_value highest; /* of the grey objects; EDEN_NONE: none */
};

/* What has happened since the last collection's start, for the `..._since` arguments. */
struct since {
    uint64_t allocated; /* outside eden; eden's share is mutator->free - allocated_from */
    uint64_t remembered, forgotten, tenured, mourned;
    uintptr_t allocated_from;
};
struct system {
    eden_memory_hook hook;
    void *context;
};

struct eden_heap {
    struct eden_heap_info info; /* first: tools find it here */
    uintptr_t tenure_threshold;
    struct eden_mutator mutator __attribute__((aligned(64)));
    struct params params;
    struct system system;
    uintptr_t reservation;
    size_t reservation_bytes;
    struct space eden, semi[2];
    int past; /* semi[past] holds the survivors, the other is where the next scavenge copies to */
    struct old_space old;
    struct remembered_set remembered;
    struct roots roots;
    struct mark_stack mark_stack;
    struct waiting waiting;
    struct mourners mourners;
    struct weak_list weak;
    struct waiters waiters;
    struct eden_class_info **class_pages;
    uint32_t next_class;
    uint32_t observer_class; /* of ephemerons that an observer decides on (ephemerons.c); 0: there are none */
    uint32_t hash_seed;
    eden_error last_error;
    bool kept; /* the last scavenge left objects in place: all three spaces may hold objects */
    bool attached;
    bool collecting;
    pthread_t thread; /* that attached the mutator, or has collected since */
    struct since since;
    struct tally born_old; /* since the last scavenge's end: reported there, because start probes have no room for it */
    bool has_born_old;     /* some class or site has EDEN_PRETENURED_BORN */
    uint32_t learnt_classes; /* classes and sites that have EDEN_PRETENURED_LEARNT */
    size_t eden_reserve;     /* bytes of eden that the program's allocation leaves to observers */
    struct observer *observers, *allocation_observers;
    eden_figures figures;        /* what the probes have said so far */
    uint64_t stress_allocations; /* since the heap was made, while `stress` was on */
};

/* ---- errors (error.c): fills error if not NULL; always false, so that `return fail(...)` reads well ---- */
bool fail(eden_error *error, enum eden_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- the system (system.c) ---- */
void *system_reserve(struct system *system, size_t bytes); /* address space only; NULL: refused */
void system_release(void *address, size_t bytes);          /* gives a reservation back */
bool system_commit(struct system *system, uintptr_t address, size_t bytes, const char *what); /* makes it usable */
void system_decommit(uintptr_t address, size_t bytes);                   /* returns the memory, keeps the range */
void *system_map(struct system *system, size_t bytes, const char *what); /* zeroed pages; NULL: refused */
void system_unmap(void *address, size_t bytes);
/* An array grown to hold one more; false, and the array as it was, where memory is refused. */
bool system_grow(struct system *system, void **array, size_t *room, size_t count, size_t element, const char *what);
void *system_alloc(struct system *system, size_t bytes, const char *what); /* malloc; free with free() */
uint64_t now_ns(void);                                                     /* CLOCK_MONOTONIC */
static inline size_t page_round(size_t bytes) { return (bytes + 4095) & ~(size_t)4095; }

/* ---- objects ---- */
static inline uintptr_t object_start(eden_value object) {
    bool overflow = eden_header(object) >> EDEN_HEADER_SLOTS_SHIFT == EDEN_SLOTS_OVERFLOW;
    return (uintptr_t)object - (overflow ? 8 : 0);
}
/* With the header given, where the one in place may not be the object's (forwarded, waiting). */
static inline size_t object_bytes_by(uint64_t header, eden_value object) {
    size_t slots = (size_t)(header >> EDEN_HEADER_SLOTS_SHIFT);
    return slots != EDEN_SLOTS_OVERFLOW ? 8 + 8 * slots
                                        : 16 + 8 * (size_t)(eden_words_(object)[-1] & EDEN_OVERFLOW_MASK);
}
static inline size_t object_bytes(eden_value object) { return object_bytes_by(eden_header(object), object); }
static inline uintptr_t object_end(eden_value object) { return object_start(object) + object_bytes(object); }
/* The object (or free chunk) that starts at an address: past the overflow word if there is one. */
static inline eden_value object_at(uintptr_t start) {
    return start + (*(uint64_t *)start >> EDEN_HEADER_SLOTS_SHIFT == EDEN_SLOTS_OVERFLOW ? 8 : 0);
}
static inline bool object_is_free(eden_value object) { return eden_index_of(object) == EDEN_CLASS_FREE; }
static inline bool header_has(eden_value object, uint64_t bits) { return (eden_header(object) & bits) != 0; }
static inline void header_set(eden_value object, uint64_t bits) { *eden_words_(object) |= bits; }
static inline void header_clear(eden_value object, uint64_t bits) { *eden_words_(object) &= ~bits; }

/* A moved object's header tells where it went, and keeps the slot count: a corpse's size is told without its copy. */
#define EDEN_HEADER_SLOTS (0xffull << EDEN_HEADER_SLOTS_SHIFT)
static inline void forward(eden_value object, eden_value copy) {
    *eden_words_(object) = copy | EDEN_HEADER_FORWARDED | (eden_header(object) & EDEN_HEADER_SLOTS);
}
static inline eden_value forwarded_to(uint64_t header) { return header & ~(EDEN_HEADER_FORWARDED | EDEN_HEADER_SLOTS); }

/* Makes [start, start + bytes) a free chunk that walkers step over. bytes: a multiple of 8, not 0. */
void fill_free(uintptr_t start, size_t bytes);

static inline bool heap_is_young(const eden_heap *heap, eden_value v) { return eden_is_young(&heap->mutator, v); }
/* v must be an object of this heap. */
static inline bool heap_is_old(const eden_heap *heap, eden_value v) {
    return v - heap->old.start < heap->old.limit - heap->old.start;
}
static inline struct eden_class_info *heap_class(const eden_heap *heap, uint32_t index) {
    return &heap->class_pages[index >> EDEN_CLASS_PAGE_SHIFT][index & ((1u << EDEN_CLASS_PAGE_SHIFT) - 1)];
}
/* How many of an object's slots are references (they come first). */
static inline size_t reference_slots(const eden_heap *heap, eden_value object) {
    uint32_t format = eden_format_bits(object);
    if (format <= EDEN_FORMAT_EPHEMERON) {
        return eden_slot_count(object);
    }
    return format >= EDEN_FORMAT_COMPOUND ? heap_class(heap, eden_index_of(object))->fixed_slots : 0;
}

/* A slot of a raw format has 2 to so many units; the low bits of the format count the unused ones of the last slot. */
static inline unsigned unit_shift(uint32_t format) {
    return format >= EDEN_FORMAT_BYTES ? 3 : format >= EDEN_FORMAT_WORDS16 ? 2 : format >= EDEN_FORMAT_WORDS32 ? 1 : 0;
}

/* Those that keep what they refer to alive: of weak objects the fixed ones. */
static inline size_t strong_slots(const eden_heap *heap, eden_value object) {
    return eden_format_bits(object) == EDEN_FORMAT_WEAK ? heap_class(heap, eden_index_of(object))->fixed_slots
                                                        : reference_slots(heap, object);
}

/* New space's parts, whichever hold objects now. eden.used is brought up to date with the mutator. */
enum { YOUNG_SPACES = 3 };
void heap_young_spaces(eden_heap *heap, struct space *spaces[YOUNG_SPACES]);
uint64_t heap_survivor_used(const eden_heap *heap);
/* Bytes allocated since the last collection's start, and ever. */
static inline uint64_t allocated_since(const eden_heap *heap) {
    return heap->since.allocated + (heap->mutator.free - heap->since.allocated_from);
}
static inline uint64_t heap_allocated(const eden_heap *heap) {
    return heap->figures.allocated_bytes + allocated_since(heap);
}
/* How far allocation may bump inline: not at all under stress, less than all of eden where an observer says so. */
void heap_set_limit(eden_heap *heap);

/* ---- classes (class_table.c) ---- */
struct class_definition {
    const char *name;
    uint32_t of; /* the class of a site; 0: a class */
    enum eden_format format;
    uint32_t fixed_slots;
    bool born_old;
};
bool class_table_create(eden_heap *heap);
void class_table_destroy(eden_heap *heap);
/* Takes the next index; 0, and the error: there is none, or no memory. */
uint32_t class_table_add(eden_heap *heap, const struct class_definition *definition, eden_error *error);
/* Defines heap->observer_class, at the far end of the table, once; false: the program's classes reach there, or no
 * memory. The name is static. */
bool class_table_add_observer_class(eden_heap *heap, const char *name, uint32_t fixed_slots);
/* The value of a class or site, as the program has it and allocation takes it. */
eden_class class_value(const eden_heap *heap, uint32_t index);

/* ---- roots (roots.c) ---- */
struct eden_visit {
    eden_heap *heap;
    void (*slots)(eden_visit *visit, eden_value *slots, size_t count);
    void (*between)(eden_visit *visit); /* before each piece of an observer's roots, which come last; NULL: nothing */
};
void roots_visit(eden_visit *visit);

/* ---- ephemerons and weak objects (ephemerons.c) ---- */
#define EDEN_WAITING (EDEN_HEADER_FORWARDED | EDEN_HEADER_MARKED)
enum { FORMAT_WAITING = 7 }; /* of an ephemeron whose first slot is not its key for now */
static inline bool header_is_waiting(uint64_t header) { return (header & EDEN_WAITING) == EDEN_WAITING; }
bool ephemeron_wait(eden_heap *heap, eden_value ephemeron, eden_value key); /* false: no memory, treat it as strong */
uint64_t real_header(eden_value object);
/* A waiting key has been reached: call before looking at it. What waited goes on the mark stack. */
void ephemerons_release(eden_heap *heap, eden_value key);
/* Nothing is left to scan: fires what still waits and reaches the keys, which releases it. False: none waited. */
bool ephemerons_fire(eden_heap *heap, void (*reach_key)(void *context, eden_value key), void *context);
void ephemerons_destroy(eden_heap *heap);
bool weak_note(eden_heap *heap, eden_value object); /* false: no memory, treat it as strong */
/* Passes the weak slots of all noted objects through now, which answers the new address or EDEN_NONE. */
struct tally weak_clear(eden_heap *heap, eden_value (*now)(void *context, eden_value v), void *context);

/* After copying to `to`: where a copy is now, or, of an object that was not copied, itself; is it alive? A copy is dead
 * that the first round of an overflow made and the second did not reach (scavenge.c, settle). */
static inline eden_value last_copy(const eden_heap *heap, const struct space *to, eden_value object, bool *alive) {
    uint64_t header = eden_header(object);
    while ((header & EDEN_HEADER_FORWARDED) != 0) {
        object = forwarded_to(header);
        header = eden_header(object);
    }
    *alive =
        (header & EDEN_HEADER_KEPT) != 0 || object - to->start < to->limit - to->start || !heap_is_young(heap, object);
    return object;
}

/* Where an object of the spaces being collected is now, or what its corpse leads to. */
static inline eden_value place_after_scavenge(const eden_heap *heap, const struct space *to, eden_value object,
                                              bool *alive) {
    uint64_t header = eden_header(object);
    *alive = (header & EDEN_HEADER_KEPT) != 0;
    return (header & EDEN_HEADER_FORWARDED) != 0 ? last_copy(heap, to, forwarded_to(header), alive) : object;
}

/* ---- remembered set (remembered.c, cards.c) ---- */
void remembered_add(eden_heap *heap, eden_value object, enum eden_remember_origin origin);
void remembered_forget(eden_heap *heap, eden_value object, size_t remaining); /* the event and the bit; not the list */
void remembered_drop_unmarked(eden_heap *heap);
static inline size_t remembered_now(const eden_heap *heap) {
    return heap->remembered.count + heap->remembered.card_count;
}

/* Is the object remembered by cards, rather than whole? Those with a word of their own for the slot count are, but for
 * weak ones, whose slots can only be told from strong ones where the object is looked at as a whole. */
static inline bool is_carded(const eden_heap *heap, eden_value object) {
    return heap->remembered.card_table != NULL &&
           eden_header(object) >> EDEN_HEADER_SLOTS_SHIFT == EDEN_SLOTS_OVERFLOW &&
           eden_format_bits(object) != EDEN_FORMAT_WEAK;
}
bool cards_create(eden_heap *heap);
void cards_destroy(eden_heap *heap);
bool cards_commit(eden_heap *heap, uintptr_t start, size_t bytes); /* with a segment */
bool card_is_dirty(const eden_heap *heap, struct card card);
void card_add(eden_heap *heap, struct card card, enum eden_remember_origin origin);
void card_forget(eden_heap *heap, struct card card, size_t remaining); /* the event and the byte; not the list */
void cards_drop_unmarked(eden_heap *heap);
void cards_unset(eden_heap *heap); /* around a change of the objects' addresses */
void cards_set(eden_heap *heap);

/* ---- card_scans.c: the probe remembered__scan, for cards ---- */
enum { CARD_SCANS = 16 };
struct card_scan {
    eden_value object; /* EDEN_NONE: a free place */
    uint64_t slots, young, ns;
};
struct card_scans {
    eden_heap *heap;
    uint64_t seq;
    eden_value object; /* whose cards are being scanned; EDEN_NONE: none yet */
    uint64_t slots, young, since;
    struct card_scan at[CARD_SCANS];
};
void card_scans_begin(struct card_scans *scans, eden_heap *heap, uint64_t seq);
void card_scans_change(struct card_scans *scans, eden_value object); /* cards of this one come next */
void card_scans_end(struct card_scans *scans);

/* ---- old space (old_space.c) ---- */
eden_value old_allocate(eden_heap *heap, size_t bytes); /* start of a chunk from free memory, else 0. Not initialised */
bool old_grow(eden_heap *heap, size_t bytes);           /* maps a segment with room for an object of bytes */
void old_shrink(eden_heap *heap);                       /* returns empty segments, by shrink_threshold */
void old_retire_buffer(eden_heap *heap);
void old_reset_free(eden_heap *heap); /* before chunks are found anew */
void old_add_free(eden_heap *heap, uintptr_t start, size_t bytes);
/* The same, but grows old space where it is full. */
static inline eden_value old_room(eden_heap *heap, size_t bytes) {
    eden_value at = old_allocate(heap, bytes);
    return at == 0 && old_grow(heap, bytes) ? old_allocate(heap, bytes) : at;
}
static inline uint64_t old_used(const eden_heap *heap) { return heap->old.capacity - heap->old.free_bytes; }
uint64_t old_largest_free(const eden_heap *heap);
/* Walks old space: the first object or chunk at or after address (start with 0); EDEN_NONE at the end. Objects
 * allocated during the walk may or may not be seen. */
eden_value old_walk(const eden_heap *heap, uintptr_t address);

/* free_chunks.c */
void chunks_clear(struct free_chunks *free);
void chunks_add(struct free_chunks *free, uintptr_t start, size_t bytes);
bool chunks_take_exact(struct free_chunks *free, uintptr_t start, size_t bytes); /* this very chunk, of 512 or more */
uintptr_t chunks_take(struct free_chunks *free, size_t bytes, size_t *found);    /* best fit; 0: none */
uintptr_t chunks_pop(struct free_chunks *free, size_t bytes);                    /* of just this size; 0: none */
size_t chunks_largest(const struct free_chunks *free);
/* Calls each for every chunk; false stops. */
bool chunks_each(const struct free_chunks *free, bool (*each)(void *context, uintptr_t start, size_t bytes),
                 void *context);

/* ---- collections ---- */
void scavenge(eden_heap *heap, enum eden_scavenge_cause cause);
void full_collect(eden_heap *heap, enum eden_full_cause cause, size_t requested);
void full_collect_sliding(eden_heap *heap, size_t requested); /* cause: limit */
void full_collect_if_grown(eden_heap *heap);
struct tenure_policy {         /* of one scavenge */
    uint64_t criterion;        /* enum eden_criterion, or EDEN_BY_AGE_OR_LEARNT */
    unsigned least_references; /* EDEN_BY_REMEMBERED: tenures what at least so many remembered slots refer to */
};
enum { NOT_TENURED = -1 };
struct tenure_policy tenure_policy(eden_heap *heap, enum eden_scavenge_cause cause);
/* What the policy says of a live young object: enum eden_tenure_reason or NOT_TENURED. */
int tenure_reason(const eden_heap *heap, const struct tenure_policy *policy, eden_value object);
/* For the next scavenge, from the semispace whose survivors it will copy and the other one. */
uintptr_t tenure_threshold(const eden_heap *heap, const struct space *survivors, const struct space *other);
double tenure_proportion(const eden_heap *heap);
/* Young objects have no use for the remembered, pinned and grey bits: with EDEN_BY_REMEMBERED they count references. */
enum { YOUNG_COUNT_SHIFT = 29, YOUNG_COUNT_MAX = 7 };
#define YOUNG_COUNT_BITS ((uint64_t)YOUNG_COUNT_MAX << YOUNG_COUNT_SHIFT)
struct tally mark(eden_heap *heap);
void mark_push(struct mark_stack *stack, eden_value object);
struct tally sweep_old(eden_heap *heap); /* unmarks; leaves the gaps of each segment in its chain */
void sweep_free_gaps(eden_heap *heap, struct segment *segment); /* makes them free chunks */
uint64_t sweep_young(eden_heap *heap);     /* makes fillers of the dead among the young; bytes of them */
bool compact(eden_heap *heap);             /* false, and nothing done, where its tables find no memory */
void compact_selectively(eden_heap *heap); /* after sweeping; frees the gaps too */

/* ---- registry.c ---- */
void registry_add(eden_heap *heap);
bool registry_remove(eden_heap *heap); /* false: it was not there (already reported at exit) */
eden_heap *registry_first(void);       /* NULL: there is none */

#endif
