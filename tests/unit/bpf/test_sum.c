/* Sums, and whole numbers, of what traced processes supply. */
#include "util/sum.h"
#include "util/whole.h"
#include "views/report.h"
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

/* One process's figures do not cancel another's. */
TEST(total_of_heaps_does_not_wrap) {
    struct heap_model heaps[] = {{.known = UINT64_MAX}, {.known = UINT64_MAX}};
    heaps[0].figures[EDEN_FIGURE_scavenges] = 1000000;
    heaps[1].figures[EDEN_FIGURE_scavenges] = UINT64_MAX - 999999;
    struct process_model process = {.heaps = heaps, .heap_count = 2};
    struct model model = {.processes = &process, .process_count = 1};
    struct heap_model total;
    assert_true(report_total(&model, &total));
    assert_true(total.figures[EDEN_FIGURE_scavenges] == UINT64_MAX);
    report_total_clear(&total);
}
