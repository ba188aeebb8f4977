/* Lifetimes of sampled objects: what a heap keeps while somebody listens to the batch probe. */
#ifndef EDEN_LIFETIMES_H
#define EDEN_LIFETIMES_H

#include "eden_batches.h"
#include "eden_byte_clock.h"
#include "heap/heap.h"
#include "young/scavenge.h"
#include <stddef.h>

/* ---- the byte clock (byte_clock.c) ---- */
struct byte_clock {
    struct eden_epoch *epochs;
    size_t epoch_count, epoch_room;
    struct eden_anchor *anchors; /* of epochs that are over, in order */
    size_t anchor_count, anchor_room;
    struct eden_mark *marks; /* of the one that runs, in order */
    size_t mark_count, mark_room;
};

struct profile;
bool clock_begin(struct profile *profile, uintptr_t at, struct eden_anchor now);
bool clock_mark(struct profile *profile, uintptr_t at, struct eden_anchor time);
/* The epoch that runs ends with a collection that starts now. */
bool clock_turn(struct profile *profile, bool full, struct eden_anchor start);
void clock_resume(struct profile *profile, uintptr_t at, struct eden_anchor now);
void clock_free(struct byte_clock *clock);
size_t clock_held(const struct byte_clock *clock); /* bytes */
uint64_t clock_ns(const struct byte_clock *clock, uint64_t bytes);
/* The anchors around it. False: there is none after, as yet. */
bool clock_around(const struct byte_clock *clock, uint64_t bytes, struct eden_anchor *before,
                  struct eden_anchor *after);
/* The last epoch that had begun before an object was born there. */
size_t clock_epoch(const struct byte_clock *clock, uint64_t bytes);

/* ---- samples ---- */
/* A sampled object that is alive. Small: there may be one for every object of the heap. */
struct life {
    uint64_t where; /* WHERE_BITS: granule of the heap's reservation; above: the epoch it was tenured in, 0: young */
    uint64_t birth; /* BIRTH_BITS: granules allocated in the heap before it; above: LIFE_... */
};
enum { WHERE_BITS = 36, BIRTH_BITS = 48 };
/* On the byte clock. */
static inline uint64_t life_birth(const struct life *life) { return (life->birth & ((1ull << BIRTH_BITS) - 1)) * 8; }
struct lives {
    struct life *at;
    size_t count, room;
};
struct old_lives { /* life_old.c */
    struct lives *regions;
    size_t region_count, region_room;
};

/* A stretch of eden of which every object is a sample. */
struct stretch {
    uintptr_t from, to;
};

/* ---- what is sent (life_cells.c) ---- */
enum {
    MAX_CELLS = 512,
    CELL_INDEX = 1024,
    MAX_BUCKETS = 16384,
    BUCKET_INDEX = 32768,
    MAX_BIRTH_CELLS = 256,
    BIRTH_INDEX = 1024,
    MAX_RECORDS = 500
};
struct outbox {
    eden_heap *heap;
    bool one_by_one;  /* records rather than cells */
    bool short_forms; /* of records */
    uint32_t cell_kind;
    uint64_t ends_sent_ns; /* when cells and buckets were handed over */
    uint32_t cell_count, bucket_count, birth_count, record_count;
    uint16_t cell_index[CELL_INDEX];     /* open addressing; 0: free, else place + 1 */
    uint16_t bucket_index[BUCKET_INDEX]; /* likewise */
    uint16_t birth_index[BIRTH_INDEX];
    struct eden_life_cell cells[MAX_CELLS];
    struct eden_life_bucket buckets[MAX_BUCKETS];
    struct eden_birth_cell births[MAX_BIRTH_CELLS];
    struct eden_life_record records[MAX_RECORDS];
    uint32_t end_count;
    struct eden_end ends[EDEN_ENDS_MOST];
    struct eden_walked walked;
    uint64_t walked_to; /* birth of the next object that goes there without a gap */
};

/* The ephemerons of sampled objects: life_ephemerons.c. */
struct own_ephemerons {
    eden_value *at; /* the first old_count: of old keys */
    size_t count, old_count, room;
};

struct oracle {
    uint64_t step;           /* bytes allocated between passes */
    uint64_t next;           /* when allocation reaches this, on the byte clock */
    struct eden_anchor last; /* pass; bytes 0: none */
    uint64_t passes;
};

/* Ends that are alike: life_runs.c. */
enum { TALLIES = 256, NO_SITE = UINT32_MAX };
struct site_tally {
    uint32_t site, count; /* NO_SITE: it is free */
    uint64_t bytes;
    uint64_t births; /* their sum, modulo 2^64 */
};
struct life_run {
    struct profile *profile;
    struct eden_anchor end; /* of the lifetimes */
    bool censored;
    bool alike;          /* the profile's ends may be told by runs: as cells, and of one weight */
    bool births;         /* tells a birth with each end */
    double weight;       /* of each */
    uint64_t from, span; /* births [from, from + span); span 0: none yet */
    uint64_t tenured;    /* the epoch; 0: they were not */
    uint32_t flags;      /* EDEN_LIFE_..., but TENURED */
    double ns;           /* the lifetime at its start, */
    double ns_a_byte;    /* and what a byte further takes from it */
    uint64_t bytes, tenured_ns, tenured_bytes;
    struct eden_life_cell like; /* what they have in common */
    uint32_t used_count;
    uint16_t used[TALLIES];
    struct site_tally tallies[TALLIES];
};

/* Objects that a scavenge has moved, before they arrive: life_moves.h. */
enum { MOVES = 512 };
struct life_move {
    struct life life;
    eden_value now; /* its copy; itself, if it was kept in place */
};
struct life_moves {
    size_t count;
    struct life_move at[MOVES];
};

/* What lists, and parts of eden, are gone through with. */
enum { LANES = 2 };
struct lane {
    struct life_run run;
    struct life_moves moves;
};

struct life_mechanism;
/* The observer of a heap, there as long as the heap is. */
struct lifetimes {
    struct observer observer; /* first */
    struct profile *profile;  /* NULL: nobody listens */
    uint64_t seed;            /* of random numbers (EDEN_SAMPLING_SEED); 0: none was given */
};
void lifetimes_subscribe(struct lifetimes *lifetimes, eden_heap *heap);
void lifetimes_create(struct lifetimes *lifetimes); /* the heap has been made */
void lifetimes_end(struct lifetimes *lifetimes);    /* ends the profile, if there is one */

struct profile {
    eden_heap *heap;
    struct lifetimes *lifetimes;
    enum eden_mechanism mechanism;
    const struct life_mechanism *by;
    struct own_ephemerons own;
    struct oracle oracle;
    uint64_t mail; /* what it was asked for by */
    enum eden_sampling sampling;
    uint64_t rate;
    struct eden_anchor begun, ended; /* ended: set as the profile ends */
    struct byte_clock clock;
    uintptr_t from;      /* eden's first byte of the epoch that runs */
    uintptr_t next_trap; /* the object that contains this byte of eden takes the slow path */
    uint64_t random;
    uint64_t until_next; /* objects to pass over before the next sample, where eden is walked */
    bool open;           /* the stretch or the window: what is born is a sample */
    uint64_t turn_ns;    /* when the window opens or closes */
    uintptr_t next_turn; /* where the stretch ends, or the next one that is a sample begins */
    bool next_turn_opens;
    uintptr_t next_round; /* where the `rate` stretches end of which one is a sample; 0: none yet */
    uintptr_t epoch_end;  /* the last one's, in eden */
    struct stretch *stretches;
    size_t stretch_count, stretch_room;
    struct lives pending, young;   /* born in eden since the last collection; in new space */
    struct old_lives old;          /* in old space */
    size_t jumps;                  /* the clock's marks, when its last was of a small object born old; else 0 */
    bool turned;                   /* the clock has, in the collection that runs */
    bool settled;                  /* the scavenge that runs had two rounds: copies may be copied again, or dead */
    bool sweeps_told;              /* the sweep calls for the lists of regions where it finds dead objects */
    const struct space *copied_to; /* the semispace that it copies to */
    uint64_t lost;
    uint64_t work_ns; /* spent within collections and passes */
    struct outbox out;
    struct lane lanes[LANES]; /* of a walk, or a list, while it is gone through */
};

/* How one sampled object ended. */
struct end_of_life {
    uint32_t site, flags;
    uint64_t bytes;
    struct eden_anchor birth, tenured; /* tenured.bytes 0: it was not */
    struct eden_anchor death, last;    /* as struct eden_life_record */
    uint32_t scavenges, fulls;
    bool censored;
    uint64_t weight, weight_bytes; /* as in struct eden_birth_cell */
};

void outbox_init(struct outbox *out, eden_heap *heap, bool one_by_one);
void outbox_birth(struct outbox *out, uint32_t site, uint64_t bytes, uint64_t weight, uint64_t weight_bytes);
void outbox_end(struct outbox *out, const struct end_of_life *end);
/* Many at once, which ended alike. */
void outbox_births(struct outbox *out, const struct eden_birth_cell *births);
void outbox_ends(struct outbox *out, bool censored, const struct eden_life_cell *ends);
void outbox_collected(struct outbox *out, uint64_t now); /* a collection has told all; now: in nanoseconds */
void outbox_flush(struct outbox *out);                   /* hands everything over */

/* ---- their short forms (life_short.c) ---- */
void short_begin(const struct profile *profile); /* the clock has begun, */
void short_turn(const struct profile *profile);  /* or turned, */
void short_end(const struct profile *profile);   /* or ends: before what is censored is told */
void short_tell_end(struct outbox *out, const struct eden_end *end);
void short_tell_walked(struct outbox *out, uint64_t birth, uint32_t site, size_t bytes, bool censored);
void short_flush(struct outbox *out);

/* ---- ends that are alike (life_runs.c) ---- */
void run_init(struct life_run *run, struct profile *profile, struct eden_anchor end, bool censored);
/* Tells what the run holds, and begins another, which has this birth. */
void run_turn(struct life_run *run, uint64_t birth, uint64_t tenured, uint32_t flags);
/* Frees a tally that another site has, for this one. */
void run_take_tally(struct life_run *run, struct site_tally *tally, uint32_t site);
void run_end(struct life_run *run); /* tells what it holds */

/* Where a site is counted, unless another one is. */
static inline struct site_tally *run_tally(struct life_run *run, uint32_t site) {
    return &run->tallies[site % TALLIES];
}

static inline void tally_count(struct site_tally *tally, size_t bytes, uint64_t birth) {
    tally->count++;
    tally->bytes += bytes;
    tally->births += birth;
}

static inline void run_add(struct life_run *run, uint32_t site, size_t bytes, uint64_t birth, uint64_t tenured,
                           uint32_t flags) {
    if (birth - run->from >= run->span || tenured != run->tenured || flags != run->flags) {
        run_turn(run, birth, tenured, flags);
    }
    struct site_tally *tally = run_tally(run, site);
    if (__builtin_expect(tally->site != site, 0)) {
        run_take_tally(run, tally, site);
    }
    tally_count(tally, bytes, birth);
}

/* ---- what becomes of them (lifetimes.c, eden_walk.c) ---- */
void lifetimes_tell_birth(struct profile *profile, uint32_t site, uint64_t bytes);
/* It was tenured in this epoch, and is where it says. False: no memory for it. */
bool lifetimes_grow_old(struct profile *profile, struct life life);
void lifetimes_tell_end(struct profile *profile, const struct life *life, eden_value object, uint32_t flags,
                        bool censored);
/* Takes those that are not marked off the list, and tells that they have ended. What lies below `from` is marked. */
void lifetimes_keep_marked(struct profile *profile, struct lives *lives, uintptr_t from);
/* What was born in eden since the last collection: after copying, or, censored, where the profile ends. */
void eden_walk(struct profile *profile, struct eden_anchor end, bool censored);

/* ---- lists ---- */
static inline eden_value lifetimes_place(const struct profile *profile, const struct life *life) {
    return profile->heap->reservation + (life->where & ((1ull << WHERE_BITS) - 1)) * 8;
}
static inline uint64_t lifetimes_place_bits(const struct profile *profile, eden_value object) {
    return (object - profile->heap->reservation) / 8;
}
/* Of an object that is born after so many bytes. */
static inline struct life lifetimes_born(const struct profile *profile, eden_value object, uint64_t bytes,
                                         uint64_t flags) {
    return (struct life){lifetimes_place_bits(profile, object), bytes / 8 | flags << BIRTH_BITS};
}
/* False: no memory; it is counted as lost. */
static inline bool lives_push(struct profile *profile, struct lives *lives, struct life life) {
    if (__builtin_expect(lives->count == lives->room, 0) &&
        !system_grow(&profile->heap->system, (void **)&lives->at, &lives->room, lives->count, sizeof *lives->at,
                     "profile")) {
        profile->lost++;
        return false;
    }
    lives->at[lives->count++] = life;
    return true;
}
/* It is alive, there. False: no memory for it. */
static inline bool lifetimes_move_on(struct profile *profile, struct life life, eden_value now) {
    life.where = lifetimes_place_bits(profile, now);
    return __builtin_expect(heap_is_young(profile->heap, now), 1) ? lives_push(profile, &profile->young, life)
                                                                  : lifetimes_grow_old(profile, life);
}
/* Lists are read in order of birth, which is not that of addresses: loops over them prefetch the object that is so far
 * ahead, or the last. They do so themselves because gcc 12 drops the calls of a function that does nothing else. */
enum { LIVES_AHEAD = 32 };
static inline const void *lives_ahead(const struct profile *profile, const struct life *lives, size_t count, size_t i) {
    size_t ahead = i + LIVES_AHEAD < count ? i + LIVES_AHEAD : count - 1;
    return (const void *)(uintptr_t)lifetimes_place(profile, &lives[ahead]);
}

/* ---- those of old space (life_old.c) ---- */
bool old_lives_add(struct profile *profile, struct life life); /* as lives_push */
void old_lives_free(struct old_lives *old);
size_t old_lives_held(const struct old_lives *old); /* bytes */
/* Of each region. It may shorten the list. */
void old_lives_each(struct profile *profile, void (*each)(void *context, struct lives *lives), void *context);
/* As observers' `dead`. */
uintptr_t old_lives_swept(struct profile *profile, eden_value dead);
void old_lives_moved(struct profile *profile, eden_value (*now)(void *context, eden_value object), void *context);

/* ---- which objects (sampling.c) ---- */
/* What the mailbox starts with (EDEN_SAMPLING), and the seed of random numbers (EDEN_SAMPLING_SEED; 0: the time). */
void sampling_from_environment(struct lifetimes *lifetimes);
void sampling_seed(struct profile *profile);
void sampling_read_mailbox(struct profile *profile);
double sampling_weight(const struct profile *profile, uint64_t bytes);
uint64_t sampling_weight_units(const struct profile *profile, uint64_t bytes); /* in 1 / EDEN_WEIGHT_ONE */
uint64_t sampling_weight_bytes(const struct profile *profile, uint64_t bytes); /* times its size */
bool sampling_is_even(const struct profile *profile);                          /* all weights are alike */
bool sampling_walks(const struct profile *profile); /* eden is walked at each scavenge: no trap a sample */
/* An allocation has reached next_trap. What is to be done? Sets the next trap. */
enum trap {
    TRAP_NOTHING,
    TRAP_MARK,   /* an anchor */
    TRAP_TELL,   /* likewise, and the object, which the walk will find, is a sample */
    TRAP_SAMPLE, /* it is a sample, to be followed from now on */
};
enum trap sampling_trap(struct profile *profile, uintptr_t start, size_t bytes);
bool sampling_large(struct profile *profile, size_t bytes);
void sampling_begin_epoch(struct profile *profile, uint64_t now);
/* Walking: is this object, the next in order of birth, a sample? */
bool sampling_next(struct profile *profile);
/* Ends the stretch that is open, if one is. */
void sampling_end_epoch(struct profile *profile, uintptr_t at);

#endif
