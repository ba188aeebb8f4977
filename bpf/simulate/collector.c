#include "collector.h"
#include "old.h"
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
    struct portions survivors, fresh; /* of past scavenges, in order of age; of eden */
    double tenure_below;
    struct simulated_old old;
    bool out_of_memory;
};

static void add(struct collector *collector, struct portions *to, const struct portion *portion) {
    collector->out_of_memory |= !portions_add(to, portion);
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
    if (cell->to <= time) {
        return;
    }
    if (cell->from == 0) {
        portion.bytes *= alive_by_curve(&collector->history->curve, first, last, cell->to, time);
    } else {
        portion.bytes *= portion_alive(&portion, time);
    }
    portion.from = portion.from > time ? portion.from : time;
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
            portion.bytes *= portion_alive(&portion, time);
            portion.from = portion.from > time ? portion.from : time;
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
    double place = 0, copied = 0;
    size_t kept = 0;
    for (size_t i = 0; i < survivors->count; i++) {
        struct portion portion = survivors->at[i];
        double below = collector->tenure_below - place, share = portion.bytes > 0 ? below / portion.bytes : 0;
        place += portion.bytes;
        portion.bytes *= portion_alive(&portion, time);
        portion.from = time > portion.from ? time : portion.from;
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
    for (size_t i = 0; i < from->count; i++) {
        struct portion portion = from->at[i];
        if (excess > 0) {
            double before = portion.bytes;
            tenure(collector, &portion, excess);
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
    double copied = scavenge_survivors(collector, time);
    collector->fresh.count = 0;
    scavenge_cells(collector, time);
    scavenge_bigs(collector, until, time);
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
    double share = simulate_tenure_share(parameters), used = portions_bytes(&collector->survivors);
    bool tenures = simulate_tenures_by_age(parameters) && used > parameters->tenure_fill * (double)collector->semispace;
    collector->tenure_below = tenures ? share * (double)collector->semispace : 0;
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

static void full(struct collector *collector, uint64_t time, size_t until, enum simulate_cause cause) {
    scavenge(collector, time, until);
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

bool simulate_collector(const struct simulate_history *history, const struct simulate_parameters *parameters,
                        struct simulate_figures *figures) {
    double mean_left = history->small_bytes != 0 ? history->small_squares / (double)history->small_bytes / 2 : 0;
    *figures = (struct simulate_figures){0};
    struct collector collector = {.history = history,
                                  .parameters = parameters,
                                  .figures = figures,
                                  .semispace = simulate_semispace(parameters),
                                  .young_most = simulate_young_most(parameters),
                                  .room = (uint64_t)(parameters->eden_size - mean_left)};
    simulated_old_init(&collector.old, parameters);
    run(&collector);
    portions_clear(&collector.survivors);
    portions_clear(&collector.fresh);
    simulated_old_clear(&collector.old);
    return !collector.out_of_memory;
}
