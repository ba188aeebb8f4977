/* Facts from a recording: what the kernel summed up, the parameters, and the events in order of time
 * (facts_event.c), and lifetimes (facts_life.c). */
#include "advise/facts/facts_read.h"
#include "advise/facts/facts_event.h"
#include "advise/facts/facts_life.h"
#include <stdlib.h>
#include <string.h>

struct reader {
    struct heap_reader *heaps;
    size_t count;
    bool out_of_memory;
};

static bool on_event(void *context, const struct event *event, uint64_t heap_id) {
    struct reader *reader = context;
    for (size_t i = 0; i < reader->count; i++) {
        struct heap_reader *heap = &reader->heaps[i];
        const struct process_key *process = &heap->facts.process;
        if (process->pid == event->process.pid && process->start_ns == event->process.start_ns &&
            heap->address == event_heap(event) && heap->facts.heap_id == heap_id) {
            reader->out_of_memory = !facts_take(heap, event);
            break;
        }
    }
    return !reader->out_of_memory;
}

/* ---- the recording ----------------------------------------------------------------------------------------------- */

static void begin_heap(struct heap_reader *reader, const struct process_model *process, const struct heap_model *heap,
                       const struct model *model, const struct recording_info *info) {
    struct tune_facts *facts = &reader->facts;
    reader->address = heap->address;
    facts->process = process->key;
    memcpy(facts->command, process->command, sizeof facts->command);
    memcpy(facts->heap_name, heap->name, sizeof facts->heap_name);
    facts->heap_id = heap->id;
    facts->late = heap->late;
    facts->complete = heap->destroyed && model->lost == 0;
    facts->is_at_rest = heap->collection.known && !heap->collection.under_way;
    facts->lost = model->lost + model->lost_records;
    facts->start_ns = info->mono_ns;
    facts->wall_ns = model->wall_ns;
    facts->known = heap->known;
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        facts->figures[i] = heap->figures[i] - heap->before[i];
    }
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        facts->full_by_cause[i] = heap->full_by_cause[i] - heap->full_by_cause_before[i];
    }
    /* If no pause was longer than those before, the observed ones are in the events: finish(). */
    uint64_t longest = heap->figures[EDEN_FIGURE_max_pause_ns];
    facts->figures[EDEN_FIGURE_max_pause_ns] = longest > heap->before[EDEN_FIGURE_max_pause_ns] ? longest : 0;
    tune_parameters_default(facts->parameters);
}

static void on_parameter(void *context, const char *name, const char *value) {
    tune_parameter_tell(context, name, value);
}

static bool begin(struct reader *reader, struct recording *recording, uint64_t pid, uint64_t heap_id,
                  struct failure *why) {
    struct model model = {0};
    bool good = recording_model(recording, &model, why);
    size_t room = 0;
    for (size_t i = 0; i < model.process_count; i++) {
        room += model.processes[i].heap_count;
    }
    reader->heaps = calloc(room + 1, sizeof *reader->heaps);
    reader->out_of_memory = !reader->heaps;
    for (size_t i = 0; good && reader->heaps && i < model.process_count; i++) {
        const struct process_model *process = &model.processes[i];
        for (size_t j = 0; good && j < process->heap_count; j++) {
            const struct heap_model *heap = &process->heaps[j];
            if ((pid && process->key.pid != pid) || (heap_id && heap->id != heap_id)) {
                continue;
            }
            struct heap_reader *to = &reader->heaps[reader->count++];
            begin_heap(to, process, heap, &model, recording_info(recording));
            good = recording_parameters(recording, &process->key, heap->address, heap->id, on_parameter,
                                        to->facts.parameters, why);
        }
    }
    model_clear(&model);
    return good;
}

static int by_class_id(const void *a, const void *b) {
    const struct tune_class *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_duration(const void *a, const void *b) {
    const struct tune_scans *x = a, *y = b;
    return (x->duration_ns < y->duration_ns) - (x->duration_ns > y->duration_ns);
}

/* A full collection and the scavenge before it are one pause. */
static uint64_t longest_pause(const struct tune_facts *facts) {
    uint64_t longest = 0, before = 0;
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        uint64_t pause = pass->duration_ns + (pass->full ? before : 0);
        before = !pass->full && pass->cause == EDEN_SCAVENGE_FULL ? pass->duration_ns : 0;
        longest = pause > longest ? pause : longest;
    }
    return longest;
}

/* The figures of a late heap give the size of its eden. */
static void finish(struct tune_facts *facts) {
    if (!facts->figures[EDEN_FIGURE_max_pause_ns]) {
        facts->figures[EDEN_FIGURE_max_pause_ns] = longest_pause(facts);
    }
    struct tune_parameter *eden = &facts->parameters[TUNE_eden_size];
    if (!eden->told && facts->known >> EDEN_FIGURE_eden_size & 1 && facts->figures[EDEN_FIGURE_eden_size]) {
        eden->number = (double)facts->figures[EDEN_FIGURE_eden_size];
        eden->told = true;
    }
    if (facts->class_count) {
        qsort(facts->classes, facts->class_count, sizeof *facts->classes, by_class_id);
    }
    if (facts->scan_count) {
        qsort(facts->scans, facts->scan_count, sizeof *facts->scans, by_duration);
    }
}

bool tune_heaps_read(struct tune_heaps *heaps, struct recording *recording, uint64_t pid, uint64_t heap_id,
                     struct failure *why) {
    uint64_t probes[FACTS_PROBE_WORDS];
    facts_probes(probes);
    struct reader reader = {0};
    *heaps = (struct tune_heaps){0};
    bool good =
        begin(&reader, recording, pid, heap_id, why) && recording_events(recording, probes, on_event, &reader, why);
    heaps->at = good ? calloc(reader.count + 1, sizeof *heaps->at) : NULL;
    for (size_t i = 0; i < reader.count; i++) {
        if (heaps->at) {
            finish(&reader.heaps[i].facts);
            heaps->at[heaps->count++] = reader.heaps[i].facts;
        } else {
            tune_facts_clear(&reader.heaps[i].facts);
        }
    }
    free(reader.heaps);
    if (good && (reader.out_of_memory || !heaps->at)) {
        good = failure_set(why, 1, "out of memory for the recorded events");
    }
    good = good && tune_facts_add_lifetimes(heaps, recording, why);
    if (!good) {
        tune_heaps_clear(heaps);
    }
    return good;
}

void tune_heaps_clear(struct tune_heaps *heaps) {
    for (size_t i = 0; i < heaps->count; i++) {
        tune_facts_clear(&heaps->at[i]);
    }
    free(heaps->at);
    *heaps = (struct tune_heaps){0};
}
