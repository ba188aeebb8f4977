/* Histograms, percentiles, number formats, and JSON of names that are no text. */
#include "format.h"
#include "model.h"
#include "model_json.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void buckets_are_in_order_and_narrow(void **state) {
    (void)state;
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

static void percentiles_are_nearest_ranks(void **state) {
    (void)state;
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

static void numbers_are_short(void **state) {
    (void)state;
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

static void json_is_exact_and_utf8(void **state) {
    (void)state;
    struct heap_model heap = {.known = 1ull << EDEN_FIGURE_allocated_bytes};
    heap.figures[EDEN_FIGURE_allocated_bytes] = (1ull << 53) + 1;
    memcpy(heap.name, "a\xff\xc3\xa9\xed\xa0\x80", 8);
    json_t *json = heap_to_json(&heap);
    assert_int_equal(json_integer_value(json_object_get(json, "allocated_bytes")), (1ll << 53) + 1);
    assert_true(json_is_null(json_object_get(json, "scavenges")));
    assert_true(json_is_null(json_object_get(json, "heap")));
    assert_string_equal(json_string_value(json_object_get(json, "name")), "a\uFFFD\xc3\xa9\uFFFD\uFFFD\uFFFD");
    json_decref(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_are_in_order_and_narrow),
        cmocka_unit_test(percentiles_are_nearest_ranks),
        cmocka_unit_test(numbers_are_short),
        cmocka_unit_test(json_is_exact_and_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
