/* The table that `lifetimes` prints: by class, then by site where classes are allocated at sites.
 *
 * Births, deaths and censored are samples; shares are estimates for all objects. ">=" before a mean and ">" before a
 * median: objects alive at the end hide the rest. Objects known by number only (their heap's end was not reported)
 * count as censored. */
#include "views/lifetimes/table.h"
#include "model/lifetimes/options.h"
#include "stats/by_stack.h"
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

static void print_row(FILE *out, const struct life_heap *heap, const struct life_groups *groups,
                      const struct life_site *group, const struct life_view_options *options, bool by_site) {
    char text[FORMAT_MAX + 2], label[LIFE_HEAP_LABEL];
    struct life_summary summary;
    life_summarise(&summary, heap, group, &groups->total, &options->rule);
    fprintf(out, "%11s", format_count(text, summary.births));
    fprintf(out, " %7s", life_percent(text, summary.allocation_share));
    fprintf(out, " %7s", life_percent(text, summary.memory_share));
    fprintf(out, " %11s", format_count(text, summary.deaths));
    fprintf(out, " %10s", format_count(text, summary.censored + life_unreported(group)));
    fprintf(out, " %10s", life_mean_text(text, LIFE_NS, &summary.mean[LIFE_NS]));
    fprintf(out, " %10s", life_mean_text(text, LIFE_BYTES, &summary.mean[LIFE_BYTES]));
    fprintf(out, " %7s", life_percent(text, summary.mean_share));
    fprintf(out, " %10s", median_text(text, group));
    fprintf(out, " %9s", life_mean_text(text, LIFE_SCAVENGES, &summary.mean[LIFE_SCAVENGES]));
    fprintf(out, " %7s", life_mean_text(text, LIFE_FULLS, &summary.mean[LIFE_FULLS]));
    fprintf(out, "  %-12s %s\n", life_verdict_text(&summary),
            by_site && life_is_stack(group->site) ? life_place_label(label, group)
                                                  : life_group_label(label, group, by_site));
}

static bool print_table(FILE *out, const struct life_heap *heap, const struct life_view_options *options, bool by_site,
                        bool stacks, struct failure *why) {
    struct life_groups groups;
    if (!life_groups_make(&groups, heap, by_site)) {
        return life_no_memory(why);
    }
    size_t rows = life_rows(options, groups.count);
    fprintf(out, "%11s %7s %7s %11s %10s %10s %10s %7s %10s %9s %7s  %-11s  %s\n", "births", "objects", "memory",
            "deaths", "censored", "lifetime", "allocated", "of run", "median", "scavenges", "fulls", "verdict",
            !by_site ? "class"
            : stacks ? "stack"
                     : "site");
    for (size_t i = 0; i < rows; i++) {
        print_row(out, heap, &groups, groups.at[i], options, by_site);
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
    fprintf(out, "\n  %s\n", life_heap_label(text, heap));
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
    fprintf(out, "\n  %s observed, %" PRIu64 " lost\n", format_ns(wall, model->wall_ns), model->lost);
    return true;
}
