/* The parameters of a heap as tuning reads and writes them, from the one table (probes/eden_params.def). */
#ifndef EDEN_EDEN_PARAM_COUNT_H
#define EDEN_EDEN_PARAM_COUNT_H

#include "eden_params.h"

struct tune_parameter {
    bool told;     /* param__set told it; else it is the default, which a heap that was there before may not have */
    double number; /* eden_params.h */
    char text[64]; /* as it was told, or the default */
};

/* The defaults, none of them told. */
void tune_parameters_default(struct tune_parameter parameters[EDEN_PARAM_COUNT]);
/* As param__set tells it; what is no parameter, or no value of it, is left alone. */
void tune_parameter_tell(struct tune_parameter parameters[EDEN_PARAM_COUNT], const char *name, const char *value);

enum { TUNE_VALUE = 32 };
/* A value as EDEN_OPTIONS takes it: sizes rounded up to whole K, M or G of at most three digits where that adds at most
 * a tenth. Brought within the parameter's bounds. */
char *tune_value(char text[TUNE_VALUE], enum eden_param_id id, double number);

#endif
