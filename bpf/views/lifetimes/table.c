/* The table that `lifetimes` prints: by class, then by site where classes are allocated at sites.
 *
 * Births, deaths and censored are samples; shares are estimates for all objects. ">=" before a mean and ">" before a
 * median: objects alive at the end hide the rest. Objects known by number only (their heap's end was not reported)
 * count as censored. */
#include "views/lifetimes/table.h"
#include "model/lifetimes/options.h"
#include "stats/by_stack.h"
#include "util/sheet.h"
#include "views/lifetimes/view.h"
#include <inttypes.h>
#include <math.h>

static char *median_text(char text[FORMAT_MAX + 2], const struct life_site *group) {
    struct life_curve curve;
    char number[FORMAT_MAX];
    life_curve_make(&curve, group, LIFE_NS, LIFE_BY_OBJECTS);
    struct life_percentile median = life_curve_percentile(&curve, 50);
    snprintf(text, FORMAT_MAX + 2, "%s%s", median.known ? "" : ">",
             life_format(number, LIFE_NS, curve.count ? (double)median.value : NAN));
    return text;
}

enum { COLUMNS = 13 };

static void print_row(const struct sheet *sheet, const struct life_heap *heap, const struct life_groups *groups,
                      const struct life_site *group, const struct life_view_options *options, bool by_site) {
    char text[COLUMNS][FORMAT_MAX + 2], label[LIFE_HEAP_LABEL];
    struct life_summary summary;
    life_summarise(&summary, heap, group, &groups->total, &options->rule);
    sheet_row(sheet, (const struct sheet_cell[COLUMNS]){
                         {format_count(text[0], summary.births), STYLE_PLAIN},
                         {life_percent(text[1], summary.allocation_share), STYLE_PLAIN},
                         {life_percent(text[2], summary.memory_share), STYLE_PLAIN},
                         {format_count(text[3], summary.deaths), STYLE_PLAIN},
                         {format_count(text[4], summary.censored + life_unreported(group)), STYLE_PLAIN},
                         {life_mean_text(text[5], LIFE_NS, &summary.mean[LIFE_NS]), STYLE_PLAIN},
                         {life_mean_text(text[6], LIFE_BYTES, &summary.mean[LIFE_BYTES]), STYLE_PLAIN},
                         {life_percent(text[7], summary.mean_share), STYLE_PLAIN},
                         {median_text(text[8], group), STYLE_PLAIN},
                         {life_mean_text(text[9], LIFE_SCAVENGES, &summary.mean[LIFE_SCAVENGES]), STYLE_PLAIN},
                         {life_mean_text(text[10], LIFE_FULLS, &summary.mean[LIFE_FULLS]), STYLE_PLAIN},
                         {life_verdict_text(&summary), STYLE_PLAIN},
                         {by_site && life_is_stack(group->site) ? life_place_label(label, group)
                                                                : life_group_label(label, group, by_site),
                          STYLE_PLAIN},
                     });
}

static bool print_table(FILE *out, const struct life_heap *heap, const struct life_view_options *options, bool by_site,
                        bool stacks, struct failure *why) {
    struct life_groups groups;
    if (!life_groups_make(&groups, heap, by_site)) {
        return life_no_memory(why);
    }
    size_t rows = life_rows(options, groups.count);
    const struct sheet_column columns[COLUMNS] = {
        {"births", SHEET_NUMBER, 11, 0},
        {"objects", SHEET_NUMBER, 7, 1},
        {"memory", SHEET_NUMBER, 7, 1},
        {"deaths", SHEET_NUMBER, 11, 1},
        {"censored", SHEET_NUMBER, 10, 1},
        {"lifetime", SHEET_NUMBER, 10, 1},
        {"allocated", SHEET_NUMBER, 10, 1},
        {"of run", SHEET_NUMBER, 7, 1},
        {"median", SHEET_NUMBER, 10, 1},
        {"scavenges", SHEET_NUMBER, 9, 1},
        {"fulls", SHEET_NUMBER, 7, 1},
        {"verdict", SHEET_WORDS, 12, 2},
        {!by_site ? "class"
         : stacks ? "stack"
                  : "site",
         SHEET_TEXT, 0, 1},
    };
    const struct sheet sheet = SHEET(out, "", columns);
    sheet_heading(&sheet);
    for (size_t i = 0; i < rows; i++) {
        print_row(&sheet, heap, &groups, groups.at[i], options, by_site);
    }
    if (rows < groups.count) {
        fprintf(out, "%11s %zu more\n", "and", groups.count - rows);
    }
    life_groups_clear(&groups);
    return true;
}

static void print_heading(FILE *out, const struct life_heap *heap) {
    char text[LIFE_HEAP_LABEL], sampling[LIFE_SAMPLING_TEXT], run[FORMAT_MAX], bytes[FORMAT_MAX], work[FORMAT_MAX];
    const struct eden_profile_record *state = &heap->state;
    fprintf(out, "\n  %s%s%s\n", style_on(out, STYLE_HEADING), life_heap_label(text, heap),
            style_off(out, STYLE_HEADING));
    if (!heap->begun) {
        fprintf(out, "  not profiled\n");
        return;
    }
    fprintf(out, "  %s profiled, %s allocated; sampling %s, deaths found by %s",
            life_format(run, LIFE_NS, life_run(heap, LIFE_NS)),
            life_format(bytes, LIFE_BYTES, life_run(heap, LIFE_BYTES)),
            life_sampling_text(sampling, state->sampling, state->rate), life_mechanism_text(state->mechanism));
    if (state->work_ns) {
        fprintf(out, ", %s of work in collections", format_ns(work, state->work_ns));
    }
    if (state->passes) {
        fprintf(out, ", %" PRIu64 " passes", state->passes);
    }
    char missed[LIFE_MISSED_TEXT];
    fprintf(out, "%s%s\n", state->ended ? "" : "; end not reported", life_missed_text(missed, heap));
}

static bool has_sites(const struct life_heap *heap) {
    for (size_t i = 0; i < heap->site_count; i++) {
        if (heap->sites[i].site != heap->sites[i].class_id) {
            return true;
        }
    }
    return false;
}

uint64_t life_unreported(const struct life_site *group) {
    uint64_t ended = life_sums_of(group, LIFE_DIED, 0).count + life_sums_of(group, LIFE_CENSORED, 0).count;
    return group->births.count > ended ? group->births.count - ended : 0;
}

bool life_table(FILE *out, const struct life_model *model, const struct life_view_options *options,
                struct failure *why) {
    for (size_t i = 0; i < model->heap_count; i++) {
        const struct life_heap *heap = &model->heaps[i];
        char unknown[FORMAT_MAX];
        print_heading(out, heap);
        if (model->stacks && heap->begun) {
            fprintf(out, "  stacks of %s samples are unknown\n", format_count(unknown, life_by_stack_unknown(heap)));
        }
        if (heap->site_count == 0) {
            continue;
        }
        fprintf(out, "\n");
        if (!print_table(out, heap, options, false, false, why)) {
            return false;
        }
        if (has_sites(heap)) {
            fprintf(out, "\n");
            if (!print_table(out, heap, options, true, model->stacks, why)) {
                return false;
            }
        }
    }
    char wall[FORMAT_MAX];
    const enum style style = model->lost ? STYLE_WARNING : STYLE_PLAIN;
    fprintf(out, "\n  %s observed, %s%" PRIu64 " lost%s\n", format_ns(wall, model->wall_ns), style_on(out, style),
            model->lost, style_off(out, style));
    return true;
}
