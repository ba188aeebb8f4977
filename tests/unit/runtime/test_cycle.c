/* Cycles: old space is marked in steps while the program runs, and what the program does meanwhile loses no object.
 * Afterwards it is swept in steps. */
#include "heap/policy.h"
#include "old/full.h"
#include "support.h"
#include "young/scavenge.h"

#define FIXED "policy=fixed,eden_size=256K,grow_headroom=1M,full_gc_ratio=inf,compactor=none,pause_goal=10"

enum { NODES = 2000 };

static bool is_marked(eden_value v) { return object_has(v, EDEN_HEADER_MARKED); }
static bool runs(const struct world *w) { return cycle_is_running(&w->heap->cycle); }

/* A step that scans this number of objects. */
static void step(const struct world *w, uint64_t objects) {
    w->heap->cycle.step_objects = objects;
    eden_scavenge(w->m);
    verify(w);
}

static void begin(const struct world *w, uint64_t objects) {
    assert_false(runs(w));
    w->heap->cycle.is_forced = true;
    step(w, objects);
    w->heap->cycle.is_forced = false;
    assert_true(runs(w));
    assert_true(w->m->barrier_words > w->m->young_words);
    assert_non_null(w->heap->old.sweep.pages);
    assert_int_equal(w->heap->info.activity, EDEN_ACTIVITY_BESIDE);
    assert_int_equal(w->heap->info.phase, EDEN_PHASE_scavenge__mark);
}

/* The last stop. */
static void finish(const struct world *w) {
    full_collect(w->heap, EDEN_FULL_RATIO, 0);
    assert_null(w->heap->old.sweep.pages);
    verify(w);
    lazy_sweep_all(w->heap);
    verify(w);
    assert_false(runs(w));
    assert_true(w->m->barrier_words == w->m->young_words);
    assert_int_equal(w->heap->cycle.stack.count, 0);
    assert_int_equal(w->heap->cycle.left_count, 0);
    assert_int_equal(w->heap->info.activity, EDEN_ACTIVITY_RUNNING);
}

/* A list of old pairs; each has its number in slot 1. */
static void make_old_list(const struct world *w, eden_value *list, size_t nodes) {
    for (size_t i = 0; i < nodes; i++) {
        eden_value pair = eden_new(w->m, w->pair);
        eden_slot_set(w->m, pair, 0, *list);
        eden_slot_set(w->m, pair, 1, eden_int((int64_t)i));
        *list = pair;
    }
    make_old(w, list);
}

/* Cuts a list after this number of nodes, and returns the first node of the rest. */
static eden_value cut(const struct world *w, eden_value list, size_t nodes) {
    while (nodes-- > 1) {
        list = eden_slot(list, 0);
    }
    eden_value rest = eden_slot(list, 0);
    eden_slot_set(w->m, list, 0, EDEN_NONE);
    return rest;
}

/* In local[0] an old array that a cycle has scanned, in local[1] an old list whose end it has not come to. */
static void begin_with_black_array(const struct world *w, eden_value *local, size_t slots) {
    local[0] = eden_new_slots(w->m, w->array, slots);
    make_old_list(w, &local[1], NODES);
    assert_true(is_old(w, local[0]));
    set_parameter(w, "tenure_proportion", "0");
    w->heap->tenure_threshold = 0;
    begin(w, slots / 32 + 4);
    assert_true(is_marked(local[0]) && is_marked(local[1]));
}

/* The end of the list is what `rest` says, and nothing else of it is left. */
static void assert_rest_lives(const struct world *w, eden_value rest, size_t nodes) {
    finish(w);
    for (size_t i = nodes; i-- > 0; rest = eden_slot(rest, 0)) {
        assert_true(eden_is_a(w->m, rest, w->pair));
        assert_int_equal(eden_int_value(eden_slot(rest, 1)), (int64_t)i);
    }
    assert_true(rest == EDEN_NONE);
}

TEST(the_header_says_since_when_a_cycle_runs) {
    WORLD(w, FIXED);
    EDEN_FRAME(w.m, local, 1);
    make_old_list(&w, &local[0], NODES);
    uint64_t before = system_now_ns();
    begin(&w, NODES / 2);
    uint64_t began = w.heap->info.activity_ns;
    assert_true(began > before && w.heap->info.phase_ns == began);
    step(&w, 1);
    assert_int_equal(w.heap->info.activity, EDEN_ACTIVITY_BESIDE);
    assert_true(w.heap->info.activity_ns == began && w.heap->info.phase_ns == began);
    finish(&w);
    assert_true(w.heap->info.activity_ns > began);
}

TEST(no_cycle_runs_by_default) {
    WORLD(w, "policy=fixed,eden_size=256K,grow_headroom=1M,full_gc_ratio=0.5");
    EDEN_FRAME(w.m, local, 1);
    w.heap->cycle.is_forced = true;
    make_old_list(&w, &local[0], 100 * KIB);
    assert_true(figures_of(&w).full_collections != 0);
    assert_null(w.heap->cycle.stack.entries);
    assert_true(w.m->barrier_words == w.m->young_words);
}

enum how { BY_STORE, BY_STORES, BY_COPY, HOWS };

/* The object is reachable from a scanned one only. */
TEST(what_a_scanned_object_comes_to_hold_lives) {
    for (enum how how = BY_STORE; how < HOWS; how++) {
        for (size_t slots = 10; slots <= 1000; slots *= 100) { /* with cards, too */
            WORLD(w, FIXED);
            EDEN_FRAME(w.m, local, 3);
            begin_with_black_array(&w, local, slots);
            eden_value rest = cut(&w, local[1], NODES / 2);
            assert_false(is_marked(rest));
            if (how == BY_STORE) {
                eden_slot_set(w.m, local[0], 7, rest);
            } else if (how == BY_STORES) {
                eden_slots_set(w.m, local[0], 7, &rest, 1);
            } else {
                local[2] = eden_new_slots(w.m, w.array, 5);
                eden_slot_set(w.m, local[2], 3, rest);
                eden_slots_copy(w.m, local[0], 5, local[2], 1, 4);
                local[2] = EDEN_NONE;
            }
            assert_true(is_marked(rest));
            verify(&w);
            assert_rest_lives(&w, eden_slot(local[0], 7), NODES / 2);
        }
    }
}

/* Stores into it take no slow path. */
TEST(a_remembered_object_is_scanned_by_the_last_stop) {
    WORLD(w, FIXED);
    EDEN_FRAME(w.m, local, 3);
    begin_with_black_array(&w, local, 10);
    local[2] = eden_new(w.m, w.pair);
    eden_slot_set(w.m, local[0], 0, local[2]);
    assert_true(object_has(local[0], EDEN_HEADER_REMEMBERED));
    eden_value rest = cut(&w, local[1], NODES / 2);
    eden_slot_set(w.m, local[0], 7, rest);
    assert_false(is_marked(rest));
    verify(&w);
    assert_rest_lives(&w, rest, NODES / 2);
    assert_true(eden_slot(local[0], 0) == local[2] && eden_slot(local[0], 7) == rest);
}

TEST(an_object_that_is_forgotten_is_scanned_again) {
    for (size_t slots = 10; slots <= 1000; slots *= 100) {
        WORLD(w, FIXED);
        EDEN_FRAME(w.m, local, 3);
        begin_with_black_array(&w, local, slots);
        eden_slot_set(w.m, local[0], 0, eden_new(w.m, w.pair));
        eden_value rest = cut(&w, local[1], NODES / 2);
        eden_slot_set(w.m, local[0], 7, rest);
        eden_slot_set(w.m, local[0], 0, EDEN_NONE);
        step(&w, 1);
        assert_int_equal(heap_remembered(w.heap), 0);
        assert_true(is_marked(rest));
        assert_rest_lives(&w, rest, NODES / 2);
    }
}

TEST(what_is_tenured_is_marked_and_scanned) {
    WORLD(w, FIXED);
    EDEN_FRAME(w.m, local, 3);
    begin_with_black_array(&w, local, 10);
    local[2] = eden_new(w.m, w.pair);
    eden_slot_set(w.m, local[2], 0, cut(&w, local[1], NODES / 2));
    assert_false(is_marked(local[2]));
    w.heap->cycle.step_objects = 1;
    make_old(&w, &local[2]);
    assert_true(is_marked(local[2]));
    verify(&w);
    step(&w, NODES); /* what it refers to */
    assert_true(is_marked(eden_slot(local[2], 0)));
    assert_rest_lives(&w, eden_slot(local[2], 0), NODES / 2);
}

/* A root has no barrier, nor has a young object. */
TEST(roots_and_the_young_are_visited_by_the_last_stop) {
    for (int young = 0; young <= 1; young++) {
        WORLD(w, FIXED);
        EDEN_FRAME(w.m, local, 3);
        begin_with_black_array(&w, local, 10);
        eden_value rest = cut(&w, local[1], NODES / 2);
        local[2] = rest;
        if (young) {
            local[2] = eden_new(w.m, w.pair);
            eden_slot_set(w.m, local[2], 0, rest);
        }
        assert_false(is_marked(rest));
        assert_rest_lives(&w, rest, NODES / 2);
        assert_true(young ? eden_slot(local[2], 0) == rest : local[2] == rest);
    }
}

/* Born marked, and never scanned by a step. */
TEST(large_objects_are_born_marked) {
    WORLD(w, FIXED ",large_object=4096");
    EDEN_FRAME(w.m, local, 3);
    begin_with_black_array(&w, local, 10);
    local[2] = eden_new_slots(w.m, w.array, 1000);
    assert_true(is_old(&w, local[2]) && is_marked(local[2]));
    eden_value rest = cut(&w, local[1], NODES / 2);
    eden_slot_set(w.m, local[2], 999, rest);
    assert_true(is_marked(rest));
    eden_value young = eden_new(w.m, w.pair);
    eden_slot_set(w.m, local[2], 0, young);
    step(&w, 1);
    assert_rest_lives(&w, rest, NODES / 2);
    assert_true(eden_is_a(w.m, eden_slot(local[2], 0), w.pair));
}

/* What has died before a cycle is freed at its end; what dies later, by the next full collection. */
TEST(what_dies_in_a_cycle_lives_until_the_next) {
    WORLD(w, FIXED);
    EDEN_FRAME(w.m, local, 3);
    make_old_list(&w, &local[1], NODES);
    make_old_list(&w, &local[2], NODES);
    local[2] = EDEN_NONE;
    begin(&w, 100 * NODES);
    assert_true(w.heap->cycle.state == CYCLE_MARKED);
    local[1] = EDEN_NONE;
    finish(&w);
    assert_int_equal(count_objects(&w), NODES);
    assert_int_equal(w.heap->cycle.unfinished, 0);
    finish(&w);
    assert_int_equal(count_objects(&w), 0);
}

TEST(a_requested_collection_keeps_nothing_dead) {
    for (uint64_t scanned = 10; scanned <= 100 * NODES; scanned *= 1000) {
        WORLD(w, FIXED);
        EDEN_FRAME(w.m, local, 2);
        make_old_list(&w, &local[1], NODES);
        begin(&w, scanned);
        cut(&w, local[1], NODES / 2);
        eden_full_collect(w.m);
        verify(&w);
        assert_false(runs(&w));
        assert_null(w.heap->cycle.left);
        assert_int_equal(w.heap->cycle.stack.count, 0);
        assert_true(w.m->barrier_words == w.m->young_words);
        assert_int_equal(count_objects(&w), NODES / 2);
    }
}

/* The pages that it has noted are not for the next. */
TEST(a_cycle_may_end_in_sliding) {
    WORLD(w, FIXED ",compactor=planning");
    EDEN_FRAME(w.m, local, 2);
    begin_with_black_array(&w, local, 10);
    finish(&w);
    assert_int_equal(count_objects(&w), NODES + 1);
}

TEST(a_full_collection_ends_a_cycle) {
    WORLD(w, FIXED);
    EDEN_FRAME(w.m, local, 3);
    make_old_list(&w, &local[2], NODES);
    local[2] = EDEN_NONE;
    begin_with_black_array(&w, local, 10);
    finish(&w);
    assert_int_equal(count_objects(&w), NODES + 1);
    assert_int_equal(w.heap->cycle.unfinished, 1);
    begin(&w, 3);
    finish(&w);
    assert_int_equal(count_objects(&w), NODES + 1);
}

static size_t unswept(const struct world *w) { return w->heap->old.sweep.unswept; }

/* In local[0] a long list; in local[1] another, which dies. */
static void leave_unswept(const struct world *w, eden_value *local) {
    make_old_list(w, &local[0], NODES);
    make_old_list(w, &local[1], NODES);
    local[1] = EDEN_NONE;
    eden_full_collect(w->m);
    verify(w);
    assert_true(unswept(w) != 0);
    assert_true(is_marked(local[0]));
}

TEST(scavenges_sweep_before_the_next_cycle_begins) {
    WORLD(w, FIXED);
    EDEN_FRAME(w.m, local, 2);
    leave_unswept(&w, local);
    uint64_t used = heap_old_used(w.heap);
    w.heap->cycle.is_forced = true;
    size_t steps = 0;
    for (; unswept(&w) != 0; steps++) {
        assert_false(runs(&w));
        step(&w, 10);
    }
    assert_true(steps > 3);
    assert_false(runs(&w) || is_marked(local[0]));
    assert_int_equal(heap_old_used(w.heap), used);
    step(&w, 10);
    assert_true(runs(&w));
    finish(&w);
    assert_int_equal(count_objects(&w), NODES);
}

TEST(without_a_goal_a_scavenge_sweeps_all_that_is_left) {
    WORLD(w, FIXED);
    EDEN_FRAME(w.m, local, 2);
    leave_unswept(&w, local);
    set_parameter(&w, "pause_goal", "0");
    step(&w, 0);
    assert_int_equal(unswept(&w), 0);
}

/* By the clock. */
TEST(sweeping_ends) {
    WORLD(w, FIXED);
    EDEN_FRAME(w.m, local, 2);
    leave_unswept(&w, local);
    while (unswept(&w) != 0) {
        step(&w, 0);
    }
    assert_int_equal(count_objects(&w), NODES);
}

struct marks {
    struct observer observer;
    struct tally in_steps, in_fulls;
    uint64_t steps, sweeps, mark_ns, sweep_ns;
};

static void phase_end(struct observer *self, enum eden_phase phase, uint64_t ns, struct tally tally) {
    struct marks *marks = (struct marks *)self;
    marks->sweeps += phase == EDEN_PHASE_scavenge__sweep;
    marks->mark_ns += phase == EDEN_PHASE_scavenge__mark || phase == EDEN_PHASE_mark ? ns : 0;
    marks->sweep_ns += phase == EDEN_PHASE_scavenge__sweep || phase == EDEN_PHASE_sweep ? ns : 0;
    if (phase == EDEN_PHASE_scavenge__mark || phase == EDEN_PHASE_mark) {
        struct tally *sum = phase == EDEN_PHASE_mark ? &marks->in_fulls : &marks->in_steps;
        sum->objects += tally.objects;
        sum->bytes += tally.bytes;
        marks->steps += phase == EDEN_PHASE_scavenge__mark;
    }
}

/* Stores and tenuring mark, too: the next phase reports it. */
TEST(phases_report_each_marked_object_once) {
    static const struct observer_calls calls = {.phase_end = phase_end};
    static struct marks marks;
    WORLD(w, FIXED ",large_object=4096");
    EDEN_FRAME(w.m, local, 4);
    observer_subscribe(&marks.observer, w.heap, &calls);
    begin_with_black_array(&w, local, 10);
    eden_slot_set(w.m, local[0], 7, cut(&w, local[1], NODES / 2));
    local[2] = eden_new_slots(w.m, w.array, 1000);
    local[3] = eden_new(w.m, w.pair);
    make_old(&w, &local[3]);
    step(&w, 10);
    local[3] = eden_new_slots(w.m, w.array, 1000);
    eden_slot_set(w.m, local[3], 0, eden_new(w.m, w.pair));
    finish(&w);
    assert_true(marks.steps >= 3 && marks.in_steps.objects > 10 && marks.in_fulls.objects > NODES / 2);
    assert_int_equal(marks.in_steps.objects + marks.in_fulls.objects, count_objects(&w));
    assert_int_equal(marks.in_steps.bytes + marks.in_fulls.bytes, heap_old_used(w.heap) + heap_survivor_used(w.heap));
    assert_int_equal(figures_of(&w).mark_ns, marks.mark_ns);
}

TEST(a_phase_reports_each_sweep) {
    static const struct observer_calls calls = {.phase_end = phase_end};
    static struct marks marks;
    WORLD(w, FIXED);
    EDEN_FRAME(w.m, local, 2);
    observer_subscribe(&marks.observer, w.heap, &calls);
    leave_unswept(&w, local);
    assert_int_equal(marks.sweeps, 0);
    step(&w, 1);
    step(&w, 1);
    assert_int_equal(marks.sweeps, 2);
    assert_int_equal(figures_of(&w).sweep_ns, marks.sweep_ns);
}

struct mourning {
    struct world w;
    eden_class ephemeron; /* key, value */
    eden_class weak;      /* 1 strong slot, then weak ones */
};

static void make(struct mourning *t, const char *parameters) {
    world_make(&t->w, parameters);
    t->ephemeron = define_class(t->w.heap, "Ephemeron", EDEN_FORMAT_EPHEMERON, 2);
    t->weak = define_class(t->w.heap, "Weak", EDEN_FORMAT_WEAK, 1);
}

static void end(struct mourning *t) { world_end(&t->w); }

/* In local[0] to local[2] an old ephemeron, a weak object, and the key of the one; the other refers to what is dead. */
static void make_special(const struct mourning *t, eden_value *local) {
    const struct world *w = &t->w;
    local[0] = eden_new(w->m, t->ephemeron);
    local[1] = eden_new_slots(w->m, t->weak, 1);
    local[2] = eden_new(w->m, w->pair);
    eden_slot_set(w->m, local[0], 0, local[2]);
    eden_value dead = eden_new(w->m, w->pair);
    eden_slot_set(w->m, local[1], 1, dead);
    eden_slot_set(w->m, local[0], 1, eden_new(w->m, w->pair));
    eden_slot_set(w->m, local[1], 0, eden_new(w->m, w->pair));
    for (int i = 0; i < 3; i++) {
        make_old(w, &local[i]);
    }
}

TEST(ephemerons_and_weak_objects_are_left_to_the_last_stop) {
    for (int alive = 0; alive <= 1; alive++) {
        struct mourning t __attribute__((cleanup(end)));
        make(&t, FIXED);
        EDEN_FRAME(t.w.m, local, 4);
        make_special(&t, local);
        local[3] = alive ? local[2] : EDEN_NONE;
        local[2] = EDEN_NONE;
        begin(&t.w, 1000);
        assert_true(is_marked(local[0]) && is_marked(local[1]));
        assert_false(is_marked(eden_slot(local[0], 1)) || is_marked(eden_slot(local[1], 0)));
        assert_true(is_marked(eden_slot(local[0], 0)) == (alive == 1));
        assert_int_equal(t.w.heap->cycle.left_count, 2);
        finish(&t.w);
        assert_int_equal(eden_mourn_count(t.w.m), !alive);
        assert_true(eden_slot(local[0], 0) == local[3] || !alive);
        assert_true(eden_slot(local[1], 1) == EDEN_NONE);
        assert_true(eden_is_a(t.w.m, eden_slot(local[0], 1), t.w.pair));
        assert_true(eden_is_a(t.w.m, eden_slot(local[1], 0), t.w.pair));
    }
}

/* Marked at once, and then left. */
TEST(what_special_objects_hold_lives_if_they_are_tenured_in_a_cycle) {
    for (int weak = 0; weak <= 1; weak++) {
        struct mourning t __attribute__((cleanup(end)));
        make(&t, FIXED);
        EDEN_FRAME(t.w.m, local, 4);
        begin_with_black_array(&t.w, local, 10);
        local[2] = weak ? eden_new_slots(t.w.m, t.weak, 1) : eden_new(t.w.m, t.ephemeron);
        eden_value rest = cut(&t.w, local[1], NODES / 2);
        eden_slot_set(t.w.m, local[2], weak ? 0 : 1, rest);
        if (!weak) {
            eden_slot_set(t.w.m, local[2], 0, local[0]);
        }
        t.w.heap->cycle.step_objects = 1;
        make_old(&t.w, &local[2]);
        verify(&t.w);
        assert_true(runs(&t.w) && is_marked(local[2]) && !is_marked(rest));
        assert_rest_lives(&t.w, rest, NODES / 2);
        assert_true(eden_slot(local[2], weak ? 0 : 1) == rest);
    }
}

/* Then it is an ordinary object, which has not been scanned. */
TEST(an_ephemeron_that_fires_in_a_cycle_keeps_its_value) {
    struct mourning t __attribute__((cleanup(end)));
    make(&t, FIXED);
    EDEN_FRAME(t.w.m, local, 4);
    make_special(&t, local);
    set_parameter(&t.w, "tenure_proportion", "0");
    t.w.heap->tenure_threshold = 0;
    begin(&t.w, 1000);
    make_old_list(&t.w, &local[3], 1);
    eden_slot_set(t.w.m, local[0], 0, eden_new(t.w.m, t.w.pair));
    step(&t.w, 1);
    assert_int_equal(eden_mourn_count(t.w.m), 1);
    finish(&t.w);
    assert_true(eden_mourn_next(t.w.m) == local[0]);
    assert_true(eden_is_a(t.w.m, eden_slot(local[0], 0), t.w.pair));
    assert_true(eden_is_a(t.w.m, eden_slot(local[0], 1), t.w.pair));
}

/* All of new space becomes old, and is not marked, but for what scanned objects refer to. */
TEST(promotion_in_place_loses_nothing) {
    for (int incomplete = 0; incomplete <= 1; incomplete++) {
        WORLD(w, "policy=auto,max_heap=16M,pause_goal=10");
        EDEN_FRAME(w.m, local, 4);
        make_old_array(&w, &local[0], 1000);
        make_old_array(&w, &local[1], 10);
        begin(&w, 100);
        assert_true(is_marked(local[0]) && is_marked(local[1]));
        eden_slot_set(w.m, local[0], 500, eden_new(w.m, w.pair));
        eden_slot_set(w.m, local[1], 5, eden_new(w.m, w.pair));
        local[2] = eden_new(w.m, w.pair);
        eden_slot_set(w.m, local[2], 0, eden_new(w.m, w.pair));
        if (incomplete) { /* as if there had been no memory to remember it */
            object_clear(local[1], EDEN_HEADER_REMEMBERED);
            w.heap->remembered.count--;
            w.heap->remembered.is_incomplete = true;
        }
        w.heap->is_mixed = true;
        scavenge(w.heap, EDEN_SCAVENGE_REQUEST);
        assert_true(is_old(&w, local[2]) && runs(&w));
        assert_true(w.m->barrier_words > w.m->young_words);
        verify(&w);
        finish(&w);
        assert_true(eden_is_a(w.m, eden_slot(local[0], 500), w.pair));
        assert_true(eden_is_a(w.m, eden_slot(local[1], 5), w.pair));
        assert_true(eden_is_a(w.m, eden_slot(local[2], 0), w.pair));
        assert_int_equal(count_objects(&w), 6);
    }
}

TEST(an_allocation_that_fails_in_a_cycle_leaves_a_whole_heap) {
    WORLD(w, "policy=fixed,eden_size=64K,max_heap=1M,grow_headroom=64K,large_object=4096,pause_goal=10");
    EDEN_FRAME(w.m, local, 2);
    w.heap->cycle.is_forced = true;
    w.heap->cycle.step_objects = 10;
    size_t nodes = 0;
    for (eden_value pair; (pair = eden_new(w.m, w.pair)) != EDEN_NONE; nodes++) {
        eden_slot_set(w.m, pair, 0, local[0]);
        local[0] = pair;
    }
    assert_int_equal(eden_last_error(w.m)->status, EDEN_NO_MEMORY);
    verify(&w);
    assert_true(new_sized(&w, 600 * KIB) == EDEN_NONE);
    verify(&w);
    assert_true(count_objects(&w) >= nodes);
    local[0] = EDEN_NONE;
    eden_full_collect(w.m);
    verify(&w);
    assert_int_equal(count_objects(&w), 0);
    assert_true(new_sized(&w, 50 * KIB) != EDEN_NONE);
}

TEST(what_has_died_in_a_cycle_makes_room_before_an_allocation_fails) {
    for (int large = 0; large <= 1; large++) {
        WORLD(w, "policy=fixed,eden_size=64K,max_heap=1M,grow_headroom=64K,large_object=4096,full_gc_ratio=inf,"
                 "compactor=none,shrink_threshold=0,pause_goal=10");
        EDEN_FRAME(w.m, local, 2);
        for (size_t i = 0; i < 600; i++) {
            eden_value node = eden_new_raw(w.m, w.compound, 968);
            assert_true(node != EDEN_NONE);
            eden_slot_set(w.m, node, 0, local[0]);
            local[0] = node;
        }
        w.heap->cycle.is_forced = true;
        w.heap->cycle.step_objects = 100 * NODES;
        eden_scavenge(w.m);
        assert_true(w.heap->cycle.state == CYCLE_MARKED);
        local[0] = EDEN_NONE;
        local[1] = large ? new_sized(&w, 400 * KIB) : EDEN_NONE;
        assert_true(!large || local[1] != EDEN_NONE);
        for (size_t i = 0; !large && i < 700; i++) {
            local[1] = eden_new_raw(w.m, w.compound, 968);
            assert_true(local[1] != EDEN_NONE);
            eden_slot_set(w.m, local[1], 0, local[0]);
            local[0] = local[1];
        }
        verify(&w);
    }
}

TEST(a_stack_that_is_full_loses_nothing) {
    WORLD(w, FIXED);
    EDEN_FRAME(w.m, local, 3);
    make_old_array(&w, &local[0], 1);
    begin(&w, 1); /* maps the stack */
    finish(&w);
    w.heap->cycle.stack.room = 2;
    w.heap->mark_stack.room = 3;
    local[0] = eden_new_slots(w.m, w.array, 200);
    for (size_t i = 0; i < 200; i++) {
        eden_value pair = eden_new(w.m, w.pair);
        eden_slot_set(w.m, local[0], i, pair);
        eden_slot_set(w.m, pair, 0, eden_new(w.m, w.pair));
    }
    make_old(&w, &local[0]);
    begin(&w, 1000);
    assert_true(w.heap->cycle.stack.overflowed);
    eden_slot_set(w.m, local[0], 3, eden_new(w.m, w.pair));
    finish(&w);
    assert_int_equal(count_objects(&w), 402);
    finish(&w);
    assert_int_equal(count_objects(&w), 400);
}

enum { MANY_ROOTS = 400000 };
static eden_value many_roots[MANY_ROOTS];

static void visit_many_roots(void *context, eden_visit *visit) {
    (void)context;
    eden_visit_slots(visit, many_roots, MANY_ROOTS);
}

static bool refuse_stacks(void *context, size_t bytes, const char *what) {
    const bool *refuses = context;
    (void)bytes;
    return !*refuses || strcmp(what, "mark stack") != 0;
}

/* Roots are all reached before the first is scanned. Without memory for that, the last stop finds what has no room. */
TEST(the_stack_grows_with_the_heap) {
    for (int i = 0; i < 2; i++) {
        bool refuses = false;
        struct world w __attribute__((cleanup(world_end)));
        world_make_with(
            &w, &(eden_options){.parameters = FIXED, .memory_hook = refuse_stacks, .memory_hook_context = &refuses});
        memset(many_roots, 0, sizeof many_roots);
        assert_true(eden_visitor_add(w.heap, visit_many_roots, NULL));
        for (size_t root = 0; root < MANY_ROOTS; root++) {
            many_roots[root] = eden_new(w.m, w.pair);
            eden_value leaf = eden_new(w.m, w.pair);
            eden_slot_set(w.m, many_roots[root], 0, leaf);
        }
        begin(&w, 1); /* maps the stack */
        finish(&w);
        const size_t room = w.heap->cycle.stack.room;
        assert_true(room < MANY_ROOTS);
        refuses = i == 1;
        begin(&w, 1000);
        assert_int_equal(w.heap->cycle.stack.overflowed, refuses);
        finish(&w);
        assert_int_equal(count_objects(&w), 2 * MANY_ROOTS);
        assert_int_equal(w.heap->cycle.stack.room, room);
        assert_int_equal(w.heap->mark_stack.room, room);
    }
}

/* The remembered set cannot grow, so nobody knows which marked objects refer to young ones. */
TEST(without_memory_to_remember_all_is_scanned_again) {
    struct refusal refusal = {.from = LONG_MAX, .to = LONG_MAX};
    WORLD_REFUSING(w, FIXED, &refusal);
    EDEN_FRAME(w.m, local, 2);
    begin_with_black_array(&w, local, 10);
    assert_null(w.heap->remembered.objects);
    refusal = (struct refusal){.from = 1, .to = LONG_MAX};
    eden_value pair = eden_new(w.m, w.pair);
    eden_slot_set(w.m, pair, 0, eden_int(42));
    eden_slot_set(w.m, local[0], 4, pair);
    full_collect(w.heap, EDEN_FULL_RATIO, 0);
    refusal.from = LONG_MAX;
    verify(&w);
    assert_true(w.heap->remembered.is_incomplete);
    assert_true(heap_is_young(w.heap, eden_slot(local[0], 4)));
    assert_true(eden_is_a(w.m, eden_slot(local[0], 4), w.pair));
    assert_int_equal(eden_int_value(eden_slot(eden_slot(local[0], 4), 0)), 42);
}

TEST(without_memory_for_a_stack_no_cycle_runs) {
    struct refusal refusal = {.from = 0, .to = 0};
    WORLD_REFUSING(w, FIXED, &refusal);
    EDEN_FRAME(w.m, local, 1);
    make_old_list(&w, &local[0], NODES);
    w.heap->cycle.is_forced = true;
    refusal = (struct refusal){.from = 1, .to = LONG_MAX};
    eden_scavenge(w.m);
    refusal.from = LONG_MAX;
    assert_false(runs(&w));
    eden_scavenge(w.m);
    assert_true(runs(&w));
    finish(&w);
    assert_int_equal(count_objects(&w), NODES);
}

/* The goal is reached when all is marked; the full collection comes then, and finds little to mark. */
TEST(a_cycle_ends_before_old_space_is_as_large_as_it_may_be) {
    WORLD(w, "policy=fixed,eden_size=256K,grow_headroom=1M,full_gc_ratio=1,pause_goal=10,tenure_fill=0,"
             "tenure_proportion=1");
    EDEN_FRAME(w.m, local, 1);
    w.heap->cycle.step_objects = 200000;
    uint64_t fulls = 0, most = 0;
    for (size_t i = 0; fulls < 4; i++) {
        eden_value pair = eden_new(w.m, w.pair);
        eden_slot_set(w.m, pair, 0, local[0]);
        local[0] = pair;
        uint64_t used = heap_old_used(w.heap), goal = policy_full_at(w.heap);
        most = used > most ? used : most;
        if (figures_of(&w).full_collections != fulls) {
            fulls++;
            assert_true(fulls == 1 || most <= goal);
            assert_int_equal(w.heap->cycle.unfinished, 0);
            assert_int_equal(figures_of(&w).full_by_cause[EDEN_FULL_RATIO], fulls);
            verify(&w);
        }
    }
    assert_true(w.heap->cycle.steps != 0);
}

TEST(where_marking_is_late_the_program_gets_less_of_eden) {
    WORLD(w, "policy=fixed,eden_size=256K,grow_headroom=1M,full_gc_ratio=1,pause_goal=10,tenure_fill=0,"
             "tenure_proportion=1");
    EDEN_FRAME(w.m, local, 1);
    w.heap->cycle.step_objects = 10;
    bool limited = false;
    while (figures_of(&w).full_collections < 2) {
        eden_value pair = eden_new(w.m, w.pair);
        eden_slot_set(w.m, pair, 0, local[0]);
        local[0] = pair;
        if (w.heap->cycle.eden_limit != UINTPTR_MAX) {
            limited = true;
            assert_true(runs(&w) && w.m->limit <= w.heap->cycle.eden_limit);
            assert_true(w.m->free <= w.heap->cycle.eden_limit + 24);
        }
    }
    assert_true(limited && w.heap->cycle.unfinished != 0);
    assert_true(w.heap->cycle.eden_limit == UINTPTR_MAX);
    assert_true(w.m->limit == w.heap->eden.limit);
}

static void allocated(struct observer *self, eden_value object) {
    (void)self;
    (void)object;
}

static uintptr_t limit(struct observer *self, uintptr_t most) {
    (void)self;
    return most;
}

/* Nobody knows yet how long a scavenge takes. */
TEST(the_first_scavenge_comes_early) {
    static const char *const goals[] = {"0", "10"};
    for (size_t i = 0; i < 2; i++) {
        char parameters[64];
        snprintf(parameters, sizeof parameters, "policy=fixed,eden_size=40M,pause_goal=%s", goals[i]);
        WORLD(w, parameters);
        const uint64_t room = w.m->limit - w.m->free;
        assert_true(i == 0 ? room > 39 << 20 : room <= 2 << 20);
    }
}

/* As a profile of lifetimes does. */
TEST(where_allocations_are_observed_cycles_end) {
    static const struct observer_calls calls = {.allocated = allocated, .limit = limit};
    static struct observer observer;
    WORLD(w, FIXED);
    EDEN_FRAME(w.m, local, 2);
    begin_with_black_array(&w, local, 10);
    uint64_t before = figures_of(&w).full_collections;
    observer = (struct observer){.calls = &calls, .heap = w.heap};
    w.heap->allocation_observers = &observer;
    eden_scavenge(w.m);
    assert_false(runs(&w));
    assert_int_equal(figures_of(&w).full_collections, before + 1);
    w.heap->cycle.is_forced = true;
    eden_scavenge(w.m);
    assert_false(runs(&w));
    w.heap->allocation_observers = NULL;
    lazy_sweep_all(w.heap);
    eden_scavenge(w.m);
    assert_true(runs(&w));
}

TEST(a_cycle_ends_where_the_goal_is_taken_away) {
    WORLD(w, FIXED);
    EDEN_FRAME(w.m, local, 2);
    begin_with_black_array(&w, local, 10);
    set_parameter(&w, "pause_goal", "0");
    assert_true(runs(&w));
    eden_scavenge(w.m);
    assert_false(runs(&w));
    assert_int_equal(count_objects(&w), NODES + 1);
}

/* The verifier's own test: a store past the barrier. */
TEST(a_store_without_the_barrier_is_found) {
    WORLD(w, FIXED);
    EDEN_FRAME(w.m, local, 2);
    begin_with_black_array(&w, local, 10);
    eden_value rest = local[1];
    while (is_marked(rest)) {
        rest = eden_slot(rest, 0);
    }
    eden_error error = {EDEN_OK, ""};
    eden_words_(local[0])[1 + 3] = rest;
    assert_false(eden_heap_verify(w.heap, &error));
    assert_non_null(strstr(error.message, "refers to unmarked"));
    eden_words_(local[0])[1 + 3] = EDEN_NONE;
}
