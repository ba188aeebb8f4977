#include "views/top/top_rows.h"
#include "util/array.h"
#include "util/sum.h"
#include "views/phase_table.h"
#include <stdlib.h>
#include <string.h>

static bool is_wanted(const struct process_model *process, const struct heap_model *heap,
                      const struct top_wanted *wanted) {
    return (wanted->with_ended || !heap_has_ended(process, heap)) &&
           (wanted->filter[0] == 0 || strcasestr(phase_table_command(process, heap), wanted->filter) ||
            strcasestr(heap->name, wanted->filter));
}

static void add_pauses(struct phase_model *sum, const struct phase_model *pauses) {
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        sum_add(&sum->buckets[i], pauses->buckets[i]);
    }
    sum->max_ns = pauses->max_ns > sum->max_ns ? pauses->max_ns : sum->max_ns;
}

static void add_spaces(struct top_row *row, const struct heap_model *heap) {
    row->known &= heap->known;
    sum_add(&row->eden_size, heap->figures[EDEN_FIGURE_eden_size]);
    sum_add(&row->old_used, heap->figures[EDEN_FIGURE_old_used]);
    sum_add(&row->old_capacity, heap->figures[EDEN_FIGURE_old_capacity]);
}

/* What is unknown of one heap is unknown of the sum. */
static void add_heap(struct top_row *row, const struct heap_model *heap, const struct heap_model *before,
                     uint64_t wall_ns) {
    uint64_t stopped_ns, bytes;
    row->heap = !row->heap || (heap->collection.under_way && !row->heap->collection.under_way) ? heap : row->heap;
    row->heaps++;
    row->has_ended = row->has_ended && heap_has_ended(row->process, heap);
    row->knows_share = heap_stopped_since(heap, before, wall_ns, &stopped_ns) && row->knows_share;
    row->share += row->knows_share && wall_ns ? (double)stopped_ns / (double)wall_ns : 0;
    bool is_known = heap_figure_since(heap, before, EDEN_FIGURE_allocated_bytes, &bytes);
    is_known = is_known && wall_ns && row->allocated_per_s >= 0;
    row->allocated_per_s = is_known ? row->allocated_per_s + (double)bytes / ((double)wall_ns / 1e9) : -1;
}

static int compare(double a, double b) { return (a > b) - (a < b); }

/* What is unknown comes last, or a process whose heaps say nothing of themselves would hide others. */
static double share_of(const struct top_row *row) { return row->knows_share ? row->share : -1; }

static double old_used(const struct top_row *row) {
    return row->known >> EDEN_FIGURE_old_used & 1 ? (double)row->old_used : -1;
}

static int in_order(const struct top_row *a, const struct top_row *b, enum top_order order) {
    switch (order) {
    case TOP_BY_SHARE:
        return compare(share_of(b), share_of(a));
    case TOP_BY_P99:
        return compare((double)b->p99_ns, (double)a->p99_ns);
    case TOP_BY_LONGEST:
        return compare((double)b->longest_ns, (double)a->longest_ns);
    case TOP_BY_RATE:
        return compare(b->allocated_per_s, a->allocated_per_s);
    case TOP_BY_OLD:
        return compare(old_used(b), old_used(a));
    default:
        return 0;
    }
}

/* Equal rows do not change places from one snapshot to the next. */
static int by_order(const void *first, const void *second, void *context) {
    const struct top_row *a = first, *b = second;
    const enum top_order *order = context;
    int result = in_order(a, b, *order);
    result = result ? result : compare(a->process->key.pid, b->process->key.pid);
    result = result ? result : compare((double)a->process->key.start_ns, (double)b->process->key.start_ns);
    return result ? result : compare((double)a->heap->serial, (double)b->heap->serial);
}

/* Of the heaps in these places of the process; none is wanted: no row. False: no memory. */
static bool add_row(struct top_rows *rows, const struct process_model *process, const struct process_model *last,
                    size_t from, size_t to, uint64_t wall_ns, const struct top_wanted *wanted) {
    struct top_row row = {.process = process, .has_ended = true, .knows_share = true, .known = ~0ull};
    struct phase_model pauses = {0};
    for (size_t i = from; i < to; i++) {
        const struct heap_model *heap = &process->heaps[i];
        if (is_wanted(process, heap, wanted)) {
            add_heap(&row, heap, model_find_heap(last, HEAP_REF(heap)), wall_ns);
            if (heap->phase[MODEL_PAUSE]) {
                add_pauses(&pauses, heap->phase[MODEL_PAUSE]);
            }
        }
    }
    if (row.heaps == 0) {
        return true;
    }
    rows->shown += row.heaps;
    /* Of those that live; where none does, of each as it ended. */
    for (size_t i = from; i < to; i++) {
        const struct heap_model *heap = &process->heaps[i];
        if (is_wanted(process, heap, wanted) && (row.has_ended || !heap_has_ended(process, heap))) {
            add_spaces(&row, heap);
        }
    }
    row.p50_ns = phase_percentile(&pauses, 50);
    row.p99_ns = phase_percentile(&pauses, 99);
    row.longest_ns = pauses.max_ns;
    struct top_row *added = array_grow(&rows->at, &rows->room, rows->count, sizeof *added);
    if (added) {
        *added = row;
        rows->count++;
    }
    return added;
}

bool top_rows_make(struct top_rows *rows, const struct model *model, const struct model *before,
                   const struct top_wanted *wanted) {
    const uint64_t wall_ns = model->wall_ns - before->wall_ns;
    enum top_order order = wanted->order;
    rows->count = rows->shown = rows->heaps = rows->ended = 0;
    for (size_t i = 0; i < model->process_count; i++) {
        const struct process_model *process = &model->processes[i];
        const struct process_model *last = model_find_process(before, &process->key);
        const size_t step = wanted->by_process ? process->heap_count : 1;
        for (size_t j = 0; j < process->heap_count; j++) {
            rows->heaps++;
            rows->ended += heap_has_ended(process, &process->heaps[j]);
        }
        for (size_t j = 0; j < process->heap_count; j += step) {
            if (!add_row(rows, process, last, j, j + step, wall_ns, wanted)) {
                return false;
            }
        }
    }
    if (rows->count != 0) {
        qsort_r(rows->at, rows->count, sizeof *rows->at, by_order, &order);
    }
    return true;
}

void top_rows_clear(struct top_rows *rows) {
    free(rows->at);
    *rows = (struct top_rows){0};
}
