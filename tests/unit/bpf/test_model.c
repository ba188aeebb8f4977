/* Histograms, percentiles, number formats, and JSON of names that are no text. */
#include "model/model.h"
#include "util/format.h"
#include "views/model_json.h"
#include "views/phase_table.h"
#include <stdio.h>
#include <string.h>

#include "suite.h"

TEST(buckets_are_in_order_and_narrow) {
    uint32_t last = 0;
    for (uint64_t value = 0; value < 1ull << 42; value += 1 + value / 100) {
        uint32_t bucket = histogram_bucket(value);
        assert_true(bucket >= last && bucket < HISTOGRAM_BUCKETS);
        assert_true(histogram_upper(bucket) >= value);
        assert_true((double)histogram_upper(bucket) <= (double)value * 1.0625);
        assert_true(bucket == 0 || histogram_upper(bucket - 1) < value);
        last = bucket;
    }
    assert_int_equal(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
    /* The description in figures: octave o, bucket 16 (o - 3) + the next four bits. */
    assert_int_equal(histogram_bucket(16), 16);
    assert_int_equal(histogram_bucket(1000), 16 * (9 - 3) + ((1000 >> 5) & 15));
}

TEST(percentiles_are_nearest_ranks) {
    struct phase_model phase = {0};
    assert_int_equal(phase_percentile(&phase, 50), 0);
    for (uint64_t value = 1; value <= 10; value++) {
        phase.calls++;
        phase.max_ns = value;
        phase.buckets[histogram_bucket(value)]++;
    }
    assert_int_equal(phase_percentile(&phase, 50), 5);
    assert_int_equal(phase_percentile(&phase, 51), 6);
    assert_int_equal(phase_percentile(&phase, 99), 10);
    phase.buckets[histogram_bucket(1000000)] += 100;
    phase.max_ns = 1000000;
    assert_int_equal(phase_percentile(&phase, 99), 1000000); /* never above the maximum */
}

/* Numbers of phases only grow, so a part may come long after its whole. */
TEST(parts_follow_their_whole_in_tables) {
    char names[512] = "";
    for (int phase = phase_next(-1); phase < EDEN_PHASE_COUNT; phase = phase_next(phase)) {
        assert_true(strlen(names) + strlen(phase_names[phase]) + 2 < sizeof names);
        strcat(strcat(names, phase_names[phase]), " ");
    }
    assert_string_equal(names, "scavenge scavenge.remembered scavenge.roots scavenge.copy scavenge.weak scavenge.mark "
                               "scavenge.sweep full full.mark full.sweep full.compact full.compact.plan "
                               "full.compact.update full.compact.move ");
}

struct losses {
    int lines;
    char last[MODEL_TEXT];
};

static void on_loss(void *context, const char *text) {
    struct losses *losses = context;
    losses->lines++;
    snprintf(losses->last, sizeof losses->last, "%s", text);
}

TEST(first_losers_are_named_and_others_counted) {
    struct model model __attribute__((cleanup(model_clear))) = {0};
    struct losses losses = {0};
    for (uint32_t pid = 1; pid <= 100; pid++) {
        struct process_model *process = model_process(&model, &(struct process_key){.pid = pid});
        process->lost.heaps = pid % 2 * pid;
        process->lost.hits = pid % 2 * 10;
    }
    for (size_t i = 0; i < 2 * MODEL_NAMED_LOSERS; i++) {
        model.processes[i].lost.events = 1;
    }
    model_report_losses(&model, on_loss, &losses);
    assert_int_equal(losses.lines, MODEL_NAMED_LOSERS + 1);
    /* Of 50 odd ones those from 9 on, and those from 10 to 16. */
    assert_string_equal(losses.last,
                        "other processes: 2484 heaps beyond their shares (460 hits) are not in the figures, "
                        "and 8 of the lost events");
    model.process_count = MODEL_NAMED_LOSERS;
    losses = (struct losses){0};
    model_report_losses(&model, on_loss, &losses);
    assert_int_equal(losses.lines, MODEL_NAMED_LOSERS);
    assert_string_equal(losses.last, "process 8 '' and its descendants: 1 of the lost events");
    model.process_count = 100;
}

TEST(numbers_are_short) {
    char text[FORMAT_MAX];
    assert_string_equal(format_count(text, 0), "0");
    assert_string_equal(format_count(text, 1234567), "1,234,567");
    assert_string_equal(format_count(text, UINT64_MAX), "18,446,744,073,709,551,615");
    assert_string_equal(format_bytes(text, 1023), "1023 B");
    assert_string_equal(format_bytes(text, 1536), "1.50 KiB");
    assert_string_equal(format_bytes(text, (1 << 20) - 1), "1.00 MiB");
    assert_string_equal(format_bytes(text, UINT64_MAX), "16.0 EiB");
    assert_string_equal(format_ns(text, 999), "999 ns");
    assert_string_equal(format_ns(text, 45600000), "45.6 ms");
    assert_string_equal(format_ns(text, 999999), "1.00 ms");
}

TEST(changes_are_in_words) {
    char text[FORMAT_MAX];
    assert_string_equal(format_change(text, 9, 1), "9 times less");
    assert_string_equal(format_change(text, 2, 1), "2 times less");
    assert_string_equal(format_change(text, 1, 0.589), "41% less");
    assert_string_equal(format_change(text, 1, 1.031), "3% more");
    assert_string_equal(format_change(text, 1, 2.5), "150% more");
    assert_string_equal(format_change(text, 1000, 1004), "the same");
    assert_string_equal(format_change(text, 1, 0), "100% less");
    assert_string_equal(format_change(text, 0, 0), "the same");
}

TEST(json_is_exact_and_utf8) {
    struct heap_model heap = {.known = 1ull << EDEN_FIGURE_allocated_bytes};
    heap.figures[EDEN_FIGURE_allocated_bytes] = (1ull << 53) + 1;
    memcpy(heap.name, "a\xff\xc3\xa9\xed\xa0\x80", 8);
    json_auto_t *json = heap_to_json(&(struct model){0}, &heap);
    assert_int_equal(json_integer_value(json_object_get(json, "allocated_bytes")), (1ll << 53) + 1);
    assert_true(json_is_null(json_object_get(json, "scavenges")));
    assert_true(json_is_null(json_object_get(json, "heap")));
    assert_string_equal(json_string_value(json_object_get(json, "name")), "a\uFFFD\xc3\xa9\uFFFD\uFFFD\uFFFD");
}

static struct heap_model *only_heap(struct model *model, uint64_t wall_ns, uint64_t gc_ns, uint64_t under_way_ns) {
    struct process_key key = {.start_ns = 1, .pid = 1};
    *model = (struct model){.wall_ns = wall_ns};
    struct process_model *process = model_process(model, &key);
    struct heap_model *heap = process ? model_heap(process, (struct heap_ref){0x1000, 1, 0}) : NULL;
    assert_non_null(heap);
    heap->known = 1ull << EDEN_FIGURE_gc_ns;
    struct phase_model *phase = model_phase(heap, EDEN_PHASE_full);
    assert_non_null(phase);
    phase->total_ns = gc_ns;
    heap->collection = (struct collection_model){.known = true, .under_way = under_way_ns, .observed_ns = under_way_ns};
    return heap;
}

/* Two copies of a library count their heaps from 1 at the same address. Without serials, address and number decide. */
TEST(a_serial_tells_heaps_of_one_number_apart) {
    struct model model __attribute__((cleanup(model_clear))) = {0};
    char text[HEAP_NUMBER];
    struct process_model *process = model_process(&model, &(struct process_key){.start_ns = 1, .pid = 1});
    const struct heap_ref refs[] = {{0x1000, 1, 7}, {0x1000, 2, 4}, {0x1000, 1, 3}, {0x1000, 0, 9},
                                    {0x1000, 0, 8}, {0x1000, 1, 0}, {0x2000, 1, 0}};
    enum { REFS = sizeof refs / sizeof *refs };
    static const char *const wanted[REFS] = {"?#8", "?#9", "1", "1", "1#3", "1#7", "2"};
    for (size_t i = 0; i < 2 * REFS; i++) {
        assert_non_null(model_heap(process, refs[i % REFS]));
    }
    assert_int_equal(process->heap_count, REFS);
    assert_int_equal(model_find_heap(process, (struct heap_ref){0x1000, 5, 9})->id, 0); /* its number is known now */
    assert_null(model_find_heap(process, (struct heap_ref){0x1000, 1, 5}));
    assert_null(model_find_heap(process, (struct heap_ref){0x1000, 2, 0}));
    model_sort_heaps(process);
    for (size_t i = 0; i < REFS; i++) {
        const struct heap_model *heap = &process->heaps[i];
        assert_string_equal(heap_number_text(text, heap->id, heap->suffix), wanted[i]);
    }
}

/* A collection from 40 to 460, seen at 100, 200, ..., 500; the program says 430, for its clock was read earlier. */
TEST(time_in_collections_stays_within_each_interval) {
    static const uint64_t wanted[] = {60, 160, 260, 360, 430};
    struct model model, before = {0};
    for (uint64_t i = 0; i < 5; i++) {
        struct heap_model *heap = only_heap(&model, 100 * (i + 1), i == 4 ? 430 : 0, i == 4 ? 0 : 100 * (i + 1) - 40);
        model_set_stopped(&model, i ? &before : NULL);
        assert_true(heap->stopped_known);
        assert_int_equal(heap->stopped_ns, wanted[i]);
        model_clear(&before);
        before = model;
    }
    model_clear(&before);
}

TEST(time_in_collections_is_clipped_and_carried) {
    struct model model, before;
    only_heap(&before, 100, 0, 0);
    model_set_stopped(&before, NULL);
    struct heap_model *heap = only_heap(&model, 200, 105, 0); /* 5 more than has passed */
    model_set_stopped(&model, &before);
    assert_int_equal(heap->stopped_ns, 100);
    model_clear(&before);
    before = model;
    heap = only_heap(&model, 300, 105, 0); /* they come now */
    model_set_stopped(&model, &before);
    assert_int_equal(heap->stopped_ns, 105);
    model_clear(&before);
    before = model;
    heap = only_heap(&model, 400, 90, 0); /* never less than was shown */
    model_set_stopped(&model, &before);
    assert_int_equal(heap->stopped_ns, 105);
    model_clear(&before);
    model_clear(&model);
}

/* A full collection that takes 50 so far, in mark for 20: its parts may report more, and so may those before it. */
TEST(parts_of_a_collection_stay_within_it) {
    struct model model;
    struct heap_model *heap = only_heap(&model, 100, 10, 50);
    const struct {
        enum eden_phase phase;
        uint64_t reported, observed, under_way;
    } parts[] = {
        {EDEN_PHASE_mark, 900, 40, 20}, {EDEN_PHASE_sweep, 900, 0, 0},          {EDEN_PHASE_compact__move, 900, 0, 0},
        {EDEN_PHASE_full, 10, 10, 50},  {EDEN_PHASE_scavenge__weak, 900, 0, 0},
    };
    enum { PARTS = sizeof parts / sizeof *parts };
    heap->collection.phase = EDEN_PHASE_mark;
    heap->collection.until_ns = 1000;
    heap->collection.phase_since_ns = 980;
    for (int i = 0; i < PARTS; i++) {
        assert_non_null(model_phase(heap, parts[i].phase));
        heap->phase[parts[i].phase]->total_ns = parts[i].reported;
    }
    for (int again = 0; again < 2; again++) {
        model_set_stopped(&model, NULL);
        assert_int_equal(heap->stopped_ns, 60);
        for (int i = 0; i < PARTS; i++) {
            const struct phase_model *phase = heap->phase[parts[i].phase];
            assert_int_equal(phase->total_ns, parts[i].reported);
            assert_int_equal(phase_observed_ns(phase), parts[i].observed);
            assert_int_equal(phase->under_way_ns, parts[i].under_way);
        }
    }
    model_clear(&model);
}

TEST(a_phase_that_begins_with_the_snapshot_has_taken_no_time) {
    const struct process_model process = {0};
    struct heap_model heap = {.collection = {.known = true, .under_way = true, .phase = EDEN_PHASE_mark}};
    char text[PHASE_NOW_MAX];
    assert_string_equal(phase_table_now(text, &process, &heap), "in full.mark for ?"); /* its start was not seen */
    heap.collection.phase_since_ns = heap.collection.until_ns = 1000;
    assert_string_equal(phase_table_now(text, &process, &heap), "in full.mark for 0 ns");
    heap.collection.until_ns = 999; /* what a header says of the time to come */
    assert_string_equal(phase_table_now(text, &process, &heap), "in full.mark for ?");
}

TEST(time_in_collections_lies_within_observation) {
    struct model model;
    struct heap_model *heap = only_heap(&model, 100, 5000, 0); /* attached when it had taken 4950 */
    struct phase_model *phase = heap->phase[EDEN_PHASE_full];
    phase->outside_ns = 4950;
    model_set_stopped(&model, NULL);
    assert_int_equal(heap->stopped_ns, 50);
    assert_int_equal(phase_observed_ns(phase), 50);
    phase->outside_ns = 6000;
    assert_int_equal(phase_observed_ns(phase), 0);
    phase->total_ns = UINT64_MAX;
    model_set_stopped(&model, NULL);
    assert_int_equal(heap->stopped_ns, 100);
    assert_int_equal(phase_observed_ns(phase), 100);
    assert_true(phase->total_ns == UINT64_MAX); /* as it was reported */
    heap->collection.known = false;
    model_set_stopped(&model, NULL);
    assert_false(heap->stopped_known);
    json_t *json = heap_to_json(&model, heap);
    assert_true(json_is_null(json_object_get(json, "stopped_ns")));
    assert_true(json_is_false(json_object_get(json_object_get(json, "collection"), "known")));
    json_decref(json);
    model_clear(&model);
}
