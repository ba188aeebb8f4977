/* A broken invariant of the runtime: the heap reports it, stops allocating and collecting; the process continues. */
#include "support.h"

/* The heap is corrupt, says why, refuses what would collect, and can still be read and destroyed. */
static void assert_stopped(struct world *w, eden_value object, const char *name) {
    assert_non_null(w->heap->broken_invariant);
    assert_non_null(strstr(w->heap->broken_invariant, name));
    uint64_t seq = w->heap->info.seq;
    assert_int_equal(eden_new(w->m, w->pair), EDEN_NONE);
    assert_int_equal(eden_last_error(w->m)->status, EDEN_CORRUPT);
    assert_non_null(strstr(eden_last_error(w->m)->message, name));
    assert_int_equal(eden_new_slots(w->m, w->array, 100000), EDEN_NONE);
    eden_scavenge(w->m);
    eden_full_collect(w->m);
    assert_int_equal(w->heap->info.seq, seq);
    assert_int_equal(eden_int_value(eden_slot(object, 0)), 7);
    eden_slot_set(w->m, object, 0, eden_int(8));
    assert_int_equal(eden_int_value(eden_slot(object, 0)), 8);
}

static eden_value new_seven(struct world *w) {
    eden_value object = eden_new(w->m, w->pair);
    eden_slot_set(w->m, object, 0, eden_int(7));
    return object;
}

TEST(remembered_object_without_its_bit_stops_the_heap) {
    WORLD(w, "eden_size=64K,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 2);
    local[0] = new_seven(&w);
    make_old(&w, &local[0]);
    eden_slot_set(w.m, local[0], 1, eden_new(w.m, w.empty));
    assert_true(object_has(local[0], EDEN_HEADER_REMEMBERED));
    eden_slot_set(w.m, local[0], 1, EDEN_NONE);
    object_clear(local[0], EDEN_HEADER_REMEMBERED);
    eden_scavenge(w.m);
    assert_stopped(&w, local[0], "I1 of the remembered set");
}

TEST(segments_that_do_not_add_up_stop_the_heap) {
    WORLD(w, "eden_size=64K,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 1);
    local[0] = new_seven(&w);
    make_old(&w, &local[0]);
    w.heap->old.capacity += 4096;
    eden_full_collect(w.m);
    assert_stopped(&w, local[0], "I1 of old space");
    w.heap->old.capacity -= 4096;
}

TEST(first_broken_invariant_is_the_one_that_is_reported) {
    WORLD(w, "eden_size=64K,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 1);
    local[0] = new_seven(&w);
    invariant_check(w.heap, true, "I1 of a test: it holds");
    assert_null(w.heap->broken_invariant);
    invariant_check(w.heap, false, "I2 of a test: broken first");
    invariant_check(w.heap, false, "I3 of a test: broken second");
    assert_stopped(&w, local[0], "I2 of a test");
}

TEST(allocation_is_inline_again_in_other_heaps_only) {
    WORLD(corrupt, "eden_size=64K");
    WORLD(sound, "eden_size=64K");
    invariant_fail(corrupt.heap, "I1 of a test");
    assert_int_equal(corrupt.m->limit, corrupt.m->free);
    assert_int_equal(sound.m->limit, sound.heap->eden.limit);
    assert_int_not_equal(eden_new(sound.m, sound.pair), EDEN_NONE);
}
