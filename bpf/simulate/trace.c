/* Reads the trace of a heap from a recording: figures and parameters; events, which give the allocation clock of
 * collections and the program's requests; objects, in one pass, as the model of lifetimes decodes them.
 *
 * The allocation clock is the sum of the bytes allocated between starts of collections, an argument of the start
 * probes. The records of objects use the same clock.
 *
 * The recorded run is then simulated twice: first to compute how many bytes dead old objects could have held
 * (collector.c); the recording has how many they did hold; then with that share, to be shown beside the
 * recorded figures. */
#include "simulate/trace.h"
#include "util/whole.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define RECORD_SO "`edenscope record --lifetimes=details --sampling all -- PROGRAM`"

struct reader {
    struct simulate_trace *trace;
    struct failure *why;
    bool good;
    uint64_t clock;
};

static bool no_memory(struct failure *why) {
    return failure_set(why, 1, "out of memory for the objects of the recording");
}

static bool fail_damaged(const struct simulate_trace *trace, const char *what, struct failure *why) {
    return failure_set(why, 1, "%.200s: the recording is damaged: %s; record again", trace->path, what);
}

/* The history refused it. */
static bool fail_history(const struct reader *reader, const char *what) {
    return reader->trace->history.out_of_memory ? no_memory(reader->why)
                                                : fail_damaged(reader->trace, what, reader->why);
}

static bool simulate(const struct simulate_trace *trace, const struct simulate_parameters *parameters,
                     struct simulate_figures *figures, struct failure *why) {
    switch (simulate_collector(&trace->history, parameters, &trace->holding, figures)) {
    case SIMULATE_NO_MEMORY:
        return no_memory(why);
    case SIMULATE_TOO_LONG:
        return fail_damaged(trace, "the heap has too few objects for the bytes that it allocated", why);
    case SIMULATE_UNKNOWN:
        return failure_set(
            why, 1,
            "max_heap=%.0f: the heap comes to this limit, or policy=auto may promote in place; that cannot "
            "be predicted; choose a larger max_heap, or none",
            parameters->max_heap);
    case SIMULATE_DONE:
        break;
    }
    return true;
}

/* ---- which heap ------------------------------------------------------------------------------------------------- */

static bool check_heap(const struct heap_model *heap, struct failure *why) {
    if (heap->late) {
        return failure_set(why, 1,
                           "heap %" PRIu64 ": attached late, so its first objects are missing; record with " RECORD_SO,
                           heap->id);
    }
    return heap_is_complete(heap) ||
           failure_set(why, 1,
                       "heap %" PRIu64 ": its end is missing in the recording; record until the program has ended",
                       heap->id);
}

static void take_heap(struct simulate_trace *trace, const struct process_model *process,
                      const struct heap_model *heap) {
    const uint64_t *figures = heap->figures;
    trace->process = process->key;
    trace->address = heap->address;
    trace->id = heap->id;
    trace->serial = heap->serial;
    trace->suffix = heap->suffix;
    memcpy(trace->name, heap->name, sizeof trace->name);
    memcpy(trace->command, process->command, sizeof trace->command);
    trace->history.end = trace->recorded_bytes = figures[EDEN_FIGURE_allocated_bytes];
    trace->recorded = (struct simulate_figures){
        .scavenges = figures[EDEN_FIGURE_scavenges],
        .full_collections = figures[EDEN_FIGURE_full_collections],
        .survived_bytes = (double)figures[EDEN_FIGURE_survived_bytes],
        .tenured_bytes = (double)figures[EDEN_FIGURE_tenured_bytes],
        .old_used = (double)figures[EDEN_FIGURE_old_used],
        .eden_size = (double)figures[EDEN_FIGURE_eden_size],
    };
    memcpy(trace->recorded.full_by_cause, heap->full_by_cause, sizeof trace->recorded.full_by_cause);
    trace->met_limit = heap->full_by_cause[EDEN_FULL_LIMIT] != 0 || figures[EDEN_FIGURE_alloc_failures] != 0;
}

static bool choose_heap(struct simulate_trace *trace, struct recording *recording, const struct heap_choice *choice,
                        struct failure *why) {
    struct model model = {0};
    size_t found = 0;
    bool good = recording_model(recording, &model, why);
    if (good && (model.lost != 0 || model.lost_records != 0)) {
        good = failure_set(why, 1,
                           "%" PRIu64 " events and %" PRIu64 " records of objects were lost, so the recording is "
                           "incomplete; record again, with less load on the machine",
                           model.lost, model.lost_records);
    }
    for (size_t i = 0; good && i < model.process_count; i++) {
        const struct process_model *process = &model.processes[i];
        for (size_t j = 0; good && j < process->heap_count; j++) {
            if (heap_is_chosen(choice, process->key.pid, HEAP_REF(&process->heaps[j]))) {
                good = check_heap(&process->heaps[j], why);
                take_heap(trace, process, &process->heaps[j]);
                found++;
            }
        }
    }
    model_clear(&model);
    if (good && found == 0) {
        good = failure_set(why, 1,
                           "the recording has no heap with this number and process; `edenscope report` lists them");
    } else if (good && found > 1) {
        good = failure_set(why, 1, "the recording has %zu heaps; choose one with --heap and --pid", found);
    }
    return good;
}

/* ---- parameters, events ----------------------------------------------------------------------------------------- */

static void on_parameter(void *context, const char *name, const char *value) {
    struct reader *reader = context;
    reader->good = reader->good && simulate_parameter_recorded(&reader->trace->parameters, name, value, reader->why);
}

static bool on_event(void *context, const struct event *event, uint64_t heap_id) {
    struct reader *reader = context;
    struct simulate_trace *trace = reader->trace;
    if (!process_is_same(&event->process, &trace->process) ||
        !heap_is_same(event_heap_ref(event, heap_id), HEAP_REF(trace))) {
        return true;
    }
    const uint64_t *arg = event->arg;
    bool full = event->probe == EDEN_PROBE_full__start;
    uint64_t cause = EDEN_ARG(arg, scavenge__start, cause);
    double old_used = (double)(full ? EDEN_ARG(arg, full__start, old_used) : EDEN_ARG(arg, scavenge__start, old_used));
    reader->clock +=
        full ? EDEN_ARG(arg, full__start, allocated_since) : EDEN_ARG(arg, scavenge__start, allocated_since);
    bool good = simulate_history_collection(&trace->history, reader->clock);
    if (full && cause == EDEN_FULL_REQUEST) {
        good = good && simulate_history_asked(&trace->history, reader->clock, SIMULATE_FULL);
    } else if (!full && (cause == EDEN_SCAVENGE_REQUEST || cause == EDEN_SCAVENGE_PIN)) {
        good = good && simulate_history_asked(&trace->history, reader->clock, SIMULATE_SCAVENGE);
    }
    if (old_used > trace->recorded.old_used_peak) {
        trace->recorded.old_used_peak = old_used;
    }
    reader->good = good || fail_history(reader, "a collection begins after more bytes than the heap allocated");
    return good;
}

/* ---- objects ---------------------------------------------------------------------------------------------------- */

static bool is_of(const struct simulate_trace *trace, const struct life_heap *heap) {
    return heap_is_same(HEAP_REF(heap), HEAP_REF(trace)) && process_is_same(&heap->process, &trace->process);
}

static bool on_object(void *context, const struct life_heap *heap, const struct eden_life_record *record) {
    struct reader *reader = context;
    if (reader->good && is_of(reader->trace, heap)) {
        reader->good = simulate_history_object(&reader->trace->history, record) ||
                       fail_history(reader, "an object outlives the bytes that the heap allocated");
    }
    return reader->good;
}

/* All objects of the heap, from its first byte on, one by one? */
static bool check_profile(const struct simulate_trace *trace, const struct life_model *model, struct failure *why) {
    const struct eden_profile_record *state = NULL;
    bool replaced = false;
    for (size_t i = 0; i < model->heap_count; i++) {
        if (is_of(trace, &model->heaps[i]) && model->heaps[i].begun) {
            state = &model->heaps[i].state;
            replaced = model->heaps[i].replaced != 0;
        }
    }
    if (!model->objects.each) {
        return failure_set(why, 1, "the recording contains sums of lifetimes, not objects; record with " RECORD_SO);
    }
    if (!state || state->sampling != EDEN_SAMPLE_OBJECTS || state->rate != 1 || state->begun_bytes != 0 || replaced ||
        state->mechanism != EDEN_MECHANISM_VM) {
        return failure_set(
            why, 1,
            "the recording lacks objects of the heap, or their deaths were not found by vm; record with " RECORD_SO);
    }
    return (state->ended && model->lost == 0) ||
           failure_set(why, 1, "objects are missing in the recording: %" PRIu64 " were lost%s", model->lost,
                       state->ended ? "" : ", and the objects alive at the end were not reported");
}

static bool read_objects(struct reader *reader, struct recording *recording) {
    struct life_model model = {.on_object = on_object, .object_context = reader};
    bool good = recording_lifetimes(recording, &model, reader->why) && reader->good &&
                check_profile(reader->trace, &model, reader->why);
    life_model_clear(&model);
    return good;
}

/* ---- ------------------------------------------------------------------------------------------------------------ */

/* What a heap does at its limit is not simulated. */
static bool check_limit(const struct simulate_trace *trace, struct failure *why) {
    return !trace->met_limit ||
           failure_set(
               why, 1,
               "the recorded heap came to its max_heap, which cannot be simulated; record with a larger one, or "
               "none");
}

/* The share that dead old objects held of what they could hold; then simulates the recorded run again. */
static bool calibrate(struct simulate_trace *trace, struct failure *why) {
    const struct simulate_history *history = &trace->history;
    struct simulate_parameters recorded = trace->parameters;
    recorded.max_heap = (double)INFINITY; /* it did not come to its limit */
    trace->holding = (struct simulate_holding){{0}};
    trace->recorded.held_bytes = (double)(history->held_bytes[SIMULATE_SEEN] + history->held_bytes[SIMULATE_UNSEEN]);
    if (!simulate(trace, &recorded, &trace->again, why)) {
        return false;
    }
    for (int kind = 0; kind < SIMULATE_KINDS; kind++) {
        double could = trace->again.holdable_bytes[kind];
        trace->holding.share[kind] = could > 0 ? (double)history->held_bytes[kind] / could : (double)NAN;
    }
    return simulate(trace, &recorded, &trace->again, why);
}

bool simulate_trace_read(struct simulate_trace *trace, struct recording *recording, const char *path,
                         const struct heap_choice *choice, struct failure *why) {
    struct reader reader = {.trace = trace, .why = why, .good = true};
    uint64_t probes[(EDEN_PROBE_COUNT + 63) / 64] = {0};
    probes[EDEN_PROBE_scavenge__start / 64] |= 1ull << EDEN_PROBE_scavenge__start % 64;
    probes[EDEN_PROBE_full__start / 64] |= 1ull << EDEN_PROBE_full__start % 64;
    trace->path = path;
    simulate_parameters_default(&trace->parameters);
    if (!choose_heap(trace, recording, choice, why) ||
        !recording_parameters(recording, &trace->process, HEAP_REF(trace), on_parameter, &reader, why) ||
        !reader.good || !check_limit(trace, why) || !recording_events(recording, probes, on_event, &reader, why) ||
        !reader.good) {
        return false;
    }
    trace->history.bias.eden = whole_of(trace->parameters.eden_size);
    trace->history.young_most = simulate_young_most(&trace->parameters, trace->parameters.eden_size);
    if (!read_objects(&reader, recording)) {
        return false;
    }
    simulate_history_finish(&trace->history);
    if (trace->history.bytes != trace->recorded_bytes) {
        return failure_set(why, 1,
                           "the recorded objects have %" PRIu64 " bytes, but the heap allocated %" PRIu64
                           "; the recording is damaged or incomplete",
                           trace->history.bytes, trace->recorded_bytes);
    }
    return calibrate(trace, why);
}

/* The recording says nothing of deaths between two scavenges of its own. */
static bool check_eden(const struct simulate_trace *trace, double eden, struct failure *why) {
    return eden >= trace->parameters.eden_size ||
           failure_set(why, 1,
                       "eden_size=%.0f: smaller than recorded (%.0f), so deaths between two recorded scavenges are "
                       "unknown; record with this eden_size",
                       eden, trace->parameters.eden_size);
}

bool simulate_trace_predict(const struct simulate_trace *trace, const struct simulate_parameters *parameters,
                            struct simulate_figures *figures, struct failure *why) {
    bool decides = simulate_decides(parameters, EDEN_PARAM_eden_size);
    return (decides || check_eden(trace, parameters->eden_size, why)) && simulate(trace, parameters, figures, why) &&
           (!decides || check_eden(trace, figures->eden_least, why));
}
