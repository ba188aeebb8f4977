/* Promotion in place: all of new space becomes old where it is. */
#include "heap/policy.h"
#include "support.h"

#define ROOMY "policy=auto,max_heap=16M"

/* As if some object had found no room in the scavenge before. */
static void promote(const struct world *w) {
    w->heap->is_mixed = true;
    eden_scavenge(w->m);
}

static uint64_t mapped(const struct world *w) { return w->heap->new_space.bytes + w->heap->old.capacity; }

static bool is_in_eden(const struct world *w, eden_value v) {
    return v >= w->heap->eden.start && v < w->heap->mutator.free;
}

TEST(all_stays_where_it_is) {
    WORLD(w, ROOMY);
    EDEN_FRAME(w.m, local, 4);
    local[0] = eden_new(w.m, w.pair);
    eden_scavenge(w.m); /* into a semispace */
    local[1] = new_sized(&w, 1000);
    local[2] = eden_new_slots(w.m, w.array, 300); /* with a slot count of its own */
    eden_new(w.m, w.pair);                        /* dead */
    eden_slot_set(w.m, local[0], 0, local[1]);
    eden_slot_set(w.m, local[2], 299, local[0]);
    const eden_value before[] = {local[0], local[1], local[2]};
    const uint32_t hash = eden_identity_hash(w.m, local[1]);
    const uintptr_t new_start = w.heap->info.new_start;
    const eden_figures first = figures_of(&w);
    size_t objects = count_objects(&w);
    promote(&w);
    assert_memory_equal(before, local, sizeof before);
    for (size_t i = 0; i < 3; i++) {
        assert_true(is_old(&w, local[i]));
    }
    assert_true(eden_slot(local[0], 0) == local[1] && eden_slot(local[2], 299) == local[0]);
    assert_int_equal(((unsigned char *)eden_raw(local[1]))[900], 0x5a);
    assert_int_equal(eden_identity_hash(w.m, local[1]), hash);
    assert_int_equal(count_objects(&w), objects - 1); /* a full collection was due, and found the dead one */
    const eden_figures after = figures_of(&w);
    assert_int_equal(after.scavenges, first.scavenges + 2); /* one begins the full collection */
    assert_int_equal(after.tenured_objects, first.tenured_objects + objects);
    assert_int_equal(after.full_collections, first.full_collections + 1);
    assert_true(w.heap->info.new_start != new_start);
    verify(&w);
}

TEST(the_dead_are_found_by_the_full_collection_that_follows) {
    WORLD(w, ROOMY);
    EDEN_FRAME(w.m, list, 1);
    for (size_t i = 0; i < 20000; i++) {
        eden_value pair = eden_new(w.m, w.pair);
        if (i % 4 == 0) {
            eden_slot_set(w.m, pair, 1, list[0]);
            list[0] = pair;
        }
    }
    promote(&w);
    eden_full_collect(w.m);
    assert_int_equal(count_objects(&w), 5000);
    assert_true(heap_old_used(w.heap) >= 5000 * 24);
    assert_true(heap_old_used(w.heap) < 5200 * 24);
}

/* Nothing is young, so nothing is remembered; later stores into what was new space are. */
TEST(the_barrier_knows_the_new_place) {
    for (int cards = 0; cards < 2; cards++) {
        WORLD(w, cards ? ROOMY ",remembered_set=card" : ROOMY ",remembered_set=object");
        EDEN_FRAME(w.m, local, 3);
        make_old_array(&w, &local[0], 2000);
        set_parameter(&w, "max_heap", "16M");
        local[1] = eden_new_slots(w.m, w.array, 2000);
        eden_slot_set(w.m, local[0], 1999, local[1]);
        assert_true(w.heap->remembered.count + w.heap->remembered.card_count != 0);
        promote(&w);
        assert_int_equal(w.heap->remembered.count + w.heap->remembered.card_count, 0);
        for (size_t i = 0; i < 2000; i += 7) {
            eden_value young = eden_new(w.m, w.pair);
            assert_true(is_in_eden(&w, young));
            eden_slot_set(w.m, young, 0, eden_int((int64_t)i));
            eden_slot_set(w.m, local[1], i, young);
        }
        assert_true(w.heap->remembered.count + w.heap->remembered.card_count != 0);
        for (int round = 0; round < 3; round++) {
            round == 1 ? eden_full_collect(w.m) : eden_scavenge(w.m);
            verify(&w);
            for (size_t i = 0; i < 2000; i += 7) {
                assert_int_equal(eden_int_value(eden_slot(eden_slot(local[1], i), 0)), i);
            }
        }
    }
}

TEST(ephemerons_and_weak_slots_wait_for_the_full_collection) {
    WORLD(w, ROOMY);
    eden_class ephemeron = define_class(w.heap, "Ephemeron", EDEN_FORMAT_EPHEMERON, 2);
    eden_class weak = define_class(w.heap, "Weak", EDEN_FORMAT_WEAK, 0);
    EDEN_FRAME(w.m, local, 2);
    local[0] = eden_new(w.m, ephemeron);
    local[1] = eden_new_slots(w.m, weak, 1);
    eden_slot_set(w.m, local[0], 0, eden_new(w.m, w.pair));
    eden_slot_set(w.m, local[1], 0, eden_new(w.m, w.pair));
    promote(&w); /* and the full collection is due */
    assert_true(is_old(&w, local[0]));
    assert_int_equal(figures_of(&w).full_collections, 1);
    assert_true(eden_mourn_next(w.m) == local[0]);
    assert_true(eden_slot(local[1], 0) == EDEN_NONE);
}

/* Segments and new space change places, and memory comes back, for ever. */
TEST(the_reservation_does_not_run_out) {
    WORLD(w, ROOMY);
    EDEN_FRAME(w.m, list, 1);
    for (size_t round = 0; round < 300; round++) {
        list[0] = EDEN_NONE;
        for (size_t i = 0; i < 20000; i++) {
            eden_value pair = eden_new(w.m, w.pair);
            assert_true(pair != EDEN_NONE);
            eden_slot_set(w.m, pair, 1, list[0]);
            list[0] = pair;
        }
        promote(&w);
        assert_true(mapped(&w) <= 16 * MIB);
        if (round % 50 == 0) {
            verify(&w);
        }
    }
    list[0] = EDEN_NONE;
    eden_full_collect(w.m);
    eden_full_collect(w.m);
    assert_int_equal(heap_old_used(w.heap), 0);
}

/* What can be refused comes before anything is done: the scavenge copies then. */
TEST(refused_memory_leaves_all_as_it_was) {
    for (long from = 1; from < 12; from++) {
        struct refusal refusal = {LONG_MAX, LONG_MAX, 0};
        WORLD_REFUSING(w, ROOMY, &refusal);
        EDEN_FRAME(w.m, list, 1);
        for (size_t i = 0; i < 5000; i++) {
            eden_value pair = eden_new(w.m, w.pair);
            eden_slot_set(w.m, pair, 0, eden_int((int64_t)i));
            eden_slot_set(w.m, pair, 1, list[0]);
            list[0] = pair;
        }
        refusal.from = refusal.seen + from;
        refusal.to = LONG_MAX;
        promote(&w);
        refusal.from = LONG_MAX;
        verify(&w);
        eden_value at = list[0];
        for (size_t i = 5000; i-- > 0; at = eden_slot(at, 1)) {
            assert_int_equal(eden_int_value(eden_slot(at, 0)), i);
        }
        eden_full_collect(w.m);
        assert_int_equal(count_objects(&w), 5000);
    }
}

/* A scavenge that finds no room is followed by another one: with the full collection that is one pause. */
TEST(two_scavenges_of_a_full_collection_are_one_pause) {
    struct refusal refusal = {LONG_MAX, LONG_MAX, 0};
    WORLD_REFUSING(w, ROOMY, &refusal);
    EDEN_FRAME(w.m, list, 1);
    while (w.heap->eden.limit - w.heap->mutator.free > 1000) {
        eden_value pair = eden_new(w.m, w.pair);
        eden_slot_set(w.m, pair, 1, list[0]);
        list[0] = pair;
    }
    assert_int_equal(figures_of(&w).scavenges, 0);
    refusal = (struct refusal){0, 2, 0}; /* of old space, not of new space's new place */
    eden_full_collect(w.m);
    refusal.from = LONG_MAX;
    const eden_figures figures = figures_of(&w);
    assert_true(figures.scavenges == 2 && figures.full_collections == 1);
    assert_int_equal(figures.max_pause_ns, figures.scavenge_ns + figures.full_ns);
    verify(&w);
}

/* Old space may grow, and take the end of eden for it, when the program runs on without an allocation's slow path. */
TEST(allocation_ends_where_eden_does) {
    WORLD(w, "policy=auto,max_heap=16M,compat.growth=refill");
    enum { SLOTS = 300000, ROUNDS = 1500000 };
    EDEN_FRAME(w.m, table, 1);
    uint64_t random = 7;
    table[0] = eden_new_slots(w.m, w.array, SLOTS);
    for (size_t i = 0; i < ROUNDS; i++) {
        eden_value pair = eden_new(w.m, w.pair);
        assert_true(pair != EDEN_NONE);
        random = random * 6364136223846793005u + 1442695040888963407u;
        eden_slot_set(w.m, table[0], (random >> 33) % SLOTS, pair);
        if (i % 5000 == 0) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            eden_pin(w.m, eden_slot(table[0], (random >> 33) % SLOTS));
            assert_true(w.m->limit <= w.heap->eden.limit); /* else the next objects lie in no space */
            assert_true(w.heap->param_values[EDEN_PARAM_eden_size] == (double)w.heap->params.eden_size);
        }
    }
    verify(&w);
}

/* Where a parameter decides, the collector copies as it says. */
TEST(only_the_policy_promotes_in_place) {
    const char *const parameters[] = {"policy=fixed,max_heap=64M", ROOMY ",eden_size=1M",     ROOMY ",full_gc_ratio=1",
                                      ROOMY ",shrink_threshold=0", "policy=auto,max_heap=5M", "policy=auto"};
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        WORLD(w, parameters[i]);
        assert_int_equal(policy_kept_free(w.heap), 0);
        w.heap->is_mixed = true;
        assert_false(policy_promotes_in_place(w.heap));
        w.heap->is_mixed = false;
    }
}

enum { RANDOM_SLOTS = 800000 };

/* A table whose slots are replaced at random, too large to copy what survives. Returns how often new space moved. */
static uint64_t replace_at_random(struct world *w, eden_value *table) {
    table[0] = eden_new_slots(w->m, w->array, RANDOM_SLOTS);
    uint64_t random = 7, moves = 0;
    uintptr_t place = w->heap->info.new_start;
    for (size_t i = 0; i < 6000000; i++) {
        size_t slot = next_random(&random) % RANDOM_SLOTS;
        eden_value pair = eden_new(w->m, w->pair);
        assert_true(pair != EDEN_NONE);
        eden_slot_set(w->m, pair, 0, eden_int((int64_t)slot));
        eden_slot_set(w->m, table[0], slot, pair);
        moves += place != w->heap->info.new_start;
        place = w->heap->info.new_start;
        assert_true(mapped(w) <= 64 * MIB);
    }
    return moves;
}

/* From then on eden takes what there is. */
TEST(what_mostly_survives_is_promoted_in_place) {
    WORLD(w, "policy=auto,max_heap=64M");
    EDEN_FRAME(w.m, table, 1);
    assert_true(replace_at_random(&w, table) > 2);
    assert_true(w.heap->policy.rule.is_in_place);
    for (size_t slot = 0; slot < RANDOM_SLOTS; slot++) {
        eden_value pair = eden_slot(table[0], slot);
        assert_true(pair == EDEN_NONE || (size_t)eden_int_value(eden_slot(pair, 0)) == slot);
    }
    assert_int_equal(figures_of(&w).alloc_failures, 0);
    table[0] = EDEN_NONE; /* now hardly anything does */
    for (size_t i = 0; i < 20000000; i++) {
        eden_new(w.m, w.pair);
    }
    assert_false(w.heap->policy.rule.is_in_place);
}

/* Eden has all that is left then; a large object takes its end, and nothing is collected while that lasts. */
TEST(large_objects_take_the_end_of_eden) {
    WORLD(w, "policy=auto,grow_headroom=64K,max_heap=67100000"); /* not a whole number of pages */
    EDEN_FRAME(w.m, table, 1);
    replace_at_random(&w, table);
    eden_full_collect(w.m);
    assert_true(w.heap->policy.rule.is_in_place);
    const uint64_t fulls = figures_of(&w).full_collections;
    const size_t left = 64 * MIB - w.heap->old.capacity;
    assert_true(left > 8 * MIB && mapped(&w) > 60 * MIB);
    size_t taken = 0;
    for (; taken < left / 2; taken += MIB) {
        assert_true(eden_new_raw(w.m, w.bytes, MIB) != EDEN_NONE);
        assert_true(mapped(&w) <= 67100000);
    }
    assert_int_equal(figures_of(&w).full_collections, fulls);
    verify(&w);
    for (; taken < 4 * left; taken += MIB) {
        assert_true(eden_new_raw(w.m, w.bytes, MIB) != EDEN_NONE);
        assert_true(eden_new(w.m, w.pair) != EDEN_NONE);
        assert_true(mapped(&w) <= 67100000);
    }
    assert_true(figures_of(&w).full_collections > fulls && figures_of(&w).full_collections < fulls + 16);
    verify(&w);
}

/* Dead large objects take all of eden; then small ones that die would have an eden too small to be promoted. */
TEST(an_eden_that_large_objects_took_comes_back) {
    WORLD(w, "policy=auto,max_heap=64M");
    EDEN_FRAME(w.m, table, 1);
    replace_at_random(&w, table);
    eden_full_collect(w.m);
    assert_true(w.heap->policy.rule.is_in_place);
    const uint64_t fulls = figures_of(&w).full_collections;
    while (figures_of(&w).full_collections == fulls && w.heap->params.eden_size > 2 * MIB) {
        assert_true(eden_new_raw(w.m, w.bytes, MIB) != EDEN_NONE);
    }
    for (size_t i = 0; i < 1000000; i++) {
        assert_true(eden_new(w.m, w.pair) != EDEN_NONE);
    }
    assert_int_equal(figures_of(&w).full_collections, fulls + 1);
    assert_true(w.heap->params.eden_size > 4 * MIB);
    verify(&w);
}

/* As after lifetimes were measured, while the goal was not in force. */
TEST(with_a_goal_only_need_promotes_in_place) {
    WORLD(w, "policy=auto,max_heap=64M");
    EDEN_FRAME(w.m, table, 1);
    replace_at_random(&w, table);
    assert_true(w.heap->policy.rule.is_in_place);
    eden_error error = {EDEN_OK, ""};
    assert_true(eden_heap_set(w.heap, "pause_goal", "10", &error));
    eden_scavenge(w.m);
    assert_false(w.heap->policy.rule.is_in_place);
    replace_at_random(&w, table);
    assert_false(w.heap->policy.rule.is_in_place);
    verify(&w);
}

SUITE(collect_alone, NULL)
