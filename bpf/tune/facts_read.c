/* Facts from a recording: what the kernel summed up, the parameters, and the events in order of time.
 *
 * A collection's probes are put together by heap and number (seq): the start opens a pass, the parts fill it, the done
 * probe closes it. Collections don't nest, so one is open at a time; what opens while another is open replaces it. A
 * pass whose end lacks arguments, as an older runtime's or after losses, is counted as untold and left out: half a pass
 * would be taken for a small one. */
#include "facts_read.h"
#include "facts_life.h"
#include <stdlib.h>
#include <string.h>

enum { SCAVENGE_DONE_ARGS = 10, FULL_DONE_ARGS = 10 };

struct heap_reader {
    struct tune_facts facts;
    uint64_t address;
    struct tune_pass open;
    bool is_open;
};

struct reader {
    struct heap_reader *heaps;
    size_t count;
    bool out_of_memory;
};

/* Room for one more at the end of an array; NULL: no memory, which is noted. */
static void *more(struct reader *reader, void *array, size_t count, size_t *room, size_t size) {
    void **at = array;
    if (count == *room) {
        size_t wanted = *room ? *room * 2 : 64;
        void *grown = reallocarray(*at, wanted, size);
        if (!grown) {
            reader->out_of_memory = true;
            return NULL;
        }
        *at = grown;
        *room = wanted;
    }
    return (char *)*at + count * size;
}

/* ---- one event --------------------------------------------------------------------------------------------------- */

static void open_pass(struct heap_reader *heap, const struct event *event) {
    const uint64_t *arg = event->arg;
    heap->open = (struct tune_pass){.started = true, .seq = arg[1], .cause = arg[2], .start_ns = event->time_ns};
    heap->is_open = true;
    if (event->probe == EDEN_PROBE_scavenge__start) {
        heap->open.eden_used = arg[3];
        heap->open.survivors_before = arg[4];
        heap->open.remembered_before = arg[5];
        heap->open.old_before = arg[6];
        heap->open.allocated_since = arg[7];
    } else {
        heap->open.full = true;
        heap->open.old_before = arg[3];
        heap->open.capacity_before = arg[4];
        heap->open.requested = arg[5];
        heap->open.allocated_since = arg[6];
    }
}

static void add_part(struct heap_reader *heap, const struct event *event, enum eden_phase phase) {
    if (heap->is_open && heap->open.seq == event->arg[1]) {
        heap->open.part_ns[phase] += event->arg[2];
        heap->open.part_objects[phase] += event->arg[3];
        heap->open.part_bytes[phase] += event->arg[4];
    }
}

static void close_pass(struct reader *reader, struct heap_reader *heap, const struct event *event) {
    const uint64_t *arg = event->arg;
    bool full = event->probe == EDEN_PROBE_full__done;
    struct tune_facts *facts = &heap->facts;
    bool started = heap->is_open && heap->open.seq == arg[1] && heap->open.full == full;
    if (!started || event->args < (full ? FULL_DONE_ARGS : SCAVENGE_DONE_ARGS)) {
        facts->untold_passes++;
        heap->is_open = false;
        return;
    }
    struct tune_pass *pass = more(reader, &facts->passes, facts->pass_count, &facts->pass_room, sizeof *facts->passes);
    if (!pass) {
        return;
    }
    *pass = heap->open;
    heap->is_open = false;
    facts->pass_count++;
    pass->duration_ns = arg[2];
    if (full) {
        pass->old_after = arg[3];
        pass->capacity_after = arg[4];
        pass->free_chunks = arg[5];
        pass->largest_free = arg[6];
        pass->segments = arg[7];
        pass->freed_bytes = arg[8];
        pass->young_freed = arg[9];
    } else {
        pass->survivors_after = arg[3];
        pass->remembered_after = arg[4];
        pass->tenured_bytes = arg[5];
        pass->tenured_objects = arg[6];
        pass->threshold = arg[7];
        pass->semispace_start = arg[8];
        pass->semispace_limit = arg[9];
    }
}

static void add_scan(struct reader *reader, struct tune_facts *facts, const uint64_t *arg) {
    struct tune_scans *scans = NULL;
    for (size_t i = 0; i < facts->scan_count && !scans; i++) {
        scans = facts->scans[i].class_id == (uint32_t)arg[3] ? &facts->scans[i] : NULL;
    }
    if (!scans) {
        scans = more(reader, &facts->scans, facts->scan_count, &facts->scan_room, sizeof *facts->scans);
        if (!scans) {
            return;
        }
        facts->scan_count++;
        *scans = (struct tune_scans){.class_id = (uint32_t)arg[3]};
    }
    scans->count++;
    scans->slots += arg[4];
    scans->young_references += arg[5];
    scans->duration_ns += arg[6];
    facts->scans_told = true;
}

static void add_class(struct reader *reader, struct tune_facts *facts, const struct event *event) {
    struct tune_class *class =
        more(reader, &facts->classes, facts->class_count, &facts->class_room, sizeof *facts->classes);
    if (class) {
        facts->class_count++;
        *class = (struct tune_class){.id = (uint32_t)event->arg[1],
                                     .of = (uint32_t)(event->args > 3 ? event->arg[3] : event->arg[1])};
        memcpy(class->name, event->text[0], sizeof class->name);
    }
}

static void add_segment(struct reader *reader, struct tune_facts *facts, const struct event *event) {
    struct tune_segment *segment =
        more(reader, &facts->segments, facts->segment_count, &facts->segment_room, sizeof *facts->segments);
    if (segment) {
        facts->segment_count++;
        *segment = (struct tune_segment){event->time_ns, event->arg[2], event->arg[3],
                                         event->probe == EDEN_PROBE_segment__map};
    }
}

static void add_large(struct reader *reader, struct tune_facts *facts, const struct event *event) {
    struct tune_large *large = more(reader, &facts->large, facts->large_count, &facts->large_room, sizeof *large);
    if (large) {
        facts->large_count++;
        *large = (struct tune_large){event->time_ns, event->arg[3], (uint32_t)event->arg[2]};
    }
}

static void add_failure(struct reader *reader, struct tune_facts *facts, const struct event *event) {
    struct tune_failure *failure =
        more(reader, &facts->failures, facts->failure_count, &facts->failure_room, sizeof *failure);
    if (failure) {
        facts->failure_count++;
        *failure = (struct tune_failure){event->time_ns, event->arg[2], (uint32_t)event->arg[1]};
    }
}

static void take(struct reader *reader, struct heap_reader *heap, const struct event *event) {
    struct tune_facts *facts = &heap->facts;
    switch (event->probe) {
    case EDEN_PROBE_heap__create:
        facts->wall_ns -= event->time_ns > facts->start_ns ? event->time_ns - facts->start_ns : 0;
        facts->start_ns = event->time_ns;
        break;
    case EDEN_PROBE_heap__destroy:
        facts->wall_ns = event->time_ns - facts->start_ns;
        break;
    case EDEN_PROBE_class__define:
        add_class(reader, facts, event);
        break;
    case EDEN_PROBE_scavenge__start:
    case EDEN_PROBE_full__start:
        open_pass(heap, event);
        break;
    case EDEN_PROBE_scavenge__done:
    case EDEN_PROBE_full__done:
        close_pass(reader, heap, event);
        break;
#define EDEN_PHASE(probe, name, parent)
#define EDEN_PART(part, name, parent)                                                                                  \
    case EDEN_PROBE_##part##__done:                                                                                    \
        add_part(heap, event, EDEN_PHASE_##part);                                                                      \
        break;
#include "eden_phases.def"
#undef EDEN_PHASE
    case EDEN_PROBE_remembered__scan:
        add_scan(reader, facts, event->arg);
        break;
    case EDEN_PROBE_alloc__large:
        add_large(reader, facts, event);
        break;
    case EDEN_PROBE_alloc__failed:
        add_failure(reader, facts, event);
        break;
    case EDEN_PROBE_segment__map:
    case EDEN_PROBE_segment__unmap:
        add_segment(reader, facts, event);
        break;
    default:
        break;
    }
}

static bool on_event(void *context, const struct event *event, uint64_t heap_id) {
    struct reader *reader = context;
    for (size_t i = 0; i < reader->count; i++) {
        struct heap_reader *heap = &reader->heaps[i];
        const struct process_key *process = &heap->facts.process;
        if (process->pid == event->process.pid && process->start_ns == event->process.start_ns &&
            heap->address == event->arg[0] && heap->facts.heap_id == heap_id) {
            take(reader, heap, event);
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
    facts->figures[EDEN_FIGURE_max_pause_ns] = heap->figures[EDEN_FIGURE_max_pause_ns];
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

/* A late heap's eden has the size that its figures tell. */
static void finish(struct tune_facts *facts) {
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
    static const int wanted[] = {
        EDEN_PROBE_heap__create,   EDEN_PROBE_heap__destroy, EDEN_PROBE_class__define, EDEN_PROBE_scavenge__start,
        EDEN_PROBE_scavenge__done, EDEN_PROBE_full__start,   EDEN_PROBE_full__done,    EDEN_PROBE_remembered__scan,
        EDEN_PROBE_alloc__large,   EDEN_PROBE_alloc__failed, EDEN_PROBE_segment__map,  EDEN_PROBE_segment__unmap,
#define EDEN_PHASE(probe, name, parent)
#define EDEN_PART(part, name, parent) EDEN_PROBE_##part##__done,
#include "eden_phases.def"
#undef EDEN_PHASE
    };
    uint64_t probes[(EDEN_PROBE_COUNT + 63) / 64] = {0};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        probes[wanted[i] / 64] |= 1ull << wanted[i] % 64;
    }
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
        good = failure_set(why, 1, "no memory for what the recording tells");
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
