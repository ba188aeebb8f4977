/* Lifetimes by class, as in FiLiP's Figure 5: how many objects (or bytes) of each class lived how long. FiLiP's bins
 * are a second; these double, since most objects die at once and a few live a million times longer. */
#include "util/plot.h"
#include "util/whole.h"
#include "views/lifetimes/view.h"
#include <math.h>
#include <stdlib.h>

enum { BINS = HISTOGRAM_BUCKETS / 16, WIDTH = 40, BEFORE_BAR = 32, MOST_CLASSES = 8 };

struct bins {
    double weight[LIFE_OUTCOMES][BINS], all;
    int first, last; /* of those in use; first > last: none is */
};

static void make_bins(struct bins *bins, const struct life_site *group, const struct life_view_options *options) {
    *bins = (struct bins){.first = BINS, .last = -1};
    for (int outcome = 0; outcome < LIFE_OUTCOMES; outcome++) {
        const struct life_histogram *histogram = &group->histogram[outcome][options->clock];
        for (size_t i = 0; i < histogram->count; i++) {
            const struct life_bucket *at = &histogram->at[i];
            int bin = at->bucket / 16 < BINS ? at->bucket / 16 : BINS - 1;
            double weight =
                options->by == LIFE_BY_MEMORY ? (double)at->weight_bytes : (double)at->weight / EDEN_WEIGHT_ONE;
            bins->weight[outcome][bin] += weight;
            bins->all += weight;
            bins->first = bin < bins->first ? bin : bins->first;
            bins->last = bin > bins->last ? bin : bins->last;
        }
    }
}

static double bin_lower(int bin) { return (double)histogram_lower((uint32_t)bin * 16); }

static void print_bins(FILE *out, const struct bins *bins, enum life_clock clock) {
    char from[FORMAT_MAX];
    const unsigned width = life_bar_width(out, BEFORE_BAR, WIDTH);
    double most = 0;
    for (int i = bins->first; i <= bins->last; i++) {
        most = fmax(most, bins->weight[LIFE_DIED][i] + bins->weight[LIFE_CENSORED][i]);
    }
    for (int i = bins->first; i <= bins->last; i++) {
        double died = bins->weight[LIFE_DIED][i], alive = bins->weight[LIFE_CENSORED][i];
        fprintf(out, "  %10s %7.2f%% %7.2f%%  ", life_format(from, clock, bin_lower(i)), 100 * died / bins->all,
                100 * alive / bins->all);
        unsigned length = life_bar(out, '#', died / most, width);
        life_bar(out, '+', alive / most, width > length ? width - length : 0);
        fputc('\n', out);
    }
}

bool life_view_histogram(FILE *out, const struct life_model *model, const struct life_view_options *options,
                         struct failure *why) {
    for (size_t i = 0; i < model->heap_count; i++) {
        struct life_groups groups;
        if (!life_groups_make(&groups, &model->heaps[i], options->by_site)) {
            return life_no_memory(why);
        }
        life_heading(out, &model->heaps[i], options->by_site ? "lifetimes by site" : "lifetimes by class");
        for (size_t j = 0; j < life_rows(options, groups.count); j++) {
            struct bins bins;
            char label[LIFE_LABEL], amount[FORMAT_MAX];
            make_bins(&bins, groups.at[j], options);
            uint64_t all = whole_of(bins.all + 0.5);
            fprintf(out, "%s: %s\n", life_group_label(label, groups.at[j], options->by_site),
                    options->by == LIFE_BY_MEMORY ? format_bytes(amount, all) : format_count(amount, all));
            if (bins.all > 0) {
                fprintf(out, "# %10s %8s %8s\n", "From", "died", "alive");
                print_bins(out, &bins, options->clock);
            }
        }
        life_groups_clear(&groups);
    }
    fputs(
        "# Each row spans lifetimes up to that of the next row. #: died; +: alive at the end, at this age or older.\n",
        out);
    return true;
}

/* ---- chart ------------------------------------------------------------------------------------------------------- */

static void print_column(FILE *script, const struct bins *bins, int bin) {
    fprintf(script, " %.9g", bins->weight[LIFE_DIED][bin] + bins->weight[LIFE_CENSORED][bin]);
}

/* One stacked column a bin: the largest groups, and the rest as one. */
static void print_chart(FILE *script, const struct life_groups *groups, const struct life_view_options *options,
                        struct bins *bins, const struct bins *all, const char *title) {
    size_t shown = groups->count < MOST_CLASSES ? groups->count : MOST_CLASSES;
    fputs("set title ", script);
    plot_string(script, title);
    fputs("\n$bins << EOD\n", script);
    for (size_t i = 0; i < shown; i++) {
        make_bins(&bins[i], groups->at[i], options);
    }
    for (int bin = all->first; bin <= all->last; bin++) {
        char from[FORMAT_MAX];
        double rest = all->weight[LIFE_DIED][bin] + all->weight[LIFE_CENSORED][bin];
        fprintf(script, "\"%s\"", life_format(from, options->clock, bin_lower(bin)));
        for (size_t i = 0; i < shown; i++) {
            print_column(script, &bins[i], bin);
            rest -= bins[i].weight[LIFE_DIED][bin] + bins[i].weight[LIFE_CENSORED][bin];
        }
        fprintf(script, " %.9g\n", fmax(rest, 0));
    }
    fputs("EOD\nplot", script);
    for (size_t i = 0; i < shown; i++) {
        char label[LIFE_LABEL];
        fprintf(script, " $bins using %zu:xtic(1) title ", i + 2);
        plot_string(script, life_group_label(label, groups->at[i], options->by_site));
        fputc(',', script);
    }
    fprintf(script, " $bins using %zu:xtic(1) lc rgb '#b0b0b0' title '%s'\n", shown + 2,
            shown < groups->count ? "all others" : "");
}

static bool draw_heap(FILE *script, const struct life_heap *heap, const struct life_view_options *options,
                      size_t *drawn) {
    struct life_groups groups;
    struct bins all, *bins = calloc(MOST_CLASSES, sizeof *bins);
    if (!bins || !life_groups_make(&groups, heap, options->by_site)) {
        free(bins);
        return false;
    }
    make_bins(&all, &groups.total, options);
    if (all.all > 0) {
        char label[LIFE_HEAP_LABEL];
        print_chart(script, &groups, options, bins, &all, life_heap_label(label, heap));
        ++*drawn;
    }
    life_groups_clear(&groups);
    free(bins);
    return true;
}

bool life_view_histogram_svg(FILE *out, const struct life_model *model, const struct life_view_options *options,
                             struct failure *why) {
    struct plot plot;
    size_t drawn = 0, panels = model->heap_count < 8 ? model->heap_count : 8;
    if (!plot_begin(&plot, 1000, 40 + 560 * (int)panels, why)) {
        return false;
    }
    fprintf(
        plot.script,
        "set multiplot layout %zu,1\nset style data histograms\nset style histogram rowstacked\n"
        "set style fill solid border -1\nset boxwidth 0.9\nset xtics rotate by -45\nset yrange [0:*]\n"
        "set ylabel '%s'\nset format y '%%.0s%%c'\nset xlabel 'lifetime, from'\nset key outside below Left reverse\n",
        panels, options->by == LIFE_BY_MEMORY ? "bytes" : "objects");
    for (size_t i = 0; i < model->heap_count && drawn < panels; i++) {
        if (!draw_heap(plot.script, &model->heaps[i], options, &drawn)) {
            plot_clear(&plot);
            return life_no_memory(why);
        }
    }
    fputs("unset multiplot\n", plot.script);
    if (drawn == 0) {
        plot_clear(&plot);
        return life_nothing_to_draw(why);
    }
    return plot_end(&plot, options->plotter, out, why);
}
