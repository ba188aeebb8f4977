/* The write barrier and the remembered set: every old object with a young reference is there, once, and is counted. */
#include "support.h"

static void assert_remembered(const struct world *w, uint64_t now, uint64_t remembered, uint64_t forgotten) {
    eden_figures figures = figures_of(w);
    assert_int_equal(w->heap->remembered.count, now);
    assert_int_equal(figures.remembered, remembered);
    assert_int_equal(figures.forgotten, forgotten);
}

TEST(a_store_is_remembered_once) {
    WORLD(w, "eden_size=1M,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 2);
    make_old_array(&w, &local[0], 10);
    eden_figures before = figures_of(&w);
    assert_int_equal(before.remembered, 0);
    for (size_t i = 0; i < 10; i++) {
        eden_value pair = eden_new(w.m, w.pair);
        eden_slot_set(w.m, pair, 0, eden_int((int64_t)i));
        eden_slot_set(w.m, local[0], i, pair);
    }
    assert_remembered(&w, 1, 1, 0);
    eden_scavenge(w.m);
    assert_remembered(&w, 1, 1, 0); /* it still refers to young ones */
    for (size_t i = 0; i < 10; i++) {
        assert_true(eden_slot(eden_slot(local[0], i), 0) == eden_int((int64_t)i));
    }
    for (size_t i = 0; i < 10; i++) {
        eden_slot_set(w.m, local[0], i, EDEN_NONE);
    }
    assert_remembered(&w, 1, 1, 0); /* stores never forget */
    eden_scavenge(w.m);
    assert_remembered(&w, 0, 1, 1);
    assert_int_equal(count_objects(&w), 1);
}

TEST(stores_without_young_references_are_not_remembered) {
    WORLD(w, "eden_size=1M,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 3);
    local[1] = eden_new(w.m, w.pair);
    make_old_array(&w, &local[0], 10);
    local[2] = eden_new(w.m, w.pair);
    assert_true(is_old(&w, local[1]) && !is_old(&w, local[2]));
    eden_slot_set(w.m, local[0], 0, local[1]);    /* old to old */
    eden_slot_set(w.m, local[2], 0, local[1]);    /* young to old */
    eden_slot_set(w.m, local[2], 1, local[2]);    /* young to young */
    eden_slot_set(w.m, local[0], 1, eden_int(1)); /* old to immediates */
    eden_slot_set(w.m, local[0], 2, eden_char(1));
    eden_slot_set(w.m, local[0], 3, eden_float(1));
    eden_slot_set(w.m, local[0], 4, EDEN_NONE);
    assert_remembered(&w, 0, 0, 0);
}

/* An immediate with the bits of a young address is neither remembered nor followed. */
TEST(immediates_that_look_like_addresses_are_not_followed) {
    WORLD(w, "eden_size=1M,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 3);
    make_old_array(&w, &local[0], 16);
    local[1] = eden_new_slots(w.m, w.array, 16);
    local[2] = eden_new(w.m, w.pair);
    eden_value fakes[16];
    for (size_t i = 0; i < 16; i++) {
        const uint64_t tags[] = {EDEN_TAG_INT, EDEN_TAG_CHAR, EDEN_TAG_FLOAT};
        fakes[i] = (i % 2 == 0 ? local[2] : local[0]) + tags[i % 3];
        eden_slot_set(w.m, local[0], i, fakes[i]);
        eden_slot_set(w.m, local[1], i, fakes[i]);
    }
    assert_remembered(&w, 0, 0, 0);
    for (int round = 0; round < 4; round++) {
        round < 2 ? eden_scavenge(w.m) : eden_full_collect(w.m);
        verify(&w);
        for (size_t i = 0; i < 16; i++) {
            assert_true(eden_slot(local[0], i) == fakes[i]);
            assert_true(eden_slot(local[1], i) == fakes[i]);
        }
    }
    assert_int_equal(count_objects(&w), 3);
}

/* Makes an array of `count` pairs, all old, and ends tenuring; may collect. */
static void make_holders(struct world *w, eden_value *root, size_t count) {
    *root = eden_new_slots(w->m, w->array, count);
    for (size_t i = 0; i < count; i++) {
        eden_value pair = eden_new(w->m, w->pair);
        eden_slot_set(w->m, *root, i, pair);
    }
    eden_scavenge(w->m);
    eden_scavenge(w->m);
    assert_true(is_old(w, *root) && is_old(w, eden_slot(*root, count - 1)));
    set_parameter(w, "tenure_proportion", "0");
    w->heap->tenure_threshold = 0;
}

TEST(many_holders_are_counted_exactly) {
    enum { HOLDERS = 1000 };
    WORLD(w, "eden_size=1M,full_gc_ratio=inf,tenure_fill=0,tenure_proportion=1");
    EDEN_FRAME(w.m, local, 2);
    make_holders(&w, &local[0], HOLDERS);
    assert_remembered(&w, 0, 0, 0);
    local[1] = eden_new(w.m, w.pair);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < HOLDERS; i += 2) {
            eden_slot_set(w.m, eden_slot(local[0], i), (size_t)round % 2, local[1]);
        }
    }
    assert_remembered(&w, HOLDERS / 2, HOLDERS / 2, 0);
    eden_scavenge(w.m);
    assert_remembered(&w, HOLDERS / 2, HOLDERS / 2, 0);
    /* Half of them stop. */
    for (size_t i = 0; i < HOLDERS; i += 4) {
        eden_slot_set(w.m, eden_slot(local[0], i), 0, EDEN_NONE);
        eden_slot_set(w.m, eden_slot(local[0], i), 1, EDEN_NONE);
    }
    eden_scavenge(w.m);
    assert_remembered(&w, HOLDERS / 4, HOLDERS / 2, HOLDERS / 4);
    /* Remembered ones that die leave the set at a full collection. */
    for (size_t i = 0; i < HOLDERS; i++) {
        eden_slot_set(w.m, local[0], i, EDEN_NONE);
    }
    eden_scavenge(w.m);
    assert_remembered(&w, HOLDERS / 4, HOLDERS / 2, HOLDERS / 4);
    eden_full_collect(w.m);
    assert_remembered(&w, 0, HOLDERS / 2, HOLDERS / 2);
    assert_int_equal(figures_of(&w).remembered_now, 0);
}

/* Tenured while it refers to young objects: remembered, and counted in the figures. */
TEST(tenured_with_young_references_is_remembered) {
    WORLD(w, "eden_size=64K,full_gc_ratio=inf,tenure_fill=0,tenure_proportion=0.01");
    EDEN_FRAME(w.m, local, 1);
    local[0] = eden_new(w.m, w.pair);
    eden_scavenge(w.m); /* now below the threshold of the next scavenge */
    eden_value young = eden_new(w.m, w.pair);
    eden_slot_set(w.m, young, 0, eden_int(9));
    eden_slot_set(w.m, local[0], 1, young);
    assert_remembered(&w, 0, 0, 0);
    eden_scavenge(w.m);
    assert_true(is_old(&w, local[0]));
    assert_false(is_old(&w, eden_slot(local[0], 1)));
    assert_true(eden_slot(eden_slot(local[0], 1), 0) == eden_int(9));
    assert_remembered(&w, 1, 1, 0);
}

/* If the set cannot grow, stores still can't fail: the next scavenge looks at all of old space. */
TEST(a_set_that_cannot_grow_loses_no_store) {
    enum { HOLDERS = 200 };
    struct refusal refusal = {0, 0, 0};
    WORLD_REFUSING(w, "eden_size=1M,full_gc_ratio=inf,tenure_fill=0,tenure_proportion=1", &refusal);
    EDEN_FRAME(w.m, local, 2);
    make_holders(&w, &local[0], HOLDERS);
    for (int round = 0; round < 2; round++) {
        refusal = (struct refusal){1, LONG_MAX, 0};
        for (size_t i = 0; i < HOLDERS; i++) {
            eden_value young = eden_new(w.m, w.pair);
            eden_slot_set(w.m, young, 0, eden_int((int64_t)i));
            eden_slot_set(w.m, eden_slot(local[0], i), 1, young);
        }
        assert_true(w.heap->remembered.is_incomplete);
        size_t room = w.heap->remembered.room;
        assert_int_equal(w.heap->remembered.count, room);
        if (round == 0) {
            refusal.to = 0; /* memory is back: the scavenge remembers what it finds */
        }
        eden_scavenge(w.m);
        verify(&w);
        if (round == 0) {
            assert_false(w.heap->remembered.is_incomplete);
            assert_int_equal(w.heap->remembered.count, HOLDERS);
        }
        for (size_t i = 0; i < HOLDERS; i++) {
            assert_true(eden_slot(eden_slot(eden_slot(local[0], i), 1), 0) == eden_int((int64_t)i));
            eden_slot_set(w.m, eden_slot(local[0], i), 1, EDEN_NONE);
        }
        eden_scavenge(w.m);
        assert_int_equal(w.heap->remembered.count, 0);
        assert_int_equal(count_objects(&w), HOLDERS + 1);
        free(w.heap->remembered.objects); /* so that it has to grow again */
        w.heap->remembered.objects = NULL;
        w.heap->remembered.room = 0;
        refusal.to = 0;
    }
}
