/* A model as metrics: the text that Prometheus and OpenMetrics scrapers read.
 *
 * Series are labelled by the program (command), the name of the heap, its user and its service, and sum
 * up its processes, those that have ended included; by process id and heap number only on request: a fleet's processes
 * come and go, and each new label costs the scraper memory for days. Units are seconds and bytes. */
#ifndef EDEN_METRICS_H
#define EDEN_METRICS_H

#include "model/model.h"
#include <stdio.h>

struct metrics_format {
    bool is_open;     /* OpenMetrics 1.0.0, else the text format 0.0.4 */
    bool per_process; /* labels pid and number, and any unit, too: a process that has ended is printed for five more
                         minutes */
};

/* What the tool knows of itself. */
struct metrics_tool {
    uint64_t scrapes;
    uint64_t refused;     /* processes that were not looked at */
    uint64_t programs_ns; /* time in its kernel programs */
    bool knows_programs;
};

/* What processes have counted that have ended, and are in no model any more. */
struct metrics;

struct metrics *metrics_open(void); /* NULL: no memory */
void metrics_close(struct metrics *metrics);

/* Adds the processes of a model for good. per_process: for five minutes. False: no memory, and nothing
 * was added. */
bool metrics_add_ended(struct metrics *metrics, const struct model *model, bool per_process);

/* Those of the model, and those that have ended. False: no memory, and nothing was printed. */
bool metrics_print(struct metrics *metrics, FILE *out, const struct model *model, const struct metrics_tool *tool,
                   const struct metrics_format *format);

#endif
