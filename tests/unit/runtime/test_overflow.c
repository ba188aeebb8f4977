/* Survivors overflow: what is tenured, past survivors or objects of eden (compat.overflow). */
#include "support.h"

enum { OBJECT = 1024, OLDER = 150, NEWER = 100 }; /* bytes; a semispace of 1M eden holds 208 of them */

/* Fills `count` slots of the table in local[at] with new raw objects. */
static void fill(const struct world *w, eden_value *local, size_t at, size_t count) {
    local[at] = eden_new_slots(w->m, w->array, count);
    for (size_t i = 0; i < count; i++) {
        eden_value object = new_sized(w, OBJECT);
        memset(eden_raw(object), 0xfe, OBJECT - 8); /* nothing that could pass for a small object */
        *(uint64_t *)eden_raw(object) = i;
        eden_slot_set(w->m, local[at], i, object);
    }
}

static size_t count_old(const struct world *w, eden_value table, size_t count) {
    size_t old = 0;
    for (size_t i = 0; i < count; i++) {
        eden_value object = eden_slot(table, i);
        assert_int_equal(*(uint64_t *)eden_raw(object), i);
        old += is_old(w, object);
    }
    return old;
}

/* local[0]: survivors of an earlier scavenge; local[1]: of eden. Roots are visited in this order: eden's come last. */
static void overflow(const struct world *w, eden_value *local) {
    fill(w, local, 0, OLDER);
    eden_scavenge(w->m);
    assert_int_equal(figures_of(w).tenured_objects, 0);
    fill(w, local, 1, NEWER);
    eden_scavenge(w->m);
    verify(w);
}

TEST(in_scan_order_what_is_reached_last_is_tenured) {
    WORLD(w, "eden_size=1M,tenure_fill=1,compat.overflow=scan-order");
    EDEN_FRAME(w.m, local, 2);
    overflow(&w, local);
    assert_int_equal(count_old(&w, local[0], OLDER), 0);
    assert_true(count_old(&w, local[1], NEWER) > 40);
}

TEST(the_oldest_make_room_for_eden) {
    WORLD(w, "eden_size=1M,tenure_fill=1,compat.overflow=oldest");
    EDEN_FRAME(w.m, local, 2);
    overflow(&w, local);
    assert_int_equal(count_old(&w, local[1], NEWER), 0);
    size_t old = count_old(&w, local[0], OLDER);
    assert_in_range(old, 40, 46); /* 250 objects and two tables, room for 208 KiB */
    /* In order of age: they were copied in the order of the table. */
    for (size_t i = 0; i < old; i++) {
        assert_true(is_old(&w, eden_slot(local[0], i)));
    }
    /* Everything works as before. */
    eden_scavenge(w.m);
    verify(&w);
    eden_full_collect(w.m);
    verify(&w);
    assert_int_equal(count_old(&w, local[1], NEWER), 0);
}

/* Eden's survivors alone do not fit: the rest of them is tenured, after all that was there before. */
TEST(eden_alone_overflows) {
    WORLD(w, "eden_size=1M,tenure_fill=1,compat.overflow=oldest");
    EDEN_FRAME(w.m, local, 2);
    fill(&w, local, 0, 100);
    eden_scavenge(w.m);
    fill(&w, local, 1, 400);
    eden_scavenge(w.m);
    verify(&w);
    assert_int_equal(count_old(&w, local[0], 100), 100);
    assert_in_range(count_old(&w, local[1], 400), 192, 196);
}

/* Weak slots, ephemerons and old objects with young references see both rounds. */
TEST(two_rounds_are_one) {
    WORLD(w, "eden_size=1M,tenure_fill=1,compat.overflow=oldest");
    eden_class weak = define_class(w.heap, "Weak", EDEN_FORMAT_WEAK, 0);
    eden_class ephemeron = define_class(w.heap, "Ephemeron", EDEN_FORMAT_EPHEMERON, 2);
    EDEN_FRAME(w.m, local, 6);
    fill(&w, local, 0, OLDER);
    local[2] = eden_pin(w.m, eden_new_slots(w.m, w.array, 2));
    local[3] = eden_new_slots(w.m, weak, 4);
    eden_scavenge(w.m);
    fill(&w, local, 1, NEWER);
    eden_value dead = eden_new(w.m, w.pair);
    eden_slot_set(w.m, local[3], 0, dead);
    eden_slot_set(w.m, local[3], 1, eden_slot(local[1], 99));
    eden_slot_set(w.m, local[3], 2, eden_slot(local[0], 0));
    eden_slot_set(w.m, local[2], 0, eden_slot(local[1], 50));
    for (size_t i = 4; i < 6; i++) {
        local[i] = eden_new(w.m, ephemeron);
        eden_value key = eden_new(w.m, w.pair);
        eden_slot_set(w.m, local[i], 0, key);
    }
    eden_slot_set(w.m, local[2], 1, eden_slot(local[4], 0)); /* the first key lives */
    eden_scavenge(w.m);
    verify(&w);
    assert_true(count_old(&w, local[0], OLDER) > 40);
    assert_true(eden_slot(local[3], 0) == EDEN_NONE);
    assert_true(eden_slot(local[3], 1) == eden_slot(local[1], 99));
    assert_true(eden_slot(local[3], 2) == eden_slot(local[0], 0));
    assert_true(eden_slot(local[2], 0) == eden_slot(local[1], 50));
    assert_int_equal(figures_of(&w).mourned, 1);
    assert_true(eden_mourn_next(w.m) == local[5]);
    assert_true(eden_slot(local[2], 1) == eden_slot(local[4], 0));
}

/* No room in old space for the oldest: the second round copies what fits and keeps the rest in place. */
TEST(old_space_is_full_too) {
    WORLD(w, "eden_size=1M,tenure_fill=1,compat.overflow=oldest,max_heap=3M,large_object=4096,grow_headroom=64K");
    EDEN_FRAME(w.m, local, 3);
    local[2] = eden_new_slots(w.m, w.array, 1000);
    eden_value block;
    for (size_t i = 0; (block = new_sized(&w, 8192)) != EDEN_NONE; i++) {
        eden_slot_set(w.m, local[2], i, block); /* old in old */
    }
    assert_false(w.heap->is_mixed);
    overflow(&w, local);
    assert_int_equal(count_old(&w, local[1], NEWER), 0);
    assert_true(w.heap->is_mixed);
    assert_true(count_old(&w, local[0], OLDER) < 10);
    for (size_t i = 0; i < 3; i++) {
        eden_scavenge(w.m);
        verify(&w);
        count_old(&w, local[0], OLDER);
        count_old(&w, local[1], NEWER);
    }
    local[2] = EDEN_NONE;
    eden_full_collect(w.m);
    verify(&w);
    count_old(&w, local[0], OLDER);
    count_old(&w, local[1], NEWER);
}
