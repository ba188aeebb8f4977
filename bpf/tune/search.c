/* A search for parameters, in a space of some ten axes, with some thirty runs.
 *
 * What is minimized is the time in collections, under a bound on memory. Not the total time: a run's total time varies
 * by more than most parameters can gain, while the time in collections varies less and is what they act on. Total time
 * has its say at the end, where candidates are run in rounds: one that is seen to make the whole slower is not
 * recommended.
 *
 * The order is by what can matter.
 *  1. The program as it is, twice, which also tells the noise; then the proposed options.
 *  2. Eden from there upwards by fours, and downwards while that helps: eden matters to every program, costs memory,
 * and its curve has steps, so it is looked at from far before it is walked. These points are the front's skeleton.
 *  3. From the best point within the memory, axis by axis, the axis first whose reach is largest: each run tells how
 * much of its time in collections each parameter can act on at all (full_gc_ratio on the full collections that growth
 *     caused, ...). Axes without reach cost nothing. Along an ordered axis it walks while that helps, with a stride
 * that is halved, which is a pattern search; other axes have so few values that each is tried. Sweeps follow until one
 *     changes nothing, because axes depend on each other: a larger eden leaves less to tenure.
 *  4. The same, one sweep, from the best point whatever its memory, the other axes' gains taken along: for the front.
 *  5. Rounds: the finalists, one run each, again and again, the order reversed each time. Their medians decide.
 *
 * Noise. What else the machine does slows the program and its collections alike, and for minutes. So a run's time in
 * collections is corrected by how the program itself fared in that run, against the median of all runs with the same
 * eden: other parameters hardly touch the program itself, but eden does, through the caches. On a busy machine this
 * halves the noise. A challenger replaces the best only if its median is less by 2% and by 0.1% of the run, and by what
 * noise explains; while noise leaves it open the two are run again, thrice at most. Runs whose collections did the same
 * work differ by noise alone, unless by much, and aren't repeated. A challenger that wins by luck is found out in the
 * rounds, whose runs are not those that it was chosen by.
 *
 * What can go wrong: a valley that is narrower than the stride; two axes that help only together; a program that does
 * not do the same each time, whose noise then hides the rest; a machine that slows down during a sweep, which makes
 * later points look worse. A budget that ends early leaves what is best so far, and fewer rounds. */
#include "search.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double worth_share = 0.02;  /* of gc: a gain below is none */
static const double worth_of_run = 1e-3; /* of the run, likewise */
static const double for_rounds = 0.33;   /* of the budget */
static const double for_front = 0.42;    /* what is left of it when walks within the memory end */
static const double first_noise = 0.05, most_noise = 0.30;

enum { REPEATS = 3, SWEEPS = 3, ROUNDS = 7, LEAST_ROUNDS = 5, ENOUGH_ROUNDS = 3 };

/* The runs of a candidate that count: those of the rounds where there are some, as all finalists had them in the same
 * minutes; else all. */
static size_t first_run(const struct candidate *candidate) {
    return candidate->first_final < candidate->runs ? candidate->first_final : 0;
}

static double median_of(const struct candidate *candidate, size_t offset) {
    double values[SEARCH_RUNS];
    size_t first = first_run(candidate);
    for (size_t i = first; i < candidate->runs; i++) {
        memcpy(&values[i - first], (const char *)&candidate->figures[i] + offset, sizeof *values);
    }
    return spread_of(values, candidate->runs - first).median;
}

/* What the program itself takes with the candidate's eden: in rounds the median of the finalists' runs with it; before,
 * of all runs with it, drawn to the median of all others as far as they are few, as those were made at other times. A
 * hundred runs are enough for each. */
static double usual_own(const struct search *search, const struct candidate *like) {
    double same[SPREAD_MOST] = {0}, all[SPREAD_MOST] = {0};
    size_t same_count = 0, all_count = 0;
    bool rounds = first_run(like) > 0;
    for (size_t i = 0; i < search->count; i++) {
        const struct candidate *candidate = &search->candidate[i];
        bool is_same = candidate->point.choice[AXIS_EDEN] == like->point.choice[AXIS_EDEN];
        bool counts = !rounds || (is_same && first_run(candidate) > 0);
        for (size_t j = rounds ? first_run(candidate) : 0; counts && j < candidate->runs; j++) {
            if (is_same && same_count < SPREAD_MOST) {
                same[same_count++] = candidate->figures[j].own;
            }
            if (all_count < SPREAD_MOST) {
                all[all_count++] = candidate->figures[j].own;
            }
        }
    }
    double own = spread_of(same, same_count).median,
           weight = rounds ? 1 : (double)same_count / (double)(same_count + 3);
    return weight * own + (1 - weight) * spread_of(all, all_count).median;
}

/* One run's gc, as on a machine on which the program itself takes what it usually does. */
static double corrected(const struct search_figures *figures, double own) {
    return figures->own > 0 && own > 0 ? figures->gc * own / figures->own : figures->gc;
}

double search_gc(const struct search *search, size_t index, size_t run) {
    const struct candidate *candidate = &search->candidate[index];
    return corrected(&candidate->figures[run], usual_own(search, candidate));
}

static double gc_of(const struct search *search, size_t index) {
    const struct candidate *candidate = &search->candidate[index];
    double own = usual_own(search, candidate), values[SEARCH_RUNS];
    size_t first = first_run(candidate);
    for (size_t i = first; i < candidate->runs; i++) {
        values[i - first] = corrected(&candidate->figures[i], own);
    }
    return spread_of(values, candidate->runs - first).median;
}

struct search_figures search_medians(const struct search *search, size_t index) {
    const struct candidate *candidate = &search->candidate[index];
    struct search_figures figures = candidate->figures[candidate->runs - 1];
    figures.gc = gc_of(search, index);
    figures.own = median_of(candidate, offsetof(struct search_figures, own));
    figures.cpu = median_of(candidate, offsetof(struct search_figures, cpu));
    figures.wall = median_of(candidate, offsetof(struct search_figures, wall));
    figures.pause = median_of(candidate, offsetof(struct search_figures, pause));
    figures.memory = median_of(candidate, offsetof(struct search_figures, memory));
    return figures;
}

static double memory_of(const struct search *search, size_t index) {
    return median_of(&search->candidate[index], offsetof(struct search_figures, memory));
}

static double wall_of(const struct search *search, size_t index) {
    return median_of(&search->candidate[index], offsetof(struct search_figures, wall));
}

/* ---- measuring -------------------------------------------------------------------------------------------------- */

/* The mean deviation from the median, of all repeated runs; twice that, as few runs make it look small. Begins with
 * what a machine does that has nothing else to do. */
static void learn_noise(struct search *search) {
    double sum = 4 * first_noise / 2, count = 4;
    for (size_t i = 0; i < search->count; i++) {
        const struct candidate *candidate = &search->candidate[i];
        double own = usual_own(search, candidate);
        double gc = candidate->runs > 1 ? gc_of(search, i) : 0;
        for (size_t j = 0; j < candidate->runs && gc > 0; j++) {
            sum += fabs(corrected(&candidate->figures[j], own) / gc - 1);
            count++;
        }
    }
    search->noise = fmin(2 * sum / count, most_noise);
}

/* False: it has not run, and the search has ended or the candidate failed. */
static bool measure(struct search *search, size_t index) {
    struct candidate *candidate = &search->candidate[index];
    struct search_figures figures = {0};
    if (search->ended || candidate->failed || candidate->runs == SEARCH_RUNS) {
        return false;
    }
    switch (search->ports.run(search->ports.context, &candidate->point, &figures)) {
    case SEARCH_RAN:
        search->runs++;
        candidate->figures[candidate->runs++] = figures;
        if (candidate->runs > 1) {
            learn_noise(search);
        }
        return true;
    case SEARCH_FAILED:
        search->runs++;
        candidate->failed = true;
        return false;
    default:
        search->ended = true;
        return false;
    }
}

static bool usable(const struct search *search, size_t index) {
    return search->candidate[index].runs > 0 && !search->candidate[index].failed;
}

/* The candidate of a point, measured at least once. False: it is none, or there is no budget. */
static bool visit(struct search *search, const struct search_point *point, size_t *index) {
    const struct axis_values *eden = &search->space->axis[AXIS_EDEN];
    for (*index = 0; *index < search->count; ++*index) {
        if (memcmp(&search->candidate[*index].point, point, sizeof *point) == 0) {
            return usable(search, *index) || measure(search, *index);
        }
    }
    if (search->ended || (search->count > 0 && eden->number[point->choice[AXIS_EDEN]] > search->memory_most)) {
        return false;
    }
    if (search->count == search->room) {
        size_t room = search->room ? 2 * search->room : 64;
        struct candidate *more = reallocarray(search->candidate, room, sizeof *more);
        if (!more) {
            search->ended = true;
            return false;
        }
        search->candidate = more;
        search->room = room;
    }
    search->candidate[search->count++] = (struct candidate){.point = *point, .first_final = SEARCH_RUNS};
    return measure(search, *index);
}

/* ---- one walk --------------------------------------------------------------------------------------------------- */

struct walk {
    double memory_most; /* bytes */
    double reserve;     /* of the budget, not to be used */
    size_t best;        /* a candidate */
};

static bool may_go_on(const struct search *search, const struct walk *walk) {
    return !search->ended && search->ports.left(search->ports.context) > walk->reserve;
}

/* Whether it is better than the best of the walk: repeats both while noise leaves that open. */
static bool improves(struct search *search, const struct walk *walk, size_t index) {
    size_t best = walk->best;
    if (index == best || !usable(search, index) || memory_of(search, index) > walk->memory_most) {
        return false;
    }
    if (memory_of(search, best) > walk->memory_most) {
        return true;
    }
    for (;;) {
        const struct candidate *challenger = &search->candidate[index], *holder = &search->candidate[best];
        double gc = gc_of(search, best), gain = gc - gc_of(search, index);
        double worth = fmax(worth_share * gc, worth_of_run * wall_of(search, best));
        double doubt = search->noise * gc * sqrt(1 / (double)challenger->runs + 1 / (double)holder->runs);
        if (fabs(gain - worth) > doubt) {
            return gain > worth;
        }
        bool same_work = challenger->figures[0].work == holder->figures[0].work;
        if (same_work || (challenger->runs >= REPEATS && holder->runs >= REPEATS) || !may_go_on(search, walk)) {
            return !same_work && gain > worth;
        }
        if (!measure(search, challenger->runs < holder->runs ? index : best) && search->candidate[index].failed) {
            return false;
        }
    }
}

/* The largest eden that leaves room for so many bytes more than with this one. False: there is none. */
static bool shrink_eden(const struct search *search, struct search_point *point, double excess) {
    const struct axis_values *eden = &search->space->axis[AXIS_EDEN];
    size_t choice = point->choice[AXIS_EDEN];
    double most = eden->number[choice] - excess;
    while (choice > 0 && eden->number[choice] > most) {
        choice--;
    }
    point->choice[AXIS_EDEN] = (uint8_t)choice;
    return eden->number[choice] <= most;
}

/* Tries a value on an axis; the best moves there if it is better. Where it takes more memory than there may be, eden
 * makes room for it. */
static bool step(struct search *search, struct walk *walk, enum search_axis axis, size_t choice) {
    struct search_point point = search->candidate[walk->best].point;
    size_t index;
    point.choice[axis] = (uint8_t)choice;
    if (!may_go_on(search, walk) || !visit(search, &point, &index)) {
        return false;
    }
    double excess = memory_of(search, index) - walk->memory_most;
    if (axis != AXIS_EDEN && excess > 0 &&
        (!shrink_eden(search, &point, excess) || !may_go_on(search, walk) || !visit(search, &point, &index))) {
        return false;
    }
    if (!improves(search, walk, index)) {
        return false;
    }
    walk->best = index;
    return true;
}

static bool step_by(struct search *search, struct walk *walk, enum search_axis axis, int stride) {
    int choice = search->candidate[walk->best].point.choice[axis] + stride;
    return choice >= 0 && choice < (int)search->space->axis[axis].count && step(search, walk, axis, (size_t)choice);
}

/* True: the best has moved. */
static bool walk_axis(struct search *search, struct walk *walk, enum search_axis axis) {
    const struct axis_values *values = &search->space->axis[axis];
    size_t before = walk->best;
    if (!values->ordered) {
        for (size_t choice = 0; choice < values->count; choice++) {
            step(search, walk, axis, choice);
        }
        return walk->best != before;
    }
    for (int stride = (int)values->stride; stride > 0; stride /= 2) {
        bool moved = false;
        while (step_by(search, walk, axis, stride)) {
            moved = true;
        }
        while (!moved && step_by(search, walk, axis, -stride)) {
        }
        if (axis != AXIS_EDEN && walk->best == before) {
            break; /* not even far steps bring anything */
        }
    }
    return walk->best != before;
}

/* The axis of the largest reach at the best that was not walked; SEARCH_AXES: none has any worth walking. */
static enum search_axis next_axis(const struct search *search, const struct walk *walk, unsigned walked) {
    const struct search_figures figures = search_medians(search, walk->best);
    double least = fmax(worth_share * figures.gc, worth_of_run * figures.wall);
    enum search_axis next = SEARCH_AXES;
    for (enum search_axis i = 0; i < SEARCH_AXES; i++) {
        if (i != AXIS_EDEN && !(walked >> i & 1) && figures.reach[i] > least) {
            next = i;
            least = figures.reach[i];
        }
    }
    return next == SEARCH_AXES && !(walked >> AXIS_EDEN & 1) ? AXIS_EDEN : next;
}

static void sweep(struct search *search, struct walk *walk, int most) {
    bool changed = true;
    for (int i = 0; i < most && changed && may_go_on(search, walk); i++) {
        unsigned walked = 0;
        changed = false;
        enum search_axis axis;
        while (may_go_on(search, walk) && (axis = next_axis(search, walk, walked)) < SEARCH_AXES) {
            walked |= 1u << axis;
            changed = walk_axis(search, walk, axis) || changed;
        }
    }
}

/* ---- the phases ------------------------------------------------------------------------------------------------- */

/* Eden from far: up until two steps bring nothing or nothing is left to gain, down until one brings nothing. */
static void scan_eden(struct search *search, struct walk *walk) {
    const struct axis_values *eden = &search->space->axis[AXIS_EDEN];
    struct search_point point = search->candidate[walk->best].point;
    size_t start = point.choice[AXIS_EDEN], index;
    double least = gc_of(search, walk->best), from = least;
    int in_vain = 0;
    for (size_t i = start + eden->stride; i < eden->count && in_vain < 2 && may_go_on(search, walk);
         i += eden->stride) {
        point.choice[AXIS_EDEN] = (uint8_t)i;
        if (!visit(search, &point, &index)) {
            break;
        }
        double gc = gc_of(search, index);
        in_vain = gc < 0.9 * least ? 0 : in_vain + 1;
        least = fmin(least, gc);
        if (gc < worth_of_run * wall_of(search, index)) {
            break;
        }
    }
    for (size_t i = start; i >= eden->stride && may_go_on(search, walk);) {
        i -= eden->stride;
        point.choice[AXIS_EDEN] = (uint8_t)i;
        if (!visit(search, &point, &index) || gc_of(search, index) > from) {
            break;
        }
        from = gc_of(search, index);
    }
}

static size_t best_within(const struct search *search, double memory_most) {
    size_t best = 0;
    for (size_t i = 1; i < search->count; i++) {
        if (usable(search, i) && memory_of(search, i) <= memory_most && gc_of(search, i) < gc_of(search, best)) {
            best = i;
        }
    }
    return best;
}

/* The leanest of those that are as good as the best within the memory, but for noise: what does not help is not to
 * stand in the way of what does. */
static size_t start_within(const struct search *search, double memory_most) {
    size_t best = best_within(search, memory_most), lean = best;
    double limit = (1 + fmax(worth_share, search->noise)) * gc_of(search, best);
    for (size_t i = 0; i < search->count; i++) {
        if (usable(search, i) && gc_of(search, i) <= limit && memory_of(search, i) < memory_of(search, lean)) {
            lean = i;
        }
    }
    return lean;
}

static bool is_finalist(const struct search *search, size_t index) {
    for (size_t i = 0; i < search->finalists; i++) {
        if (search->finalist[i] == index) {
            return true;
        }
    }
    return false;
}

static void add_finalist(struct search *search, size_t index, size_t most) {
    if (search->finalists < most && usable(search, index) && !is_finalist(search, index)) {
        search->finalist[search->finalists++] = index;
    }
}

/* The next best within the memory that is no finalist, if it comes within a tenth and the noise; 0: none. */
static size_t runner_up(const struct search *search, double memory_most) {
    double limit = (1.1 + search->noise) * gc_of(search, best_within(search, memory_most));
    size_t found = 0;
    for (size_t i = 1; i < search->count; i++) {
        if (usable(search, i) && !is_finalist(search, i) && memory_of(search, i) <= memory_most &&
            gc_of(search, i) <= limit && (found == 0 || gc_of(search, i) < gc_of(search, found))) {
            found = i;
        }
    }
    return found;
}

/* As it is, the best within the memory, the best of all, then the front's largest edens and runners-up; as many as can
 * have LEAST_ROUNDS rounds of what is left. */
static void choose_finalists(struct search *search, double memory_most) {
    double left = search->ports.left(search->ports.context);
    double one = (1 - left) / (double)search->runs;
    double rounds = left / (one > 0 ? one : 1) / LEAST_ROUNDS;
    size_t most = rounds >= SEARCH_FINALISTS ? SEARCH_FINALISTS : rounds < 2 ? 2 : (size_t)rounds;
    struct search_finding finding;
    size_t index;
    add_finalist(search, 0, most);
    add_finalist(search, best_within(search, memory_most), most);
    add_finalist(search, best_within(search, INFINITY), most);
    if ((index = runner_up(search, memory_most)) != 0) {
        add_finalist(search, index, most);
    }
    if (search_find(search, &finding)) {
        for (size_t i = finding.front_count; i-- > 0;) {
            add_finalist(search, finding.front[i], most);
        }
        search_finding_clear(&finding);
    }
    while (search->finalists < most && (index = runner_up(search, memory_most)) != 0) {
        add_finalist(search, index, most);
    }
}

static bool run_round(struct search *search) {
    for (size_t i = 0; i < search->finalists && !search->ended; i++) {
        measure(search, search->finalist[search->rounds % 2 ? search->finalists - 1 - i : i]);
    }
    return !search->ended;
}

/* Too few are none: their runs then count as all others do. */
static void run_rounds(struct search *search) {
    if (search->finalists < 2) {
        return;
    }
    for (size_t i = 0; i < search->finalists; i++) {
        struct candidate *candidate = &search->candidate[search->finalist[i]];
        candidate->first_final = candidate->runs;
    }
    while (search->rounds < ROUNDS && run_round(search)) {
        search->rounds++;
    }
    if (search->rounds < ENOUGH_ROUNDS) {
        for (size_t i = 0; i < search->finalists; i++) {
            search->candidate[search->finalist[i]].first_final = SEARCH_RUNS;
        }
        search->finalists = search->rounds = 0;
    }
}

bool search_run(struct search *search, const struct search_point *starts, size_t start_count) {
    struct search_point as_is = search_as_is(search->space);
    struct walk walk = {.memory_most = INFINITY, .reserve = for_rounds};
    size_t index;
    search->noise = first_noise;
    if (!visit(search, &as_is, &index)) {
        return false;
    }
    measure(search, index);
    double memory_most = search->memory_factor * memory_of(search, 0);
    for (size_t i = 0; i < start_count && may_go_on(search, &walk); i++) {
        visit(search, &starts[i], &index);
    }
    walk.best = best_within(search, memory_most);
    scan_eden(search, &walk);
    walk = (struct walk){memory_most, for_front, start_within(search, memory_most)};
    sweep(search, &walk, SWEEPS);
    size_t best = walk.best;
    walk = (struct walk){INFINITY, for_rounds, best_within(search, INFINITY)};
    struct search_point both = search->candidate[best].point;
    both.choice[AXIS_EDEN] = search->candidate[walk.best].point.choice[AXIS_EDEN];
    if (may_go_on(search, &walk)) {
        visit(search, &both, &index);
        walk.best = best_within(search, INFINITY);
        sweep(search, &walk, 1);
    }
    choose_finalists(search, memory_most);
    run_rounds(search);
    return true;
}

void search_clear(struct search *search) {
    free(search->candidate);
    search->candidate = NULL;
    search->count = search->room = 0;
}
