/* Pinning: what is pinned stays where it is, whatever is collected, until it is unpinned. */
#include "support.h"

TEST(a_young_object_is_promoted_and_stays) {
    WORLD(w, "eden_size=64K,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 3);
    local[0] = new_sized(&w, 64);
    local[1] = new_sized(&w, 64);
    local[2] = eden_new(w.m, w.pair);
    eden_value place = eden_pin(w.m, local[1]);
    assert_true(place == local[1]); /* the root has followed */
    assert_true(is_old(&w, place));
    assert_false(is_old(&w, local[0]));
    assert_true(object_has(place, EDEN_HEADER_PINNED));
    eden_figures figures = figures_of(&w);
    assert_int_equal(figures.scavenges, 1);
    assert_int_equal(figures.tenured_objects, 1);
    for (int round = 0; round < 6; round++) {
        round % 2 == 0 ? eden_scavenge(w.m) : eden_full_collect(w.m);
        assert_true(local[1] == place);
        verify(&w);
    }
    /* Unrooted, it dies like any other: pinning is no root. */
    local[1] = EDEN_NONE;
    eden_full_collect(w.m);
    assert_int_equal(count_objects(&w), 2);
}

TEST(an_old_object_is_pinned_where_it_is) {
    WORLD(w, "eden_size=64K,full_gc_ratio=inf,compactor=planning");
    EDEN_FRAME(w.m, local, 3);
    for (size_t i = 0; i < 3; i++) {
        local[i] = new_sized(&w, 1000);
        memset(eden_raw(local[i]), (int)i + 1, 900);
    }
    make_old(&w, &local[2]);
    eden_value place = local[2];
    uint64_t scavenges = figures_of(&w).scavenges;
    assert_true(eden_pin(w.m, local[2]) == place);
    assert_int_equal(figures_of(&w).scavenges, scavenges);
    local[0] = EDEN_NONE; /* a hole below */
    eden_full_collect(w.m);
    assert_true(local[2] == place);
    assert_int_equal(((unsigned char *)eden_raw(local[2]))[899], 3);
    eden_unpin(w.m, local[2]);
    assert_false(object_has(local[2], EDEN_HEADER_PINNED));
    eden_full_collect(w.m);
    assert_true(local[2] < place);
    assert_int_equal(((unsigned char *)eden_raw(local[2]))[899], 3);
    assert_int_equal(((unsigned char *)eden_raw(local[1]))[899], 2);
}

TEST(immediates_are_pinned_already) {
    WORLD(w, "eden_size=64K");
    const eden_value values[] = {EDEN_NONE, eden_int(5), eden_char('x'), eden_float(1.5)};
    for (size_t i = 0; i < 4; i++) {
        assert_true(eden_pin(w.m, values[i]) == values[i]);
        eden_unpin(w.m, values[i]);
    }
    assert_int_equal(figures_of(&w).scavenges, 0);
}

TEST(a_pinned_object_keeps_its_young_references) {
    WORLD(w, "eden_size=64K,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 1);
    local[0] = eden_new(w.m, w.pair);
    eden_value young = eden_new(w.m, w.pair);
    eden_slot_set(w.m, young, 0, eden_int(3));
    eden_slot_set(w.m, local[0], 0, young);
    eden_slot_set(w.m, local[0], 1, local[0]);
    eden_value place = eden_pin(w.m, local[0]);
    assert_true(place != EDEN_NONE && !is_old(&w, eden_slot(place, 0)));
    assert_int_equal(w.heap->remembered.count, 1);
    for (int round = 0; round < 4; round++) {
        round % 2 == 0 ? eden_scavenge(w.m) : eden_full_collect(w.m);
        assert_true(local[0] == place && eden_slot(place, 1) == place);
        assert_true(eden_slot(eden_slot(place, 0), 0) == eden_int(3));
        verify(&w);
    }
}

TEST(pinning_under_a_memory_limit_fails_cleanly) {
    enum { MOST = 200 };
    WORLD(w, "eden_size=64K,max_heap=1M,grow_headroom=64K");
    EDEN_FRAME(w.m, local, MOST);
    size_t pinned = 0;
    eden_value places[MOST];
    while (pinned < MOST) {
        local[pinned] = new_sized(&w, 8000);
        if (local[pinned] == EDEN_NONE) {
            break;
        }
        places[pinned] = eden_pin(w.m, local[pinned]);
        if (places[pinned] == EDEN_NONE) {
            break;
        }
        pinned++;
    }
    assert_true(pinned > 60 && pinned < MOST);
    assert_int_equal(eden_last_error(w.m)->status, EDEN_NO_MEMORY);
    assert_true(eden_last_error(w.m)->message[0] != '\0');
    assert_true(figures_of(&w).alloc_failures > 0);
    verify(&w);
    for (size_t i = 0; i < pinned; i++) {
        assert_true(local[i] == places[i]);
        if (i % 2 == 0) {
            local[i] = EDEN_NONE;
        }
    }
    if (pinned < MOST) {
        local[pinned] = EDEN_NONE;
    }
    eden_full_collect(w.m);
    verify(&w);
    /* There is room again, between those that are pinned. */
    for (size_t i = 0; i < pinned; i += 2) {
        local[i] = new_sized(&w, 7000);
        assert_true(local[i] != EDEN_NONE);
        local[i] = eden_pin(w.m, local[i]);
        assert_true(is_old(&w, local[i]));
    }
    for (size_t i = 1; i < pinned; i += 2) {
        assert_true(local[i] == places[i]);
    }
}

/* Memory runs out for the pinning scavenge, and is back for the collection that follows. */
TEST(pinned_whichever_collection_promotes_it) {
    for (long refused = 1; refused < 12; refused++) {
        struct refusal refusal = {1, 0, 0};
        WORLD_REFUSING(w, "eden_size=64K,tenure_fill=0,tenure_proportion=1,full_gc_ratio=0", &refusal);
        EDEN_FRAME(w.m, local, 4);
        for (size_t i = 0; i < 4; i++) {
            local[i] = eden_new(w.m, w.pair);
        }
        w.heap->old.used_at_full = 0;
        refusal = (struct refusal){1, refused, 0};
        eden_value place = eden_pin(w.m, local[1]);
        if (place == EDEN_NONE) {
            assert_int_equal(eden_last_error(w.m)->status, EDEN_NO_MEMORY);
            assert_false(object_has(local[1], EDEN_HEADER_PINNED));
            continue;
        }
        assert_true(place == local[1] && object_has(place, EDEN_HEADER_PINNED));
        local[0] = local[2] = EDEN_NONE;
        for (int round = 0; round < 3; round++) {
            eden_full_collect(w.m);
            assert_true(local[1] == place);
        }
    }
}
