/* `edenscope simulate`: what a recorded program would do under other parameters. */
#include "commands.h"
#include "format.h"
#include "life_say.h"
#include "model_json.h"
#include "options.h"
#include "output.h"
#include "recording.h"
#include "simulate/collector.h"
#include "simulate/story.h"
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "simulate [-i FILE] [--heap ID] [--pid PID] [--json] NAME=VALUE ...\n"
    "\n"
    "  Predicts what a recorded program's collections do under other parameters. The recording needs all objects:\n"
    "    EDEN_OPTIONS=eden_size=1M,full_gc_ratio=0 edenscope record --lifetimes=details --sampling all -- PROGRAM";

static json_t *figures_json(const struct simulate_figures *figures) {
    json_t *causes = json_object(), *object = json_object();
    static const enum eden_full_cause of[SIMULATE_CAUSES] = {0, 1, 2};
    for (int i = 0; i < SIMULATE_CAUSES; i++) {
        json_object_set_new(causes, full_cause_names[of[i]], json_number(figures->full_by_cause[i]));
    }
    json_object_set_new(object, "scavenges", json_number(figures->scavenges));
    json_object_set_new(object, "full_collections", json_number(figures->full_collections));
    json_object_set_new(object, "full_by_cause", causes);
    json_object_set_new(object, "survived_bytes", json_number(figures->survived_bytes));
    json_object_set_new(object, "tenured_bytes", json_number(figures->tenured_bytes));
    json_object_set_new(object, "freed_bytes", json_number(figures->freed_bytes));
    json_object_set_new(object, "old_used", json_number(figures->old_used));
    json_object_set_new(object, "old_used_peak", json_number(figures->old_used_peak));
    return object;
}

static bool sweep(const struct simulate_story *story, char **words, size_t count, const struct simulate_parameters *at, size_t word, const char *said, struct failure *why) {
    if (word == count) {
        struct simulate_figures figures;
        if (!simulate_collector(&story->history, at, story->holding, &figures)) return failure_set(why, 1, "no memory");
        json_t *object = figures_json(&figures);
        json_object_set_new(object, "options", json_string(said));
        json_print(stdout, object);
        json_decref(object);
        return true;
    }
    char text[256]; const char *sign = strchr(words[word], '=');
    const char *value = sign ? sign + 1 : "";
    while (1) {
        int length = (int)strcspn(value, ",");
        struct simulate_parameters next = *at;
        char one[128];
        snprintf(one, sizeof one, "%.*s=%.*s", (int)(sign - words[word]), words[word], length, value);
        snprintf(text, sizeof text, "%s%s%s", said, *said ? "," : "", one);
        if (!simulate_parameter_wanted(&next, one, why) || !sweep(story, words, count, &next, word + 1, text, why)) return false;
        if (value[length] == 0) return true;
        value += length + 1;
    }
}

int cmd_simulate(int argc, char **argv) {
    struct options options;
    struct failure why;
    struct simulate_story story = {0};
    int status;
    if (!options_parse(&options, ACCEPT_INPUT | ACCEPT_JSON | ACCEPT_HEAP | ACCEPT_REST, usage, argc, argv, &status)) {
        return status;
    }
    const char *path = options.input ? options.input : "eden.data";
    struct recording *recording = recording_open(path, &why);
    bool good = recording && simulate_story_read(&story, recording, (uint64_t)options.pid, options.heap, &why);
        if (good) {
        struct simulate_figures f;
        simulate_collector(&story.history, &story.parameters, 0, &f);
        story.holding = f.holdable > 0 ? (double)story.history.held_bytes / f.holdable : 0;
        fprintf(stderr, "held %lu fresh %lu holdable %.0f holding %.3f\n", story.history.held_bytes, story.history.held_fresh, f.holdable, story.holding);
        if (getenv("HOLD")) story.holding = atof(getenv("HOLD"));
    }
    struct simulate_parameters usual;
    simulate_parameters_usual(&usual, &story.parameters);
    good = good && sweep(&story, options.rest, options.rest_count, &usual, 0, "", &why);
    simulate_history_clear(&story.history);
    recording_close(recording);
    return good ? 0 : failure_tell(&why);
}
