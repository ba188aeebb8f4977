#include "views/top/top_rows.h"
#include "util/array.h"
#include "util/sum.h"
#include "views/phase_table.h"
#include <stdlib.h>
#include <string.h>

/* A scavenge and a full collection are collections alike: what waits for one does not care which. */
static void set_durations(struct top_row *row) {
    struct phase_model all = {0};
    static const enum eden_phase wholes[] = {EDEN_PHASE_scavenge, EDEN_PHASE_full};
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        const struct phase_model *phase = row->heap->phase[wholes[i]];
        for (uint32_t bucket = 0; phase && bucket < HISTOGRAM_BUCKETS; bucket++) {
            sum_add(&all.buckets[bucket], phase->buckets[bucket]);
        }
        all.max_ns = phase && phase->max_ns > all.max_ns ? phase->max_ns : all.max_ns;
    }
    row->p50_ns = phase_percentile(&all, 50);
    row->p99_ns = phase_percentile(&all, 99);
    row->longest_ns = all.max_ns;
}

static void set_rates(struct top_row *row, const struct heap_model *before, uint64_t wall_ns) {
    uint64_t stopped_ns, bytes;
    row->knows_share = heap_stopped_since(row->heap, before, wall_ns, &stopped_ns);
    row->share = row->knows_share && wall_ns ? (double)stopped_ns / (double)wall_ns : 0;
    bool is_known = heap_figure_since(row->heap, before, EDEN_FIGURE_allocated_bytes, &bytes);
    row->allocated_per_s = is_known && wall_ns ? (double)bytes / ((double)wall_ns / 1e9) : -1;
}

static bool is_wanted(const struct top_row *row, const struct top_wanted *wanted) {
    return (wanted->with_ended || !row->has_ended) &&
           (wanted->filter[0] == 0 || strcasestr(phase_table_command(row->process, row->heap), wanted->filter) ||
            strcasestr(row->heap->name, wanted->filter));
}

static int compare(double a, double b) { return (a > b) - (a < b); }

/* What is unknown comes last, or a process whose heaps say nothing of themselves would hide others. */
static double share_of(const struct top_row *row) { return row->knows_share ? row->share : -1; }

static double old_used(const struct top_row *row) {
    const bool is_known = row->heap->known >> EDEN_FIGURE_old_used & 1;
    return is_known ? (double)row->heap->figures[EDEN_FIGURE_old_used] : -1;
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

bool top_rows_make(struct top_rows *rows, const struct model *model, const struct model *before,
                   const struct top_wanted *wanted) {
    const uint64_t wall_ns = model->wall_ns - before->wall_ns;
    enum top_order order = wanted->order;
    rows->count = rows->heaps = rows->ended = 0;
    for (size_t i = 0; i < model->process_count; i++) {
        const struct process_model *process = &model->processes[i];
        const struct process_model *last = model_find_process(before, &process->key);
        for (size_t j = 0; j < process->heap_count; j++) {
            const struct heap_model *heap = &process->heaps[j];
            struct top_row row = {
                .process = process, .heap = heap, .has_ended = process->ended || heap->destroyed || heap->is_former};
            rows->heaps++;
            rows->ended += row.has_ended;
            if (!is_wanted(&row, wanted)) {
                continue;
            }
            set_durations(&row);
            set_rates(&row, model_find_heap(last, HEAP_REF(heap)), wall_ns);
            struct top_row *added = array_grow(&rows->at, &rows->room, rows->count, sizeof *added);
            if (!added) {
                return false;
            }
            *added = row;
            rows->count++;
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
