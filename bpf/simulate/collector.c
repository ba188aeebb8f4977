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
#include "simulate/young.h"
#include <math.h>

struct collector {
    const struct simulate_history *history;
    const struct simulate_parameters *parameters;
    struct simulate_figures *figures;
    struct simulated_young young;
    struct simulated_old old;
    double eden_used, room; /* room: of eden, without what small objects leave at its end */
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
    return !collector->young.out_of_memory && !is_too_long(collector);
}

static void scavenge(struct collector *collector, uint64_t time, size_t bigs) {
    struct simulate_figures *figures = collector->figures;
    simulated_young_scavenge(&collector->young, time, bigs, figures);
    collector->eden_used = 0;
    figures->old_used = collector->old.used;
    figures->old_used_peak = figures->old_used > figures->old_used_peak ? figures->old_used : figures->old_used_peak;
}

static void full(struct collector *collector, uint64_t time, size_t bigs, enum eden_full_cause cause) {
    scavenge(collector, time, bigs);
    simulated_young_release(&collector->young);
    collector->young.out_of_memory |= !simulated_old_collect(&collector->old, time);
    collector->figures->old_used = collector->old.used;
    collector->figures->full_collections++;
    collector->figures->full_by_cause[cause]++;
}

static void full_if_grown(struct collector *collector, uint64_t time, size_t bigs) {
    if (simulated_old_has_grown(&collector->old)) {
        full(collector, time, bigs, EDEN_FULL_RATIO);
    }
}

/* Small objects are allocated from one moment to another. */
static void allocate_small(struct collector *collector, uint64_t from, uint64_t to, size_t bigs) {
    while (goes_on(collector) && collector->eden_used + (double)(to - from) > collector->room) {
        double left = collector->room - collector->eden_used;
        from += left > 0 ? (uint64_t)left : 0;
        scavenge(collector, from, bigs);
        full_if_grown(collector, from, bigs);
    }
    collector->eden_used += (double)(to - from);
}

static void allocate_big(struct collector *collector, size_t index) {
    const struct simulate_big *big = &collector->history->bigs[index];
    if (simulated_is_young(&collector->young, big)) {
        if (collector->eden_used + (double)big->bytes > collector->parameters->eden_size) {
            scavenge(collector, big->birth, index);
            full_if_grown(collector, big->birth, index);
        }
        collector->eden_used += (double)big->bytes;
        return;
    }
    struct cohort cohort = simulated_big_cohort(big);
    if (!big->pretenured && collector->old.used > 0 && !simulated_old_has_room(&collector->old, big->bytes)) {
        full(collector, big->birth, index, EDEN_FULL_ALLOCATION);
    }
    collector->young.out_of_memory |= !simulated_old_allocate(&collector->old, &cohort);
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
                                  .room = parameters->eden_size - left,
                                  .scavenges_most = scavenges_most(history)};
    simulated_old_init(&collector.old, parameters);
    simulated_young_init(&collector.young, history, parameters, &known, &collector.old);
    run(&collector);
    simulated_young_clear(&collector.young);
    simulated_old_clear(&collector.old);
    return collector.young.out_of_memory ? SIMULATE_NO_MEMORY
           : is_too_long(&collector)     ? SIMULATE_TOO_LONG
                                         : SIMULATE_DONE;
}
