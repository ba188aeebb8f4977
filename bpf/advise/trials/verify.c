/* Pairs, and nothing fancier: each pair is one run as it is and one with the options, right after each other, and which
 * goes first alternates. What is compared is the ratio within a pair (stats.h says why), and a gain is claimed only
 * where the interval of the ratios excludes 1. One run goes before them all: it fills the caches of files that the
 * command reads, and shows what is wrong with the command before time is spent on it.
 *
 * That the program prints the same is checked too: parameters of a collector must not change what a program does. A
 * program that never prints the same twice can't be checked so, which the default runs among themselves show. */
#include "advise/trials/verify.h"
#include "util/format.h"
#include "util/json.h"
#include "util/message.h"
#include "util/sheet.h"
#include "util/whole.h"
#include <inttypes.h>

const char *const verify_names[VERIFY_MEASURES] = {"time_s",   "cpu_s",       "gc_s",
                                                   "gc_share", "max_pause_s", "memory_bytes"};

struct series {
    double value[VERIFY_MEASURES][STATS_MOST];
    uint64_t hash[STATS_MOST + 1], bytes[STATS_MOST + 1]; /* of the output; defaults: the run before the pairs, too */
    size_t outputs;
};

static void add(struct series *series, size_t pair, const struct trial_figures *figures) {
    double wall = (double)figures->wall_ns, gc = (double)figures->figure[EDEN_FIGURE_gc_ns];
    series->value[VERIFY_TIME][pair] = wall / 1e9;
    series->value[VERIFY_CPU][pair] = (double)figures->cpu_ns / 1e9;
    series->value[VERIFY_GC][pair] = gc / 1e9;
    series->value[VERIFY_SHARE][pair] = wall > 0 ? gc / wall : 0;
    series->value[VERIFY_PAUSE][pair] = (double)figures->figure[EDEN_FIGURE_max_pause_ns] / 1e9;
    series->value[VERIFY_MEMORY][pair] = (double)figures->peak_bytes;
}

static void add_output(struct series *series, const struct trial_figures *figures) {
    series->hash[series->outputs] = figures->output_hash;
    series->bytes[series->outputs++] = figures->output_bytes;
}

static bool all_print(const struct series *series, uint64_t hash, uint64_t bytes) {
    for (size_t i = 0; i < series->outputs; i++) {
        if (series->hash[i] != hash || series->bytes[i] != bytes) {
            return false;
        }
    }
    return true;
}

static enum verify_output compare_output(const struct series series[VERIFY_SIDES]) {
    const struct series *original = &series[VERIFY_DEFAULT];
    if (!all_print(original, original->hash[0], original->bytes[0])) {
        return VERIFY_CHANGES;
    }
    return all_print(&series[VERIFY_TUNED], original->hash[0], original->bytes[0]) ? VERIFY_SAME : VERIFY_DIFFERS;
}

static void summarize(const struct series series[VERIFY_SIDES], struct verify_result *result) {
    for (int i = 0; i < VERIFY_MEASURES; i++) {
        const double *original = series[VERIFY_DEFAULT].value[i], *tuned = series[VERIFY_TUNED].value[i];
        result->side[VERIFY_DEFAULT][i] = stats_of(original, result->pairs);
        result->side[VERIFY_TUNED][i] = stats_of(tuned, result->pairs);
        result->ratio[i] = stats_of_ratios(original, tuned, result->pairs);
    }
    result->output = compare_output(series);
}

static void report_pair(size_t pair, size_t pairs, const struct series series[VERIFY_SIDES]) {
    const struct series *original = &series[VERIFY_DEFAULT], *tuned = &series[VERIFY_TUNED];
    message_print("pair %zu of %zu: time %.3f s and %.3f s tuned, GC %.3f s and %.3f s", pair + 1, pairs,
                  original->value[VERIFY_TIME][pair], tuned->value[VERIFY_TIME][pair], original->value[VERIFY_GC][pair],
                  tuned->value[VERIFY_GC][pair]);
}

bool verify_run(char *const *command, const char *options, size_t pairs, struct verify_result *result,
                struct failure *why) {
    static const char *const none = "";
    struct series series[VERIFY_SIDES] = {0};
    struct trial_figures figures;
    *result = (struct verify_result){0};
    enum trial_outcome outcome = trial_run(command, none, 0, &figures, why);
    if (outcome != TRIAL_RAN) {
        return false;
    }
    add_output(&series[VERIFY_DEFAULT], &figures);
    for (size_t pair = 0; pair < pairs && outcome == TRIAL_RAN; pair++) {
        for (size_t turn = 0; turn < VERIFY_SIDES && outcome == TRIAL_RAN; turn++) {
            size_t side = (pair + turn) % VERIFY_SIDES;
            outcome = trial_run(command, side == VERIFY_TUNED ? options : none, 0, &figures, why);
            if (outcome == TRIAL_RAN) {
                add(&series[side], pair, &figures);
                add_output(&series[side], &figures);
                if (pair == 0) {
                    result->first[side] = figures;
                }
            }
        }
        if (outcome == TRIAL_RAN) {
            result->pairs++;
            report_pair(pair, pairs, series);
        }
    }
    result->interrupted = outcome == TRIAL_INTERRUPTED;
    if (result->pairs == 0 || (outcome != TRIAL_RAN && !result->interrupted)) {
        return false;
    }
    summarize(series, result);
    return true;
}

/* What was verified, as a table with its conclusion in plain words, and as JSON. */

/* ---- as a table ------------------------------------------------------------------------------------------------- */

static const char *const titles[VERIFY_MEASURES] = {"time",     "CPU time",      "GC time",
                                                    "GC share", "longest pause", "memory"};

static char *form(char text[FORMAT_MAX], enum verify_measure measure, double value) {
    if (measure == VERIFY_MEMORY) {
        return format_bytes(text, whole_of(value));
    }
    if (measure == VERIFY_SHARE) {
        snprintf(text, FORMAT_MAX, "%.1f%%", 100 * value);
        return text;
    }
    return format_ns(text, whole_of(value * 1e9));
}

static const char *verdict_text(const struct stats *ratio) {
    switch (stats_verdict(ratio)) {
    case VERDICT_LESS:
        return "less";
    case VERDICT_MORE:
        return "more";
    case VERDICT_NONE:
        return "no difference seen";
    default:
        return "too few pairs";
    }
}

static enum style verdict_style(const struct stats *ratio) {
    const enum verdict verdict = stats_verdict(ratio);
    return verdict == VERDICT_LESS ? STYLE_GOOD : verdict == VERDICT_MORE ? STYLE_BAD : STYLE_PLAIN;
}

static void print_counts(const struct sheet *sheet, const char *title, const struct verify_result *result,
                         enum eden_figure figure) {
    char original[FORMAT_MAX], tuned[FORMAT_MAX];
    snprintf(original, sizeof original, "%" PRIu64, result->first[VERIFY_DEFAULT].figure[figure]);
    snprintf(tuned, sizeof tuned, "%" PRIu64, result->first[VERIFY_TUNED].figure[figure]);
    sheet_row(sheet, (const struct sheet_cell[]){{title, STYLE_PLAIN},
                                                 {original, STYLE_PLAIN},
                                                 {tuned, STYLE_PLAIN},
                                                 {"", STYLE_PLAIN},
                                                 {"", STYLE_PLAIN},
                                                 {"", STYLE_PLAIN}});
}

static void print_conclusion(FILE *out, const struct verify_result *result) {
    const struct stats *time = &result->ratio[VERIFY_TIME], *gc = &result->ratio[VERIFY_GC];
    if (stats_verdict(time) == VERDICT_TOO_FEW) {
        fprintf(out, "Too few pairs to distinguish a gain from noise: use at least 5 (--pairs 5).\n");
        return;
    }
    if (stats_verdict(gc) == VERDICT_LESS && gc->median > 0) {
        fprintf(out, "GC time: gain seen, %.2fx less.\n", 1 / gc->median);
    } else if (stats_verdict(gc) == VERDICT_LESS) {
        fprintf(out, "GC time: gain seen, none is left.\n");
    } else {
        fprintf(out, "GC time: no gain seen%s.\n", stats_verdict(gc) == VERDICT_MORE ? ", more than before" : "");
    }
    if (stats_verdict(time) == VERDICT_LESS) {
        fprintf(out, "Total time: gain seen, %.1f%% less.\n", 100 * (1 - time->median));
    } else {
        fprintf(out, "Total time: no gain seen%s.\n", stats_verdict(time) == VERDICT_MORE ? ", more than before" : "");
    }
}

static void print_absent(FILE *out, const struct trial_figures *tuned) {
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        if (tuned->without[id] != 0) {
            fprintf(out,
                    "%s%s was not in force in %u of %u heap%s: EDEN_OPTIONS did not reach it, or the program set "
                    "it.%s\n",
                    style_on(out, STYLE_BAD), eden_param(id)->name, tuned->without[id], tuned->heaps,
                    plural(tuned->heaps), style_off(out, STYLE_BAD));
        }
    }
}

static void print_remarks(FILE *out, const struct verify_result *result) {
    const struct trial_figures *first = &result->first[VERIFY_DEFAULT];
    if (result->output == VERIFY_CHANGES) {
        fprintf(out, "The output of the command changes from run to run, so it cannot be compared.\n");
    } else {
        const enum style style = result->output == VERIFY_SAME ? STYLE_PLAIN : STYLE_BAD;
        fprintf(out, "%s%s%s\n", style_on(out, style),
                result->output == VERIFY_SAME ? "The output of the command is the same."
                                              : "THE OUTPUT OF THE COMMAND DIFFERS with these options.",
                style_off(out, style));
    }
    print_absent(out, &result->first[VERIFY_TUNED]);
    trial_print_remarks(out, first, first->peak_is_bound || result->first[VERIFY_TUNED].peak_is_bound);
    if (result->interrupted) {
        fprintf(out, "Interrupted: this covers the completed pairs.\n");
    }
}

void verify_print(FILE *out, const struct verify_result *result, const char *options) {
    fprintf(out,
            "\n"
            "%zu pair%s of runs, with current options and with EDEN_OPTIONS=%s\n\n",
            result->pairs, plural(result->pairs), options);
    static const struct sheet_column columns[] = {{"", SHEET_WORDS, 14, 0},        {"current", SHEET_NUMBER, 12, 1},
                                                  {"tuned", SHEET_NUMBER, 12, 1},  {"ratio", SHEET_NUMBER, 8, 1},
                                                  {"min-max", SHEET_WORDS, 15, 2}, {"", SHEET_WORDS, 0, 1}};
    const struct sheet sheet = SHEET(out, "", columns);
    sheet_heading(&sheet);
    for (enum verify_measure i = 0; i < VERIFY_MEASURES; i++) {
        char original[FORMAT_MAX], tuned[FORMAT_MAX], median[FORMAT_MAX], range[2 * FORMAT_MAX];
        const struct stats *ratio = &result->ratio[i];
        snprintf(median, sizeof median, "%.3f", ratio->median);
        snprintf(range, sizeof range, "%.3f-%.3f", ratio->least, ratio->most);
        sheet_row(&sheet, (const struct sheet_cell[]){
                              {titles[i], STYLE_PLAIN},
                              {form(original, i, result->side[VERIFY_DEFAULT][i].median), STYLE_PLAIN},
                              {form(tuned, i, result->side[VERIFY_TUNED][i].median), STYLE_PLAIN},
                              {median, STYLE_PLAIN},
                              {range, STYLE_PLAIN},
                              {verdict_text(ratio), verdict_style(ratio)},
                          });
    }
    print_counts(&sheet, "scavenges", result, EDEN_FIGURE_scavenges);
    print_counts(&sheet, "full", result, EDEN_FIGURE_full_collections);
    fputc('\n', out);
    print_conclusion(out, result);
    print_remarks(out, result);
}

/* ---- as JSON ---------------------------------------------------------------------------------------------------- */

static json_t *side_json(const struct verify_result *result, enum verify_side side) {
    const struct trial_figures *first = &result->first[side];
    json_t *object = json_object();
    for (int i = 0; i < VERIFY_MEASURES; i++) {
        json_object_set_new(object, verify_names[i], stats_json(&result->side[side][i]));
    }
    json_object_set_new(object, "memory_is_bound", json_boolean(first->peak_is_bound));
    json_object_set_new(object, "scavenges", json_number(first->figure[EDEN_FIGURE_scavenges]));
    json_object_set_new(object, "full_collections", json_number(first->figure[EDEN_FIGURE_full_collections]));
    json_object_set_new(object, "heaps", json_integer(first->heaps));
    json_object_set_new(object, "processes", json_integer(first->processes));
    return object;
}

static json_t *seen_json(const struct stats *ratio) {
    static const char *const names[] = {[VERDICT_LESS] = "less", [VERDICT_MORE] = "more", [VERDICT_NONE] = "none"};
    enum verdict verdict = stats_verdict(ratio);
    return verdict == VERDICT_TOO_FEW ? json_null() : json_string(names[verdict]);
}

json_t *verify_json(const struct verify_result *result, const char *options) {
    json_t *ratio = json_object(), *seen = json_object(), *absent = json_array();
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        if (result->first[VERIFY_TUNED].without[id] != 0) {
            json_array_append_new(absent, json_string(eden_param(id)->name));
        }
    }
    for (int i = 0; i < VERIFY_MEASURES; i++) {
        json_object_set_new(ratio, verify_names[i], stats_json(&result->ratio[i]));
        json_object_set_new(seen, verify_names[i], seen_json(&result->ratio[i]));
    }
    return json_pack("{s:o,s:I,s:f,s:b,s:o,s:o,s:o,s:o,s:o,s:o}", "options", json_text(options, SIZE_MAX), "pairs",
                     (json_int_t)result->pairs, "confidence", result->ratio[VERIFY_TIME].confidence, "interrupted",
                     result->interrupted, "not_in_force", absent, "default", side_json(result, VERIFY_DEFAULT), "tuned",
                     side_json(result, VERIFY_TUNED), "ratio", ratio, "seen", seen, "same_output",
                     result->output == VERIFY_CHANGES ? json_null() : json_boolean(result->output == VERIFY_SAME));
}
