/* Collections as slices on tracks.
 *
 * 1. Terms
 * A slice is the time between the start and the done probe of a phase; what lies between them on the thread is inside
 * it.
 *
 * 2. Algorithm
 * For each thread the open slices form a stack. A start is pushed, a done probe popped. What was not seen is made up:
 * a slice whose start is missing ends at its done probe, and begins no earlier than the recording; slices whose end is
 * missing end where the next event shows that they are over, or with the recording.
 *
 * 3. Invariants
 * I1. On each track slices match and nest, whatever the events are: only a slice on top of the stack is ended.
 * I2. Times do not decrease on a track: an event that is older than the one before takes its time.
 *
 * 4. Failure
 * Without memory for another thread, its events are left out and counted. */
#include "views/tracks.h"
#include "model/model.h"
#include "model/probe_table.h"
#include "util/array.h"
#include "util/lookup.h"
#include <stdlib.h>

struct track_process {
    struct process_key key;
    uint32_t use;    /* how many had its pid before */
    uint32_t others; /* of the first with its pid: how many came later */
};

struct tracks {
    struct track_sink sink;
    uint64_t begin_ns, end_ns;
    struct track_process *processes; /* owned */
    size_t process_count, process_room;
    struct lookup by_process, by_pid; /* by_pid: the first with each */
    struct track *tracks;             /* owned */
    size_t track_count, track_room;
    struct lookup by_thread;
    uint64_t left_out;
};

/* ---- tracks ----------------------------------------------------------------------------------------------------- */

static bool is_track(const void *array, size_t place, const void *key) {
    const struct track *track = (const struct track *)array + place, *wanted = key;
    return track->tid == wanted->tid && track->process_number == wanted->process_number;
}

static bool is_process(const void *array, size_t place, const void *key) {
    const struct track_process *processes = array;
    return process_is_same(&processes[place].key, key);
}

static bool is_pid(const void *array, size_t place, const void *key) {
    const struct track_process *processes = array;
    return processes[place].key.pid == *(const uint32_t *)key;
}

/* LOOKUP_NONE: no memory. */
static uint32_t process_of(struct tracks *tracks, const struct process_key *key, bool *is_new) {
    const uint64_t hash = process_hash(key), pid_hash = lookup_hash_number(key->pid);
    uint32_t place = lookup_find(&tracks->by_process, hash, is_process, tracks->processes, key);
    *is_new = place == LOOKUP_NONE;
    if (!*is_new) {
        return place;
    }
    struct track_process *added =
        array_grow(&tracks->processes, &tracks->process_room, tracks->process_count, sizeof *added);
    uint32_t first = lookup_find(&tracks->by_pid, pid_hash, is_pid, tracks->processes, &key->pid);
    if (!added || !lookup_add(&tracks->by_process, hash, tracks->process_count) ||
        (first == LOOKUP_NONE && !lookup_add(&tracks->by_pid, pid_hash, tracks->process_count))) {
        return LOOKUP_NONE;
    }
    *added = (struct track_process){.key = *key, .use = first == LOOKUP_NONE ? 0 : ++tracks->processes[first].others};
    return (uint32_t)tracks->process_count++;
}

struct track *tracks_of(struct tracks *tracks, const struct event *event, bool *is_new) {
    uint32_t process = process_of(tracks, &event->process, is_new);
    const struct track wanted = {.process = event->process,
                                 .process_number = process,
                                 .pid_use = process == LOOKUP_NONE ? 0 : tracks->processes[process].use,
                                 .tid = event->tid,
                                 .number = tracks->track_count};
    const uint64_t hash = lookup_hash((const uint64_t[]){process, event->tid}, 2);
    uint32_t place = lookup_find(&tracks->by_thread, hash, is_track, tracks->tracks, &wanted);
    struct track *track;
    if (place != LOOKUP_NONE) {
        track = &tracks->tracks[place];
    } else {
        track = process == LOOKUP_NONE
                    ? NULL
                    : array_grow(&tracks->tracks, &tracks->track_room, tracks->track_count, sizeof *track);
        if (!track || !lookup_add(&tracks->by_thread, hash, tracks->track_count)) {
            tracks->left_out++;
            return NULL;
        }
        *track = wanted;
        tracks->track_count++;
    }
    track->last_ns = event->time_ns > track->last_ns ? event->time_ns : track->last_ns; /* I2 */
    return track;
}

/* ---- slices ----------------------------------------------------------------------------------------------------- */

static void end_innermost(struct tracks *tracks, struct track *track, uint64_t time_ns, const struct event *done) {
    struct slice slice = track->slice[--track->open];
    slice.end_ns = time_ns;
    slice.done = done;
    tracks->sink.end(tracks->sink.context, track, &slice);
}

/* Ends what is over where a phase with this parent begins. */
static void end_others(struct tracks *tracks, struct track *track, int parent) {
    while (track->open != 0 && (int)track->slice[track->open - 1].phase != parent) {
        end_innermost(tracks, track, track->last_ns, NULL);
    }
}

static bool is_open(const struct track *track, enum eden_phase phase) {
    bool found = false;
    for (size_t i = 0; i < track->open; i++) {
        found = found || track->slice[i].phase == phase;
    }
    return found;
}

void tracks_begin(struct tracks *tracks, struct track *track, const struct event *event) {
    int phase = event->probe < EDEN_PROBE_COUNT ? probe_begins((enum eden_probe_id)event->probe) : -1;
    if (phase >= 0) {
        end_others(tracks, track, phase_parents[phase]);
        track->slice[track->open++] =
            (struct slice){.phase = (enum eden_phase)phase, .since_ns = track->last_ns, .has_begun = true};
        tracks->sink.begin(tracks->sink.context, track);
    }
}

void tracks_end(struct tracks *tracks, struct track *track, const struct event *event) {
    int phase = event->probe < EDEN_PROBE_COUNT ? probe_phase((enum eden_probe_id)event->probe) : -1;
    if (phase < 0) {
        return;
    }
    if (is_open(track, (enum eden_phase)phase)) {
        end_others(tracks, track, phase);
        end_innermost(tracks, track, track->last_ns, event);
    } else if (track->open == 0) { /* amid open slices its start has no place */
        int argument = probe_argument((enum eden_probe_id)event->probe, "duration");
        uint64_t ns = argument >= 0 && argument < event->args ? event->arg[argument] : 0;
        uint64_t most = track->last_ns > tracks->begin_ns ? track->last_ns - tracks->begin_ns : 0;
        const struct slice slice = {.phase = (enum eden_phase)phase,
                                    .since_ns = track->last_ns - (ns < most ? ns : most),
                                    .end_ns = track->last_ns,
                                    .done = event};
        tracks->sink.end(tracks->sink.context, track, &slice);
    }
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

struct tracks *tracks_make(const struct track_sink *sink, uint64_t begin_ns, uint64_t end_ns) {
    struct tracks *tracks = calloc(1, sizeof *tracks);
    if (tracks) {
        *tracks = (struct tracks){.sink = *sink, .begin_ns = begin_ns, .end_ns = end_ns};
    }
    return tracks;
}

uint64_t tracks_finish(struct tracks *tracks) {
    for (size_t i = 0; i < tracks->track_count; i++) {
        struct track *track = &tracks->tracks[i];
        track->last_ns = tracks->end_ns > track->last_ns ? tracks->end_ns : track->last_ns;
        while (track->open != 0) {
            end_innermost(tracks, track, track->last_ns, NULL);
        }
    }
    return tracks->left_out;
}

void tracks_free(struct tracks *tracks) {
    if (tracks) {
        lookup_clear(&tracks->by_process);
        lookup_clear(&tracks->by_pid);
        free(tracks->processes);
        lookup_clear(&tracks->by_thread);
        free(tracks->tracks);
        free(tracks);
    }
}
