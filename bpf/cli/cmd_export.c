/* edenscope export: figures of a process or a command for Prometheus, over HTTP. */
#include "cli/commands.h"
#include "cli/metrics_server.h"
#include "cli/options.h"
#include "session/source.h"
#include "util/clock.h"
#include "util/interrupt.h"
#include "util/message.h"
#include "util/whole.h"
#include "views/metrics.h"
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "export [--listen ADDRESS:PORT] [--per-process] [-v]\n"
    "                       ((-p PID,PID... | -n NAME | --cgroup FOLDER | -a) [seconds] | -- PROGRAM arguments...)\n\n"
    "  Serves the figures of processes or a command, and of their children, at http://ADDRESS:PORT/metrics, for\n"
    "  Prometheus and OpenMetrics scrapers, until it ends.";

static const char default_listen[] = "127.0.0.1:9464";

struct export {
    struct options options;
    struct selection selection;
    struct source *source;
    struct metrics_server *server;
    struct metrics *metrics;
    struct model before; /* as of the last scrape */
    struct metrics_tool tool;
    bool has_failed, has_ended; /* has_ended: heaps that are in the sums only */
    struct failure why;
};

/* As metrics_text_fn. */
static char *text(void *context, bool is_open, size_t *size) {
    struct export *export = context;
    struct model model = {0};
    char *answer = NULL;
    FILE *out = NULL;
    if (source_snapshot(export->source, &model, &export->why)) {
        model_set_stopped(&model, &export->before);
        out = open_memstream(&answer, size);
    } else {
        export->has_failed = true;
    }
    export->tool.scrapes++;
    export->tool.refused = source_refused(export->source);
    export->tool.knows_programs = source_programs_ns(export->source, &export->tool.programs_ns);
    const struct metrics_format format = {.is_open = is_open, .per_process = export->options.per_process};
    bool good = out && metrics_print(export->metrics, out, &model, &export->tool, &format);
    if (out && fclose(out) != 0) {
        good = false;
    }
    if (!good) {
        free(answer);
        answer = NULL;
    }
    model_clear(&export->before);
    export->before = model;
    return answer;
}

/* As source_options.on_ended. */
static bool on_ended(void *context, struct model *model) {
    struct export *export = context;
    export->has_ended = export->has_ended || model_heap_count(model) != 0;
    model_set_stopped(model, &export->before);
    return metrics_add_ended(export->metrics, model, export->options.per_process);
}

static bool observe(struct export *export, double seconds, struct failure *why) {
    enum { POLL_MS = 200 };
    uint64_t end = seconds > 0 ? now_ns() + whole_of(seconds * 1e9) : UINT64_MAX;
    int handled = 0;
    bool is_over = false, more = true;
    while (more) {
        uint64_t now = now_ns(), left = end > now ? (end - now + 999999) / 1000000 : 0;
        int timeout = metrics_server_is_busy(export->server) ? 0 : is_over || left > POLL_MS ? POLL_MS : (int)left;
        more = source_poll(export->source, timeout, NULL, NULL);
        if (!metrics_server_answer(export->server, text, export, why)) {
            return false;
        }
        if (export->has_failed) {
            *why = export->why;
            return false;
        }
        for (; handled < interrupt_count(); handled++) {
            source_stop(export->source);
        }
        if (!is_over && now_ns() >= end) {
            is_over = true;
            source_stop(export->source);
        }
    }
    return true;
}

/* What the figures lacked. */
static bool report_end(struct export *export, struct failure *why) {
    struct model model = {0};
    bool good = source_snapshot(export->source, &model, why);
    if (good) {
        model_report_end(&model, export->has_ended, message_report, NULL);
        source_report_refused(export->source);
    }
    model_clear(&model);
    return good;
}

static int run(struct export *export, double seconds) {
    struct failure why = {.status = 1};
    const struct source_options wanted = {.pid = export->options.pids,
                                          .pids = export->options.pid_count,
                                          .selection = export->selection,
                                          .command = export->options.command,
                                          .on_ended = on_ended,
                                          .ended_context = export,
                                          .wake_fd = metrics_server_fd(export->server),
                                          .units = true,
                                          .timed = true,
                                          .until_interrupt = seconds <= 0,
                                          .verbose = export->options.verbose};
    interrupt_install();
    export->source = source_open(&wanted, &why);
    if (!export->source || !source_give_up_rights(export->source, -1, &why) || !source_start(export->source, &why)) {
        return failure_report(&why);
    }
    message_print("figures are at http://%s/metrics", metrics_server_address(export->server));
    if (!observe(export, seconds, &why) || !report_end(export, &why)) {
        return failure_report(&why);
    }
    int status = source_exit_status(export->source);
    if (export->options.command && status < 0 && interrupt_last()) {
        return 128 + interrupt_last(); /* a second signal: leave the command alone */
    }
    return export->options.command && status >= 0 ? status : 0;
}

int cmd_export(int argc, char **argv) {
    struct export export = {0};
    struct failure why;
    double seconds;
    int status;
    if (!options_parse(&export.options, ACCEPT_TARGET | ACCEPT_SELECTION | ACCEPT_EXPORT | ACCEPT_REST, usage, argc,
                       argv, &status) ||
        !options_need_target(&export.options, ACCEPT_SELECTION, usage, &status)) {
        return status;
    }
    if (!options_seconds(&export.options, &seconds, &why)) {
        return failure_report(&why);
    }
    if (!options_select(&export.options, &export.selection, &why)) {
        return failure_report(&why);
    }
    export.metrics = metrics_open();
    if (!export.metrics) {
        failure_set(&why, 1, "out of memory");
        return failure_report(&why);
    }
    export.server = metrics_server_open(export.options.listen ? export.options.listen : default_listen, &why);
    if (!export.server) {
        return failure_report(&why);
    }
    status = run(&export, seconds);
    source_close(export.source);
    metrics_server_close(export.server);
    model_clear(&export.before);
    metrics_close(export.metrics);
    return status;
}
