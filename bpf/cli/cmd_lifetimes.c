/* `edenscope lifetimes`: how long the objects of a process or a command live, by class and site.
 *
 *     source --sums--------------------> model of lifetimes --> table, JSON, or a view (views/lifetimes/view.c)
 *     source --batches--> spool --batches--^      |   ^
 *     recording ----------------batches-----------+   +-- objects, one by one, from the spool or the recording
 *
 * With --details batches come too fast to be looked into, and objects too many to be held: they go to a file of their
 * own (life_spool.c) first. So they do with --stacks, which joins each object's end to the stack of its birth. */
#include "cli/apart.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "model/lifetimes/options.h"
#include "model/lifetimes/replay.h"
#include "recording/recording.h"
#include "session/life_spool.h"
#include "session/source.h"
#include "stats/by_stack.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/interrupt.h"
#include "util/message.h"
#include "util/output.h"
#include "util/plot.h"
#include "util/replace.h"
#include "util/sum.h"
#include "util/terminal.h"
#include "util/whole.h"
#include "views/lifetimes/pretenure.h"
#include "views/lifetimes/table.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char usage[] =
    "lifetimes [--sampling WHICH] [--mechanism HOW] [--details] [--stacks] [SHOWN] [-o FILE] [-v]\n"
    "                           [--pretenure FILE [--force]] (-p PID [seconds] | -- PROGRAM arguments...)\n"
    "       edenscope lifetimes -i FILE [--heap ID] [--pid PID] [SHOWN] [-o FILE] [--pretenure FILE] [--force]\n"
    "       SHOWN: [--json | --view NAME] [--by-site] [--top N] [--long-lived PERCENT]\n\n"
    "  Measures how long objects live, by class and by site: samples heaps while it runs, or reads a recording.";

/* What is to be said of the file of --pretenure. */
struct written {
    struct life_pretenured named;
    char sampling[LIFE_ADVICE_MAX]; /* for more of them; "": none is proposed */
};

struct lifetimes {
    struct options options;
    struct source_options wanted;
    struct life_view_options shown;
    life_view *view;
    double seconds;               /* 0: until it ends */
    struct life_spool *spool;     /* NULL: sums are enough */
    struct life_replay replay;    /* of it */
    struct stack_numbers numbers; /* of the stacks in it */
    uint64_t unspooled;           /* records that it had no room for */
    struct life_stacks stacks;
    struct output output;
    bool is_chart, is_text;       /* the view: drawn by a plotter; for people */
    struct plotter plotter;       /* of a chart */
    struct replacement pretenure; /* the file to write, under another name until it is whole */
    struct written *written;      /* shared with the child that reads a recording */
};

/* ---- options ----------------------------------------------------------------------------------------------------- */

static bool choose_view(struct lifetimes *run, struct failure *why) {
    const struct options *options = &run->options;
    run->view = options->json ? life_json : life_table;
    run->is_text = !options->json;
    if (!options->view) {
        return true;
    }
    const struct life_view_description *view = life_view_named(options->view);
    if (!view) {
        size_t length = 0;
        char names[400] = "";
        for (view = life_views; view->name && length < sizeof names; view++) {
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "", view->name);
        }
        return failure_set(why, 1, "--view %.40s: unknown view; choose one of %s", options->view, names);
    }
    run->view = view->print;
    run->is_chart = view->kind == LIFE_VIEW_CHART;
    run->is_text = view->kind == LIFE_VIEW_TEXT;
    terminal_fold(run->is_text);
    return !options->json || failure_set(why, 1, "give either --json or --view %.40s, not both", options->view);
}

static bool prepare(struct lifetimes *run, struct failure *why) {
    const struct options *options = &run->options;
    const struct life_request request = {.sampling = options->sampling,
                                         .mechanism = options->mechanism,
                                         .details = options->details,
                                         .stacks = options->stacks};
    run->shown = life_view_defaults;
    run->shown.top = options->top_given ? options->top : run->shown.top;
    run->shown.by_site = options->by_site;
    if (options->long_lived_given) {
        run->shown.rule.share = options->long_lived / 100;
    }
    run->wanted = (struct source_options){.pid = options->pids,
                                          .pids = options->pid_count,
                                          .command = options->command,
                                          .lifetimes = true,
                                          .stacks = options->stacks ? &run->stacks : NULL,
                                          .verbose = options->verbose};
    if (options->stacks && options->details) {
        return failure_set(why, 1, "--details cannot be combined with --stacks, which sums objects by stack");
    }
    if (options->stacks && options->pretenure) {
        return failure_set(why, 1,
                           "--pretenure cannot be combined with --stacks: it names sites, and stacks replace sites");
    }
    bool good = options_seconds(options, &run->seconds, why);
    run->wanted.until_interrupt = run->seconds <= 0;
    return good && choose_view(run, why) && life_request_encode(&request, &run->wanted.control, why);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Returns how many signals it has heeded. */
static int observe(struct source *source, double seconds) {
    enum { POLL_MS = 100 };
    uint64_t end = seconds > 0 ? now_ns() + whole_of(seconds * 1e9) : UINT64_MAX;
    int handled = 0;
    bool over = false;
    for (bool more = true; more;) {
        uint64_t now = now_ns(), left = end > now ? (end - now + 999999) / 1000000 : 0;
        more = source_poll(source, over || left > POLL_MS ? POLL_MS : (int)left, NULL, NULL);
        for (; handled < interrupt_count(); handled++) {
            source_stop(source);
        }
        if (!over && now_ns() >= end) {
            over = true;
            source_stop(source);
        }
    }
    return handled;
}

static bool has_profile(const struct life_model *model) {
    for (size_t i = 0; i < model->heap_count; i++) {
        if (model->heaps[i].begun) {
            return true;
        }
    }
    return false;
}

static void note_pretenured(struct written *written, const struct life_pretenured *named,
                            const struct life_model *model) {
    written->named = *named;
    for (size_t i = 0; i < model->heap_count; i++) {
        if (life_next_sampling(&model->heaps[i], written->sampling)) {
            return;
        }
    }
    written->sampling[0] = '\0';
}

/* Once the file has its name. */
static void print_pretenured(const struct lifetimes *run) {
    const struct life_pretenured *named = &run->written->named;
    message_print("%s: %zu class%s and %zu site%s to allocate old", run->options.pretenure, named->classes,
                  named->classes == 1 ? "" : "es", named->sites, plural(named->sites));
    if (named->promising && run->written->sampling[0]) {
        message_print("%zu more may qualify, but have too few samples; try --sampling %.*s", named->promising,
                      LIFE_ADVICE_MAX, run->written->sampling);
    }
}

static bool write_pretenure(struct lifetimes *run, const struct life_model *model, struct failure *why) {
    const char *path = run->options.pretenure;
    struct life_pretenured named;
    if (!path) {
        return true;
    }
    if (!has_profile(model)) {
        return failure_set(why, 1, "--pretenure %.200s: not written, because no heap was profiled", path);
    }
    if (!life_pretenure(run->pretenure.out, model, &run->shown, &named, why)) {
        return false;
    }
    note_pretenured(run->written, &named, model);
    return true;
}

static bool on_batch(void *context, const struct life_batch *batch) {
    struct lifetimes *run = context;
    if (!life_spool_add(run->spool, batch)) {
        run->unspooled += batch->count;
    }
    return true;
}

struct naming {
    const struct stack_numbers *numbers;
    life_batch_fn *on_named;
    void *context;
};

static bool on_spooled(void *context, const struct life_batch *batch) {
    const struct naming *naming = context;
    struct life_batch named = *batch;
    struct life_stack_record record;
    if (batch->kind == LIFE_BATCH_STACK && batch->count == 1 && batch->record_bytes == sizeof record) {
        memcpy(&record, batch->records, sizeof record);
        record.stack = record.stack < naming->numbers->count ? naming->numbers->of[record.stack] : 0;
        named.records = &record;
    }
    return naming->on_named(naming->context, &named);
}

/* A life_batches; `from` is the run. The spool has raw numbers of stacks. */
static bool named_batches(void *from, life_batch_fn *on_named, void *context, struct failure *why) {
    const struct lifetimes *run = from;
    struct naming naming = {&run->numbers, on_named, context};
    return life_spool_batches(run->spool, on_spooled, &naming, why);
}

static bool open_spool(struct lifetimes *run, struct failure *why) {
    run->spool = life_spool_open(why);
    run->replay = (struct life_replay){named_batches, run};
    run->wanted.on_batch = on_batch;
    run->wanted.batch_context = run;
    return run->spool;
}

static bool as_asked(const struct eden_profile_record *state, uint64_t control) {
    return state->sampling == (control & 15) && state->rate == control >> EDEN_CONTROL_RATE_SHIFT &&
           state->mechanism == (control >> EDEN_CONTROL_MECHANISM_SHIFT & 3);
}

static void report_heap(const struct life_heap *heap, uint64_t control) {
    const char *what = NULL;
    if (!heap->begun) {
        what = "no profile of it began while it was observed, so its lifetimes are unknown; a profile begins with the "
               "heap, or when a collection ends";
    } else if (!as_asked(&heap->state, control)) {
        what = "did not profile as requested: it was created too late for the request, or its runtime lacks this mode";
    } else if (!heap->state.ended) {
        what = "did not report the objects alive at the end (births without a death): only their number is known";
    }
    if (what) {
        char number[HEAP_NUMBER];
        message_print("heap %s of process %u: %s", heap_number_text(number, heap->id, heap->suffix), heap->process.pid,
                      what);
    }
}

/* Reports, as messages, the heaps that did not profile as requested (eden_batches.h), those without a reported end, and
 * the losses of the heaps themselves. */
static void life_report(const struct life_model *model, uint64_t control) {
    for (size_t i = 0; i < model->heap_count; i++) {
        const struct life_heap *heap = &model->heaps[i];
        if (heap->state.lost) {
            message_print("lost: %" PRIu64 " sampled objects that process %u had no memory to track", heap->state.lost,
                          heap->process.pid);
        }
        report_heap(heap, control);
    }
    if (model->unknown) {
        message_print(
            "%" PRIu64
            " batches are of unknown kinds and are not counted; use an edenscope as new as the program's runtime",
            model->unknown);
    }
}

static bool print(struct lifetimes *run, struct life_model *model, uint64_t control, struct failure *why) {
    const struct heap_choice choice = {run->options.input ? (uint64_t)run->options.pid : 0, run->options.heap,
                                       run->options.heap_serial};
    life_model_choose(model, &choice);
    life_report(model, control);
    return run->view(run->output.out, model, &run->shown, why);
}

/* What was learnt. Another signal than those that were heeded ends it. */
static bool fill(struct lifetimes *run, struct source *source, struct life_model *model, struct failure *why) {
    source_share_lifetimes(source, model);
    bool filled = source_name_stacks(source, &run->numbers, why);
    model->interrupts = interrupt_count(); /* one that ended the reading of functions has been heeded */
    if (filled && run->spool) {
        filled = life_replay_model(&run->replay, model, why);
        sum_add(&model->lost, run->unspooled);
    }
    if (run->options.details) {
        model->objects = (struct life_objects){life_replay_objects, &run->replay};
    }
    return filled && source_lifetimes(source, model, why) &&
           (life_by_stack_reconcile(model) || failure_set(why, 1, "out of memory for the stacks"));
}

static bool show(struct lifetimes *run, struct life_model *model, struct failure *why) {
    bool any = model->heap_count != 0, shown = print(run, model, run->wanted.control, why);
    if (shown && !any) {
        message_print("%s", model_no_heap);
    }
    if (!shown || !write_pretenure(run, model, why)) {
        return false;
    }
    if (run->pretenure.is_open) {
        if (!replace_finish(&run->pretenure, why)) {
            return false;
        }
        output_flush(&run->output); /* the table comes first */
        print_pretenured(run);
    }
    return true;
}

static int exit_status(const struct lifetimes *run, const struct source *source) {
    if (run->options.command && source_exit_status(source) >= 0) {
        return source_exit_status(source);
    }
    /* A second signal: leave the command alone. */
    return run->options.command && interrupt_last() ? 128 + interrupt_last() : 0;
}

/* Before rights are given up. */
static bool start_plotter(struct lifetimes *run, struct failure *why) {
    run->shown.plotter = &run->plotter;
    return plotter_start(&run->plotter, why);
}

static int profile(struct lifetimes *run) {
    struct failure why;
    interrupt_install();
    struct source *source = !run->is_chart || start_plotter(run, &why) ? source_open(&run->wanted, &why) : NULL;
    if (!source) {
        return failure_report(&why);
    }
    if (run->options.verbose) {
        message_print("attached in %.1f ms", (double)source_attach_ns(source) / 1e6);
    }
    int status = 0;
    struct life_model model = {0};
    bool filled = false;
    if (!source_give_up_rights(source, run->options.pretenure ? run->pretenure.place.folder : -1, &why) ||
        !source_start(source, &why)) {
        status = failure_report(&why);
    } else {
        model = (struct life_model){.stacks = run->wanted.stacks, .interrupts = observe(source, run->seconds)};
        filled = fill(run, source, &model, &why);
        status = filled ? exit_status(run, source) : failure_report(&why);
    }
    source_close(source);
    /* A view may take long. */
    if (run->pretenure.is_open && run->pretenure.temporary[0]) {
        interrupt_release_removing(run->pretenure.place.folder, run->pretenure.temporary);
    } else {
        interrupt_release();
    }
    if (filled && !show(run, &model, &why)) {
        status = failure_report(&why);
    }
    life_model_clear(&model);
    free(run->numbers.of);
    return status;
}

/* ---- a recording ------------------------------------------------------------------------------------------------- */

/* What is of observing only. */
static bool check_input(const struct options *options, struct failure *why) {
    const char *odd = options->command      ? "-- PROGRAM"
                      : options->sampling   ? "--sampling"
                      : options->mechanism  ? "--mechanism"
                      : options->details    ? "--details"
                      : options->stacks     ? "--stacks"
                      : options->rest_count ? options->rest[0]
                                            : NULL;
    return !odd || failure_set(why, 1, "%.100s cannot be combined with -i FILE, which reads a finished recording", odd);
}

static bool show_recording(struct lifetimes *run, struct recording *recording, struct failure *why) {
    const struct recording_info *info = recording_info(recording);
    struct life_model model = {0};
    bool shown = recording_lifetimes(recording, &model, why);
    bool any = model.heap_count != 0;
    const char *partial = recording_partial(info);
    if (shown && partial) {
        message_print("%s: %s; counts are \"at least\"", run->options.input, partial);
    }
    shown = shown && print(run, &model, info->lifetimes, why);
    shown = shown && write_pretenure(run, &model, why);
    if (shown && model.heap_count == 0) {
        message_print("%s: %s", run->options.input,
                      any ? "has heaps, but none that --heap and --pid select" : model_no_heap);
    }
    life_model_clear(&model);
    return shown;
}

static int read_back(struct lifetimes *run) {
    struct failure why;
    if (run->is_chart && !start_plotter(run, &why)) {
        return failure_report(&why);
    }
    struct recording *recording = recording_open_with(run->options.input, recording_last(run->options.force), &why);
    bool shown = recording && show_recording(run, recording, &why);
    recording_close(recording);
    return shown ? 0 : failure_report(&why);
}

/* Writes out what was printed. */
static int finish(struct lifetimes *run, int status) {
    if (!run->output.file) {
        return output_finish(stdout, "the lifetimes on standard output", status);
    }
    output_flush(&run->output);
    return status == 0 && run->output.failed && run->output.error != EPIPE ? 1 : status;
}

static int read_back_of(void *context) {
    struct lifetimes *run = context;
    return finish(run, read_back(run));
}

/* Only where the file is there is success reported. */
static int read_back_apart(struct lifetimes *run) {
    int status = read_apart(read_back_of, run, &run->pretenure, run->options.input);
    if (status == 0) {
        print_pretenured(run);
    }
    return status;
}

static bool begin_pretenure(struct lifetimes *run, struct failure *why) {
    if (!run->options.pretenure) {
        return true;
    }
    interrupt_install_unless_ignored(); /* from here on there is something to be removed */
    void *shared = mmap(NULL, sizeof *run->written, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return failure_set(why, 1, "out of memory");
    }
    run->written = shared;
    return replace_begin(&run->pretenure, "--pretenure", run->options.pretenure, LIFE_PRETENURE_MARK,
                         run->options.force ? REPLACE_FORCED : REPLACE_OURS, why);
}

/* Whether --pretenure names the file that a descriptor leads to; then why says so. */
static bool is_pretenured_to(const struct lifetimes *run, int file, struct failure *why) {
    const struct place *place = &run->pretenure.place;
    if (!run->pretenure.is_open || !place_names(place->folder, place->name, file)) {
        return false;
    }
    failure_set(why, 1, "--pretenure %.200s: the other output goes to this file; name another one",
                run->options.pretenure);
    return true;
}

/* Standard output is looked at first: it may be left to the command, and what is printed go to standard error. */
static bool open_output(struct lifetimes *run, struct failure *why) {
    return !(!run->options.output && is_pretenured_to(run, STDOUT_FILENO, why)) &&
           output_begin(&run->output, run->options.output, run->options.command && run->is_text, why) &&
           !is_pretenured_to(run, run->output.file ? fileno(run->output.file) : STDOUT_FILENO, why);
}

static void close_run(struct lifetimes *run) {
    replace_abandon(&run->pretenure);
    life_spool_close(run->spool);
    life_stacks_clear(&run->stacks);
    if (run->written) {
        munmap(run->written, sizeof *run->written);
    }
    output_end(&run->output, 0);
}

int cmd_lifetimes(int argc, char **argv) {
    struct lifetimes run = {0};
    struct failure why;
    int status;
    if (!options_parse(&run.options,
                       ACCEPT_TARGET | ACCEPT_LIFETIMES | ACCEPT_SAMPLING | ACCEPT_JSON | ACCEPT_OUTPUT | ACCEPT_REST,
                       usage, argc, argv, &status) ||
        (!run.options.input && !options_need_target(&run.options, 0, usage, &status))) {
        return status;
    }
    if ((run.options.input && !check_input(&run.options, &why)) || !prepare(&run, &why) ||
        ((run.options.details || run.options.stacks) && !open_spool(&run, &why))) {
        return failure_report(&why);
    }
    if (!begin_pretenure(&run, &why) || !open_output(&run, &why)) {
        status = failure_report(&why);
    } else {
        status = !run.options.input ? profile(&run) : run.options.pretenure ? read_back_apart(&run) : read_back(&run);
        status = run.output.file ? finish(&run, status) : status;
    }
    close_run(&run);
    return status;
}
