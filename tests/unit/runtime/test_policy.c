/* policy=auto: the rule by itself, heaps that follow it, and the probe that reports what they decide. */
#include "eden_policy.h"
#include "heap/policy.h"
#include "support.h"

/* ---- the rule ---------------------------------------------------------------------------------------------------- */

static struct eden_policy_state state_with(uint64_t eden, uint64_t survived, unsigned quiet) {
    return (struct eden_policy_state){.limit = EDEN_NO_LIMIT,
                                      .eden = eden,
                                      .live = 1024 * MIB,
                                      .allocated = eden,
                                      .survived = survived,
                                      .quiet = quiet};
}

TEST(eden_doubles_while_copying_costs) {
    struct eden_policy_state heap = state_with(4 * MIB, 4 * MIB / 32 + 1, 0);
    assert_int_equal(eden_policy_eden(&heap, 0).bytes, 8 * MIB);
    heap = state_with(4 * MIB, 4 * MIB / 32, 0);
    assert_int_equal(eden_policy_eden(&heap, 0).bytes, 4 * MIB);
}

TEST(eden_halves_after_quiet_scavenges_down_to_the_first) {
    struct eden_policy_state heap = state_with(8 * MIB, 0, EDEN_POLICY_QUIET - 1);
    assert_int_equal(eden_policy_eden(&heap, 0).bytes, 8 * MIB);
    heap.quiet++;
    assert_int_equal(eden_policy_eden(&heap, 0).bytes, 4 * MIB);
    heap.eden = EDEN_POLICY_FIRST;
    assert_int_equal(eden_policy_eden(&heap, 0).bytes, EDEN_POLICY_FIRST);
    assert_true(eden_policy_is_quiet(256, 0));
    assert_false(eden_policy_is_quiet(256, 1));
}

/* Twice or half the size is no reason to change it back. */
TEST(shares_are_apart) {
    for (uint64_t survived = 1; survived < 64 * MIB; survived *= 2) {
        struct eden_policy_state heap = state_with(64 * MIB, survived, EDEN_POLICY_QUIET);
        heap.quiet = eden_policy_is_quiet(heap.allocated, heap.survived) ? EDEN_POLICY_QUIET : 0;
        uint64_t eden = eden_policy_eden(&heap, 0).bytes;
        struct eden_policy_state next = state_with(eden, survived, 0);
        next.quiet = eden_policy_is_quiet(next.allocated, next.survived) ? EDEN_POLICY_QUIET : 0;
        uint64_t then = eden_policy_eden(&next, 0).bytes;
        assert_true(eden >= 64 * MIB ? then >= eden : then <= eden);
    }
}

TEST(eden_quadruples_while_most_survives) {
    struct eden_policy_state heap = state_with(4 * MIB, 2 * MIB, 0);
    assert_int_equal(eden_policy_eden(&heap, 0).bytes, 8 * MIB);
    heap.survived++;
    assert_int_equal(eden_policy_eden(&heap, 0).bytes, 16 * MIB);
    heap.survived = heap.allocated;
    assert_int_equal(eden_policy_eden(&heap, 0).bytes, 16 * MIB);
    heap.limit = 1024 * MIB;
    heap.live = 0;
    heap.scattered = heap.survived / 2 + 1; /* each would be waited for */
    assert_int_equal(eden_policy_eden(&heap, 0).bytes, 64 * MIB);
}

/* Old space that took in 40 of 60 MB since it was collected turns over if more than 20 of them are dead. */
TEST(turnover_is_what_died_of_what_came) {
    assert_false(eden_policy_turns_over(20 * MIB, 60 * MIB, 40 * MIB, 40 * MIB));
    assert_true(eden_policy_turns_over(20 * MIB, 60 * MIB, 40 * MIB - 1, 40 * MIB));
    assert_false(eden_policy_turns_over(20 * MIB, 60 * MIB, 40 * MIB - 1, 20 * MIB)); /* the rest was born old */
    assert_false(eden_policy_turns_over(20 * MIB, 20 * MIB, 20 * MIB, 0));
    assert_false(eden_policy_ages(100, 25));
    assert_true(eden_policy_ages(100, 26));
}

/* Whatever survives, two semispaces, eden, another new space and some promoted have room beside what old space has. */
TEST(what_lasts_is_tenured_at_once) {
    assert_true(eden_policy_tenures_at_once(64 * MIB, 4 * MIB, 4 * MIB));
    assert_false(eden_policy_tenures_at_once(64 * MIB, 4 * MIB, 3 * MIB));
    assert_false(eden_policy_tenures_at_once(64 * MIB, MIB, MIB)); /* a handful */
}

TEST(semispaces_leave_room_for_old_space) {
    for (uint64_t limit = 8 * MIB; limit < 4096 * MIB; limit *= 2) {
        for (uint64_t used = 0; used < limit; used += limit / 5) {
            for (uint64_t part = 0; part <= 16; part++) {
                struct eden_policy_state heap = {
                    .limit = limit, .eden = limit / 8, .used = used, .live = used, .keeps = true};
                heap.allocated = heap.eden;
                heap.from_eden = heap.survived = heap.eden / 16 * part;
                uint64_t semispace = eden_policy_semispace(&heap), eden = eden_policy_eden(&heap, semispace).bytes;
                uint64_t need = 2 * semispace + semispace / 4 + eden + EDEN_POLICY_OTHER + used + used / 8;
                assert_true(semispace == 0 || eden_policy_is_large(&heap, semispace));
                assert_true(semispace == 0 || eden == EDEN_POLICY_LEAST || need <= limit);
                heap.keeps = false;
                assert_int_equal(eden_policy_semispace(&heap), 0);
            }
        }
    }
    struct eden_policy_state heap = state_with(4 * MIB, 3 * MIB, 0); /* without a limit: of new space's share */
    heap.keeps = true;
    heap.from_eden = 3 * MIB;
    assert_int_equal(eden_policy_semispace(&heap), 3 * MIB + 3 * MIB / 8);
    heap.live = 0;
    heap.from_eden = 4 * MIB;
    assert_int_equal(eden_policy_semispace(&heap), eden_policy_pages(eden_policy_new_space(EDEN_NO_LIMIT, 0) / 3));
}

/* Scattered survivors cost more to copy; an eden that takes all memory is collected less often. */
TEST(eden_is_promoted_in_place_where_copying_is_more_work) {
    struct eden_policy_state heap = {.limit = 64 * MIB, .eden = 20 * MIB, .allocated = 20 * MIB};
    heap.survived = 10 * MIB;
    assert_false(eden_policy_is_in_place(&heap, 0));
    heap.scattered = 10 * MIB;
    assert_true(eden_policy_is_in_place(&heap, 0));
    heap.eden = heap.allocated = 4 * MIB; /* of a larger one less may survive */
    heap.survived = heap.scattered = 2 * MIB;
    assert_false(eden_policy_is_in_place(&heap, 0));
    heap.survived = heap.scattered = 4 * MIB; /* but this says more */
    assert_true(eden_policy_is_in_place(&heap, 0));
    heap.eden = heap.allocated = heap.survived = heap.scattered = MIB / 2;
    assert_false(eden_policy_is_in_place(&heap, 0));
    heap.eden = heap.allocated = 20 * MIB;
    heap.survived = heap.scattered = 10 * MIB;
    assert_false(eden_policy_is_in_place(&heap, 8 * MIB)); /* beside such semispaces eden may be twice as large */
    heap.live = heap.used = 30 * MIB;                      /* is marked each time */
    assert_false(eden_policy_is_in_place(&heap, 0));
    assert_false(eden_policy_scatters(true, 64, 4)); /* as in a queue, which hardly lets an object grow old */
    assert_true(eden_policy_scatters(true, 64, 5));
    assert_false(eden_policy_scatters(false, 64, 64)); /* a structure that grows */
    assert_true(eden_policy_stays_in_place(40 * MIB, 40 * MIB, 0, 10 * MIB));
    assert_false(eden_policy_stays_in_place(40 * MIB, MIB, 1, MIB));
}

TEST(new_space_leaves_room_for_what_lives) {
    for (uint64_t limit = MIB; limit < 4096 * MIB; limit *= 2) {
        for (uint64_t live = 0; live < limit; live += limit / 7) {
            uint64_t most = eden_policy_most(limit, live);
            assert_int_equal(most % EDEN_POLICY_PAGE, 0);
            assert_true(most == EDEN_POLICY_LEAST || most / 5 * 7 + live + live / 8 <= limit);
            assert_true(most == EDEN_POLICY_LEAST || most / 5 * 7 <= limit / 2 + EDEN_POLICY_PAGE);
        }
    }
    assert_true(eden_policy_most(EDEN_NO_LIMIT, 0) <= EDEN_POLICY_SPARE);
    assert_true(eden_policy_most(EDEN_NO_LIMIT, 1024 * MIB) / 5 * 7 <= 512 * MIB);
}

TEST(old_space_waits_as_long_as_memory_allows) {
    assert_int_equal(eden_policy_old(100 * MIB, 30 * MIB, 10 * MIB).bytes, 70 * MIB);
    assert_int_equal(eden_policy_old(20 * MIB, 30 * MIB, 10 * MIB).bytes, 0);
    assert_int_equal(eden_policy_old(EDEN_NO_LIMIT, 30 * MIB, 10 * MIB).bytes, 10 * MIB + EDEN_POLICY_SPARE);
    assert_int_equal(eden_policy_old(EDEN_NO_LIMIT, 30 * MIB, 400 * MIB).bytes, 700 * MIB);
    assert_false(eden_policy_collects(70 * MIB, 60 * MIB, 10 * MIB, 10 * MIB));
    assert_true(eden_policy_collects(70 * MIB, 60 * MIB, 10 * MIB, 10 * MIB + 1));
    assert_false(eden_policy_collects(70 * MIB, 70 * MIB, 68 * MIB, 10 * MIB)); /* hardly any of it is new */
}

TEST(choices_have_their_reasons) {
    struct eden_policy_state heap = state_with(4 * MIB, 4 * MIB, 0);
    assert_int_equal(eden_policy_eden(&heap, 0).reason, EDEN_REASON_SURVIVAL);
    heap = state_with(8 * MIB, 0, EDEN_POLICY_QUIET);
    assert_int_equal(eden_policy_eden(&heap, 0).reason, EDEN_REASON_QUIET);
    heap.limit = heap.live + 16 * MIB; /* leaves less than half of eden */
    assert_int_equal(eden_policy_eden(&heap, 0).reason, EDEN_REASON_MEMORY);
    heap = state_with(512 * MIB, 512 * MIB, 0); /* grows, but not to the double */
    heap.live = 2048 * MIB;
    assert_true(eden_policy_eden(&heap, 0).bytes > 512 * MIB);
    assert_int_equal(eden_policy_eden(&heap, 0).reason, EDEN_REASON_MEMORY);
    assert_int_equal(eden_policy_old(100 * MIB, 30 * MIB, 10 * MIB).reason, EDEN_REASON_LIMIT);
    assert_int_equal(eden_policy_old(EDEN_NO_LIMIT, 30 * MIB, 10 * MIB).reason, EDEN_REASON_LIVE);
}

/* ---- heaps ------------------------------------------------------------------------------------------------------- */

static uint64_t mapped(const struct world *w) { return w->heap->new_space.bytes + w->heap->old.capacity; }

/* A list of `pairs` pairs in *list, with as many dead ones between as `dead`. */
static void make_list(const struct world *w, eden_value *list, size_t pairs, size_t dead, uint64_t limit) {
    for (size_t i = 0; i < pairs; i++) {
        for (size_t j = 0; j < dead; j++) {
            assert_true(eden_new(w->m, w->pair) != EDEN_NONE);
        }
        eden_value pair = eden_new(w->m, w->pair);
        assert_true(pair != EDEN_NONE);
        eden_slot_set(w->m, pair, 0, eden_int((int64_t)i));
        eden_slot_set(w->m, pair, 1, *list);
        *list = pair;
        assert_true(mapped(w) <= limit);
    }
}

/* Allocates `bytes` of objects that die at once. The rule counts bytes: few of 1,000 do for many small ones. */
static void let_die(const struct world *w, size_t bytes) {
    enum { OBJECT = 1000 };
    for (size_t i = 0; i < bytes / OBJECT; i++) {
        assert_true(eden_new_raw(w->m, w->bytes, OBJECT) != EDEN_NONE);
    }
}

static void check_list(eden_value list, size_t pairs) {
    while (pairs-- > 0) {
        assert_int_equal(eden_int_value(eden_slot(list, 0)), pairs);
        list = eden_slot(list, 1);
    }
    assert_true(list == EDEN_NONE);
}

TEST(eden_grows_where_much_survives_and_shrinks_after) {
    WORLD(w, "policy=auto");
    assert_int_equal(w.heap->params.eden_size, EDEN_POLICY_FIRST);
    EDEN_FRAME(w.m, list, 1);
    make_list(&w, list, 1000000, 1, UINT64_MAX);
    assert_true(w.heap->params.eden_size >= 8 * MIB);
    assert_int_equal(figures_of(&w).eden_size, w.heap->params.eden_size);
    check_list(list[0], 1000000);
    list[0] = EDEN_NONE;
    let_die(&w, 1200 * MIB);
    assert_int_equal(w.heap->params.eden_size, EDEN_POLICY_FIRST);
}

/* Where there is a limit; the first to get what eden does not use is old space, before it is collected. */
TEST(an_eden_that_shrinks_keeps_its_pages_until_they_are_needed) {
    WORLD(w, "policy=auto,max_heap=64M");
    const struct new_space *new = &w.heap->new_space;
    EDEN_FRAME(w.m, local, 2);
    make_list(&w, &local[0], 300000, 0, 64 * MIB);
    local[0] = EDEN_NONE;
    let_die(&w, 480 * MIB);
    assert_int_equal(w.heap->params.eden_size, EDEN_POLICY_FIRST);
    assert_true(new->eden_end - new->eden_start > 2 * EDEN_POLICY_FIRST);
    eden_full_collect(w.m);
    const eden_figures before = figures_of(&w);
    uint64_t free = 64 * MIB - mapped(&w);
    local[0] = new_sized(&w, free + MIB); /* more than is left */
    assert_true(local[0] != EDEN_NONE);
    assert_true(mapped(&w) <= 64 * MIB);
    assert_int_equal(figures_of(&w).full_collections, before.full_collections);
    verify(&w);
}

/* What is to be allocated has no room but that of eden, which has its largest part of the limit: it gets all but the
 * least. With nothing old, eden is emptied first. */
TEST(an_object_that_finds_no_room_takes_that_of_eden) {
    const size_t least = 2 * MIB; /* eden, its semispaces, and another new space */
    for (size_t pairs = 0; pairs <= 1500000; pairs += 500000) {
        WORLD(w, "policy=auto,max_heap=64M");
        EDEN_FRAME(w.m, local, 2);
        make_list(&w, &local[0], pairs, 0, 64 * MIB);
        if (pairs == 0) {
            local[0] = eden_new(w.m, w.pair);
            eden_slot_set(w.m, local[0], 0, eden_int(0));
        } else {
            eden_full_collect(w.m);
        }
        size_t wanted = 64 * MIB - w.heap->old.capacity - least;
        local[1] = new_sized(&w, wanted);
        assert_true(local[1] != EDEN_NONE);
        assert_true(mapped(&w) <= 64 * MIB);
        check_list(local[0], pairs == 0 ? 1 : pairs);
        verify(&w);
        local[1] = EDEN_NONE;
        make_list(&w, &local[1], 500000, 1, 64 * MIB);
        check_list(local[1], 500000);
        verify(&w);
    }
}

/* What would not do either is left alone. */
TEST(an_object_that_finds_no_room_at_all_takes_nothing_from_eden) {
    WORLD(w, "policy=auto,max_heap=64M");
    EDEN_FRAME(w.m, local, 1);
    make_list(&w, &local[0], 500000, 0, 64 * MIB);
    eden_full_collect(w.m);
    const uint64_t size = w.heap->params.eden_size;
    assert_true(size > EDEN_POLICY_LEAST);
    assert_true(new_sized(&w, 64 * MIB) == EDEN_NONE);
    assert_true(w.heap->params.eden_size == size);
    check_list(local[0], 500000);
    verify(&w);
}

TEST(all_that_is_mapped_stays_within_the_limit) {
    WORLD(w, "policy=auto,max_heap=64M");
    EDEN_FRAME(w.m, list, 1);
    for (int round = 0; round < 8; round++) {
        list[0] = EDEN_NONE;
        make_list(&w, list, 700000, (size_t)round % 3, 64 * MIB);
        check_list(list[0], 700000);
        verify(&w);
    }
    assert_int_equal(figures_of(&w).alloc_failures, 0);
}

/* However suddenly all survives, old space has room for it: eden is no larger than what could be promoted. */
TEST(what_suddenly_survives_finds_room) {
    for (uint64_t limit = 24; limit <= 60; limit += 4) {
        char parameters[64];
        snprintf(parameters, sizeof parameters, "policy=auto,max_heap=%dM", (int)limit);
        WORLD(w, parameters);
        EDEN_FRAME(w.m, lists, 3);
        const size_t some = limit * MIB / 24 * 4 / 10;
        make_list(&w, &lists[0], some, 0, limit * MIB);
        let_die(&w, 24 * MIB);
        make_list(&w, &lists[1], some, 0, limit * MIB);
        check_list(lists[0], some);
        check_list(lists[1], some);
        assert_false(w.heap->is_mixed);
        assert_int_equal(figures_of(&w).alloc_failures, 0);
        verify(&w);
    }
}

/* More than the limit has room for: an error, and the heap is as usable as before. */
TEST(too_much_fails_and_the_heap_lives_on) {
    WORLD(w, "policy=auto,max_heap=8M");
    EDEN_FRAME(w.m, list, 1);
    size_t made = 0;
    for (eden_value pair; (pair = eden_new(w.m, w.pair)) != EDEN_NONE; made++) {
        eden_slot_set(w.m, pair, 0, eden_int((int64_t)made));
        eden_slot_set(w.m, pair, 1, list[0]);
        list[0] = pair;
        assert_true(mapped(&w) <= 8 * MIB);
    }
    assert_true(made * 24 > 6 * MIB);
    check_list(list[0], made);
    verify(&w);
    list[0] = EDEN_NONE;
    make_list(&w, list, made / 2, 1, 8 * MIB);
    check_list(list[0], made / 2);
}

/* The control group's memory: a program whose live objects leave room in it stays below it. */
static uint64_t most_mapped_of_a_queue(uint64_t memory) {
    WORLD(w, "policy=auto");
    EDEN_FRAME(w.m, lists, 2);
    w.heap->group_memory = memory;
    uint64_t most = 0;
    make_list(&w, &lists[0], 3000000, 0, UINT64_MAX); /* 69 MiB */
    for (int i = 0; i < 60; i++) {                    /* as much again is old when it dies */
        lists[1] = EDEN_NONE;
        for (int j = 0; j < 400000; j++) {
            eden_value pair = eden_new(w.m, w.pair);
            assert_true(pair != EDEN_NONE);
            eden_slot_set(w.m, pair, 1, lists[1]);
            lists[1] = pair;
            most = mapped(&w) > most ? mapped(&w) : most;
        }
    }
    assert_int_equal(figures_of(&w).alloc_failures, 0);
    check_list(lists[0], 3000000);
    verify(&w);
    return most;
}

TEST(memory_of_the_control_group_is_left_to_others) {
    const uint64_t group = 128 * MIB;
    assert_true(most_mapped_of_a_queue(EDEN_NO_LIMIT) > group);
    assert_true(most_mapped_of_a_queue(group / 4 * 3) < group);
}

/* It is a wish: more than that may live, and is collected no more often than it is worth. */
TEST(memory_of_the_control_group_refuses_nothing) {
    WORLD(w, "policy=auto");
    EDEN_FRAME(w.m, list, 1);
    w.heap->group_memory = 16 * MIB;
    make_list(&w, list, 3000000, 1, UINT64_MAX); /* 69 MiB */
    check_list(list[0], 3000000);
    assert_true(figures_of(&w).full_collections < 40);
    verify(&w);
}

/* Also where the rule keeps some of the limit for itself. */
TEST(an_error_names_the_limit) {
    for (int limit = 8; limit <= 64; limit *= 2) {
        char parameters[64];
        snprintf(parameters, sizeof parameters, "policy=auto,max_heap=%dM", limit);
        WORLD(w, parameters);
        EDEN_FRAME(w.m, list, 1);
        for (eden_value pair; (pair = eden_new(w.m, w.pair)) != EDEN_NONE; list[0] = pair) {
            eden_slot_set(w.m, pair, 1, list[0]);
        }
        assert_non_null(strstr(eden_last_error(w.m)->message, "max_heap="));
    }
}

TEST(memory_is_returned_when_less_lives) {
    WORLD(w, "policy=auto");
    EDEN_FRAME(w.m, list, 1);
    make_list(&w, list, 6000000, 0, UINT64_MAX);
    eden_full_collect(w.m);
    assert_true(w.heap->old.capacity > 128 * MIB);
    assert_true(w.heap->new_space.bytes > 2 * EDEN_POLICY_SPARE);
    list[0] = EDEN_NONE;
    eden_full_collect(w.m);
    assert_true(w.heap->old.capacity <= 2 * EDEN_POLICY_SPARE);
    assert_true(w.heap->new_space.bytes <= EDEN_POLICY_SPARE / 5 * 7);
}

TEST(what_is_set_is_pinned) {
    WORLD(w, "policy=auto,eden_size=1M,full_gc_ratio=0.1");
    EDEN_FRAME(w.m, list, 1);
    make_list(&w, list, 1000000, 0, UINT64_MAX);
    assert_int_equal(w.heap->params.eden_size, MIB);
    assert_int_equal(w.heap->new_space.bytes, w.heap->new_space.eden_most + 2 * system_page_round(MIB / 5));
    assert_true(figures_of(&w).full_by_cause[EDEN_FULL_RATIO] > 1);
}

/* Old space keeps no more than shrink_threshold says, and is not collected below full_gc_min_old. */
TEST(what_is_set_of_old_space_is_pinned) {
    WORLD(w, "policy=auto,max_heap=256M,shrink_threshold=0,grow_headroom=64K");
    EDEN_FRAME(w.m, list, 1);
    make_list(&w, list, 2000000, 0, 256 * MIB);
    list[0] = EDEN_NONE;
    eden_full_collect(w.m);
    assert_true(w.heap->old.capacity <= MIB);
    for (int pinned = 0; pinned < 2; pinned++) {
        WORLD(growing, pinned ? "policy=auto,full_gc_min_old=1G" : "policy=auto");
        EDEN_FRAME(growing.m, kept, 1);
        make_list(&growing, kept, 3000000, 0, UINT64_MAX);
        assert_int_equal(figures_of(&growing).full_by_cause[EDEN_FULL_RATIO] != 0, !pinned);
    }
}

/* Where parameters decide what is returned, the compactor makes whole segments free for it. */
TEST(sparse_segments_are_evacuated_for_what_is_set) {
    const char *const pinned[] = {"policy=auto,full_gc_ratio=inf,shrink_threshold=0,grow_headroom=64K",
                                  "policy=auto,shrink_threshold=0,grow_headroom=64K", "policy=auto,full_gc_ratio=inf"};
    for (size_t i = 0; i < sizeof pinned / sizeof pinned[0]; i++) {
        WORLD(w, pinned[i]);
        EDEN_FRAME(w.m, lists, 2); /* one node of 64 in the first */
        for (size_t n = 0; n < 4000000; n++) {
            eden_value pair = eden_new(w.m, w.pair);
            eden_slot_set(w.m, pair, 1, lists[n % 64 != 0]);
            lists[n % 64 != 0] = pair;
        }
        eden_full_collect(w.m);
        assert_true(w.heap->old.capacity > 64 * MIB);
        lists[1] = EDEN_NONE;
        eden_full_collect(w.m);
        assert_true(w.heap->old.capacity <= 40 * MIB);
    }
}

/* A heap may be given to the rule later, with the eden that it has. */
TEST(the_policy_may_be_set_later) {
    WORLD(w, "policy=fixed,max_heap=64M");
    EDEN_FRAME(w.m, list, 1);
    make_list(&w, list, 100000, 1, 64 * MIB);
    set_parameter(&w, "policy", "auto");
    eden_scavenge(w.m);
    assert_int_equal(w.heap->params.eden_size, 16 * MIB);
    make_list(&w, list, 700000, 1, 64 * MIB);
    list[0] = EDEN_NONE;
    let_die(&w, 480 * MIB);
    assert_int_equal(w.heap->params.eden_size, EDEN_POLICY_FIRST);
    set_parameter(&w, "policy", "fixed");
    make_list(&w, list, 700000, 1, 64 * MIB);
    assert_int_equal(w.heap->params.eden_size, EDEN_POLICY_FIRST);
    check_list(list[0], 700000);
}

/* Large objects grow old space as far as the rule lets it, before a full collection. */
TEST(large_objects_wait_for_the_goal) {
    WORLD(w, "policy=auto,max_heap=64M");
    for (int i = 0; i < 24; i++) {
        assert_true(eden_new_raw(w.m, w.bytes, 2 * MIB) != EDEN_NONE);
    }
    assert_int_equal(figures_of(&w).full_collections, 0);
    for (int i = 0; i < 24; i++) {
        assert_true(eden_new_raw(w.m, w.bytes, 2 * MIB) != EDEN_NONE);
    }
    assert_int_equal(figures_of(&w).full_collections, 1);
}

/* Decisions follow work alone, of one thread: what several tenure on overflow hangs on who was first. */
TEST(two_runs_decide_alike) {
    eden_figures figures[2];
    for (int i = 0; i < 2; i++) {
        WORLD(w, "policy=auto,max_heap=64M");
        EDEN_FRAME(w.m, list, 1);
        for (int round = 0; round < 4; round++) {
            list[0] = EDEN_NONE;
            make_list(&w, list, 500000, 2, UINT64_MAX);
        }
        figures[i] = figures_of(&w);
    }
    assert_int_equal(figures[0].scavenges, figures[1].scavenges);
    assert_int_equal(figures[0].full_collections, figures[1].full_collections);
    assert_int_equal(figures[0].tenured_bytes, figures[1].tenured_bytes);
    assert_int_equal(figures[0].eden_size, figures[1].eden_size);
}

/* A queue of `kept` pairs through which `pairs` go. ends: its first and its last. */
static void run_queue(const struct world *w, eden_value *ends, size_t kept, size_t pairs) {
    for (size_t i = 0; i < pairs; i++) {
        eden_value pair = eden_new(w->m, w->pair);
        assert_true(pair != EDEN_NONE);
        if (ends[1] == EDEN_NONE) {
            ends[0] = pair;
        } else {
            eden_slot_set(w->m, ends[1], 1, pair);
        }
        ends[1] = pair;
        ends[0] = i >= kept ? eden_slot(ends[0], 1) : ends[0];
    }
}

/* What a queue lets go of refers to the next: once it is old, it keeps all that follows. */
TEST(a_queue_dies_young) {
    WORLD(w, "policy=auto,max_heap=64M");
    EDEN_FRAME(w.m, ends, 2);
    run_queue(&w, ends, 300000, 8000000);
    eden_figures before = figures_of(&w);
    assert_true(before.full_collections > 0);
    assert_true(w.heap->policy.rule.semispace > 300000 * 24);
    run_queue(&w, ends, 0, 8000000);
    eden_figures after = figures_of(&w);
    assert_true(after.scavenges >= before.scavenges + 4);
    assert_int_equal(after.full_collections, before.full_collections);
    assert_int_equal(after.tenured_bytes, before.tenured_bytes);
    assert_true(mapped(&w) <= 64 * MIB);
    verify(&w);
}

/* A parameter that is set decides, also later; and what is due is collected once, not at each scavenge on request. */
TEST(survivors_stay_young_until_a_parameter_decides) {
    WORLD(w, "policy=auto,max_heap=64M");
    EDEN_FRAME(w.m, ends, 2);
    run_queue(&w, ends, 300000, 8000000);
    assert_true(policy_keeps(w.heap) && w.heap->policy.rule.semispace != 0);
    uint64_t fulls = figures_of(&w).full_collections;
    w.heap->policy.rule.keeping.is_due = true;
    for (int i = 0; i < 8; i++) {
        eden_scavenge(w.m);
    }
    assert_int_equal(figures_of(&w).full_collections, fulls + 1);
    set_parameter(&w, "tenure_proportion", "0.5");
    assert_false(policy_keeps(w.heap));
    run_queue(&w, ends, 0, 3000000);
    assert_int_equal(w.heap->policy.rule.semispace, 0);
    verify(&w);
}

/* Each slot of a table is replaced at random: what survived once is likely to survive again. */
TEST(what_survives_again_is_tenured) {
    WORLD(w, "policy=auto,max_heap=32M,shrink_threshold=32M"); /* so that nothing is promoted in place */
    EDEN_FRAME(w.m, table, 1);
    enum { SLOTS = 500000 };
    table[0] = eden_new_slots(w.m, w.array, SLOTS);
    uint64_t random = 88172645463325252ull;
    bool kept = false;
    for (size_t i = 0; i < 10000000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        eden_value pair = eden_new(w.m, w.pair);
        assert_true(pair != EDEN_NONE);
        eden_slot_set(w.m, table[0], random % SLOTS, pair);
        kept |= w.heap->policy.rule.semispace != 0;
    }
    assert_true(kept);
    assert_int_equal(w.heap->policy.rule.semispace, 0);
    assert_true(w.heap->policy.rule.keeping.patience >= 2 * EDEN_POLICY_PATIENCE);
    verify(&w);
}

/* Of a list that grows everything survives, of what comes after it nothing. */
TEST(survivors_that_last_are_copied_once) {
    WORLD(w, "policy=auto");
    EDEN_FRAME(w.m, list, 1);
    make_list(&w, list, 1000000, 0, UINT64_MAX);
    assert_true(policy_tenures_all(w.heap));
    list[0] = EDEN_NONE;
    eden_scavenge(w.m);
    eden_figures before = figures_of(&w);
    make_list(&w, list, 1000, 0, UINT64_MAX);
    eden_scavenge(w.m);
    assert_int_equal(heap_survivor_used(w.heap), 0);
    assert_int_equal(figures_of(&w).tenured_bytes - before.tenured_bytes, 24000);
    check_list(list[0], 1000);
    set_parameter(&w, "tenure_proportion", "0.5"); /* it decides */
    assert_false(policy_tenures_all(w.heap));
    list[0] = EDEN_NONE;
    make_list(&w, list, 1000, 0, UINT64_MAX);
    eden_scavenge(w.m);
    assert_int_equal(heap_survivor_used(w.heap), 24000);
    verify(&w);
}

TEST(tenuring_at_once_ends_where_survivors_die) {
    WORLD(w, "policy=auto");
    EDEN_FRAME(w.m, list, 1);
    make_list(&w, list, 1000000, 0, UINT64_MAX);
    assert_true(policy_tenures_all(w.heap));
    uint64_t scavenges = figures_of(&w).scavenges;
    while (figures_of(&w).scavenges < scavenges + 2 * EDEN_POLICY_AT_ONCE) {
        list[0] = EDEN_NONE; /* each scavenge finds some of them alive, and the next one finds them dead */
        make_list(&w, list, 100000, 0, UINT64_MAX);
    }
    assert_false(policy_tenures_all(w.heap));
    verify(&w);
}

/* The system refuses more memory: the size stays. */
TEST(refused_growth_keeps_the_size) {
    struct refusal refusal = {LONG_MAX, LONG_MAX, 0};
    WORLD_REFUSING(w, "policy=auto", &refusal);
    EDEN_FRAME(w.m, list, 1);
    make_list(&w, list, 100000, 0, UINT64_MAX);
    refusal.from = 0;
    uint64_t before = mapped(&w);
    for (size_t i = 0; i < 200000; i++) {
        eden_value pair = eden_new(w.m, w.pair);
        if (pair == EDEN_NONE) {
            break;
        }
        eden_slot_set(w.m, pair, 1, list[0]);
        list[0] = pair;
    }
    assert_true(mapped(&w) <= before);
    verify(&w);
    refusal.from = LONG_MAX;
}

/* ---- decisions --------------------------------------------------------------------------------------------------- */

extern volatile unsigned short eden_policy__decide_semaphore;

/* What the probe has reported, and an observer that compares it with the heap after each collection. */
static struct watch {
    struct observer observer;
    uint64_t value[EDEN_DECISIONS]; /* in force, as reported; before the first decision as the heap had it */
    uint64_t count[EDEN_DECISIONS], because[EDEN_DECISION_REASONS];
    uint64_t seq; /* of the latest */
} watch;

/* Instead of the probe's site: the linker leads the runtime's calls here. */
void __wrap_eden_probe_policy__decide(const void *heap, uint64_t seq, uint64_t decision, uint64_t from_bytes,
                                      uint64_t to_bytes, uint64_t reason);
void __wrap_eden_probe_policy__decide(const void *heap, uint64_t seq, uint64_t decision, uint64_t from_bytes,
                                      uint64_t to_bytes, uint64_t reason) {
    const eden_heap *of = heap;
    assert_ptr_equal(of, watch.observer.heap);
    assert_int_equal(seq, of->info.seq + 1);
    assert_true(decision < EDEN_DECISIONS && reason < EDEN_DECISION_REASONS);
    assert_int_equal(reason == EDEN_REASON_LIMIT || reason == EDEN_REASON_LIVE, decision == EDEN_DECISION_OLD_GOAL);
    assert_int_equal(reason == EDEN_REASON_TURNOVER || reason == EDEN_REASON_LASTING,
                     decision == EDEN_DECISION_SEMISPACE);
    assert_true(decision != EDEN_DECISION_SEMISPACE || (reason == EDEN_REASON_LASTING) == (to_bytes == 0));
    assert_true(from_bytes != to_bytes);
    assert_int_equal(from_bytes, watch.value[decision]);
    assert_int_equal(to_bytes, decision == EDEN_DECISION_EDEN       ? of->params.eden_size
                               : decision == EDEN_DECISION_OLD_GOAL ? policy_old_goal(of)
                                                                    : of->policy.rule.semispace);
    assert_true(reason != EDEN_REASON_SURVIVAL || to_bytes > from_bytes);
    assert_true(reason != EDEN_REASON_QUIET || to_bytes < from_bytes);
    watch.value[decision] = to_bytes;
    watch.count[decision]++;
    watch.because[reason]++;
    watch.seq = seq;
}

static void compare(struct observer *self) {
    const eden_heap *heap = self->heap;
    char text[32];
    assert_true(eden_heap_get(heap, "eden_size", text, sizeof text));
    assert_int_equal(strtoull(text, NULL, 10), watch.value[EDEN_DECISION_EDEN]);
    assert_int_equal(heap->info.figures[EDEN_FIGURE_eden_size], watch.value[EDEN_DECISION_EDEN]);
    assert_int_equal(policy_old_goal(heap), watch.value[EDEN_DECISION_OLD_GOAL]);
    assert_true(watch.seq <= heap->info.seq);
}

static void watch_begin(const struct world *w) {
    static const struct observer_calls calls = {.after_scavenge = compare, .after_full = compare};
    watch = (struct watch){.value = {w->heap->params.eden_size, policy_old_goal(w->heap)}};
    observer_subscribe(&watch.observer, w->heap, &calls);
    eden_policy__decide_semaphore = 1;
}

static void watch_end(void) { eden_policy__decide_semaphore = 0; }

TEST(each_change_is_reported) {
    WORLD(w, "policy=auto");
    EDEN_FRAME(w.m, list, 1);
    watch_begin(&w);
    make_list(&w, list, 1000000, 1, UINT64_MAX);
    eden_full_collect(w.m);
    assert_true(watch.because[EDEN_REASON_SURVIVAL] >= 1 && watch.because[EDEN_REASON_LIVE] >= 1);
    list[0] = EDEN_NONE;
    let_die(&w, 480 * MIB);
    assert_true(watch.because[EDEN_REASON_QUIET] >= 2);
    eden_full_collect(w.m); /* nothing lives: as at the beginning */
    assert_int_equal(watch.value[EDEN_DECISION_OLD_GOAL], EDEN_POLICY_SPARE);
    assert_int_equal(watch.because[EDEN_REASON_LIMIT], 0);
    watch_end();
}

TEST(each_change_within_a_limit_is_reported) {
    WORLD(w, "policy=auto,max_heap=32M");
    EDEN_FRAME(w.m, list, 1);
    watch_begin(&w);
    for (int round = 0; round < 8; round++) {
        list[0] = EDEN_NONE;
        make_list(&w, list, 500000, (size_t)round % 3, 32 * MIB);
    }
    assert_true(watch.because[EDEN_REASON_MEMORY] > 0 && watch.because[EDEN_REASON_LIMIT] > 0);
    assert_true(watch.because[EDEN_REASON_MAPPED] > 0);
    assert_int_equal(watch.because[EDEN_REASON_LIVE], 0);
    assert_true(watch.because[EDEN_REASON_PROMOTION] > 0);
    watch_end();
}

TEST(a_new_limit_is_reported_by_the_next_collection) {
    WORLD(w, "policy=auto,eden_size=1M,max_heap=32M");
    watch_begin(&w);
    set_parameter(&w, "max_heap", "64M");
    assert_int_equal(watch.count[EDEN_DECISION_OLD_GOAL], 0);
    eden_scavenge(w.m);
    assert_int_equal(watch.count[EDEN_DECISION_OLD_GOAL], 1);
    assert_int_equal(watch.value[EDEN_DECISION_OLD_GOAL], 64 * MIB - w.heap->new_space.bytes);
    set_parameter(&w, "max_heap", "none");
    eden_scavenge(w.m);
    assert_int_equal(watch.because[EDEN_REASON_LIVE], 1);
    assert_int_equal(watch.value[EDEN_DECISION_OLD_GOAL], EDEN_POLICY_SPARE);
    /* From now on the parameters decide, which is no decision of the policy. */
    set_parameter(&w, "full_gc_ratio", "2");
    watch.value[EDEN_DECISION_OLD_GOAL] = EDEN_NO_LIMIT;
    eden_scavenge(w.m);
    assert_int_equal(watch.count[EDEN_DECISION_OLD_GOAL], 2);
    assert_int_equal(watch.count[EDEN_DECISION_EDEN], 0);
    watch_end();
}

TEST(parameters_that_are_set_decide_silently) {
    static const char *const parameters[] = {"policy=fixed", "policy=fixed,max_heap=32M",
                                             "policy=auto,eden_size=1M,full_gc_ratio=0.5"};
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        WORLD(w, parameters[i]);
        EDEN_FRAME(w.m, list, 1);
        watch_begin(&w);
        make_list(&w, list, 300000, 2, UINT64_MAX);
        list[0] = EDEN_NONE;
        eden_full_collect(w.m);
        watch_end();
        assert_int_equal(watch.count[EDEN_DECISION_EDEN] + watch.count[EDEN_DECISION_OLD_GOAL], 0);
    }
}

/* Where the system refuses more memory the size stays, and nothing is reported. */
TEST(refused_growth_is_no_decision) {
    struct refusal refusal = {LONG_MAX, LONG_MAX, 0};
    WORLD_REFUSING(w, "policy=auto", &refusal);
    EDEN_FRAME(w.m, list, 1);
    watch_begin(&w);
    refusal.from = 0;
    while (figures_of(&w).alloc_failures == 0) {
        eden_value pair = eden_new(w.m, w.pair);
        if (pair != EDEN_NONE) {
            eden_slot_set(w.m, pair, 1, list[0]);
            list[0] = pair;
        }
    }
    assert_int_equal(watch.count[EDEN_DECISION_EDEN], 0);
    assert_int_equal(watch.value[EDEN_DECISION_EDEN], EDEN_POLICY_FIRST);
    refusal.from = LONG_MAX;
    watch_end();
}

/* Between collections large objects take room from eden: the next collection reports it. */
TEST(room_taken_by_large_objects_is_reported_by_the_next_collection) {
    WORLD(w, "policy=auto,max_heap=16M");
    EDEN_FRAME(w.m, local, 6);
    watch_begin(&w);
    for (size_t i = 0; i < 6; i++) {
        local[i] = eden_new_raw(w.m, w.bytes, 2 * MIB);
        assert_true(local[i] != EDEN_NONE);
    }
    assert_true(w.heap->params.eden_size < EDEN_POLICY_FIRST);
    assert_int_equal(watch.count[EDEN_DECISION_EDEN], 0);
    eden_scavenge(w.m);
    assert_int_equal(watch.count[EDEN_DECISION_EDEN], 1);
    assert_int_equal(watch.because[EDEN_REASON_PROMOTION], 1);
    memset(local, 0, sizeof(eden_value) * 6);
    eden_full_collect(w.m);
    assert_int_equal(watch.value[EDEN_DECISION_EDEN], EDEN_POLICY_FIRST);
    watch_end();
}

SUITE(collect_alone, NULL)
