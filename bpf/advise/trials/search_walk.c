/* Walks along axes, from the best point so far, and how one point is found to be better than another.
 *
 * Along an ordered axis the walk goes on while that helps, with a stride that is halved, which is a pattern search; of
 * other axes each value is tried. The axis of the largest reach is walked first, eden last: it gains by taking memory,
 * and what others need is not to be lacking. Where a step on another axis takes more memory than there may be, eden
 * makes room for it.
 *
 * A challenger replaces the best only if its median is less by 2% and by 0.1% of the run, and by what noise explains;
 * while noise leaves it open the two are run again, up to three runs each, or seven where runs are short. Runs whose
 * collections did the same work differ by noise alone, unless by much, and aren't repeated. */
#include "advise/trials/search_parts.h"
#include <math.h>

bool walk_may_go_on(const struct search *search, const struct walk *walk) {
    return !search->ended && search->ports.left(search->ports.context) > walk->reserve;
}

/* Whether it is better than the best of the walk: repeats both while noise leaves that open. */
static bool improves(struct search *search, const struct walk *walk, size_t index) {
    size_t best = walk->best;
    if (index == best || !search_usable(search, index) || search_median_memory(search, index) > walk->memory_most) {
        return false;
    }
    if (!search_usable(search, best) || search_median_memory(search, best) > walk->memory_most) {
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
        if (same_work || (challenger->runs >= most && holder->runs >= most) || !walk_may_go_on(search, walk)) {
            return !same_work && gain > worth;
        }
        if (!search_measure(search, challenger->runs < holder->runs ? index : best)) {
            return !challenger->failed && (holder->failed || gain > worth);
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
    if (!walk_may_go_on(search, walk) || !search_visit(search, &point, &index)) {
        return false;
    }
    double excess = search_median_memory(search, index) - walk->memory_most;
    if (axis != AXIS_EDEN && excess > 0 &&
        (!shrink_eden(search, &point, excess) || !walk_may_go_on(search, walk) ||
         !search_visit(search, &point, &index))) {
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
    double least = fmax(search_worth_share * figures.gc, search_worth_of_run * figures.wall);
    enum search_axis next = SEARCH_AXES;
    for (enum search_axis i = 0; i < SEARCH_AXES; i++) {
        if (i != AXIS_EDEN && !(walked >> i & 1) && figures.reach[i] > least) {
            next = i;
            least = figures.reach[i];
        }
    }
    return next == SEARCH_AXES && !(walked >> AXIS_EDEN & 1) ? AXIS_EDEN : next;
}

void walk_sweep(struct search *search, struct walk *walk, int most) {
    bool changed = true;
    for (int i = 0; i < most && changed && walk_may_go_on(search, walk); i++) {
        unsigned walked = 0;
        changed = false;
        enum search_axis axis;
        while (walk_may_go_on(search, walk) && (axis = next_axis(search, walk, walked)) < SEARCH_AXES) {
            walked |= 1u << axis;
            changed = walk_axis(search, walk, axis) || changed;
        }
    }
}

void walk_prune(struct search *search, struct walk *walk) {
    for (enum search_axis i = 0; i < SEARCH_AXES; i++) {
        struct search_point point = search->candidate[walk->best].point;
        size_t index, as_is = search->space->axis[i].as_is;
        if (i == AXIS_EDEN || point.choice[i] == as_is || !walk_may_go_on(search, walk)) {
            continue;
        }
        point.choice[i] = (uint8_t)as_is;
        if (search_visit(search, &point, &index) && search_median_memory(search, index) <= walk->memory_most &&
            search_median_gc(search, index) <= (1 + search_worth_share) * search_median_gc(search, walk->best)) {
            walk->best = index;
        }
    }
}

/* Eden from far: up until two steps bring nothing or nothing is left to gain, down until one brings nothing. */
void walk_scan_eden(struct search *search, const struct walk *walk) {
    const struct axis_values *eden = &search->space->axis[AXIS_EDEN];
    struct search_point point = search->candidate[walk->best].point;
    size_t start = point.choice[AXIS_EDEN], index;
    double least = search_median_gc(search, walk->best), from = least;
    int in_vain = 0;
    for (size_t i = start + eden->stride; i < eden->count && in_vain < 2 && walk_may_go_on(search, walk);
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
    for (size_t i = start; i >= eden->stride && walk_may_go_on(search, walk);) {
        i -= eden->stride;
        point.choice[AXIS_EDEN] = (uint8_t)i;
        if (!search_visit(search, &point, &index) || search_median_gc(search, index) > from) {
            break;
        }
        from = search_median_gc(search, index);
    }
}
