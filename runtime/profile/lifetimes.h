/* Lifetimes of sampled objects: what a heap keeps while a listener is attached to the batch probe. */
#ifndef EDEN_PROFILE_LIFETIMES_H
#define EDEN_PROFILE_LIFETIMES_H

#include "profile/aggregator.h"
#include "profile/allocation_clock.h"
#include "profile/death_batch.h"
#include "profile/old_objects.h"
#include "profile/survivor_buffer.h"
#include "profile/tracked.h"

/* The observer of a heap, there as long as the heap is. */
struct lifetimes {
    struct observer observer; /* first */
    struct profile *profile;  /* NULL: no listener */
    uint64_t seed;            /* of random numbers (EDEN_SAMPLING_SEED); 0: none was given */
};
void lifetimes_subscribe(struct lifetimes *lifetimes, eden_heap *heap);
void lifetimes_create(struct lifetimes *lifetimes); /* the heap has been made */
void lifetimes_end(struct lifetimes *lifetimes);    /* ends the profile, if there is one */

/* A range of eden; every object that begins in it is a sample. */
struct sample_range {
    uintptr_t from, to;
};

/* The ephemerons of tracked objects: baseline/profiler_ephemerons.c. */
struct profiler_ephemerons {
    eden_value *at; /* the first old_count: of old keys */
    size_t count, old_count, room;
};

struct oracle {
    uint64_t step;           /* bytes allocated between passes */
    uint64_t next;           /* when allocation reaches this, on the allocation clock */
    struct eden_anchor last; /* pass; bytes 0: none */
    uint64_t passes;
};

/* Cursor over a list or a range of eden. */
enum { CURSORS = 2 };
struct cursor {
    struct death_batch batch;
    struct survivor_buffer buffer;
};

struct mechanism;
struct profile {
    eden_heap *heap;
    struct lifetimes *lifetimes;
    enum eden_mechanism mechanism;
    const struct mechanism *by;
    struct profiler_ephemerons ephemerons;
    struct oracle oracle;
    uint64_t request; /* the control word that asked for it */
    enum eden_sampling sampling;
    uint64_t rate;
    struct eden_anchor begun, ended; /* ended: set as the profile ends */
    struct allocation_clock clock;
    uintptr_t from;      /* eden's first byte of the epoch that runs */
    uintptr_t next_trap; /* the object that contains this byte of eden takes the slow path */
    uint64_t random;
    uint64_t until_next;   /* objects to pass over before the next sample, where eden is walked */
    bool is_open;          /* the range or the window: what is born is a sample */
    uint64_t window_ns;    /* when the window opens or closes */
    uintptr_t next_switch; /* where the range ends, or the next one that is sampled begins */
    bool next_switch_opens;
    uintptr_t next_round; /* where a round of `rate` ranges ends; one range of each is sampled; 0: none yet */
    uintptr_t epoch_end;  /* the last one's, in eden */
    struct sample_range *ranges;
    size_t range_count, range_room;
    struct tracked_list pending, young; /* born in eden since the last collection; in new space */
    struct old_objects old;             /* in old space */
    size_t jumps;                       /* the clock's marks, when its last was of a small object born old; else 0 */
    bool has_advanced;                  /* the clock has, in the collection that runs */
    bool is_second_pass;                /* the scavenge that runs has two: copies may be copied again, or dead */
    bool is_in_place;                   /* the last scavenge has promoted all, dead or alive */
    bool follows_sweep;                 /* the sweep calls for the lists of regions where it finds dead objects */
    const struct space *copied_to;      /* the semispace that it copies to */
    uint64_t lost;
    uint64_t work_ns; /* spent within collections and passes */
    struct aggregator out;
    struct cursor cursors[CURSORS]; /* of a walk, or a list, while it runs; not on the stack, which may be small */
    struct eden_birth_cell births[TALLIES]; /* of a walk, that no batch reports; one tally a site, as a batch's */
};

/* ---- what becomes of tracked objects ---- */

/* What an object was that need not be there any more. */
struct kind {
    uint32_t site;
    uint64_t bytes;
};
static inline struct kind lifetimes_kind(eden_value object) {
    return (struct kind){eden_index_of(object), object_bytes(object)};
}

void lifetimes_report_birth(struct profile *profile, uint32_t site, uint64_t bytes);
void lifetimes_report_end(struct profile *profile, const struct tracked *tracked, eden_value object, uint32_t flags,
                          bool censored);
void lifetimes_report_end_of(struct profile *profile, const struct tracked *tracked, struct kind kind, uint32_t flags,
                             bool censored);
/* Reports a death that was found at `death`; at `last` the object was alive (bytes 0: unknown). */
void lifetimes_report_death(struct profile *profile, const struct tracked *tracked, struct eden_anchor death,
                            struct eden_anchor last);
/* It was tenured in this epoch, and is where it says. False: no memory for it. */
bool lifetimes_grow_old(struct profile *profile, struct tracked tracked);
/* Removes unmarked objects from the list and reports their deaths. What lies below `from` is marked. */
void lifetimes_keep_marked(struct profile *profile, struct tracked_list *list, uintptr_t from);
struct eden_anchor lifetimes_now(const eden_heap *heap);

/* ---- lists ---- */

static inline eden_value lifetimes_place(const struct profile *profile, const struct tracked *tracked) {
    return profile->heap->reservation + (tracked->where & ((1ull << WHERE_BITS) - 1)) * 8;
}
static inline uint64_t lifetimes_place_bits(const struct profile *profile, eden_value object) {
    return (object - profile->heap->reservation) / 8;
}
/* An object that is born after `bytes`. */
static inline struct tracked lifetimes_born(const struct profile *profile, eden_value object, uint64_t bytes,
                                            uint64_t flags) {
    return (struct tracked){lifetimes_place_bits(profile, object), bytes / 8 | flags << BIRTH_BITS};
}
/* False: no memory; it is counted as lost. */
static inline bool lifetimes_push(struct profile *profile, struct tracked_list *list, struct tracked tracked) {
    if (__builtin_expect(list->count == list->room, 0) &&
        !system_grow(&profile->heap->system, (void **)&list->at, &list->room, list->count, sizeof *list->at,
                     "profile")) {
        profile->lost++;
        return false;
    }
    list->at[list->count++] = tracked;
    return true;
}
/* It is alive, there. False: no memory for it. */
static inline bool lifetimes_move_on(struct profile *profile, struct tracked tracked, eden_value now) {
    tracked.where = lifetimes_place_bits(profile, now);
    return __builtin_expect(heap_is_young(profile->heap, now), 1) ? lifetimes_push(profile, &profile->young, tracked)
                                                                  : lifetimes_grow_old(profile, tracked);
}
/* Lists are read in order of birth, which is not that of addresses: loops over them prefetch the object that is
 * LIST_AHEAD ahead, or the last. They do so themselves because gcc 12 drops the calls of a function that does nothing
 * else. */
enum { LIST_AHEAD = 32 };
static inline const void *lifetimes_ahead(const struct profile *profile, const struct tracked *list, size_t count,
                                          size_t i) {
    size_t ahead = i + LIST_AHEAD < count ? i + LIST_AHEAD : count - 1;
    return (const void *)(uintptr_t)lifetimes_place(profile, &list[ahead]);
}

#endif
