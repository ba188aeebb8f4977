/* Charts: a script for gnuplot is gathered in memory, gnuplot runs as a child with it on standard input, and the SVG
 * that it prints is copied. A process that is to give up its rights starts gnuplot before. */
#ifndef EDEN_PLOT_H
#define EDEN_PLOT_H

#include "util/failure.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

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

/* A gnuplot that waits for its script. */
struct plotter {
    pid_t child;
    int script;           /* socket to its standard input */
    int chart, complaint; /* files in memory that it writes to */
};

/* False, with the reason, where gnuplot is missing or can't be started. */
bool plotter_start(struct plotter *plotter, struct failure *why);

/* Has the plot drawn by a gnuplot that was started, or by one of its own (NULL), and copies the SVG to `out`; frees the
 * plot and ends the plotter. False, with the reason, where gnuplot failed. */
bool plot_end(struct plot *plot, struct plotter *plotter, FILE *out, struct failure *why);

/* Gives up a plot. */
void plot_clear(struct plot *plot);

#endif
