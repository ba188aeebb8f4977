/* A recorded run: of `edenscope record`, and of the commands that examine what they have recorded.
 *
 * 1. Algorithm
 *     source --events--> recorder
 *     source --model---> recorder, every 250 ms in which something happened, else every 2 s, and at the end
 *
 * 2. Invariants
 * I1. Nothing that is at the path is lost before tracing works: first the new file is made, then tracing is attached,
 *     then the file takes its place, and only then the program runs. A file with content is replaced later: when the
 *     first heap, event or batch is committed.
 * I2. A heap is committed before its events: where there is little room, events of unknown heaps are worth nothing.
 *
 * 3. Failure
 * If the recording cannot be written any more (the disk is full), a command continues: record waits for it, and reports
 * its end and the failure. Without a command, record ends. */
#include "session/record_run.h"
#include "attach/attach.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/interrupt.h"
#include "util/message.h"
#include "util/whole.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MS 1000000ull
enum { COMMIT_MS = 250, IDLE_COMMIT_MS = 2000 };

struct run {
    const struct record_request *request;
    struct recorder *recorder;
    bool failed;              /* writing did */
    uint64_t scavenges, full; /* what the file's figures sum up to */
    struct failure why;
};

static void on_event(void *context, const struct event *event) {
    struct run *run = context;
    if (!run->failed && !recorder_add(run->recorder, event, &run->why)) {
        run->failed = true;
    }
    if (run->request->on_event) {
        run->request->on_event(run->request->context, event);
    }
}

static bool on_batch(void *context, const struct life_batch *batch) {
    struct run *run = context;
    if (!run->failed && !recorder_add_batch(run->recorder, batch, &run->why)) {
        run->failed = true;
    }
    return !recorder_is_full(run->recorder);
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

static bool commit(struct source *source, struct run *run, bool finished, struct model *model) {
    struct failure why;
    const uint64_t count = recorder_model_count(run->recorder);
    if (!source_snapshot(source, model, &why)) {
        failure_report(&why);
        return false;
    }
    if (!run->failed && !recorder_commit(run->recorder, model, finished, &run->why)) {
        run->failed = true;
    }
    if (recorder_model_count(run->recorder) != count) {
        run->scavenges = figure_sum(model, EDEN_FIGURE_scavenges);
        run->full = figure_sum(model, EDEN_FIGURE_full_collections);
    }
    return !run->failed;
}

static void print_failure(const struct run *run, const struct record_request *request) {
    failure_report(&run->why);
    message_print("recording stopped%s%s",
                  recorder_is_published(run->recorder) ? "; the part written so far can be read" : "",
                  request->observed.command ? "; the program continues" : "");
}

static int wait_ms(uint64_t end) {
    uint64_t now = now_ns(), left = end > now ? (end - now) / MS + 1 : 0;
    return left < COMMIT_MS ? (int)left : COMMIT_MS;
}

/* Drains events until all that is observed has ended, or the user has enough. *model: as of the end. */
static void follow(struct source *source, struct run *run, const struct record_request *request, struct model *model) {
    uint64_t committed = now_ns(), events = 0;
    uint64_t end = request->seconds > 0 ? committed + whole_of(request->seconds * 1e9) : UINT64_MAX;
    uint64_t waits_ns = request->waits ? committed + 1000 * MS : UINT64_MAX;
    bool said = false, is_new = false;
    int handled = 0;
    commit(source, run, false, model); /* heaps that were there before get their names */
    bool more = false;
    while (source_poll(source, more ? 0 : wait_ms(end), on_event, run)) {
        for (; handled < interrupt_count(); handled++) {
            source_stop(source);
        }
        if (now_ns() >= end || (is_new && request->is_enough && request->is_enough(request->context, model))) {
            source_stop(source);
            end = UINT64_MAX;
        }
        is_new = false;
        /* Heaps before their events: where there is room for little, it must not be events of unknown heaps. */
        if (!run->failed && events == 0 && recorder_event_count(run->recorder) != 0) {
            commit(source, run, false, model);
            committed = now_ns();
            events = recorder_event_count(run->recorder);
        }
        if (!run->failed && !recorder_write(run->recorder, &more, &run->why)) {
            run->failed = true;
            more = false;
        }
        uint64_t now = now_ns(), age = now - committed;
        if (now >= waits_ns) {
            message_print("%s", request->waits);
            waits_ns = UINT64_MAX;
        }
        bool news = recorder_event_count(run->recorder) != events;
        if (!run->failed && age >= (news ? COMMIT_MS : IDLE_COMMIT_MS) * MS) {
            is_new = commit(source, run, false, model);
            committed = now;
            events = recorder_event_count(run->recorder);
        }
        recorder_report_lock(run->recorder);
        if (run->failed && !said) {
            print_failure(run, request);
            said = true;
            if (!request->observed.command) {
                break;
            }
        }
    }
    if (request->interrupts) {
        *request->interrupts = interrupt_count();
    }
    bool whole = commit(source, run, true, model);
    if (run->failed && !said) {
        print_failure(run, request);
    } else if (!whole) {
        run->failed = true;
    }
}

/* Counts what the file holds, which is less than was observed if it was cut short. */
static void report_summary(const struct model *model, const struct run *run, const struct record_request *request,
                           bool is_missing) {
    const bool is_kept = !request->temporary && !is_missing && recorder_is_published(run->recorder);
    char events[FORMAT_MAX], scavenges[FORMAT_MAX], full[FORMAT_MAX];
    uint64_t event_count = recorder_written_count(run->recorder);
    char batches[FORMAT_MAX + 24] = "", size[FORMAT_MAX + 3] = "";
    if (request->observed.lifetimes) {
        uint64_t batch_count = recorder_batch_count(run->recorder);
        snprintf(batches, sizeof batches, "%s batch%s of lifetimes, ", format_count(events, batch_count),
                 batch_count == 1 ? "" : "es");
    }
    if (is_kept) {
        char bytes[FORMAT_MAX];
        snprintf(size, sizeof size, " (%s)", format_bytes(bytes, recorder_bytes(run->recorder)));
    }
    if (!request->quiet) {
        message_line("[ edenscope %s: %s event%s, %s scavenge%s, %s full collection%s, %s%s%s%s%s ]", request->who,
                     format_count(events, event_count), plural(event_count), format_count(scavenges, run->scavenges),
                     plural(run->scavenges), format_count(full, run->full), plural(run->full), batches,
                     is_kept ? "wrote " : "recorded", is_kept ? request->path : "", size,
                     run->failed ? ", cut short" : "");
    }
    if (model->lost) {
        char lost[FORMAT_MAX];
        message_print("%s event%s lost, because they came faster than they could be written, or from too many heaps%s",
                      format_count(lost, model->lost), plural(model->lost),
                      model->uncounted ? ": the recording's figures may be too small" : "; figures count them");
    }
    uint64_t dropped = recorder_dropped_count(run->recorder);
    if (dropped) {
        char lost[FORMAT_MAX];
        message_print("%s event%s lost while another program held the recording locked", format_count(lost, dropped),
                      plural(dropped));
    }
    if (model->lost_records) {
        char lost[FORMAT_MAX];
        message_print("%s record%s of lifetimes lost, because they came faster than they could be written, or were "
                      "invalid; use a sparser --sampling, or no details",
                      format_count(lost, model->lost_records), plural(model->lost_records));
    }
    model_report_gaps(model, message_report, NULL);
    const bool is_said = request->observed.selection.kind == SELECT_NAMES && request->begun == 0; /* by the caller */
    if (model_heap_count(model) == 0 && !request->quiet && !is_said) {
        message_print("%s", model_no_heap);
    }
}

/* Observes and writes; *published: the recording stands at its path. */
static int observe(struct recorder *recorder, const struct record_request *request, bool *published) {
    struct run run = {.request = request, .recorder = recorder};
    struct source_options wanted = request->observed;
    wanted.events = true;
    wanted.until_interrupt = request->seconds <= 0;
    wanted.on_batch = wanted.lifetimes ? on_batch : NULL;
    wanted.batch_context = &run;
    struct failure why;
    struct source *source = source_open(&wanted, &why);
    if (!source) {
        return failure_report(&why);
    }
    int folder = request->temporary ? request->folder : recorder_folder(recorder);
    if (!recorder_publish(recorder, &why) || (!request->keeps_rights && !source_give_up_rights(source, folder, &why)) ||
        !source_start(source, &why)) {
        source_close(source);
        return failure_report(&why);
    }
    recorder_began(recorder, source_began_ns(source));
    *published = true;
    if (wanted.verbose) {
        char took[FORMAT_MAX];
        message_print("attached in %s, recording to %s", format_ns(took, source_attach_ns(source)), request->path);
    }
    if (request->begun != 0 && write(request->begun, "", 1) != 1) {
        message_print("the process that started this recording has ended");
    }
    struct model model = {0};
    follow(source, &run, request, &model);
    if (request->cut) {
        *request->cut = recorder_cut(recorder);
    }
    if (request->lost) {
        *request->lost = model.lost + recorder_dropped_count(recorder);
    }
    const bool is_published = recorder_is_published(recorder), has_heap = model_heap_count(&model) != 0;
    const bool is_lost = !request->temporary && is_published && !recorder_is_in_place(recorder);
    char place[PATH_MAX];
    const bool is_elsewhere = !request->temporary && is_published && !is_lost && !recorder_is_at_path(recorder, place);
    report_summary(&model, &run, request, is_lost || is_elsewhere);
    model_clear(&model);
    if (!is_published) {
        message_print("%s: was left as it was%s", request->path,
                      run.failed ? ""
                                 : ", because no heap was seen; for a recording without heaps, name another file "
                                   "with -o");
        run.failed = true;
    } else if (is_lost) {
        message_print("%s: was removed or replaced during the recording; the recording is lost", request->path);
        run.failed = true;
    } else if (is_elsewhere) {
        message_print("%s: its folder was renamed or replaced during the recording; the recording is in %s",
                      request->path, place);
        run.failed = true;
    }
    source_report_refused(source);
    /* One file after the other may wait for the process. */
    const int unseen = request->begun == 0 ? source_report_unseen(&wanted.selection, has_heap) : 0;
    int status = source_exit_status(source);
    source_close(source);
    if (status < 0) { /* after a second signal the command is left alone */
        status = wanted.command && interrupt_last() ? 128 + interrupt_last() : 0;
    }
    return status == 0 && run.failed ? 1 : status == 0 ? unseen : status;
}

/* Which processes are observed, in words: cut, if they are many. NULL: one, or a command. */
static const char *describe(const struct source_options *observed, char *text, size_t size) {
    const struct selection *selection = &observed->selection;
    const char *const kinds[] = {[SELECT_NONE] = "the processes",
                                 [SELECT_ALL] = "all processes",
                                 [SELECT_NAMES] = "the processes named",
                                 [SELECT_CGROUP] = "the processes of a control group"};
    size_t used = (size_t)snprintf(text, size, "%s", kinds[selection->kind]);
    for (size_t i = 0; i < selection->names && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s %s", i ? "," : "", selection->name[i]);
    }
    for (size_t i = 0; i < observed->pids && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s %d", i ? "," : "", observed->pid[i]);
    }
    return selection->kind != SELECT_NONE || observed->pids > 1 ? text : NULL;
}

int record_run(const struct record_request *request, bool *published) {
    const struct source_options *observed = &request->observed;
    char selected[256];
    struct recorder_options wanted = {.path = request->path,
                                      .command = observed->command,
                                      .pid = observed->pids == 1 ? observed->pid[0] : 0,
                                      .selected = describe(observed, selected, sizeof selected),
                                      .force = request->force,
                                      .is_temporary = request->temporary,
                                      .reader = request->reader,
                                      .most_bytes = request->most_bytes,
                                      .objects = observed->objects == OBJECTS_ALL,
                                      .lifetimes = observed->lifetimes ? observed->control : 0};
    struct failure why;
    bool ours = false;
    interrupt_install();
    /* First what no other file cures. */
    struct recorder *recorder = kernel_check_rights(&why) ? recorder_create(&wanted, &why) : NULL;
    if (!recorder) {
        return failure_report(&why);
    }
    int status = observe(recorder, request, published ? published : &ours);
    recorder_close(recorder);
    return status;
}
