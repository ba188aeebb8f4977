/* Findings for people: one screen that says what is wrong, why, what to paste, and what it costs. */
#include "util/text.h"
#include "advise/print.h"
#include "advise/rules/account.h"
#include "util/fold.h"
#include "util/format.h"
#include "util/message.h"
#include "util/style.h"
#include "util/terminal.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Of a heap that none of the shares and sums describe. */
static void print_unseen(FILE *out, const struct tune_facts *facts) {
    char wall[FORMAT_MAX], line[160];
    snprintf(line, sizeof line,
             tune_is_at_rest(facts) ? "no collection was observed in %s"
                                    : "? of %s was spent in collections: no collection ended while it was observed",
             format_ns(wall, facts->wall_ns));
    fold_paragraph(out, "  ", "%s", line);
}

/* Of a heap that was in a collection at the end: the time in it, with that of the others. */
static void print_under_way(FILE *out, const struct tune_facts *facts) {
    char wall[FORMAT_MAX], ns[FORMAT_MAX], gc[FORMAT_MAX], phase[PHASE_NOW_MAX], ended[64] = "no other ended",
                                                                                 line[320];
    const uint64_t in_ended = tune_figure(facts, EDEN_FIGURE_gc_ns), under_way = tune_under_way_ns(facts);
    if (tune_has_collections(facts)) {
        snprintf(ended, sizeof ended, "those that ended took %s", format_ns(gc, in_ended));
    }
    snprintf(line, sizeof line, "%.1f%% of %s was spent in collections: %s in one that had not ended, %s; %s",
             100 * tune_share_of_time(facts, (double)in_ended + (double)under_way), format_ns(wall, facts->wall_ns),
             format_ns(ns, under_way), tune_phase(phase, facts), ended);
    fold_paragraph(out, "  ", "%s", line);
}

/* heap 1 'main' */
enum { HEAP_TEXT = TEXT_GROWTH * 64 + HEAP_NUMBER + 16 };
static char *heap_text(char text[HEAP_TEXT], const struct tune_facts *facts) {
    char name[TEXT_GROWTH * sizeof facts->heap_name], number[HEAP_NUMBER];
    text_escape(name, sizeof name, facts->heap_name, "'");
    snprintf(text, HEAP_TEXT, "heap %s%s%s%s", heap_number_text(number, facts->id, facts->suffix), name[0] ? " '" : "",
             name, name[0] ? "'" : "");
    return text;
}

/* "3.50 s", or "59.7 ms of the 83.7 ms recorded": report's shares are of the latter. */
enum { WALL_TEXT = 2 * FORMAT_MAX + 32 };
static char *wall_text(char text[WALL_TEXT], const struct tune_facts *facts) {
    char wall[FORMAT_MAX], recorded[FORMAT_MAX];
    format_ns(wall, facts->wall_ns);
    if ((double)facts->recorded_ns < (double)facts->wall_ns * 1.05) {
        snprintf(text, WALL_TEXT, "%s", wall);
    } else {
        snprintf(text, WALL_TEXT, "%s of the %s recorded", wall, format_ns(recorded, facts->recorded_ns));
    }
    return text;
}

static void print_heap(FILE *out, const struct tune_facts *facts) {
    char command[TEXT_GROWTH * sizeof facts->command], heap[HEAP_TEXT], wall[WALL_TEXT], gc[FORMAT_MAX],
        scavenge[FORMAT_MAX], full[FORMAT_MAX], pause[FORMAT_MAX], count[FORMAT_MAX], line[640];
    text_escape(command, sizeof command, facts->command[0] ? facts->command : "?", "");
    fprintf(out, "%s%s[%" PRIu32 "] %s%s\n", style_on(out, STYLE_HEADING), command, facts->process.pid,
            heap_text(heap, facts), style_off(out, STYLE_HEADING));
    if (tune_unfinished_ns(facts) != 0 || (!tune_has_collections(facts) && tune_under_way_ns(facts) != 0)) {
        print_under_way(out, facts);
        return;
    }
    if (!tune_has_collections(facts)) {
        print_unseen(out, facts);
        return;
    }
    snprintf(
        line, sizeof line,
        "%.1f%% of %s was spent in collections: %s, in %s scavenge%s (%s) and %" PRIu64
        " full collection%s (%s); the longest pause was %s%s",
        100 * tune_gc_share(facts), wall_text(wall, facts), format_ns(gc, tune_figure(facts, EDEN_FIGURE_gc_ns)),
        format_count(count, tune_figure(facts, EDEN_FIGURE_scavenges)),
        plural(tune_figure(facts, EDEN_FIGURE_scavenges)),
        format_ns(scavenge, tune_figure(facts, EDEN_FIGURE_scavenge_ns)),
        tune_figure(facts, EDEN_FIGURE_full_collections), plural(tune_figure(facts, EDEN_FIGURE_full_collections)),
        format_ns(full, tune_figure(facts, EDEN_FIGURE_full_ns)),
        format_ns(pause, tune_figure(facts, EDEN_FIGURE_max_pause_ns)),
        facts->lost ? ". Events were lost: all figures are \"at least\""
        : tune_assumes_defaults(facts)
            ? ". Attached late: figures since attach. Parameters that were set before are unknown; the defaults are "
              "assumed"
        : facts->late              ? ". Attached late: figures since attach"
        : !facts->complete         ? ". Its end was not observed"
        : facts->unreported_passes ? ". Some collections were not observed in full, and are left out"
                                   : "");
    fold_paragraph(out, "  ", "%s", line);
}

/* What of the time in collections the findings explain, where that time matters. */
static void print_account(FILE *out, const struct findings *findings) {
    struct account account;
    struct account_shares shares;
    char line[256];
    account_make(&account, findings);
    account_shares(&shares, &account, findings->facts);
    if (!account.is_costly || shares.gc <= 0) {
        return;
    }
    snprintf(line, sizeof line,
             "the findings explain %.1f%% of the time, %.1f%% is unexplained (scavenges %.1f%%, full collections "
             "%.1f%%); shares of findings may overlap",
             100 * shares.explained, 100 * shares.unexplained, 100 * shares.rest[TUNE_SCAVENGES],
             100 * shares.rest[TUNE_FULLS]);
    fold_paragraph(out, "  ", "%s", line);
}

static void print_settings(FILE *out, const struct finding *finding) {
    char line[TUNE_TEXT + 256], value[TUNE_VALUE];
    size_t length = 0;
    for (int i = 0; i < finding->setting_count; i++) {
        const struct setting *setting = &finding->settings[i];
        length += (size_t)snprintf(line + length, sizeof line - length, "%s%s=%s", i ? ", " : "",
                                   eden_param(setting->parameter)->name,
                                   tune_value(value, setting->parameter, setting->number));
    }
    snprintf(line + length, sizeof line - length, "%s%s", finding->setting_count ? ": " : "", finding->how);
    fold_paragraph(out, "     set  ", "%s", line);
}

static void print_gain(FILE *out, const struct finding *finding) {
    char line[TUNE_TEXT + 128], gain[64] = "not estimated";
    if (finding->gains) {
        snprintf(gain, sizeof gain, "%.0f%% to %.0f%% of the time in collections", 100 * finding->gain_min,
                 100 * finding->gain_max);
    }
    snprintf(line, sizeof line, "%s%s%s", gain, finding->cost[0] ? "; costs " : "", finding->cost);
    fold_paragraph(out, "    gain  ", "%s", line);
}

static void print_finding(FILE *out, const struct finding *finding) {
    static const enum style styles[] = {
        [TUNE_NOTE] = STYLE_FAINT, [TUNE_LOW] = STYLE_PLAIN, [TUNE_MEDIUM] = STYLE_WARNING, [TUNE_HIGH] = STYLE_BAD};
    const enum style style = styles[finding->severity];
    fprintf(out, "\n  %s%s%s (%s%s%s", style_on(out, STYLE_HEADING), finding->key, style_off(out, STYLE_HEADING),
            style_on(out, style), tune_severity_names[finding->severity], style_off(out, style));
    if (finding->time_share > 0) {
        fprintf(out, ": %.1f%% of the run", 100 * finding->time_share);
    }
    fputs(")\n", out);
    for (int i = 0; i < finding->evidence_count; i++) {
        fold_paragraph(out, i ? "          " : "    seen  ", "%s", finding->evidence[i]);
    }
    if (finding->why[0]) {
        fold_paragraph(out, "     why  ", "%s", finding->why);
    }
    if (finding->setting_count) {
        print_settings(out, finding);
        print_gain(out, finding);
    } else if (finding->how[0]) {
        fold_paragraph(out, "      do  ", "%s", finding->how);
    }
}

static void print_unexamined(FILE *out, const struct findings *findings) {
    for (int i = 0; i < findings->unexamined_count; i++) {
        const struct unexamined *unexamined = &findings->unexamined[i];
        bool is_continued = i && strcmp(unexamined->needs, findings->unexamined[i - 1].needs) == 0;
        bool more =
            i + 1 < findings->unexamined_count && strcmp(unexamined->needs, findings->unexamined[i + 1].needs) == 0;
        fprintf(out, "%s%s", is_continued ? ", " : "  not examined: ", unexamined->key);
        if (!more) {
            fprintf(out, " (%s)\n", unexamined->needs);
        }
    }
}

/* What the command had, without what is set anew, and that. */
static void print_merged(FILE *out, const struct tune_report *report) {
    char line[TUNE_OPTIONS_LINE];
    const char *comma = "";
    for (const char *at = report->before, *end; *at; at = *end ? end + 1 : end) {
        char name[64];
        end = at + strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "=,"), at);
        const enum eden_param_id id = eden_param_find(name);
        if (end != at && (id == EDEN_PARAM_COUNT || !report->options.set[id])) {
            fprintf(out, "%s%.*s", comma, (int)(end - at), at);
            comma = ",";
        }
    }
    tune_options_line(line, &report->options);
    fprintf(out, "%s%s", line[0] ? comma : "", line);
}

static bool has_finding(const struct tune_report *report, const char *key) {
    for (size_t i = 0; i < report->heaps; i++) {
        for (size_t j = 0; j < report->findings[i].count; j++) {
            if (strcmp(report->findings[i].at[j].key, key) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Of a setting that is for one heap alone. */
enum { WITHHELD = 2 * HEAP_TEXT + TUNE_VALUE + 128 };
static char *withheld_text(char text[WITHHELD], const struct tune_options *options, enum eden_param_id id) {
    char value[TUNE_VALUE], of[HEAP_TEXT], harmed[HEAP_TEXT];
    snprintf(text, WITHHELD,
             "%s=%s (%s) is for %s alone: EDEN_OPTIONS sets it for all heaps of the process, and %s needs another",
             eden_param(id)->name, tune_value(value, id, options->number[id]), options->from[id],
             heap_text(of, options->of[id]), heap_text(harmed, options->harmed[id]));
    return text;
}

static bool has_withheld(const struct tune_options *options) {
    for (int i = 0; i < EDEN_PARAM_COUNT; i++) {
        if (options->harmed[i]) {
            return true;
        }
    }
    return false;
}

/* What is for one heap alone. */
static void print_withheld(FILE *out, const struct tune_options *options) {
    for (int i = 0; i < EDEN_PARAM_COUNT; i++) {
        char text[WITHHELD];
        if (options->harmed[i]) {
            fprintf(out, "%s.\n  Set it where the program creates that heap (docs/embedding.md).\n",
                    withheld_text(text, options, (enum eden_param_id)i));
        }
    }
}

void tune_print_options(FILE *out, const struct tune_report *report) {
    for (int i = 0; i < EDEN_PARAM_COUNT; i++) {
        char text[WITHHELD];
        if (report->options.harmed[i]) {
            message_print("%s", withheld_text(text, &report->options, (enum eden_param_id)i));
        }
    }
    fputs("EDEN_OPTIONS=", out);
    print_merged(out, report);
    fputc('\n', out);
}

static void print_paste(FILE *out, const struct tune_report *report) {
    char line[TUNE_OPTIONS_LINE];
    print_withheld(out, &report->options);
    if (!tune_options_line(line, &report->options)[0]) {
        fprintf(out, has_finding(report, "unexplained") ? "The rules propose no parameter, but time is unexplained: "
                                                          "`edenscope tune --search` measures parameters.\n"
                     : has_finding(report, "unfinished")
                         ? "No parameter is proposed: find out why the collection does not end.\n"
                     : has_finding(report, "unseen")
                         ? "No parameter is proposed: no collection ended while it was observed.\n"
                     : has_withheld(&report->options) ? ""
                                                      : "Keep the current parameters.\n");
        return;
    }
    for (int i = 0; i < EDEN_PARAM_COUNT; i++) {
        if (report->options.overruled[i] && !report->options.harmed[i]) {
            char value[TUNE_VALUE], of[HEAP_TEXT];
            fprintf(out, "%s (%s) and %s both set %s; the setting for the greater need applies: %s.\n",
                    report->options.from[i], heap_text(of, report->options.of[i]), report->options.overruled[i],
                    eden_param((enum eden_param_id)i)->name,
                    tune_value(value, (enum eden_param_id)i, report->options.number[i]));
        }
    }
    bool is_late = false;
    for (size_t i = 0; i < report->heaps; i++) {
        is_late = is_late || report->findings[i].facts->late;
    }
    fprintf(out, "Run it with%s%s:\n", report->heaps > 1 ? " (for all of its heaps)" : "",
            is_late ? ", added to the EDEN_OPTIONS that it has, if it has any" : "");
    terminal_fold(false);
    fputs("  EDEN_OPTIONS=\"", out);
    print_merged(out, report);
    fprintf(out, "\" %s\n", report->command ? report->command : "PROGRAM");
    terminal_fold(true);
}

void tune_print_text(FILE *out, const struct tune_report *report) {
    for (size_t i = 0; i < report->heaps; i++) {
        const struct findings *findings = &report->findings[i];
        print_heap(out, findings->facts);
        print_account(out, findings);
        for (size_t j = 0; j < findings->count; j++) {
            print_finding(out, &findings->at[j]);
        }
        if (findings->unexamined_count) {
            fputc('\n', out);
            print_unexamined(out, findings);
        }
        fputc('\n', out);
    }
    print_paste(out, report);
}
