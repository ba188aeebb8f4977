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
#include "util/format.h"
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

enum life_view_kind {
    LIFE_VIEW_TEXT,  /* for people */
    LIFE_VIEW_DATA,  /* for programs */
    LIFE_VIEW_CHART, /* drawn by gnuplot */
};
struct life_view_description {
    const char *name;
    life_view *print;
    const char *help; /* one line */
    enum life_view_kind kind;
};
extern const struct life_view_description life_views[];                /* ends with a name NULL */
const struct life_view_description *life_view_named(const char *name); /* NULL: there is none */

/* ---- what views share: labels, numbers for people, headings ------------------------------------------------------ */

enum { LIFE_LABEL = 256, LIFE_HEAP_LABEL = 640, LIFE_MISSED_TEXT = 80 };

/* What a class or site is called in text: its name in the form of text.h, or "class 17", "site 18" where it has none.
 * All labels have that form. */
char *life_class_label(char text[LIFE_LABEL], const struct life_site *site);
char *life_site_label(char text[LIFE_LABEL], const struct life_site *site);
/* "Class, site"; "Class" where it is allocated at no site. */
char *life_place_label(char text[LIFE_HEAP_LABEL], const struct life_site *site);
/* "command[pid] heap 1 'name'" */
char *life_heap_label(char text[LIFE_HEAP_LABEL], const struct life_heap *heap);
void life_csv_begin(FILE *out, const struct life_heap *heap); /* the first two columns of CSV; empty: unknown */
void life_csv_end(FILE *out, const struct life_heap *heap);   /* the last column of CSV, and the end of the row */
/* What was allocated before the profile began, as the end of a line; "": nothing. */
char *life_missed_text(char text[LIFE_MISSED_TEXT], const struct life_heap *heap);
/* A group's: of its site or its class. */
char *life_group_label(char text[LIFE_LABEL], const struct life_site *group, bool by_site);

/* The heap's label on a line, with its sampling. */
void life_heading(FILE *out, const struct life_heap *heap, const char *title);

extern const char *const life_clock_names[LIFE_CLOCKS]; /* "ns", "bytes", "scavenges", "fulls" */
char *life_format(char text[FORMAT_MAX], enum life_clock clock, double value);
char *life_percent(char text[FORMAT_MAX], double share); /* "12.3%"; "unknown" */

/* ">=" before a mean that the end of the run restricts. */
enum { LIFE_MEAN_TEXT = FORMAT_MAX + 2 };
char *life_mean_text(char text[LIFE_MEAN_TEXT], enum life_clock clock, const struct life_mean *mean);

/* How many of count rows are shown. */
size_t life_rows(const struct life_view_options *options, size_t count);

/* Always false: memory was refused; no object ended, so that a chart would be empty. */
bool life_no_memory(struct failure *why);
bool life_nothing_to_draw(struct failure *why);

/* A bar of at most `width` marks in proportion to share (0 to 1); any share above 0 has one. Returns how many. */
unsigned life_bar(FILE *out, char mark, double share, unsigned width);
/* The width of bars behind `before` columns: `most`, or what a narrow terminal leaves. */
unsigned life_bar_width(const FILE *out, unsigned before, unsigned most);

#endif
