/* The list of a program's tests, and its main(). */
#include "suite.h"

#include <errno.h>
#include <stdlib.h>

static struct suite_test *first;
static size_t count;
static CMFixtureFunction before_all, after_all;

void suite_add(struct suite_test *test) {
    struct suite_test **at = &first;
    while (*at && (*at)->line < test->line) {
        at = &(*at)->next;
    }
    test->next = *at;
    *at = test;
    count++;
}

void suite_around(CMFixtureFunction set_up, CMFixtureFunction tear_down) {
    before_all = set_up;
    after_all = tear_down;
}

int suite_run(void) {
    struct CMUnitTest *tests = calloc(count, sizeof *tests);
    if (!tests) {
        return 1;
    }
    size_t n = 0;
    for (const struct suite_test *test = first; test; test = test->next) {
        tests[n++] = test->test;
    }
    int failed = _cmocka_run_group_tests(program_invocation_short_name, tests, n, before_all, after_all);
    free(tests);
    return failed;
}

/* Weak: a test that is another program as well has its own. */
__attribute__((weak)) int main(void) { return suite_run(); }
