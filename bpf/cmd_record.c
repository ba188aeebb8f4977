/* edenscope record: writes what is observed to a recording.
 *
 *     source --events--> recorder
 *     source --model---> recorder, each 250 ms in which something happened, each 2 s else, and at the end
 *
 * The order at the start protects what is already there: the new file is made beside the old one, then tracing is
 * attached, then the file takes its place, and only then does the program run.
 *
 * If the recording can't be written any more (the disk is full), the program goes on untouched: it is waited for, and
 * its end and the failure are told. */
#include "clock.h"
#include "commands.h"
#include "format.h"
#include "interrupt.h"
#include "life_options.h"
#include "options.h"
#include "recording.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "record [-o FILE] [--force] [--objects] [--lifetimes[=details] [--sampling WHICH] [--mechanism HOW]]\n"
    "                       [--events-only] [-v] (-p PID | -- PROGRAM arguments...)\n"
    "\n"
    "  Writes a recording, FILE or eden.data; a recording that is there is replaced,\n"
    "  any other file with --force only. `edenscope report`, `script` and `lifetimes -i` read it.";

#define MS 1000000ull
enum { COMMIT_MS = 250, IDLE_COMMIT_MS = 2000 };

struct record_run {
    struct recorder *recorder;
    bool failed; /* writing did */
    struct failure why;
};

static void on_event(void *context, const struct event *event) {
    struct record_run *run = context;
    if (!run->failed && !recorder_add(run->recorder, event, &run->why)) {
        run->failed = true;
    }
}

static bool on_batch(void *context, const struct life_batch *batch) {
    struct record_run *run = context;
    if (!run->failed && !recorder_add_batch(run->recorder, batch, &run->why)) {
        run->failed = true;
    }
    return !recorder_is_full(run->recorder);
}

static bool commit(struct source *source, struct record_run *run, bool finished, struct model *model) {
    struct failure why;
    if (!source_snapshot(source, model, &why)) {
        failure_tell(&why);
        return false;
    }
    if (!run->failed && !recorder_commit(run->recorder, model, finished, &run->why)) {
        run->failed = true;
    }
    return !run->failed;
}

static void say_failure(const struct record_run *run, const struct options *options) {
    fprintf(stderr, "edenscope: %s\nedenscope: nothing more is recorded; what was written so far can be read%s\n",
            run->why.message, options->command ? "; the program goes on" : "");
}

/* Drains events until all that is observed has ended, or the user has enough. */
static void follow(struct source *source, struct record_run *run, const struct options *options) {
    struct model model = {0};
    uint64_t committed = now_ns(), events = 0;
    bool said = false;
    int told = 0;
    commit(source, run, false, &model); /* heaps that were there before get their names */
    bool more = false;
    while (source_poll(source, more ? 0 : COMMIT_MS, on_event, run)) {
        for (; told < interrupt_count(); told++) {
            source_stop(source);
        }
        if (!run->failed && !recorder_write(run->recorder, &more, &run->why)) {
            run->failed = true;
            more = false;
        }
        uint64_t now = now_ns(), age = now - committed;
        bool news = recorder_event_count(run->recorder) != events;
        if (!run->failed && age >= (news ? COMMIT_MS : IDLE_COMMIT_MS) * MS) {
            commit(source, run, false, &model);
            committed = now;
            events = recorder_event_count(run->recorder);
        }
        if (run->failed && !said) {
            say_failure(run, options);
            said = true;
            if (!options->command) {
                break;
            }
        }
    }
    bool whole = commit(source, run, true, &model);
    if (run->failed && !said) {
        say_failure(run, options);
    } else if (!whole) {
        run->failed = true;
    }
    model_clear(&model);
}

static uint64_t figure_sum(const struct model *model, enum eden_figure figure) {
    uint64_t sum = 0;
    for (size_t i = 0; i < model->process_count; i++) {
        for (size_t j = 0; j < model->processes[i].heap_count; j++) {
            const struct heap_model *heap = &model->processes[i].heaps[j];
            sum += heap->figures[figure] - heap->before[figure]; /* what was observed */
        }
    }
    return sum;
}

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

static void say_summary(struct source *source, const struct record_run *run, const char *path, bool lifetimes) {
    struct model model = {0};
    struct failure why;
    char events[FORMAT_MAX], scavenges[FORMAT_MAX], full[FORMAT_MAX];
    if (!source_snapshot(source, &model, &why)) {
        return;
    }
    uint64_t event_count = recorder_written_count(run->recorder);
    uint64_t scavenge_count = figure_sum(&model, EDEN_FIGURE_scavenges);
    uint64_t full_count = figure_sum(&model, EDEN_FIGURE_full_collections);
    fprintf(stderr, "[ edenscope record: %s event%s, %s scavenge%s, %s full collection%s, ",
            format_count(events, event_count), plural(event_count), format_count(scavenges, scavenge_count),
            plural(scavenge_count), format_count(full, full_count), plural(full_count));
    if (lifetimes) {
        uint64_t batch_count = recorder_batch_count(run->recorder);
        fprintf(stderr, "%s batch%s of lifetimes, ", format_count(events, batch_count), batch_count == 1 ? "" : "es");
    }
    fprintf(stderr, "wrote %s (%.1f MB) ]\n", path, (double)recorder_bytes(run->recorder) / 1e6);
    if (model.lost) {
        char lost[FORMAT_MAX];
        fprintf(stderr,
                "edenscope: %s event%s lost, because they came faster than they could be written, or from too many "
                "heaps: the recording's figures may be too small\n",
                format_count(lost, model.lost), plural(model.lost));
    }
    if (model.lost_records) {
        char lost[FORMAT_MAX];
        fprintf(stderr,
                "edenscope: %s record%s of lifetimes lost, because they came faster than they could be written or made "
                "no sense; a rarer --sampling, or no details, makes fewer\n",
                format_count(lost, model.lost_records), plural(model.lost_records));
    }
    if (model.process_count == 0) {
        fprintf(stderr, "edenscope: no heap was seen: does the program use libeden, and is this the right process?\n");
    }
    model_clear(&model);
}

static int record(struct recorder *recorder, const struct options *options, uint64_t mailbox, const char *path) {
    struct record_run run = {.recorder = recorder};
    struct source_options wanted = {.pid = options->pid,
                                    .command = options->command,
                                    .events = true,
                                    .objects = options->objects,
                                    .lifetimes = mailbox != 0,
                                    .mailbox = mailbox,
                                    .on_batch = mailbox ? on_batch : NULL,
                                    .batch_context = &run,
                                    .no_headers = options->events_only,
                                    .without = options->without,
                                    .no_multi = options->no_multi,
                                    .verbose = options->verbose};
    struct failure why;
    struct source *source = source_open(&wanted, &why);
    if (!source) {
        return failure_tell(&why);
    }
    if (interrupt_count() > 0) {
        source_close(source);
        return 128 + interrupt_last(); /* before the command began, so it need not */
    }
    if (!recorder_publish(recorder, &why) || !source_start(source, &why)) {
        source_close(source);
        return failure_tell(&why);
    }
    if (options->verbose) {
        char took[FORMAT_MAX];
        fprintf(stderr, "edenscope: attached in %s, recording to %s\n", format_ns(took, source_attach_ns(source)),
                path);
    }
    follow(source, &run, options);
    say_summary(source, &run, path, mailbox != 0);
    int status = source_exit_status(source);
    source_close(source);
    if (status < 0) {
        status = 0;
    }
    return status == 0 && run.failed ? 1 : status;
}

/* What heaps are to be asked for; 0: lifetimes are not recorded. */
static bool encode_lifetimes(const struct options *options, uint64_t *mailbox, struct failure *why) {
    const struct life_request request = {
        .sampling = options->sampling, .mechanism = options->mechanism, .details = options->details};
    if (!options->lifetimes) {
        const char *odd = options->sampling ? "--sampling" : options->mechanism ? "--mechanism" : NULL;
        return !odd || failure_set(why, 1, "%s: takes --lifetimes as well; without that nothing is sampled", odd);
    }
    return life_request_encode(&request, mailbox, why);
}

int cmd_record(int argc, char **argv) {
    struct options options;
    int status;
    if (!options_parse(&options,
                       ACCEPT_TARGET | ACCEPT_OUTPUT | ACCEPT_FORCE | ACCEPT_OBJECTS | ACCEPT_EVENTS_ONLY |
                           ACCEPT_RECORDED | ACCEPT_SAMPLING,
                       usage, argc, argv, &status) ||
        !options_need_target(&options, usage, &status)) {
        return status;
    }
    struct failure why;
    uint64_t mailbox = 0;
    if (!encode_lifetimes(&options, &mailbox, &why)) {
        return failure_tell(&why);
    }
    interrupt_none(SIGXFSZ); /* the recording is to go on, or to be ended properly */
    interrupt_none(SIGPIPE);
    interrupt_install();
    const char *path = options.output ? options.output : "eden.data";
    struct recorder_options wanted = {.path = path,
                                      .command = options.command,
                                      .pid = options.pid,
                                      .force = options.force,
                                      .objects = options.objects,
                                      .lifetimes = mailbox};
    struct recorder *recorder = recorder_create(&wanted, &why);
    if (!recorder) {
        return failure_tell(&why);
    }
    status = record(recorder, &options, mailbox, path);
    recorder_close(recorder);
    return status;
}
