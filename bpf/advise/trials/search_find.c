/* What a search has found: the front, the point to recommend, and whether a larger eden was for nothing.
 *
 * The front is of the time in collections against memory: each point has less of the one than all with less of the
 * other, by more than 2%, so that noise adds none.
 *
 * The recommended point has the least time in collections of those within the memory. Of points that are as good, that
 * is within 2% or 0.1% of the run, it is the one with the fewest options, then the one of the least memory: an option
 * that gains nothing is one more thing to explain. It must have been run in the rounds, if there were any, and not be
 * slower in all: a finalist whose CPU time was more than the program's as it is in each of five rounds or more, and by
 * 2% on the median, is not recommended. And it must be seen to be better than the program as it is: in nine rounds of
 * ten, and by more than noise explains. CPU time, as it suffers less from what else the machine does.
 *
 * eden.cache: two finalists that differ in eden alone: the larger has less time in collections, and yet more
 * CPU time in each round, by 2% on the median; of five rounds at least. Then the program itself became slower, which is
 * what happens when eden no longer fits into a cache, or when fresh memory must be got from the system for it. */
#include "advise/trials/search.h"
#include <math.h>
#include <stdlib.h>

static const double alike_share = 0.02, alike_of_run = 1e-3, slower = 1.02;

static double cpu_of(const struct search *search, size_t index, size_t round) {
    const struct candidate *candidate = &search->candidate[index];
    return candidate->figures[candidate->first_final + round].cpu;
}

/* A finalist that ran in all rounds. */
static bool has_rounds(const struct search *search, size_t index) {
    return search_is_finalist(search, index) && !search->candidate[index].failed;
}

struct stats search_cpu_ratio(const struct search *search, size_t a, size_t b) {
    double from[SEARCH_RUNS], to[SEARCH_RUNS];
    size_t rounds = has_rounds(search, a) && has_rounds(search, b) ? search->rounds : 0;
    for (size_t i = 0; i < rounds; i++) {
        from[i] = cpu_of(search, a, i);
        to[i] = cpu_of(search, b, i);
    }
    return stats_of_ratios(from, to, rounds);
}

static bool is_slower(const struct stats *ratio) {
    return stats_verdict(ratio) == VERDICT_MORE && ratio->least > 1 && ratio->median > slower;
}

/* Less time in collections than the program as it is: by more than nothing, and than noise explains; and in nine rounds
 * of ten, for among many there is one in which the machine was busy. */
static bool is_better(const struct search *search, size_t index) {
    const struct candidate *candidate = &search->candidate[index], *as_is = &search->candidate[0];
    struct search_figures before = search_medians(search, 0), after = search_medians(search, index);
    size_t rounds = has_rounds(search, index) && has_rounds(search, 0) ? search->rounds : 0;
    double doubt =
        search->noise * sqrt(rounds ? 2 / (double)rounds : 1 / (double)candidate->runs + 1 / (double)as_is->runs);
    double worth = fmax(alike_share * before.gc, alike_of_run * before.wall);
    size_t in_vain = 0;
    for (size_t i = 0; i < rounds; i++) {
        in_vain += search_gc(search, index, candidate->first_final + i) >= search_gc(search, 0, as_is->first_final + i);
    }
    if (10 * in_vain > rounds) {
        return false;
    }
    return before.gc - after.gc > fmax(worth, 2 * doubt * before.gc);
}

static bool can_be_chosen(const struct search *search, size_t index, double memory_most, bool even_slower) {
    const struct candidate *candidate = &search->candidate[index];
    if (candidate->failed || candidate->runs == 0 || (search->rounds > 0 && !has_rounds(search, index)) ||
        search_medians(search, index).memory > memory_most) {
        return false;
    }
    struct stats ratio = search_cpu_ratio(search, 0, index);
    return index == 0 || ((even_slower || !is_slower(&ratio)) && is_better(search, index));
}

/* Simpler, or as simple and smaller. */
static bool is_simpler(const struct search *search, size_t a, size_t b) {
    size_t changes_a = search_point_changes(search->space, &search->candidate[a].point);
    size_t changes_b = search_point_changes(search->space, &search->candidate[b].point);
    return changes_a != changes_b ? changes_a < changes_b
                                  : search_medians(search, a).memory < search_medians(search, b).memory;
}

static size_t choose(const struct search *search, double memory_most, bool even_slower) {
    double least = INFINITY, margin = 0;
    for (size_t i = 0; i < search->count; i++) {
        if (can_be_chosen(search, i, memory_most, even_slower)) {
            struct search_figures figures = search_medians(search, i);
            if (figures.gc < least) {
                least = figures.gc;
                margin = fmax(alike_share * figures.gc, alike_of_run * figures.wall);
            }
        }
    }
    size_t chosen = SIZE_MAX;
    for (size_t i = 0; i < search->count; i++) {
        if (can_be_chosen(search, i, memory_most, even_slower) && search_medians(search, i).gc <= least + margin &&
            (chosen == SIZE_MAX || is_simpler(search, i, chosen))) {
            chosen = i;
        }
    }
    return chosen == SIZE_MAX ? 0 : chosen;
}

/* ---- the front -------------------------------------------------------------------------------------------------- */

struct on_front {
    double memory, gc;
    size_t index;
};

static int by_memory(const void *a, const void *b) {
    const struct on_front *left = a, *right = b;
    int order = (left->memory > right->memory) - (left->memory < right->memory);
    return order ? order : (left->gc > right->gc) - (left->gc < right->gc);
}

static bool find_front(const struct search *search, struct search_finding *finding) {
    struct on_front *points = calloc(search->count + 1, sizeof *points);
    finding->front = calloc(search->count + 1, sizeof *finding->front);
    if (!points || !finding->front) {
        free(points);
        return false;
    }
    size_t count = 0;
    for (size_t i = 0; i < search->count; i++) {
        if (search->candidate[i].runs > 0 && !search->candidate[i].failed) {
            struct search_figures figures = search_medians(search, i);
            points[count++] = (struct on_front){figures.memory, figures.gc, i};
        }
    }
    qsort(points, count, sizeof *points, by_memory);
    double least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (points[i].gc < (1 - alike_share) * least) {
            finding->front[finding->front_count++] = points[i].index;
            least = points[i].gc;
        }
    }
    free(points);
    return true;
}

/* The last point of the front within the memory, if it takes less time in collections than the program as it is by what
 * counts, and is not seen to be slower in all; else 0. */
static size_t likely_of(const struct search *search, const struct search_finding *finding, double memory_most) {
    const struct search_figures before = search_medians(search, 0);
    size_t likely = 0;
    for (size_t i = 0; i < finding->front_count; i++) {
        likely = search_medians(search, finding->front[i]).memory <= memory_most ? finding->front[i] : likely;
    }
    const struct stats cpu = search_cpu_ratio(search, 0, likely);
    const double worth = fmax(alike_share * before.gc, alike_of_run * before.wall);
    return before.gc - search_medians(search, likely).gc > worth && !is_slower(&cpu) ? likely : 0;
}

/* ---- eden.cache ------------------------------------------------------------------------------------------------- */

static bool differ_in_eden(const struct search_point *small, const struct search_point *large) {
    for (size_t i = 0; i < SEARCH_AXES; i++) {
        if (i != AXIS_EDEN && small->choice[i] != large->choice[i]) {
            return false;
        }
    }
    return small->choice[AXIS_EDEN] < large->choice[AXIS_EDEN];
}

static void find_cache(const struct search *search, struct search_finding *finding) {
    for (size_t i = 0; i < search->finalists; i++) {
        for (size_t j = 0; j < search->finalists; j++) {
            size_t small = search->finalist[i], large = search->finalist[j];
            const struct candidate *a = &search->candidate[small], *b = &search->candidate[large];
            if (a->failed || b->failed || !differ_in_eden(&a->point, &b->point) ||
                search_medians(search, large).gc >= search_medians(search, small).gc) {
                continue;
            }
            struct stats ratio = search_cpu_ratio(search, small, large);
            if (is_slower(&ratio) && (!finding->cache || ratio.median > finding->cache_cpu.median)) {
                finding->cache = true;
                finding->cache_small = small;
                finding->cache_large = large;
                finding->cache_cpu = ratio;
            }
        }
    }
}

bool search_find(const struct search *search, struct search_finding *finding) {
    *finding = (struct search_finding){0};
    double memory_most = search->memory_factor * search_medians(search, 0).memory;
    finding->recommended = choose(search, memory_most, false);
    finding->least_within = choose(search, memory_most, true);
    finding->least_gc = choose(search, INFINITY, false);
    find_cache(search, finding);
    if (!find_front(search, finding)) {
        search_finding_clear(finding);
        return false;
    }
    finding->likely = likely_of(search, finding, memory_most);
    return true;
}

void search_finding_clear(struct search_finding *finding) {
    free(finding->front);
    finding->front = NULL;
    finding->front_count = 0;
}
