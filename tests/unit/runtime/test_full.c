/* Full collections: why they start, what they free, how objects slide, and that marking survives a full stack. */
#include "support.h"

static void assert_causes(const struct world *w, uint64_t ratio, uint64_t allocation, uint64_t request,
                          uint64_t limit) {
    eden_figures figures = figures_of(w);
    assert_int_equal(figures.full_by_cause[EDEN_FULL_RATIO], ratio);
    assert_int_equal(figures.full_by_cause[EDEN_FULL_ALLOCATION], allocation);
    assert_int_equal(figures.full_by_cause[EDEN_FULL_REQUEST], request);
    assert_int_equal(figures.full_by_cause[EDEN_FULL_LIMIT], limit);
    assert_int_equal(figures.full_collections, ratio + allocation + request + limit);
}

/* A growing list, each node 1000 bytes; ends when `old` bytes are old. */
static void grow_list(const struct world *w, eden_value *root, uint64_t old) {
    while (heap_old_used(w->heap) < old) {
        eden_value node = eden_new_raw(w->m, w->compound, 968);
        assert_true(node != EDEN_NONE);
        eden_slot_set(w->m, node, 0, *root);
        *root = node;
    }
}

TEST(a_request_is_the_cause_reported) {
    WORLD(w, "eden_size=1M");
    assert_causes(&w, 0, 0, 0, 0);
    eden_full_collect(w.m);
    eden_full_collect(w.m);
    assert_causes(&w, 0, 0, 2, 0);
    assert_int_equal(figures_of(&w).scavenges, 2); /* each has its own */
    assert_int_equal(w.heap->info.seq, 4);
}

TEST(growth_beyond_the_ratio_is_the_cause_reported) {
    WORLD(w, "eden_size=256K,grow_headroom=1M,full_gc_ratio=0.5");
    EDEN_FRAME(w.m, local, 1);
    grow_list(&w, &local[0], MIB); /* a first segment's worth is no growth */
    assert_causes(&w, 0, 0, 0, 0);
    grow_list(&w, &local[0], 3 * MIB / 2 + 256 * KIB);
    assert_causes(&w, 1, 0, 0, 0);
    uint64_t base = w.heap->old.used_at_full;
    assert_true(base >= 3 * MIB / 2);
    grow_list(&w, &local[0], base + base / 2 - 300 * KIB);
    assert_causes(&w, 1, 0, 0, 0);
    grow_list(&w, &local[0], base + base / 2 + 300 * KIB);
    assert_causes(&w, 2, 0, 0, 0);
    set_parameter(&w, "full_gc_ratio", "inf");
    grow_list(&w, &local[0], 8 * MIB);
    assert_causes(&w, 2, 0, 0, 0);
    set_parameter(&w, "full_gc_ratio", "0");
    set_parameter(&w, "full_gc_min_old", "10M");
    grow_list(&w, &local[0], 10 * MIB - 300 * KIB);
    assert_causes(&w, 2, 0, 0, 0);
    grow_list(&w, &local[0], 10 * MIB + 300 * KIB);
    assert_true(figures_of(&w).full_by_cause[EDEN_FULL_RATIO] > 2);
}

TEST(a_failed_allocation_is_the_cause_reported) {
    WORLD(w, "eden_size=64K,grow_headroom=1M,full_gc_ratio=inf,large_object=4096");
    EDEN_FRAME(w.m, local, 3);
    local[0] = new_sized(&w, 600 * KIB); /* nothing old yet: no collection could help */
    assert_causes(&w, 0, 0, 0, 0);
    local[1] = new_sized(&w, 100 * KIB);
    assert_causes(&w, 0, 0, 0, 0);
    local[2] = new_sized(&w, 600 * KIB);
    assert_causes(&w, 0, 1, 0, 0);
    assert_int_equal(w.heap->old.segment_count, 2);
    local[0] = EDEN_NONE; /* its room is found by the collection: no growth */
    local[0] = new_sized(&w, 900 * KIB);
    assert_causes(&w, 0, 2, 0, 0);
}

TEST(the_heap_limit_is_the_cause_reported) {
    WORLD(w, "eden_size=64K,max_heap=1M,grow_headroom=64K,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 2);
    for (;;) {
        eden_value pair = eden_new(w.m, w.pair);
        if (pair == EDEN_NONE) {
            break;
        }
        eden_slot_set(w.m, pair, 0, local[0]);
        local[0] = pair;
    }
    assert_true(figures_of(&w).full_by_cause[EDEN_FULL_LIMIT] > 0);
    verify(&w);
}

/* Old objects; every other one dies. */
enum { SLIDERS = 3000 };
static eden_value sliders[SLIDERS];

static void visit_sliders(void *context, eden_visit *visit) {
    (void)context;
    eden_visit_slots(visit, sliders, SLIDERS);
}

static size_t slider_bytes(size_t i) { return i % 7 == 0 ? 8 + 8 * (256 + i % 5) + 8 : 16 + 8 * (i % 20); }

static void make_sliders(const struct world *w) {
    memset(sliders, 0, sizeof sliders);
    assert_true(eden_visitor_add(w->heap, visit_sliders, NULL));
    for (size_t i = 0; i < SLIDERS; i++) {
        sliders[i] = new_sized(w, slider_bytes(i));
        *(uint64_t *)eden_raw(sliders[i]) = i;
    }
    make_old(w, &sliders[SLIDERS - 1]);
    eden_scavenge(w->m);
    eden_scavenge(w->m);
    for (size_t i = 0; i < SLIDERS; i++) {
        assert_true(is_old(w, sliders[i]));
    }
}

static void check_sliders(void) {
    for (size_t i = 0; i < SLIDERS; i++) {
        if (sliders[i] != EDEN_NONE) {
            assert_int_equal(*(uint64_t *)eden_raw(sliders[i]), i);
            assert_int_equal(object_bytes(sliders[i]), slider_bytes(i));
        }
    }
}

static int by_address(const void *a, const void *b) {
    const eden_value x = *(const eden_value *)a, y = *(const eden_value *)b;
    return (x > y) - (x < y);
}

TEST(compaction_slides_in_order) {
    WORLD(w, "eden_size=4M,full_gc_ratio=inf,compactor=planning");
    make_sliders(&w);
    static eden_value before[SLIDERS], after[SLIDERS];
    size_t live = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < SLIDERS; i++) {
        if (i % 2 == 0) {
            sliders[i] = EDEN_NONE;
        } else {
            bytes += slider_bytes(i);
        }
    }
    for (size_t i = 1; i < SLIDERS; i += 2) {
        before[live++] = sliders[i];
    }
    qsort(before, live, sizeof *before, by_address);
    uint64_t numbers[SLIDERS];
    for (size_t i = 0; i < live; i++) {
        numbers[i] = *(uint64_t *)eden_raw(before[i]);
    }
    uint64_t used = heap_old_used(w.heap);
    eden_full_collect(w.m);
    verify(&w);
    check_sliders();
    live = 0;
    for (size_t i = 1; i < SLIDERS; i += 2) {
        after[live++] = sliders[i];
    }
    qsort(after, live, sizeof *after, by_address);
    assert_int_equal(object_start(after[0]), w.heap->old.segments[0].start);
    for (size_t i = 0; i < live; i++) {
        assert_int_equal(*(uint64_t *)eden_raw(after[i]), numbers[i]);
        assert_true(after[i] <= before[i]);
        if (i != 0) { /* no gap, in one segment */
            assert_int_equal(object_start(after[i]), object_end(after[i - 1]));
        }
    }
    assert_int_equal(heap_old_used(w.heap), bytes);
    assert_int_equal(figures_of(&w).freed_bytes, used - bytes);
    assert_int_equal(w.heap->old.free.chunks, 1);
}

TEST(the_pinned_are_stepped_around) {
    for (uint64_t seed = 1; seed <= 12; seed++) {
        WORLD(w, "eden_size=4M,full_gc_ratio=inf,compactor=planning,grow_headroom=64K,shrink_threshold=64K");
        make_sliders(&w);
        uint64_t random = seed;
        static eden_value pinned[SLIDERS];
        memset(pinned, 0, sizeof pinned);
        const uint64_t rarity = 1ull << seed; /* from every second object to one in 4096 */
        for (int round = 0; round < 4; round++) {
            for (size_t i = 0; i < SLIDERS; i++) {
                uint64_t r = next_random(&random);
                if (sliders[i] == EDEN_NONE) {
                    continue;
                }
                if (r % rarity == 0) {
                    pinned[i] = eden_pin(w.m, sliders[i]);
                    assert_true(pinned[i] == sliders[i]);
                } else if (pinned[i] != EDEN_NONE && r % 5 == 0) {
                    eden_unpin(w.m, sliders[i]);
                    pinned[i] = EDEN_NONE;
                } else if ((r >> 8) % 3 == 0) {
                    sliders[i] = pinned[i] = EDEN_NONE;
                }
            }
            eden_full_collect(w.m);
            verify(&w);
            check_sliders();
            size_t live = 0;
            uint64_t bytes = 0;
            for (size_t i = 0; i < SLIDERS; i++) {
                assert_true(pinned[i] == EDEN_NONE || pinned[i] == sliders[i]);
                live += sliders[i] != EDEN_NONE;
                bytes += sliders[i] != EDEN_NONE ? slider_bytes(i) : 0;
            }
            assert_int_equal(count_objects(&w), live);
            assert_int_equal(heap_old_used(w.heap), bytes);
        }
    }
}

TEST(without_a_compactor_nothing_moves) {
    WORLD(w, "eden_size=4M,full_gc_ratio=inf,compactor=none");
    make_sliders(&w);
    static eden_value before[SLIDERS];
    uint64_t bytes = 0;
    for (size_t i = 0; i < SLIDERS; i++) {
        if (i % 3 != 0) {
            bytes += slider_bytes(i);
        } else {
            sliders[i] = EDEN_NONE;
        }
        before[i] = sliders[i];
    }
    eden_full_collect(w.m);
    verify(&w);
    check_sliders();
    assert_memory_equal(before, sliders, sizeof sliders);
    assert_int_equal(heap_old_used(w.heap), bytes);
    assert_int_equal(figures_of(&w).compact_ns, 0);
    assert_true(w.heap->old.free.chunks > 100);
}

/* Without memory for its tables compaction becomes a sweep. */
TEST(without_memory_for_tables_it_sweeps) {
    for (long refused = 1; refused <= 6; refused++) { /* tables, gaps, obstacles and as they grow */
        struct refusal refusal = {1, 0, 0};
        WORLD_REFUSING(w, "eden_size=4M,full_gc_ratio=inf", &refusal);
        make_sliders(&w);
        uint64_t bytes = 0;
        size_t live = 0;
        for (size_t i = 0; i < SLIDERS; i++) {
            if (i % 3 == 0) {
                sliders[i] = EDEN_NONE;
                continue;
            }
            if (i % 5 == 0) {
                eden_pin(w.m, sliders[i]);
            }
            bytes += slider_bytes(i);
            live++;
        }
        refusal = (struct refusal){refused, refused, 0};
        eden_full_collect(w.m);
        verify(&w);
        check_sliders();
        assert_int_equal(heap_old_used(w.heap), bytes);
        assert_int_equal(count_objects(&w), live);
    }
}

/* A stack shrunk to 64 entries overflows at each large object. */
TEST(marking_recovers_from_a_full_stack) {
    enum { OUTER = 9000, INNER = 60 };
    WORLD(w, "eden_size=8M,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 2);
    const size_t room = w.heap->mark_stack.room;
    w.heap->mark_stack.room = 64;
    local[0] = eden_new_slots(w.m, w.array, OUTER);
    for (size_t i = 0; i < OUTER; i++) {
        eden_value inner = eden_new_slots(w.m, w.array, INNER);
        eden_slot_set(w.m, local[0], i, inner);
        if (i % 100 == 0) {
            for (size_t j = 0; j < INNER; j++) {
                eden_value leaf = eden_new(w.m, w.pair);
                eden_value holder = eden_slot(local[0], i);
                eden_slot_set(w.m, leaf, 0, eden_int((int64_t)j));
                eden_slot_set(w.m, leaf, 1, holder);
                eden_slot_set(w.m, holder, j, leaf);
            }
        }
    }
    for (int round = 0; round < 2; round++) {
        eden_full_collect(w.m);
        verify(&w);
        assert_int_equal(count_objects(&w), 1 + OUTER + OUTER / 100 * INNER);
        assert_int_equal(w.heap->mark_stack.count, 0);
        assert_false(w.heap->mark_stack.overflowed);
    }
    for (size_t i = 0; i < OUTER; i += 100) {
        for (size_t j = 0; j < INNER; j++) {
            assert_true(eden_slot(eden_slot(eden_slot(local[0], i), j), 0) == eden_int((int64_t)j));
        }
    }
    w.heap->mark_stack.room = room;
}

/* The real stack, of 256K entries: roots are all reached before the first is scanned. */
enum { MANY_ROOTS = 400000 };
static eden_value many_roots[MANY_ROOTS];

static void visit_many_roots(void *context, eden_visit *visit) {
    (void)context;
    eden_visit_slots(visit, many_roots, MANY_ROOTS);
}

TEST(more_roots_than_the_stack_holds) {
    WORLD(w, "eden_size=4M,full_gc_ratio=inf");
    assert_true(w.heap->mark_stack.room < MANY_ROOTS);
    memset(many_roots, 0, sizeof many_roots);
    assert_true(eden_visitor_add(w.heap, visit_many_roots, NULL));
    for (size_t i = 0; i < MANY_ROOTS; i++) {
        many_roots[i] = eden_new(w.m, w.pair);
        eden_value leaf = eden_new(w.m, w.pair);
        eden_slot_set(w.m, many_roots[i], 0, leaf);
        eden_slot_set(w.m, leaf, 1, eden_int((int64_t)i));
    }
    eden_full_collect(w.m);
    verify(&w);
    assert_int_equal(count_objects(&w), 2 * MANY_ROOTS);
    for (size_t i = 0; i < MANY_ROOTS; i++) {
        assert_true(eden_slot(eden_slot(many_roots[i], 0), 1) == eden_int((int64_t)i));
    }
}

/* Large arrays are marked a piece at a time. */
TEST(a_million_reached_at_once) {
    enum { MILLION = 1000000 };
    WORLD(w, "eden_size=16M,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 1);
    local[0] = eden_new_slots(w.m, w.array, MILLION);
    for (size_t i = 0; i < MILLION; i++) {
        eden_value pair = eden_new(w.m, w.pair);
        eden_slot_set(w.m, pair, 0, eden_int((int64_t)i));
        eden_slot_set(w.m, local[0], i, pair);
    }
    eden_full_collect(w.m);
    verify(&w);
    assert_int_equal(count_objects(&w), MILLION + 1);
    for (size_t i = 0; i < MILLION; i++) {
        assert_true(eden_slot(eden_slot(local[0], i), 0) == eden_int((int64_t)i));
    }
    local[0] = EDEN_NONE;
    eden_full_collect(w.m);
    assert_int_equal(count_objects(&w), 0);
    assert_int_equal(heap_old_used(w.heap), 0);
}

TEST(a_list_of_a_million) {
    enum { MILLION = 1000000 };
    WORLD(w, "eden_size=1M,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 1);
    for (int64_t i = 0; i < MILLION; i++) {
        eden_value pair = eden_new(w.m, w.pair);
        eden_slot_set(w.m, pair, 0, eden_int(i));
        eden_slot_set(w.m, pair, 1, local[0]);
        local[0] = pair;
    }
    for (int round = 0; round < 2; round++) {
        eden_full_collect(w.m);
        verify(&w);
        int64_t i = MILLION;
        for (eden_value at = local[0]; at != EDEN_NONE; at = eden_slot(at, 1)) {
            assert_true(eden_slot(at, 0) == eden_int(--i));
        }
        assert_int_equal(i, 0);
        assert_int_equal(count_objects(&w), MILLION);
    }
}

/* A dead old object keeps a young one alive through scavenges; the full collection frees both. */
TEST(nepotism_ends) {
    WORLD(w, "eden_size=64K,full_gc_ratio=inf");
    EDEN_FRAME(w.m, local, 2);
    local[0] = eden_new(w.m, w.pair);
    make_old(&w, &local[0]);
    set_parameter(&w, "tenure_proportion", "0");
    w.heap->tenure_threshold = 0;
    eden_value young = new_sized(&w, 400);
    eden_slot_set(w.m, local[0], 0, young);
    local[1] = new_sized(&w, 104);
    local[0] = EDEN_NONE;
    for (int i = 0; i < 3; i++) {
        eden_scavenge(w.m);
        assert_int_equal(count_objects(&w), 3);
    }
    assert_int_equal(w.heap->remembered.count, 1);
    eden_full_collect(w.m);
    verify(&w);
    assert_int_equal(count_objects(&w), 1);
    assert_int_equal(w.heap->remembered.count, 0);
    assert_int_equal(figures_of(&w).freed_bytes, 24);
    /* What died among the survivors is a filler until the next scavenge. */
    assert_int_equal(figures_of(&w).survivor_used, 504);
    eden_scavenge(w.m);
    assert_int_equal(figures_of(&w).survivor_used, 104);
}

TEST(nothing_to_collect) {
    WORLD(w, "eden_size=64K");
    for (int i = 0; i < 3; i++) {
        eden_full_collect(w.m);
        eden_scavenge(w.m);
    }
    assert_int_equal(figures_of(&w).old_capacity, 0);
    assert_int_equal(figures_of(&w).freed_bytes, 0);
}
