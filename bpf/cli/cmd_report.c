/* edenscope report: what a recording says, for people or as JSON. */
#include "cli/apart.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/report_page.h"
#include "recording/recording.h"
#include "util/format.h"
#include "util/interrupt.h"
#include "util/message.h"
#include "util/output.h"
#include "util/share.h"
#include "util/whole.h"
#include "views/model_json.h"
#include "views/page/page.h"
#include "views/report.h"
#include "views/rows/views.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "report [-i FILE [--force]] [--view NAME [--since S] [--until S] [-F COLUMNS] [--sort COLUMN] [-x SEPARATOR]]\n"
    "                 [--json] [--heap ID] [--pid PID] [-v]\n"
    "       edenscope report --html FILE [--user USER] [-i FILE] [--force] [--heap ID] [--pid PID] [-v]\n\n"
    "  Reports on the recording FILE (default eden.data). --heap and --pid select heaps by number and process.";

enum { VIEWS = 12 };
static const struct view *const views[VIEWS] = {&view_pauses,     &view_stops,    &view_histogram, &view_phases,
                                                &view_causes,     &view_timeline, &view_heap,      &view_tenuring,
                                                &view_remembered, &view_segments, &view_classes,   &view_histo};

static int list_views(bool json) {
    static const char summary[] = "figures, shares of time and phases (default)";
    if (!json) {
        printf("  %-10s %s\n", "summary", summary);
        for (size_t i = 0; i < VIEWS; i++) {
            printf("  %-10s %s\n", views[i]->name, views[i]->meaning);
        }
        return 0;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < VIEWS; i++) {
        json_array_append_new(list, view_to_json(views[i]));
    }
    return !json_print_as(stdout, "edenscope/views/1", json_pack("{s:o}", "views", list));
}

/* *view NULL: the summary. */
static bool find_view(const char *name, const struct view **view, struct failure *why) {
    *view = NULL;
    bool is_summary = !name || strcmp(name, "summary") == 0;
    for (size_t i = 0; !is_summary && !*view && i < VIEWS; i++) {
        *view = strcmp(name, views[i]->name) == 0 ? views[i] : NULL;
    }
    return is_summary || *view ||
           failure_set(why, 1, "--view %.60s: there is no such view; `edenscope report --view list` lists them", name);
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
                             .uncounted = all->uncounted,
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
            snprintf(number, sizeof number, " with number %s", heap_number_text(id, wanted->id, wanted->serial));
        }
        if (wanted->pid) {
            snprintf(process, sizeof process, " of process %" PRIu64, wanted->pid);
        }
        message_print("%s: has no heap%s%s; `edenscope report` without --heap and --pid lists its heaps", path, number,
                      process);
    } else {
        message_print("%s: %s%s", path, model_no_heap, info->finished ? "" : ", recorded for long enough");
    }
}

/* The part of the observed time that is wanted. */
static struct viewed view_of(struct recording *recording, const struct model *model, const struct options *options) {
    struct viewed viewed = viewed_whole(recording, model);
    uint64_t from = viewed.from_ns, most = viewed.until_ns - from;
    uint64_t since = whole_of(options->since * 1e9), until = whole_of(options->until * 1e9);
    viewed.from_ns = from + (since < most ? since : most);
    viewed.is_from_beginning = since == 0;
    viewed.until_ns = options->until > 0 && until < most ? from + until : viewed.until_ns;
    return viewed;
}

struct report {
    struct options options;
    const struct view *view; /* NULL: the summary */
    const char *path;
    struct replacement page; /* of --html */
};

static int print(const struct report *report, const struct viewed *viewed, const struct heap_choice *wanted) {
    const struct options *options = &report->options;
    struct failure why = {.status = 1};
    bool good;
    if (options->html) {
        good = report_page(report->page.out, report->path, viewed, wanted, &why);
        return good ? 0 : failure_report(&why); /* what reads apart ends the output */
    }
    if (report->view) {
        const struct rows_format format = {options->columns, options->sort, options->separator, options->json};
        good = rows_print(stdout, report->view, viewed, &format, &why);
    } else if (options->json) {
        good = model_print_json(stdout, viewed->model) || ferror(stdout) ||
               failure_set(&why, 1, "out of memory for the report");
    } else {
        good = report_text(stdout, report->path, viewed->recording, viewed->model, &why);
    }
    return output_finish(stdout, "the report on standard output", good ? 0 : failure_report(&why));
}

static int report_heaps(const struct report *report, struct recording *recording) {
    const struct options *options = &report->options;
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
        if (options->since > 0 && viewed.from_ns >= viewed_whole(recording, &chosen).until_ns) {
            char wall[FORMAT_MAX];
            message_print("--since %g: the recording lasts %s", options->since, format_ns(wall, chosen.wall_ns));
            free_chosen(&chosen);
            model_clear(&all);
            return 1;
        }
        bool any = has_heaps(&chosen);
        if (!any) {
            print_no_heap(report->path, recording_info(recording), &wanted, has_heaps(&all));
            model_report_losses(&chosen, message_report, NULL);
        }
        if (any || options->json) {
            status = print(report, &viewed, &wanted);
        }
        status = any ? status : 1;
    }
    free_chosen(&chosen);
    model_clear(&all);
    return status;
}

static int report(void *context) {
    const struct report *report = context;
    struct failure why;
    struct recording *recording = recording_open_with(report->path, recording_last(report->options.force), &why);
    int status = recording ? report_heaps(report, recording) : failure_report(&why);
    recording_close(recording);
    return status;
}

/* What only views of rows accept. */
static const char *of_rows_only(const struct options *options) {
    return options->since > 0 || options->until > 0 ? "--since and --until"
           : options->columns                       ? "-F"
           : options->sort                          ? "--sort"
           : options->separator                     ? "-x"
                                                    : NULL;
}

/* Whether the options go together. */
static bool check(const struct report *report, struct failure *why) {
    const struct options *options = &report->options;
    if (!report->view && of_rows_only(options)) {
        return failure_set(why, 1, "%s: cannot be used with the %s; name a view with --view (`--view list` lists them)",
                           of_rows_only(options), options->html ? "page" : "summary");
    }
    if (options->user && !options->html) {
        return failure_set(why, 1, "--user needs --html: without it, no file is written");
    }
    if (options->json && options->separator) {
        return failure_set(why, 1, "--json and -x exclude each other");
    }
    if (options->html && (options->json || options->view)) {
        return failure_set(why, 1, "--html shows all views: it cannot be combined with --json or --view");
    }
    if (options->until > 0 && options->until <= options->since) {
        return failure_set(why, 1, "--until %g is not after --since %g", options->until, options->since);
    }
    return true;
}

/* The page is for those that a recording would be for. */
static bool begin_page(struct report *report, struct failure *why) {
    const struct options *options = &report->options;
    uid_t reader;
    if (options->user && !share_find_user(options->user, &reader, why)) {
        return false;
    }
    interrupt_install_unless_ignored(); /* from here on there is something to be removed */
    return replace_begin(&report->page, "--html", options->html, PAGE_MARK, REPLACE_PRIVATE, why) &&
           share_with(report->page.file, report->page.place.folder, options->user ? &reader : NULL, options->html, why);
}

int cmd_report(int argc, char **argv) {
    struct report run = {0};
    struct options *options = &run.options;
    struct failure why;
    int status;
    if (!options_parse(options, ACCEPT_INPUT | ACCEPT_JSON | ACCEPT_HEAP | ACCEPT_VIEW | ACCEPT_USER, usage, argc, argv,
                       &status)) {
        return status;
    }
    if (options->view && strcmp(options->view, "list") == 0) {
        return list_views(options->json);
    }
    run.path = options->input ? options->input : "eden.data";
    if (!find_view(options->view, &run.view, &why) || !check(&run, &why)) {
        return failure_report(&why);
    }
    if (options->html && !begin_page(&run, &why)) {
        replace_abandon(&run.page);
        return failure_report(&why);
    }
    status = options->html ? read_apart(report, &run, &run.page, run.path) : report(&run);
    replace_abandon(&run.page);
    return status;
}
