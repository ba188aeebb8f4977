/* Objects: allocation, slots, raw bodies. The inline paths of the collector.
 *
 * An object is a header word and its slots, 8 bytes each. A reference is the address of the header. Objects with 255
 * slots or more have one more word before the header that holds their slot count. Header, from the lowest bit:
 *
 *   class or site index 22 | 1 | immutable 1 | format 5 | remembered 1 | pinned 1 | grey 1 | identity hash 22 |
 *   forwarded 1 | marked 1 | slot count 8 (255: see the word before)
 *
 * Objects move. A C pointer into one (eden_raw) is valid until the next call that may collect: to keep it longer, pin
 * the object or copy the bytes. The layout of eden_mutator's first cache line, the header bits and the barrier are part
 * of the ABI: they are compiled into embedders. */
#ifndef EDEN_OBJECT_H
#define EDEN_OBJECT_H

#include "checked.h"
#include "heap.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EDEN_HEADER_CLASS_MASK ((uint64_t)EDEN_CLASS_LIMIT - 1)
#define EDEN_HEADER_IN_PLACE (1ull << 22)
#define EDEN_HEADER_IMMUTABLE (1ull << 23)
#define EDEN_HEADER_FORMAT_SHIFT 24
#define EDEN_HEADER_REMEMBERED (1ull << 29)
#define EDEN_HEADER_PINNED (1ull << 30)
#define EDEN_HEADER_GREY (1ull << 31)
#define EDEN_HEADER_HASH_SHIFT 32
#define EDEN_HEADER_HASH_MASK ((1ull << 22) - 1)
#define EDEN_HEADER_FORWARDED (1ull << 54)
#define EDEN_HEADER_MARKED (1ull << 55)
#define EDEN_HEADER_SLOTS_SHIFT 56
#define EDEN_SLOTS_OVERFLOW 255u
#define EDEN_CLEAR_INLINE 12u                 /* slots: gcc 12 makes a memset of at most so many a few stores */
#define EDEN_OVERFLOW_MASK ((1ull << 56) - 1) /* the word before the header: 255 on top, the count below */

struct eden_frame;

/* A thread's handle to the heap. Inline code reads this first cache line, which is frozen; the rest is private. */
struct eden_mutator {
    uintptr_t free;            /* next free byte of eden */
    uintptr_t limit;           /* allocation past it takes the slow path */
    uintptr_t young_start;     /* new space: a value v is a young reference if (v - young_start) rotated */
    uintptr_t young_words;     /* right by 3 is less than young_words: range and tag in one comparison */
    struct eden_frame *frames; /* the shadow stack */
    eden_heap *heap;
    uint64_t poll;          /* kept for eden_safepoint's slow path */
    uint64_t barrier_words; /* as young_words, but for the values of stores: more while old space is marked */
};

/* The slow paths of the inline functions below; programs don't call them. eden_allocate_slow may collect; EDEN_NONE on
 * failure (eden_last_error). eden_remember can't fail and does not collect. */
EDEN_API eden_value eden_allocate_slow(eden_mutator *mutator, uint64_t header, size_t slots);
EDEN_API void eden_remember(eden_mutator *mutator, eden_value object, size_t index);

EDEN_INLINE uint64_t *eden_words_(eden_value object) { return (uint64_t *)(uintptr_t)object; }
/* Returns the header word of an object. Can't fail, does not collect. */
EDEN_INLINE uint64_t eden_header(eden_value object) { return *eden_words_(object); }

/* Returns the number of 8-byte slots of an object's body, raw ones included. Can't fail, does not collect. */
static inline size_t eden_slot_count(eden_value object) {
    EDEN_CHECK_OBJECT(object, "eden_slot_count");
    size_t slots = (size_t)(eden_header(object) >> EDEN_HEADER_SLOTS_SHIFT);
    return __builtin_expect(slots != EDEN_SLOTS_OVERFLOW, 1) ? slots
                                                             : (size_t)(eden_words_(object)[-1] & EDEN_OVERFLOW_MASK);
}

/* Returns the format of an object (enum eden_format), in raw formats with the number of unused trailing units in the
 * low bits. Can't fail, does not collect. */
static inline uint32_t eden_format_bits(eden_value object) {
    EDEN_CHECK_OBJECT(object, "eden_format_bits");
    return (uint32_t)(eden_header(object) >> EDEN_HEADER_FORMAT_SHIFT) & 31u;
}

/* Is v a reference to an object of new space? Can't fail, does not collect. */
EDEN_INLINE bool eden_is_young(const eden_mutator *mutator, eden_value v) {
    uint64_t d = v - mutator->young_start;
    return ((d >> 3) | (d << 61)) < mutator->young_words;
}

/* ---- allocation --------------------------------------------------------------------------------------------------
 * May collect. Return a new object; EDEN_NONE if memory is exhausted (eden_last_error gives the reason), and then the
 * heap is as usable as before. Reference slots are EDEN_NONE; raw bodies are not initialised, except that the unused
 * bytes of the last word are zero. The call must be the one for the format of the class: only a program compiled with
 * EDEN_CHECKED verifies it. Another call leaves slots uncleared, which a collection then takes for references. */

/* The bump: load, add, compare, store; then the header and what is to be cleared: the first `clear` slots, and the last
 * one where it is `in_part` unused. header: of the class, with the format's unused units, without the slot count. The
 * slow path clears by itself. */
EDEN_INLINE eden_value eden_allocate_(eden_mutator *mutator, uint64_t header, size_t slots, size_t clear,
                                      bool in_part) {
    uintptr_t at = mutator->free;
    uintptr_t next = at + 8 + 8 * slots;
    if (__builtin_expect(slots >= EDEN_SLOTS_OVERFLOW || next > mutator->limit, 0)) {
        return eden_allocate_slow(mutator, header, slots);
    }
    mutator->free = next;
    uint64_t *words = (uint64_t *)at;
    words[0] = header | (uint64_t)slots << EDEN_HEADER_SLOTS_SHIFT;
    if (__builtin_constant_p(clear) && clear <= EDEN_CLEAR_INLINE) {
        memset(words + 1, 0, 8 * clear); /* a few wide stores */
    } else {
        /* volatile: gcc 12 turns a plain loop, and a longer memset, into `rep stos`: tens of cycles for a few words. */
        for (volatile uint64_t *word = words + 1; word <= words + clear; word++) {
            *word = EDEN_NONE;
        }
    }
    if (in_part) {
        words[slots] = 0;
    }
    return at;
}

/* Of a class whose objects are born old (`pretenure`) the value has EDEN_SLOTS_OVERFLOW as its number of fixed slots:
 * so all its allocations take the slow path, which reads the true number, and others pay nothing for it. If it is raw,
 * the value says BYTES too: then eden_new_raw passes n on as slots and unused bytes. The number of fixed slots stands
 * where headers have the hash. */
EDEN_INLINE size_t eden_class_fixed_(eden_class of) { return (size_t)(of >> EDEN_HEADER_SLOTS_SHIFT); }
EDEN_INLINE uint64_t eden_class_header_(eden_class of) { return of & ((1ull << EDEN_HEADER_SLOTS_SHIFT) - 1); }
static inline size_t eden_class_slots_(eden_class of) {
    size_t fixed = eden_class_fixed_(of);
    return __builtin_expect(fixed != EDEN_SLOTS_OVERFLOW, 1) ? fixed : (size_t)(of >> EDEN_HEADER_HASH_SHIFT) & 255u;
}

/* Allocates an instance of an EMPTY, FIXED or EPHEMERON class. May collect; EDEN_NONE: no memory. */
EDEN_INLINE eden_value eden_new(eden_mutator *mutator, eden_class of) {
    EDEN_CHECK_NEW(mutator, of, "eden_new");
    size_t slots = eden_class_fixed_(of);
    return eden_allocate_(mutator, eden_class_header_(of), slots, slots, false);
}

/* eden_new for a program that knows the number of fixed slots of the class when it is compiled: as a constant it makes
 * clearing a few stores. Another number than the class's takes the slow path, which allocates as many as the class
 * says. May collect; EDEN_NONE: no memory. */
EDEN_INLINE eden_value eden_new_fixed(eden_mutator *mutator, eden_class of, size_t slots) {
    EDEN_CHECK_NEW(mutator, of, "eden_new");
    size_t fixed = eden_class_fixed_(of);
    if (__builtin_expect(fixed != slots, 0)) {
        return eden_allocate_slow(mutator, eden_class_header_(of), fixed);
    }
    return eden_allocate_(mutator, eden_class_header_(of), slots, slots, false);
}

/* Allocates an instance of a VARIABLE, FIXED_VARIABLE or WEAK class with n indexed slots after its fixed ones. May
 * collect; EDEN_NONE: no memory. */
EDEN_INLINE eden_value eden_new_slots(eden_mutator *mutator, eden_class of, size_t n) {
    EDEN_CHECK_NEW(mutator, of, "eden_new_slots");
    size_t slots = n > SIZE_MAX - EDEN_SLOTS_OVERFLOW ? n : n + eden_class_fixed_(of);
    return eden_allocate_(mutator, eden_class_header_(of), slots, slots, false);
}

/* Allocates an instance of a raw class (WORDS64, WORDS32, WORDS16, BYTES) of n units (words or bytes), or of a COMPOUND
 * class with n raw bytes. May collect; EDEN_NONE: no memory. */
static inline eden_value eden_new_raw(eden_mutator *mutator, eden_class of, size_t n) {
    EDEN_CHECK_NEW(mutator, of, "eden_new_raw");
    uint32_t format = (uint32_t)(of >> EDEN_HEADER_FORMAT_SHIFT) & 31u;
    unsigned shift = format >= EDEN_FORMAT_BYTES     ? 0
                     : format >= EDEN_FORMAT_WORDS16 ? 1
                     : format >= EDEN_FORMAT_WORDS32 ? 2
                                                     : 3;
    size_t per_slot = (size_t)8 >> shift;
    size_t body = n / per_slot + (n % per_slot != 0);
    size_t unused = body * per_slot - n;
    size_t fixed = eden_class_fixed_(of);
    uint64_t header = eden_class_header_(of) + ((uint64_t)unused << EDEN_HEADER_FORMAT_SHIFT);
    return eden_allocate_(mutator, header, fixed + body, fixed, unused != 0);
}

/* ---- access ------------------------------------------------------------------------------------------------------
 * The object must be alive; the index counts from 0 and must be that of a reference slot. Only the checked build
 * verifies this (checked.h). Nothing here fails or collects. */

/* Returns the value of a slot. Can't fail, does not collect. */
EDEN_INLINE eden_value eden_slot(eden_value object, size_t index) {
    EDEN_CHECK_LOAD(object, index);
    return eden_words_(object)[1 + index];
}

/* Does a store of v into an old object concern the collector? Young references do; all do while old space is marked. */
EDEN_INLINE bool eden_barrier_takes_(const eden_mutator *mutator, eden_value v) {
    uint64_t d = v - mutator->young_start;
    return ((d >> 3) | (d << 61)) < mutator->barrier_words;
}

/* Stores a value in a slot, with the write barrier: an old object that comes to hold a young reference is remembered.
 * Can't fail, does not collect. */
EDEN_INLINE void eden_slot_set(eden_mutator *mutator, eden_value object, size_t index, eden_value value) {
    EDEN_CHECK_STORE(mutator, object, index, value);
    eden_words_(object)[1 + index] = value;
    if (eden_barrier_takes_(mutator, value) && !eden_is_young(mutator, object) &&
        (eden_header(object) & EDEN_HEADER_REMEMBERED) == 0) {
        eden_remember(mutator, object, index);
    }
}

/* Stores count values in slots index to index + count - 1, like as many eden_slot_set, with one pass of the barrier.
 * values must not be slots of the object (eden_slots_copy does that); NULL if count is 0. Can't fail, does not collect.
 */
EDEN_API void eden_slots_set(eden_mutator *mutator, eden_value object, size_t index, const eden_value *values,
                             size_t count);

/* Copies count reference slots of one object to another, or within one object, where the ranges may overlap. Can't
 * fail, does not collect. */
EDEN_API void eden_slots_copy(eden_mutator *mutator, eden_value to, size_t to_index, eden_value from, size_t from_index,
                              size_t count);

/* Returns the raw body of an object of a raw format: eden_raw_count units, valid until the next call that may collect.
 * Can't fail, does not collect. */
static inline void *eden_raw(eden_value object) {
    EDEN_CHECK_RAW(object);
    return eden_words_(object) + 1;
}
/* Returns the raw bytes of a COMPOUND object of class or site `of`: those after its fixed references, valid as those of
 * eden_raw. Can't fail, does not collect. */
static inline void *eden_raw_after(eden_class of, eden_value object) {
    EDEN_CHECK_RAW(object);
    return eden_words_(object) + 1 + eden_class_slots_(of);
}

/* Returns the number of units of a raw object: words or bytes, by its format. For a COMPOUND object all bytes of the
 * body, references included. Can't fail, does not collect. */
static inline size_t eden_raw_count(eden_value object) {
    EDEN_CHECK_OBJECT(object, "eden_raw_count");
    uint32_t format = eden_format_bits(object);
    size_t slots = eden_slot_count(object);
    if (format >= EDEN_FORMAT_BYTES) {
        return slots * 8 - (format & 7u);
    }
    if (format >= EDEN_FORMAT_WORDS16) {
        return slots * 4 - (format & 3u);
    }
    if (format >= EDEN_FORMAT_WORDS32) {
        return slots * 2 - (format & 1u);
    }
    return slots;
}

/* Returns the class or site index that the object was allocated with. Can't fail, does not collect. */
static inline uint32_t eden_index_of(eden_value object) {
    EDEN_CHECK_OBJECT(object, "eden_index_of");
    return (uint32_t)(eden_header(object) & EDEN_HEADER_CLASS_MASK);
}

/* Is the value an object of class `of`, allocated with the class or with any of its sites? If `of` is a site: was it
 * allocated with that site? False for immediates and EDEN_NONE. Can't fail, does not collect. */
static inline bool eden_is_a(const eden_mutator *mutator, eden_value value, eden_class of) {
    EDEN_CHECK_IS_A(mutator, value, of);
    if (!eden_is_object(value)) {
        return false;
    }
    uint32_t index = eden_index_of(value);
    if (index == eden_class_index(of)) {
        return true;
    }
    /* The class table of the heap's public header: pages of entries, by index. */
    const struct eden_heap_info *info = (const struct eden_heap_info *)mutator->heap;
    const struct eden_class_info *const *pages = (const struct eden_class_info *const *)(uintptr_t)info->class_pages;
    const struct eden_class_info *page = pages[index >> EDEN_CLASS_PAGE_SHIFT];
    return page[index & ((1u << EDEN_CLASS_PAGE_SHIFT) - 1)].class_index == eden_class_index(of);
}

/* Returns a number that stays with the object when it moves: 22 bits, never 0, made at the first call. Others may have
 * the same. Can't fail, does not collect. */
EDEN_API uint32_t eden_identity_hash(eden_mutator *mutator, eden_value object);

/* ---- safepoints: no-ops in this version; call them so that a later one can have several mutators ------------------
 */

/* Call now and then in a long computation that allocates nothing, so that other threads can collect. May collect. */
static inline void eden_safepoint(eden_mutator *mutator) { (void)mutator; }

/* Call around system calls that block: between enter and leave, the thread must not touch objects. Leave may collect.
 */
static inline void eden_blocking_enter(eden_mutator *mutator) { (void)mutator; }
static inline void eden_blocking_leave(eden_mutator *mutator) { (void)mutator; }

#ifdef __cplusplus
}
#endif
#endif
