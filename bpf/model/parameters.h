/* The parameters of a heap as tuning reads and writes them, from the one table (probes/eden_params.def). */
#ifndef EDEN_TUNE_PARAMETERS_H
#define EDEN_TUNE_PARAMETERS_H

#include "eden_abi.h"
#include <stdbool.h>
#include <stddef.h>

enum tune_parameter_id {
#define EDEN_PARAM(id, name, kind, fallback, low, high, choices, doc) TUNE_##id,
#include "eden_params.def"
#undef EDEN_PARAM
    TUNE_PARAMETERS
};

struct tune_parameter {
    bool told;     /* param__set told it; else it is the default, which a heap that was there before may not have */
    double number; /* choices: the place among them; none and inf: INFINITY; unset, and files: NAN */
    char text[64]; /* as it was told, or the default */
};

extern const char *const tune_parameter_names[TUNE_PARAMETERS];
bool tune_parameter_is_size(enum tune_parameter_id id);
/* TUNE_PARAMETERS: there is none of this name. */
enum tune_parameter_id tune_parameter_find(const char *name);

/* The defaults, none of them told. */
void tune_parameters_default(struct tune_parameter parameters[TUNE_PARAMETERS]);
/* As param__set tells it; what is no parameter, or no value of it, is left alone. */
void tune_parameter_tell(struct tune_parameter parameters[TUNE_PARAMETERS], const char *name, const char *value);

enum { TUNE_VALUE = 32 };
/* A value as EDEN_OPTIONS takes it: sizes rounded up to whole K, M or G of at most three digits where that adds at most
 * a tenth. Brought within the parameter's bounds. */
char *tune_value(char text[TUNE_VALUE], enum tune_parameter_id id, double number);

#endif
