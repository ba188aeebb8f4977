/* A search for parameters.
 *
 * 1. Purpose. Find the parameters with which a program spends least time in collections, within a bound on memory. The
 *    space has some ten axes; the budget allows some thirty runs, or up to four hundred short ones.
 *
 * 2. Terms. A point is a choice on each axis (search_space.h); a candidate is a point that has been run. The gain bound
 *    of an axis is the part of a run's time in collections that the axis can change at all: full_gc_ratio changes only
 *    the full collections that growth caused. An axis without a gain bound costs no run. The front is the best time for
 *    each amount of memory.
 *
 * 3. Algorithm. The objective is the time in collections, not the total time: total time varies by more than most
 *    parameters gain. Total time decides at the end only: a finalist that slows the whole program is not recommended.
 *    a. Run the program as it is, twice, which also measures the noise; then the proposed options.
 *    b. Scan eden from there upwards by factors of four, and downwards while that helps. Eden matters to every program,
 *       costs memory, and its curve has steps. These points are the skeleton of the front.
 *    c. From the best point within the memory, search axis by axis, the largest gain bound first, in sweeps until one
 *       changes nothing: axes depend on each other, since a larger eden leaves less to tenure. Scan eden again, for
 *       the other axes may have moved its optimum. Then remove each option that gains nothing.
 *    d. The same in one sweep, from the best point whatever its memory, for the front.
 *    e. Finals: run the finalists in rounds. Their medians decide.
 *    If the budget allows for more runs than this needs, each point is run two or three times: short runs are noisy.
 *
 * 4. Failure. Missed: a valley narrower than the stride; two axes that help only together. A program that does
 *    different work in each run hides differences in its noise. A machine that slows down during a sweep makes later
 *    points look worse. If the budget ends early, the best so far is reported, after fewer rounds.
 *
 * 5. References. Hooke and Jeeves, "Direct Search Solution of Numerical and Statistical Problems" (1961), for the
 *    search along an axis. Noise and finals have essays of their own below. */
#include "advise/trials/search.h"
#include "util/array.h"
#include "util/whole.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Measurements and their noise.
 *
 * Other load on the machine slows the program and its collections alike, for minutes. So a run's time in collections is
 * corrected by the time of the program itself in that run, relative to the median of all runs with the same eden: the
 * other parameters hardly change the program's own time, but eden does, through the caches. While an eden has few runs,
 * its median is drawn towards that of all runs. In finals all finalists ran in the same minutes: there only the runs of
 * the rounds count, and finalists are compared round by round. On a busy machine this at least halves the noise.
 *
 * The remaining noise is the mean deviation from the median, over all points that were run more than once. */

/* Gains that count: shares of gc, and of the run; and the deviation of gc from run to run, before anything is known. */
static const double search_worth_share = 0.02, search_worth_of_run = 1e-3, search_first_noise = 0.05;
static const double most_noise = 0.30;

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
    return stats_of(values, candidate->runs - first).median;
}

/* The median of what the program itself takes, in all runs or in those with one eden; `count`: how many. A hundred runs
 * are enough. */
static double median_own(const struct search *search, const uint8_t *eden, size_t *count) {
    double own[STATS_MOST];
    *count = 0;
    for (size_t i = 0; i < search->count; i++) {
        const struct candidate *candidate = &search->candidate[i];
        bool counts = !eden || candidate->point.choice[AXIS_EDEN] == *eden;
        for (size_t j = 0; counts && j < candidate->runs && *count < STATS_MOST; j++) {
            own[(*count)++] = candidate->figures[j].own;
        }
    }
    return stats_of(own, *count).median;
}

/* Outside of rounds: the median of all runs with the candidate's eden, drawn to the median of all as far as they are
 * few, as those were made at other times. */
static double usual_own_of_all(const struct search *search, const struct candidate *like) {
    size_t same_count, all_count;
    double same = median_own(search, &like->point.choice[AXIS_EDEN], &same_count);
    double all = median_own(search, NULL, &all_count), weight = (double)same_count / (double)(same_count + 3);
    return weight * same + (1 - weight) * all;
}

/* In rounds: how it compares with all finalists of a round, which is a matter of eden, times what is usual in all. */
static double usual_own_in_rounds(const struct search *search, const struct candidate *like) {
    double ratio[SEARCH_RUNS];
    size_t rounds = like->runs - like->first_final, count;
    for (size_t i = 0; i < rounds; i++) {
        double own[SEARCH_FINALISTS + 1] = {like->figures[like->first_final + i].own};
        count = 1;
        for (size_t j = 0; j < search->finalists; j++) {
            const struct candidate *finalist = &search->candidate[search->finalist[j]];
            if (finalist != like && finalist->first_final + i < finalist->runs) {
                own[count++] = finalist->figures[finalist->first_final + i].own;
            }
        }
        double pace = stats_of(own, count).median;
        ratio[i] = pace > 0 ? own[0] / pace : 1;
    }
    return stats_of(ratio, rounds).median * median_own(search, NULL, &count);
}

static double usual_own(const struct search *search, const struct candidate *like) {
    return first_run(like) > 0 ? usual_own_in_rounds(search, like) : usual_own_of_all(search, like);
}

/* One run's gc, as on a machine on which the program itself takes what it usually does. */
static double corrected(const struct search_figures *figures, double own) {
    return figures->own > 0 && own > 0 ? figures->gc * own / figures->own : figures->gc;
}

double search_gc(const struct search *search, size_t index, size_t run) {
    const struct candidate *candidate = &search->candidate[index];
    return corrected(&candidate->figures[run], usual_own(search, candidate));
}

/* Medians of a candidate that has run; gc is corrected. */
static double search_median_gc(const struct search *search, size_t index) {
    const struct candidate *candidate = &search->candidate[index];
    double own = usual_own(search, candidate), values[SEARCH_RUNS];
    size_t first = first_run(candidate);
    for (size_t i = first; i < candidate->runs; i++) {
        values[i - first] = corrected(&candidate->figures[i], own);
    }
    return stats_of(values, candidate->runs - first).median;
}

struct search_figures search_medians(const struct search *search, size_t index) {
    const struct candidate *candidate = &search->candidate[index];
    struct search_figures figures = candidate->figures[candidate->runs - 1];
    figures.gc = search_median_gc(search, index);
    figures.own = median_of(candidate, offsetof(struct search_figures, own));
    figures.cpu = median_of(candidate, offsetof(struct search_figures, cpu));
    figures.wall = median_of(candidate, offsetof(struct search_figures, wall));
    figures.pause = median_of(candidate, offsetof(struct search_figures, pause));
    figures.memory = median_of(candidate, offsetof(struct search_figures, memory));
    return figures;
}

static double search_median_memory(const struct search *search, size_t index) {
    return median_of(&search->candidate[index], offsetof(struct search_figures, memory));
}

static double search_median_wall(const struct search *search, size_t index) {
    return median_of(&search->candidate[index], offsetof(struct search_figures, wall));
}

/* ---- measuring -------------------------------------------------------------------------------------------------- */

/* The mean deviation from the median, of all repeated runs; twice that, as few runs make it look small. Begins with
 * what a machine does that has nothing else to do. */
static void learn_noise(struct search *search) {
    double sum = 4 * search_first_noise / 2, count = 4;
    for (size_t i = 0; i < search->count; i++) {
        const struct candidate *candidate = &search->candidate[i];
        double own = usual_own(search, candidate);
        double gc = candidate->runs > 1 ? search_median_gc(search, i) : 0;
        for (size_t j = 0; j < candidate->runs && gc > 0; j++) {
            sum += fabs(corrected(&candidate->figures[j], own) / gc - 1);
            count++;
        }
    }
    search->noise = fmin(2 * sum / count, most_noise);
}

/* False: it has not run, and the search has ended or the candidate failed. */
static bool search_measure(struct search *search, size_t index) {
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

/* it has run, and not failed */
static bool search_usable(const struct search *search, size_t index) {
    return search->candidate[index].runs > 0 && !search->candidate[index].failed;
}

bool search_is_finalist(const struct search *search, size_t index) {
    for (size_t i = 0; i < search->finalists; i++) {
        if (search->finalist[i] == index) {
            return true;
        }
    }
    return false;
}

/* The candidate of a point, measured at least once. False: it is none, or there is no budget. */
static bool search_visit(struct search *search, const struct search_point *point, size_t *index) {
    const struct axis_values *eden = &search->space->axis[AXIS_EDEN];
    for (*index = 0; *index < search->count; ++*index) {
        if (memcmp(&search->candidate[*index].point, point, sizeof *point) == 0) {
            return search_usable(search, *index) || search_measure(search, *index);
        }
    }
    if (search->ended || (search->count > 0 && eden->number[point->choice[AXIS_EDEN]] > search->memory_most)) {
        return false;
    }
    struct candidate *candidate =
        array_grow(&search->candidate, &search->room, search->count, sizeof *search->candidate);
    if (!candidate) {
        search->ended = true;
        return false;
    }
    *candidate = (struct candidate){.point = *point, .first_final = SEARCH_RUNS};
    search->count++;
    for (size_t i = 0; i < search->repeats && search_measure(search, *index); i++) {
    }
    return search_usable(search, *index);
}

/* The least gc within the memory; 0 where none is. */
static size_t search_best_within(const struct search *search, double memory_most) {
    size_t best = 0;
    for (size_t i = 1; i < search->count; i++) {
        if (search_usable(search, i) && search_median_memory(search, i) <= memory_most &&
            search_median_gc(search, i) < search_median_gc(search, best)) {
            best = i;
        }
    }
    return best;
}

/* Walks along axes, from the best point so far, and how one point is found to be better than another.
 *
 * Along an ordered axis the search goes on while that helps, and then halves its stride (pattern search); on other axes
 * it tries each value. The axis of the largest gain bound comes first, eden last: it gains by taking memory,
 * and what others need is not to be lacking. Where a step on another axis takes more memory than there may be, eden
 * makes room for it.
 *
 * A challenger replaces the best only if its median is less by 2% and by 0.1% of the run, and by what noise explains;
 * while noise leaves it open the two are run again, up to three runs each, or seven where runs are short. Runs whose
 * collections did the same work differ by noise alone, unless by much, and aren't repeated. */

struct coordinate_search {
    double memory_most; /* bytes */
    double reserve;     /* of the budget, not to be used */
    size_t best;        /* a candidate */
};

static bool coordinate_may_go_on(const struct search *search, const struct coordinate_search *path) {
    return !search->ended && search->ports.left(search->ports.context) > path->reserve;
}

/* Whether it is better than the best of the search: repeats both while noise leaves that open. */
static bool improves(struct search *search, const struct coordinate_search *path, size_t index) {
    size_t best = path->best;
    if (index == best || !search_usable(search, index) || search_median_memory(search, index) > path->memory_most) {
        return false;
    }
    if (!search_usable(search, best) || search_median_memory(search, best) > path->memory_most) {
        return true;
    }
    const size_t most = 2 * search->repeats + 1;
    for (;;) {
        const struct candidate *challenger = &search->candidate[index], *holder = &search->candidate[best];
        double gc = search_median_gc(search, best), gain = gc - search_median_gc(search, index);
        double worth = fmax(search_worth_share * gc, search_worth_of_run * search_median_wall(search, best));
        double doubt = search->noise * gc * sqrt(1 / (double)challenger->runs + 1 / (double)holder->runs);
        if (fabs(gain - worth) > doubt) {
            return gain > worth;
        }
        bool same_work = challenger->figures[0].work == holder->figures[0].work;
        if (same_work || (challenger->runs >= most && holder->runs >= most) || !coordinate_may_go_on(search, path)) {
            return !same_work && gain > worth;
        }
        if (!search_measure(search, challenger->runs < holder->runs ? index : best)) {
            return !challenger->failed && (holder->failed || gain > worth);
        }
    }
}

/* The largest eden that uses `excess` bytes less than this one. False: there is none. */
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
static bool step(struct search *search, struct coordinate_search *path, enum search_axis axis, size_t choice) {
    struct search_point point = search->candidate[path->best].point;
    size_t index;
    point.choice[axis] = (uint8_t)choice;
    if (!coordinate_may_go_on(search, path) || !search_visit(search, &point, &index)) {
        return false;
    }
    double excess = search_median_memory(search, index) - path->memory_most;
    if (axis != AXIS_EDEN && excess > 0 &&
        (!shrink_eden(search, &point, excess) || !coordinate_may_go_on(search, path) ||
         !search_visit(search, &point, &index))) {
        return false;
    }
    if (!improves(search, path, index)) {
        return false;
    }
    path->best = index;
    return true;
}

static bool step_by(struct search *search, struct coordinate_search *path, enum search_axis axis, int stride) {
    int choice = search->candidate[path->best].point.choice[axis] + stride;
    return choice >= 0 && choice < (int)search->space->axis[axis].count && step(search, path, axis, (size_t)choice);
}

/* True: the best has moved. */
static bool coordinate_axis(struct search *search, struct coordinate_search *path, enum search_axis axis) {
    const struct axis_values *values = &search->space->axis[axis];
    size_t before = path->best;
    if (!values->ordered) {
        for (size_t choice = 0; choice < values->count; choice++) {
            step(search, path, axis, choice);
        }
        return path->best != before;
    }
    for (int stride = (int)values->stride; stride > 0; stride /= 2) {
        bool moved = false;
        while (step_by(search, path, axis, stride)) {
            moved = true;
        }
        while (!moved && step_by(search, path, axis, -stride)) {
        }
        if (axis != AXIS_EDEN && path->best == before) {
            break; /* not even far steps bring anything */
        }
    }
    return path->best != before;
}

/* The axis of the largest gain bound at the best point that has not been searched; SEARCH_AXES: none is worth it. */
static enum search_axis next_axis(const struct search *search, const struct coordinate_search *path,
                                  unsigned searched) {
    const struct search_figures figures = search_medians(search, path->best);
    double least = fmax(search_worth_share * figures.gc, search_worth_of_run * figures.wall);
    enum search_axis next = SEARCH_AXES;
    for (enum search_axis i = 0; i < SEARCH_AXES; i++) {
        if (i != AXIS_EDEN && !(searched >> i & 1) && figures.gain_bound[i] > least) {
            next = i;
            least = figures.gain_bound[i];
        }
    }
    return next == SEARCH_AXES && !(searched >> AXIS_EDEN & 1) ? AXIS_EDEN : next;
}

/* Searches along all axes with a gain bound, in at most `most` sweeps, until one changes nothing. */
static void coordinate_sweep(struct search *search, struct coordinate_search *path, int most) {
    bool changed = true;
    for (int i = 0; i < most && changed && coordinate_may_go_on(search, path); i++) {
        unsigned searched = 0;
        changed = false;
        enum search_axis axis;
        while (coordinate_may_go_on(search, path) && (axis = next_axis(search, path, searched)) < SEARCH_AXES) {
            searched |= 1u << axis;
            changed = coordinate_axis(search, path, axis) || changed;
        }
    }
}

/* Removes each option of the best point that gains nothing. Not eden, which was searched last. */
static void coordinate_prune(struct search *search, struct coordinate_search *path) {
    for (enum search_axis i = 0; i < SEARCH_AXES; i++) {
        struct search_point point = search->candidate[path->best].point;
        size_t index, as_is = search->space->axis[i].as_is;
        if (i == AXIS_EDEN || point.choice[i] == as_is || !coordinate_may_go_on(search, path)) {
            continue;
        }
        point.choice[i] = (uint8_t)as_is;
        if (search_visit(search, &point, &index) && search_median_memory(search, index) <= path->memory_most &&
            search_median_gc(search, index) <= (1 + search_worth_share) * search_median_gc(search, path->best)) {
            path->best = index;
        }
    }
}

/* Eden from far: up until two steps bring nothing or nothing is left to gain, down until one brings nothing. */
static void coordinate_scan_eden(struct search *search, const struct coordinate_search *path) {
    const struct axis_values *eden = &search->space->axis[AXIS_EDEN];
    struct search_point point = search->candidate[path->best].point;
    size_t start = point.choice[AXIS_EDEN], index;
    double least = search_median_gc(search, path->best), from = least;
    int in_vain = 0;
    for (size_t i = start + eden->stride; i < eden->count && in_vain < 2 && coordinate_may_go_on(search, path);
         i += eden->stride) {
        point.choice[AXIS_EDEN] = (uint8_t)i;
        if (!search_visit(search, &point, &index)) {
            break;
        }
        double gc = search_median_gc(search, index);
        in_vain = gc < 0.9 * least ? 0 : in_vain + 1;
        least = fmin(least, gc);
        if (gc < search_worth_of_run * search_median_wall(search, index)) {
            break;
        }
    }
    for (size_t i = start; i >= eden->stride && coordinate_may_go_on(search, path);) {
        i -= eden->stride;
        point.choice[AXIS_EDEN] = (uint8_t)i;
        if (!search_visit(search, &point, &index) || search_median_gc(search, index) > from) {
            break;
        }
        from = search_median_gc(search, index);
    }
}

/* Finals: the finalists are run in rounds, one run each, in random order; their medians decide.
 *
 * 1. Purpose. A machine changes its pace for seconds or minutes, by more than most points differ. Runs of different
 *    minutes cannot be compared, but the runs of one round share theirs: ratios are compared round by round. These
 *    runs are not those by which a finalist was chosen, so a finalist that was lucky is found out.
 *
 * 2. Finalists. The program as it is, the end of the search, the best point within the memory and the best of all, the
 *    front's largest edens, and runners-up within the memory, up to half as slow again: they may have been unlucky. A
 *    runner-up whose collections do the same work as a finalist's is left out. There are as many finalists as the
 * budget allows LEAST_ROUNDS rounds for.
 *
 * 3. Algorithm. From the fifth round on a finalist that another one beats beyond doubt (sign test, stats.c) is dropped,
 *    which leaves more rounds to the others. After FINAL_ROUNDS rounds the leader's neighbours along eden are tried:
 * the search may have passed over one. If there are new ones, another final begins, with them and the finalists that
 * are left; earlier rounds then count as any other run. If a final is interrupted, the results of the one before stand.
 *
 * 4. Failure. A budget that ends early leaves fewer rounds, or none. A best point that is neither on the path of the
 *    search nor next to a leader is missed. */

enum { ROUNDS = 31, FINAL_ROUNDS = 5, FINALS = 3, LEAST_ROUNDS = 5, ENOUGH_ROUNDS = 3, NEIGHBOURS = 2 };
_Static_assert((FINALS - 1) * FINAL_ROUNDS + ROUNDS + 16 <= SEARCH_RUNS, "room for all rounds, and the searches' runs");

static const double may_be_unlucky = 1.5; /* as slow as that may a runner-up look */

/* ---- who -------------------------------------------------------------------------------------------------------- */

/* Whether its collections do the same as a finalist's, in the same way. */
static bool is_represented(const struct search *search, size_t index) {
    const struct candidate *candidate = &search->candidate[index];
    static const enum search_axis ways[] = {AXIS_COMPACTOR, AXIS_REMEMBERED, AXIS_SHRINK};
    for (size_t i = 0; i < search->finalists; i++) {
        const struct candidate *finalist = &search->candidate[search->finalist[i]];
        bool same = finalist->figures[0].work == candidate->figures[0].work;
        for (size_t j = 0; j < sizeof ways / sizeof *ways && same; j++) {
            same = finalist->point.choice[ways[j]] == candidate->point.choice[ways[j]];
        }
        if (same) {
            return true;
        }
    }
    return false;
}

static void add_finalist(struct search *search, size_t index, size_t most) {
    if (search->finalists < most && search_usable(search, index) && !search_is_finalist(search, index)) {
        search->finalist[search->finalists++] = index;
    }
}

/* The next best within the memory that is not represented; 0: none. */
static size_t runner_up(const struct search *search, double memory_most) {
    double limit = may_be_unlucky * search_median_gc(search, search_best_within(search, memory_most));
    size_t found = 0;
    for (size_t i = 1; i < search->count; i++) {
        if (search_usable(search, i) && !is_represented(search, i) && search_median_memory(search, i) <= memory_most &&
            search_median_gc(search, i) <= limit &&
            (found == 0 || search_median_gc(search, i) < search_median_gc(search, found))) {
            found = i;
        }
    }
    return found;
}

/* How many runs are left in the budget, if they take as long as those before. */
static size_t runs_left(const struct search *search) {
    double left = search->ports.left(search->ports.context), used = 1 - left;
    return used > 0 ? whole_of(left / used * (double)search->runs) : SIZE_MAX;
}

static void choose_finalists(struct search *search, double memory_most, size_t found) {
    const size_t affordable = runs_left(search) / LEAST_ROUNDS;
    const size_t most = affordable < 2 ? 2 : affordable < SEARCH_FINALISTS ? affordable : SEARCH_FINALISTS;
    struct search_finding finding;
    size_t index;
    add_finalist(search, 0, most);
    add_finalist(search, found, most);
    add_finalist(search, search_best_within(search, memory_most), most);
    add_finalist(search, search_best_within(search, INFINITY), most);
    if ((index = runner_up(search, memory_most)) != 0) {
        add_finalist(search, index, most);
    }
    if (search_find(search, &finding)) {
        for (size_t i = finding.front_count; i-- > 0;) {
            if (!is_represented(search, finding.front[i])) {
                add_finalist(search, finding.front[i], most);
            }
        }
        search_finding_clear(&finding);
    }
    while (search->finalists < most && (index = runner_up(search, memory_most)) != 0) {
        add_finalist(search, index, most);
    }
}

/* ---- rounds ----------------------------------------------------------------------------------------------------- */

/* Whether a finalist has lost to another: it failed, or takes more time in collections beyond doubt and by what counts,
 * with nothing to say for it: no less CPU time in all, and no less memory than another that takes too much. Times are
 * as measured: what corrects them is the same for all rounds of a finalist, and the sign test wants rounds that have
 * nothing to do with each other. */
static bool has_lost(const struct search *search, size_t index, size_t other, double memory_most) {
    const struct candidate *loser = &search->candidate[index], *winner = &search->candidate[other];
    double from[SEARCH_RUNS], to[SEARCH_RUNS];
    if (loser->failed || winner->failed) {
        return loser->failed;
    }
    double memory = search_median_memory(search, other);
    if (memory > memory_most && memory > search_median_memory(search, index)) {
        return false;
    }
    for (size_t i = 0; i < search->rounds; i++) {
        from[i] = winner->figures[winner->first_final + i].gc;
        to[i] = loser->figures[loser->first_final + i].gc;
    }
    struct stats ratio = stats_of_ratios(from, to, search->rounds), cpu = search_cpu_ratio(search, other, index);
    double lost = stats_of(to, search->rounds).median - stats_of(from, search->rounds).median;
    return stats_verdict(&ratio) == VERDICT_MORE && ratio.median > 1 + 2 * search_worth_share && cpu.median >= 1 &&
           lost > search_worth_of_run * search_median_wall(search, other);
}

/* The program as it is stays, as all are compared with it. */
static void drop_losers(struct search *search, double memory_most) {
    size_t kept = 1;
    bool lost[SEARCH_FINALISTS] = {0};
    for (size_t i = 1; i < search->finalists; i++) {
        for (size_t j = 0; j < search->finalists && !lost[i]; j++) {
            lost[i] = i != j && has_lost(search, search->finalist[i], search->finalist[j], memory_most);
        }
    }
    for (size_t i = 1; i < search->finalists; i++) {
        if (!lost[i]) {
            search->finalist[kept++] = search->finalist[i];
        }
    }
    search->finalists = kept;
}

/* An order that has nothing to do with any other, as what else the machine does may have a rhythm of its own. The same
 * for the same seed, so that a search can be repeated. */
static void shuffle(size_t *order, size_t count, uint64_t seed) {
    for (size_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (size_t i = count; i > 1; i--) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t other = (size_t)((seed >> 33) % i), held = order[i - 1];
        order[i - 1] = order[other];
        order[other] = held;
    }
}

/* Every other round has the order of the one before, reversed, so that a machine that slows down slows all alike.
 * False: the search has ended in the middle of it. */
static bool run_round(struct search *search) {
    size_t order[SEARCH_FINALISTS], count = search->finalists;
    shuffle(order, count, search->rounds / 2);
    for (size_t i = 0; i < count && !search->ended; i++) {
        search_measure(search, search->finalist[order[search->rounds % 2 ? count - 1 - i : i]]);
    }
    return !search->ended;
}

static void run_rounds(struct search *search, double memory_most, size_t rounds) {
    while (search->finalists > 1 && search->rounds < rounds && run_round(search)) {
        search->rounds++;
        drop_losers(search, memory_most);
    }
}

/* The finalist of the least gc within the memory; `found` if there is none. */
static size_t leader_of(const struct search *search, double memory_most, size_t found) {
    size_t leader = found;
    double least = INFINITY;
    for (size_t i = 0; i < search->finalists; i++) {
        size_t index = search->finalist[i];
        if (!search->candidate[index].failed && search_median_memory(search, index) <= memory_most &&
            search_median_gc(search, index) < least) {
            leader = index;
            least = search_median_gc(search, index);
        }
    }
    return leader;
}

/* From here on the finalists' runs are those of rounds; what was run before counts as any other run does. */
static void begin_rounds(struct search *search) {
    for (size_t i = 0; i < search->count; i++) {
        search->candidate[i].first_final = SEARCH_RUNS;
    }
    for (size_t i = 0; i < search->finalists; i++) {
        struct candidate *candidate = &search->candidate[search->finalist[i]];
        candidate->first_final = candidate->runs;
    }
    search->rounds = 0;
}

/* The next smaller and larger edens are finalists, where they were not measured before and fit, and where the budget is
 * enough to have them all run in rounds. True: there are such. */
static bool add_neighbours(struct search *search, size_t of, double memory_most) {
    const struct search_point best = search->candidate[of].point;
    const size_t measured = search->count, before = search->finalists;
    for (int way = -NEIGHBOURS; way <= NEIGHBOURS; way++) {
        struct search_point point = best;
        int choice = best.choice[AXIS_EDEN] + way;
        size_t index;
        if (way != 0 && choice >= 0 && choice < (int)search->space->axis[AXIS_EDEN].count &&
            runs_left(search) > (search->finalists + 1) * FINAL_ROUNDS + search->repeats) {
            point.choice[AXIS_EDEN] = (uint8_t)choice;
            if (search_visit(search, &point, &index) && index >= measured &&
                search_median_memory(search, index) <= memory_most) {
                add_finalist(search, index, SEARCH_FINALISTS);
            }
        }
    }
    if (search->ended) {
        search->finalists = before;
    }
    return search->finalists > before;
}

/* The state of a final. */
struct final {
    size_t finalist[SEARCH_FINALISTS], first_final[SEARCH_FINALISTS], finalists, rounds;
};

static struct final final_of(const struct search *search) {
    struct final final = {.finalists = search->finalists, .rounds = search->rounds};
    for (size_t i = 0; i < final.finalists; i++) {
        final.finalist[i] = search->finalist[i];
        final.first_final[i] = search->candidate[final.finalist[i]].first_final;
    }
    return final;
}

static void return_to(struct search *search, const struct final *final) {
    search->finalists = 0;
    begin_rounds(search);
    for (size_t i = 0; i < final->finalists; i++) {
        search->finalist[i] = final->finalist[i];
        search->candidate[final->finalist[i]].first_final = final->first_final[i];
    }
    search->finalists = final->finalists;
    search->rounds = final->rounds;
}

/* Runs the finalists in rounds, with what is left of the budget. `found`: where the search within the memory ended. */
static void search_finals(struct search *search, double memory_most, size_t found) {
    struct final last = {0}; /* none: without rounds, all runs count */
    if (!search_usable(search, 0)) {
        return;
    }
    choose_finalists(search, memory_most, found);
    begin_rounds(search);
    for (int final = 1; final < FINALS; final++) {
        run_rounds(search, memory_most, FINAL_ROUNDS);
        if (search->rounds < FINAL_ROUNDS) {
            break;
        }
        struct final done = final_of(search);
        if (!add_neighbours(search, leader_of(search, memory_most, found), memory_most)) {
            break;
        }
        last = done;
        begin_rounds(search);
    }
    run_rounds(search, memory_most, ROUNDS);
    if (search->rounds < ENOUGH_ROUNDS) {
        return_to(search, &last);
    }
}

static const double for_rounds = 0.33; /* of the budget */
static const double for_front = 0.42;  /* what is left of it when searches within the memory end */

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

/* How often each point can be run if there are a hundred, which is more than the searches come to. */
static size_t affordable_repeats(const struct search *search) {
    double used = 1 - search->ports.left(search->ports.context);
    double repeats = used > 0 ? (double)search->runs / used / 100 : MOST_REPEATS;
    return (size_t)fmin(fmax(repeats, 1), MOST_REPEATS);
}

bool search_run(struct search *search, const struct search_point *starts, size_t start_count) {
    struct search_point as_is = search_as_is(search->space);
    struct coordinate_search path = {.memory_most = INFINITY, .reserve = for_rounds};
    size_t index;
    search->noise = search_first_noise;
    search->repeats = 1;
    if (!search_visit(search, &as_is, &index)) {
        return false;
    }
    search_measure(search, index);
    search->repeats = affordable_repeats(search);
    double memory_most = search->memory_factor * search_median_memory(search, 0);
    for (size_t i = 0; i < start_count && coordinate_may_go_on(search, &path); i++) {
        search_visit(search, &starts[i], &index);
    }
    path.best = search_best_within(search, memory_most);
    coordinate_scan_eden(search, &path);
    path = (struct coordinate_search){memory_most, for_front, start_within(search, memory_most)};
    coordinate_sweep(search, &path, SWEEPS);
    coordinate_scan_eden(search, &path);
    if (search_best_within(search, memory_most) != path.best) {
        path.best = search_best_within(search, memory_most);
        coordinate_sweep(search, &path, 1);
    }
    path.reserve = for_rounds;
    coordinate_prune(search, &path);
    size_t best = path.best;
    path = (struct coordinate_search){INFINITY, for_rounds, search_best_within(search, INFINITY)};
    struct search_point both = search->candidate[best].point;
    both.choice[AXIS_EDEN] = search->candidate[path.best].point.choice[AXIS_EDEN];
    if (coordinate_may_go_on(search, &path)) {
        search_visit(search, &both, &index);
        path.best = search_best_within(search, INFINITY);
        coordinate_sweep(search, &path, 1);
    }
    search_finals(search, memory_most, best);
    return true;
}

void search_clear(struct search *search) {
    free(search->candidate);
    search->candidate = NULL;
    search->count = search->room = 0;
}
