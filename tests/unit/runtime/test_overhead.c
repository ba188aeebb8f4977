/* overhead_limit: a heap that collects too much for too little memory fails an allocation, says why, and goes on once
 * it has room. Counts of collections, never times. */
#include "api/instance.h"
#include "eden_policy.h"
#include "heap/policy.h"
#include "support.h"

extern volatile unsigned short eden_alloc__failed_semaphore;

static uint64_t failures[EDEN_FAILURE_REASONS];

/* Instead of the probe's site: the linker leads the runtime's calls here. */
void __wrap_eden_probe_alloc__failed(const void *heap, uint64_t class_id, uint64_t bytes, uint64_t reason);
void __wrap_eden_probe_alloc__failed(const void *heap, uint64_t class_id, uint64_t bytes, uint64_t reason) {
    assert_non_null(heap);
    assert_true(class_id != 0 && bytes != 0 && reason < EDEN_FAILURE_REASONS);
    failures[reason]++;
}

static void watch_failures(void) {
    memset(failures, 0, sizeof failures);
    eden_alloc__failed_semaphore = 1;
}

/* ---- the rule ---------------------------------------------------------------------------------------------------- */

TEST(too_much_work_is_a_share_of_all_work) {
    assert_false(eden_policy_is_overhead(0.98, 48 * MIB, MIB));
    assert_true(eden_policy_is_overhead(0.98, 50 * MIB, MIB));
    assert_true(eden_policy_is_overhead(0.98, 1, 0));
    assert_true(eden_policy_is_overhead(0, 1, UINT64_MAX));
    assert_false(eden_policy_is_overhead(1, UINT64_MAX, 0));
}

TEST(full_is_less_than_a_fiftieth_free) {
    assert_false(eden_policy_is_full(100 * MIB, 2 * MIB, 96 * MIB));
    assert_true(eden_policy_is_full(100 * MIB, 2 * MIB, 96 * MIB + 1));
    assert_false(eden_policy_is_full(EDEN_NO_LIMIT, 2 * MIB, 96 * MIB));
}

/* ---- heaps ------------------------------------------------------------------------------------------------------- */

enum { PAIR_BYTES = 24, BOX_SLOTS = 30 };

static uint64_t fulls(const struct world *w) { return figures_of(w).full_collections; }
static const char *message(const struct world *w) { return eden_last_error(w->m)->message; }

static void assert_says(const struct world *w, const char *text) {
    if (strstr(message(w), text) == NULL) {
        fail_msg("'%s' does not say '%s'", message(w), text);
    }
}

/* A list that grows until an allocation fails. Its length. */
static size_t grow_list(const struct world *w, eden_value *list, size_t most) {
    for (size_t i = 0; i < most; i++) {
        eden_value pair = eden_new(w->m, w->pair);
        if (pair == EDEN_NONE) {
            return i;
        }
        eden_slot_set(w->m, pair, 1, *list);
        *list = pair;
    }
    return most;
}

/* A table of boxes, large enough to be old. */
static void fill_table(const struct world *w, eden_value *table, size_t boxes) {
    *table = eden_new_slots(w->m, w->array, boxes);
    assert_true(*table != EDEN_NONE);
    for (size_t i = 0; i < boxes; i++) {
        eden_value box = eden_new_slots(w->m, w->mixed, BOX_SLOTS);
        assert_true(box != EDEN_NONE);
        eden_slot_set(w->m, *table, i, box);
    }
}

/* Puts new boxes at random places, as a cache does: each new one lives as long as the others did. How many went in. */
static size_t replace_boxes(const struct world *w, const eden_value *table, size_t boxes, size_t most) {
    static uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < most; i++) {
        eden_value box = eden_new_slots(w->m, w->mixed, BOX_SLOTS);
        if (box == EDEN_NONE) {
            return i;
        }
        eden_slot_set(w->m, *table, next_random(&random) % boxes, box);
    }
    return most;
}

/* So many boxes as take a part of the limit that is left beside the least new space. */
static size_t boxes_for(uint64_t limit, double part) {
    const uint64_t need = EDEN_POLICY_LEAST / 5 * 7 + EDEN_POLICY_OTHER;
    return (size_t)((double)(limit - need) * part) / ((BOX_SLOTS + 2) * 8 + 8 + 8);
}

TEST(a_heap_that_fills_up_fails_after_a_few_full_collections) {
    static const int limits[] = {8, 32, 64};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        char parameters[64];
        snprintf(parameters, sizeof parameters, "policy=auto,max_heap=%dM", limits[i]);
        WORLD(w, parameters);
        EDEN_FRAME(w.m, list, 1);
        size_t made = grow_list(&w, list, SIZE_MAX);
        assert_true(made * PAIR_BYTES > (size_t)limits[i] * MIB / 100 * 80);
        assert_in_range(fulls(&w), 1, 24);
        verify(&w);
        list[0] = EDEN_NONE;
        assert_int_equal(grow_list(&w, list, made / 2), made / 2);
    }
}

/* The spiral: all but a hundredth lives, and what is allocated lives as long as the rest. */
TEST(a_full_cache_fails_and_says_what_is_in_it) {
    WORLD(w, "policy=auto,max_heap=64M");
    EDEN_FRAME(w.m, local, 2);
    watch_failures();
    const size_t boxes = boxes_for(64 * MIB, 0.985);
    fill_table(&w, &local[0], boxes);
    uint64_t before = fulls(&w);
    assert_true(replace_boxes(&w, &local[0], boxes, 100 * boxes) < boxes);
    assert_in_range(fulls(&w) - before, 1, 3 * EDEN_POLICY_ROW);
    assert_int_equal(eden_last_error(w.m)->status, EDEN_NO_MEMORY);
    assert_says(&w, "out of memory for an object of 264 bytes of class 'Mixed'");
    assert_says(&w, "5 full collections left less than 2% of max_heap=67108864 free, for over 98% of the work");
    assert_says(&w, "'Mixed' (");
    assert_int_equal(failures[EDEN_FAILURE_OVERHEAD], 1);
    assert_int_equal(failures[EDEN_FAILURE_MEMORY], 0);
    assert_int_equal(figures_of(&w).alloc_failures, 1);
    verify(&w);

    /* A program that goes on all the same has a full collection for each failure, and no more. */
    before = fulls(&w);
    for (size_t i = 0; i < 10; i++) {
        assert_true(replace_boxes(&w, &local[0], boxes, boxes) < boxes);
    }
    assert_in_range(fulls(&w) - before, 1, 10);
    assert_int_equal(failures[EDEN_FAILURE_OVERHEAD], 11);
    verify(&w);

    /* With a part of it let go, it is as any other heap. */
    for (size_t i = 0; i < boxes; i += 8) {
        eden_slot_set(w.m, local[0], i, EDEN_NONE);
    }
    eden_full_collect(w.m);
    for (size_t i = 0; i < 4 * boxes; i++) {
        local[1] = eden_new_slots(w.m, w.mixed, BOX_SLOTS);
        assert_true(local[1] != EDEN_NONE);
        eden_slot_set(w.m, local[0], i % boxes / 8 * 8, i % 16 == 0 ? local[1] : EDEN_NONE);
    }
    assert_int_equal(failures[EDEN_FAILURE_OVERHEAD], 11);
    eden_alloc__failed_semaphore = 0;
}

/* Nine tenths live, and as much as the whole heap is replaced many times over. */
TEST(a_healthy_heap_near_its_limit_does_not_fail) {
    static const int limits[] = {8, 32};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        char parameters[64];
        snprintf(parameters, sizeof parameters, "policy=auto,max_heap=%dM", limits[i]);
        WORLD(w, parameters);
        EDEN_FRAME(w.m, local, 1);
        const size_t boxes = boxes_for((uint64_t)limits[i] * MIB, 0.9);
        fill_table(&w, &local[0], boxes);
        assert_int_equal(replace_boxes(&w, &local[0], boxes, 3 * boxes), 3 * boxes);
        assert_int_equal(figures_of(&w).alloc_failures, 0);
    }
}

/* What dies young needs no full collection, however little is free. */
TEST(a_full_heap_with_short_lived_objects_goes_on) {
    WORLD(w, "policy=auto,max_heap=64M");
    EDEN_FRAME(w.m, local, 1);
    fill_table(&w, &local[0], boxes_for(64 * MIB, 0.985));
    for (size_t i = 0; i < 5000000; i++) {
        assert_true(eden_new(w.m, w.pair) != EDEN_NONE);
    }
    assert_int_equal(figures_of(&w).alloc_failures, 0);
}

/* A full cache, and beside it a list of few small objects that grows until an allocation fails. */
static void leak(const struct world *w, eden_value *local, eden_class leaking, double part) {
    const size_t boxes = boxes_for(w->heap->params.max_heap, part);
    fill_table(w, &local[0], boxes);
    for (eden_value pair = 1; pair != EDEN_NONE && replace_boxes(w, &local[0], boxes, 100) == 100;) {
        pair = eden_new(w->m, leaking);
        if (pair != EDEN_NONE) {
            eden_slot_set(w->m, pair, 1, local[1]);
            local[1] = pair;
        }
    }
    assert_int_equal(eden_last_error(w->m)->status, EDEN_NO_MEMORY);
}

TEST(the_class_that_grew_is_named_not_the_largest) {
    WORLD(w, "policy=auto,max_heap=32M");
    EDEN_FRAME(w.m, local, 2);
    leak(&w, local, w.pair, 0.982);
    assert_says(&w, "grown: 'Pair' (");
    assert_null(strstr(message(&w), "'Array'"));
    for (int i = 0; i < 3; i++) { /* once more, with what is known */
        eden_value again;
        while ((again = eden_new(w.m, w.pair)) != EDEN_NONE) {
            eden_slot_set(w.m, again, 1, local[1]);
            local[1] = again;
        }
        assert_says(&w, "grown: 'Pair' (");
    }
}

TEST(a_class_that_grew_by_little_is_not_named) {
    WORLD(w, "policy=auto,max_heap=32M");
    EDEN_FRAME(w.m, local, 3);
    leak(&w, local, w.pair, 0.982);
    for (int i = 0; i < 10; i++) {
        local[1] = eden_slot(local[1], 1);
    }
    local[2] = eden_new_slots(w.m, w.array, 1);
    assert_true(local[2] != EDEN_NONE);
    grow_list(&w, &local[1], SIZE_MAX);
    assert_says(&w, "grown: 'Pair' (");
    assert_null(strstr(message(&w), "'Array'"));
}

TEST(sites_count_as_their_class) {
    WORLD(w, "policy=auto,max_heap=32M");
    EDEN_FRAME(w.m, local, 2);
    eden_error error;
    eden_class site = eden_site_define(w.heap, w.pair, "a place", &error);
    assert_true(site != 0);
    leak(&w, local, site, 0.982);
    assert_says(&w, "grown: 'Pair' (");
}

/* Whoever wants a heap to collect for ever may have it. */
TEST(it_can_be_switched_off) {
    static const struct {
        const char *parameters;
        bool fails;
    } all[] = {{"policy=auto,max_heap=64M", true},
               {"policy=auto,max_heap=64M,overhead_limit=1", false},
               {"policy=auto,max_heap=64M,overhead_limit=0.999", false}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        WORLD(w, all[i].parameters);
        EDEN_FRAME(w.m, local, 1);
        const size_t boxes = boxes_for(64 * MIB, 0.985), some = boxes / 3;
        fill_table(&w, &local[0], boxes);
        uint64_t before = fulls(&w);
        size_t made = replace_boxes(&w, &local[0], boxes, some);
        assert_int_equal(made < some, all[i].fails);
        assert_true(all[i].fails || fulls(&w) - before > 2 * EDEN_POLICY_ROW);
    }
}

/* policy=fixed has no such limit, like the papers' collector, unless it is set. */
TEST(policy_fixed_has_it_only_where_it_is_set) {
    for (int is_set = 0; is_set < 2; is_set++) {
        char parameters[128];
        snprintf(parameters, sizeof parameters,
                 "policy=fixed,eden_size=256K,max_heap=16M,grow_headroom=64K,full_gc_ratio=0.5%s",
                 is_set ? ",overhead_limit=0.9" : "");
        WORLD(w, parameters);
        EDEN_FRAME(w.m, local, 1);
        const size_t boxes = boxes_for(16 * MIB, 1.015);
        fill_table(&w, &local[0], boxes);
        assert_int_equal(replace_boxes(&w, &local[0], boxes, boxes) < boxes, is_set);
    }
}

/* What the program asks for is its own affair. */
TEST(requested_collections_do_not_count) {
    WORLD(w, "policy=auto,max_heap=32M");
    EDEN_FRAME(w.m, local, 1);
    fill_table(&w, &local[0], boxes_for(32 * MIB, 0.985));
    for (int i = 0; i < 4 * EDEN_POLICY_ROW; i++) {
        eden_full_collect(w.m);
        assert_true(eden_new(w.m, w.pair) != EDEN_NONE);
    }
    assert_int_equal(w.heap->policy.overhead.row, 0);
}

/* Where the system refuses, what is mapped is the limit. */
TEST(a_system_that_refuses_is_a_limit) {
    struct refusal refusal = {LONG_MAX, LONG_MAX, 0};
    WORLD_REFUSING(w, "policy=auto", &refusal);
    EDEN_FRAME(w.m, local, 2);
    grow_list(&w, &local[0], 1000000);
    refusal.from = refusal.seen + 1;
    uint64_t before = fulls(&w);
    grow_list(&w, &local[1], SIZE_MAX);
    assert_in_range(fulls(&w) - before, 1, 24);
    assert_int_equal(eden_last_error(w.m)->status, EDEN_NO_MEMORY);
    verify(&w);
    refusal.from = LONG_MAX;
    grow_list(&w, &local[1], 1000000);
    local[0] = local[1] = EDEN_NONE;
    assert_int_equal(grow_list(&w, &local[0], 1000000), 1000000);
}

/* The tables of classes go when the heap has room again. */
TEST(what_was_counted_is_dropped) {
    WORLD(w, "policy=auto,max_heap=16M");
    EDEN_FRAME(w.m, local, 2);
    leak(&w, local, w.pair, 0.982);
    const struct census *census = &((struct instance *)w.heap)->census;
    assert_non_null(census->latest.of_class);
    local[0] = local[1] = EDEN_NONE;
    grow_list(&w, &local[0], 300000);
    local[0] = EDEN_NONE;
    assert_int_equal(grow_list(&w, &local[0], 300000), 300000);
    eden_full_collect(w.m);
    assert_null(census->before.of_class);
    assert_null(census->latest.of_class);
}

SUITE(collect_alone, NULL)
