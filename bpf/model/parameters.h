/* The parameters of a heap as tuning reads and writes them, from the one table (probes/eden_params.def). */
#ifndef EDEN_EDEN_PARAM_COUNT_H
#define EDEN_EDEN_PARAM_COUNT_H

#include "eden_params.h"
#include "util/failure.h"

struct tune_parameter {
    bool is_reported; /* param__set reported it; else it is the default, which a preexisting heap may not have */
    double number;    /* eden_params.h */
    char text[64];    /* as it was reported, or the default */
};

/* The defaults, none of them reported. */
void tune_parameters_default(struct tune_parameter parameters[EDEN_PARAM_COUNT]);
/* As param__set reports it; unknown parameters and invalid values are ignored. */
void tune_parameter_read(struct tune_parameter parameters[EDEN_PARAM_COUNT], const char *name, const char *value);
/* Options in the form of EDEN_OPTIONS; parameters: where given, they are read into them. False and why: one of them is
 * no parameter, or not a value of it. */
bool tune_parameters_parse(const char *options, struct tune_parameter parameters[EDEN_PARAM_COUNT],
                           struct failure *why);

enum { TUNE_VALUE = 32 };
/* A value as EDEN_OPTIONS takes it: sizes rounded up to whole K, M or G of at most three digits where that adds at most
 * a tenth, but for max_heap. Brought within the parameter's bounds. */
char *tune_value(char text[TUNE_VALUE], enum eden_param_id id, double number);

#endif
