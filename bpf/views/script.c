/* Events for people, one a line, as perf script prints them:
 *
 *     command  pid/tid  seconds: eden:scavenge__done: heap=0x7f31c2400000 seq=3 duration=1.21ms tenured_bytes=4.00KiB
 *
 * No value holds a blank, so that awk and grep can take lines apart; what must be exact comes from --json and --csv.
 * Texts from the traced process have text.h's form, in which blanks and quotes are written out, too. */
#include "views/script.h"
#include "model/probe_table.h"
#include "util/csv.h"
#include "util/format.h"
#include "util/json.h"
#include "util/text.h"
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <time.h>

const char *script_command(const struct script *script, const struct event *event) {
    const struct process_model *process = model_find_process(script->model, &event->process);
    return process ? process->command : "";
}

/* The text of a string argument; NULL where the argument is of another kind. */
static const char *script_text(const struct event *event, int argument) {
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

/* Nanoseconds since 1970. */
static uint64_t wall_time(const struct script *script, uint64_t time_ns) {
    return script->info->start_ns + (time_ns - script->info->mono_ns);
}

static void print_time(const struct script *script, const struct event *event) {
    uint64_t start = script->info->mono_ns;
    bool before = event->time_ns < start; /* only in a damaged file */
    uint64_t since = before ? start - event->time_ns : event->time_ns - start;
    if (!script->wall_clock) {
        fprintf(script->out, " %s%" PRIu64 ".%09" PRIu64 ":", before ? "-" : "", since / 1000000000,
                since % 1000000000);
        return;
    }
    uint64_t then = wall_time(script, event->time_ns);
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
    const char *known = script_command(script, event);
    text_column(command, sizeof command, known[0] ? known : "?", " ", 16, UINT_MAX);
    fprintf(script->out, "%s %7u/%-7u", command, event->process.pid, event->tid);
    print_time(script, event);
    print_arguments(script->out, event);
    return fputc('\n', script->out) != EOF && !ferror(script->out);
}

/* Events for programs: NDJSON, and CSV after RFC 4180.
 *
 * Both give exact values: times and sizes as numbers, addresses as hexadecimal text (a number would lose bits in
 * readers that keep doubles), causes and reasons as words. In CSV each argument name of the probes that are wanted has
 * one column, whichever probe it comes from; what a probe does not have is empty. */

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static json_t *address_json(uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, value);
    return json_string(text);
}

/* jansson's integers are signed: what does not fit is text, not a wrong number. */
static json_t *number_json(uint64_t value) {
    char text[24];
    if (value <= INT64_MAX) {
        return json_integer((json_int_t)value);
    }
    snprintf(text, sizeof text, "%" PRIu64, value);
    return json_string(text);
}

static json_t *argument_json(const struct event *event, int argument) {
    uint64_t value = event->arg[argument];
    const char *word = probe_value_name((enum eden_probe_id)event->probe, argument, value);
    switch (probe_table[event->probe].arg[argument].kind) {
    case ARG_address:
        return address_json(value);
    case ARG_string:
        return json_text(script_text(event, argument), EVENT_TEXT);
    default:
        return word ? json_string(word) : number_json(value);
    }
}

static bool has_labels(const struct script *script) { return script->labels && script->labels->count != 0; }

/* What every line begins with. Clocks of two machines have nothing in common, so lines with labels have the time of day
 * too. When the recording began says which one of that machine it is. */
static json_t *line_json(const struct script *script, uint64_t time_ns) {
    json_t *object = json_object();
    json_object_set_new(object, "time_ns", number_json(time_ns));
    if (has_labels(script)) {
        json_object_set_new(object, "wall_ns", number_json(wall_time(script, time_ns)));
        json_object_set_new(object, "recording_ns", number_json(script->info->start_ns));
        labels_put(script->labels, object);
    }
    return object;
}

/* What every event has. A heap's id is there where it is known and no argument says it. */
static json_t *event_json(const struct script *script, const struct event *event, const char *probe) {
    json_t *object = line_json(script, event->time_ns);
    json_object_set_new(object, "command", json_name(script_command(script, event), 64));
    json_object_set_new(object, "pid", json_integer(event->process.pid));
    json_object_set_new(object, "tid", json_integer(event->tid));
    json_object_set_new(object, "probe", json_string(probe));
    return object;
}

void script_add_arguments(json_t *object, const struct event *event) {
    char name[24];
    bool known = event->probe < EDEN_PROBE_COUNT;
    for (int i = 0; i < event->args; i++) {
        if (known && i < probe_table[event->probe].args) {
            json_object_set_new(object, probe_table[event->probe].arg[i].name, argument_json(event, i));
        } else {
            snprintf(name, sizeof name, "arg%d", i);
            json_object_set_new(object, name, address_json(event->arg[i]));
        }
    }
}

/* Of an enumeration's value that has no name here, of a newer runtime, the number as a text: what is a word elsewhere
 * is a column of texts in a store, which refuses a number. */
static void put_unnamed_values(json_t *object, const struct event *event) {
    const struct probe_description *probe = &probe_table[event->probe];
    for (int i = 0; i < event->args && i < probe->args; i++) {
        if (probe->arg[i].kind >= ARG_ENUMS && !probe_value_name((enum eden_probe_id)event->probe, i, event->arg[i])) {
            char text[24];
            snprintf(text, sizeof text, "%" PRIu64, event->arg[i]);
            json_object_set_new(object, probe->arg[i].name, json_string(text));
        }
    }
}

bool script_print_json(const struct script *script, const struct event *event, uint64_t heap_id) {
    char unknown[24];
    bool known = event->probe < EDEN_PROBE_COUNT;
    snprintf(unknown, sizeof unknown, "probe_%u", event->probe);
    json_t *object = event_json(script, event, known ? probe_table[event->probe].name : unknown);
    if (heap_id) {
        json_object_set_new(object, "heap_id", number_json(heap_id));
    }
    if (event->serial) {
        json_object_set_new(object, "serial", number_json(event->serial));
    }
    script_add_arguments(object, event);
    if (known && has_labels(script)) {
        put_unnamed_values(object, event);
    }
    bool good = json_print(script->out, object);
    json_decref(object);
    return good && !ferror(script->out);
}

bool script_print_json_counts(const struct script *script, uint64_t observed_ns, uint64_t events, uint64_t lost) {
    json_t *object = line_json(script, script->info->mono_ns + observed_ns);
    json_object_set_new(object, "observed_ns", number_json(observed_ns));
    json_object_set_new(object, "events", number_json(events));
    json_object_set_new(object, "lost", number_json(lost));
    const char *partial = recording_partial(script->info);
    if (partial) {
        json_object_set_new(object, "partial", json_string(partial));
    }
    bool good = json_print(script->out, object);
    json_decref(object);
    return good && !ferror(script->out);
}

/* ---- CSV -------------------------------------------------------------------------------------------------------- */

static bool wanted(const struct script *script, int probe) {
    return !script->probes || script->probes[probe / 64] >> probe % 64 & 1;
}

static bool has_column(const struct script *script, const char *name) {
    size_t i = 0;
    while (i < script->columns && strcmp(script->column[i].name, name) != 0) {
        i++;
    }
    return i < script->columns || strcmp(name, "heap_id") == 0; /* that one every event has */
}

/* Once, and not for each event: names are compared for it. */
static void find_columns(struct script *script) {
    script->columns = 0;
    for (int i = 0; i < EDEN_PROBE_COUNT; i++) {
        for (int j = 0; wanted(script, i) && j < probe_table[i].args; j++) {
            const char *name = probe_table[i].arg[j].name;
            if (has_column(script, name)) {
                continue;
            }
            struct script_column *column = &script->column[script->columns++];
            column->name = name;
            for (int k = 0; k < EDEN_PROBE_COUNT; k++) {
                column->argument[k] = (int8_t)probe_argument((enum eden_probe_id)k, name);
            }
        }
    }
}

static void print_column(const struct script *script, const struct event *event, int argument) {
    fputc(',', script->out);
    if (argument < 0 || argument >= event->args) {
        return;
    }
    uint64_t value = event->arg[argument];
    const char *word = probe_value_name((enum eden_probe_id)event->probe, argument, value);
    switch (probe_table[event->probe].arg[argument].kind) {
    case ARG_address:
        fprintf(script->out, "0x%" PRIx64, value);
        break;
    case ARG_string:
        csv_field(script->out, script_text(event, argument));
        break;
    default:
        if (word) {
            csv_field(script->out, word);
        } else {
            fprintf(script->out, "%" PRIu64, value);
        }
        break;
    }
}

bool script_print_csv_head(struct script *script) {
    find_columns(script);
    fputs("time_ns,command,pid,tid,probe,heap_id", script->out);
    for (size_t i = 0; i < script->columns; i++) {
        fputc(',', script->out);
        csv_field(script->out, script->column[i].name);
    }
    return fputs(",serial\r\n", script->out) != EOF && !ferror(script->out);
}

bool script_print_csv(const struct script *script, const struct event *event, uint64_t heap_id) {
    if (event->probe >= EDEN_PROBE_COUNT) {
        return true; /* of a newer version: there are no columns for it */
    }
    fprintf(script->out, "%" PRIu64 ",", event->time_ns);
    csv_field(script->out, script_command(script, event));
    fprintf(script->out, ",%u,%u,%s,", event->process.pid, event->tid, probe_table[event->probe].name);
    if (heap_id) {
        fprintf(script->out, "%" PRIu64, heap_id);
    }
    for (size_t i = 0; i < script->columns; i++) {
        print_column(script, event, script->column[i].argument[event->probe]);
    }
    fputc(',', script->out);
    if (event->serial) {
        fprintf(script->out, "%" PRIu64, event->serial);
    }
    return fputs("\r\n", script->out) != EOF && !ferror(script->out);
}
