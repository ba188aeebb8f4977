/* What --on takes, and what fulfils it. */
#include "eden_enums.h"
#include "eden_probes.h"
#include "kernel/kernel.h"
#include "session/condition.h"
#include "suite.h"

TEST(conditions_have_a_kind_and_a_time) {
    static const struct {
        const char *text;
        enum condition_kind kind;
        uint64_t ns;
    } good[] = {{"pause>50ms", CONDITION_pause, 50000000},
                {"scavenge>500us", CONDITION_scavenge, 500000},
                {"full>1.5s", CONDITION_full, 1500000000},
                {"pause>0ns", CONDITION_pause, 0},
                {"failure", CONDITION_failure, 0}};
    static const char *const bad[] = {"",           "pause",      "pause>",     "pause>5",    "pause>5m",
                                      "pause>-1ms", "pause>ms",   "pause=5ms",  "failure>1s", "failures",
                                      "pauses>1ms", "Pause>1ms",  "pause>nans", "pause>infs", "pause>1e12s",
                                      "pause>5ms ", " pause>5ms", "pause> 5ms", "pause>0x5ms"};
    struct condition condition;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(condition_parse(good[i].text, &condition));
        assert_int_equal(condition.kind, good[i].kind);
        assert_int_equal(condition.ns, good[i].ns);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(condition_parse(bad[i], &condition));
    }
}

enum { MS = 1000000 };

struct seen {
    struct condition_watch *watch;
    const char *what;
    uint64_t ns;
};

static bool start(struct seen *seen, uint64_t serial, uint64_t cause) {
    struct event event = {.probe = EDEN_PROBE_scavenge__start, .args = EDEN_PROBE_MAX_ARGS, .serial = serial};
    EDEN_ARG(event.arg, scavenge__start, cause) = cause;
    return condition_holds(seen->watch, &event, &seen->what, &seen->ns);
}

static bool scavenge(struct seen *seen, uint64_t serial, uint64_t ns) {
    struct event event = {.probe = EDEN_PROBE_scavenge__done, .args = EDEN_PROBE_MAX_ARGS, .serial = serial};
    EDEN_ARG(event.arg, scavenge__done, duration) = ns;
    return condition_holds(seen->watch, &event, &seen->what, &seen->ns);
}

static bool full(struct seen *seen, uint64_t serial, uint64_t ns) {
    struct event event = {.probe = EDEN_PROBE_full__done, .args = EDEN_PROBE_MAX_ARGS, .serial = serial};
    EDEN_ARG(event.arg, full__done, duration) = ns;
    return condition_holds(seen->watch, &event, &seen->what, &seen->ns);
}

TEST(a_pause_is_a_full_collection_with_its_scavenge) {
    const struct condition conditions[] = {{CONDITION_pause, 10 * MS}};
    struct seen seen = {.watch = condition_watch(conditions, 1)};
    assert_non_null(seen.watch);
    assert_false(start(&seen, 1, EDEN_SCAVENGE_EDEN));
    assert_false(scavenge(&seen, 1, 10 * MS)); /* not longer */
    assert_true(scavenge(&seen, 1, 10 * MS + 1));
    assert_int_equal(seen.ns, 10 * MS + 1);
    assert_false(start(&seen, 1, EDEN_SCAVENGE_FULL));
    assert_false(scavenge(&seen, 1, 6 * MS));
    assert_false(full(&seen, 2, 6 * MS)); /* another heap's */
    assert_true(full(&seen, 1, 6 * MS));
    assert_int_equal(seen.ns, 12 * MS);
    assert_string_equal(seen.what, "pause");
    assert_false(full(&seen, 1, 6 * MS)); /* the scavenge counts once */
    assert_false(start(&seen, 1, EDEN_SCAVENGE_FULL));
    assert_false(scavenge(&seen, 1, 20 * MS)); /* the pause goes on */
    assert_true(full(&seen, 1, UINT64_MAX));
    assert_int_equal(seen.ns, UINT64_MAX);
    condition_watch_free(seen.watch);
}

/* A start that was lost: what comes then is judged by itself. */
TEST(a_scavenge_after_a_full_collection_is_a_pause) {
    const struct condition conditions[] = {{CONDITION_pause, 10 * MS}};
    struct seen seen = {.watch = condition_watch(conditions, 1)};
    assert_false(start(&seen, 1, EDEN_SCAVENGE_FULL));
    assert_false(scavenge(&seen, 1, 6 * MS));
    assert_true(full(&seen, 1, 6 * MS));
    assert_true(scavenge(&seen, 1, 11 * MS));
    assert_false(full(&seen, 1, 6 * MS));
    for (uint64_t heap = 1; heap <= KERNEL_HEAPS + 1000; heap++) { /* more at a time than are remembered */
        assert_false(start(&seen, heap, EDEN_SCAVENGE_FULL));
    }
    assert_false(scavenge(&seen, KERNEL_HEAPS + 999, 6 * MS));
    assert_true(full(&seen, KERNEL_HEAPS + 999, 6 * MS));
    condition_watch_free(seen.watch);
}

/* Heaps of another process begin collections without end, or end themselves, or are not in the figures. */
TEST(others_displace_no_pause) {
    const struct condition conditions[] = {{CONDITION_pause, 10 * MS}};
    struct seen seen = {.watch = condition_watch(conditions, 1)};
    struct event destroy = {.probe = EDEN_PROBE_heap__destroy};
    assert_false(start(&seen, 1, EDEN_SCAVENGE_FULL));
    for (uint64_t heap = 2; heap <= KERNEL_HEAPS; heap++) {
        assert_false(start(&seen, heap, EDEN_SCAVENGE_FULL));
    }
    for (uint64_t heap = 2; heap < 3 * KERNEL_HEAPS; heap++) {
        destroy.serial = heap;
        assert_false(condition_holds(seen.watch, &destroy, &seen.what, &seen.ns));
        assert_false(start(&seen, heap + KERNEL_HEAPS - 1, EDEN_SCAVENGE_FULL));
        assert_false(start(&seen, 0, EDEN_SCAVENGE_FULL));
    }
    assert_false(scavenge(&seen, 0, 6 * MS));
    assert_false(full(&seen, 0, 6 * MS));
    assert_false(scavenge(&seen, 1, 6 * MS));
    assert_true(full(&seen, 1, 6 * MS));
    assert_int_equal(seen.ns, 12 * MS);
    condition_watch_free(seen.watch);
}

TEST(any_of_the_conditions_is_enough) {
    const struct condition conditions[] = {
        {CONDITION_full, 10 * MS}, {CONDITION_scavenge, 5 * MS}, {CONDITION_failure, 0}};
    struct seen seen = {.watch = condition_watch(conditions, 3)};
    const struct event failure = {.probe = EDEN_PROBE_alloc__failed}, other = {.probe = EDEN_PROBE_COUNT + 1},
                       without = {.probe = EDEN_PROBE_full__done, .args = 1, .arg = {0, UINT64_MAX, UINT64_MAX}};
    assert_false(start(&seen, 1, EDEN_SCAVENGE_FULL));
    assert_true(scavenge(&seen, 1, 6 * MS)); /* also the one before a full collection */
    assert_string_equal(seen.what, "scavenge");
    assert_false(full(&seen, 1, 9 * MS)); /* by itself */
    assert_true(full(&seen, 1, 11 * MS));
    assert_true(condition_holds(seen.watch, &failure, &seen.what, &seen.ns));
    assert_int_equal(seen.ns, 0);
    assert_false(condition_holds(seen.watch, &other, &seen.what, &seen.ns));
    assert_false(
        condition_holds(seen.watch, &without, &seen.what, &seen.ns)); /* an older runtime's, without duration */
    condition_watch_free(seen.watch);
}
