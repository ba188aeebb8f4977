/* Events as Chrome trace events.
 *
 * 1. Purpose
 * One track a thread, on which collections are slices and their phases slices within them; everything else that
 * happened is a mark; the sizes of spaces are counters.
 *
 * 2. Terms
 * A slice is a pair of events, B and E, at the times of the start and done probes; what lies between them on the thread
 * is inside it. They have no arguments: speedscope takes slices with other arguments for other functions. X is a slice
 * in one event, with a duration; i is a mark, C a counter, M a name.
 *
 * 3. Algorithm
 * For each thread the open phases form a stack. A start is pushed, a done probe popped. What was not seen is made up:
 * a phase whose start is missing is an X that ends at its done probe, and begins no earlier than the recording; phases
 * whose end is missing end where the next event shows that they are over, or with the recording.
 *
 * 4. Invariants
 * I1. On each track B and E match and nest, whatever the events are: only a phase that is on top of the stack is ended.
 * I2. Times do not decrease on a track: an event that is older than the one before takes its time.
 * I3. Foreign text is in values of JSON, through json_text() alone.
 *
 * 5. Failure
 * Without memory for another thread, its events are left out, and the trace says how many.
 *
 * 6. References
 * "Trace Event Format", Google, 2016. */
#include "views/chrome.h"
#include "model/probe_table.h"
#include "util/array.h"
#include "util/json.h"
#include "util/lookup.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPEN = 8 }; /* phases nest three deep */

struct trace_process {
    struct process_key key;
    uint64_t shown;  /* its pid; where another process had that, with a number of its own above it */
    uint64_t others; /* of the first with its pid: how many came later */
};

struct track {
    size_t process;
    uint32_t tid;
    uint64_t last_ns;
    size_t open;
    enum eden_phase phase[MOST_OPEN];
};

struct chrome {
    const struct script *script;
    struct trace_process *processes; /* owned */
    size_t process_count, process_room;
    struct lookup by_process, by_pid; /* by_pid: the first with each */
    struct track *tracks;             /* owned */
    size_t track_count, track_room;
    struct lookup by_thread;
    uint64_t left_out;
    bool is_first, good;
};

/* ---- tracks ----------------------------------------------------------------------------------------------------- */

static bool is_track(const void *array, size_t place, const void *key) {
    const struct track *track = (const struct track *)array + place, *wanted = key;
    return track->tid == wanted->tid && track->process == wanted->process;
}

static bool is_process(const void *array, size_t place, const void *key) {
    const struct trace_process *processes = array;
    return process_is_same(&processes[place].key, key);
}

static bool is_pid(const void *array, size_t place, const void *key) {
    const struct trace_process *processes = array;
    return processes[place].key.pid == *(const uint32_t *)key;
}

static void print(struct chrome *chrome, json_t *event) {
    FILE *out = chrome->script->out;
    fputs(chrome->is_first ? "\n" : ",\n", out);
    chrome->is_first = false;
    chrome->good = json_write(out, event) && !ferror(out) && chrome->good;
    json_decref(event);
}

static json_t *event_json(const struct chrome *chrome, const struct track *track, const char *kind, uint64_t time_ns) {
    uint64_t start = chrome->script->info->mono_ns;
    return json_pack("{s:s, s:s, s:f, s:I, s:I}", "ph", kind, "cat", "eden", "ts",
                     time_ns > start ? (double)(time_ns - start) / 1e3 : 0.0, "pid",
                     (json_int_t)chrome->processes[track->process].shown, "tid", (json_int_t)track->tid);
}

static void print_name(struct chrome *chrome, const struct track *track, const struct event *event) {
    json_t *name = event_json(chrome, track, "M", 0);
    json_object_set_new(name, "name", json_string("process_name"));
    json_object_set_new(name, "args", json_pack("{s:o}", "name", json_text(script_command(chrome->script, event), 64)));
    print(chrome, name);
}

/* LOOKUP_NONE: no memory. */
static uint32_t process_of(struct chrome *chrome, const struct process_key *key, bool *is_new) {
    const uint64_t hash = process_hash(key), pid_hash = lookup_hash_number(key->pid);
    uint32_t place = lookup_find(&chrome->by_process, hash, is_process, chrome->processes, key);
    *is_new = place == LOOKUP_NONE;
    if (!*is_new) {
        return place;
    }
    struct trace_process *added =
        array_grow(&chrome->processes, &chrome->process_room, chrome->process_count, sizeof *added);
    uint32_t first = lookup_find(&chrome->by_pid, pid_hash, is_pid, chrome->processes, &key->pid);
    if (!added || !lookup_add(&chrome->by_process, hash, chrome->process_count) ||
        (first == LOOKUP_NONE && !lookup_add(&chrome->by_pid, pid_hash, chrome->process_count))) {
        return LOOKUP_NONE;
    }
    uint64_t twin = first == LOOKUP_NONE ? 0 : ++chrome->processes[first].others;
    *added = (struct trace_process){.key = *key, .shown = twin << 32 | key->pid};
    return (uint32_t)chrome->process_count++;
}

static struct track *track_of(struct chrome *chrome, const struct event *event) {
    bool is_new;
    uint32_t process = process_of(chrome, &event->process, &is_new);
    const struct track wanted = {.process = process, .tid = event->tid};
    const uint64_t hash = lookup_hash((const uint64_t[]){process, event->tid}, 2);
    uint32_t place = lookup_find(&chrome->by_thread, hash, is_track, chrome->tracks, &wanted);
    if (place != LOOKUP_NONE) {
        return &chrome->tracks[place];
    }
    struct track *track = process == LOOKUP_NONE
                              ? NULL
                              : array_grow(&chrome->tracks, &chrome->track_room, chrome->track_count, sizeof *track);
    if (!track || !lookup_add(&chrome->by_thread, hash, chrome->track_count)) {
        chrome->left_out++;
        return NULL;
    }
    *track = wanted;
    chrome->track_count++;
    if (is_new) {
        print_name(chrome, track, event);
    }
    return track;
}

/* ---- slices ----------------------------------------------------------------------------------------------------- */

static void begin(struct chrome *chrome, struct track *track, enum eden_phase phase) {
    json_t *object = event_json(chrome, track, "B", track->last_ns);
    json_object_set_new(object, "name", json_string(phase_names[phase]));
    track->phase[track->open++] = phase;
    print(chrome, object);
}

static void end(struct chrome *chrome, struct track *track, uint64_t time_ns) {
    json_t *object = event_json(chrome, track, "E", time_ns);
    json_object_set_new(object, "name", json_string(phase_names[track->phase[--track->open]]));
    print(chrome, object);
}

/* Ends what is over where a phase with this parent begins. */
static void end_others(struct chrome *chrome, struct track *track, int parent) {
    while (track->open != 0 && (int)track->phase[track->open - 1] != parent) {
        end(chrome, track, track->last_ns);
    }
}

static bool is_open(const struct track *track, enum eden_phase phase) {
    bool found = false;
    for (size_t i = 0; i < track->open; i++) {
        found = found || track->phase[i] == phase;
    }
    return found;
}

static void print_done(struct chrome *chrome, struct track *track, enum eden_phase phase, const struct event *event) {
    if (is_open(track, phase)) {
        end_others(chrome, track, (int)phase);
        end(chrome, track, track->last_ns);
        return;
    }
    int argument = probe_argument((enum eden_probe_id)event->probe, "duration");
    uint64_t ns = argument >= 0 && argument < event->args ? event->arg[argument] : 0;
    uint64_t start = chrome->script->info->mono_ns, since = track->last_ns > start ? track->last_ns - start : 0;
    ns = ns < since ? ns : since;
    if (track->open == 0) { /* amid open phases its start has no place */
        json_t *object = event_json(chrome, track, "X", track->last_ns - ns);
        json_object_set_new(object, "name", json_string(phase_names[phase]));
        json_object_set_new(object, "dur", json_real((double)ns / 1e3));
        print(chrome, object);
    }
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
    if (chrome) {
        *chrome = (struct chrome){.script = script, .is_first = true, .good = true};
        fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", script->out);
    }
    return chrome;
}

bool chrome_event(struct chrome *chrome, const struct event *event, uint64_t heap_id) {
    struct track *track = track_of(chrome, event);
    if (!track) {
        return chrome->good;
    }
    track->last_ns = event->time_ns > track->last_ns ? event->time_ns : track->last_ns; /* I2 */
    bool is_known = event->probe < EDEN_PROBE_COUNT;
    int begins = is_known ? probe_begins((enum eden_probe_id)event->probe) : -1;
    int ends = is_known ? probe_phase((enum eden_probe_id)event->probe) : -1;
    if (begins >= 0) {
        end_others(chrome, track, phase_parents[begins]);
        begin(chrome, track, (enum eden_phase)begins);
    }
    print_mark(chrome, track, event, heap_id);
    if (ends >= 0) {
        print_done(chrome, track, (enum eden_phase)ends, event);
    }
    print_counters(chrome, track, event, heap_id);
    return chrome->good;
}

uint64_t chrome_end(struct chrome *chrome) {
    const struct script *script = chrome->script;
    for (size_t i = 0; i < chrome->track_count; i++) {
        struct track *track = &chrome->tracks[i];
        uint64_t last = script->info->commit_ns > track->last_ns ? script->info->commit_ns : track->last_ns;
        while (track->open != 0) {
            end(chrome, track, last);
        }
    }
    json_t *other =
        json_pack("{s:s, s:s, s:o, s:o, s:o}", "schema", "edenscope/chrome/1", "tool", "edenscope", "kernel",
                  json_text(script->info->kernel, SIZE_MAX), "events_lost", json_number(script->processes->model->lost),
                  "events_left_out", json_number(chrome->left_out));
    fputs("\n],\"otherData\":", script->out);
    json_write(script->out, other);
    fputs("}\n", script->out);
    json_decref(other);
    uint64_t left_out = chrome->left_out;
    lookup_clear(&chrome->by_process);
    lookup_clear(&chrome->by_pid);
    free(chrome->processes);
    lookup_clear(&chrome->by_thread);
    free(chrome->tracks);
    free(chrome);
    return left_out;
}
