/* Measuring, and what a measurement is worth.
 *
 * Noise. What else the machine does slows the program and its collections alike, and for minutes. So a run's time in
 * collections is corrected by how the program itself fared in that run, against the median of all runs with the same
 * eden: other parameters hardly touch the program itself, but eden does, through the caches. As long as an eden has few
 * runs, what is usual with it is drawn to what is usual in all. In rounds, where all finalists ran in the same minutes,
 * only those runs count, and each finalist is compared with the others round by round. On a busy machine this halves
 * the noise, or better.
 *
 * What remains is the mean deviation from the median, of all that was run repeatedly. */
#include "advise/trials/search_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const double search_worth_share = 0.02, search_worth_of_run = 1e-3, search_first_noise = 0.05;
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
    return spread_of(values, candidate->runs - first).median;
}

/* The median of what the program itself takes, in all runs or in those with one eden; `count`: how many. A hundred runs
 * are enough. */
static double median_own(const struct search *search, const uint8_t *eden, size_t *count) {
    double own[SPREAD_MOST];
    *count = 0;
    for (size_t i = 0; i < search->count; i++) {
        const struct candidate *candidate = &search->candidate[i];
        bool counts = !eden || candidate->point.choice[AXIS_EDEN] == *eden;
        for (size_t j = 0; counts && j < candidate->runs && *count < SPREAD_MOST; j++) {
            own[(*count)++] = candidate->figures[j].own;
        }
    }
    return spread_of(own, *count).median;
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
        double pace = spread_of(own, count).median;
        ratio[i] = pace > 0 ? own[0] / pace : 1;
    }
    return spread_of(ratio, rounds).median * median_own(search, NULL, &count);
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

double search_median_gc(const struct search *search, size_t index) {
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
    figures.gc = search_median_gc(search, index);
    figures.own = median_of(candidate, offsetof(struct search_figures, own));
    figures.cpu = median_of(candidate, offsetof(struct search_figures, cpu));
    figures.wall = median_of(candidate, offsetof(struct search_figures, wall));
    figures.pause = median_of(candidate, offsetof(struct search_figures, pause));
    figures.memory = median_of(candidate, offsetof(struct search_figures, memory));
    return figures;
}

double search_median_memory(const struct search *search, size_t index) {
    return median_of(&search->candidate[index], offsetof(struct search_figures, memory));
}

double search_median_wall(const struct search *search, size_t index) {
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
bool search_measure(struct search *search, size_t index) {
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

bool search_usable(const struct search *search, size_t index) {
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
bool search_visit(struct search *search, const struct search_point *point, size_t *index) {
    const struct axis_values *eden = &search->space->axis[AXIS_EDEN];
    for (*index = 0; *index < search->count; ++*index) {
        if (memcmp(&search->candidate[*index].point, point, sizeof *point) == 0) {
            return search_usable(search, *index) || search_measure(search, *index);
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
    for (size_t i = 0; i < search->repeats && search_measure(search, *index); i++) {
    }
    return search_usable(search, *index);
}

size_t search_best_within(const struct search *search, double memory_most) {
    size_t best = 0;
    for (size_t i = 1; i < search->count; i++) {
        if (search_usable(search, i) && search_median_memory(search, i) <= memory_most &&
            search_median_gc(search, i) < search_median_gc(search, best)) {
            best = i;
        }
    }
    return best;
}
