/* The simulated collector: follows a history on the allocation clock, and collects when a heap with these parameters
 * would (runtime/api/allocate.c, runtime/old/full.c).
 *
 * Small objects fill eden as the clock advances: one byte on the clock is one byte of eden. Between two events (a big
 * object is allocated, the program requests a collection) only the end of eden matters, and the bytes that it leaves
 * unused, where the object that did not fit would have crossed the end. An object that crosses a point has half of its
 * size on each side on average, and large objects cross more often: the unused part is the sum of the squares of the
 * sizes over twice the sum of the sizes. Big objects are placed one by one.
 *
 * A hostile history can keep the simulation busy: its clock may advance without objects. So collections are limited in
 * proportion to the objects and requests (scavenges_most).
 *
 * Failure. The allocation clock of the recorded run is that of its program only if the program's allocation does not
 * depend on collections (finalization, weak references, time). */
#include "simulate/collector.h"
#include "simulate/cohort.h"
#include "simulate/sizing.h"
#include "util/whole.h"
#include <math.h>

/* Simulated old space: its use, when it requests a full collection, and whether a large object finds room.
 *
 * Free memory is of two kinds. Pieces are left by small objects: later small objects reuse them (they find chunks of
 * their size), large ones cannot. Chunks are the rest of segments and the space of dead large objects: large objects
 * take the best fit, small objects too once the pieces are used up.
 *
 * Failure. Compaction, which turns pieces into chunks, is not simulated; the return of segments only with policy=auto,
 * by its amount. So a collection caused by a large allocation may be predicted wrongly, or too late. */

struct simulated_old {
    const struct simulate_parameters *parameters;
    struct cohorts tenured, large; /* objects */
    size_t merged;                 /* of the tenured, when they were last added up */
    double used, used_at_full;
    double pieces;         /* free, in pieces as small as objects are */
    struct cohorts chunks; /* free in larger ones; of these cohorts only `bytes` is of use */
};

enum { MERGE_FROM = 4096 };

static void simulated_old_init(struct simulated_old *old, const struct simulate_parameters *parameters) {
    /* A first segment's worth is no growth: runtime/api/create.c. */
    bool decides = simulate_decides(parameters, EDEN_PARAM_full_gc_ratio);
    *old = (struct simulated_old){.parameters = parameters, .used_at_full = decides ? 0 : parameters->grow_headroom};
}

static void simulated_old_clear(struct simulated_old *old) {
    cohorts_clear(&old->tenured);
    cohorts_clear(&old->large);
    cohorts_clear(&old->chunks);
}

/* The smallest chunk of at least `bytes`; NULL: none. */
static struct cohort *best_fit(const struct simulated_old *old, double bytes) {
    struct cohort *best = NULL;
    for (size_t i = 0; i < old->chunks.count; i++) {
        struct cohort *chunk = &old->chunks.at[i];
        if (chunk->bytes >= bytes && (!best || chunk->bytes < best->bytes)) {
            best = chunk;
        }
    }
    return best;
}

static struct sizing_old simulated_old_sizes(const struct simulated_old *old) {
    return (struct sizing_old){.used = old->used,
                               .capacity = old->used + old->pieces + cohorts_bytes(&old->chunks),
                               .live = old->used_at_full};
}

static bool add_segment(struct simulated_old *old, double bytes) {
    struct cohort segment = {.bytes = bytes};
    return cohorts_add(&old->chunks, &segment);
}

/* As wanted_size in runtime/heap/old_space.c. */
static double segment_size(const struct simulated_old *old, double bytes) {
    double headroom = old->parameters->grow_headroom;
    if (simulate_refills(old->parameters)) {
        bytes = exp2(ceil(log2(bytes + 32)));
    }
    return headroom > bytes ? headroom : bytes;
}

/* From a chunk, or from a new segment. */
static bool take(struct simulated_old *old, double bytes) {
    struct cohort *chunk = best_fit(old, bytes);
    if (!chunk) {
        if (!add_segment(old, segment_size(old, bytes))) {
            return false;
        }
        chunk = &old->chunks.at[old->chunks.count - 1];
    }
    chunk->bytes -= bytes;
    if (chunk->bytes < 16) { /* less than any object */
        *chunk = old->chunks.at[--old->chunks.count];
    }
    return true;
}

/* These answer false where there is no memory. */
static bool simulated_old_tenure(struct simulated_old *old, const struct cohort *cohort) {
    double reused = cohort->bytes < old->pieces ? cohort->bytes : old->pieces, more = cohort->bytes - reused;
    old->used += cohort->bytes;
    old->pieces -= reused;
    if (!cohorts_add(&old->tenured, cohort)) {
        return false;
    }
    if (old->tenured.count > 2 * old->merged + MERGE_FROM) {
        cohorts_merge(&old->tenured);
        old->merged = old->tenured.count;
    }
    return more <= 0 || take(old, more);
}

/* a large object */
static bool simulated_old_allocate(struct simulated_old *old, const struct cohort *cohort) {
    old->used += cohort->bytes;
    return cohorts_add(&old->large, cohort) && take(old, cohort->bytes);
}

/* for a large one, without growing? */
static bool simulated_old_has_room(const struct simulated_old *old, uint64_t bytes) {
    return best_fit(old, (double)bytes);
}

/* After a scavenge. */
static bool simulated_old_refill(struct simulated_old *old) {
    double headroom = old->parameters->grow_headroom;
    return !simulate_refills(old->parameters) || old->pieces + cohorts_bytes(&old->chunks) >= headroom ||
           add_segment(old, headroom);
}

/* Cohorts are parts of objects: growth of less than one is none. */
static bool simulated_old_has_grown(const struct simulated_old *old) {
    const struct simulate_parameters *parameters = old->parameters;
    double growth = old->used - old->used_at_full;
    return growth >= 16 && old->used >= parameters->full_gc_min_old &&
           growth >= parameters->full_gc_ratio * old->used_at_full;
}

/* Returns free memory until no more is mapped than `kept` and the headroom: chunks first. */
static void simulated_old_shrink(struct simulated_old *old, double kept) {
    double least = old->used + old->parameters->grow_headroom;
    double over = simulated_old_sizes(old).capacity - (kept > least ? kept : least);
    for (size_t i = old->chunks.count; i-- > 0 && over > 0;) {
        double cut = old->chunks.at[i].bytes < over ? old->chunks.at[i].bytes : over;
        old->chunks.at[i].bytes -= cut;
        over -= cut;
        if (old->chunks.at[i].bytes < 16) {
            old->chunks.at[i] = old->chunks.at[--old->chunks.count];
        }
    }
    if (over > 0) {
        old->pieces -= over < old->pieces ? over : old->pieces;
    }
}

static double referrers_died(const struct cohorts *cohorts, uint64_t since, uint64_t until) {
    double bytes = 0;
    for (size_t i = 0; i < cohorts->count; i++) {
        const struct cohort *cohort = &cohorts->at[i];
        if (!cohort->reached_last && cohort->from < until && cohort->to > since) {
            bytes += cohort->bytes * (cohort_alive(cohort, since) - cohort_alive(cohort, until));
        }
    }
    return bytes;
}

/* Bytes that died then, and may have referred to young objects. */
static double simulated_old_died(const struct simulated_old *old, uint64_t since, uint64_t until) {
    return referrers_died(&old->tenured, since, until) + referrers_died(&old->large, since, until);
}

static bool simulated_old_collect(struct simulated_old *old, uint64_t time) {
    bool good = true;
    for (size_t i = 0; i < old->large.count; i++) {
        const struct cohort *large = &old->large.at[i];
        struct cohort chunk = {.bytes = large->bytes * (1 - cohort_alive(large, time))};
        good = cohorts_add(&old->chunks, &chunk) && good;
    }
    double pieces = cohorts_expire(&old->tenured, time), chunks = cohorts_expire(&old->large, time);
    cohorts_merge(&old->tenured);
    old->merged = old->tenured.count;
    old->pieces += pieces;
    old->used -= pieces + chunks;
    old->used_at_full = old->used;
    return good;
}

/* A simulated scavenge: which objects of new space are alive, tenured, or held by dead ones.
 *
 * 1. Alive. If a recorded collection saw an object alive, its death is spread evenly over the recorded interval in
 * which it came. If it died in its first eden, the curve gives the share alive at each age within that eden,
 * given that all are dead at its end.
 *
 * 2. Tenured. By age: the first tenure_proportion of the semispace, if survivors filled it above tenure_fill. By
 * overflow: past survivors first or, with overflow in scan order, all survivors alike. Within these a scavenge follows
 * the order of references (runtime/young/scavenge.c), which a recording does not hold. It holds the result: whether
 * tenured objects died sooner or later than kept ones. The simulation applies that bias (bias.c). With overflow in scan
 * order, and always for survivors of eden, the objects reached last overflow: there the odds are the same for all.
 *
 * 3. Held. An object that a dead old object refers to is copied as if it were alive, is tenured, and holds others in
 *    turn, until a full collection (nepotism). A recording does not hold references, but it has the amount: bytes that
 * a scavenge kept and that the full collection right after it found dead. The simulation uses
 *
 *        held = holding * D * G / (D + G)
 *
 *    where D bytes died in new space since the last scavenge, and G in old space. Nothing is held if nothing died in
 * one of them, and at most all. G contains objects that may refer to young ones: not those that overflowed because they
 *    were reached last, for their referents have been reached as well, and later writes are assumed to be rare.
 * `holding` is fitted to the recorded run as a whole (trace.c), apart for objects that a recorded collection saw alive,
 * which are held much more often, and for the others. A held object has no property but its size.
 *
 * 4. Cost. Order among survivors does not matter, so cohorts that die alike are merged.
 *
 * 5. Failure. The larger eden is, the less the recorded `holding` predicts. */

struct simulated_young {
    const struct simulate_history *history;
    const struct simulate_parameters *parameters;
    const struct simulate_holding *holding;
    const struct sizing *sizing;
    uint64_t since;              /* when eden was last emptied */
    size_t cell, big;            /* of the history: the first that may have been born later */
    struct cohorts survivors;    /* of past scavenges */
    struct cohorts fresh;        /* survivors of eden, in the scavenge that runs */
    double died[SIMULATE_KINDS]; /* bytes, since the last one */
    size_t merged;               /* of the survivors, when they were last added up */
    double tenure_below;         /* bytes of the survivors that the next scavenge tenures */
    struct simulated_old *old;
    bool out_of_memory;
};

enum { YOUNG_MERGE_FROM = 1024 };

static void simulated_young_init(struct simulated_young *young, const struct simulate_history *history,
                                 const struct simulate_parameters *parameters, const struct simulate_holding *holding,
                                 const struct sizing *sizing, struct simulated_old *old) {
    *young = (struct simulated_young){
        .history = history, .parameters = parameters, .holding = holding, .sizing = sizing, .old = old};
}

static void simulated_young_clear(struct simulated_young *young) {
    cohorts_clear(&young->survivors);
    cohorts_clear(&young->fresh);
}

static bool simulated_is_young(const struct simulated_young *young, const struct simulate_big *big) {
    return !big->pretenured && big->bytes <= simulate_young_most(young->parameters, young->sizing->eden);
}

/* A big object as a cohort of its own. */
static struct cohort simulated_big_cohort(const struct simulate_big *big) {
    return (struct cohort){
        .from = big->from > big->birth ? big->from : big->birth, .to = big->to, .bytes = (double)big->bytes};
}

static void add(struct simulated_young *young, struct cohorts *to, const struct cohort *cohort) {
    young->out_of_memory |= !cohorts_add(to, cohort);
}

/* Removes the dead part. */
static void expire(struct simulated_young *young, struct cohort *cohort, uint64_t time) {
    double alive = cohort->bytes * cohort_alive(cohort, time);
    young->died[SIMULATE_SEEN] += cohort->bytes - alive;
    cohort->bytes = alive;
    cohort->from = !cohort->held && time > cohort->from ? time : cohort->from;
}

/* ---- eden ------------------------------------------------------------------------------------------------------- */

/* Objects born evenly between two moments, all dead at `to`: which share is alive at `time`, by the curve? */
static double alive_by_curve(const struct simulate_curve *curve, uint64_t first, uint64_t last, uint64_t to,
                             uint64_t time) {
    enum { STEPS = 8 };
    double share = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t birth = first + (last - first) * (2ull * i + 1) / (2ull * STEPS);
        double now = simulate_curve_at(curve, time - birth), then = simulate_curve_at(curve, to - birth);
        share += then < 1 && now > then ? (now - then) / (1 - then) : 0;
    }
    return share / STEPS;
}

/* Of a cell, the objects that were born from first to last; `bytes` of them. */
static void scavenge_born(struct simulated_young *young, const struct simulate_cell *cell, double bytes, uint64_t first,
                          uint64_t last, uint64_t time) {
    struct cohort cohort = {.from = cell->from, .to = cell->to, .bytes = bytes};
    if (cell->from != 0) {
        expire(young, &cohort, time);
    } else if (cell->to > time) {
        cohort.bytes *= alive_by_curve(&young->history->curve, first, last, cell->to, time);
        cohort.from = time;
        young->died[SIMULATE_UNSEEN] += bytes - cohort.bytes;
    } else {
        young->died[SIMULATE_UNSEEN] += bytes;
        return;
    }
    add(young, &young->fresh, &cohort);
}

/* A bin in which this scavenge falls is looked at again by the next one, for the rest of its births. */
static void scavenge_cells(struct simulated_young *young, uint64_t time) {
    const struct simulate_history *history = young->history;
    size_t i = young->cell;
    while (i < history->cell_count) {
        uint64_t bin = history->cells[i].bin;
        uint64_t start = simulate_bin_start(history, bin), end = simulate_bin_start(history, bin + 1);
        uint64_t first = start > young->since ? start : young->since, last = end < time ? end : time;
        if (start >= time) {
            break;
        }
        for (; i < history->cell_count && history->cells[i].bin == bin; i++) {
            const struct simulate_cell *cell = &history->cells[i];
            if (last > first) {
                double share = (double)(last - first) / (double)(end - start);
                scavenge_born(young, cell, (double)cell->bytes * share, first, last, time);
            }
        }
        if (end > time) {
            break;
        }
        young->cell = i;
    }
}

static void scavenge_bigs(struct simulated_young *young, size_t bigs, uint64_t time) {
    for (; young->big < bigs; young->big++) {
        const struct simulate_big *big = &young->history->bigs[young->big];
        if (simulated_is_young(young, big)) {
            struct cohort cohort = simulated_big_cohort(big);
            expire(young, &cohort, time);
            add(young, &young->fresh, &cohort);
        }
    }
}

/* ---- survivors -------------------------------------------------------------------------------------------------- */

static void tenure(struct simulated_young *young, struct cohort *cohort, double share, bool reached_last,
                   struct simulate_figures *figures) {
    struct cohort part = *cohort;
    part.bytes *= share < 1 ? share : 1;
    part.reached_last = reached_last;
    cohort->bytes -= part.bytes;
    figures->tenured_bytes += part.bytes;
    young->out_of_memory |= !simulated_old_tenure(young->old, &part);
}

/* Tenures up to `bytes` of them; returns how many. */
static double tenure_some(struct simulated_young *young, struct cohorts *from, enum bias_kind kind, double bytes,
                          uint64_t time, struct simulate_figures *figures) {
    double all = cohorts_bytes(from), eden = young->sizing->eden, soon = 0;
    double odds = bias_odds(&young->history->bias, kind, eden);
    if (bytes <= 0 || all <= 0) {
        return 0;
    }
    bool reached_last = kind == BIAS_FRESH;                               /* those are tenured by overflow alone */
    uint64_t next = odds != 1 && bytes < all ? time + whole_of(eden) : 0; /* 0: all alike */
    for (size_t i = 0; i < from->count; i++) {
        soon += from->at[i].bytes * (1 - cohort_alive(&from->at[i], next));
    }
    struct bias_shares shares = bias_shares(soon, all - soon, bytes, odds);
    for (size_t i = 0, count = from->count; i < count; i++) {
        struct cohort part = cohort_split(&from->at[i], next);
        tenure(young, &part, shares.soon, reached_last, figures);
        tenure(young, &from->at[i], shares.lives, reached_last, figures);
        add(young, from, &part);
    }
    return bytes < all ? bytes : all;
}

/* Removes the dead, tenures survivors below the threshold. Returns the bytes copied. */
static double scavenge_survivors(struct simulated_young *young, uint64_t time, struct simulate_figures *figures) {
    struct cohorts *survivors = &young->survivors;
    double all = cohorts_bytes(survivors), below = all > 0 ? young->tenure_below / all : 0;
    for (size_t i = 0; i < survivors->count; i++) {
        expire(young, &survivors->at[i], time);
    }
    double copied = cohorts_bytes(survivors);
    tenure_some(young, survivors, BIAS_PAST, below * copied, time, figures);
    return copied;
}

/* The part of the dead that dead old objects hold; `old_died` of these died since the last scavenge. */
static void hold(struct simulated_young *young, double old_died, struct simulate_figures *figures) {
    struct cohort held = {.to = SIMULATE_NEVER, .held = true};
    for (int kind = 0; kind < SIMULATE_KINDS; kind++) {
        double died = young->died[kind], could = old_died > 0 ? died * old_died / (old_died + died) : 0;
        double did = young->holding->share[kind] * could;
        figures->holdable_bytes[kind] += could;
        held.bytes += did < died ? did : died;
        young->died[kind] = 0;
    }
    figures->held_bytes += held.bytes;
    add(young, &young->fresh, &held);
}

static void join(struct simulated_young *young) {
    struct cohorts *survivors = &young->survivors;
    for (size_t i = 0; i < young->fresh.count; i++) {
        add(young, survivors, &young->fresh.at[i]);
    }
    if (survivors->count > 2 * young->merged + YOUNG_MERGE_FROM) {
        cohorts_merge(survivors);
        young->merged = survivors->count;
    }
}

/* What the next scavenge tenures by age. */
static double tenured_next(const struct simulated_young *young) {
    const struct simulate_parameters *parameters = young->parameters;
    double room = (double)young->sizing->semispace, survivors = cohorts_bytes(&young->survivors);
    if (!simulate_tenures_by_age(parameters)) {
        return 0;
    }
    if (sizing_tenures(young->sizing)) {
        return survivors;
    }
    return survivors > parameters->tenure_fill * room
               ? simulate_tenure_share(parameters, young->sizing->semispace) * room
               : 0;
}

/* At this time; big objects of the history below `bigs` have been allocated. Adds to the figures. Returns what of past
 * survivors survived again. */
static double simulated_young_scavenge(struct simulated_young *young, uint64_t time, size_t bigs,
                                       struct simulate_figures *figures) {
    const struct simulate_parameters *parameters = young->parameters;
    struct cohorts *survivors = &young->survivors, *fresh = &young->fresh;
    double old_died = simulated_old_died(young->old, young->since, time), room = (double)young->sizing->semispace;
    fresh->count = 0;
    double again = scavenge_survivors(young, time, figures);
    figures->survived_bytes += again;
    scavenge_cells(young, time);
    scavenge_bigs(young, bigs, time);
    hold(young, old_died, figures);
    figures->survived_bytes += cohorts_bytes(fresh);
    double all = cohorts_bytes(fresh);
    tenure_some(young, fresh, BIAS_FRESH, sizing_tenures_all(young->sizing) ? all : 0, time, figures);
    double excess = cohorts_bytes(survivors) + cohorts_bytes(fresh) - room;
    if (!simulate_overflows_in_order(parameters)) {
        excess -= tenure_some(young, survivors, BIAS_PAST, excess, time, figures);
        tenure_some(young, fresh, BIAS_FRESH, excess, time, figures);
        join(young);
    } else {
        join(young);
        tenure_some(young, survivors, BIAS_FRESH, excess, time, figures);
    }
    young->since = time;
    figures->scavenges++;
    return again;
}

/* A full collection has found those survivors that only the dead hold. */
static void simulated_young_release(struct simulated_young *young) {
    struct cohorts *survivors = &young->survivors;
    size_t kept = 0;
    for (size_t i = 0; i < survivors->count; i++) {
        survivors->at[kept] = survivors->at[i];
        kept += !survivors->at[i].held;
    }
    survivors->count = kept;
}

/* The collector. */

struct collector {
    const struct simulate_history *history;
    const struct simulate_parameters *parameters;
    struct simulate_figures *figures;
    struct simulated_young young;
    struct simulated_old old;
    struct sizing sizing;
    double eden_used, left; /* left: what small objects leave at the end of eden */
    uint64_t scavenges_most;
};

/* Between two scavenges that eden asks for there are objects that fill half of it, hence one at least, and often
 * thousands. Each of them, and each request, may have a full collection follow, which scavenges once more. */
static uint64_t scavenges_most(const struct simulate_history *history) {
    enum { SCAVENGES_EACH = 2, SCAVENGES_LEAST = 1000 };
    return SCAVENGES_LEAST + SCAVENGES_EACH * (history->objects + history->asked_count);
}

static bool is_too_long(const struct collector *collector) {
    return collector->figures->scavenges > collector->scavenges_most;
}

static bool goes_on(const struct collector *collector) {
    return !collector->young.out_of_memory && !collector->sizing.is_unknown && !is_too_long(collector);
}

static void scavenge(struct collector *collector, uint64_t time, size_t bigs) {
    struct simulate_figures *figures = collector->figures;
    struct simulated_young *young = &collector->young;
    double before = cohorts_bytes(&young->survivors), copied = figures->survived_bytes;
    double tenured = figures->tenured_bytes;
    double again = simulated_young_scavenge(young, time, bigs, figures);
    const struct eden_policy_scavenged found = {.allocated = whole_of(collector->eden_used),
                                                .survivors = whole_of(before),
                                                .survived = whole_of(figures->survived_bytes - copied),
                                                .survived_again = whole_of(again),
                                                .promoted = whole_of(figures->tenured_bytes - tenured)};
    const struct sizing_old old = simulated_old_sizes(&collector->old);
    sizing_scavenged(&collector->sizing, &found, &old);
    young->tenure_below = tenured_next(young);
    collector->eden_used = 0;
    figures->old_used = collector->old.used;
    figures->old_used_peak = figures->old_used > figures->old_used_peak ? figures->old_used : figures->old_used_peak;
}

static void full(struct collector *collector, uint64_t time, size_t bigs, enum eden_full_cause cause) {
    struct simulated_young *young = &collector->young;
    if (collector->eden_used == 0 && sizing_keeps(&collector->sizing)) {
        young->tenure_below = 0; /* nothing was allocated: they have not survived again */
    }
    scavenge(collector, time, bigs);
    const struct sizing_old before = simulated_old_sizes(&collector->old);
    simulated_young_release(young);
    young->out_of_memory |= !simulated_old_collect(&collector->old, time);
    if (!isinf(sizing_goal(&collector->sizing, collector->old.used))) {
        simulated_old_shrink(&collector->old, sizing_kept(&collector->sizing, collector->old.used));
    }
    const struct sizing_old after = simulated_old_sizes(&collector->old);
    sizing_collected(&collector->sizing, &before, &after, collector->figures->tenured_bytes);
    collector->figures->old_used = collector->old.used;
    collector->figures->full_collections++;
    collector->figures->full_by_cause[cause]++;
}

static bool wants_full(const struct collector *collector) {
    if (!simulate_decides(collector->parameters, EDEN_PARAM_full_gc_ratio)) {
        return simulated_old_has_grown(&collector->old);
    }
    const struct sizing_old old = simulated_old_sizes(&collector->old);
    return sizing_wants_full(&collector->sizing, &old, cohorts_bytes(&collector->young.survivors));
}

static void full_if_grown(struct collector *collector, uint64_t time, size_t bigs) {
    if (wants_full(collector)) {
        full(collector, time, bigs, EDEN_FULL_RATIO);
    }
    collector->young.out_of_memory |= !simulated_old_refill(&collector->old);
}

/* Small objects are allocated from one moment to another. */
static void allocate_small(struct collector *collector, uint64_t from, uint64_t to, size_t bigs) {
    while (goes_on(collector) &&
           collector->eden_used + (double)(to - from) > collector->sizing.eden - collector->left) {
        double left = collector->sizing.eden - collector->left - collector->eden_used;
        from += whole_of(left);
        collector->eden_used += left;
        scavenge(collector, from, bigs);
        full_if_grown(collector, from, bigs);
    }
    collector->eden_used += (double)(to - from);
}

/* policy=auto lets old space grow to its goal, before it is collected. */
static bool may_grow(const struct collector *collector, uint64_t bytes) {
    const struct sizing_old old = simulated_old_sizes(&collector->old);
    double goal = sizing_goal(&collector->sizing, old.live);
    return !isinf(goal) && old.capacity + (double)bytes <= goal;
}

static void allocate_big(struct collector *collector, size_t index) {
    const struct simulate_big *big = &collector->history->bigs[index];
    if (simulated_is_young(&collector->young, big)) {
        if (collector->eden_used + (double)big->bytes > collector->sizing.eden) {
            scavenge(collector, big->birth, index);
            full_if_grown(collector, big->birth, index);
        }
        collector->eden_used += (double)big->bytes;
        return;
    }
    struct cohort cohort = simulated_big_cohort(big);
    if (!big->pretenured && collector->old.used > 0 && !simulated_old_has_room(&collector->old, big->bytes) &&
        !may_grow(collector, big->bytes)) {
        full(collector, big->birth, index, EDEN_FULL_ALLOCATION);
    }
    collector->young.out_of_memory |= !simulated_old_allocate(&collector->old, &cohort);
    const struct sizing_old old = simulated_old_sizes(&collector->old);
    sizing_old_changed(&collector->sizing, &old);
}

static void ask(struct collector *collector, const struct simulate_asked *asked, size_t bigs) {
    if (asked->what == SIMULATE_FULL) {
        full(collector, asked->at, bigs, EDEN_FULL_REQUEST);
    } else {
        scavenge(collector, asked->at, bigs);
        full_if_grown(collector, asked->at, bigs);
    }
}

static void run(struct collector *collector) {
    const struct simulate_history *history = collector->history;
    uint64_t now = 0;
    size_t big = 0, asked = 0;
    bool over = false;
    while (!over && goes_on(collector)) {
        uint64_t next = history->end;
        bool is_asked = asked < history->asked_count && history->asked[asked].at <= next;
        next = is_asked ? history->asked[asked].at : next;
        bool is_big = big < history->big_count && history->bigs[big].birth < next;
        next = is_big ? history->bigs[big].birth : next;
        if (next > now) {
            allocate_small(collector, now, next, big);
            now = next;
        }
        if (is_big) {
            now += history->bigs[big].bytes;
            allocate_big(collector, big++);
        } else if (is_asked) {
            ask(collector, &history->asked[asked++], big);
        } else {
            over = true;
        }
    }
}

enum simulate_outcome simulate_collector(const struct simulate_history *history,
                                         const struct simulate_parameters *parameters,
                                         const struct simulate_holding *holding, struct simulate_figures *figures) {
    double left = history->small_bytes != 0 ? history->small_squares / (double)history->small_bytes / 2 : 0;
    *figures = (struct simulate_figures){0};
    struct simulate_holding known = *holding;
    for (int kind = 0; kind < SIMULATE_KINDS; kind++) {
        known.share[kind] = isnan(known.share[kind]) ? 0 : known.share[kind];
    }
    struct collector collector = {.history = history,
                                  .parameters = parameters,
                                  .figures = figures,
                                  .left = left,
                                  .scavenges_most = scavenges_most(history)};
    simulated_old_init(&collector.old, parameters);
    sizing_init(&collector.sizing, parameters);
    simulated_young_init(&collector.young, history, parameters, &known, &collector.sizing, &collector.old);
    run(&collector);
    figures->eden_size = collector.sizing.eden;
    figures->eden_least = collector.sizing.eden_least;
    simulated_young_clear(&collector.young);
    simulated_old_clear(&collector.old);
    return collector.young.out_of_memory ? SIMULATE_NO_MEMORY
           : collector.sizing.is_unknown ? SIMULATE_UNKNOWN
           : is_too_long(&collector)     ? SIMULATE_TOO_LONG
                                         : SIMULATE_DONE;
}
