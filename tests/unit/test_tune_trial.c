/* Trials: what EDEN_STATS says is added up, and what it can't say is an error; a command is run, ended in time, and
 * leaves nothing. */
#include "interrupt.h"
#include "model.h"
#include "tune/trial.h"
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A line of EDEN_STATS in which each figure is `base` and its place; `without` is left out. */
static char *line_of(char *text, int pid, unsigned base, int without) {
    char *to = text + sprintf(text, "{\"pid\":%d,\"heap\":1,\"name\":\"x\"", pid);
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        if (i != without) {
            to += sprintf(to, ",\"%s\":%u", figure_names[i], base + (unsigned)i);
        }
    }
    to += sprintf(to, ",\"full_by_cause\":{");
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        to += sprintf(to, "%s\"%s\":%u", i ? "," : "", full_cause_names[i], base);
    }
    sprintf(to, "}}\n");
    return text;
}

static void test_stats(void **state) {
    (void)state;
    char text[8192], more[4096];
    struct trial_figures figures = {0};
    struct failure why;
    line_of(text, 10, 100, -1);
    strcat(text, line_of(more, 11, 40, -1));
    strcat(text, line_of(more, 11, 200, -1));
    assert_true(trial_read_stats(&figures, text, strlen(text), &why));
    assert_int_equal(figures.heaps, 3);
    assert_int_equal(figures.processes, 2);
    assert_int_equal(figures.figure[EDEN_FIGURE_gc_ns], 340 + 3 * EDEN_FIGURE_gc_ns);
    assert_int_equal(figures.figure[EDEN_FIGURE_max_pause_ns], 200 + EDEN_FIGURE_max_pause_ns);
    assert_int_equal(figures.figure[EDEN_FIGURE_eden_size], 200 + EDEN_FIGURE_eden_size);
    assert_int_equal(figures.full_by_cause[EDEN_FULL_LIMIT], 340);
}

static void test_bad_stats(void **state) {
    (void)state;
    static const char *const bad[] = {"not JSON\n", "[1]\n", "{\"pid\":1}\n", "{\"pid\":1,"};
    char text[4096];
    struct failure why;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct trial_figures figures = {0};
        why.message[0] = 0;
        assert_false(trial_read_stats(&figures, bad[i], strlen(bad[i]), &why));
        assert_non_null(strstr(why.message, "EDEN_STATS"));
    }
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        struct trial_figures figures = {0};
        line_of(text, 1, 5, i);
        assert_false(trial_read_stats(&figures, text, strlen(text), &why));
        assert_non_null(strstr(why.message, figure_names[i]));
    }
}

static enum trial_outcome run_shell(const char *script, uint64_t most_ns, struct trial_figures *figures,
                                    struct failure *why) {
    char name[] = "sh", option[] = "-c", *words = strdup(script);
    char *const command[] = {name, option, words, NULL};
    enum trial_outcome outcome = trial_run(command, "eden_size=2M", most_ns, figures, why);
    free(words);
    return outcome;
}

/* A shell stands for a program: it writes what a heap would. */
static void test_run(void **state) {
    (void)state;
    char line[4096], script[8192];
    struct trial_figures first, second;
    struct failure why;
    snprintf(script, sizeof script, "printf '%%s\\n' '%s' >>\"$EDEN_STATS\"; echo \"$EDEN_OPTIONS\"",
             strtok(line_of(line, 1, 7, -1), "\n"));
    assert_int_equal(run_shell(script, 0, &first, &why), TRIAL_RAN);
    assert_int_equal(run_shell(script, 0, &second, &why), TRIAL_RAN);
    assert_int_equal(first.heaps, 1);
    assert_int_equal(first.output_bytes, strlen("eden_size=2M\n"));
    assert_true(first.output_hash == second.output_hash);
    assert_true(first.wall_ns > 0 && first.cpu_ns > 0 && first.peak_bytes > 0);
    assert_int_equal(first.left_behind, 0);
    strcat(script, "; echo more");
    assert_int_equal(run_shell(script, 0, &second, &why), TRIAL_RAN);
    assert_true(first.output_hash != second.output_hash);
}

/* No child is left, neither running nor to be waited for. */
static void no_children(void) {
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void test_too_long(void **state) {
    (void)state;
    struct trial_figures figures;
    struct failure why;
    /* One child in the group, one in a session of its own, and one that can't be asked to end. */
    assert_int_equal(run_shell("sleep 1000 & setsid sleep 1000 & trap '' TERM; sleep 1000", 300000000, &figures, &why),
                     TRIAL_TOO_LONG);
    assert_non_null(strstr(why.message, "ended after 0.3 s"));
    no_children();
}

static void test_left_behind(void **state) {
    (void)state;
    struct trial_figures figures;
    struct failure why;
    assert_int_equal(run_shell("setsid sleep 1000 & sleep 1000 & exit 5", 0, &figures, &why), TRIAL_FAILED);
    assert_non_null(strstr(why.message, "status 5"));
    assert_int_equal(figures.left_behind, 2);
    no_children();
}

static void test_interrupted(void **state) {
    (void)state;
    struct trial_figures figures;
    struct failure why;
    interrupt_install();
    assert_int_equal(run_shell("kill -TERM $PPID; sleep 1000", 0, &figures, &why), TRIAL_INTERRUPTED);
    assert_int_equal(why.status, 128 + SIGTERM);
    no_children();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stats),    cmocka_unit_test(test_bad_stats),   cmocka_unit_test(test_run),
        cmocka_unit_test(test_too_long), cmocka_unit_test(test_left_behind), cmocka_unit_test(test_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
