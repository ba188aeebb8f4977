/* What policy=auto decides: the sizes of eden and of the semispaces, and how far old space may grow before it is
 * collected.
 *
 * 1. Terms
 * Work is bytes allocated, copied and marked: no rule here reads a clock, so two runs decide alike. `live` is what the
 * last full collection found alive in old space. The limit is max_heap.
 *
 * 2. Eden
 * A scavenge costs what survives, so its share of the work is survived / allocated. Eden doubles while more than 1/32
 * survives: in the Handbook's figures copying a byte costs ten times as much as allocating it, so above that share
 * copying is a third of all the work. It quadruples while more than half survives. It halves when less than 1/256 has
 * survived several times in a row: an eden that fits a cache is allocated in up to three times faster
 * (docs/performance.md). The two shares are further apart than the factor of two that a change of size can make, so the
 * rule does not swing. With a limit an eden that shrinks stays mapped, as far as nothing else needs its pages: a
 * program that works in phases grows it again, and the system would have to find and clear each page anew.
 *
 * With a limit, memory is used before time is: new space takes at most half of what live objects leave of it, and eden
 * is no larger than what old space could take if all of it survived, so that promotion seldom fails (born old objects
 * take room, too), but for sections 4 and 5. Without a limit, new space takes at most half as much as lives, or 22 MB:
 * an eden of 16 MB.
 *
 * 3. Old space
 * A full collection costs what lives, and is worth more the more has died: it waits as long as memory allows. With a
 * limit old space has all that new space leaves. Without one it may grow by 3/4 of what lives, or by 16 MB. It is
 * collected before what the next scavenge may promote has no room; not if less than 1/16 of it is new, when a
 * collection would find hardly anything dead.
 *
 * 4. Survivors
 * A semispace is a fifth of eden. Survivors beyond that are tenured at once, the others if they survive again. Where
 * most of what was tenured since the last full collection is dead in this one, as in a queue, survivors stay young: the
 * semispaces are made large enough for all that survives of eden, and it dies in new space. What is already old is
 * collected twice while this is tried, because a dead old object keeps alive what it refers to. It costs if much
 * survives again, for then it is copied one more time: if that is more than a quarter after EDEN_POLICY_TRIAL
 * scavenges, the semispaces are as before, for EDEN_POLICY_PATIENCE full collections; after the next such trial for
 * twice as many, and so on. With a limit, eden takes all that the semispaces leave: hardly more survives than they have
 * room for, and if it does, it is promoted in place. Where more than three quarters survive again, EDEN_POLICY_AT_ONCE
 * scavenges tenure all that survives: it is copied once, not twice. The next ones show whether that is still so.
 *
 * 5. Promotion in place
 * Promoted by copying, an eden needs as much memory again. So with a limit eden takes all of it where copying what
 * survives would be more work than marking what lives and sweeping all, once for each such eden: it becomes old where
 * it is, and a full collection follows (runtime/young/promote.c). A large object takes its room from the end of such an
 * eden: nothing is collected before the two meet, or eden has less than a quarter of what live objects leave. Work is
 * measured in bytes swept. A byte copied costs 2, or 8 if old space refers to it, for then it lies scattered and the
 * processor waits for each object; a byte that lives costs 4 to mark and slide, and a byte of such an eden 1.5 to sweep
 * and walk. They were measured with the rows "array", "lru" and "binary trees" of docs/performance.md. Whether it stays
 * so is judged by what the full collection finds alive: copied from the smaller edens that leave room for it, twice as
 * much would have survived.
 *
 * An eden must be large to say what survives of a larger one. But where nearly all of a small one survives, scattered,
 * as where a program fills a table, the next ones would cost most of all collections, for nothing: eden grows
 * sixteenfold, and a thirty-second of what can be copied is large enough to promote the next one in place.
 *
 * 6. Giving up
 * A heap that is nearly full of what lives is collected again for every few objects that the program allocates, and
 * each full collection costs all that lives. HotSpot's Parallel collector fails an allocation where collections take
 * more than 98% of the time (GCTimeLimit) and leave less than 2% of the heap free (GCHeapFreeLimit), five full
 * collections in a row. Here the same holds for work: overhead_limit, 0.98, is the share of bytes copied, marked and
 * swept in these and the bytes allocated between. So a byte allocated, with all that the program does with it, counts
 * as much as a byte marked or swept; a nanosecond is about right for either. Where 98% of the limit lives, a full
 * collection marks and sweeps almost twice the limit, and the share is exceeded if the program allocates less than a
 * 25th of the limit before the next one. Where 90% lives it allocates about a tenth: that heap does not fail.
 *
 * Both are needed. A heap with 2% free whose program allocates what dies young is seldom collected in full. A heap that
 * collects often to make room for large objects gets room. The free part is what the smallest new space leaves of the
 * limit. Collections that a program or tool asks for do not count. Once an allocation has failed for this, each further
 * full collection decides anew: a program that lets go of objects goes on after the next one, a program that does not
 * has one full collection for each allocation that fails.
 *
 * 7. References
 * Jones, Hosking and Moss, The Garbage Collection Handbook, 2012, chapters 9 and 10. M. Kirisame et al., "Optimal Heap
 * Limits for Reducing Browser Memory Use", OOPSLA 2022: why growth beside what lives, not beside what is used. HotSpot
 * Virtual Machine Garbage Collection Tuning Guide, "The Parallel Collector": excessive time in collections. */
#ifndef EDEN_POLICY_H
#define EDEN_POLICY_H

#include "eden_abi.h"
#include <stdbool.h>

enum {
    EDEN_POLICY_FIRST = 2 << 20,   /* the first eden, in bytes */
    EDEN_POLICY_LEAST = 256 << 10, /* no eden is smaller */
    EDEN_POLICY_SPARE = 16 << 20,  /* an eden, and a growth of old space, that a heap without a limit may always have */
    EDEN_POLICY_QUIET = 8,         /* scavenges in a row with hardly a survivor, before eden halves */
    EDEN_POLICY_TRIAL = 4,         /* scavenges */
    EDEN_POLICY_PATIENCE = 16,     /* full collections */
    EDEN_POLICY_AT_ONCE = 8,       /* scavenges */
    EDEN_POLICY_OTHER = 384 << 10, /* kept free for another new space, where eden is promoted in place */
    EDEN_POLICY_ROW = 5,           /* full collections in a row that find the heap full, before an allocation fails */
    EDEN_POLICY_FREE = 50,         /* full: less than this part of the limit is free */
    EDEN_POLICY_PAGE = 4096,
};

/* A size, and what determined it. The reason of a size that stays as it is means nothing. */
struct eden_policy_choice {
    uint64_t bytes;
    enum eden_decision_reason reason;
};

static inline struct eden_policy_choice eden_policy_at_most(struct eden_policy_choice choice, uint64_t most,
                                                            enum eden_decision_reason reason) {
    return choice.bytes <= most ? choice : (struct eden_policy_choice){most, reason};
}

/* What a heap is like at the end of a scavenge; bytes. */
struct eden_policy_state {
    uint64_t limit;               /* max_heap, or EDEN_NO_LIMIT */
    uint64_t eden;                /* its size now */
    uint64_t live, used;          /* of old space: after the last full collection; now */
    uint64_t allocated, survived; /* since the scavenge before; by this one */
    uint64_t from_eden;           /* of `survived`, for the first time */
    uint64_t scattered;           /* of `survived` */
    bool keeps;                   /* survivors stay young */
    bool in_place;                /* eden may be larger than what old space could take */
    unsigned quiet;               /* how many in a row were quiet, this one included */
};

static inline bool eden_policy_is_quiet(uint64_t allocated, uint64_t survived) { return survived < allocated / 256; }

static inline uint64_t eden_policy_pages(uint64_t bytes) { return bytes / EDEN_POLICY_PAGE * EDEN_POLICY_PAGE; }

/* The part of the limit that old space leaves. An eighth of what it uses is for fragmentation. */
static inline uint64_t eden_policy_left(uint64_t limit, uint64_t used) {
    uint64_t need = used + used / 8;
    return limit > need ? limit - need : 0;
}

/* The largest new space that memory allows. */
static inline uint64_t eden_policy_new_space(uint64_t limit, uint64_t live) {
    uint64_t spare = (uint64_t)EDEN_POLICY_SPARE / 5 * 7;
    return limit != EDEN_NO_LIMIT ? eden_policy_left(limit, live) / 2 : live / 2 > spare ? live / 2 : spare;
}

/* The largest eden that memory allows, where a semispace is a fifth of it. */
static inline uint64_t eden_policy_most(uint64_t limit, uint64_t live) {
    uint64_t most = eden_policy_pages(eden_policy_new_space(limit, live) / 7 * 5);
    return most > EDEN_POLICY_LEAST ? most : EDEN_POLICY_LEAST;
}

/* The largest eden that old space can take if all of it survives, beside the semispaces. used, free: bytes of old
 * space. A part of the free bytes lies in pieces that are too small. Where survivors stay young, hardly more survives
 * than the semispaces have room for: if it does, what has no room is promoted in place. */
static inline uint64_t eden_policy_safe(uint64_t limit, uint64_t semispaces, uint64_t used, uint64_t free, bool keeps) {
    uint64_t need = semispaces + used + free / 8 + (keeps ? semispaces / 8 + EDEN_POLICY_OTHER : 0);
    uint64_t left = limit > need ? limit - need : 0, safe = eden_policy_pages(keeps ? left : left / 2);
    return safe > EDEN_POLICY_LEAST ? safe : EDEN_POLICY_LEAST;
}

/* Two full collections: how much was alive after the first, in use before the second, alive after it; and how much of
 * what came in between was tenured. Was most of it, and is most of it dead? Then survivors had better stay young. */
static inline bool eden_policy_turns_over(uint64_t live_before, uint64_t used, uint64_t live, uint64_t tenured) {
    uint64_t grown = used > live_before ? used - live_before : 0;
    return tenured > grown / 2 && used > live && used - live > grown / 2;
}

/* Do objects die at all ages, so that those that survive lie amid dead ones? */
static inline bool eden_policy_scatters(bool turns_over, uint64_t survivors, uint64_t survived_again) {
    return turns_over && survived_again > survivors / 16;
}

/* Did so much of the survivors survive again that they had better be tenured? */
static inline bool eden_policy_ages(uint64_t survivors, uint64_t survived_again) {
    return survived_again > survivors / 4;
}

/* Did so much of them survive again that what survives once had better be tenured? A handful says nothing. */
static inline bool eden_policy_tenures_at_once(uint64_t allocated, uint64_t survivors, uint64_t survived_again) {
    return survivors > allocated / 64 && survived_again > survivors / 4 * 3;
}

/* The largest semispace where survivors stay young. Beside two of them and eden there must be room in old space to
 * promote all of eden; without a limit, new space takes no more than otherwise. */
static inline uint64_t eden_policy_most_semispace(uint64_t limit, uint64_t live, uint64_t used) {
    return eden_policy_pages(limit == EDEN_NO_LIMIT ? eden_policy_new_space(limit, live) / 3
                                                    : eden_policy_left(limit, used) / 4);
}

/* Is a semispace larger than beside an eden that has them a fifth of its size? */
static inline bool eden_policy_is_large(const struct eden_policy_state *state, uint64_t semispace) {
    uint64_t most = eden_policy_most(state->limit, state->live);
    return semispace > (state->eden < most ? state->eden : most) / 5;
}

/* A semispace for all that survives of eden; 0: a fifth of eden is large enough, or survivors do not stay young. */
static inline uint64_t eden_policy_semispace(const struct eden_policy_state *state) {
    uint64_t wanted = state->from_eden + state->from_eden / 8;
    if (state->from_eden > state->allocated / 8 * 7) {
        wanted = state->eden * 2; /* nobody knows how much of a larger eden survives */
    }
    uint64_t most = eden_policy_most_semispace(state->limit, state->live, state->used);
    wanted = eden_policy_pages(wanted < most ? wanted : most);
    return state->keeps && eden_policy_is_large(state, wanted) ? wanted : 0;
}

/* The largest eden beside two such semispaces. tries: dead old objects may keep all of it alive, until two full
 * collections have found them; what then found no room, and was tenured, would be the next such objects. */
static inline uint64_t eden_policy_most_beside(uint64_t limit, uint64_t live, uint64_t used, uint64_t semispace,
                                               bool tries) {
    uint64_t all = limit == EDEN_NO_LIMIT ? eden_policy_new_space(limit, live) : eden_policy_left(limit, used);
    uint64_t need = 2 * semispace + (limit == EDEN_NO_LIMIT ? 0 : semispace / 4 + EDEN_POLICY_OTHER);
    uint64_t most = eden_policy_pages(all > need ? all - need : 0);
    most = tries && most > semispace ? eden_policy_pages(semispace) : most;
    return most > EDEN_POLICY_LEAST ? most : EDEN_POLICY_LEAST;
}

/* Work, in bytes swept. What lies scattered is waited for, object by object, when it is copied. An eden that was
 * promoted in place is walked once more, and what lives is marked and slid together. */
static inline double eden_policy_copying(double survived, double scattered) { return 2 * survived + 6 * scattered; }
static inline double eden_policy_sliding(double eden, double live) { return 1.5 * eden + 4 * live; }

/* Does nearly all survive, and is most of it costly to copy? A program that fills a table does both. */
static inline bool eden_policy_lasts(const struct eden_policy_state *state) {
    return state->survived > state->allocated / 8 * 7 && state->scattered > state->survived / 2;
}

/* Is copying what survives of an eden more work than marking what lives and sweeping all, whenever an eden that takes
 * all memory is full? Only an eden that is nearly as large as one that can be copied says it. */
static inline bool eden_policy_is_in_place(const struct eden_policy_state *state, uint64_t semispace) {
    uint64_t live = state->live + state->survived, eden = eden_policy_left(state->limit, live);
    uint64_t most = eden_policy_is_large(state, semispace)
                        ? eden_policy_most_beside(state->limit, state->live, state->used, semispace, false) * 3
                        : eden_policy_most(state->limit, state->live);
    return state->allocated * (eden_policy_lasts(state) ? 32 : 4) > most &&
           eden_policy_copying((double)state->survived, (double)state->scattered) * (double)eden >
               eden_policy_sliding((double)eden, (double)live) * (double)state->allocated;
}

/* An eden was promoted in place, and so much of it lived, and of the whole heap. Would copying it have been more work?
 * Of a smaller eden a larger part survives: about twice as much of those a third as large that can be copied, where
 * objects die at random. scattered: the part of survivors. */
static inline bool eden_policy_stays_in_place(uint64_t eden, uint64_t survived, double scattered, uint64_t live) {
    return eden_policy_copying((double)survived, (double)survived * scattered) * 2 >
           eden_policy_sliding((double)eden, (double)live);
}

/* The size of eden from now on, beside semispaces as eden_policy_semispace says. */
static inline struct eden_policy_choice eden_policy_eden(const struct eden_policy_state *state, uint64_t semispace) {
    struct eden_policy_choice wanted = {state->eden, EDEN_REASON_SURVIVAL};
    if (state->survived > state->allocated / 32) {
        uint64_t factor = eden_policy_lasts(state) ? 16 : state->survived > state->allocated / 2 ? 4 : 2;
        wanted.bytes = state->eden * factor;
    } else if (state->quiet >= EDEN_POLICY_QUIET && state->eden > EDEN_POLICY_FIRST) {
        uint64_t half = eden_policy_pages(state->eden / 2);
        wanted.bytes = half > EDEN_POLICY_FIRST ? half : EDEN_POLICY_FIRST;
        wanted.reason = EDEN_REASON_QUIET;
    }
    uint64_t most = eden_policy_most(state->limit, state->live);
    if (state->in_place) {
        wanted.bytes = most = eden_policy_pages(state->limit);
    } else if (semispace > (wanted.bytes < most ? wanted.bytes : most) / 5) {
        bool tries = state->from_eden > state->allocated / 8 * 7;
        most = eden_policy_most_beside(state->limit, state->live, state->used, semispace, tries);
    }
    return eden_policy_at_most(wanted, most, EDEN_REASON_MEMORY);
}

/* How large old space may become before it is collected. */
static inline struct eden_policy_choice eden_policy_old(uint64_t limit, uint64_t new_space, uint64_t live) {
    if (limit != EDEN_NO_LIMIT) {
        return (struct eden_policy_choice){limit > new_space ? limit - new_space : 0, EDEN_REASON_LIMIT};
    }
    uint64_t growth = live / 4 * 3;
    growth = growth > EDEN_POLICY_SPARE ? growth : EDEN_POLICY_SPARE;
    return (struct eden_policy_choice){live + growth, EDEN_REASON_LIVE};
}

/* promoted: what the next scavenge may add. */
static inline bool eden_policy_collects(uint64_t goal, uint64_t used, uint64_t live, uint64_t promoted) {
    return used + promoted > goal && used > live + live / 16;
}

/* Did collections take more than this share of the work? work: bytes copied, marked and swept; allocated: bytes. */
static inline bool eden_policy_is_overhead(double share, uint64_t work, uint64_t allocated) {
    return (double)work * (1 - share) > (double)allocated * share;
}

/* Do live objects leave less than a fiftieth of the limit? least: what new space and its spare part need. */
static inline bool eden_policy_is_full(uint64_t limit, uint64_t least, uint64_t live) {
    return limit != EDEN_NO_LIMIT && live + least + limit / EDEN_POLICY_FREE > limit;
}

#endif
