/* `edenscope simulate`: what the collections of a recorded program would do under other parameters.
 *
 *     recording --> trace (simulate/trace.c) --> history, by cells (history.c)
 *     history + parameters --> simulated collector (collector.c) --> figures --> table or JSON
 *
 * A parameter may be given several values; each combination is predicted. */
#include "cli/commands.h"
#include "cli/options.h"
#include "eden_values.h"
#include "recording/recording.h"
#include "simulate/trace.h"
#include "util/array.h"
#include "util/format.h"
#include "util/json.h"
#include "util/output.h"
#include "util/sheet.h"
#include "util/text.h"
#include "util/whole.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIMULATE_OPTIONS_MAX = 256 };

struct simulate_prediction {
    char options[SIMULATE_OPTIONS_MAX]; /* as EDEN_OPTIONS takes them; "": nothing was wished for */
    struct simulate_figures figures;
};

/* Predictions below the recorded run and its simulation: the difference of these two shows how far to trust the
 * predictions. */

/* ---- a table ---------------------------------------------------------------------------------------------------- */

static const char *bytes_text(char text[FORMAT_MAX], double bytes) { return format_bytes(text, whole_of(bytes + 0.5)); }

enum { BEFORE_CAUSES = 5, CELLS = BEFORE_CAUSES + EDEN_FULL_CAUSES + 2 };

static void print_row(const struct sheet *sheet, const struct simulate_figures *figures, const char *what) {
    char text[CELLS][FORMAT_MAX];
    struct sheet_cell cells[CELLS] = {{format_count(text[0], figures->scavenges), STYLE_PLAIN},
                                      {bytes_text(text[1], figures->survived_bytes), STYLE_PLAIN},
                                      {bytes_text(text[2], figures->held_bytes), STYLE_PLAIN},
                                      {bytes_text(text[3], figures->tenured_bytes), STYLE_PLAIN},
                                      {format_count(text[4], figures->full_collections), STYLE_PLAIN}};
    for (unsigned cause = 0; cause < EDEN_FULL_CAUSES; cause++) {
        const unsigned i = BEFORE_CAUSES + cause;
        cells[i].form = format_count(text[i], figures->full_by_cause[cause]);
    }
    cells[CELLS - 2].form = bytes_text(text[CELLS - 2], figures->old_used_peak);
    cells[CELLS - 1].form = what;
    sheet_row(sheet, cells);
}

static void print_holding(FILE *out, const struct simulate_holding *holding) {
    bool known = !isnan(holding->share[SIMULATE_SEEN]) || !isnan(holding->share[SIMULATE_UNSEEN]);
    fprintf(out, "  held: dead objects that survive because dead old objects refer to them, %s\n\n",
            known ? "estimated from the recorded run" : "unknown: in the recorded run no dead object could be held");
}

static void simulate_print_table(FILE *out, const struct simulate_trace *trace,
                                 const struct simulate_prediction *predictions, size_t count) {
    char command[TEXT_GROWTH * sizeof trace->command], name[TEXT_GROWTH * sizeof trace->name], usual[400],
        recorded[400], number[HEAP_NUMBER], bytes[FORMAT_MAX], objects[FORMAT_MAX];
    struct simulate_parameters parameters;
    simulate_parameters_usual(&parameters, &trace->parameters);
    simulate_parameters_text(&parameters, usual, sizeof usual);
    simulate_parameters_text(&trace->parameters, recorded, sizeof recorded);
    fprintf(out, "  %s[%u] heap %s '%s': %s allocated, %s objects\n",
            text_escape(command, sizeof command, trace->command, ""), trace->process.pid,
            heap_number_text(number, trace->id, trace->suffix), text_escape(name, sizeof name, trace->name, "'"),
            format_bytes(bytes, trace->history.end), format_count(objects, trace->history.objects));
    fprintf(out, "  recorded with %s, else defaults\n  where nothing is given: %s, else defaults\n", recorded, usual);
    print_holding(out, &trace->holding);
    struct sheet_column columns[CELLS] = {{"scavenges", SHEET_NUMBER, 11, 0},
                                          {"copied", SHEET_NUMBER, 10, 1},
                                          {"held", SHEET_NUMBER, 10, 1},
                                          {"tenured", SHEET_NUMBER, 10, 1},
                                          {"fulls", SHEET_NUMBER, 7, 1}};
    for (unsigned cause = 0; cause < EDEN_FULL_CAUSES; cause++) {
        columns[BEFORE_CAUSES + cause] = (struct sheet_column){eden_full_cause_name(cause), SHEET_NUMBER, 10, 1};
    }
    columns[CELLS - 2] = (struct sheet_column){"old, most", SHEET_NUMBER, 10, 1};
    columns[CELLS - 1] = (struct sheet_column){"parameters", SHEET_WORDS, 0, 2};
    const struct sheet sheet = SHEET(out, "", columns);
    sheet_heading(&sheet);
    print_row(&sheet, &trace->recorded, "as recorded");
    print_row(&sheet, &trace->again, "as recorded, simulated");
    for (size_t i = 0; i < count; i++) {
        print_row(&sheet, &predictions[i].figures,
                  predictions[i].options[0] ? predictions[i].options : "nothing given");
    }
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static json_t *bytes_json(double bytes) { return json_number(whole_of(bytes + 0.5)); }

static json_t *figures_json(const struct simulate_figures *figures) {
    json_t *causes = json_object();
    for (unsigned cause = 0; cause < EDEN_FULL_CAUSES; cause++) {
        json_object_set_new(causes, eden_full_cause_name(cause), json_number(figures->full_by_cause[cause]));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "scavenges", json_number(figures->scavenges),
                     "full_collections", json_number(figures->full_collections), "full_by_cause", causes,
                     "survived_bytes", bytes_json(figures->survived_bytes), "held_bytes",
                     bytes_json(figures->held_bytes), "tenured_bytes", bytes_json(figures->tenured_bytes), "old_used",
                     bytes_json(figures->old_used), "old_used_peak", bytes_json(figures->old_used_peak), "eden_size",
                     bytes_json(figures->eden_size));
}

static json_t *holding_json(const struct simulate_holding *holding) {
    double seen = holding->share[SIMULATE_SEEN], unseen = holding->share[SIMULATE_UNSEEN];
    return json_pack("{s:o, s:o}", "young", isnan(seen) ? json_null() : json_real(seen), "youngest",
                     isnan(unseen) ? json_null() : json_real(unseen));
}

/* False: no memory, or writing failed. */
static bool simulate_print_json(FILE *out, const struct simulate_trace *trace,
                                const struct simulate_prediction *predictions, size_t count) {
    char usual[400], recorded[400];
    struct simulate_parameters parameters;
    simulate_parameters_usual(&parameters, &trace->parameters);
    simulate_parameters_text(&parameters, usual, sizeof usual);
    simulate_parameters_text(&trace->parameters, recorded, sizeof recorded);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *figures = figures_json(&predictions[i].figures);
        json_object_set_new(figures, "options", json_string(predictions[i].options));
        json_array_append_new(list, figures);
    }
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:s, s:o, s:o, s:o}", "pid", json_number(trace->process.pid), "heap",
        json_known(trace->id), "serial", json_known(trace->serial), "name", json_name(trace->name, sizeof trace->name),
        "command", json_name(trace->command, sizeof trace->command), "options", usual, "holding",
        holding_json(&trace->holding), "recorded_options", recorded, "recorded", figures_json(&trace->recorded),
        "recorded_simulated", figures_json(&trace->again), "predictions", list);
    return json_print_as(out, "edenscope/simulate/1", object);
}

/* The command. */

static const char usage[] =
    "simulate [-i FILE [--force]] [--heap ID] [--pid PID] [--json] [-v] [NAME=VALUE[,VALUE...]]...\n\n"
    "  Predicts the collections of a recorded program under other parameters, or policy=auto (docs/edenscope.md). "
    "Reads the\n"
    "  recording FILE (default eden.data), which must contain all objects. To make one:\n"
    "    EDEN_OPTIONS=policy=fixed,eden_size=1M,full_gc_ratio=0,grow_headroom=64K,tenure_fill=0,tenure_proportion=0.02 "
    "\\\n"
    "        edenscope record --lifetimes=details --sampling all -- PROGRAM";

enum { MOST_PREDICTIONS = 10000 };

struct sweep {
    const struct simulate_trace *trace;
    char **words;
    size_t word_count;
    struct simulate_prediction *predictions; /* owned */
    size_t count, room;
};

static bool predict(struct sweep *sweep, const struct simulate_parameters *parameters, const char *options,
                    struct failure *why) {
    struct simulate_prediction *prediction =
        sweep->count < MOST_PREDICTIONS
            ? array_grow(&sweep->predictions, &sweep->room, sweep->count, sizeof *prediction)
            : NULL;
    if (!prediction) {
        return failure_set(why, 1, "too many combinations of values: at most %d", MOST_PREDICTIONS);
    }
    sweep->count++;
    snprintf(prediction->options, sizeof prediction->options, "%s", options);
    return simulate_trace_predict(sweep->trace, parameters, &prediction->figures, why);
}

/* The words from `word` on, each value in turn; `options` is what those before said. */
static bool sweep_words(struct sweep *sweep, size_t word, const struct simulate_parameters *parameters,
                        const char *options, struct failure *why) {
    if (word == sweep->word_count) {
        return predict(sweep, parameters, options, why);
    }
    const char *text = sweep->words[word], *sign = strchr(text, '=');
    if (!sign) {
        struct simulate_parameters none = *parameters;
        return simulate_parameter_wanted(&none, text, why); /* says what is wrong */
    }
    for (const char *value = sign + 1;; value++) {
        char one[128], all[SIMULATE_OPTIONS_MAX];
        size_t length = strcspn(value, ",");
        struct simulate_parameters next = *parameters;
        if ((size_t)(sign - text) + length + 2 > sizeof one ||
            strlen(options) + (size_t)(sign - text) + length + 3 > sizeof all) {
            return failure_set(why, 1, "%.40s...: too long", text);
        }
        snprintf(one, sizeof one, "%.*s=%.*s", (int)(sign - text), text, (int)length, value);
        snprintf(all, sizeof all, "%s%s%s", options, *options ? "," : "", one);
        if (!simulate_parameter_wanted(&next, one, why) || !sweep_words(sweep, word + 1, &next, all, why)) {
            return false;
        }
        value += length;
        if (*value == '\0') {
            return true;
        }
    }
}

/* Reports wrong arguments before reading a long recording. */
static bool check_words(char **words, size_t count, struct failure *why) {
    struct simulate_parameters parameters;
    simulate_parameters_default(&parameters);
    for (size_t i = 0; i < count; i++) {
        size_t name = strcspn(words[i], "="), first = strcspn(words[i], ",");
        char one[128];
        snprintf(one, sizeof one, "%.*s", (int)(first > name ? first : name), words[i]);
        if (!simulate_parameter_wanted(&parameters, one, why)) {
            return false;
        }
    }
    return true;
}

static bool run(const struct options *options, struct recording *recording, const char *path,
                struct simulate_trace *trace, struct failure *why) {
    struct simulate_parameters usual;
    struct sweep sweep = {.trace = trace, .words = options->rest, .word_count = options->rest_count};
    const struct heap_choice choice = {(uint64_t)options->pid, options->heap, options->heap_serial};
    bool good = simulate_trace_read(trace, recording, path, &choice, why);
    simulate_parameters_usual(&usual, &trace->parameters);
    good = good && sweep_words(&sweep, 0, &usual, "", why);
    if (good && !options->json) {
        simulate_print_table(stdout, trace, sweep.predictions, sweep.count);
    } else if (good) {
        good = simulate_print_json(stdout, trace, sweep.predictions, sweep.count) || ferror(stdout) ||
               failure_set(why, 1, "out of memory for the predictions");
    }
    free(sweep.predictions);
    return good;
}

int cmd_simulate(int argc, char **argv) {
    struct options options;
    struct failure why;
    struct simulate_trace trace = {0};
    int status;
    if (!options_parse(&options, ACCEPT_INPUT | ACCEPT_JSON | ACCEPT_HEAP | ACCEPT_REST, usage, argc, argv, &status)) {
        return status;
    }
    if (!check_words(options.rest, options.rest_count, &why)) {
        return failure_report(&why);
    }
    const char *path = options.input ? options.input : "eden.data";
    struct recording *recording = recording_open_with(path, recording_last(options.force), &why);
    bool good = recording && run(&options, recording, path, &trace, &why);
    simulate_history_clear(&trace.history);
    recording_close(recording);
    return output_finish(stdout, "the predictions on standard output", good ? 0 : failure_report(&why));
}
