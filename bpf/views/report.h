/* The parts of `edenscope report`: sums over heaps, and the text for people. */
#ifndef EDEN_REPORT_H
#define EDEN_REPORT_H

#include "recording/recording.h"
#include <stdio.h>

/* All heaps of a model as one: sums are summed, maxima are the largest, a figure that one heap doesn't know is not
 * known, phases are merged. Free with report_total_clear. False: no memory. */
bool report_total(const struct model *model, struct heap_model *total);
void report_total_clear(struct heap_model *total);

/* The whole report: head, sums, phases. One heap is shown in full; several as their total and a line for each. */
bool report_text(FILE *out, const char *path, struct recording *recording, const struct model *model,
                 struct failure *why);

#endif
