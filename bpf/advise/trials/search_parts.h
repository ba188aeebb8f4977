/* The parts of the search: measuring, walking along axes, and rounds. For search.c, where the idea is told. */
#ifndef EDEN_TUNE_SEARCH_PARTS_H
#define EDEN_TUNE_SEARCH_PARTS_H

#include "advise/trials/search.h"

/* ---- measuring (search_measure.c) -------------------------------------------------------------------------------- */

/* Of the deviation of gc from run to run, before anything is known of it. */
extern const double search_first_noise;

/* Gains that count: shares of gc, and of the run. */
extern const double search_worth_share, search_worth_of_run;

/* Measures a candidate once more. False: it has not run, as the search has ended or the candidate failed. */
bool search_measure(struct search *search, size_t index);

/* The candidate of a point, measured at least once. False: it is none, or there is no budget. */
bool search_visit(struct search *search, const struct search_point *point, size_t *index);

bool search_usable(const struct search *search, size_t index); /* it has run, and not failed */

/* Medians of a candidate that has run; gc is corrected. */
double search_median_gc(const struct search *search, size_t index);
double search_median_memory(const struct search *search, size_t index);
double search_median_wall(const struct search *search, size_t index);

/* The least gc within the memory; 0 where none is. */
size_t search_best_within(const struct search *search, double memory_most);

bool search_is_finalist(const struct search *search, size_t index);

/* ---- walking (search_walk.c) ------------------------------------------------------------------------------------- */

struct walk {
    double memory_most; /* bytes */
    double reserve;     /* of the budget, not to be used */
    size_t best;        /* a candidate */
};

bool walk_may_go_on(const struct search *search, const struct walk *walk);

/* Eden from far, from the best of the walk: measures, and moves nothing. */
void walk_scan_eden(struct search *search, const struct walk *walk);

/* Walks along all axes that have a reach, at most so many times, until that changes nothing. */
void walk_sweep(struct search *search, struct walk *walk, int most);

/* Takes each option of the best away again: what then is as good is the best. Not eden, which was walked last. */
void walk_prune(struct search *search, struct walk *walk);

/* ---- rounds (search_rounds.c) ------------------------------------------------------------------------------------ */

/* Runs the finalists in rounds, with what is left of the budget. `walked` is where the walk within the memory ended. */
void search_race(struct search *search, double memory_most, size_t walked);

#endif
