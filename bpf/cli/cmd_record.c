/* edenscope record: writes what is observed to a recording (record_run.c). */
#include "cli/commands.h"
#include "cli/options.h"
#include "model/lifetimes/options.h"
#include "session/record_rotation.h"
#include "util/share.h"
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "record [-o FILE] [--force] [--max-size SIZE] [--rotate TIME [--keep AMOUNT] [--on CONDITION]]\n"
    "                       [--user USER] [--objects] [--lifetimes[=details] [--sampling WHICH] [--mechanism HOW]] "
    "[--events-only] [-v]\n"
    "                       ((-p PID,PID... | -n NAME | --cgroup FOLDER | -a) [seconds] | -- PROGRAM arguments...)\n\n"
    "  Writes a recording to FILE (default eden.data). Replaces an existing recording once a heap is seen;\n"
    "  replaces any other file only with --force. `edenscope report`, `script` and `lifetimes -i` read recordings.";

/* What heaps are to be asked for; 0: lifetimes are not recorded. */
static bool encode_lifetimes(const struct options *options, uint64_t *control, struct failure *why) {
    const struct life_request request = {
        .sampling = options->sampling, .mechanism = options->mechanism, .details = options->details};
    if (!options->lifetimes) {
        const char *odd = options->sampling ? "--sampling" : options->mechanism ? "--mechanism" : NULL;
        return !odd || failure_set(why, 1, "%s: needs --lifetimes; without it, objects are not sampled", odd);
    }
    return life_request_encode(&request, control, why);
}

/* What is asked for does not go together. */
static bool check(const struct options *options, struct failure *why) {
    if (options->lifetimes && !options->command && (options->pid_count != 1)) {
        return failure_set(why, 1, "--lifetimes observes one process, or a program: give one -p PID, or -- PROGRAM");
    }
    if (options->output && strcmp(options->output, "-") == 0) {
        return failure_set(why, 1,
                           "-o -: a recording is a file, which standard output may not be; name one, and print it with "
                           "`edenscope script -i FILE` (./- is a file of this name)");
    }
    if ((options->keep > 0 || options->keep_bytes != 0 || options->keep_files != 0) && options->rotate == 0) {
        return failure_set(why, 1,
                           "--keep: needs --rotate; without it there is one file, whose size --max-size limits");
    }
    if (options->on_count != 0 && options->rotate == 0) {
        return failure_set(why, 1, "--on: needs --rotate TIME, the time of a file: the least that is kept before");
    }
    if (options->rotate > 0 && options->command) {
        return failure_set(why, 1, "--rotate: cannot start a program: give -p PID, -n NAME, --cgroup FOLDER or -a");
    }
    return options->rotate == 0 || !options->lifetimes ||
           failure_set(why, 1, "--rotate: not with --lifetimes: a profile is in one recording");
}

int cmd_record(int argc, char **argv) {
    struct options options;
    int status;
    if (!options_parse(&options,
                       ACCEPT_TARGET | ACCEPT_SELECTION | ACCEPT_OUTPUT | ACCEPT_FORCE | ACCEPT_OBJECTS |
                           ACCEPT_EVENTS_ONLY | ACCEPT_RECORDED | ACCEPT_USER | ACCEPT_SAMPLING | ACCEPT_REST,
                       usage, argc, argv, &status) ||
        !options_need_target(&options, ACCEPT_SELECTION, usage, &status)) {
        return status;
    }
    struct failure why;
    uint64_t control = 0;
    double seconds;
    uid_t reader;
    struct selection selection;
    if (options.user && !share_find_user(options.user, &reader, &why)) {
        return failure_report(&why);
    }
    if (!check(&options, &why) || !options_select(&options, &selection, &why)) {
        return failure_report(&why);
    }
    if (!options_seconds(&options, &seconds, &why) || !encode_lifetimes(&options, &control, &why)) {
        return failure_report(&why);
    }
    const struct record_request request = {.who = "record",
                                           .path = options.output ? options.output : "eden.data",
                                           .observed = {.pid = options.pids,
                                                        .pids = options.pid_count,
                                                        .selection = selection,
                                                        .command = options.command,
                                                        .objects = options.objects ? OBJECTS_ALL : OBJECTS_NONE,
                                                        .lifetimes = control != 0,
                                                        .control = control,
                                                        .no_headers = options.events_only,
                                                        .verbose = options.verbose},
                                           .seconds = seconds,
                                           .force = options.force,
                                           .reader = options.user ? &reader : NULL,
                                           .most_bytes = options.max_size};
    const struct rotation rotation = {.period = options.rotate,
                                      .keep = options.keep,
                                      .keep_bytes = options.keep_bytes,
                                      .keep_files = options.keep_files,
                                      .conditions = options.on,
                                      .condition_count = options.on_count};
    return options.rotate > 0 ? record_rotate(&request, &rotation) : record_run(&request, NULL);
}
