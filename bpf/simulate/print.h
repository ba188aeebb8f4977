/* Predictions, for people and as JSON. */
#ifndef EDEN_SIMULATE_PRINT_H
#define EDEN_SIMULATE_PRINT_H

#include "simulate/trace.h"
#include <stdio.h>

enum { SIMULATE_OPTIONS_MAX = 256 };

struct simulate_prediction {
    char options[SIMULATE_OPTIONS_MAX]; /* as EDEN_OPTIONS takes them; "": nothing was wished for */
    struct simulate_figures figures;
};

void simulate_print_table(FILE *out, const struct simulate_trace *trace, const struct simulate_prediction *predictions,
                          size_t count);
/* False: no memory, or writing failed. */
bool simulate_print_json(FILE *out, const struct simulate_trace *trace, const struct simulate_prediction *predictions,
                         size_t count);

#endif
