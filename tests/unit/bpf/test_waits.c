/* The budget for the time that processes make the tool wait: util/waits.c. */
#include "suite.h"
#include "util/waits.h"

#define SECOND 1000000000u

/* Who has cost too much is not waited for, until a hundred times as long has passed; others are. */
TEST(an_owner_pays_for_its_waits) {
    struct waits waits __attribute__((cleanup(waits_clear))) = {0};
    uint64_t now = SECOND;
    assert_true(waits_allow(&waits, 1000, now));
    waits_charge(&waits, 1000, SECOND);
    assert_false(waits_allow(&waits, 1000, now));
    assert_true(waits_allow(&waits, 0, now));
    now += 49ull * SECOND;
    assert_false(waits_allow(&waits, 1000, now));
    now += 2ull * SECOND;
    assert_true(waits_allow(&waits, 1000, now));
}

/* Being asked often does not bring the cost down. */
TEST(asking_often_does_not_lower_the_cost) {
    struct waits waits __attribute__((cleanup(waits_clear))) = {0};
    assert_true(waits_allow(&waits, 7, 0));
    waits_charge(&waits, 7, SECOND);
    for (uint64_t now = 0; now < 49ull * SECOND; now += SECOND / 10) {
        assert_false(waits_allow(&waits, 7, now));
    }
}

/* An hour without a wait saves for none. */
TEST(nothing_is_saved_for_waits) {
    struct waits waits __attribute__((cleanup(waits_clear))) = {0};
    assert_true(waits_allow(&waits, 7, 0));
    assert_true(waits_allow(&waits, 7, 3600ull * SECOND));
    waits_charge(&waits, 7, SECOND);
    assert_false(waits_allow(&waits, 7, 3600ull * SECOND));
}

/* Small waits add up. */
TEST(small_waits_add_up) {
    struct waits waits __attribute__((cleanup(waits_clear))) = {0};
    int allowed = 0;
    while (allowed < 1000 && waits_allow(&waits, 7, SECOND)) {
        waits_charge(&waits, 7, WAITS_NS / 10);
        allowed++;
    }
    assert_int_equal(allowed, 11);
}

/* Waiting for a processor is charged to nobody; a clock that goes back, as of another worker, spares nobody. */
TEST(waiting_for_a_processor_costs_nothing) {
    assert_int_equal(waits_cost(100, 50, 50), 100);
    assert_int_equal(waits_cost(100, 50, 90), 60);
    assert_int_equal(waits_cost(100, 50, 200), 0);
    assert_int_equal(waits_cost(100, 50, 10), 100);
}
