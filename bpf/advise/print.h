/* Findings as text, JSON and options. */
#ifndef EDEN_TUNE_PRINT_H
#define EDEN_TUNE_PRINT_H

#include "advise/rules/rule.h"
#include <stdio.h>

/* What is reported besides the findings. */
struct tune_report {
    const struct findings *findings; /* heap by heap */
    size_t heaps;
    struct tune_options options;
    const char *command; /* as its user typed it, never what a file says: it is to be pasted; NULL: not known */
    const char *before;  /* EDEN_OPTIONS as the command had it, which the line to paste is to keep; "": nothing */
};

/* One screen for people: what is wrong, why, and the line to paste. */
void tune_print_text(FILE *out, const struct tune_report *report);

/* {"findings": [{"key", "severity", "evidence", "parameter", "value", "gain": {"min", "max"}, ...}], "options",
 * "withheld", "accounts"}. False: no memory. */
bool tune_print_json(FILE *out, const struct tune_report *report);

/* EDEN_OPTIONS=...; an empty line of options where nothing is to be set. */
void tune_print_options(FILE *out, const struct tune_report *report);

#endif
