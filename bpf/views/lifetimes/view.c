#include "views/lifetimes/view.h"
#include "eden_values.h"
#include "util/style.h"
#include "util/terminal.h"
#include "util/text.h"
#include "util/whole.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

const struct life_view_options life_view_defaults = {
    .rule = {.share = 0.05, .clock = LIFE_NS}, .clock = LIFE_NS, .by = LIFE_BY_OBJECTS, .top = 20};

const struct life_view_description life_views[] = {
    {"percentiles", life_view_percentiles, "mean and percentile lifetimes by class and by site", LIFE_VIEW_TEXT},
    {"survival", life_view_survival, "survival curves (Kaplan-Meier), as CSV", LIFE_VIEW_DATA},
    {"survival-svg", life_view_survival_svg, "the same as a chart", LIFE_VIEW_CHART},
    {"density", life_view_density, "share of memory and of objects by lifetime", LIFE_VIEW_TEXT},
    {"density-svg", life_view_density_svg, "the same as a chart", LIFE_VIEW_CHART},
    {"histogram", life_view_histogram, "lifetimes by class, on a logarithmic scale", LIFE_VIEW_TEXT},
    {"histogram-svg", life_view_histogram_svg, "the same as a chart", LIFE_VIEW_CHART},
    {"heatmap", life_view_heatmap, "memory and objects by site and class", LIFE_VIEW_TEXT},
    {"heatmap-svg", life_view_heatmap_svg, "the same as a chart", LIFE_VIEW_CHART},
    {"tenured", life_view_tenured, "promoted objects that died: class and site, amount, delay", LIFE_VIEW_TEXT},
    {"nepotism", life_view_nepotism, "objects kept alive only by dead old objects: class and site, amount",
     LIFE_VIEW_TEXT},
    {"ndjson", life_view_ndjson, "heaps, classes, sites and recorded objects, one JSON object per line",
     LIFE_VIEW_DATA},
    {"csv", life_view_csv, "objects if recorded, else histograms, with a column for censored objects", LIFE_VIEW_DATA},
    {"folded", life_view_folded, "folded stacks for flame graphs: class, site, short- or long-lived", LIFE_VIEW_DATA},
    {"pprof", life_view_pprof, "a profile for pprof, with the labels of TCMalloc's lifetime profiles", LIFE_VIEW_DATA},
    {NULL, NULL, NULL, LIFE_VIEW_TEXT},
};

const struct life_view_description *life_view_named(const char *name) {
    for (const struct life_view_description *view = life_views; view->name; view++) {
        if (strcmp(view->name, name) == 0) {
            return view;
        }
    }
    return NULL;
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

const char *const life_clock_names[LIFE_CLOCKS] = {"ns", "bytes", "scavenges", "fulls"};

static char *label(char text[LIFE_LABEL], const char *name, const char *kind, uint32_t index) {
    if (!name[0]) {
        snprintf(text, LIFE_LABEL, "%s %" PRIu32, kind, index);
        return text;
    }
    return text_escape(text, LIFE_LABEL, name, "");
}

char *life_class_label(char text[LIFE_LABEL], const struct life_site *site) {
    bool itself = !site->class_name[0] && site->site == site->class_id;
    return label(text, itself ? site->name : site->class_name, "class", site->class_id);
}

char *life_site_label(char text[LIFE_LABEL], const struct life_site *site) {
    if (site->site == site->class_id) {
        return life_class_label(text, site);
    }
    return label(text, site->name, "site", site->site);
}

char *life_group_label(char text[LIFE_LABEL], const struct life_site *group, bool by_site) {
    return by_site ? life_site_label(text, group) : life_class_label(text, group);
}

char *life_place_label(char text[LIFE_HEAP_LABEL], const struct life_site *site) {
    char class[LIFE_LABEL], place[LIFE_LABEL];
    life_class_label(class, site);
    bool itself = site->site == site->class_id;
    snprintf(text, LIFE_HEAP_LABEL, "%s%s%s", class, itself ? "" : ", ", itself ? "" : life_site_label(place, site));
    return text;
}

char *life_heap_label(char text[LIFE_HEAP_LABEL], const struct life_heap *heap) {
    char command[LIFE_LABEL], name[LIFE_LABEL], number[HEAP_NUMBER];
    text_escape(command, sizeof command, heap->command[0] ? heap->command : "?", "");
    text_escape(name, sizeof name, heap->name, "'");
    snprintf(text, LIFE_HEAP_LABEL, "%s[%" PRIu32 "] heap %s%s%s%s", command, heap->process.pid,
             heap_number_text(number, heap->id, heap->suffix), name[0] ? " '" : "", name, name[0] ? "'" : "");
    return text;
}

static void print_if_known(FILE *out, uint64_t number) {
    if (number) {
        fprintf(out, "%" PRIu64, number);
    }
}

void life_csv_begin(FILE *out, const struct life_heap *heap) {
    fprintf(out, "%" PRIu32 ",", heap->process.pid);
    print_if_known(out, heap->id);
    fputc(',', out);
}

void life_csv_end(FILE *out, const struct life_heap *heap) {
    fputc(',', out);
    print_if_known(out, heap->serial);
    fputs("\r\n", out);
}

char *life_missed_text(char text[LIFE_MISSED_TEXT], const struct life_heap *heap) {
    char bytes[FORMAT_MAX];
    text[0] = '\0';
    if (heap->state.begun_bytes) {
        snprintf(text, LIFE_MISSED_TEXT, "; excludes the %s allocated before",
                 life_format(bytes, LIFE_BYTES, (double)heap->state.begun_bytes));
    }
    return text;
}

static void print_sampling(FILE *out, const struct life_heap *heap) {
    const struct eden_profile_record *state = &heap->state;
    const char *sampling = eden_sampling_name(state->sampling), *mechanism = eden_mechanism_name(state->mechanism);
    char run[FORMAT_MAX], bytes[FORMAT_MAX], missed[LIFE_MISSED_TEXT];
    if (!heap->begun) {
        fprintf(out, "# sampling and length of the profile: unknown\n");
        return;
    }
    fprintf(out, "# run: %s, %s allocated; sampling: %s %" PRIu64 "; deaths found by: %s%s%s\n",
            life_format(run, LIFE_NS, life_run(heap, LIFE_NS)),
            life_format(bytes, LIFE_BYTES, life_run(heap, LIFE_BYTES)), sampling ? sampling : "?", state->rate,
            mechanism ? mechanism : "?", state->ended ? "" : "; the profile has not ended",
            life_missed_text(missed, heap));
}

void life_heading(FILE *out, const struct life_heap *heap, const char *title) {
    char text[LIFE_HEAP_LABEL];
    fprintf(out, "# %s%s%s: %s\n", style_on(out, STYLE_HEADING), life_heap_label(text, heap),
            style_off(out, STYLE_HEADING), title);
    print_sampling(out, heap);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

char *life_format(char text[FORMAT_MAX], enum life_clock clock, double value) {
    if (isnan(value)) {
        return memcpy(text, "unknown", sizeof "unknown");
    }
    if (clock == LIFE_NS || clock == LIFE_BYTES) {
        uint64_t whole = whole_of(value + 0.5);
        return clock == LIFE_NS ? format_ns(text, whole) : format_bytes(text, whole);
    }
    snprintf(text, FORMAT_MAX, "%.2f", value);
    return text;
}

char *life_percent(char text[FORMAT_MAX], double share) {
    if (isnan(share)) {
        return memcpy(text, "unknown", sizeof "unknown");
    }
    snprintf(text, FORMAT_MAX, "%.1f%%", 100 * share);
    return text;
}

char *life_mean_text(char text[LIFE_MEAN_TEXT], enum life_clock clock, const struct life_mean *mean) {
    char number[FORMAT_MAX];
    snprintf(text, LIFE_MEAN_TEXT, "%s%s", mean->known && mean->restricted ? ">=" : "",
             life_format(number, clock, mean->known ? mean->value : NAN));
    return text;
}

size_t life_rows(const struct life_view_options *options, size_t count) {
    return options->top != 0 && options->top < count ? options->top : count;
}

bool life_no_memory(struct failure *why) { return failure_set(why, 1, "out of memory for the view of lifetimes"); }

bool life_nothing_to_draw(struct failure *why) {
    return failure_set(
        why, 1,
        "nothing to draw: no sampled object's end is known; let the program run longer, or sample more objects");
}

unsigned life_bar(FILE *out, char mark, double share, unsigned width) {
    double marks = share * width;
    unsigned length = marks >= width ? width : marks > 0 && marks < 1 ? 1 : marks > 0 ? (unsigned)(marks + 0.5) : 0;
    for (unsigned i = 0; i < length; i++) {
        fputc(mark, out);
    }
    return length;
}

unsigned life_bar_width(const FILE *out, unsigned before, unsigned most) {
    enum { LEAST = 4 };
    const unsigned terminal = terminal_columns(out);
    const unsigned left = terminal == 0 ? most : terminal > before + LEAST ? terminal - before : LEAST;
    return left < most ? left : most;
}
