/* `edenscope simulate`: what the collections of a recorded program would do under other parameters.
 *
 *     recording --> trace (simulate/trace.c) --> history, by cells (history.c)
 *     history + parameters --> simulated collector (collector.c, young.c, old.c) --> figures --> table or JSON
 *
 * A parameter may be given several values; each combination is predicted. */
#include "cli/commands.h"
#include "cli/options.h"
#include "recording/recording.h"
#include "simulate/print.h"
#include "util/array.h"
#include "util/output.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "simulate [-i FILE [--force]] [--heap ID] [--pid PID] [--json] [NAME=VALUE[,VALUE...]]...\n\n"
    "  Predicts the collections of a recorded program under other parameters (docs/edenscope.md). Reads the recording\n"
    "  FILE (default eden.data), which must contain all objects. To make one:\n"
    "    EDEN_OPTIONS=eden_size=1M,full_gc_ratio=0,grow_headroom=64K,tenure_fill=0,tenure_proportion=0.02 \\\n"
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
    bool good = simulate_trace_read(trace, recording, path, (uint64_t)options->pid, options->heap, why);
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
        return failure_tell(&why);
    }
    const char *path = options.input ? options.input : "eden.data";
    struct recording *recording = recording_open_with(path, recording_last(options.force), &why);
    signal(SIGPIPE, SIG_IGN); /* writing reports a closed pipe */
    bool good = recording && run(&options, recording, path, &trace, &why);
    simulate_history_clear(&trace.history);
    recording_close(recording);
    return output_finish(stdout, "the predictions", good ? 0 : failure_tell(&why));
}
