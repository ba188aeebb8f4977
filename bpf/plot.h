/* Charts: a script for gnuplot is gathered in memory, gnuplot runs as a child with it on standard input, and the SVG
 * that it prints is copied. */
#ifndef EDEN_PLOT_H
#define EDEN_PLOT_H

#include "failure.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct plot {
    FILE *script;
    char *text; /* owned */
    size_t size;
};

/* Begins a script: terminal and size, in pixels, are set. False: no memory. */
bool plot_begin(struct plot *plot, int width, int height, struct failure *why);

/* A string literal of gnuplot's that shows a text that has text.h's form; a long one is cut. */
void plot_string(FILE *script, const char *form);
/* The same, cut sooner, for the label of a tick, which gnuplot takes for a format. */
void plot_tick(FILE *script, const char *form);

/* Runs gnuplot and copies its SVG to `out`; frees the plot. False, with the reason, where gnuplot is missing or failed.
 */
bool plot_end(struct plot *plot, FILE *out, struct failure *why);

/* Gives up a plot. */
void plot_clear(struct plot *plot);

#endif
