/* Density of lifetimes by memory and by objects, after Figures 4 and 5 of the lifetimes paper. Its bins are a second;
 * here, in bins of 5% of the run, the share of all memory, or of all objects, that lived so long.
 *
 * A histogram's bucket that lies across the edges of bins is shared out among them by length: buckets are 6.25% wide,
 * so the figure of a bin is exact to that. What was alive at the end is shown apart: it lived at least so long. */
#include "util/plot.h"
#include "views/lifetimes/view.h"
#include <math.h>

enum { BINS = 20, WIDTH = 50, BEFORE_BAR = 34 };

struct density {
    double share[LIFE_OUTCOMES][BINS]; /* of all that ended */
};

/* Lifetimes in collections have no length of the run: time takes their place. */
static enum life_clock run_clock(const struct life_view_options *options) {
    return options->clock == LIFE_BYTES ? LIFE_BYTES : LIFE_NS;
}

static void spread(double bins[BINS], const struct life_bucket *bucket, double weight, double run) {
    double lower = (double)histogram_lower(bucket->bucket) / run * BINS;
    double upper = ((double)histogram_upper(bucket->bucket) + 1) / run * BINS;
    lower = fmin(lower, BINS - 1);
    upper = fmax(fmin(upper, BINS), lower);
    double length = upper - lower;
    for (int i = (int)lower; i < BINS && (i < upper || length <= 0); i++) {
        double part = length > 0 ? (fmin(upper, i + 1) - fmax(lower, i)) / length : 1;
        bins[i] += weight * part;
        if (length <= 0) {
            break;
        }
    }
}

/* False: nothing ended, or the length of the run is not known. */
static bool make_density(struct density *density, const struct life_heap *heap, const struct life_site *total,
                         enum life_clock clock, enum life_measure by) {
    double run = life_run(heap, clock), all = 0;
    *density = (struct density){0};
    for (int outcome = 0; outcome < LIFE_OUTCOMES && run > 0; outcome++) {
        const struct life_histogram *histogram = &total->histogram[outcome][clock];
        for (size_t i = 0; i < histogram->count; i++) {
            double weight = (double)(by == LIFE_BY_MEMORY ? histogram->at[i].weight_bytes : histogram->at[i].weight);
            spread(density->share[outcome], &histogram->at[i], weight, run);
            all += weight;
        }
    }
    for (int i = 0; i < BINS && all > 0; i++) {
        density->share[LIFE_DIED][i] /= all;
        density->share[LIFE_CENSORED][i] /= all;
    }
    return all > 0;
}

static void print_bars(FILE *out, const struct density *density) {
    const unsigned width = life_bar_width(out, BEFORE_BAR, WIDTH);
    double most = 0;
    for (int i = 0; i < BINS; i++) {
        most = fmax(most, density->share[LIFE_DIED][i] + density->share[LIFE_CENSORED][i]);
    }
    for (int i = 0; i < BINS; i++) {
        double died = density->share[LIFE_DIED][i], alive = density->share[LIFE_CENSORED][i];
        fprintf(out, "  %3d%% - %3d%% %7.2f%% %7.2f%%  ", i * 100 / BINS, (i + 1) * 100 / BINS, 100 * died,
                100 * alive);
        unsigned length = life_bar(out, '#', died / most, width);
        life_bar(out, '+', alive / most, width > length ? width - length : 0);
        fputc('\n', out);
    }
}

static void print_heap(FILE *out, const struct life_heap *heap, const struct life_site *total, enum life_clock clock) {
    static const char *const titles[] = {"density of lifetimes by objects", "density of lifetimes by memory"};
    for (int by = LIFE_BY_MEMORY; by >= LIFE_BY_OBJECTS; by--) {
        struct density density;
        life_heading(out, heap, titles[by]);
        if (!make_density(&density, heap, total, clock, (enum life_measure)by)) {
            fprintf(out, "# unknown: no object's end is known, or the length of the run is not\n");
            continue;
        }
        fprintf(out, "# %10s %8s %8s\n", clock == LIFE_NS ? "Of run" : "Of bytes", "died", "alive");
        print_bars(out, &density);
    }
}

bool life_view_density(FILE *out, const struct life_model *model, const struct life_view_options *options,
                       struct failure *why) {
    for (size_t i = 0; i < model->heap_count; i++) {
        struct life_groups groups;
        if (!life_groups_make(&groups, &model->heaps[i], true)) {
            return life_no_memory(why);
        }
        print_heap(out, &model->heaps[i], &groups.total, run_clock(options));
        life_groups_clear(&groups);
    }
    fprintf(out, "# %s: died at this lifetime; %s: alive at the end, at this age or older.\n", "#", "+");
    return true;
}

/* ---- chart ------------------------------------------------------------------------------------------------------- */

static void print_panel(FILE *script, const char *title, const char *axis, const struct density *density) {
    fputs("set title ", script);
    plot_string(script, title);
    fprintf(script, "\nset ylabel '%s'\n$bins << EOD\n", axis);
    for (int i = 0; i < BINS; i++) {
        double died = 100 * density->share[LIFE_DIED][i];
        fprintf(script, "%.9g %.9g %.9g\n", (i + 0.5) * 100 / BINS, died,
                died + 100 * density->share[LIFE_CENSORED][i]);
    }
    fputs("EOD\nplot $bins using 1:3 with boxes lc rgb '#d8a048' title 'alive at the end', "
          "$bins using 1:2 with boxes lc rgb '#3868a8' title 'died'\n",
          script);
}

bool life_view_density_svg(FILE *out, const struct life_model *model, const struct life_view_options *options,
                           struct failure *why) {
    struct plot plot;
    size_t drawn = 0;
    enum life_clock clock = run_clock(options);
    if (!plot_begin(&plot, 1000, 40 + 400 * (int)(model->heap_count < 8 ? model->heap_count : 8), why)) {
        return false;
    }
    fprintf(plot.script,
            "set multiplot layout %zu,2\nset xlabel 'lifetime, %% of %s'\nset xrange [0:100]\nset yrange [0:*]\n"
            "set style fill solid\nset boxwidth %g\nset key top right\n",
            model->heap_count < 8 ? model->heap_count : 8, clock == LIFE_NS ? "the run" : "bytes allocated",
            90.0 / BINS);
    for (size_t i = 0; i < model->heap_count && drawn < 8; i++) {
        struct life_groups groups;
        struct density memory, objects;
        char label[LIFE_HEAP_LABEL];
        if (!life_groups_make(&groups, &model->heaps[i], true)) {
            plot_clear(&plot);
            return life_no_memory(why);
        }
        if (make_density(&memory, &model->heaps[i], &groups.total, clock, LIFE_BY_MEMORY) &&
            make_density(&objects, &model->heaps[i], &groups.total, clock, LIFE_BY_OBJECTS)) {
            life_heap_label(label, &model->heaps[i]);
            print_panel(plot.script, label, "% of memory", &memory);
            print_panel(plot.script, label, "% of objects", &objects);
            drawn++;
        }
        life_groups_clear(&groups);
    }
    fputs("unset multiplot\n", plot.script);
    if (drawn == 0) {
        plot_clear(&plot);
        return life_nothing_to_draw(why);
    }
    return plot_end(&plot, options->plotter, out, why);
}
