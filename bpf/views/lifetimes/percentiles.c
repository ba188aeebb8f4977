/* The table of means and percentiles: by class, then by site.
 *
 * A percentile that censoring hides is shown as ">" and the longest time seen: unknown, above that. A restricted mean
 * has ">=" before it. */
#include "util/fold.h"
#include "util/sheet.h"
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

enum { BEFORE = 6, COLUMNS = BEFORE + PERCENTS + 3 };

static void print_row(const struct sheet *sheet, const struct life_heap *heap, const struct life_groups *groups,
                      const struct life_site *group, const struct life_view_options *options) {
    char text[COLUMNS][FORMAT_MAX + 2], label[LIFE_HEAP_LABEL];
    struct life_summary summary;
    struct life_curve curve;
    life_summarise(&summary, heap, group, &groups->total, &options->rule);
    life_curve_make(&curve, group, options->clock, options->by);
    const double censored = summary.births ? (double)summary.censored / (double)summary.births : NAN;
    struct sheet_cell cells[COLUMNS] = {
        {format_count(text[0], summary.births), STYLE_PLAIN},
        {life_percent(text[1], summary.allocation_share), STYLE_PLAIN},
        {life_percent(text[2], summary.memory_share), STYLE_PLAIN},
        {life_percent(text[3], censored), STYLE_PLAIN},
        {life_mean_text(text[4], options->clock, &summary.mean[options->clock]), STYLE_PLAIN},
        {life_percent(text[5], summary.mean_share), STYLE_PLAIN},
    };
    for (int i = 0; i < PERCENTS; i++) {
        const bool ended = curve.count != 0;
        cells[BEFORE + i].form =
            ended ? percentile_text(text[BEFORE + i], options->clock, life_curve_percentile(&curve, percents[i]))
                  : "unknown";
    }
    cells[COLUMNS - 3].form = life_percent(text[COLUMNS - 3], summary.long_share);
    cells[COLUMNS - 2].form = life_verdict_text(&summary);
    cells[COLUMNS - 1].form = life_place_label(label, group);
    sheet_row(sheet, cells);
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

static bool print_table(FILE *out, const struct life_heap *heap, const struct life_view_options *options, bool by_site,
                        struct failure *why) {
    struct life_groups groups;
    if (!life_groups_make(&groups, heap, by_site)) {
        return life_no_memory(why);
    }
    size_t rows = life_rows(options, groups.count);
    char headings[PERCENTS][16], long_lived[16];
    struct sheet_column columns[COLUMNS] = {{"Samples", SHEET_NUMBER, 9, 1}, {"Objects", SHEET_NUMBER, 8, 1},
                                            {"Memory", SHEET_NUMBER, 8, 1},  {"Censored", SHEET_NUMBER, 8, 1},
                                            {"Mean", SHEET_NUMBER, 11, 1},   {"of run", SHEET_NUMBER, 8, 1}};
    for (int i = 0; i < PERCENTS; i++) {
        snprintf(headings[i], sizeof headings[i], "P%.0f", percents[i]);
        columns[BEFORE + i] = (struct sheet_column){headings[i], SHEET_NUMBER, 10, 1};
    }
    snprintf(long_lived, sizeof long_lived, "%.3g%%+", 100 * options->rule.share);
    columns[COLUMNS - 3] = (struct sheet_column){long_lived, SHEET_NUMBER, 8, 1};
    columns[COLUMNS - 2] = (struct sheet_column){"Verdict", SHEET_WORDS, 12, 2};
    columns[COLUMNS - 1] = (struct sheet_column){by_site ? "Class, site" : "Class", SHEET_TEXT, 0, 1};
    const struct sheet sheet = SHEET(out, "#", columns);
    sheet_heading(&sheet);
    for (size_t i = 0; i < rows; i++) {
        print_row(&sheet, heap, &groups, groups.at[i], options);
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
        fprintf(out, "# %slost: %s batches or objects; all counts and sizes are \"at least\"%s\n",
                style_on(out, STYLE_WARNING), format_count(lost, model->lost), style_off(out, STYLE_WARNING));
    }
    fold_paragraph(out, "# ", "%s",
                   "Percentiles (Kaplan-Meier) and means account for objects alive at the end (censored). >: unknown, "
                   "above this; >=: mean of lifetimes truncated at the longest observed one.");
    return true;
}
