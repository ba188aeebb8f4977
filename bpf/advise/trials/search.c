/* A search for parameters, in a space of some ten axes, with some thirty runs, or, where they are short, up to
 * four hundred.
 *
 * What is minimized is the time in collections, under a bound on memory. Not the total time: a run's total time varies
 * by more than most parameters can gain, while the time in collections varies less and is what they act on. Total time
 * has its say at the end, where candidates are run in rounds: one that is seen to make the whole slower is not
 * recommended.
 *
 * The order is by what can matter.
 *  1. The program as it is, twice, which also tells the noise; then the proposed options.
 *  2. Eden from there upwards by fours, and downwards while that helps: eden matters to every program, costs memory,
 *     and its curve has steps, so it is looked at from far before it is walked. These points are the front's skeleton.
 *  3. From the best point within the memory, axis by axis, the axis first whose reach is largest: each run tells how
 *     much of its time in collections each parameter can act on at all (full_gc_ratio on the full collections that
 *     growth caused, ...). Axes without reach cost nothing. Sweeps over the axes follow until one changes nothing, as
 *     they depend on each other: a larger eden leaves less to tenure. Then eden is looked at from far once more, for
 *     what the others gain may suit another one. At the end each option is taken away again, as one that was of use on
 *     the way, or by luck, is one more to explain.
 *  4. The same, one sweep, from the best point whatever its memory, the other axes' gains taken along: for the front.
 *  5. Rounds: the finalists, one run each, again and again. Their medians decide.
 *
 * Noise has its own essays: how a measurement is corrected in search_measure.c, how two are compared in search_walk.c,
 * why rounds tell what walks can't in search_rounds.c. Where the budget allows for more runs than the walks need, each
 * point is run twice or thrice, and rounds go on: a short run is a noisy one.
 *
 * What can go wrong: a valley that is narrower than the stride; two axes that help only together; a program that does
 * not do the same each time, whose noise then hides the rest; a machine that slows down during a sweep, which makes
 * later points look worse. A budget that ends early leaves what is best so far, and fewer rounds. */
#include "advise/trials/search_parts.h"
#include <math.h>
#include <stdlib.h>

static const double for_rounds = 0.33; /* of the budget, search_rounds.c's */
static const double for_front = 0.42;  /* what is left of it when walks within the memory end */

enum { SWEEPS = 3, MOST_REPEATS = 3 };

/* The leanest of those that are as good as the best within the memory, but for noise: what does not help is not to
 * stand in the way of what does. */
static size_t start_within(const struct search *search, double memory_most) {
    size_t best = search_best_within(search, memory_most), lean = best;
    double limit = (1 + fmax(search_worth_share, search->noise)) * search_median_gc(search, best);
    for (size_t i = 0; i < search->count; i++) {
        if (search_usable(search, i) && search_median_gc(search, i) <= limit &&
            search_median_memory(search, i) < search_median_memory(search, lean)) {
            lean = i;
        }
    }
    return lean;
}

/* How often each point can be run if there are a hundred, which is more than the walks come to. */
static size_t affordable_repeats(const struct search *search) {
    double used = 1 - search->ports.left(search->ports.context);
    double repeats = used > 0 ? (double)search->runs / used / 100 : MOST_REPEATS;
    return (size_t)fmin(fmax(repeats, 1), MOST_REPEATS);
}

bool search_run(struct search *search, const struct search_point *starts, size_t start_count) {
    struct search_point as_is = search_as_is(search->space);
    struct walk walk = {.memory_most = INFINITY, .reserve = for_rounds};
    size_t index;
    search->noise = search_first_noise;
    search->repeats = 1;
    if (!search_visit(search, &as_is, &index)) {
        return false;
    }
    search_measure(search, index);
    search->repeats = affordable_repeats(search);
    double memory_most = search->memory_factor * search_median_memory(search, 0);
    for (size_t i = 0; i < start_count && walk_may_go_on(search, &walk); i++) {
        search_visit(search, &starts[i], &index);
    }
    walk.best = search_best_within(search, memory_most);
    walk_scan_eden(search, &walk);
    walk = (struct walk){memory_most, for_front, start_within(search, memory_most)};
    walk_sweep(search, &walk, SWEEPS);
    walk_scan_eden(search, &walk);
    if (search_best_within(search, memory_most) != walk.best) {
        walk.best = search_best_within(search, memory_most);
        walk_sweep(search, &walk, 1);
    }
    walk.reserve = for_rounds;
    walk_prune(search, &walk);
    size_t best = walk.best;
    walk = (struct walk){INFINITY, for_rounds, search_best_within(search, INFINITY)};
    struct search_point both = search->candidate[best].point;
    both.choice[AXIS_EDEN] = search->candidate[walk.best].point.choice[AXIS_EDEN];
    if (walk_may_go_on(search, &walk)) {
        search_visit(search, &both, &index);
        walk.best = search_best_within(search, INFINITY);
        walk_sweep(search, &walk, 1);
    }
    search_race(search, memory_most, best);
    return true;
}

void search_clear(struct search *search) {
    free(search->candidate);
    search->candidate = NULL;
    search->count = search->room = 0;
}
