#include "views/model_json.h"
#include "eden_values.h"
#include "util/format.h"
#include <stdio.h>

static int put_number(json_t *object, const char *key, uint64_t value) {
    return json_object_set_new(object, key, json_number(value));
}

static json_t *causes_to_json(const uint64_t *count, const uint64_t *before) {
    json_t *object = json_object();
    for (unsigned i = 0; object && i < EDEN_FULL_CAUSES; i++) {
        put_number(object, eden_full_cause_name(i), count[i] - (before ? before[i] : 0));
    }
    return object;
}

static bool causes_known(const struct heap_model *heap) { return heap->known >> EDEN_FIGURE_full_collections & 1; }

static json_t *figure_to_json(const struct heap_model *heap, enum eden_figure figure) {
    return heap->known >> figure & 1 ? json_number(heap->figures[figure]) : json_null();
}

/* What was seen since attach. A maximum can't be taken apart: it is known only where it rose. */
static json_t *window_figure(const struct heap_model *heap, enum eden_figure figure) {
    uint64_t value = heap->figures[figure], before = heap->before[figure];
    enum figure_kind kind = figure_descriptions[figure].kind;
    if (!(heap->known >> figure & 1) || (kind == KIND_max && value <= before && before)) {
        return json_null();
    }
    return json_number(kind == KIND_sum ? value - before : value);
}

static json_t *window_to_json(const struct heap_model *heap) {
    json_t *object = json_object();
    for (enum eden_figure i = 0; object && i < EDEN_FIGURE_COUNT; i++) {
        json_object_set_new(object, figure_descriptions[i].name, window_figure(heap, i));
        if (i == EDEN_FIGURE_full_collections) {
            json_object_set_new(object, "full_by_cause",
                                causes_known(heap) ? causes_to_json(heap->full_by_cause, heap->full_by_cause_before)
                                                   : json_null());
        }
    }
    return object;
}

/* NULL: nothing of it is known. */
static json_t *pauses_to_json(const struct pause_time *time, uint64_t ns) {
    json_t *object = pause_time_ns(time) != 0 ? json_object() : NULL;
    for (int i = 0; object && i < PAUSE_CAUSES; i++) {
        char key[32];
        snprintf(key, sizeof key, "%s_ns", pause_cause_names[i]);
        json_object_set_new(object, key, pause_time_is_measured(time, i) ? json_number(time->ns[i]) : json_null());
    }
    if (object) {
        put_number(object, "unknown_ns", pause_unknown_ns(time, ns));
        put_number(object, "faults", time->faults);
        put_number(object, "disk_faults", time->disk_faults);
    }
    return object ? object : json_null();
}

static json_t *phases_to_json(const struct heap_model *heap) {
    json_t *object = json_object();
    for (int i = phase_next(-1); object && i < EDEN_PHASE_COUNT; i = phase_next(i)) {
        const struct phase_model *phase = heap->phase[i];
        if (!phase) {
            continue;
        }
        json_t *entry = json_object();
        put_number(entry, "calls", phase->calls);
        put_number(entry, "total_ns", phase->total_ns);
        put_number(entry, "observed_ns", phase_observed_ns(phase));
        put_number(entry, "max_ns", phase->max_ns);
        put_number(entry, "p50_ns", phase_percentile(phase, 50));
        put_number(entry, "p99_ns", phase_percentile(phase, 99));
        put_number(entry, "objects", phase->objects);
        put_number(entry, "bytes", phase->bytes);
        if (phase_parents[i] < 0) {
            json_object_set_new(entry, "time", pauses_to_json(&phase->pauses, phase->total_ns));
            json_object_set_new(entry, "longest", pauses_to_json(&phase->longest, phase->max_ns));
        }
        json_object_set_new(object, phase_names[i], entry);
    }
    return object;
}

/* NULL where it is not known, or a collection's start was not seen. */
static json_t *time_or_null(bool known, uint64_t ns) { return known && ns ? json_number(ns) : json_null(); }

static json_t *collection_to_json(const struct collection_model *collection) {
    json_t *object = json_object();
    bool under_way = collection->known && collection->under_way;
    json_object_set_new(object, "known", json_boolean(collection->known));
    json_object_set_new(object, "phase", under_way ? json_string(phase_names[collection->phase]) : json_null());
    json_object_set_new(object, "since_ns", time_or_null(under_way, collection->since_ns));
    json_object_set_new(object, "phase_since_ns", time_or_null(under_way, collection->phase_since_ns));
    json_object_set_new(object, "until_ns", time_or_null(under_way, collection->until_ns));
    return object;
}

json_t *heap_to_json(const struct model *model, const struct heap_model *heap) {
    json_t *object = json_object();
    if (!object) {
        return NULL;
    }
    json_object_set_new(object, "heap", json_known(heap->id));
    json_object_set_new(object, "name", json_name(heap->name, sizeof heap->name));
    for (enum eden_figure i = 0; i < EDEN_FIGURE_COUNT; i++) {
        json_object_set_new(object, figure_descriptions[i].name, figure_to_json(heap, i));
        if (i == EDEN_FIGURE_full_collections) {
            json_object_set_new(object, "full_by_cause",
                                causes_known(heap) ? causes_to_json(heap->full_by_cause, NULL) : json_null());
        }
    }
    json_object_set_new(object, "stopped_ns", heap->stopped_known ? json_number(heap->stopped_ns) : json_null());
    json_object_set_new(object, "collection", collection_to_json(&heap->collection));
    json_object_set_new(object, "complete", json_boolean(model_has_all(model, heap)));
    json_object_set_new(object, "ended_by_exec", json_boolean(heap->is_former));
    json_object_set_new(object, "former_command",
                        heap->is_former ? json_name(heap->command, sizeof heap->command) : json_null());
    json_object_set_new(object, "late", json_boolean(heap->late));
    json_object_set_new(object, "serial", json_known(heap->serial));
    if (heap->late) {
        json_object_set_new(object, "earlier", json_string(earlier_names[heap->earlier]));
        json_object_set_new(object, "window", window_to_json(heap));
    }
    json_object_set_new(object, "phases", phases_to_json(heap));
    return object;
}

static json_t *process_to_json(const struct model *model, const struct process_model *process) {
    json_t *object = json_object();
    json_t *heaps = json_array();
    if (!object || !heaps) {
        json_decref(object);
        json_decref(heaps);
        return NULL;
    }
    put_number(object, "pid", process->key.pid);
    json_object_set_new(object, "runtime", json_string(process->runtime));
    json_object_set_new(object, "command", json_name(process->command, sizeof process->command));
    put_number(object, "lost_heaps", process->lost.heaps);
    put_number(object, "lost_hits", process->lost.hits);
    for (size_t i = 0; i < process->heap_count; i++) {
        json_array_append_new(heaps, heap_to_json(model, &process->heaps[i]));
    }
    json_object_set_new(object, "heaps", heaps);
    return object;
}

json_t *model_to_json(const struct model *model) {
    json_t *object = json_object();
    json_t *processes = json_array();
    if (!object || !processes) {
        json_decref(object);
        json_decref(processes);
        return NULL;
    }
    put_number(object, "lost", model->lost);
    put_number(object, "missed_children", model->missed_children);
    put_number(object, "wall_ns", model->wall_ns);
    json_object_set_new(object, "exit_status", model->has_status ? json_integer(model->status) : json_null());
    for (size_t i = 0; i < model->process_count; i++) {
        json_array_append_new(processes, process_to_json(model, &model->processes[i]));
    }
    json_object_set_new(object, "processes", processes);
    if (model_has_lost(&model->others)) {
        json_t *others = json_object();
        put_number(others, "lost_heaps", model->others.heaps);
        put_number(others, "lost_hits", model->others.hits);
        json_object_set_new(object, "other_processes", others);
    }
    return object;
}

bool model_print_json(FILE *out, const struct model *model) {
    return json_print_as(out, "edenscope/stat/1", model_to_json(model));
}
