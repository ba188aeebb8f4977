#include "collector.h"
#include "old.h"
#include <stdio.h>
#include "portion.h"
#include <math.h>
#include <stdlib.h>

struct collector {
    const struct simulate_history *history;
    const struct simulate_parameters *parameters;
    struct simulate_figures *figures;
    uint64_t semispace, young_most, room; /* room: bytes of eden, without what is wasted at its end */
    uint64_t epoch;    /* when eden was last emptied */
    double eden_used;
    size_t cell, big;  /* the first that was not born then */
    struct portions survivors, fresh, held; /* of past scavenges, in order of age; of eden */
    double tenure_below;
    double holding, dead; /* dead: of what is young, in the scavenge that runs */
    struct simulated_old old;
    bool out_of_memory;
};

static void add(struct collector *collector, struct portions *to, const struct portion *portion) {
    collector->out_of_memory |= !portions_add(to, portion);
}

/* The dead leave; what dead old objects hold of them goes to `held`. */
static void bury(struct collector *collector, struct portion *portion, uint64_t time) {
    double alive = portion->bytes * portion_alive(portion, time), dead = portion->bytes - alive;
    collector->dead += dead;
    struct portion held = {time, SIMULATE_NEVER, dead, true};
    add(collector, &collector->held, &held);
    portion->bytes = alive;
    portion->from = time > portion->from ? time : portion->from;
}

/* ---- what is alive in eden -------------------------------------------------------------------------------------- */

/* Objects born evenly between two moments, all dead at `to`: which share is alive at `time`, by the curve? */
static double alive_by_curve(const struct simulate_curve *curve, uint64_t first, uint64_t last, uint64_t to,
                             uint64_t time) {
    enum { STEPS = 8 };
    double share = 0;
    for (int i = 0; i < STEPS; i++) {
        uint64_t birth = first + (last - first) * (unsigned)(2 * i + 1) / (2 * STEPS);
        double now = simulate_curve_at(curve, time - birth), then = simulate_curve_at(curve, to - birth);
        share += then < 1 && now > then ? (now - then) / (1 - then) : 0;
    }
    return share / STEPS;
}

/* The objects of a cell that were born between first and last, at the scavenge at `time`. */
static void scavenge_cell(struct collector *collector, const struct simulate_cell *cell, uint64_t first, uint64_t last,
                          double share, uint64_t time) {
    struct portion portion = {cell->from, cell->to, (double)cell->bytes * share};
    if (cell->from == 0 && cell->to <= time) {
        return;
    }
    if (cell->from == 0) {
        portion.bytes *= alive_by_curve(&collector->history->curve, first, last, cell->to, time);
        portion.from = portion.from > time ? portion.from : time;
    } else {
        bury(collector, &portion, time);
    }
    add(collector, &collector->fresh, &portion);
}

static void scavenge_cells(struct collector *collector, uint64_t time) {
    const struct simulate_history *history = collector->history;
    uint64_t bin = UINT64_MAX, start = 0, end = 0;
    size_t next = collector->cell;
    for (size_t i = collector->cell; i < history->cell_count; i++) {
        const struct simulate_cell *cell = &history->cells[i];
        if (cell->bin != bin) {
            bin = cell->bin;
            start = simulate_bin_start(history, bin);
            end = simulate_bin_start(history, bin + 1);
            if (start >= time) {
                break;
            }
            next = end > time ? next : i;
        }
        next = end > time ? next : i + 1;
        uint64_t first = start > collector->epoch ? start : collector->epoch, last = end < time ? end : time;
        if (last > first) {
            scavenge_cell(collector, cell, first, last, (double)(last - first) / (double)(end - start), time);
        }
    }
    collector->cell = next;
}

static bool is_young(const struct collector *collector, const struct simulate_big *big) {
    return !big->pretenured && big->bytes <= collector->young_most;
}

static void scavenge_bigs(struct collector *collector, size_t until, uint64_t time) {
    for (size_t i = collector->big; i < until; i++) {
        const struct simulate_big *big = &collector->history->bigs[i];
        if (is_young(collector, big)) {
            struct portion portion = {big->from > big->birth ? big->from : big->birth, big->to, (double)big->bytes};
            bury(collector, &portion, time);
            add(collector, &collector->fresh, &portion);
        }
    }
    collector->big = until;
}

/* ---- a scavenge ------------------------------------------------------------------------------------------------- */

static void tenure(struct collector *collector, struct portion *portion, double bytes) {
    struct portion part = *portion;
    part.bytes = bytes < portion->bytes ? bytes : portion->bytes;
    portion->bytes -= part.bytes;
    collector->figures->tenured_bytes += (uint64_t)llround(part.bytes);
    collector->out_of_memory |= !simulated_old_tenure(&collector->old, &part);
}

/* Past survivors: those below the threshold are tenured, the dead leave. */
static double scavenge_survivors(struct collector *collector, uint64_t time) {
    struct portions *survivors = &collector->survivors;
    double copied = 0, all = portions_bytes(survivors);
    size_t kept = 0;
    for (size_t i = 0; i < survivors->count; i++) {
        struct portion portion = survivors->at[i];
        double share = all > 0 ? collector->tenure_below / all : 0;
        bury(collector, &portion, time);
        copied += portion.bytes;
        if (share > 0) {
            tenure(collector, &portion, portion.bytes * (share < 1 ? share : 1));
        }
        survivors->at[kept] = portion;
        kept += portion.bytes >= 1e-3;
    }
    survivors->count = kept;
    return copied;
}

/* Survivors do not fit: of `from`, the oldest. */
static double overflow(struct collector *collector, struct portions *from, double excess) {
    size_t kept = 0;
    double all = portions_bytes(from), share = all > 0 ? (excess < all ? excess / all : 1) : 0;
    for (size_t i = 0; i < from->count; i++) {
        struct portion portion = from->at[i];
        if (share > 0) {
            double before = portion.bytes;
            tenure(collector, &portion, portion.bytes * share);
            excess -= before - portion.bytes;
        }
        from->at[kept] = portion;
        kept += portion.bytes >= 1e-3;
    }
    from->count = kept;
    return excess;
}

static void scavenge(struct collector *collector, uint64_t time, size_t until) {
    const struct simulate_parameters *parameters = collector->parameters;
    double died_old = simulated_old_died(&collector->old, collector->epoch, time);
    collector->fresh.count = collector->held.count = 0;
    collector->dead = 0;
    double copied = scavenge_survivors(collector, time);
    scavenge_cells(collector, time);
    scavenge_bigs(collector, until, time);
    double could = died_old + collector->dead > 0 ? collector->dead * died_old / (died_old + collector->dead) : 0;
    collector->figures->holdable += could;
    double share = collector->dead > 0 ? collector->holding * could / collector->dead : 0;
    for (size_t i = 0; i < collector->held.count; i++) {
        struct portion held = collector->held.at[i];
        held.bytes *= share < 1 ? share : 1;
        add(collector, &collector->fresh, &held);
    }
    copied += portions_bytes(&collector->fresh);
    double excess = portions_bytes(&collector->survivors) + portions_bytes(&collector->fresh) -
                    (double)collector->semispace;
    if (excess > 0 && !simulate_overflows_in_order(parameters)) {
        excess = overflow(collector, &collector->survivors, excess);
    }
    if (excess > 0) {
        overflow(collector, &collector->fresh, excess);
    }
    for (size_t i = 0; i < collector->fresh.count; i++) {
        add(collector, &collector->survivors, &collector->fresh.at[i]);
    }
    double proportion = simulate_tenure_share(parameters), used = portions_bytes(&collector->survivors);
    bool tenures = simulate_tenures_by_age(parameters) && used > parameters->tenure_fill * (double)collector->semispace;
    collector->tenure_below = tenures ? proportion * (double)collector->semispace : 0;
    if (getenv("DBG2")) fprintf(stderr, "T %lu copied %.0f fresh %.0f\n", time, copied, portions_bytes(&collector->fresh));
    collector->figures->scavenges++;
    collector->figures->survived_bytes += (uint64_t)llround(copied);
    collector->epoch = time;
    collector->eden_used = 0;
    uint64_t old_used = (uint64_t)llround(collector->old.used);
    collector->figures->old_used = old_used;
    if (old_used > collector->figures->old_used_peak) {
        collector->figures->old_used_peak = old_used;
    }
}

/* Survivors that only the dead held. */
static void release(struct portions *survivors) {
    size_t kept = 0;
    for (size_t i = 0; i < survivors->count; i++) {
        survivors->at[kept] = survivors->at[i];
        kept += !survivors->at[i].held;
    }
    survivors->count = kept;
}

static void full(struct collector *collector, uint64_t time, size_t until, enum simulate_cause cause) {
    scavenge(collector, time, until);
    release(&collector->survivors);
    collector->figures->freed_bytes += (uint64_t)llround(simulated_old_collect(&collector->old, time));
    collector->figures->old_used = (uint64_t)llround(collector->old.used);
    collector->figures->full_collections++;
    collector->figures->full_by_cause[cause]++;
}

static void full_if_grown(struct collector *collector, uint64_t time, size_t until) {
    if (simulated_old_has_grown(&collector->old)) {
        full(collector, time, until, SIMULATE_BY_RATIO);
    }
}

/* ---- allocation ------------------------------------------------------------------------------------------------- */

/* Small objects are allocated from one moment to another. */
static void allocate_small(struct collector *collector, uint64_t from, uint64_t to, size_t until) {
    while (collector->eden_used + (double)(to - from) > (double)collector->room) {
        double left = (double)collector->room - collector->eden_used;
        from += left > 0 ? (uint64_t)left : 0;
        scavenge(collector, from, until);
        full_if_grown(collector, from, until);
    }
    collector->eden_used += (double)(to - from);
}

static void allocate_big(struct collector *collector, size_t index) {
    const struct simulate_big *big = &collector->history->bigs[index];
    if (is_young(collector, big)) {
        if (collector->eden_used + (double)big->bytes > collector->parameters->eden_size) {
            scavenge(collector, big->birth, index);
            full_if_grown(collector, big->birth, index);
        }
        collector->eden_used += (double)big->bytes;
        return;
    }
    struct portion portion = {big->from > big->birth ? big->from : big->birth, big->to, (double)big->bytes};
    if (!simulated_old_has_room(&collector->old, big->bytes) && collector->old.used > 0 && !big->pretenured) {
        full(collector, big->birth, index, SIMULATE_BY_ALLOCATION);
    }
    collector->out_of_memory |= !simulated_old_allocate(&collector->old, &portion);
}

static void ask(struct collector *collector, const struct simulate_asked *asked, size_t until) {
    if (asked->what == SIMULATE_FULL) {
        full(collector, asked->at, until, SIMULATE_BY_REQUEST);
    } else {
        scavenge(collector, asked->at, until);
        full_if_grown(collector, asked->at, until);
    }
}

static void run(struct collector *collector) {
    const struct simulate_history *history = collector->history;
    uint64_t now = 0;
    size_t big = 0, asked = 0;
    while (!collector->out_of_memory) {
        uint64_t at = history->end;
        bool is_asked = asked < history->asked_count && history->asked[asked].at <= at;
        at = is_asked ? history->asked[asked].at : at;
        bool is_big = big < history->big_count && history->bigs[big].birth < at;
        at = is_big ? history->bigs[big].birth : at;
        if (at > now) {
            allocate_small(collector, now, at, big);
            now = at;
        }
        if (is_big) {
            allocate_big(collector, big);
            now += history->bigs[big++].bytes;
        } else if (is_asked) {
            ask(collector, &history->asked[asked++], big);
        } else {
            return;
        }
    }
}

bool simulate_collector(const struct simulate_history *history, const struct simulate_parameters *parameters, double holding,
                        struct simulate_figures *figures) {
    double mean_left = history->small_bytes != 0 ? history->small_squares / (double)history->small_bytes / 2 : 0;
    *figures = (struct simulate_figures){0};
    struct collector collector = {.history = history,
                                  .parameters = parameters,
                                  .figures = figures,
                                  .holding = holding,
                                  .semispace = simulate_semispace(parameters),
                                  .young_most = simulate_young_most(parameters),
                                  .room = (uint64_t)(parameters->eden_size - mean_left)};
    simulated_old_init(&collector.old, parameters);
    run(&collector);
    portions_clear(&collector.survivors);
    portions_clear(&collector.fresh);
    portions_clear(&collector.held);
    simulated_old_clear(&collector.old);
    return !collector.out_of_memory;
}
#include <stdio.h>
void debug_alive(const struct simulate_history *h);
void debug_alive(const struct simulate_history *h) {
    for (size_t k = 13; k < 19; k++) {
        uint64_t T = h->times[k];
        double young = 0, all = 0, from_later = 0, straddle = 0;
        for (size_t i = 0; i < h->cell_count; i++) {
            const struct simulate_cell *c = &h->cells[i];
            uint64_t s = simulate_bin_start(h, c->bin);
            if (s >= T) break;
            if (c->to <= T) continue;
            all += (double)c->bytes;
            if (s >= h->times[k-8]) young += (double)c->bytes;
            if (c->from > T) from_later += (double)c->bytes;
            if (c->from < T) straddle += (double)c->bytes;
        }
        fprintf(stderr, "k %zu T %lu all %.0f born in last 8: %.0f known alive later: %.0f  from<T %.0f\n", k, T, all, young, from_later, straddle);
    }
}
