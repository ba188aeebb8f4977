/* The views of `edenscope lifetimes`: each prints one form of what the model knows.
 *
 * A view writes to `out` and leaves it open; whether all could be written is for output_finish to say. It returns
 * false, with the reason in `why`, where memory or a program it needs is missing. Text views have a part for each heap;
 * data formats have the heap in each row. Names come from the traced process and may hold any bytes: each view writes
 * them so that its format stays whole and no terminal is steered: JSON as json.h says, all others in text.h's form,
 * with what else their format needs. What is not known is shown as "unknown", null or an empty field, never as 0. */
#ifndef EDEN_LIFE_VIEW_H
#define EDEN_LIFE_VIEW_H

#include "stats/lifetimes.h"
#include "util/failure.h"
#include <stdio.h>

struct life_view_options {
    struct life_rule rule;   /* what is long-lived */
    enum life_clock clock;   /* what lifetimes are measured in, where a view shows one clock */
    enum life_measure by;    /* objects or bytes, where a view shows one of them */
    bool by_site;            /* one row or curve a site, not a class, where a view shows one of them */
    size_t top;              /* rows, curves or bars at most; 0: all */
    struct plotter *plotter; /* draws charts; NULL: each starts its own */
};
extern const struct life_view_options life_view_defaults; /* 5% of time; time; objects; classes; 20 */

typedef bool life_view(FILE *out, const struct life_model *model, const struct life_view_options *options,
                       struct failure *why);

life_view life_view_percentiles; /* views/lifetimes/percentiles.c */
life_view life_view_survival;    /* views/lifetimes/survival.c */
life_view life_view_survival_svg;
life_view life_view_density; /* views/lifetimes/density.c */
life_view life_view_density_svg;
life_view life_view_histogram; /* views/lifetimes/histogram.c */
life_view life_view_histogram_svg;
life_view life_view_heatmap; /* views/lifetimes/heatmap.c */
life_view life_view_heatmap_svg;
life_view life_view_tenured; /* views/lifetimes/garbage.c */
life_view life_view_nepotism;
life_view life_view_ndjson; /* views/lifetimes/ndjson.c */
life_view life_view_csv;    /* views/lifetimes/csv.c */
life_view life_view_folded; /* views/lifetimes/folded.c */
life_view life_view_pprof;  /* views/lifetimes/pprof.c */

struct life_view_description {
    const char *name;
    life_view *print;
    const char *help; /* one line */
    bool is_chart;    /* drawn by gnuplot */
};
extern const struct life_view_description life_views[];                /* ends with a name NULL */
const struct life_view_description *life_view_named(const char *name); /* NULL: there is none */

#endif
