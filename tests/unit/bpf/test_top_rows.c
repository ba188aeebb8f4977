/* Rows of `top`: what a heap did between two snapshots, in the order that is asked for. */
#include "views/top/top_rows.h"
#include <stdio.h>

#include "suite.h"

#define MS 1000000u

static struct heap_model *add_heap(struct model *model, uint32_t pid, const char *command, const char *name) {
    struct process_model *process = model_process(model, &(struct process_key){.start_ns = 1, .pid = pid});
    assert_non_null(process);
    snprintf(process->command, sizeof process->command, "%s", command);
    struct heap_model *heap = model_heap(process, (struct heap_ref){0x1000, 1, pid});
    assert_non_null(heap);
    snprintf(heap->name, sizeof heap->name, "%s", name);
    heap->known = ~0ull;
    heap->stopped_known = true;
    return heap;
}

static void add_pauses(struct heap_model *heap, uint64_t calls, uint64_t ns) {
    struct phase_model *pauses = model_phase(heap, MODEL_PAUSE);
    assert_non_null(pauses);
    pauses->calls += calls;
    pauses->buckets[histogram_bucket(ns)] += calls;
    pauses->max_ns = ns > pauses->max_ns ? ns : pauses->max_ns;
}

static void assert_order(const struct model *model, const struct model *before, struct top_wanted wanted,
                         const char *pids) {
    struct top_rows rows = {0};
    char found[64] = "";
    assert_true(top_rows_make(&rows, model, before, &wanted));
    for (size_t i = 0, length = 0; i < rows.count; i++) {
        length += (size_t)snprintf(found + length, sizeof found - length, "%u ", rows.at[i].process->key.pid);
    }
    assert_string_equal(found, pids);
    top_rows_clear(&rows);
}

TEST(rows_are_of_the_interval_and_in_order) {
    struct model before __attribute__((cleanup(model_clear))) = {.wall_ns = 1000 * MS};
    struct model model __attribute__((cleanup(model_clear))) = {.wall_ns = 2000 * MS};
    add_heap(&before, 1, "one", "a")->stopped_ns = 500 * MS;
    struct heap_model *heap = add_heap(&model, 1, "one", "a"); /* half of the time before, a tenth of it now */
    heap->stopped_ns = 600 * MS;
    heap->figures[EDEN_FIGURE_allocated_bytes] = 3000;
    heap->figures[EDEN_FIGURE_old_used] = 7;
    add_pauses(heap, 200, MS);
    heap = add_heap(&model, 2, "two", "b");
    heap->stopped_ns = 200 * MS;
    heap->figures[EDEN_FIGURE_allocated_bytes] = 1000;
    heap->figures[EDEN_FIGURE_old_used] = 9;
    add_pauses(heap, 200, 100000);
    add_pauses(heap, 1, 50 * MS); /* the longest, but one of 201 */
    heap = add_heap(&model, 3, "three", "ended");
    heap->destroyed = true;
    assert_order(&model, &before, (struct top_wanted){TOP_BY_SHARE, "", false, false}, "2 1 ");
    assert_order(&model, &before, (struct top_wanted){TOP_BY_P99, "", false, false}, "1 2 ");
    assert_order(&model, &before, (struct top_wanted){TOP_BY_LONGEST, "", false, false}, "2 1 ");
    assert_order(&model, &before, (struct top_wanted){TOP_BY_RATE, "", false, false}, "1 2 ");
    assert_order(&model, &before, (struct top_wanted){TOP_BY_OLD, "", false, false}, "2 1 ");
    assert_order(&model, &before, (struct top_wanted){TOP_BY_PID, "", true, false}, "1 2 3 ");
    assert_order(&model, &before, (struct top_wanted){TOP_BY_PID, "END", true, false}, "3 ");
    assert_order(&model, &before, (struct top_wanted){TOP_BY_PID, "t", true, false}, "2 3 ");
    assert_order(&model, &before, (struct top_wanted){TOP_BY_PID, "none", true, false}, "");

    struct top_rows rows = {0};
    assert_true(top_rows_make(&rows, &model, &before, &(struct top_wanted){TOP_BY_PID, "", false, false}));
    assert_int_equal(rows.heaps, 3);
    assert_int_equal(rows.ended, 1);
    assert_true(rows.at[0].share > 0.0999 && rows.at[0].share < 0.1001);
    assert_true(rows.at[0].allocated_per_s > 2999 && rows.at[0].allocated_per_s < 3001);
    assert_int_equal(rows.at[1].longest_ns, 50 * MS);
    assert_true(rows.at[1].p99_ns < MS);
    top_rows_clear(&rows);
}

TEST(what_is_unknown_comes_last) {
    struct model model __attribute__((cleanup(model_clear))) = {.wall_ns = 1000 * MS}, none = {0};
    struct heap_model *heap = add_heap(&model, 1, "one", "says nothing");
    heap->stopped_known = false;
    heap->known = 0;
    add_heap(&model, 2, "two", "idle");
    assert_order(&model, &none, (struct top_wanted){TOP_BY_SHARE, "", false, false}, "2 1 ");
    assert_order(&model, &none, (struct top_wanted){TOP_BY_RATE, "", false, false}, "2 1 ");
    assert_order(&model, &none, (struct top_wanted){TOP_BY_OLD, "", false, false}, "2 1 ");
}

static struct heap_model *add_second(struct model *model, uint64_t id) {
    struct heap_model *heap = model_heap(&model->processes[0], (struct heap_ref){0x2000, id, 10 + id});
    assert_non_null(heap);
    heap->known = ~0ull;
    heap->stopped_known = true;
    return heap;
}

TEST(heaps_of_a_process_are_summed_up) {
    struct model before __attribute__((cleanup(model_clear))) = {.wall_ns = 1000 * MS};
    struct model model __attribute__((cleanup(model_clear))) = {.wall_ns = 2000 * MS};
    const struct top_wanted wanted = {TOP_BY_SHARE, "", false, true};
    struct top_rows rows = {0};
    struct heap_model *heap = add_heap(&model, 1, "one", "a");
    heap->stopped_ns = 700 * MS;
    heap->figures[EDEN_FIGURE_allocated_bytes] = 3000;
    heap->figures[EDEN_FIGURE_old_used] = 7;
    add_pauses(heap, 1, 50 * MS);
    heap = add_second(&model, 2);
    heap->stopped_ns = 600 * MS;
    heap->figures[EDEN_FIGURE_allocated_bytes] = 1000;
    heap->figures[EDEN_FIGURE_old_used] = 9;
    add_pauses(heap, 200, 100000);
    heap->collection.under_way = true;
    add_second(&model, 3)->destroyed = true;
    add_heap(&model, 2, "two", "b")->stopped_ns = 900 * MS;
    assert_true(top_rows_make(&rows, &model, &before, &wanted));
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.heaps, 4);
    const struct top_row *row = &rows.at[0];
    assert_int_equal(row->process->key.pid, 1);
    assert_int_equal(row->heaps, 2);
    assert_int_equal(row->heap->id, 2); /* it is in a collection */
    assert_true(row->share > 1.2999 && row->share < 1.3001);
    assert_true(row->allocated_per_s > 3999 && row->allocated_per_s < 4001);
    assert_int_equal(row->old_used, 16);
    assert_int_equal(row->longest_ns, 50 * MS);
    assert_true(row->p99_ns < MS);
    model.processes[0].heaps[0].stopped_known = false;
    assert_true(top_rows_make(&rows, &model, &before, &wanted));
    assert_int_equal(rows.at[0].process->key.pid, 2); /* the other's share is unknown */
    top_rows_clear(&rows);
}

/* As many pauses of each of two heaps as a program likes: there are some. */
TEST(durations_of_large_counts_are_some) {
    struct model model __attribute__((cleanup(model_clear))) = {.wall_ns = 1000 * MS}, none = {0};
    add_pauses(add_heap(&model, 1, "one", "a"), 1ull << 63, MS);
    add_pauses(add_second(&model, 2), 1ull << 63, MS);
    struct top_rows rows = {0};
    assert_true(top_rows_make(&rows, &model, &none, &(struct top_wanted){TOP_BY_PID, "", false, true}));
    assert_int_equal(rows.at[0].p99_ns, MS);
    top_rows_clear(&rows);
}
