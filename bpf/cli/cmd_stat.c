/* `edenscope stat`: figures and phase timings of a process or a command, at the end or by interval. */
#include "cli/commands.h"
#include "cli/options.h"
#include "session/source.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/interrupt.h"
#include "util/message.h"
#include "util/output.h"
#include "util/sheet.h"
#include "util/whole.h"
#include "views/heap_table.h"
#include "views/model_json.h"
#include "views/phase_table.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char usage[] = "stat [-p PID,PID... | -n NAME | --cgroup FOLDER | -a | -- PROGRAM arguments...]\n"
                            "                     [interval [count]] [--json] [-T] [-o FILE] [--events-only] [-v]\n\n"
                            "  Prints counters and phase timings: once at the end, or a line per heap each interval.";

struct run {
    struct options options;
    struct selection selection;
    struct source *source;
    struct output output;
    FILE *out;           /* the output's */
    struct model before; /* as of the last interval */
    uint64_t lines, intervals;
    bool has_heap; /* one was seen */
};

/* ---- at the end ------------------------------------------------------------------------------------------------- */

static void print_summary(FILE *out, const struct model *model) {
    for (size_t i = 0; i < model->process_count; i++) {
        for (size_t j = 0; j < model->processes[i].heap_count; j++) {
            fputc('\n', out);
            heap_table_print(out, &model->processes[i], &model->processes[i].heaps[j], model);
        }
    }
    char text[FORMAT_MAX];
    const enum style style = model->lost ? STYLE_WARNING : STYLE_PLAIN;
    fprintf(out, "\n  %s observed, %s%" PRIu64 " event%s lost%s\n", format_ns(text, model->wall_ns),
            style_on(out, style), model->lost, plural(model->lost), style_off(out, style));
    if (model_heap_count(model) > 1) {
        fprintf(out, "  Shares and rates are of the whole %s, also of heaps that were there for a part of it.\n", text);
    }
}

/* ---- lines by interval ------------------------------------------------------------------------------------------ */

static const struct sheet_column line_columns[] = {
    {"time", SHEET_NUMBER, 9, 0},      {"pid", SHEET_NUMBER, 8, 1},        {"heap", SHEET_NUMBER, 5, 1},
    {"scavenges", SHEET_NUMBER, 9, 1}, {"full", SHEET_NUMBER, 6, 1},       {"gc", SHEET_NUMBER, 9, 1},
    {"gc%", SHEET_NUMBER, 7, 1},       {"allocated", SHEET_NUMBER, 10, 1}, {"survived", SHEET_NUMBER, 10, 1},
    {"tenured", SHEET_NUMBER, 10, 1},  {"old", SHEET_NUMBER, 10, 1},       {"now", SHEET_WORDS, 0, 2}};
enum { LINE_COLUMNS = sizeof line_columns / sizeof *line_columns };

static char *delta(char text[FORMAT_MAX], const struct heap_model *heap, const struct heap_model *before,
                   enum eden_figure figure) {
    uint64_t value;
    if (!heap_figure_since(heap, before, figure, &value)) {
        snprintf(text, FORMAT_MAX, "?");
        return text;
    }
    return format_figure(text, figure, value);
}

static char *time_text(char text[FORMAT_MAX], const struct run *run, const struct model *model) {
    struct tm parts;
    time_t now = time(NULL);
    if (!run->options.timestamp) {
        snprintf(text, FORMAT_MAX, "%.3f", (double)model->wall_ns / 1e9);
    } else if (!localtime_r(&now, &parts) || strftime(text, FORMAT_MAX, "%H:%M:%S", &parts) == 0) {
        memcpy(text, "?", 2);
    }
    return text;
}

static void print_line(const struct run *run, const struct sheet *sheet, const struct model *model,
                       const struct process_model *process, const struct heap_model *heap,
                       const struct heap_model *before) {
    char text[LINE_COLUMNS][FORMAT_MAX], number[HEAP_NUMBER], now[PHASE_NOW_MAX];
    uint64_t wall = model->wall_ns - run->before.wall_ns, ns;
    enum style style = STYLE_PLAIN;
    snprintf(text[1], FORMAT_MAX, "%u", process->key.pid);
    memcpy(text[5], "?", 2);
    memcpy(text[6], "?", 2);
    if (heap_stopped_since(heap, before, wall, &ns)) {
        style = style_of_share((double)ns / (double)wall);
        format_ns(text[5], ns);
        snprintf(text[6], FORMAT_MAX, "%.2f%%", 100 * (double)ns / (double)wall);
    }
    sheet_row(sheet,
              (const struct sheet_cell[LINE_COLUMNS]){
                  {time_text(text[0], run, model), STYLE_PLAIN},
                  {text[1], STYLE_PLAIN},
                  {heap_number_text(number, heap->id, heap->suffix), STYLE_PLAIN},
                  {delta(text[3], heap, before, EDEN_FIGURE_scavenges), STYLE_PLAIN},
                  {delta(text[4], heap, before, EDEN_FIGURE_full_collections), STYLE_PLAIN},
                  {text[5], STYLE_PLAIN},
                  {text[6], style},
                  {delta(text[7], heap, before, EDEN_FIGURE_allocated_bytes), STYLE_PLAIN},
                  {delta(text[8], heap, before, EDEN_FIGURE_survived_bytes), STYLE_PLAIN},
                  {delta(text[9], heap, before, EDEN_FIGURE_tenured_bytes), STYLE_PLAIN},
                  {delta(text[10], heap, before, EDEN_FIGURE_old_used), STYLE_PLAIN},
                  {phase_table_add_stopped(phase_table_now(now, process, heap), (int)process->key.pid), STYLE_PLAIN},
              });
}

static void print_interval(struct run *run, const struct model *model) {
    const struct sheet sheet = SHEET(run->out, "#", line_columns);
    if (run->options.json) {
        model_print_json(run->out, model);
    } else {
        for (size_t i = 0; i < model->process_count; i++) {
            const struct process_model *process = &model->processes[i];
            const struct process_model *last = model_find_process(&run->before, &process->key);
            for (size_t j = 0; j < process->heap_count; j++) {
                const struct heap_model *heap = &process->heaps[j];
                const struct heap_model *before = model_find_heap(last, HEAP_REF(heap));
                if (before && (before->destroyed || before->is_former || last->ended)) {
                    continue;
                }
                if (run->lines++ % 24 == 0) {
                    sheet_heading(&sheet);
                }
                print_line(run, &sheet, model, process, heap, before);
            }
        }
    }
    output_flush(&run->output);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* Takes a snapshot and prints what has happened since the last one. */
static bool tick(struct run *run, struct failure *why) {
    struct model model = {0};
    if (!source_snapshot(run->source, &model, why)) {
        model_clear(&model);
        return false;
    }
    model_set_stopped(&model, &run->before);
    print_interval(run, &model);
    model_clear(&run->before);
    run->before = model;
    run->has_heap = run->has_heap || model_heap_count(&model) != 0;
    run->intervals++;
    return true;
}

static bool observe(struct run *run, struct failure *why) {
    uint64_t step = whole_of(run->options.interval * 1e9);
    uint64_t next = now_ns() + step;
    int handled = 0;
    bool is_unread = false;
    for (;;) {
        uint64_t now = now_ns();
        int timeout = 1000;
        if (step) {
            uint64_t left = next > now ? (next - now + 999999) / 1000000 : 0;
            timeout = left < 1000 ? (int)left : 1000;
        }
        /* Children and late libraries are looked for between waits. */
        timeout = timeout < 200 ? timeout : 200;
        bool more = source_poll(run->source, timeout, NULL, NULL);
        for (; handled < interrupt_count(); handled++) {
            source_stop(run->source);
        }
        if (step && (now_ns() >= next || !more)) {
            if (!tick(run, why)) {
                return false;
            }
            if (!is_unread && output_is_unread(&run->output)) {
                is_unread = true;
                source_stop(run->source); /* a command goes on */
            }
            uint64_t late = now_ns() > next ? now_ns() - next : 0;
            next += step + late / step * step; /* what a stall has made impossible is left out */
            if (run->options.count && run->intervals >= run->options.count) {
                return true;
            }
        }
        if (!more) {
            return true;
        }
    }
}

/* Of names, source_report_unseen says that there was no heap. */
static void report_end(const struct run *run, const struct model *model) {
    model_report_end(model, run->selection.kind == SELECT_NAMES, message_report, NULL);
}

static bool summarize(struct run *run, struct failure *why) {
    struct model model = {0};
    bool done = source_snapshot(run->source, &model, why);
    run->has_heap = done && model_heap_count(&model) != 0;
    if (done && !run->has_heap) { /* before a summary of nothing */
        report_end(run, &model);
    }
    if (done && run->options.json) {
        model_print_json(run->out, &model);
    } else if (done) {
        print_summary(run->out, &model);
    }
    if (done) {
        output_flush(&run->output);
    }
    if (run->has_heap) {
        report_end(run, &model);
    }
    model_clear(&model);
    return done;
}

static int run_stat(struct run *run) {
    struct failure why = {.status = 1};
    struct source_options wanted = {.pid = run->options.pids,
                                    .pids = run->options.pid_count,
                                    .selection = run->selection,
                                    .command = run->options.command,
                                    .no_headers = run->options.events_only,
                                    .until_interrupt = run->options.interval <= 0,
                                    .verbose = run->options.verbose};
    interrupt_install();
    run->source = source_open(&wanted, &why);
    if (!run->source) {
        return failure_report(&why);
    }
    if (run->options.verbose) {
        message_print("attached in %.1f ms", (double)source_attach_ns(run->source) / 1e6);
    }
    if (!source_give_up_rights(run->source, -1, &why) || !source_start(run->source, &why) || !observe(run, &why)) {
        return failure_report(&why);
    }
    /* With an interval, the lines have printed everything; the table is for runs without one. */
    if (run->options.interval <= 0 && !summarize(run, &why)) {
        return failure_report(&why);
    }
    if (run->options.interval > 0 && run->intervals != 0) {
        report_end(run, &run->before);
    }
    source_report_refused(run->source);
    const int unseen = source_report_unseen(&run->selection, run->has_heap);
    int status = source_exit_status(run->source);
    if (run->options.command && status < 0 && interrupt_last()) {
        return 128 + interrupt_last(); /* a second signal: leave the command alone */
    }
    return run->options.command && status >= 0 ? status : unseen;
}

int cmd_stat(int argc, char **argv) {
    struct run run = {0};
    struct failure why;
    int status;
    if (!options_parse(&run.options,
                       ACCEPT_TARGET | ACCEPT_SELECTION | ACCEPT_INTERVAL | ACCEPT_JSON | ACCEPT_TIMESTAMP |
                           ACCEPT_OUTPUT | ACCEPT_EVENTS_ONLY,
                       usage, argc, argv, &status) ||
        !options_need_target(&run.options, ACCEPT_SELECTION, usage, &status)) {
        return status;
    }
    if (!options_select(&run.options, &run.selection, &why)) {
        return failure_report(&why);
    }
    if (!output_begin(&run.output, run.options.output, run.options.command && !run.options.json, &why)) {
        return failure_report(&why);
    }
    run.out = run.output.out;
    status = run_stat(&run);
    source_close(run.source);
    model_clear(&run.before);
    return output_end(&run.output, status);
}
