/* Reads the story of a heap: figures and parameters, then events, which give the byte clock of collections and what the
 * program asked for, then objects.
 *
 * The byte clock is the sum of what was allocated between the starts of collections, which every such event tells. */
#include "story.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct simulate_story *story;
    struct failure *why;
    bool good;
    uint64_t clock;
};

/* ---- which heap ------------------------------------------------------------------------------------------------- */

static bool check_heap(const struct heap_model *heap, struct failure *why) {
    if (heap->late) {
        return failure_set(why, 1, "heap %" PRIu64 " was there before the recording, so not all of its objects are in "
                           "it; record the program with `edenscope record ... -- PROGRAM`", heap->id);
    }
    return heap->destroyed || failure_set(why, 1, "the end of heap %" PRIu64 " is not in the recording", heap->id);
}

static void take_heap(struct simulate_story *story, const struct process_model *process, const struct heap_model *heap) {
    const uint64_t *figures = heap->figures;
    story->process = process->key;
    story->address = heap->address;
    story->id = heap->id;
    memcpy(story->name, heap->name, sizeof story->name);
    memcpy(story->command, process->command, sizeof story->command);
    story->history.end = figures[EDEN_FIGURE_allocated_bytes];
    story->figures = (struct simulate_figures){
        .scavenges = figures[EDEN_FIGURE_scavenges],
        .full_collections = figures[EDEN_FIGURE_full_collections],
        .survived_bytes = figures[EDEN_FIGURE_survived_bytes],
        .tenured_bytes = figures[EDEN_FIGURE_tenured_bytes],
        .freed_bytes = figures[EDEN_FIGURE_freed_bytes],
        .old_used = figures[EDEN_FIGURE_old_used],
    };
    for (int i = 0; i < SIMULATE_CAUSES; i++) {
        story->figures.full_by_cause[i] = heap->full_by_cause[i];
    }
}

static bool choose_heap(struct simulate_story *story, struct recording *recording, uint64_t pid, uint64_t id,
                        struct failure *why) {
    struct model model = {0};
    size_t found = 0;
    bool good = recording_model(recording, &model, why);
    if (good && (model.lost || model.lost_records)) {
        good = failure_set(why, 1, "%" PRIu64 " events and %" PRIu64 " records were lost in this recording",
                           model.lost, model.lost_records);
    }
    for (size_t i = 0; good && i < model.process_count; i++) {
        const struct process_model *process = &model.processes[i];
        for (size_t j = 0; good && j < process->heap_count; j++) {
            if ((pid == 0 || process->key.pid == pid) && (id == 0 || process->heaps[j].id == id)) {
                good = check_heap(&process->heaps[j], why);
                take_heap(story, process, &process->heaps[j]);
                found++;
            }
        }
    }
    model_clear(&model);
    if (good && found != 1) {
        good = failure_set(why, 1, found == 0 ? "no such heap" : "%zu heaps: choose one by --heap and --pid", found);
    }
    return good;
}

/* ---- parameters, events, objects -------------------------------------------------------------------------------- */

static void on_parameter(void *context, const char *name, const char *value) {
    struct reader *reader = context;
    reader->good = reader->good && simulate_parameter_recorded(&reader->story->parameters, name, value, reader->why);
}

static bool on_event(void *context, const struct event *event, uint64_t heap_id) {
    struct reader *reader = context;
    struct simulate_story *story = reader->story;
    struct simulate_history *history = &story->history;
    if (event->process.pid != story->process.pid || event->process.start_ns != story->process.start_ns ||
        event->arg[0] != story->address || heap_id != story->id) {
        return true;
    }
    bool full = event->probe == EDEN_PROBE_full__start;
    reader->clock += event->arg[full ? 6 : 7];
    reader->good = simulate_history_collection(history, reader->clock);
    if (full && event->arg[2] == EDEN_FULL_REQUEST) {
        reader->good = reader->good && simulate_history_asked(history, reader->clock, SIMULATE_FULL);
    }
    if (!full && (event->arg[2] == EDEN_SCAVENGE_REQUEST || event->arg[2] == EDEN_SCAVENGE_PIN)) {
        reader->good = reader->good && simulate_history_asked(history, reader->clock, SIMULATE_SCAVENGE);
    }
    uint64_t old_used = full ? event->arg[3] : event->arg[6];
    if (old_used > story->figures.old_used_peak) {
        story->figures.old_used_peak = old_used;
    }
    return reader->good;
}

static bool on_object(void *context, const struct life_heap *heap, const struct eden_life_record *record) {
    struct reader *reader = context;
    const struct simulate_story *story = reader->story;
    if (heap->address == story->address && heap->id == story->id && heap->process.pid == story->process.pid &&
        heap->process.start_ns == story->process.start_ns) {
        reader->good = simulate_history_object(&reader->story->history, record);
    }
    return reader->good;
}

static bool read_objects(struct reader *reader, struct recording *recording) {
    struct life_model model = {0};
    bool good = recording_lifetimes(recording, &model, reader->why);
    if (good && !model.objects.each) {
        good = failure_set(reader->why, 1, "the recording has only sums; make it with `edenscope record "
                           "--lifetimes=details --sampling all`");
    }
    good = good && model.objects.each(model.objects.from, &model, on_object, reader, reader->why);
    life_model_clear(&model);
    return good;
}

bool simulate_story_read(struct simulate_story *story, struct recording *recording, uint64_t pid, uint64_t id,
                         struct failure *why) {
    struct reader reader = {.story = story, .why = why, .good = true};
    uint64_t probes[(EDEN_PROBE_COUNT + 63) / 64] = {0};
    probes[EDEN_PROBE_scavenge__start / 64] |= 1ull << EDEN_PROBE_scavenge__start % 64;
    probes[EDEN_PROBE_full__start / 64] |= 1ull << EDEN_PROBE_full__start % 64;
    simulate_parameters_default(&story->parameters);
    if (!choose_heap(story, recording, pid, id, why) ||
        !recording_parameters(recording, &story->process, story->address, story->id, on_parameter, &reader, why) ||
        !reader.good || !recording_events(recording, probes, on_event, &reader, why)) {
        return false;
    }
    story->history.young_most = simulate_young_most(&story->parameters);
    bool read = reader.good && read_objects(&reader, recording);
    simulate_history_finish(&story->history);
    return (read && reader.good) || (reader.good ? false : failure_set(why, 1, "no memory for the recorded objects"));
}
