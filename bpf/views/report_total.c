/* All heaps as one. */
#include "util/format.h"
#include "util/sum.h"
#include "views/report.h"
#include <stdlib.h>

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void add_figures(struct heap_model *total, const struct heap_model *heap) {
    total->known &= heap->known;
    sum_add(&total->stopped_ns, heap->stopped_ns);
    total->stopped_known = total->stopped_known && heap->stopped_known;
    total->late = total->late || heap->late;
    total->destroyed = total->destroyed && heap->destroyed;
    total->is_former = total->is_former && (heap->destroyed || heap->is_former);
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        bool max = figure_descriptions[i].kind == KIND_max;
        if (max) {
            total->figures[i] = larger(total->figures[i], heap->figures[i]);
            total->before[i] = larger(total->before[i], heap->before[i]);
        } else {
            sum_add(&total->figures[i], heap->figures[i]);
            sum_add(&total->before[i], heap->before[i]);
        }
    }
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        sum_add(&total->full_by_cause[i], heap->full_by_cause[i]);
        sum_add(&total->full_by_cause_before[i], heap->full_by_cause_before[i]);
    }
}

static bool add_phases(struct heap_model *total, const struct heap_model *heap) {
    for (int i = 0; i < EDEN_PHASE_COUNT; i++) {
        const struct phase_model *from = heap->phase[i];
        if (!from) {
            continue;
        }
        struct phase_model *to = model_phase(total, (enum eden_phase)i);
        if (!to) {
            return false;
        }
        sum_add(&to->calls, from->calls);
        sum_add(&to->total_ns, from->total_ns);
        sum_add(&to->outside_ns, from->outside_ns);
        to->max_ns = larger(to->max_ns, from->max_ns);
        sum_add(&to->objects, from->objects);
        sum_add(&to->bytes, from->bytes);
        for (int j = 0; j < HISTOGRAM_BUCKETS; j++) {
            sum_add(&to->buckets[j], from->buckets[j]);
        }
    }
    return true;
}

bool report_total(const struct model *model, struct heap_model *total) {
    *total = (struct heap_model){.known = UINT64_MAX, .destroyed = true, .is_former = true, .stopped_known = true};
    for (size_t i = 0; i < model->process_count; i++) {
        for (size_t j = 0; j < model->processes[i].heap_count; j++) {
            add_figures(total, &model->processes[i].heaps[j]);
            if (!add_phases(total, &model->processes[i].heaps[j])) {
                report_total_clear(total);
                return false;
            }
        }
    }
    return true;
}

void report_total_clear(struct heap_model *total) {
    for (int i = 0; i < EDEN_PHASE_COUNT; i++) {
        free(total->phase[i]);
        total->phase[i] = NULL;
    }
}
