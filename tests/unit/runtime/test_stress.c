/* stress=n: every n-th allocation collects, whatever its size; young objects move each time, each 16th collection is a
 * full one; it can be turned on and off while the heap lives, and leaves the inline path alone when it is off. */
#include "support.h"

static void allocate(const struct world *w, size_t count) {
    for (size_t i = 0; i < count; i++) {
        assert_true(eden_new(w->m, w->pair) != EDEN_NONE);
    }
}

TEST(every_nth_allocation_collects) {
    const uint64_t every[] = {1, 3, 100};
    for (size_t i = 0; i < sizeof every / sizeof every[0]; i++) {
        char parameters[64];
        snprintf(parameters, sizeof parameters, "eden_size=1M,stress=%llu", (unsigned long long)every[i]);
        WORLD(w, parameters);
        allocate(&w, every[i] - 1);
        assert_int_equal(figures_of(&w).scavenges, 0);
        allocate(&w, 1);
        assert_int_equal(figures_of(&w).scavenges, 1);
        allocate(&w, every[i] * 31);
        eden_figures figures = figures_of(&w);
        assert_int_equal(figures.scavenges, 32);
        assert_int_equal(figures.full_collections, 2);
    }
}

TEST(large_ones_count_too) {
    WORLD(w, "eden_size=64K,stress=2");
    for (int i = 0; i < 10; i++) {
        assert_true(eden_new_raw(w.m, w.bytes, 100 * KIB) != EDEN_NONE);
    }
    assert_int_equal(figures_of(&w).scavenges, 5);
}

TEST(young_objects_move) {
    WORLD(w, "policy=fixed,eden_size=1M,stress=1");
    EDEN_FRAME(w.m, local, 2);
    local[0] = eden_new(w.m, w.pair);
    for (int64_t i = 0; i < 14; i++) {
        eden_value before = local[0];
        eden_slot_set(w.m, local[0], 0, eden_int(i));
        allocate(&w, 1);
        assert_true(local[0] != before);
        assert_true(eden_slot(local[0], 0) == eden_int(i));
        assert_true(heap_is_young(w.heap, local[0]));
    }
}

TEST(stress_is_switched_on_and_off) {
    WORLD(w, "eden_size=1M");
    allocate(&w, 100);
    assert_int_equal(figures_of(&w).scavenges, 0);
    set_parameter(&w, "stress", "1");
    allocate(&w, 10);
    assert_int_equal(figures_of(&w).scavenges, 10);
    set_parameter(&w, "stress", "0");
    allocate(&w, 100);
    assert_int_equal(figures_of(&w).scavenges, 10);
    assert_true(CHECKED_BUILD || w.m->limit == w.heap->eden.limit);
    /* After an ordinary collection too, allocation must not slip by. */
    set_parameter(&w, "stress", "1");
    eden_scavenge(w.m);
    allocate(&w, 10);
    assert_int_equal(figures_of(&w).scavenges, 21);
    set_parameter(&w, "stress", "unset");
    allocate(&w, 10);
    assert_int_equal(figures_of(&w).scavenges, 21);
}
