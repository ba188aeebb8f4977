/* Sums, and whole numbers, of what traced processes supply. */
#include "util/format.h"
#include "util/sum.h"
#include "util/whole.h"
#include "views/metrics.h"
#include "views/report.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

TEST(sum_stays_at_the_largest) {
    uint64_t sum = 1000000;
    sum_add(&sum, UINT64_MAX - 999999); /* 0, where it wraps around */
    assert_true(sum == UINT64_MAX);
    sum_add(&sum, 1);
    assert_true(sum == UINT64_MAX);
}

TEST(whole_numbers_end_at_the_largest) {
    assert_true(whole_of(0x1p64) == UINT64_MAX && whole_of(INFINITY) == UINT64_MAX);
    assert_true(whole_of(0x1.fffffffffffffp63) == UINT64_MAX - 2047);
    assert_true(whole_of(1.99) == 1);
    assert_true(whole_of(-1) == 0 && whole_of(-INFINITY) == 0 && whole_of(NAN) == 0);
}

/* ---- models whose counts are all HUGE: the sum of two is small where it wraps around ---------------------------- */

#define HUGE ((1ull << 63) + 1000003)
enum { HEAPS = 2 };

static void enlarge(void *counts, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof(uint64_t); i++) {
        ((uint64_t *)counts)[i] = HUGE;
    }
}

static void enlarge_heap(struct heap_model *heap) {
    heap->known = UINT64_MAX;
    heap->stopped_known = true;
    enlarge(heap->figures, sizeof heap->figures);
    enlarge(heap->before, sizeof heap->before);
    enlarge(heap->full_by_cause, sizeof heap->full_by_cause);
    enlarge(heap->full_by_cause_before, sizeof heap->full_by_cause_before);
    enlarge(&heap->stopped_ns, sizeof heap->stopped_ns);
    for (enum eden_phase i = 0; i < EDEN_PHASE_COUNT; i++) {
        struct phase_model *phase = model_phase(heap, i);
        assert_non_null(phase);
        enlarge(phase, sizeof *phase);
        phase->missing = phase->missing_ns = 0;
    }
}

static struct model huge_model(void) {
    struct model model = {0};
    struct process_model *process = model_process(&model, &(struct process_key){.start_ns = 1, .pid = 1});
    assert_non_null(process);
    for (uint64_t i = 1; i <= HEAPS; i++) {
        struct heap_model *heap = model_heap(process, (struct heap_ref){i, i, i});
        assert_non_null(heap);
        enlarge_heap(heap);
    }
    return model;
}

static void assert_largest(const void *sums, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof(uint64_t); i++) {
        assert_true(((const uint64_t *)sums)[i] == UINT64_MAX);
    }
}

static void assert_total_phase(const struct phase_model *phase) {
    const uint64_t sums[] = {phase->calls, phase->total_ns,   phase->objects,
                             phase->bytes, phase->outside_ns, phase->under_way_ns};
    assert_largest(sums, sizeof sums);
    assert_largest(phase->buckets, sizeof phase->buckets);
    assert_largest(phase->pauses.ns, sizeof phase->pauses.ns);
    assert_true(phase->pauses.faults == UINT64_MAX && phase->pauses.disk_faults == UINT64_MAX);
    assert_true(phase->max_ns == HUGE && phase_percentile(phase, 50) == histogram_upper(0));
}

/* One process's figures do not cancel another's. */
TEST(total_of_heaps_does_not_wrap) {
    struct model model __attribute__((cleanup(model_clear))) = huge_model();
    struct heap_model total;
    assert_true(report_total(&model, &total));
    for (enum eden_figure i = 0; i < EDEN_FIGURE_COUNT; i++) {
        const uint64_t wanted = figure_descriptions[i].kind == KIND_max ? HUGE : UINT64_MAX;
        assert_true(total.figures[i] == wanted && total.before[i] == wanted);
    }
    assert_largest(total.full_by_cause, sizeof total.full_by_cause);
    assert_largest(total.full_by_cause_before, sizeof total.full_by_cause_before);
    assert_largest(&total.stopped_ns, sizeof total.stopped_ns);
    for (int i = 0; i < EDEN_PHASE_COUNT; i++) {
        assert_total_phase(total.phase[i]);
    }
    report_total_clear(&total);
}

TEST(percentiles_of_large_counts_are_none_of_none) {
    struct phase_model phase = {.max_ns = UINT64_MAX};
    phase.buckets[10] = phase.buckets[20] = 1ull << 63;
    assert_int_equal(phase_percentile(&phase, 50), histogram_upper(10));
    assert_int_equal(phase_percentile(&phase, 99), histogram_upper(20));
    phase.buckets[10] = 1;
    assert_int_equal(phase_percentile(&phase, 50), histogram_upper(20));
}

TEST(losses_do_not_wrap) {
    struct model_losses all = {HUGE, HUGE, HUGE};
    model_add_losses(&all, &(struct model_losses){HUGE, HUGE, HUGE});
    assert_largest(&all, sizeof all);
}

/* Of a line's value; seconds are nanoseconds with a point in them. */
static uint64_t digits_of(const char *at) {
    char digits[32] = "";
    for (size_t i = 0; *at && *at != '\n' && i + 1 < sizeof digits; at++) {
        if (isdigit((unsigned char)*at)) {
            digits[i++] = *at;
        }
    }
    return strtoull(digits, NULL, 10);
}

/* Heaps of one name are one series, and so are those that have ended. */
TEST(metrics_do_not_wrap) {
    struct model model __attribute__((cleanup(model_clear))) = huge_model(), none = {0};
    size_t size, largest = 0;
    struct metrics *metrics = metrics_open();
    assert_non_null(metrics);
    for (int ended = 0; ended <= 2; ended++) {
        char *text = NULL;
        FILE *out = open_memstream(&text, &size);
        assert_non_null(out);
        assert_true(ended == 0 || metrics_add_ended(metrics, &model, false));
        assert_true(metrics_print(metrics, out, ended ? &none : &model, &(struct metrics_tool){0},
                                  &(struct metrics_format){0}));
        assert_int_equal(fclose(out), 0);
        for (const char *at = text; (at = strstr(at, "} ")); at++) {
            const uint64_t value = digits_of(at + 2);
            if (value > HEAPS && value != HUGE && value != UINT64_MAX) {
                fail_msg("%.*s", (int)strcspn(at, "\n"), at);
            }
            largest += value == UINT64_MAX;
        }
        free(text);
    }
    metrics_close(metrics);
    assert_true(largest > EDEN_FIGURE_COUNT + EDEN_PHASE_COUNT);
}
