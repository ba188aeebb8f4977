/* edenscope histo: what lives in the heaps of a process, by class and site. It ends once each heap has been counted. */
#include "cli/commands.h"
#include "cli/live_view.h"
#include "model/census.h"
#include "util/array.h"
#include "util/message.h"
#include "util/sum.h"
#include <stdlib.h>

/* A heap, and whether a full collection had a whole census. */
struct counted {
    struct process_key process;
    uint64_t serial;
    struct census census;
    bool is_whole;
};

struct histo {
    struct counted *counted; /* owned */
    size_t count, room;
};

static struct counted *find(struct histo *histo, const struct process_key *process, uint64_t serial) {
    for (size_t i = 0; i < histo->count; i++) {
        if (histo->counted[i].serial == serial && process_is_same(&histo->counted[i].process, process)) {
            return &histo->counted[i];
        }
    }
    return NULL;
}

static void on_census(struct histo *histo, const struct event *event) {
    struct counted *counted = find(histo, &event->process, event->serial);
    if (!counted) {
        counted = array_grow(&histo->counted, &histo->room, histo->count, sizeof *counted);
        if (!counted) {
            return; /* it is waited for until the user has enough */
        }
        *counted = (struct counted){.process = event->process, .serial = event->serial};
        histo->count++;
    }
    census_add(&counted->census, event);
}

static void on_event(void *context, const struct event *event) {
    struct histo *histo = context;
    if (event->probe == EDEN_PROBE_census) {
        on_census(histo, event);
    } else if (event->probe == EDEN_PROBE_full__done) {
        struct counted *counted = find(histo, &event->process, event->serial);
        if (counted) {
            counted->is_whole = counted->is_whole || census_is_whole(&counted->census, event);
        }
    }
}

static bool is_counted(struct histo *histo, const struct process_model *process, const struct heap_model *heap) {
    const struct counted *counted = find(histo, &process->key, heap->serial);
    return counted && counted->is_whole;
}

/* Each heap that is alive has been counted. */
static bool is_enough(void *context, const struct model *model) {
    struct histo *histo = context;
    size_t alive = 0;
    for (size_t i = 0; i < model->process_count; i++) {
        for (size_t j = 0; j < model->processes[i].heap_count; j++) {
            const struct heap_model *heap = &model->processes[i].heaps[j];
            if (heap->destroyed || heap->is_former) {
                continue;
            }
            alive++;
            if (!is_counted(histo, &model->processes[i], heap)) {
                return false;
            }
        }
    }
    return alive != 0;
}

/* Says which heaps the output lacks. False and why: all. */
static bool report_missing(void *context, const struct options *options, const struct model *model,
                           struct failure *why) {
    struct histo *histo = context;
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
            sum_add(&collections, full);
            if (is_counted(histo, process, heap)) {
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
           failure_set(
               why, 1, "nothing was counted: %s",
               collections != 0   ? "no heap could count"
               : options->command ? "the program had no full collection"
               : options->collects
                   ? "no full collection ended meanwhile: the process may allocate little, collect for longer or be "
                     "stopped; give more seconds"
                   : "no full collection ended meanwhile; --collect asks for one");
}

int cmd_histo(int argc, char **argv) {
    static const char usage[] =
        "histo [--collect] [--json] [-o FILE] [-v] (-p PID [seconds] | -- PROGRAM arguments...)\n\n"
        "  Counts what lives in the heaps of a process, by class and site, at the end of the next full collection of\n"
        "  each heap; of a program, at the end of its last one. A look at each object makes that collection longer.";
    struct histo histo = {0};
    const struct live_view live = {.view = &view_histo,
                                   .usage = usage,
                                   .accept = ACCEPT_COLLECT,
                                   .objects = OBJECTS_CENSUS,
                                   .on_event = on_event,
                                   .is_enough = is_enough,
                                   .report_missing = report_missing,
                                   .context = &histo};
    int status = live_view_run(&live, argc, argv);
    free(histo.counted);
    return status;
}
