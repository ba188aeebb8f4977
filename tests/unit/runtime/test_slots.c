/* Bulk stores: the slots hold what single stores would leave there, and so does the remembered set. */
#include "support.h"

enum { SMALL = 100, LARGE = 1000 };

static void assert_same(eden_value one, eden_value other) {
    assert_int_equal(eden_slot_count(one), eden_slot_count(other));
    for (size_t i = 0; i < eden_slot_count(one); i++) {
        assert_true(eden_slot(one, i) == eden_slot(other, i));
    }
}

/* The remembered set and the slots after a bulk store of random ranges are those after single ones. */
TEST(equal_single_stores) {
    static const char *const parameters[] = {"eden_size=1M,full_gc_ratio=inf,remembered_set=card",
                                             "eden_size=1M,full_gc_ratio=inf,remembered_set=object"};
    static const size_t sizes[] = {SMALL, LARGE};
    for (size_t p = 0; p < 2; p++) {
        for (size_t s = 0; s < 2; s++) {
            WORLD(w, parameters[p]);
            EDEN_FRAME(w.m, local, 4);
            size_t n = sizes[s];
            make_old_array(&w, &local[0], n);
            make_old_array(&w, &local[1], n);
            local[2] = eden_new(w.m, w.pair);
            local[3] = local[0];
            uint64_t random = 17 + s;
            for (int round = 0; round < 60; round++) {
                eden_value values[LARGE];
                size_t index = next_random(&random) % n, count = next_random(&random) % (n - index + 1);
                uint64_t before = figures_of(&w).remembered;
                for (size_t i = 0; i < count; i++) {
                    const eden_value kinds[] = {local[2], local[3], EDEN_NONE, eden_int(round)};
                    values[i] = kinds[next_random(&random) % (round % 3 == 0 ? 4 : 40) % 4];
                    eden_slot_set(w.m, local[0], index + i, values[i]);
                }
                uint64_t single = figures_of(&w).remembered;
                eden_slots_set(w.m, local[1], index, values, count);
                assert_int_equal(figures_of(&w).remembered - single, single - before);
                if (round % 4 == 3) {
                    eden_scavenge(w.m); /* forgets those without young references */
                    verify(&w);
                }
                assert_same(local[0], local[1]);
            }
            assert_true(figures_of(&w).remembered != 0);
        }
    }
}

TEST(copies_may_overlap) {
    for (int old = 0; old <= 1; old++) {
        WORLD(w, "eden_size=1M,full_gc_ratio=inf");
        EDEN_FRAME(w.m, local, 2);
        if (old) {
            make_old_array(&w, &local[0], LARGE);
        } else {
            local[0] = eden_new_slots(w.m, w.array, LARGE);
        }
        eden_value model[LARGE];
        for (size_t i = 0; i < LARGE; i++) {
            eden_value pair = eden_new(w.m, w.pair);
            eden_slot_set(w.m, pair, 0, eden_int((int64_t)i));
            eden_slot_set(w.m, local[0], i, pair);
            model[i] = eden_int((int64_t)i);
        }
        uint64_t random = 5;
        for (int round = 0; round < 40; round++) {
            size_t to = next_random(&random) % LARGE, from = next_random(&random) % LARGE;
            size_t count = next_random(&random) % (LARGE - (to > from ? to : from) + 1);
            eden_slots_copy(w.m, local[0], to, local[0], from, count);
            memmove(model + to, model + from, count * sizeof *model);
            if (round % 8 == 0) {
                eden_scavenge(w.m);
                verify(&w);
            }
            for (size_t i = 0; i < LARGE; i++) {
                assert_true(eden_slot(eden_slot(local[0], i), 0) == model[i]);
            }
        }
    }
}

/* A vector that grows, as an interpreter does it: from young to old, whose elements are young. */
TEST(copies_from_young_to_old_are_remembered) {
    WORLD(w, "eden_size=1M,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 2);
    make_old_array(&w, &local[1], SMALL);
    local[0] = eden_new_slots(w.m, w.array, SMALL / 2);
    local[0] = eden_new_slots(w.m, w.mixed, SMALL / 2); /* fixed slots count, too */
    for (size_t i = 0; i < SMALL / 2 + 2; i++) {
        eden_value pair = eden_new(w.m, w.pair);
        eden_slot_set(w.m, pair, 1, eden_int((int64_t)i));
        eden_slot_set(w.m, local[0], i, pair);
    }
    assert_int_equal(figures_of(&w).remembered, 0);
    eden_slots_copy(w.m, local[1], 3, local[0], 0, SMALL / 2 + 2);
    assert_int_equal(figures_of(&w).remembered, 1);
    eden_slots_copy(w.m, local[1], 3, local[0], 0, SMALL / 2 + 2);
    assert_int_equal(figures_of(&w).remembered, 1);
    local[0] = EDEN_NONE;
    eden_scavenge(w.m);
    for (size_t i = 0; i < SMALL / 2 + 2; i++) {
        assert_true(eden_slot(eden_slot(local[1], i + 3), 1) == eden_int((int64_t)i));
    }
}

TEST(nothing_is_stored_where_the_count_is_0) {
    WORLD(w, "eden_size=1M,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 2);
    local[0] = eden_new(w.m, w.pair);
    local[1] = eden_new(w.m, w.empty);
    eden_slot_set(w.m, local[0], 1, eden_int(1));
    eden_slots_set(w.m, local[0], 2, NULL, 0);
    eden_slots_set(w.m, local[1], 0, NULL, 0);
    eden_slots_copy(w.m, local[0], 2, local[1], 0, 0);
    assert_true(eden_slot(local[0], 1) == eden_int(1));
}

/* The remembered set can't grow: the next scavenge looks at all of old space. */
TEST(nothing_is_lost_where_memory_is_refused) {
    static const char *const parameters[] = {"eden_size=1M,full_gc_ratio=inf,remembered_set=card",
                                             "eden_size=1M,full_gc_ratio=inf,remembered_set=object"};
    static const size_t sizes[] = {SMALL, LARGE};
    for (size_t p = 0; p < 4; p++) {
        struct refusal refusal = {LONG_MAX, LONG_MAX, 0};
        WORLD_REFUSING(w, parameters[p / 2], &refusal);
        EDEN_FRAME(w.m, local, 2);
        size_t n = sizes[p % 2];
        make_old_array(&w, &local[0], n);
        eden_value values[LARGE];
        for (size_t i = 0; i < n; i++) {
            values[i] = eden_new(w.m, w.pair);
            eden_slot_set(w.m, values[i], 0, eden_int((int64_t)i));
        }
        refusal.from = refusal.seen + 1;
        eden_slots_set(w.m, local[0], 0, values, n);
        assert_true(w.heap->remembered.is_incomplete);
        verify(&w);
        refusal.from = LONG_MAX;
        eden_scavenge(w.m);
        verify(&w);
        for (size_t i = 0; i < n; i++) {
            assert_true(eden_slot(eden_slot(local[0], i), 0) == eden_int((int64_t)i));
        }
    }
}
