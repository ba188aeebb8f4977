/* Events as Chrome trace events.
 *
 * 1. Purpose
 * One track a thread, on which collections are slices and their phases slices within them (tracks.h); everything else
 * that happened is a mark; the sizes of spaces are counters.
 *
 * 2. Terms
 * B and E begin and end a slice. They have no arguments: speedscope takes slices with other arguments for other
 * functions. X is a slice in one event, with a duration: one whose start was not seen. i is a mark, C a counter, M a
 * name.
 *
 * 3. Invariants
 * I1. Foreign text is in values of JSON, through json_text() alone.
 *
 * 4. References
 * "Trace Event Format", Google, 2016. */
#include "views/chrome.h"
#include "model/probe_table.h"
#include "util/json.h"
#include "views/tracks.h"
#include <inttypes.h>
#include <stdlib.h>

struct chrome {
    const struct script *script;
    struct tracks *tracks; /* owned */
    bool is_first, good;
};

static void print(struct chrome *chrome, json_t *event) {
    FILE *out = chrome->script->out;
    fputs(chrome->is_first ? "\n" : ",\n", out);
    chrome->is_first = false;
    chrome->good = json_write(out, event) && !ferror(out) && chrome->good;
    json_decref(event);
}

/* Where another process had its pid, it has a number of its own above that. */
static json_t *event_json(const struct chrome *chrome, const struct track *track, const char *kind, uint64_t time_ns) {
    uint64_t start = chrome->script->info->mono_ns;
    return json_pack("{s:s, s:s, s:f, s:I, s:I}", "ph", kind, "cat", "eden", "ts",
                     time_ns > start ? (double)(time_ns - start) / 1e3 : 0.0, "pid",
                     (json_int_t)((uint64_t)track->pid_use << 32 | track->process.pid), "tid", (json_int_t)track->tid);
}

static void print_name(struct chrome *chrome, const struct track *track, const struct event *event) {
    json_t *name = event_json(chrome, track, "M", 0);
    json_object_set_new(name, "name", json_string("process_name"));
    json_object_set_new(name, "args", json_pack("{s:o}", "name", json_text(script_command(chrome->script, event), 64)));
    print(chrome, name);
}

/* ---- slices ----------------------------------------------------------------------------------------------------- */

static void begin(void *context, const struct track *track) {
    struct chrome *chrome = context;
    const struct slice *slice = &track->slice[track->open - 1];
    json_t *object = event_json(chrome, track, "B", slice->since_ns);
    json_object_set_new(object, "name", json_string(phase_names[slice->phase]));
    print(chrome, object);
}

static void end(void *context, const struct track *track, const struct slice *slice) {
    struct chrome *chrome = context;
    json_t *object =
        event_json(chrome, track, slice->has_begun ? "E" : "X", slice->has_begun ? slice->end_ns : slice->since_ns);
    json_object_set_new(object, "name", json_string(phase_names[slice->phase]));
    if (!slice->has_begun) {
        json_object_set_new(object, "dur", json_real((double)(slice->end_ns - slice->since_ns) / 1e3));
    }
    print(chrome, object);
}

/* ---- marks and counters ----------------------------------------------------------------------------------------- */

static void print_mark(struct chrome *chrome, const struct track *track, const struct event *event, uint64_t heap_id) {
    json_t *object = event_json(chrome, track, "i", track->last_ns);
    char unknown[24];
    snprintf(unknown, sizeof unknown, "probe_%u", event->probe);
    json_object_set_new(object, "s", json_string("t"));
    json_object_set_new(object, "name",
                        json_string(event->probe < EDEN_PROBE_COUNT ? probe_table[event->probe].name : unknown));
    json_t *arguments = json_object();
    if (heap_id) {
        json_object_set_new(arguments, "heap_id", json_number(heap_id));
    }
    if (event->serial) {
        json_object_set_new(arguments, "serial", json_number(event->serial));
    }
    script_add_arguments(arguments, event);
    json_object_set_new(object, "args", arguments);
    print(chrome, object);
}

static void count(struct chrome *chrome, const struct track *track, const struct event *event, uint64_t heap_id,
                  const char *what, uint64_t bytes) {
    char name[64];
    if (heap_id) {
        snprintf(name, sizeof name, "heap %" PRIu64 ": %s", heap_id, what);
    } else {
        snprintf(name, sizeof name, "heap #%" PRIu64 ": %s", event->serial, what);
    }
    json_t *object = event_json(chrome, track, "C", track->last_ns);
    json_object_set_new(object, "name", json_string(name));
    json_object_set_new(object, "args", json_pack("{s:o}", "bytes", json_number(bytes)));
    print(chrome, object);
}

static void print_counters(struct chrome *chrome, const struct track *track, const struct event *event,
                           uint64_t heap_id) {
    if (event->probe == EDEN_PROBE_scavenge__start && EDEN_HAS(event->args, scavenge__start, old_used)) {
        count(chrome, track, event, heap_id, "old space", EDEN_ARG(event->arg, scavenge__start, old_used));
    } else if (event->probe == EDEN_PROBE_scavenge__done && EDEN_HAS(event->args, scavenge__done, survivor_used)) {
        count(chrome, track, event, heap_id, "survivors", EDEN_ARG(event->arg, scavenge__done, survivor_used));
    } else if (event->probe == EDEN_PROBE_full__done && EDEN_HAS(event->args, full__done, old_used)) {
        count(chrome, track, event, heap_id, "old space", EDEN_ARG(event->arg, full__done, old_used));
    }
}

/* ---- the trace -------------------------------------------------------------------------------------------------- */

struct chrome *chrome_begin(const struct script *script) {
    struct chrome *chrome = calloc(1, sizeof *chrome);
    if (!chrome) {
        return NULL;
    }
    const struct track_sink sink = {begin, end, chrome};
    *chrome = (struct chrome){.script = script, .is_first = true, .good = true};
    chrome->tracks = tracks_make(&sink, script->info->mono_ns, script->info->commit_ns);
    if (!chrome->tracks) {
        free(chrome);
        return NULL;
    }
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", script->out);
    return chrome;
}

bool chrome_event(struct chrome *chrome, const struct event *event, uint64_t heap_id) {
    bool is_new;
    struct track *track = tracks_of(chrome->tracks, event, &is_new);
    if (track) {
        if (is_new) {
            print_name(chrome, track, event);
        }
        tracks_begin(chrome->tracks, track, event);
        print_mark(chrome, track, event, heap_id);
        tracks_end(chrome->tracks, track, event);
        print_counters(chrome, track, event, heap_id);
    }
    return chrome->good;
}

uint64_t chrome_end(struct chrome *chrome) {
    const struct script *script = chrome->script;
    const uint64_t left_out = tracks_finish(chrome->tracks);
    json_t *other = json_pack("{s:s, s:s, s:o, s:o, s:o}", "schema", "edenscope/chrome/1", "tool", "edenscope",
                              "kernel", json_text(script->info->kernel, SIZE_MAX), "events_lost",
                              json_number(script->model->lost), "events_left_out", json_number(left_out));
    fputs("\n],\"otherData\":", script->out);
    json_write(script->out, other);
    fputs("}\n", script->out);
    json_decref(other);
    tracks_free(chrome->tracks);
    free(chrome);
    return left_out;
}
