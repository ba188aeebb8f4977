/* `edenscope tune`: names what makes collections slow, with the evidence, and the parameters that cure it.
 *
 *     recording (its own, of -p or --, or one that is given) --> facts of each heap --> rules --> findings --> report
 *
 * A process or a command is recorded first, lifetimes included, to a file that goes away; then that is examined. */
#include "commands.h"
#include "life_options.h"
#include "options.h"
#include "output.h"
#include "record_run.h"
#include "recording.h"
#include "tune/facts_read.h"
#include "tune/print.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "tune [--json | --emit options] [-o FILE] [-v] (-p PID [seconds] | -- PROGRAM arguments...)\n"
    "       edenscope tune [-i FILE] [--heap ID] [--pid PID] [--json | --emit options] [-o FILE]\n"
    "\n"
    "  What makes collections slow, why, and the parameters that cure it: of a program that is run\n"
    "  or observed, or of a recording, FILE or eden.data.";

struct tune {
    struct options options;
    double seconds;
    FILE *out;
};

/* ---- the report -------------------------------------------------------------------------------------------------- */

/* As the user would type it; NULL: of a process that ran already, or no memory. */
static char *quote(char *const *command) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
    size_t room = 1;
    for (char *const *word = command; word && *word; word++) {
        room += 4 * strlen(*word) + 3;
    }
    char *line = command ? malloc(room) : NULL, *to = line;
    for (char *const *word = command; line && *word; word++) {
        if (word != command) {
            *to++ = ' ';
        }
        if (**word && strspn(*word, plain) == strlen(*word)) {
            to = stpcpy(to, *word);
            continue;
        }
        *to++ = '\'';
        for (const char *at = *word; *at; at++) {
            if (*at == '\'') {
                to = stpcpy(to, "'\\''");
            } else {
                *to++ = *at;
            }
        }
        *to++ = '\'';
    }
    if (line) {
        *to = 0;
    }
    return line;
}

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

static bool examine(const struct tune *tune, const struct tune_heaps *heaps, const char *command, struct failure *why) {
    struct findings *findings = calloc(heaps->count + 1, sizeof *findings);
    bool good = findings != NULL;
    for (size_t i = 0; good && i < heaps->count; i++) {
        good = tune_examine(&heaps->at[i], &findings[i]);
    }
    if (good) {
        const char *before = tune->options.command ? getenv("EDEN_OPTIONS") : NULL;
        struct tune_report report = {
            .findings = findings, .heaps = heaps->count, .command = command, .before = before ? before : ""};
        tune_merge(findings, heaps->count, &report.options);
        /* Only now: what fails before must not cost the file that is there. */
        good = tune->out == stdout || ftruncate(fileno(tune->out), 0) == 0 || errno == EINVAL;
        good = good && print(tune, &report);
    }
    for (size_t i = 0; findings && i < heaps->count; i++) {
        findings_clear(&findings[i]);
    }
    free(findings);
    return good || failure_set(why, 1, "no memory for the findings");
}

/* What is said of the recording, on stderr. */
static void say(const char *path, const struct recording_info *info, const struct tune_heaps *heaps) {
    if (!info->finished) {
        fprintf(stderr, "edenscope: %s: %s, so figures are \"at least\"\n", path,
                info->live ? "is still being recorded" : "its recorder was killed or could not write");
    }
    for (size_t i = 0; i < heaps->count; i++) {
        if (heaps->at[i].late) {
            fprintf(stderr,
                    "edenscope: heap %llu of process %u was there before: what is not told of its parameters is taken "
                    "for their defaults\n",
                    (unsigned long long)heaps->at[i].heap_id, heaps->at[i].process.pid);
        }
    }
}

static bool report(const struct tune *tune, const char *path, uint64_t pid, const char *command, struct failure *why) {
    struct recording *recording = recording_open(path, why);
    struct tune_heaps heaps = {0};
    bool good = recording && tune_heaps_read(&heaps, recording, pid, tune->options.heap, why);
    if (good && heaps.count == 0) {
        good = failure_set(why, 1,
                           pid || tune->options.heap
                               ? "%.200s: has no heap with this number and process; `edenscope report` lists them"
                               : "%.200s: no heap was seen: does the program use libeden (`edenscope list` tells), and "
                                 "was it the right process?",
                           tune->options.input ? path : "what was recorded");
    }
    if (good) {
        const char *recorded = recording_info(recording)->command;
        say(path, recording_info(recording), &heaps);
        good = examine(tune, &heaps, command ? command : *recorded ? recorded : NULL, why);
    }
    tune_heaps_clear(&heaps);
    recording_close(recording);
    return good;
}

/* ---- recording first --------------------------------------------------------------------------------------------- */

/* Each hit makes the collection that is measured longer: what no rule asks for is left out. */
static const char not_needed[] = "tenure,remember,forget"
#define EDEN_PHASE(probe, name, parent)
#define EDEN_PART(part, name, parent) "," #part "__start"
#include "eden_phases.def"
#undef EDEN_PHASE
    ;

/* A folder for the recording: SQLite puts a journal beside it. */
static bool make_folder(char *folder, size_t size, struct failure *why) {
    const char *wanted = getenv("TMPDIR");
    snprintf(folder, size, "%s/edenscope-XXXXXX", wanted && *wanted ? wanted : "/var/tmp");
    return mkdtemp(folder) ||
           failure_set(why, 1, "%.300s: can't record there: %s; set TMPDIR to another folder", folder, strerror(errno));
}

static void remove_folder(const char *folder, const char *path) {
    char journal[PATH_MAX + 32];
    snprintf(journal, sizeof journal, "%s-journal", path);
    unlink(journal);
    unlink(path);
    rmdir(folder);
}

static int observe(const struct tune *tune) {
    const struct options *options = &tune->options;
    const struct life_request lives = {.details = true};
    char folder[PATH_MAX], path[PATH_MAX + 16];
    struct record_request request = {.who = "tune",
                                     .path = path,
                                     .observed = {.pid = options->pid,
                                                  .command = options->command,
                                                  .objects = true,
                                                  .lifetimes = true,
                                                  .without = options->without ? options->without : not_needed,
                                                  .no_multi = options->no_multi,
                                                  .verbose = options->verbose},
                                     .seconds = tune->seconds,
                                     .temporary = true,
                                     .scans_only = true};
    struct failure why;
    bool published = false;
    if (!life_request_encode(&lives, &request.observed.mailbox, &why) || !make_folder(folder, sizeof folder, &why)) {
        return failure_tell(&why);
    }
    snprintf(path, sizeof path, "%s/eden.data", folder);
    int status = record_run(&request, &published);
    if (published) {
        char *command = quote(options->command);
        if (!report(tune, path, 0, command, &why)) {
            int failed = failure_tell(&why);
            status = status ? status : failed;
        }
        free(command);
    }
    remove_folder(folder, path);
    return status;
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

static bool check(struct tune *tune, struct failure *why) {
    const struct options *options = &tune->options;
    bool observes = options->command || (options->pid && !options->input);
    if (options->json && options->emit_options) {
        return failure_set(why, 1, "either --json or --emit options, not both");
    }
    if (options->input && (options->command || options->rest_count)) {
        return failure_set(why, 1, "%.100s: not together with -i FILE, which is examined as it was recorded",
                           options->command ? "-- PROGRAM" : options->rest[0]);
    }
    if (options->command && options->pid) {
        return failure_set(why, 1, "either -p PID or -- PROGRAM, not both");
    }
    if (options->rest_count && !observes) {
        return failure_set(why, 1, "%.100s: unexpected; a program to run goes after --", options->rest[0]);
    }
    return options_seconds(options, &tune->seconds, why);
}

int cmd_tune(int argc, char **argv) {
    struct tune tune = {.out = stdout};
    struct failure why;
    int status;
    if (!options_parse(&tune.options, ACCEPT_TARGET | ACCEPT_TUNE | ACCEPT_JSON | ACCEPT_OUTPUT | ACCEPT_REST, usage,
                       argc, argv, &status)) {
        return status;
    }
    const struct options *options = &tune.options;
    if (!check(&tune, &why)) {
        return failure_tell(&why);
    }
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is told by the writing */
    if (options->output && !(tune.out = fopen(options->output, "ae"))) {
        fprintf(stderr, "edenscope: %s: %s\n", options->output, strerror(errno));
        return 1;
    }
    if (options->command || (options->pid && !options->input)) {
        status = observe(&tune);
    } else {
        const char *path = options->input ? options->input : "eden.data";
        status = report(&tune, path, (uint64_t)options->pid, NULL, &why) ? 0 : failure_tell(&why);
    }
    status = output_finish(tune.out, options->output ? options->output : "the report", status);
    if (options->output) {
        fclose(tune.out);
    }
    return status;
}
