/* Sums of counts that traced processes supply. */
#include "util/sum.h"
#include "views/report.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void sum_stays_at_the_largest(void **state) {
    (void)state;
    uint64_t sum = 1000000;
    sum_add(&sum, UINT64_MAX - 999999); /* 0, where it wraps around */
    assert_true(sum == UINT64_MAX);
    sum_add(&sum, 1);
    assert_true(sum == UINT64_MAX);
}

/* One process's figures do not cancel another's. */
static void total_of_heaps_does_not_wrap(void **state) {
    (void)state;
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum_stays_at_the_largest),
        cmocka_unit_test(total_of_heaps_does_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
