/* edenscope histo and remembered: a view of `edenscope report`, of what is recorded for it alone.
 *
 *     a process or a command --record_run()--> a recording that goes away --view--> output
 *
 * Both attach probes that make a program slower while they are attached: so they are asked for by name, and `histo`
 * ends once each heap of the process has had a full collection. */
#include "cli/commands.h"
#include "cli/options.h"
#include "recording/recording.h"
#include "session/record_folder.h"
#include "session/record_run.h"
#include "util/array.h"
#include "util/interrupt.h"
#include "util/message.h"
#include "util/output.h"
#include "views/rows/views.h"
#include <stdio.h>
#include <stdlib.h>

/* The census of a heap, as far as it has been received. */
struct counted {
    struct process_key process;
    uint64_t serial, seq, received, expected;
    bool is_whole;
};

struct live {
    struct options options;
    double seconds;
    const struct view *view;
    struct counted *counted; /* owned */
    size_t count, room;
    FILE *out;
};

/* ---- what has been counted --------------------------------------------------------------------------------------- */

static struct counted *find(struct live *live, const struct process_key *process, uint64_t serial) {
    for (size_t i = 0; i < live->count; i++) {
        if (live->counted[i].serial == serial && process_is_same(&live->counted[i].process, process)) {
            return &live->counted[i];
        }
    }
    return NULL;
}

static void on_census(struct live *live, const struct event *event) {
    const uint64_t seq = EDEN_ARG(event->arg, census, seq);
    struct counted *counted = find(live, &event->process, event->serial);
    if (!counted) {
        counted = array_grow(&live->counted, &live->room, live->count, sizeof *counted);
        if (!counted) {
            return; /* it is waited for until the user has enough */
        }
        *counted = (struct counted){.process = event->process, .serial = event->serial};
        live->count++;
    }
    counted->received = counted->seq == seq ? counted->received + 1 : 1;
    counted->seq = seq;
    counted->expected = EDEN_ARG(event->arg, census, classes);
}

static void on_event(void *context, const struct event *event) {
    struct live *live = context;
    if (event->probe == EDEN_PROBE_census) {
        on_census(live, event);
    } else if (event->probe == EDEN_PROBE_full__done) {
        struct counted *counted = find(live, &event->process, event->serial);
        if (counted && counted->seq == EDEN_ARG(event->arg, full__done, seq)) {
            counted->is_whole = counted->received >= counted->expected; /* of an empty heap there is one, of none */
        }
    }
}

static bool is_counted(struct live *live, const struct process_model *process, const struct heap_model *heap) {
    const struct counted *counted = find(live, &process->key, heap->serial);
    return counted && counted->is_whole;
}

/* Each heap that is alive has been counted. */
static bool is_enough(void *context, const struct model *model) {
    struct live *live = context;
    size_t alive = 0;
    for (size_t i = 0; i < model->process_count; i++) {
        for (size_t j = 0; j < model->processes[i].heap_count; j++) {
            const struct heap_model *heap = &model->processes[i].heaps[j];
            if (heap->destroyed || heap->is_former) {
                continue;
            }
            alive++;
            if (!is_counted(live, &model->processes[i], heap)) {
                return false;
            }
        }
    }
    return alive != 0;
}

/* Says which heaps the output lacks. False and why: all. */
static bool report_missing(struct live *live, const struct model *model, struct failure *why) {
    struct message_kind missing = {0};
    size_t heaps = 0, shown = 0;
    uint64_t collections = 0;
    for (size_t i = 0; i < model->process_count; i++) {
        const struct process_model *process = &model->processes[i];
        for (size_t j = 0; j < process->heap_count; j++, heaps++) {
            const struct heap_model *heap = &process->heaps[j];
            const uint64_t full =
                heap->figures[EDEN_FIGURE_full_collections] - heap->before[EDEN_FIGURE_full_collections];
            char number[HEAP_NUMBER];
            collections += full;
            if (is_counted(live, process, heap)) {
                shown++;
            } else {
                message_few(&missing, "heap %s of process %u is not counted: %s",
                            heap_number_text(number, heap->id, heap->suffix), process->key.pid,
                            full == 0 ? "it had no full collection meanwhile"
                                      : "its libeden has no probe census, or no memory to count, or events were lost");
            }
        }
    }
    message_more(&missing, "heaps are not counted");
    return heaps == 0 || shown != 0 ||
           failure_set(why, 1, "nothing was counted: %s",
                       collections != 0         ? "no heap could count"
                       : live->options.command  ? "the program had no full collection"
                       : live->options.collects ? "the process allocated nothing, so it did not collect; wait longer"
                                                : "no full collection ended meanwhile; --collect asks for one");
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static bool show(struct live *live, const char *path, struct failure *why) {
    struct recording *recording = recording_open(path, why);
    struct model model = {0};
    bool good = recording && recording_model(recording, &model, why);
    if (good && model_heap_count(&model) != 0) { /* without, the recorder has said so */
        const struct viewed viewed = viewed_whole(recording, &model);
        const struct rows_format format = {.json = live->options.json};
        good = (live->view != &view_histo || report_missing(live, &model, why)) &&
               rows_print(live->out, live->view, &viewed, &format, why);
    }
    model_clear(&model);
    recording_close(recording);
    return good;
}

static int observe(struct live *live, enum object_probes objects) {
    const struct options *options = &live->options;
    const bool counts = live->view == &view_histo;
    struct record_folder folder;
    struct failure why;
    int interrupts = 0;
    struct record_request request = {.who = live->view->name,
                                     .path = folder.path,
                                     .observed = {.pid = options->pids,
                                                  .pids = options->pid_count,
                                                  .command = options->command,
                                                  .objects = objects,
                                                  .collects = options->collects,
                                                  .verbose = options->verbose},
                                     .seconds = live->seconds,
                                     .on_event = counts ? on_event : NULL,
                                     .is_enough = counts && !options->command ? is_enough : NULL,
                                     .context = live,
                                     .interrupts = &interrupts,
                                     .temporary = true};
    bool published = false;
    if (!record_folder_make(&folder, &why)) {
        return failure_report(&why);
    }
    request.folder = folder.parent;
    if (request.is_enough && !options->collects) {
        message_print("waiting for a full collection of each heap; --collect asks for one, Ctrl-C ends");
    }
    int status = record_run(&request, &published);
    if (published) {
        bool good = interrupt_count() == interrupts ? show(live, folder.path, &why)
                                                    : failure_set(&why, 128 + interrupt_last(), "interrupted");
        int failed = good ? 0 : failure_report(&why);
        status = status ? status : failed;
    }
    record_folder_remove(&folder);
    return status;
}

static int run(struct live *live, unsigned accept, const char *usage, enum object_probes objects, int argc,
               char **argv) {
    struct failure why;
    int status;
    if (!options_parse(&live->options, ACCEPT_TARGET | ACCEPT_JSON | ACCEPT_OUTPUT | ACCEPT_REST | accept, usage, argc,
                       argv, &status) ||
        !options_need_target(&live->options, 0, usage, &status)) {
        return status;
    }
    if (live->options.collects && live->options.command) {
        failure_set(&why, 1, "--collect asks a process that runs: give -p PID");
        return failure_report(&why);
    }
    if (!options_seconds(&live->options, &live->seconds, &why)) {
        return failure_report(&why);
    }
    live->out = live->options.output ? output_open(live->options.output, &why) : stdout;
    if (!live->out) {
        return failure_report(&why);
    }
    status = observe(live, objects);
    free(live->counted);
    return live->out == stdout ? status : output_finish(live->out, live->options.output, status);
}

int cmd_histo(int argc, char **argv) {
    static const char usage[] =
        "histo [--collect] [--json] [-o FILE] [-v] (-p PID [seconds] | -- PROGRAM arguments...)\n\n"
        "  Counts what lives in the heaps of a process, by class and site, at the end of the next full collection of\n"
        "  each heap; of a program, at the end of its last one. A look at each object makes that collection longer.";
    struct live live = {.view = &view_histo};
    return run(&live, ACCEPT_COLLECT, usage, OBJECTS_CENSUS, argc, argv);
}

int cmd_remembered(int argc, char **argv) {
    static const char usage[] =
        "remembered [--json] [-o FILE] [-v] (-p PID [seconds] | -- PROGRAM arguments...)\n\n"
        "  Shows the remembered sets: what each scan costs, which classes and sites feed them, the dearest objects.\n"
        "  Attaches probes that fire once an object: the program is slower meanwhile.";
    struct live live = {.view = &view_remembered};
    return run(&live, 0, usage, OBJECTS_ALL, argc, argv);
}
