#include "cli/live_view.h"
#include "recording/recording.h"
#include "session/record_folder.h"
#include "util/interrupt.h"
#include "util/message.h"
#include "util/output.h"
#include <stdio.h>

enum { COLLECT_SECONDS = 10 }; /* a heap that was asked is waited for, unless the user says how long */

static bool show(const struct live_view *live, const struct options *options, const char *path, FILE *out,
                 struct failure *why) {
    struct recording *recording = recording_open(path, why);
    struct model model = {0};
    bool good = recording && recording_model(recording, &model, why);
    if (good && model_heap_count(&model) != 0) { /* without, the recorder has said so */
        const struct viewed viewed = viewed_whole(recording, &model);
        const struct rows_format format = {.json = options->json};
        good = (!live->report_missing || live->report_missing(live->context, options, &model, why)) &&
               rows_print(out, live->view, &viewed, &format, why);
    }
    model_clear(&model);
    recording_close(recording);
    return good;
}

static int observe(const struct live_view *live, const struct options *options, double seconds, FILE *out) {
    struct record_folder folder;
    struct failure why;
    int interrupts = 0;
    struct record_request request = {.who = live->view->name,
                                     .path = folder.path,
                                     .observed = {.pid = options->pids,
                                                  .pids = options->pid_count,
                                                  .command = options->command,
                                                  .objects = live->objects,
                                                  .collects = options->collects,
                                                  .verbose = options->verbose},
                                     .seconds = seconds,
                                     .on_event = live->on_event,
                                     .is_enough = options->command ? NULL : live->is_enough,
                                     .context = live->context,
                                     .interrupts = &interrupts,
                                     .temporary = true};
    bool published = false;
    if (!record_folder_make(&folder, &why)) {
        return failure_report(&why);
    }
    request.folder = folder.parent;
    if (request.is_enough) {
        request.waits = options->collects ? "waiting for a full collection of each heap, after its next scavenge"
                                          : "waiting for a full collection of each heap; --collect asks for one, "
                                            "Ctrl-C ends";
    }
    int status = record_run(&request, &published);
    if (published) {
        bool good = interrupt_count() == interrupts ? show(live, options, folder.path, out, &why)
                                                    : failure_set(&why, 128 + interrupt_last(), "interrupted");
        int failed = good ? 0 : failure_report(&why);
        status = status ? status : failed;
    }
    record_folder_remove(&folder);
    return status;
}

int live_view_run(const struct live_view *live, int argc, char **argv) {
    struct options options = {0};
    struct failure why;
    double seconds;
    int status;
    if (!options_parse(&options, ACCEPT_TARGET | ACCEPT_JSON | ACCEPT_OUTPUT | ACCEPT_REST | live->accept, live->usage,
                       argc, argv, &status) ||
        !options_need_target(&options, 0, live->usage, &status)) {
        return status;
    }
    if (options.collects && options.command) {
        failure_set(&why, 1, "--collect asks a process that runs: give -p PID");
        return failure_report(&why);
    }
    if (!options_seconds(&options, &seconds, &why)) {
        return failure_report(&why);
    }
    if (options.collects && seconds <= 0) {
        seconds = COLLECT_SECONDS;
    }
    struct output output;
    if (!output_begin(&output, options.output, options.command && !options.json, &why)) {
        return failure_report(&why);
    }
    status = observe(live, &options, seconds, output.out);
    output_flush(&output);
    return output_end(&output, status);
}
