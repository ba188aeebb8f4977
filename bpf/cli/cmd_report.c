/* edenscope report: what a recording says, for people or as JSON. */
#include "cli/commands.h"
#include "cli/options.h"
#include "recording/recording.h"
#include "util/message.h"
#include "util/output.h"
#include "views/model_json.h"
#include "views/pauses.h"
#include "views/report.h"
#include "views/tenuring.h"
#include "views/timeline.h"
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "report [-i FILE [--force]] [--view NAME [--since S] [--until S]] [--json] [--heap ID] [--pid PID] [-v]\n\n"
    "  Reports on the recording FILE (default eden.data). --heap and --pid select heaps by number and process.";

/* A view of the chosen heaps: as text, and as JSON; where that fails, NULL and why. */
struct view {
    const char *name;
    bool (*print)(FILE *out, const struct viewed *viewed, struct failure *why);
    json_t *(*to_json)(const struct viewed *viewed, struct failure *why);
    const char *meaning;
};

static json_t *summary_to_json(const struct viewed *viewed, struct failure *why) {
    json_t *object = model_to_json(viewed->model);
    if (!object) {
        failure_set(why, 1, "out of memory for the report");
    }
    return object;
}

static const struct view views[] = {
    {"summary", NULL, summary_to_json, "figures, shares of time and phases"}, /* printed by report_text() */
    {"pauses", pauses_print, pauses_to_json, "percentiles of pauses, minimum mutator utilisation"},
    {"timeline", timeline_print, timeline_to_json, "collections, bytes and old space by intervals"},
    {"tenuring", tenuring_print, tenuring_to_json, "survivors against the threshold, scavenge by scavenge"},
};
enum { VIEWS = sizeof views / sizeof *views };

/* NULL: there is none of this name, or they are listed (status 0). */
static const struct view *find_view(const char *name, int *status) {
    for (size_t i = 0; i < VIEWS; i++) {
        if (!name || strcmp(name, views[i].name) == 0) {
            return &views[i];
        }
    }
    *status = strcmp(name, "list") == 0 ? 0 : 1;
    if (*status != 0) {
        message_print("--view %.60s: there is no such view; `edenscope report --view list` lists them", name);
    }
    for (size_t i = 0; *status == 0 && i < VIEWS; i++) {
        printf("  %-10s %s\n", views[i].name, views[i].meaning);
    }
    return NULL;
}

static bool has_heaps(const struct model *model) {
    for (size_t i = 0; i < model->process_count; i++) {
        if (model->processes[i].heap_count != 0) {
            return true;
        }
    }
    return false;
}

/* The heaps that are wanted, as a model that shares the phases of the other: free it with free_chosen. */
static bool choose(const struct model *all, const struct heap_choice *wanted, struct model *chosen) {
    *chosen = (struct model){.wall_ns = all->wall_ns,
                             .lost = all->lost,
                             .lost_records = all->lost_records,
                             .missed_children = all->missed_children,
                             .has_status = all->has_status,
                             .status = all->status,
                             .others = all->others};
    chosen->processes = calloc(all->process_count + 1, sizeof *chosen->processes);
    if (!chosen->processes) {
        return false;
    }
    for (size_t i = 0; i < all->process_count; i++) {
        const struct process_model *from = &all->processes[i];
        struct process_model *to = &chosen->processes[chosen->process_count];
        if (wanted->pid && from->key.pid != wanted->pid) {
            continue;
        }
        *to = *from;
        to->heap_count = 0;
        to->heaps = calloc(from->heap_count + 1, sizeof *to->heaps);
        chosen->process_count++;
        if (!to->heaps) {
            return false;
        }
        for (size_t j = 0; j < from->heap_count; j++) {
            if (heap_is_chosen(wanted, from->key.pid, HEAP_REF(&from->heaps[j]))) {
                to->heaps[to->heap_count++] = from->heaps[j];
            }
        }
        if (to->heap_count == 0 && (wanted->id || wanted->serial || !model_has_lost(&from->lost))) {
            free(to->heaps);
            chosen->process_count--;
        }
    }
    return true;
}

static void free_chosen(struct model *chosen) {
    for (size_t i = 0; i < chosen->process_count; i++) {
        free(chosen->processes[i].heaps);
    }
    free(chosen->processes);
}

static void print_no_heap(const char *path, const struct recording_info *info, const struct heap_choice *wanted,
                          bool any) {
    if (any) {
        char id[HEAP_NUMBER], number[HEAP_NUMBER + 24] = "", process[48] = "";
        if (wanted->id || wanted->serial) {
            snprintf(number, sizeof number, " number (%s)%s", heap_number_text(id, wanted->id, wanted->serial),
                     wanted->pid ? " in this" : "");
        }
        if (wanted->pid) {
            snprintf(process, sizeof process, " process (%" PRIu64 ")", wanted->pid);
        }
        message_print("%s: has heaps, but none with this%s%s; `edenscope report` without --heap and --pid lists them",
                      path, number, process);
    } else {
        message_print("%s: %s%s", path, model_no_heap, info->finished ? "" : ", recorded for long enough");
    }
}

/* The part of the observed time that is wanted. */
static struct viewed view_of(struct recording *recording, const struct model *model, const struct options *options) {
    struct viewed viewed = viewed_whole(recording, model);
    uint64_t from = viewed.from_ns, most = viewed.until_ns - from;
    uint64_t since = (uint64_t)(options->since * 1e9), until = (uint64_t)(options->until * 1e9);
    viewed.from_ns = from + (since < most ? since : most);
    viewed.until_ns = options->until > 0 && until < most ? from + until : viewed.until_ns;
    return viewed;
}

static int print(const struct view *view, const char *path, const struct viewed *viewed, bool json) {
    struct failure why = {.status = 1};
    bool good;
    if (json) {
        json_t *object = view->to_json(viewed, &why);
        good = object != NULL;
        if (good) {
            json_print(stdout, object);
        }
        json_decref(object);
    } else {
        good = view->print ? view->print(stdout, viewed, &why)
                           : report_text(stdout, path, viewed->recording, viewed->model, &why);
    }
    return output_finish(stdout, "the report", good ? 0 : failure_report(&why));
}

static int report(const struct view *view, const char *path, struct recording *recording,
                  const struct options *options) {
    const struct heap_choice wanted = {(uint64_t)options->pid, options->heap, options->heap_serial};
    struct model all = {0}, chosen = {0};
    struct failure why;
    int status = 1;
    if (!recording_model(recording, &all, &why)) {
        failure_report(&why);
    } else if (!choose(&all, &wanted, &chosen)) {
        message_print("out of memory for the report");
    } else {
        const struct viewed viewed = view_of(recording, &chosen, options);
        bool any = has_heaps(&chosen);
        if (!any) {
            print_no_heap(path, recording_info(recording), &wanted, has_heaps(&all));
            model_report_losses(&chosen, message_report, NULL);
        }
        if (any || options->json) {
            status = print(view, path, &viewed, options->json);
        }
        status = any ? status : 1;
    }
    free_chosen(&chosen);
    model_clear(&all);
    return status;
}

int cmd_report(int argc, char **argv) {
    struct options options;
    int status;
    if (!options_parse(&options, ACCEPT_INPUT | ACCEPT_JSON | ACCEPT_HEAP | ACCEPT_VIEW, usage, argc, argv, &status)) {
        return status;
    }
    const struct view *view = find_view(options.view, &status);
    if (!view) {
        return status;
    }
    if ((options.since > 0 || options.until > 0) && !view->print) {
        message_print("--since and --until are of the other views; `edenscope report --view list` lists them");
        return 1;
    }
    if (options.until > 0 && options.until <= options.since) {
        message_print("--until %g is not after --since %g", options.until, options.since);
        return 1;
    }
    const char *path = options.input ? options.input : "eden.data";
    struct failure why;
    struct recording *recording = recording_open_with(path, recording_last(options.force), &why);
    if (!recording) {
        return failure_report(&why);
    }
    signal(SIGPIPE, SIG_IGN); /* writing reports a closed pipe */
    status = report(view, path, recording, &options);
    recording_close(recording);
    return status;
}
