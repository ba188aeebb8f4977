/* Collections as spans of OpenTelemetry.
 *
 * 1. Purpose
 * Each collection is a trace: a span, and one for each of its phases within (tracks.h). A line holds the spans of one
 * collection, as OTLP's JSON encoding of TracesData has them: so the output is what OpenTelemetry's collector reads
 * from files, and each line what it takes at /v1/traces.
 *
 * 2. Algorithm
 * A span is printed once its collection has ended, so phases come before their collection. Where very many wait, all
 * are printed, and their collections later.
 *
 * 3. Invariants
 * I1. Ids depend on the recording, the thread and the count of collections on it alone: the same recording gives the
 * same ids, whatever its lines are sent to.
 * I2. Foreign text is in values of JSON, through json_text() alone.
 *
 * 4. References
 * OpenTelemetry Protocol 1.5, "JSON Protobuf Encoding"; "OpenTelemetry Protocol File Exporter". */
#include "views/otlp.h"
#include "eden_version.h"
#include "model/probe_table.h"
#include "util/array.h"
#include "util/json.h"
#include "views/tracks.h"
#include <inttypes.h>
#include <stdlib.h>

enum { WAITING_MOST = 4096 /* spans */, INTERNAL = 1 /* enum SpanKind */ };

/* What a track's present collection has so far. */
struct trace {
    uint64_t high, low;      /* its id */
    uint64_t collections;    /* on this track, this one included */
    uint64_t spans;          /* in this trace */
    uint64_t id[TRACK_OPEN]; /* of the spans that have begun */
    json_t *ended;           /* owned; NULL: none */
    struct process_key process;
};

struct otlp {
    const struct script *script;
    struct tracks *tracks; /* owned */
    struct trace *traces;  /* owned; by the track's number */
    size_t trace_count, trace_room;
    size_t waiting;   /* spans, in all traces */
    uint64_t heap_id; /* of the event that is looked at */
    uint64_t left_out;
    bool good;
};

/* Any number to another, one to one. */
static uint64_t mix(uint64_t number) {
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9u;
    number = (number ^ number >> 27) * 0x94d049bb133111ebu;
    return number ^ number >> 31;
}

/* Of 64 bits: as text. */
static json_t *number_text(uint64_t number) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return json_string(text);
}

static void add_attribute(json_t *attributes, const char *prefix, const char *name, json_t *value) {
    char key[96];
    const bool is_number = json_is_integer(value);
    json_t *shown = is_number ? number_text((uint64_t)json_integer_value(value)) : json_incref(value);
    snprintf(key, sizeof key, "%s%s", prefix, name);
    json_array_append_new(attributes, json_pack("{s:s, s:{s:o}}", "key", key, "value",
                                                is_number                ? "intValue"
                                                : json_is_boolean(value) ? "boolValue"
                                                                         : "stringValue",
                                                shown));
}

static void add_new_attribute(json_t *attributes, const char *prefix, const char *name, json_t *value) {
    add_attribute(attributes, prefix, name, value);
    json_decref(value);
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

static void print(struct otlp *otlp, struct trace *trace) {
    json_t *attributes = json_array();
    const struct process_model *process = model_find_process(otlp->script->model, &trace->process);
    add_new_attribute(attributes, "service.", "name",
                      json_text(process && process->command[0] ? process->command : "unknown_service", 64));
    add_new_attribute(attributes, "process.", "pid", json_integer(trace->process.pid));
    json_t *line =
        json_pack("{s:[{s:{s:o}, s:[{s:{s:s, s:s}, s:o}]}]}", "resourceSpans", "resource", "attributes", attributes,
                  "scopeSpans", "scope", "name", "edenscope", "version", EDEN_VERSION, "spans", trace->ended);
    otlp->waiting -= json_array_size(trace->ended);
    trace->ended = NULL;
    otlp->good = json_print(otlp->script->out, line) && otlp->good;
    json_decref(line);
}

/* ---- spans ------------------------------------------------------------------------------------------------------ */

static void begin_trace(const struct otlp *otlp, const struct track *track, struct trace *trace) {
    const uint64_t process = mix(track->process.start_ns + mix(track->process.pid));
    trace->collections++;
    trace->spans = 0;
    trace->high = mix(otlp->script->info->start_ns + process);
    trace->low = mix(mix(track->tid) + trace->collections);
    trace->low += trace->low == 0; /* an id of zeros is none */
}

static uint64_t new_id(struct trace *trace) {
    uint64_t id = mix(trace->low + ++trace->spans);
    return id ? id : 1;
}

static json_t *id_json(uint64_t id) {
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, id);
    return json_string(text);
}

static json_t *time_json(const struct otlp *otlp, uint64_t time_ns) {
    return number_text(otlp->script->info->start_ns + (time_ns - otlp->script->info->mono_ns));
}

static json_t *attributes_of(const struct otlp *otlp, const struct track *track, const struct slice *slice) {
    json_t *attributes = json_array(), *arguments = json_object(), *value;
    const char *name;
    add_new_attribute(attributes, "thread.", "id", json_integer(track->tid));
    if (slice->done) {
        if (otlp->heap_id) {
            json_object_set_new(arguments, "heap_id", number_text(otlp->heap_id));
        }
        script_add_arguments(arguments, slice->done);
    }
    json_object_foreach(arguments, name, value) { add_attribute(attributes, "eden.", name, value); }
    json_decref(arguments);
    if (!slice->has_begun) {
        add_new_attribute(attributes, "eden.", "start_unseen", json_true());
    }
    if (!slice->done) {
        add_new_attribute(attributes, "eden.", "end_unseen", json_true());
    }
    return attributes;
}

static void begin(void *context, const struct track *track) {
    struct otlp *otlp = context;
    struct trace *trace = &otlp->traces[track->number];
    if (track->open == 1) {
        begin_trace(otlp, track, trace);
    }
    trace->id[track->open - 1] = new_id(trace);
}

static void end(void *context, const struct track *track, const struct slice *slice) {
    struct otlp *otlp = context;
    struct trace *trace = &otlp->traces[track->number];
    if (!slice->has_begun) {
        begin_trace(otlp, track, trace);
        trace->id[0] = new_id(trace);
    }
    char id[40];
    snprintf(id, sizeof id, "%016" PRIx64 "%016" PRIx64, trace->high, trace->low);
    json_t *span = json_pack("{s:s, s:o, s:s, s:i, s:o, s:o, s:o}", "traceId", id, "spanId",
                             id_json(trace->id[track->open]), "name", phase_names[slice->phase], "kind", INTERNAL,
                             "startTimeUnixNano", time_json(otlp, slice->since_ns), "endTimeUnixNano",
                             time_json(otlp, slice->end_ns), "attributes", attributes_of(otlp, track, slice));
    if (track->open != 0) {
        json_object_set_new(span, "parentSpanId", id_json(trace->id[track->open - 1]));
    }
    trace->ended = trace->ended ? trace->ended : json_array();
    json_array_append_new(trace->ended, span);
    otlp->waiting++;
    if (track->open == 0) {
        print(otlp, trace);
    }
    for (size_t i = 0; otlp->waiting >= WAITING_MOST && i < otlp->trace_count; i++) {
        if (otlp->traces[i].ended) {
            print(otlp, &otlp->traces[i]);
        }
    }
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

struct otlp *otlp_begin(const struct script *script) {
    struct otlp *otlp = calloc(1, sizeof *otlp);
    if (!otlp) {
        return NULL;
    }
    const struct track_sink sink = {begin, end, otlp};
    *otlp = (struct otlp){.script = script, .good = true};
    otlp->tracks = tracks_make(&sink, script->info->mono_ns, script->info->commit_ns);
    if (!otlp->tracks) {
        free(otlp);
        return NULL;
    }
    return otlp;
}

/* Each track has its trace at the same place. */
static bool add_trace(struct otlp *otlp, const struct track *track) {
    while (otlp->trace_count <= track->number) {
        struct trace *trace = array_grow(&otlp->traces, &otlp->trace_room, otlp->trace_count, sizeof *trace);
        if (!trace) {
            return false;
        }
        *trace = (struct trace){0};
        otlp->trace_count++;
    }
    otlp->traces[track->number].process = track->process;
    return true;
}

bool otlp_event(struct otlp *otlp, const struct event *event, uint64_t heap_id) {
    bool is_new;
    struct track *track = tracks_of(otlp->tracks, event, &is_new);
    if (track && !add_trace(otlp, track)) {
        otlp->left_out++;
    } else if (track) {
        otlp->heap_id = heap_id;
        tracks_begin(otlp->tracks, track, event);
        tracks_end(otlp->tracks, track, event);
    }
    return otlp->good;
}

uint64_t otlp_end(struct otlp *otlp) {
    const uint64_t left_out = tracks_finish(otlp->tracks) + otlp->left_out;
    for (size_t i = 0; i < otlp->trace_count; i++) {
        json_decref(otlp->traces[i].ended); /* NULL, but where writing failed */
    }
    free(otlp->traces);
    tracks_free(otlp->tracks);
    free(otlp);
    return left_out;
}
