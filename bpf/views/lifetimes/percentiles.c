/* The table of means and percentiles: by class, then by site.
 *
 * A percentile that censoring hides is shown as ">" and the longest time seen: unknown, above that. A restricted mean
 * has ">=" before it. */
#include "views/lifetimes/view.h"
#include <math.h>

static const double percents[] = {25, 50, 75, 90, 99};
enum { PERCENTS = sizeof percents / sizeof *percents };

static char *percentile_text(char text[FORMAT_MAX + 2], enum life_clock clock, struct life_percentile found) {
    char number[FORMAT_MAX];
    if (clock == LIFE_NS || clock == LIFE_BYTES) {
        life_format(number, clock, (double)found.value);
    } else {
        format_count(number, found.value);
    }
    snprintf(text, FORMAT_MAX + 2, "%s%s", found.known ? "" : ">", number);
    return text;
}

static void print_row(FILE *out, const struct life_heap *heap, const struct life_groups *groups,
                      const struct life_site *group, const struct life_view_options *options) {
    char text[FORMAT_MAX + 2], label[LIFE_HEAP_LABEL];
    struct life_summary summary;
    struct life_curve curve;
    life_summarise(&summary, heap, group, &groups->total, &options->rule);
    life_curve_make(&curve, group, options->clock, options->by);
    fprintf(out, "  %9s", format_count(text, summary.births));
    fprintf(out, " %8s", life_percent(text, summary.allocation_share));
    fprintf(out, " %8s", life_percent(text, summary.memory_share));
    fprintf(out, " %8s", life_percent(text, summary.births ? (double)summary.censored / (double)summary.births : NAN));
    fprintf(out, " %11s", life_mean_text(text, options->clock, &summary.mean[options->clock]));
    fprintf(out, " %8s", life_percent(text, summary.mean_share));
    for (int i = 0; i < PERCENTS; i++) {
        bool ended = curve.count != 0;
        fprintf(out, " %10s",
                ended ? percentile_text(text, options->clock, life_curve_percentile(&curve, percents[i])) : "unknown");
    }
    fprintf(out, " %8s  %-12s %s\n", life_percent(text, summary.long_share), life_verdict_text(&summary),
            life_place_label(label, group));
}

/* Groups whose verdict is not certain, for this reason. Returns how many there are. */
static size_t print_doubtful(FILE *out, const struct life_heap *heap, const struct life_groups *groups,
                             const struct life_view_options *options, bool found_late) {
    char label[LIFE_HEAP_LABEL];
    const char *heading =
        found_late ? "# scavenges too far apart for a verdict:" : "# too few samples for a reliable verdict:";
    size_t count = 0;
    for (size_t i = 0; i < groups->count; i++) {
        struct life_summary summary;
        life_summarise(&summary, heap, groups->at[i], &groups->total, &options->rule);
        if (summary.enough || summary.found_late != found_late) {
            continue;
        }
        if (count++ < 5) {
            fprintf(out, "%s %s", count == 1 ? heading : ";", life_place_label(label, groups->at[i]));
        }
    }
    if (count > 5) {
        fprintf(out, "; and %zu more", count - 5);
    }
    return count;
}

/* What would make verdicts certain. */
static void print_advice(FILE *out, const struct life_heap *heap, const struct life_groups *groups,
                         const struct life_view_options *options) {
    char advice[LIFE_ADVICE_MAX];
    bool few = print_doubtful(out, heap, groups, options, false) != 0;
    if (few && life_next_sampling(heap, advice)) {
        fprintf(out, "\n# try --sampling %s\n", advice);
    } else if (few) {
        fprintf(out, "\n"
                     "# every object was sampled already: profile a longer run\n");
    }
    if (print_doubtful(out, heap, groups, options, true) != 0) {
        fprintf(out, "\n"
                     "# try a smaller eden_size, or profile a longer run\n");
    }
}

static void print_head(FILE *out, const struct life_view_options *options, bool by_site) {
    fprintf(out, "# %9s %8s %8s %8s %11s %8s", "Samples", "Objects", "Memory", "Censored", "Mean", "of run");
    for (int i = 0; i < PERCENTS; i++) {
        char head[16];
        snprintf(head, sizeof head, "P%.0f", percents[i]);
        fprintf(out, " %10s", head);
    }
    fprintf(out, " %7.3g%%+  %-11s  %s\n", 100 * options->rule.share, "Verdict", by_site ? "Class, site" : "Class");
}

static bool print_table(FILE *out, const struct life_heap *heap, const struct life_view_options *options, bool by_site,
                        struct failure *why) {
    struct life_groups groups;
    if (!life_groups_make(&groups, heap, by_site)) {
        return life_no_memory(why);
    }
    size_t rows = life_rows(options, groups.count);
    print_head(out, options, by_site);
    for (size_t i = 0; i < rows; i++) {
        print_row(out, heap, &groups, groups.at[i], options);
    }
    if (rows < groups.count) {
        fprintf(out, "# and %zu more\n", groups.count - rows);
    }
    print_advice(out, heap, &groups, options);
    life_groups_clear(&groups);
    return true;
}

bool life_view_percentiles(FILE *out, const struct life_model *model, const struct life_view_options *options,
                           struct failure *why) {
    for (size_t i = 0; i < model->heap_count; i++) {
        life_heading(out, &model->heaps[i], "lifetimes by class");
        if (!print_table(out, &model->heaps[i], options, false, why)) {
            return false;
        }
        life_heading(out, &model->heaps[i], "lifetimes by site");
        if (!print_table(out, &model->heaps[i], options, true, why)) {
            return false;
        }
    }
    if (model->lost) {
        char lost[FORMAT_MAX];
        fprintf(out, "# lost: %s batches or objects; all counts and sizes are \"at least\"\n",
                format_count(lost, model->lost));
    }
    fprintf(
        out,
        "# Percentiles (Kaplan-Meier) and means account for objects alive at the end (censored). >: unknown, above\n"
        "# this; >=: mean of lifetimes truncated at the longest observed one.\n");
    return true;
}
