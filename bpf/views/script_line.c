/* Events for people, one a line, as perf script prints them:
 *
 *     command  pid/tid  seconds: eden:scavenge__done: heap=0x7f31c2400000 seq=3 duration=1.21ms tenured_bytes=4.00KiB
 *
 * No value holds a blank, so that awk and grep can take lines apart; what must be exact comes from --json and --csv.
 * Texts from the traced process have text.h's form, in which blanks and quotes are written out, too. */
#include "model/probe_table.h"
#include "util/format.h"
#include "util/text.h"
#include "views/script.h"
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <time.h>

const char *script_command(const struct script *script, const struct event *event) {
    for (size_t i = 0; i < script->model->process_count; i++) {
        const struct process_model *process = &script->model->processes[i];
        if (process_is_same(&process->key, &event->process)) {
            return process->command[0] ? process->command : "?";
        }
    }
    return "?";
}

const char *script_text(const struct event *event, int argument) {
    int text = probe_text((enum eden_probe_id)event->probe, argument);
    return text < 0 ? NULL : text < EVENT_TEXTS ? event->text[text] : "";
}

static void without_blanks(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from != ' ') {
            *to++ = *from;
        }
    }
    *to = '\0';
}

static void print_quoted(FILE *out, const char *text) {
    char form[TEXT_GROWTH * EVENT_TEXT];
    fprintf(out, "'%s'", text_escape(form, sizeof form, text, " '"));
}

static void print_value(FILE *out, const struct event *event, int argument) {
    const struct probe_description *probe = &probe_table[event->probe];
    uint64_t value = event->arg[argument];
    const char *word = probe_value_name((enum eden_probe_id)event->probe, argument, value);
    char text[FORMAT_MAX];
    switch (probe->arg[argument].kind) {
    case ARG_address:
        fprintf(out, "0x%" PRIx64, value);
        break;
    case ARG_bytes:
    case ARG_ns:
        probe->arg[argument].kind == ARG_ns ? format_ns(text, value) : format_bytes(text, value);
        without_blanks(text);
        fputs(text, out);
        break;
    case ARG_string:
        print_quoted(out, script_text(event, argument));
        break;
    default:
        word ? (void)fputs(word, out) : (void)fprintf(out, "%" PRIu64, value);
        break;
    }
}

static void print_arguments(FILE *out, const struct event *event) {
    if (event->probe >= EDEN_PROBE_COUNT) {
        fprintf(out, " eden:probe_%u:", event->probe); /* of a newer version */
    } else {
        fprintf(out, " eden:%s:", probe_table[event->probe].name);
    }
    for (int i = 0; i < event->args; i++) {
        if (event->probe < EDEN_PROBE_COUNT && i < probe_table[event->probe].args) {
            fprintf(out, " %s=", probe_table[event->probe].arg[i].name);
            print_value(out, event, i);
        } else {
            fprintf(out, " arg%d=0x%" PRIx64, i, event->arg[i]);
        }
    }
}

static void print_time(const struct script *script, const struct event *event) {
    uint64_t start = script->info->mono_ns;
    bool before = event->time_ns < start; /* can't be, but who knows what file this is */
    uint64_t since = before ? start - event->time_ns : event->time_ns - start;
    if (!script->wall_clock) {
        fprintf(script->out, " %s%" PRIu64 ".%09" PRIu64 ":", before ? "-" : "", since / 1000000000,
                since % 1000000000);
        return;
    }
    uint64_t then = script->info->start_ns + (before ? -since : since);
    time_t seconds = (time_t)(then / 1000000000);
    struct tm local;
    char text[64];
    if (!localtime_r(&seconds, &local) || strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &local) == 0) {
        memcpy(text, "?", 2);
    }
    fprintf(script->out, " %s.%06" PRIu64 ":", text, then % 1000000000 / 1000);
}

bool script_print_line(const struct script *script, const struct event *event, uint64_t heap_id) {
    (void)heap_id;
    char command[TEXT_GROWTH * EVENT_TEXT];
    text_column(command, sizeof command, script_command(script, event), " ", 16, UINT_MAX);
    fprintf(script->out, "%s %7u/%-7u", command, event->process.pid, event->tid);
    print_time(script, event);
    print_arguments(script->out, event);
    return fputc('\n', script->out) != EOF && !ferror(script->out);
}
