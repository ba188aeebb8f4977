/* A simulated scavenge: which objects of new space are alive, tenured, or held by dead ones.
 *
 * 1. Alive. If a recorded collection saw an object alive, its death is spread evenly over the recorded interval in
 * which it came. If it died in its first eden, the curve (curve.c) gives the share alive at each age within that eden,
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
#include "simulate/young.h"
#include <math.h>

enum { MERGE_FROM = 1024 };

void simulated_young_init(struct simulated_young *young, const struct simulate_history *history,
                          const struct simulate_parameters *parameters, const struct simulate_holding *holding,
                          struct simulated_old *old) {
    *young = (struct simulated_young){.history = history,
                                      .parameters = parameters,
                                      .holding = holding,
                                      .semispace = simulate_semispace(parameters),
                                      .young_most = simulate_young_most(parameters),
                                      .old = old};
    for (enum bias_kind kind = 0; kind < BIAS_KINDS; kind++) {
        young->odds[kind] = bias_odds(&history->bias, kind, parameters->eden_size);
    }
}

void simulated_young_clear(struct simulated_young *young) {
    cohorts_clear(&young->survivors);
    cohorts_clear(&young->fresh);
}

bool simulated_is_young(const struct simulated_young *young, const struct simulate_big *big) {
    return !big->pretenured && big->bytes <= young->young_most;
}

struct cohort simulated_big_cohort(const struct simulate_big *big) {
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
    double all = cohorts_bytes(from), odds = young->odds[kind], soon = 0;
    if (bytes <= 0 || all <= 0) {
        return 0;
    }
    bool reached_last = kind == BIAS_FRESH; /* those are tenured by overflow alone */
    uint64_t next = odds != 1 && bytes < all ? time + (uint64_t)young->parameters->eden_size : 0; /* 0: all alike */
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
    if (survivors->count > 2 * young->merged + MERGE_FROM) {
        cohorts_merge(survivors);
        young->merged = survivors->count;
    }
}

void simulated_young_scavenge(struct simulated_young *young, uint64_t time, size_t bigs,
                              struct simulate_figures *figures) {
    const struct simulate_parameters *parameters = young->parameters;
    struct cohorts *survivors = &young->survivors, *fresh = &young->fresh;
    double old_died = simulated_old_died(young->old, young->since, time), room = (double)young->semispace;
    fresh->count = 0;
    figures->survived_bytes += scavenge_survivors(young, time, figures);
    scavenge_cells(young, time);
    scavenge_bigs(young, bigs, time);
    hold(young, old_died, figures);
    figures->survived_bytes += cohorts_bytes(fresh);
    double excess = cohorts_bytes(survivors) + cohorts_bytes(fresh) - room;
    if (!simulate_overflows_in_order(parameters)) {
        excess -= tenure_some(young, survivors, BIAS_PAST, excess, time, figures);
        tenure_some(young, fresh, BIAS_FRESH, excess, time, figures);
        join(young);
    } else {
        join(young);
        tenure_some(young, survivors, BIAS_FRESH, excess, time, figures);
    }
    bool tenures = simulate_tenures_by_age(parameters) && cohorts_bytes(survivors) > parameters->tenure_fill * room;
    young->tenure_below = tenures ? simulate_tenure_share(parameters) * room : 0;
    young->since = time;
    figures->scavenges++;
}

void simulated_young_release(struct simulated_young *young) {
    struct cohorts *survivors = &young->survivors;
    size_t kept = 0;
    for (size_t i = 0; i < survivors->count; i++) {
        survivors->at[kept] = survivors->at[i];
        kept += !survivors->at[i].held;
    }
    survivors->count = kept;
}
