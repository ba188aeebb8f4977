/* The search on a real command: its budget, its trials, its progress, and what it has found as a table and as JSON. */
#ifndef EDEN_TUNE_SEARCH_TRIALS_H
#define EDEN_TUNE_SEARCH_TRIALS_H

#include "advise/trials/search.h"
#include "advise/trials/trial.h"
#include <stdio.h>

struct search_request {
    char *const *command;
    const char *proposed; /* options to begin with, beside the command as it is; NULL: none */
    const char *in_force; /* parameters of the command as it is, as far as they are known; NULL: their defaults */
    double budget;        /* seconds */
    size_t trials;        /* runs at most; 0: any number */
    double memory_factor; /* of what is recommended, over the command as it is; INFINITY: any */
};

struct search_outcome {
    struct search_space space;
    struct search search;
    struct search_finding finding;
    struct trial_figures first; /* of the command as it is */
    double took;                /* seconds */
    bool interrupted;
};

/* False, with `why`: the command as it is could not be measured. */
bool search_trials(const struct search_request *request, struct search_outcome *outcome, struct failure *why);
void search_outcome_clear(struct search_outcome *outcome);

void search_print(FILE *out, const struct search_request *request, const struct search_outcome *outcome,
                  const char *command);
json_t *search_json(const struct search_request *request, const struct search_outcome *outcome);

#endif
