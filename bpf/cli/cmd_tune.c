/* `edenscope tune`: names what makes collections slow, with the evidence, and the parameters that cure it.
 *
 *     recording (its own, of -p or --, or one that is given) --> facts of each heap --> rules --> findings --> report
 *
 * A process or a command is recorded first, lifetimes included, to a file that goes away; then that is examined. With
 * --verify and --search the proposals of the rules are tried, not reported. */
#include "advise/facts/facts.h"
#include "advise/print.h"
#include "advise/trials/search_trials.h"
#include "advise/trials/verify.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "model/lifetimes/options.h"
#include "model/parameters.h"
#include "recording/recording.h"
#include "session/record_folder.h"
#include "session/record_run.h"
#include "util/command_line.h"
#include "util/format.h"
#include "util/interrupt.h"
#include "util/json.h"
#include "util/message.h"
#include "util/output.h"
#include "util/whole.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "tune [--max-heap SIZE] [--json | --emit options] [-o FILE] [-v] (-p PID [seconds] | -- PROGRAM arguments...)\n"
    "       edenscope tune --verify [--options LIST] [--pairs N] [--json] [-o FILE] -- PROGRAM arguments...\n"
    "       edenscope tune --search [--options LIST] [--budget SECONDS] [--trials N] [--memory FACTOR]\n"
    "                      [--json | --emit options] [-o FILE] -- PROGRAM arguments...\n"
    "       edenscope tune [-i FILE [--force]] [--heap ID] [--pid PID] [--max-heap SIZE]\n"
    "                      [--json | --emit options] [-o FILE]\n\n"
    "  Finds what makes collections slow, explains why, and proposes parameters. Examines a program that it runs\n"
    "  or observes, or the recording FILE (default eden.data).";

static const char usual_input[] = "eden.data";

enum { IN_FORCE = 2048 };

/* What trials begin with. */
struct proposal {
    char options[TUNE_OPTIONS_LINE]; /* of the rules; "": none */
    char in_force[IN_FORCE];         /* the reported parameters of the heap, in the same form */
};

struct tune {
    struct options options;
    double seconds;
    FILE *out;
    struct proposal *proposal; /* what is found goes here, not into a report; NULL: there is a report */
};

/* ---- the report -------------------------------------------------------------------------------------------------- */

static bool print(const struct tune *tune, const struct tune_report *report) {
    if (tune->options.emit_options) {
        tune_print_options(tune->out, report);
    } else if (tune->options.json) {
        return tune_print_json(tune->out, report);
    } else {
        tune_print_text(tune->out, report);
    }
    return true;
}

static void report_in_force(char text[IN_FORCE], const struct tune_facts *facts) {
    size_t length = 0;
    for (int i = 0; i < EDEN_PARAM_COUNT && length < IN_FORCE; i++) {
        const struct tune_parameter *parameter = &facts->parameters[i];
        if (parameter->is_reported) {
            length += (size_t)snprintf(text + length, IN_FORCE - length, "%s%s=%s", length ? "," : "",
                                       eden_param((enum eden_param_id)i)->name, parameter->text);
        }
    }
}

static bool fail_interrupted(struct failure *why) {
    return failure_set(why, 128 + interrupt_last(), "interrupted before the run was examined");
}

static bool examine(const struct tune *tune, const struct tune_heaps *heaps, const char *command, struct failure *why) {
    struct findings *findings = calloc(heaps->count + 1, sizeof *findings);
    bool good = findings != NULL, is_over = false;
    const int interrupts = interrupt_count();
    for (size_t i = 0; good && !is_over && i < heaps->count; i++) {
        good = tune_examine(&heaps->at[i], &findings[i]);
        is_over = interrupt_count() != interrupts;
    }
    if (good && !is_over) {
        const char *before = tune->options.command ? getenv("EDEN_OPTIONS") : NULL;
        struct tune_report report = {
            .findings = findings, .heaps = heaps->count, .command = command, .before = before ? before : ""};
        tune_merge(findings, heaps->count, &report.options);
        if (tune->proposal) {
            tune_options_line(tune->proposal->options, &report.options);
            report_in_force(tune->proposal->in_force, &heaps->at[0]);
        }
        good = tune->proposal || print(tune, &report);
    }
    for (size_t i = 0; findings && i < heaps->count; i++) {
        findings_clear(&findings[i]);
    }
    free(findings);
    if (is_over) {
        return fail_interrupted(why);
    }
    return good || failure_set(why, 1, "out of memory for the findings");
}

/* What is said of the recording. */
static void say(const char *path, const struct recording_info *info, const struct tune_heaps *heaps) {
    const char *partial = recording_partial(info);
    if (partial) {
        message_print("%s: %s; figures are \"at least\"", path, partial);
    }
    struct message_kind late = {0};
    for (size_t i = 0; i < heaps->count; i++) {
        if (tune_assumes_defaults(&heaps->at[i])) {
            char number[HEAP_NUMBER];
            message_few(&late,
                        "heap %s of process %u was attached late: parameters that were set before are unknown; the "
                        "defaults are assumed",
                        heap_number_text(number, heaps->at[i].id, heaps->at[i].suffix), heaps->at[i].process.pid);
        }
    }
    message_more(&late, "heaps were attached late, with unknown parameters");
}

/* False: one does not fit --max-heap. */
static bool ask_max_heap(struct tune_heaps *heaps, uint64_t bytes, struct failure *why) {
    for (size_t i = 0; i < heaps->count && bytes; i++) {
        const double needs = tune_least_heap(&heaps->at[i]);
        if (needs >= (double)bytes) {
            char number[HEAP_NUMBER], needed[FORMAT_MAX], asked[FORMAT_MAX];
            return failure_set(why, 1,
                               "heap %s of process %u does not fit --max-heap %s: what full collections left in old "
                               "space, and new space, take %s",
                               heap_number_text(number, heaps->at[i].id, heaps->at[i].suffix), heaps->at[i].process.pid,
                               format_bytes(asked, bytes), format_bytes(needed, whole_of(needs)));
        }
        tune_ask_max_heap(&heaps->at[i], bytes);
    }
    return true;
}

static bool report(const struct tune *tune, const char *path, uint64_t pid, const char *command, struct failure *why) {
    /* One's own is followed by more: it is removed, or trials begin. */
    bool is_own = tune->options.command || (tune->options.pid && !tune->options.input);
    struct recording *recording = recording_open_with(path, is_own ? 0 : recording_last(tune->options.force), why);
    struct tune_heaps heaps = {0};
    const struct heap_choice choice = {pid, tune->options.heap, tune->options.heap_serial};
    bool good = recording && tune_heaps_read(&heaps, recording, &choice, why);
    bool is_empty = good && heaps.count == 0, is_text = !tune->options.json && !tune->options.emit_options;
    if (is_empty && (!is_own || tune->proposal)) { /* else the recorder has said so, and the status is the command's */
        bool is_chosen = pid || choice.id || choice.serial;
        good = failure_set(why, 1, "%.200s: %s", tune->options.input ? path : "the recorded run",
                           is_chosen ? "has no heap with this number and process; `edenscope report` lists them"
                                     : model_no_heap);
    }
    if (good && !(is_empty && is_text)) {
        say(path, recording_info(recording), &heaps);
        good = ask_max_heap(&heaps, tune->options.max_heap, why) && examine(tune, &heaps, command, why);
    }
    tune_heaps_clear(&heaps);
    recording_close(recording);
    return good;
}

/* ---- recording first --------------------------------------------------------------------------------------------- */

/* Each hit makes the collection that is measured longer: what no rule asks for is left out. */
static const char not_needed[] = ""
#define EDEN_PHASE(probe, name, parent)
#define EDEN_PART(part, name, parent) #part "__start,"
#include "eden_phases.def"
#undef EDEN_PHASE
    ;

/* *examined, where it is given: there is a report, or a proposal. */
static int observe(const struct tune *tune, bool *examined) {
    const struct options *options = &tune->options;
    const struct life_request lives = {.details = true};
    struct record_folder folder;
    int interrupts = 0;
    struct record_request request = {.who = "tune",
                                     .path = folder.path,
                                     .observed = {.pid = options->pids,
                                                  .pids = options->pid_count,
                                                  .command = options->command,
                                                  .objects = OBJECTS_SCANS,
                                                  .lifetimes = true,
                                                  .without = not_needed,
                                                  .verbose = options->verbose},
                                     .seconds = tune->seconds,
                                     .interrupts = &interrupts,
                                     .temporary = true,
                                     .keeps_rights = tune->proposal};
    struct failure why;
    bool published = false;
    if (!life_request_encode(&lives, &request.observed.control, &why) || !record_folder_make(&folder, &why)) {
        return failure_report(&why);
    }
    request.folder = folder.parent;
    int status = record_run(&request, &published);
    if (published) {
        char *command = command_line_text(options->command);
        bool reported =
            interrupt_count() == interrupts ? report(tune, folder.path, 0, command, &why) : fail_interrupted(&why);
        if (!reported) {
            int failed = failure_report(&why);
            status = status ? status : failed;
        }
        if (examined) {
            *examined = reported;
        }
        free(command);
    }
    record_folder_remove(&folder);
    return status;
}

/* ---- trials ------------------------------------------------------------------------------------------------------ */

/* The rules' options, of a run that is recorded first; its output is not ours to show, as a trial's is not. False, with
 * *status: there are none. */
static bool propose(const struct tune *tune, struct proposal *proposal, int *status) {
    struct tune proposing = *tune;
    bool examined = false;
    proposing.proposal = proposal;
    int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    fflush(stdout);
    dup2(null, STDOUT_FILENO);
    *status = observe(&proposing, &examined);
    if (kept >= 0) {
        dup2(kept, STDOUT_FILENO);
        close(kept);
    }
    close(null);
    return examined && *status == 0;
}

/* ---- --verify and --search ---- */

enum { USUAL_PAIRS = 5, USUAL_BUDGET = 60, USUAL_MEMORY = 2 };

struct trial_start {
    const char *proposed; /* options to verify, or to search from; "": none */
    const char *in_force; /* the parameters of the command as it is, as far as they are known; NULL: not at all */
    const char *command;  /* as one would type it; NULL: not known */
};

/* Whether the options of trials go together, with each other and with the rest. */
static bool check_trials(const struct options *options, struct failure *why) {
    bool trials = options->verify || options->search;
    if (options->verify && options->search) {
        return failure_set(why, 1, "give either --verify or --search, not both");
    }
    if (options->proposed && !trials) {
        return failure_set(why, 1, "--options needs --verify or --search");
    }
    if (options->proposed && options->max_heap) {
        return failure_set(why, 1, "--max-heap is for the rules: with --options, give max_heap=SIZE there");
    }
    if (options->proposed && !tune_parameters_parse(options->proposed, NULL, why)) {
        return false;
    }
    if (options->pairs && !options->verify) {
        return failure_set(why, 1, "--pairs needs --verify");
    }
    if ((options->budget > 0 || options->trials || options->memory_factor > 0) && !options->search) {
        return failure_set(why, 1, "--budget, --trials and --memory need --search");
    }
    if (options->emit_options && options->verify) {
        return failure_set(why, 1, "--emit options cannot be combined with --verify");
    }
    if (trials && !options->command) {
        return failure_set(why, 1, "--%s needs a program to run: -- PROGRAM arguments...",
                           options->verify ? "verify" : "search");
    }
    if (trials && (options->pid || options->input || options->heap || options->heap_serial)) {
        return failure_set(why, 1, "--%s runs a program: it cannot be combined with -p, -i or --heap",
                           options->verify ? "verify" : "search");
    }
    return true;
}

static bool print_json(FILE *out, const char *schema, json_t *json, struct failure *why) {
    return json_print_as(out, schema, json) || ferror(out) || /* the end reports failed writes */
           failure_set(why, 1, "out of memory for the report");
}

static bool verify(const struct options *options, const char *proposed, FILE *out, bool *interrupted,
                   struct failure *why) {
    struct verify_result result = {0};
    size_t pairs = options->pairs ? options->pairs : USUAL_PAIRS;
    if (!*proposed) {
        message_print("the rules propose no options, so there is nothing to verify");
        return !options->json ||
               print_json(out, "edenscope/tune-verify/1", json_pack("{s:s,s:i}", "options", "", "pairs", 0), why);
    }
    if (!verify_run(options->command, proposed, pairs, &result, why)) {
        return false;
    }
    *interrupted = result.interrupted;
    if (options->json) {
        return print_json(out, "edenscope/tune-verify/1", verify_json(&result, proposed), why);
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
        done = print_json(out, "edenscope/tune-search/1", search_json(&request, &outcome), why);
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

/* Verifies, or searches, and reports on `out`. Returns the exit status; a failure has been reported. */
static int run_trials(const struct options *options, const struct trial_start *start, FILE *out) {
    struct failure why = {.status = 1};
    bool interrupted = false;
    bool done = options->verify ? verify(options, start->proposed, out, &interrupted, &why)
                                : search(options, start, out, &interrupted, &why);
    if (!done) {
        return failure_report(&why);
    }
    return interrupted ? 128 + interrupt_last() : 0;
}

static int try_out(const struct tune *tune) {
    const struct options *options = &tune->options;
    struct proposal proposal = {0};
    int status = 0;
    interrupt_install();
    if (!options->proposed && !propose(tune, &proposal, &status)) {
        if (!options->search || status != 2 || interrupt_count() > 0) {
            return status ? status : 1;
        }
        message_print("the search begins without options proposed by the rules");
    }
    if (interrupt_count() > 0) {
        return 128 + interrupt_last();
    }
    char *command = command_line_text(options->command);
    const struct trial_start start = {.proposed = options->proposed ? options->proposed : proposal.options,
                                      .in_force = *proposal.in_force ? proposal.in_force : getenv("EDEN_OPTIONS"),
                                      .command = command};
    status = run_trials(options, &start, tune->out);
    free(command);
    return status;
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

static bool check(struct tune *tune, struct failure *why) {
    const struct options *options = &tune->options;
    bool observes = options->command || (options->pid && !options->input);
    if (!check_trials(options, why)) {
        return false;
    }
    if (options->json && options->emit_options) {
        return failure_set(why, 1, "give either --json or --emit options, not both");
    }
    if (options->input && (options->command || options->rest_count)) {
        return failure_set(why, 1, "%.100s cannot be combined with -i FILE, which reads a finished recording",
                           options->command ? "-- PROGRAM" : options->rest[0]);
    }
    if (options->command && options->pid) {
        return failure_set(why, 1, "give either -p PID or -- PROGRAM, not both");
    }
    if (options->rest_count && !observes) {
        return failure_set(why, 1, "%.100s: unexpected argument; give -i FILE, -p PID or -- PROGRAM", options->rest[0]);
    }
    if (!observes && !options->input && access(usual_input, F_OK) != 0 && errno == ENOENT) {
        return failure_set(why, 1, "%s: no such file; give -p PID, -- PROGRAM, or -i FILE (of `edenscope record`)",
                           usual_input);
    }
    return options_seconds(options, &tune->seconds, why);
}

int cmd_tune(int argc, char **argv) {
    struct tune tune = {0};
    struct output output;
    struct failure why;
    int status;
    if (!options_parse(&tune.options,
                       ACCEPT_TARGET | ACCEPT_TUNE | ACCEPT_TRIALS | ACCEPT_JSON | ACCEPT_OUTPUT | ACCEPT_REST, usage,
                       argc, argv, &status)) {
        return status;
    }
    const struct options *options = &tune.options;
    if (!check(&tune, &why)) {
        return failure_report(&why);
    }
    bool is_left = options->command && !options->verify && !options->search && !options->json && !options->emit_options;
    if (!output_begin(&output, options->output, is_left, &why)) {
        return failure_report(&why);
    }
    tune.out = output.out;
    if (options->verify || options->search) {
        status = try_out(&tune);
    } else if (options->command || (options->pid && !options->input)) {
        status = observe(&tune, NULL);
    } else {
        const char *path = options->input ? options->input : usual_input;
        status = report(&tune, path, (uint64_t)options->pid, NULL, &why) ? 0 : failure_report(&why);
    }
    if (!output.file) {
        return output_finish(stdout, "the report on standard output", status);
    }
    output_flush(&output); /* what failed before there was a report does not cost the file that is there */
    return output_end(&output, status);
}
