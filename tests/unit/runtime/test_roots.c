/* Roots: frames, global roots and visitors keep objects alive and follow their moves; nothing else does. */
#include "support.h"

static eden_value tagged_pair(const struct world *w, int64_t tag) {
    eden_value pair = eden_new(w->m, w->pair);
    assert_true(pair != EDEN_NONE);
    eden_slot_set(w->m, pair, 0, eden_int(tag));
    return pair;
}

static void assert_tag(eden_value pair, int64_t tag) { assert_true(eden_slot(pair, 0) == eden_int(tag)); }

static void collect(const struct world *w, int round) {
    round % 2 == 0 ? eden_scavenge(w->m) : eden_full_collect(w->m);
    verify(w);
}

TEST(frames_start_clear_and_follow) {
    WORLD(w, "eden_size=64K");
    EDEN_FRAME(w.m, local, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(local[i], EDEN_NONE);
    }
    local[0] = local[2] = tagged_pair(&w, 1);
    local[1] = eden_int(5);
    for (int round = 0; round < 6; round++) {
        collect(&w, round);
        assert_tag(local[0], 1);
        assert_true(local[0] == local[2]);
        assert_true(local[1] == eden_int(5));
        assert_int_equal(count_objects(&w), 1);
    }
}

static int depth_reached;
static void nest(const struct world *w, int depth, eden_value outer) {
    EDEN_FRAME(w->m, local, 2);
    local[0] = outer;
    local[1] = tagged_pair(w, depth);
    eden_slot_set(w->m, local[1], 1, local[0]);
    if (depth == 0) {
        eden_full_collect(w->m);
        depth_reached++;
        return; /* frames are left by any return */
    }
    nest(w, depth - 1, local[1]);
    assert_tag(local[1], depth);
    assert_true(eden_slot(local[1], 1) == local[0]);
    if (depth % 3 == 0) {
        eden_scavenge(w->m);
    }
}

TEST(frames_nest) {
    WORLD(w, "eden_size=64K");
    depth_reached = 0;
    nest(&w, 1000, EDEN_NONE);
    assert_int_equal(depth_reached, 1);
    assert_null(w.m->frames);
    eden_full_collect(w.m);
    assert_int_equal(count_objects(&w), 0);
}

static bool leave_early(const struct world *w, int how) {
    EDEN_FRAME(w->m, local, 1);
    for (int i = 0; i < 10; i++) {
        EDEN_FRAME(w->m, inner, 2);
        inner[1] = tagged_pair(w, i);
        if (how == 0) {
            continue;
        }
        if (how == 1 && i == 5) {
            break;
        }
        if (how == 2 && i == 3) {
            return true;
        }
        if (how == 3 && i == 7) {
            goto out;
        }
    }
    local[0] = eden_int(1);
    return false;
out:
    return true;
}

TEST(frames_are_left_by_every_way_out) {
    WORLD(w, "eden_size=64K");
    EDEN_FRAME(w.m, local, 1);
    local[0] = tagged_pair(&w, 77);
    const struct eden_frame *here = w.m->frames;
    for (int how = 0; how < 4; how++) {
        assert_int_equal(leave_early(&w, how), how >= 2);
        assert_ptr_equal(w.m->frames, here);
        collect(&w, how);
        assert_int_equal(count_objects(&w), 1);
        assert_tag(local[0], 77);
    }
}

static jmp_buf jump;
static void nest_and_jump(const struct world *w, int depth, bool jumps) {
    EDEN_FRAME(w->m, local, 1);
    local[0] = tagged_pair(w, depth);
    if (depth > 0) {
        nest_and_jump(w, depth - 1, jumps);
    } else if (jumps) {
        longjmp(jump, 1);
    }
    assert_tag(local[0], depth);
}

TEST(frames_that_longjmp_skips_are_closed) {
    WORLD(w, "eden_size=64K");
    struct eden_frame *const none = eden_frames_save(w.m);
    assert_null(none);
    if (setjmp(jump) == 0) {
        nest_and_jump(&w, 100, true);
    }
    eden_frames_restore(w.m, none);
    eden_full_collect(w.m);
    assert_int_equal(count_objects(&w), 0);
    EDEN_FRAME(w.m, local, 1);
    local[0] = tagged_pair(&w, 7);
    struct eden_frame *const saved = eden_frames_save(w.m);
    if (setjmp(jump) == 0) {
        nest_and_jump(&w, 100, true);
    }
    eden_frames_restore(w.m, saved);
    assert_ptr_equal(eden_frames_save(w.m), saved);
    eden_full_collect(w.m);
    assert_int_equal(count_objects(&w), 1);
    assert_tag(local[0], 7);
}

TEST(global_roots_keep_objects_until_removed) {
    enum { SLOTS = 100 };
    WORLD(w, "eden_size=64K");
    static eden_value slots[SLOTS];
    for (int i = 0; i < SLOTS; i++) {
        slots[i] = tagged_pair(&w, i);
        assert_true(eden_root_add(w.heap, &slots[i]));
    }
    for (int round = 0; round < 4; round++) {
        collect(&w, round);
        for (int i = 0; i < SLOTS; i++) {
            assert_tag(slots[i], i);
        }
    }
    for (int i = 0; i < SLOTS; i += 2) {
        assert_true(eden_root_remove(w.heap, &slots[i]));
        assert_false(eden_root_remove(w.heap, &slots[i]));
    }
    eden_full_collect(w.m);
    assert_int_equal(count_objects(&w), SLOTS / 2);
    for (int i = 1; i < SLOTS; i += 2) {
        assert_tag(slots[i], i);
        slots[i] = eden_int(i);
    }
    eden_full_collect(w.m);
    assert_int_equal(count_objects(&w), 0);
    eden_value stranger = EDEN_NONE;
    assert_false(eden_root_remove(w.heap, &stranger));
}

TEST(root_ranges_follow_moves_until_removed) {
    enum { SLOTS = 64 };
    WORLD(w, "eden_size=64K");
    static eden_value slots[SLOTS];
    for (int i = 0; i < SLOTS; i++) {
        slots[i] = i % 3 == 2 ? eden_int(i) : tagged_pair(&w, i);
    }
    assert_true(eden_root_range_add(w.heap, slots, SLOTS));
    assert_true(eden_root_range_add(w.heap, slots, 0));
    for (int round = 0; round < 4; round++) {
        collect(&w, round);
        for (int i = 0; i < SLOTS; i++) {
            i % 3 == 2 ? assert_true(slots[i] == eden_int(i)) : assert_tag(slots[i], i);
        }
    }
    /* Moved, as by realloc. */
    static eden_value moved[2 * SLOTS];
    memcpy(moved, slots, sizeof slots);
    assert_false(eden_root_range_remove(w.heap, slots, SLOTS - 1));
    assert_false(eden_root_range_remove(w.heap, slots + 1, SLOTS));
    assert_false(eden_root_remove(w.heap, slots));
    assert_true(eden_root_range_remove(w.heap, slots, SLOTS));
    assert_false(eden_root_range_remove(w.heap, slots, SLOTS));
    assert_true(eden_root_range_add(w.heap, moved, sizeof moved / sizeof moved[0]));
    eden_full_collect(w.m);
    assert_tag(moved[0], 0);
    /* A slot is a range of one. */
    assert_true(eden_root_add(w.heap, slots));
    slots[0] = moved[0];
    assert_true(eden_root_range_remove(w.heap, slots, 1));
    memset(moved, 0, sizeof moved);
    eden_full_collect(w.m);
    assert_int_equal(count_objects(&w), 0);
}

/* Refused memory adds nothing; after a removal the next addition needs none. */
TEST(refused_memory_adds_no_root) {
    struct refusal refusal = {LONG_MAX, LONG_MAX, 0};
    WORLD_REFUSING(w, NULL, &refusal);
    static eden_value slots[1000];
    memset(slots, 0, sizeof slots);
    refusal.from = refusal.seen + 1;
    size_t added = 0;
    while (eden_root_range_add(w.heap, slots + 2 * added, 2)) {
        added++;
    }
    assert_int_equal(added, 0);
    refusal.from = LONG_MAX;
    assert_true(eden_root_range_add(w.heap, slots, 2));
    refusal.from = refusal.seen + 1;
    for (added = 1; added < 400 && eden_root_range_add(w.heap, slots + 2 * added, 2); added++) {
    }
    assert_true(added < 400);
    assert_false(eden_root_add(w.heap, slots));
    assert_true(eden_root_range_remove(w.heap, slots + 2, 2));
    assert_true(eden_root_range_add(w.heap, slots + 800, 2));
    slots[801] = tagged_pair(&w, 9);
    collect(&w, 0);
    assert_tag(slots[801], 9);
}

struct stack {
    eden_value values[64];
    size_t used;
    int calls;
};

static void visit_stack(void *context, eden_visit *visit) {
    struct stack *stack = context;
    stack->calls++;
    eden_visit_slots(visit, stack->values, stack->used);
}

TEST(visitors_keep_what_they_visit) {
    WORLD(w, "eden_size=64K");
    static struct stack one, two;
    one = two = (struct stack){.used = 0};
    assert_true(eden_visitor_add(w.heap, visit_stack, &one));
    assert_true(eden_visitor_add(w.heap, visit_stack, &two));
    for (int i = 0; i < 64; i++) {
        one.values[one.used++] = tagged_pair(&w, i);
        two.values[two.used++] = i % 2 == 0 ? one.values[i] : eden_int(i);
    }
    for (int round = 0; round < 4; round++) {
        collect(&w, round);
        for (int i = 0; i < 64; i++) {
            assert_tag(one.values[i], i);
            assert_true(two.values[i] == (i % 2 == 0 ? one.values[i] : eden_int(i)));
        }
    }
    assert_true(one.calls >= 4);
    one.used = 32; /* above it is no root any more */
    two.used = 0;
    eden_full_collect(w.m);
    assert_int_equal(count_objects(&w), 32);
    assert_false(eden_visitor_remove(w.heap, visit_stack, &w));
    assert_true(eden_visitor_remove(w.heap, visit_stack, &one));
    assert_false(eden_visitor_remove(w.heap, visit_stack, &one));
    int calls = one.calls;
    eden_full_collect(w.m);
    assert_int_equal(one.calls, calls);
    assert_int_equal(count_objects(&w), 0);
}

/* A slot that two roots report is followed once. */
TEST(a_slot_may_be_reported_twice) {
    enum { OBJECTS = 300 };
    WORLD(w, "eden_size=64K");
    static struct stack stack;
    static eden_value slot;
    stack = (struct stack){.used = 0};
    assert_true(eden_visitor_add(w.heap, visit_stack, &stack));
    assert_true(eden_visitor_add(w.heap, visit_stack, &stack));
    EDEN_FRAME(w.m, local, OBJECTS);
    for (size_t i = 0; i < OBJECTS; i++) {
        local[i] = tagged_pair(&w, (int64_t)i);
    }
    make_old(&w, &local[OBJECTS - 1]);
    stack.values[stack.used++] = local[OBJECTS - 1];
    slot = local[OBJECTS - 2];
    assert_true(eden_root_add(w.heap, &slot));
    assert_true(eden_root_add(w.heap, &slot));
    local[0] = local[50] = EDEN_NONE; /* so that all the others slide */
    eden_full_collect(w.m);
    assert_tag(stack.values[0], OBJECTS - 1);
    assert_tag(slot, OBJECTS - 2);
    assert_true(slot == local[OBJECTS - 2]);
    verify(&w);
    /* Added twice, it is a root until removed twice. */
    assert_true(eden_root_remove(w.heap, &slot));
    for (size_t i = 0; i < OBJECTS; i++) {
        local[i] = EDEN_NONE;
    }
    eden_full_collect(w.m);
    assert_tag(slot, OBJECTS - 2);
    assert_true(eden_root_remove(w.heap, &slot));
    assert_false(eden_root_remove(w.heap, &slot));
}

TEST(one_mutator_at_a_time) {
    eden_heap *heap = eden_heap_create(NULL, NULL);
    eden_mutator *first = eden_mutator_attach(heap, NULL);
    assert_non_null(first);
    assert_ptr_equal(eden_mutator_heap(first), heap);
    assert_int_equal(eden_last_error(first)->status, EDEN_OK);
    eden_error error = {EDEN_OK, ""};
    assert_null(eden_mutator_attach(heap, &error));
    assert_int_equal(error.status, EDEN_BUSY);
    eden_mutator_detach(first);
    assert_non_null(eden_mutator_attach(heap, &error));
    eden_heap_destroy(heap);
    eden_heap_destroy(NULL);
}

/* Frames that are left when their heap, or their mutator, is gone. */
static void leave_after_the_heap(void *context) {
    (void)context;
    struct world w;
    world_make(&w, NULL);
    EDEN_FRAME(w.m, outer, 2);
    {
        EDEN_FRAME(w.m, inner, 1);
        inner[0] = outer[0] = eden_new(w.m, w.pair);
        CHILD_CHECK(inner[0] != EDEN_NONE);
        eden_heap_destroy(w.heap);
    }
}

static void leave_after_the_mutator(void *context) {
    (void)context;
    struct world w;
    world_make(&w, NULL);
    eden_mutator *first = w.m;
    {
        EDEN_FRAME(first, local, 1);
        local[0] = eden_new(first, w.pair);
        eden_mutator_detach(first);
        w.m = eden_mutator_attach(w.heap, NULL);
        CHILD_CHECK(w.m->frames == NULL);
    }
    CHILD_CHECK(w.m->frames == NULL);
    eden_scavenge(w.m);
    eden_heap_destroy(w.heap);
}

TEST(frames_may_outlive_their_heap) {
    if (CHECKED_BUILD) {
        skip(); /* it names them */
    }
    assert_child_ok(run_child(leave_after_the_heap, NULL));
    assert_child_ok(run_child(leave_after_the_mutator, NULL));
}
