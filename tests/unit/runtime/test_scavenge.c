/* Scavenges: what survives, and what is tenured: just the objects that the policy names, and why. */
#include "support.h"
#include "young/tenure.h"
#include <math.h>

/* 64K of eden: semispaces of 16384 bytes. */
enum { SEMISPACE = 16384, MOST = 2000 };

static uint64_t semispace(const struct world *w) { return w->heap->semi[0].limit - w->heap->semi[0].start; }

static void raw_number(eden_value object, uint64_t n) { memcpy(eden_raw(object), &n, sizeof n); }
static uint64_t number_of(eden_value object) {
    uint64_t n;
    memcpy(&n, eden_raw(object), sizeof n);
    return n;
}

/* Fills slots of a frame with objects of given sizes, numbered. */
static void make_objects(const struct world *w, eden_value *slots, const size_t *sizes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        slots[i] = new_sized(w, sizes[i]);
        raw_number(slots[i], i);
    }
}

TEST(only_the_reachable_survive) {
    WORLD(w, "policy=fixed,eden_size=1M,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 100);
    for (size_t i = 0; i < 1000; i++) {
        eden_value object = new_sized(&w, 64);
        raw_number(object, i);
        if (i % 10 == 0) {
            local[i / 10] = object;
        }
    }
    eden_figures before = figures_of(&w);
    assert_int_equal(before.allocated_bytes, 64000);
    eden_scavenge(w.m);
    assert_int_equal(count_objects(&w), 100);
    eden_figures after = figures_of(&w);
    assert_int_equal(after.scavenges, 1);
    assert_int_equal(after.survived_bytes, 6400);
    assert_int_equal(after.survivor_used, 6400);
    assert_int_equal(after.allocated_bytes, 64000);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(number_of(local[i]), i * 10);
        /* Survivors keep the order of the roots, the oldest lowest. */
        assert_true(i == 0 || local[i] == local[i - 1] + 64);
    }
    eden_scavenge(w.m);
    assert_int_equal(figures_of(&w).survived_bytes, 12800);
    assert_int_equal(figures_of(&w).tenured_objects, 0);
}

TEST(cycles_and_shared_objects_are_copied_once) {
    WORLD(w, "policy=fixed,eden_size=64K,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 2);
    local[0] = eden_new(w.m, w.pair);
    local[1] = eden_new(w.m, w.pair);
    eden_slot_set(w.m, local[0], 0, local[0]);
    eden_slot_set(w.m, local[0], 1, local[1]);
    eden_slot_set(w.m, local[1], 0, local[0]);
    eden_slot_set(w.m, local[1], 1, local[1]);
    for (int i = 0; i < 5; i++) {
        eden_scavenge(w.m);
        assert_true(eden_slot(local[0], 0) == local[0] && eden_slot(local[0], 1) == local[1]);
        assert_true(eden_slot(local[1], 0) == local[0] && eden_slot(local[1], 1) == local[1]);
        assert_int_equal(count_objects(&w), 2);
    }
    local[0] = local[1] = EDEN_NONE;
    eden_scavenge(w.m);
    assert_int_equal(count_objects(&w), 0);
}

/* Survivors of given sizes fill the semispace; the next scavenge tenures those that start below
 * round(size of the semispace * proportion), and no other. */
static void check_age(const char *proportion, const size_t *sizes, size_t count) {
    char parameters[120];
    snprintf(parameters, sizeof parameters, "eden_size=64K,full_gc_ratio=inf,tenure_fill=0.5,tenure_proportion=%s",
             proportion);
    WORLD(w, parameters);
    assert_int_equal(semispace(&w), SEMISPACE);
    EDEN_FRAME(w.m, local, MOST);
    make_objects(&w, local, sizes, count);
    eden_scavenge(w.m);
    size_t used = 0, expected = 0, expected_bytes = 0;
    const double threshold = round(SEMISPACE * strtod(proportion, NULL));
    for (size_t i = 0; i < count; i++) {
        if ((double)used + (sizes[i] > 2048 ? 8 : 0) < threshold) { /* an object's address is its header's */
            expected++;
            expected_bytes += sizes[i];
        }
        used += sizes[i];
    }
    assert_true(used <= SEMISPACE && used > SEMISPACE / 2);
    assert_int_equal(w.heap->tenure_threshold,
                     strtod(proportion, NULL) == 0 ? 0 : w.heap->semi[w.heap->from].start + (uintptr_t)threshold);
    assert_int_equal(figures_of(&w).tenured_objects, 0);
    eden_scavenge(w.m);
    assert_int_equal(figures_of(&w).tenured_objects, expected);
    assert_int_equal(figures_of(&w).tenured_bytes, expected_bytes);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(is_old(&w, local[i]), i < expected);
        assert_int_equal(number_of(local[i]), i);
    }
    assert_int_equal(figures_of(&w).survivor_used, used - expected_bytes);
}

TEST(just_what_lies_below_the_threshold_is_tenured) {
    size_t sizes[MOST];
    const char *const proportions[] = {"0.1", "0.25", "0.5", "0.9", "1", "0", "0.0001", "0.00001", "0.33"};
    for (size_t p = 0; p < sizeof proportions / sizeof proportions[0]; p++) {
        for (size_t i = 0; i < MOST; i++) {
            sizes[i] = 64;
        }
        check_age(proportions[p], sizes, SEMISPACE / 64);
        for (size_t i = 0; i < MOST; i++) {
            sizes[i] = i % 3 == 0 ? 16 : i % 3 == 1 ? 104 : 800;
        }
        check_age(proportions[p], sizes, 50);
        for (size_t i = 0; i < MOST; i++) {
            sizes[i] = i % 2 == 0 ? 4096 : 3000;
        }
        check_age(proportions[p], sizes, 4);
    }
}

TEST(the_fill_must_be_exceeded) {
    for (size_t more = 0; more < 2; more++) {
        WORLD(w, "eden_size=64K,full_gc_ratio=inf,tenure_fill=0.5,tenure_proportion=1");
        EDEN_FRAME(w.m, local, 200);
        for (size_t i = 0; i < SEMISPACE / 2 / 64 + more; i++) {
            local[i] = new_sized(&w, 64);
        }
        eden_scavenge(w.m);
        assert_int_equal(figures_of(&w).survivor_used, SEMISPACE / 2 + more * 64);
        if (more == 0) {
            assert_int_equal(w.heap->tenure_threshold, 0); /* just full so far is not more */
        } else {
            assert_int_equal(w.heap->tenure_threshold, w.heap->semi[w.heap->from].limit);
        }
        eden_scavenge(w.m);
        assert_int_equal(figures_of(&w).tenured_objects, more == 0 ? 0 : SEMISPACE / 2 / 64 + 1);
        assert_int_equal(w.heap->tenure_threshold, 0);
    }
}

TEST(the_default_is_a_tenth_above_nine_tenths) {
    WORLD(w, "policy=fixed,eden_size=64K,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 300);
    for (size_t i = 0; i < 230; i++) { /* 14720 of 16384: 0.898 */
        local[i] = new_sized(&w, 64);
    }
    eden_scavenge(w.m);
    assert_int_equal(w.heap->tenure_threshold, 0);
    local[230] = new_sized(&w, 64); /* 14784: 0.902 */
    eden_scavenge(w.m);
    assert_int_equal(w.heap->tenure_threshold, w.heap->semi[w.heap->from].start + 1638);
    eden_scavenge(w.m);
    assert_int_equal(figures_of(&w).tenured_objects, 26); /* at 0, 64, .. 1600 */
}

/* The threshold lies in the semispace that the next scavenge copies from, each time. (The Pharo VM once computed it in
 * the other, and tenured all or nothing.) */
TEST(the_threshold_lies_in_the_source) {
    WORLD(w, "eden_size=64K,full_gc_ratio=inf,tenure_fill=0.1,tenure_proportion=0.05");
    EDEN_FRAME(w.m, local, 250);
    for (size_t i = 0; i < 250; i++) {
        local[i] = new_sized(&w, 64);
    }
    uint64_t tenured = 0;
    for (int round = 0; round < 10; round++) {
        eden_scavenge(w.m);
        const struct space *source = &w.heap->semi[w.heap->from];
        assert_true(w.heap->tenure_threshold > source->start && w.heap->tenure_threshold < source->limit);
        assert_int_equal(figures_of(&w).tenured_objects, tenured);
        tenured += 13; /* 819 / 64, up */
    }
}

TEST(survivors_to_keep_is_the_papers_formula) {
    const struct {
        const char *keep;
        double proportion;
    } cases[] = {{"0", 1.0}, {"64", 0.75}, {"128", 0.5}, {"192", 0.25},
                 {"256", 0}, {"1000", 0},  {"1e15", 0},  {"1", 1 - 64.0 / SEMISPACE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char parameters[120];
        snprintf(parameters, sizeof parameters, "eden_size=64K,full_gc_ratio=inf,survivors_to_keep=%s", cases[i].keep);
        WORLD(w, parameters);
        assert_true(tenure_proportion(w.heap) == cases[i].proportion);
        EDEN_FRAME(w.m, local, 256);
        for (size_t o = 0; o < 256; o++) {
            local[o] = new_sized(&w, 64);
        }
        eden_scavenge(w.m);
        eden_scavenge(w.m);
        assert_int_equal(figures_of(&w).tenured_objects, (uint64_t)ceil(cases[i].proportion * 256));
    }
}

/* Proportion 0: however full, only what does not fit is tenured. */
TEST(overflow_tenures_what_does_not_fit) {
    WORLD(w, "eden_size=64K,full_gc_ratio=inf,tenure_proportion=0");
    EDEN_FRAME(w.m, local, 400);
    for (size_t i = 0; i < 300; i++) {
        local[i] = new_sized(&w, 64);
        raw_number(local[i], i);
    }
    eden_scavenge(w.m);
    assert_int_equal(figures_of(&w).tenured_objects, 300 - SEMISPACE / 64);
    assert_int_equal(figures_of(&w).survivor_used, SEMISPACE);
    for (size_t i = 0; i < 300; i++) {
        assert_int_equal(is_old(&w, local[i]), i >= SEMISPACE / 64);
        assert_int_equal(number_of(local[i]), i);
    }
    for (int round = 0; round < 5; round++) {
        eden_scavenge(w.m);
        assert_int_equal(w.heap->tenure_threshold, 0);
        assert_int_equal(figures_of(&w).tenured_objects, 300 - SEMISPACE / 64);
    }
}

/* A long list through eden is copied whole, wherever its parts go. */
TEST(a_list_longer_than_new_space_is_copied_whole) {
    enum { LENGTH = 100000 };
    WORLD(w, "eden_size=64K");
    EDEN_FRAME(w.m, local, 1);
    for (int64_t i = 0; i < LENGTH; i++) {
        eden_value pair = eden_new(w.m, w.pair);
        eden_slot_set(w.m, pair, 0, eden_int(i));
        eden_slot_set(w.m, pair, 1, local[0]);
        local[0] = pair;
    }
    verify(&w);
    int64_t i = LENGTH;
    for (eden_value at = local[0]; at != EDEN_NONE; at = eden_slot(at, 1)) {
        assert_true(eden_slot(at, 0) == eden_int(--i));
    }
    assert_int_equal(i, 0);
    assert_int_equal(figures_of(&w).allocated_bytes, LENGTH * 24);
}

TEST(large_objects_are_born_old) {
    WORLD(w, "eden_size=1M,large_object=8K");
    EDEN_FRAME(w.m, local, 4);
    local[0] = new_sized(&w, 8192); /* over large_object is large, just so much is not */
    local[1] = new_sized(&w, 8200);
    local[2] = eden_new_slots(w.m, w.array, 5000);
    assert_false(is_old(&w, local[0]));
    assert_true(is_old(&w, local[1]) && is_old(&w, local[2]));
    for (size_t i = 0; i < 5000; i++) {
        assert_int_equal(eden_slot(local[2], i), EDEN_NONE);
    }
    eden_figures figures = figures_of(&w);
    assert_int_equal(figures.large_objects, 2);
    assert_int_equal(figures.large_bytes, 8200 + 40016);
    assert_int_equal(figures.allocated_bytes, 8192 + 8200 + 40016);
    assert_int_equal(figures.tenured_objects, 0);
    /* Half of eden is large whatever large_object says. */
    set_parameter(&w, "large_object", "1T");
    local[3] = new_sized(&w, MIB / 2 + 8);
    assert_true(is_old(&w, local[3]));
}

/* Nothing can be promoted: objects stay where they are, and go when memory is back. */
TEST(what_cannot_be_promoted_is_kept) {
    enum { OBJECTS = 800 };
    struct refusal refusal = {1, 0, 0};
    WORLD_REFUSING(w, "eden_size=64K,full_gc_ratio=inf", &refusal);
    EDEN_FRAME(w.m, local, OBJECTS + 1);
    for (size_t i = 0; i < OBJECTS; i++) {
        local[i] = new_sized(&w, 64);
        raw_number(local[i], i);
        eden_identity_hash(w.m, local[i]);
    }
    refusal = (struct refusal){1, LONG_MAX, 0};
    for (int round = 0; round < 4; round++) {
        eden_scavenge(w.m);
        verify(&w);
        assert_true(w.heap->is_mixed);
        assert_int_equal(heap_old_used(w.heap), 0);
        for (size_t i = 0; i < OBJECTS; i++) {
            assert_int_equal(number_of(local[i]), i);
        }
        assert_int_equal(count_objects(&w), OBJECTS);
    }
    /* Those in the way die: new space alone is enough again, without any memory. */
    for (size_t i = 0; i < OBJECTS - 10; i++) {
        local[i] = EDEN_NONE;
    }
    for (int i = 0; i < 3000; i++) {
        local[OBJECTS] = new_sized(&w, 64);
        if (local[OBJECTS] == EDEN_NONE) {
            fail_msg("allocation %d failed with eden nearly empty: %s", i, eden_last_error(w.m)->message);
        }
    }
    verify(&w);
    assert_false(w.heap->is_mixed);
    assert_int_equal(figures_of(&w).alloc_failures, 0);
    for (size_t i = OBJECTS - 10; i < OBJECTS; i++) {
        assert_int_equal(number_of(local[i]), i);
    }
}

/* Memory comes back: the kept are promoted by the next scavenge. Until then they may be more than the stack of objects
 * to scan holds. */
static void check_promoted_later(size_t stack_room) {
    enum { OBJECTS = 800 };
    struct refusal refusal = {1, 0, 0};
    WORLD_REFUSING(w, "eden_size=64K,full_gc_ratio=inf", &refusal);
    EDEN_FRAME(w.m, local, 2);
    /* A list, so that kept objects refer to moved ones and the other way round. */
    for (int64_t i = 0; i < OBJECTS; i++) {
        eden_value pair = eden_new(w.m, w.mixed);
        eden_slot_set(w.m, pair, 0, local[0]);
        eden_slot_set(w.m, pair, 1, eden_int(i));
        local[0] = pair;
    }
    refusal = (struct refusal){1, LONG_MAX, 0};
    const size_t room = w.heap->mark_stack.room;
    w.heap->mark_stack.room = stack_room < room ? stack_room : room;
    eden_scavenge(w.m);
    assert_true(w.heap->is_mixed);
    verify(&w);
    eden_scavenge(w.m);
    w.heap->mark_stack.room = room;
    eden_full_collect(w.m);
    verify(&w);
    assert_int_equal(count_objects(&w), OBJECTS);
    refusal.to = 0;
    eden_scavenge(w.m);
    assert_false(w.heap->is_mixed);
    verify(&w);
    int64_t i = OBJECTS;
    for (eden_value at = local[0]; at != EDEN_NONE; at = eden_slot(at, 0)) {
        assert_true(eden_slot(at, 1) == eden_int(--i));
    }
    assert_int_equal(i, 0);
    assert_int_equal(count_objects(&w), OBJECTS);
}

TEST(the_kept_are_promoted_later) {
    check_promoted_later(SIZE_MAX);
    check_promoted_later(0);
    check_promoted_later(1);
    check_promoted_later(10);
}

/* All three spaces hold kept objects and there is no memory at all: when enough have died, the rest is gathered behind
 * those of one semispace, and the heap is as before. */
TEST(kept_objects_are_gathered_in_a_semispace) {
    enum { OBJECTS = 800, EACH = SEMISPACE / 64 };
    struct refusal refusal = {1, 0, 0};
    WORLD_REFUSING(w, "eden_size=64K,full_gc_ratio=inf", &refusal);
    EDEN_FRAME(w.m, local, OBJECTS);
    for (size_t i = 0; i < OBJECTS; i++) {
        local[i] = new_sized(&w, 64);
        raw_number(local[i], i);
    }
    refusal = (struct refusal){1, LONG_MAX, 0};
    eden_scavenge(w.m); /* the first EACH are copied, the others kept */
    for (size_t i = 0; i < OBJECTS / 2; i++) {
        eden_value other = local[i];
        local[i] = local[OBJECTS - 1 - i];
        local[OBJECTS - 1 - i] = other;
    }
    eden_scavenge(w.m); /* the last EACH are copied to the other semispace, the others kept */
    verify(&w);
    assert_true(w.heap->is_mixed);
    assert_int_equal(count_objects(&w), OBJECTS);
    assert_true(w.heap->semi[0].used == w.heap->semi[0].limit && w.heap->semi[1].used == w.heap->semi[1].limit);
    /* Ten live in each of the three spaces, not at their ends. */
    size_t live = 0;
    for (size_t i = 0; i < OBJECTS; i++) {
        uint64_t n = number_of(local[i]);
        bool stays = (n >= 20 && n < 30) || (n >= 400 && n < 410) || (n >= OBJECTS - 30 && n < OBJECTS - 20);
        live += stays;
        local[i] = stays ? local[i] : EDEN_NONE;
    }
    assert_int_equal(live, 30);
    eden_scavenge(w.m); /* finds no room behind them, but frees it */
    verify(&w);
    assert_true(w.heap->is_mixed);
    assert_int_equal(count_objects(&w), 30);
    /* In each semispace the highest die, so that there is a gap below what is copied. */
    for (size_t i = 0; i < OBJECTS; i++) {
        if (local[i] != EDEN_NONE) {
            uint64_t n = number_of(local[i]);
            bool dies = (n >= 25 && n < 30) || (n >= OBJECTS - 30 && n < OBJECTS - 25);
            live -= dies;
            local[i] = dies ? EDEN_NONE : local[i];
        }
    }
    eden_scavenge(w.m);
    verify(&w);
    assert_false(w.heap->is_mixed);
    assert_int_equal(w.m->free, w.heap->eden.start);
    assert_int_equal(count_objects(&w), live);
    for (int round = 0; round < 3; round++) {
        eden_scavenge(w.m);
        verify(&w);
        assert_int_equal(count_objects(&w), live);
        assert_int_equal(figures_of(&w).survivor_used, live * 64);
    }
    assert_int_equal(heap_old_used(w.heap), 0);
}
