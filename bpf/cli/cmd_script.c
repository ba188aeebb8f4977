/* edenscope script: the events of a recording, one a line. */
#include "cli/commands.h"
#include "cli/options.h"
#include "util/message.h"
#include "util/output.h"
#include "views/chrome.h"
#include "views/otlp.h"
#include "views/script.h"
#include <inttypes.h>

static const char usage[] =
    "script [-i FILE [--force]] [--json [--label KEY=VALUE]... | --csv | --chrome | --otlp]\n"
    "                        [-T] [--probe NAME]... [-v]\n\n"
    "  Prints the events of the recording FILE (default eden.data) as text, NDJSON or CSV, or as a trace for\n"
    "  Perfetto, speedscope and chrome://tracing, or its collections as spans for OpenTelemetry. --probe selects\n"
    "  probes.\n"
    "  Times are in seconds since the recording began, or with -T times of day. In JSON and CSV they are\n"
    "  nanoseconds of CLOCK_MONOTONIC.";

struct printing {
    struct script script;
    struct chrome *chrome; /* NULL: it is not that */
    struct otlp *otlp;     /* likewise; without both `print` is called */
    bool (*print)(const struct script *script, const struct event *event, uint64_t heap_id);
    uint64_t printed;
    bool good;
};

static bool on_event(void *context, const struct event *event, uint64_t heap_id) {
    struct printing *printing = context;
    printing->good = printing->chrome ? chrome_event(printing->chrome, event, heap_id)
                     : printing->otlp ? otlp_event(printing->otlp, event, heap_id)
                                      : printing->print(&printing->script, event, heap_id);
    printing->printed++;
    return printing->good;
}

static int print_events(struct recording *recording, const struct options *options, const uint64_t *probes,
                        const struct model *model) {
    struct failure why;
    struct printing printing = {.script = {.out = stdout,
                                           .info = recording_info(recording),
                                           .model = model,
                                           .probes = probes,
                                           .wall_clock = options->timestamp,
                                           .labels = &options->labels},
                                .print = options->json  ? script_print_json
                                         : options->csv ? script_print_csv
                                                        : script_print_line,
                                .good = true};
    int status = 0;
    if (options->csv) {
        printing.good = script_print_csv_head(&printing.script);
    }
    printing.chrome = options->chrome ? chrome_begin(&printing.script) : NULL;
    printing.otlp = options->otlp ? otlp_begin(&printing.script) : NULL;
    if ((options->chrome && !printing.chrome) || (options->otlp && !printing.otlp)) {
        message_print("out of memory");
        return 1;
    }
    if (printing.good && !recording_events(recording, probes, on_event, &printing, &why)) {
        status = failure_report(&why);
    }
    if (options->labels.count != 0 && printing.good && status == 0) {
        script_print_json_counts(&printing.script, model->wall_ns, printing.printed, model->lost);
    }
    uint64_t left_out = printing.chrome ? chrome_end(printing.chrome) : printing.otlp ? otlp_end(printing.otlp) : 0;
    status = output_finish(stdout, "the events on standard output", status);
    if (left_out) {
        message_print("out of memory for all threads: %" PRIu64 " events are not in the trace", left_out);
        status = 1;
    }
    return status;
}

static int script(struct recording *recording, const struct options *options, const uint64_t *probes) {
    struct model model = {0};
    struct failure why;
    int status;
    if (!recording_model(recording, &model, &why)) {
        status = failure_report(&why);
    } else {
        status = print_events(recording, options, probes, &model);
        if (model.lost) {
            message_print("lost events: %" PRIu64 "; the output does not contain them", model.lost);
        }
    }
    model_clear(&model);
    return status;
}

int cmd_script(int argc, char **argv) {
    struct options options;
    int status;
    if (!options_parse(&options,
                       ACCEPT_INPUT | ACCEPT_JSON | ACCEPT_CSV | ACCEPT_TRACE | ACCEPT_TIMESTAMP | ACCEPT_PROBE |
                           ACCEPT_LABEL,
                       usage, argc, argv, &status)) {
        return status;
    }
    if (options.json + options.csv + options.chrome + options.otlp > 1) {
        message_print("give one of --json, --csv, --chrome and --otlp");
        return 1;
    }
    if (options.labels.count != 0 && !options.json) {
        message_print("--label %s: labels are members of JSON; give --json too", options.labels.at[0].key);
        return 1;
    }
    struct failure why;
    struct recording *recording =
        recording_open_with(options.input ? options.input : "eden.data", recording_last(options.force), &why);
    if (!recording) {
        return failure_report(&why);
    }
    status = script(recording, &options, options.some_probes ? options.probes : NULL);
    recording_close(recording);
    return status;
}
