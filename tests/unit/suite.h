/* The tests of one program: TEST(name) { ... } defines a test and registers it, and suite.c has the main() that runs
 * them in the order of their lines. It comes after other headers, for cmocka's macros have short names. */
#ifndef EDEN_TESTS_SUITE_H
#define EDEN_TESTS_SUITE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

struct suite_test {
    struct CMUnitTest test;
    int line;
    struct suite_test *next;
};

void suite_add(struct suite_test *test);
/* Around all tests of the program; either may be NULL. */
void suite_around(CMFixtureFunction set_up, CMFixtureFunction tear_down);
/* Runs them; returns the number of those that failed. */
int suite_run(void);

#define TEST_WITH(name, set_up, tear_down)                                                                             \
    static void name(void **state);                                                                                    \
    __attribute__((constructor)) static void suite_add_##name(void) {                                                  \
        static struct suite_test test = {{#name, name, set_up, tear_down, NULL}, __LINE__, NULL};                      \
        suite_add(&test);                                                                                              \
    }                                                                                                                  \
    static void name(__attribute__((unused)) void **state)
#define TEST(name) TEST_WITH(name, NULL, NULL)

static inline void assert_near(double value, double wanted, double within) {
    if (!(fabs(value - wanted) <= within)) {
        fail_msg("%.9g is not %.9g within %g", value, wanted, within);
    }
}

/* For __attribute__((cleanup(free_at))): frees what a variable points to. */
static inline void free_at(void *variable) { free(*(void **)variable); }

#define SUITE(set_up, tear_down)                                                                                       \
    __attribute__((constructor)) static void suite_surround(void) { suite_around(set_up, tear_down); }

#endif
