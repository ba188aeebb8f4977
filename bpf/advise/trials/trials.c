#include "advise/trials/trials.h"
#include "advise/trials/search_trials.h"
#include "advise/trials/verify.h"
#include "util/interrupt.h"
#include "util/json.h"
#include "util/message.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { USUAL_PAIRS = 5, USUAL_BUDGET = 60, USUAL_MEMORY = 2 };

bool tune_try_check(const struct options *options, struct failure *why) {
    bool trials = options->verify || options->search;
    if (options->verify && options->search) {
        return failure_set(why, 1, "either --verify or --search, not both");
    }
    if (options->proposed && !trials) {
        return failure_set(why, 1, "--options goes with --verify or --search");
    }
    if (options->pairs && !options->verify) {
        return failure_set(why, 1, "--pairs goes with --verify");
    }
    if ((options->budget > 0 || options->trials || options->memory_factor > 0) && !options->search) {
        return failure_set(why, 1, "--budget, --trials and --memory go with --search");
    }
    if (options->emit_options && options->verify) {
        return failure_set(why, 1, "--emit options goes with a report or with --search, not with --verify");
    }
    if (trials && !options->command) {
        return failure_set(why, 1, "--%s needs a program to run: -- PROGRAM arguments...",
                           options->verify ? "verify" : "search");
    }
    if (trials && (options->pid || options->input || options->heap)) {
        return failure_set(why, 1, "--%s runs a program: it does not go with -p, -i and --heap",
                           options->verify ? "verify" : "search");
    }
    return true;
}

static bool print_json(FILE *out, json_t *json, struct failure *why) {
    bool printed = json && (json_print(out, json) || ferror(out)); /* what can't be written is told at the end */
    json_decref(json);
    return printed || failure_set(why, 1, "no memory for the report");
}

static bool verify(const struct options *options, const char *proposed, FILE *out, bool *interrupted,
                   struct failure *why) {
    struct verify_result result = {0};
    size_t pairs = options->pairs ? options->pairs : USUAL_PAIRS;
    if (!*proposed) {
        message_print("the rules propose no options, so there is nothing to verify");
        return !options->json || print_json(out, json_pack("{s:s,s:i}", "options", "", "pairs", 0), why);
    }
    if (!verify_run(options->command, proposed, pairs, &result, why)) {
        return false;
    }
    *interrupted = result.interrupted;
    if (options->json) {
        return print_json(out, verify_json(&result, proposed), why);
    }
    verify_print(out, &result, proposed);
    return true;
}

static bool search(const struct options *options, const struct trial_start *start, FILE *out, bool *interrupted,
                   struct failure *why) {
    const struct search_request request = {.command = options->command,
                                           .proposed = start->proposed,
                                           .in_force = start->in_force,
                                           .budget = options->budget > 0 ? options->budget
                                                     : options->trials   ? 1e6
                                                                         : USUAL_BUDGET,
                                           .trials = options->trials,
                                           .memory_factor =
                                               options->memory_factor > 0 ? options->memory_factor : USUAL_MEMORY};
    struct search_outcome outcome;
    if (!search_trials(&request, &outcome, why)) {
        return false;
    }
    *interrupted = outcome.interrupted;
    bool done = true;
    if (options->json) {
        done = print_json(out, search_json(&request, &outcome), why);
    } else if (options->emit_options) {
        char text[SEARCH_POINT_TEXT];
        const struct candidate *chosen = &outcome.search.candidate[outcome.finding.recommended];
        fprintf(out, "EDEN_OPTIONS=%s\n", search_point_text(text, &outcome.space, &chosen->point));
    } else {
        search_print(out, &request, &outcome, start->command);
    }
    search_outcome_clear(&outcome);
    return done;
}

int tune_try(const struct options *options, const struct trial_start *start, FILE *out) {
    struct failure why = {.status = 1};
    bool interrupted = false;
    bool done = options->verify ? verify(options, start->proposed, out, &interrupted, &why)
                                : search(options, start, out, &interrupted, &why);
    if (!done) {
        return failure_tell(&why);
    }
    return interrupted ? 128 + interrupt_last() : 0;
}
