/* Lazy sweeping: a full collection ends when it has marked; what it reports, who sweeps when, and what others find. */
#include "heap/workers.h"
#include "support.h"

/* Collections that have wanted the pool of threads. */
static size_t taken;
unsigned __real_workers_take(eden_heap *heap, unsigned wanted, size_t room);
unsigned __wrap_workers_take(eden_heap *heap, unsigned wanted, size_t room);
unsigned __wrap_workers_take(eden_heap *heap, unsigned wanted, size_t room) {
    taken++;
    return __real_workers_take(heap, wanted, room);
}

/* All is tenured when it has survived twice; a segment takes 64 KiB, or a large object. */
#define LAZY                                                                                                           \
    "policy=fixed,compactor=none,eden_size=256K,grow_headroom=64K,full_gc_ratio=inf,large_object=16K,"                 \
    "shrink_threshold=none,tenure_fill=0,tenure_proportion=1"

#define LAZY_WORLD(w, parameters)                                                                                      \
    WORLD(w, parameters);                                                                                              \
    (w).heap->old.sweeps_later = true

enum { NODES = 4000, NODE_BYTES = 48, KEPT_OF = 5 };
static eden_value nodes[NODES];

static void visit_nodes(void *context, eden_visit *visit) {
    (void)context;
    eden_visit_slots(visit, nodes, NODES);
}

/* Old nodes; every fifth lives. No collection has run since the others died. */
static void make_nodes(const struct world *w) {
    memset(nodes, 0, sizeof nodes);
    eden_visitor_add(w->heap, visit_nodes, NULL);
    for (size_t i = 0; i < NODES; i++) {
        nodes[i] = new_sized(w, NODE_BYTES);
        *(uint64_t *)eden_raw(nodes[i]) = i;
    }
    eden_scavenge(w->m);
    eden_scavenge(w->m);
    for (size_t i = 0; i < NODES; i++) {
        assert_true(is_old(w, nodes[i]));
        nodes[i] = i % KEPT_OF == 0 ? nodes[i] : EDEN_NONE;
    }
}

static void check_nodes(void) {
    for (size_t i = 0; i < NODES; i += KEPT_OF) {
        assert_int_equal(*(uint64_t *)eden_raw(nodes[i]), i);
        assert_int_equal(object_bytes(nodes[i]), NODE_BYTES);
    }
}

static size_t unswept(const struct world *w) { return w->heap->old.sweep.unswept; }

static uint64_t unswept_bytes(const struct world *w) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < w->heap->old.segment_count; i++) {
        bytes += w->heap->old.segments[i].limit - w->heap->old.segments[i].swept_to;
    }
    return bytes;
}

/* ---- what a collection reports ---- */

struct report {
    struct observer observer; /* first */
    bool follows_dead;
    size_t sweeps, dead;
    struct tally swept, all; /* by the last phase full.sweep; by all of them */
};

static void on_phase_end(struct observer *self, enum eden_phase phase, uint64_t ns, struct tally tally) {
    struct report *report = (struct report *)self;
    (void)ns;
    if (phase == EDEN_PHASE_sweep) {
        report->sweeps++;
        report->swept = tally;
        report->all.objects += tally.objects;
        report->all.bytes += tally.bytes;
    }
}

static bool wants_dead(struct observer *self) { return ((struct report *)self)->follows_dead; }

static uintptr_t on_dead(struct observer *self, eden_value object) {
    struct report *report = (struct report *)self;
    report->dead += report->follows_dead;
    return object;
}

static const struct observer_calls report_calls = {
    .phase_end = on_phase_end, .dead = on_dead, .wants_dead = wants_dead};

struct outcome {
    eden_figures figures;
    struct tally swept;
    uint64_t old_used, capacity, used_at_full;
    size_t objects;
};

static struct outcome outcome_of(bool sweeps_later, const char *parameters) {
    WORLD(w, parameters);
    struct report report = {.sweeps = 0};
    observer_subscribe(&report.observer, w.heap, &report_calls);
    w.heap->old.sweeps_later = sweeps_later;
    make_nodes(&w);
    nodes[1] = new_sized(&w, 64 * KIB);
    new_sized(&w, 64 * KIB);
    new_sized(&w, 64); /* young, and dead before it is marked */
    eden_full_collect(w.m);
    assert_int_equal(unswept(&w) != 0, sweeps_later);
    verify(&w);
    return (struct outcome){.figures = figures_of(&w),
                            .swept = report.all,
                            .old_used = heap_old_used(w.heap),
                            .capacity = w.heap->old.capacity,
                            .used_at_full = w.heap->old.used_at_full,
                            .objects = count_objects(&w)};
}

TEST(figures_are_what_sweeping_at_once_finds) {
    const char *const parameters[] = {LAZY, LAZY ",gc_threads=2", "policy=auto,max_heap=64M"};
    for (size_t i = 0; i < 3; i++) {
        const struct outcome now = outcome_of(false, parameters[i]), later = outcome_of(true, parameters[i]);
        assert_int_equal(later.figures.freed_bytes, now.figures.freed_bytes);
        assert_int_equal(later.figures.old_used, now.figures.old_used);
        assert_int_equal(later.figures.old_capacity, now.figures.old_capacity);
        assert_int_equal(later.figures.survivor_used, now.figures.survivor_used);
        assert_int_equal(later.swept.objects, now.swept.objects);
        assert_int_equal(later.swept.bytes, now.swept.bytes);
        assert_true(now.swept.objects >= NODES / KEPT_OF * (KEPT_OF - 1));
        assert_int_equal(later.old_used, now.old_used);
        assert_int_equal(later.capacity, now.capacity);
        assert_int_equal(later.used_at_full, now.used_at_full);
        assert_int_equal(later.objects, now.objects);
    }
}

/* Young objects that only dead old ones have kept are no part of what lives in old space. */
TEST(dead_survivors_are_counted_apart) {
    LAZY_WORLD(w, LAZY);
    EDEN_FRAME(w.m, local, 1);
    make_nodes(&w);
    local[0] = eden_new_slots(w.m, w.array, 10);
    make_old(&w, &local[0]);
    set_parameter(&w, "tenure_proportion", "0");
    w.heap->tenure_threshold = 0;
    eden_slot_set(w.m, local[0], 0, new_sized(&w, 800));
    eden_scavenge(w.m);
    local[0] = EDEN_NONE;
    uint64_t survivors = heap_survivor_used(w.heap);
    assert_true(survivors >= 800);
    eden_full_collect(w.m);
    assert_true(unswept(&w) != 0);
    assert_int_equal(heap_old_used(w.heap), NODES / KEPT_OF * NODE_BYTES);
    verify(&w);
    eden_scavenge(w.m);
    assert_int_equal(heap_survivor_used(w.heap), 0);
    check_nodes();
}

/* ---- steps ---- */

TEST(a_step_ends_where_it_is_told) {
    LAZY_WORLD(w, LAZY);
    make_nodes(&w);
    eden_full_collect(w.m);
    uint64_t before = unswept_bytes(&w), used = heap_old_used(w.heap);
    assert_true(before > NODES * NODE_BYTES / 2);
    assert_int_equal(w.heap->old.free.chunks, 0);
    size_t steps = 0;
    bool is_within = false;
    for (bool is_done = false; !is_done; steps++) {
        is_done = lazy_sweep_bytes(w.heap, 1000);
        uint64_t left = unswept_bytes(&w);
        assert_true(before - left <= 1000 + NODE_BYTES * KEPT_OF || is_done);
        for (size_t i = 0; i < w.heap->old.segment_count; i++) {
            const struct segment *segment = &w.heap->old.segments[i];
            is_within |= segment->swept_to > segment->start && segment->swept_to < segment->limit;
        }
        before = left;
        assert_int_equal(heap_old_used(w.heap), used);
        verify(&w);
        check_nodes();
    }
    assert_true(is_within && steps > 100);
    assert_int_equal(unswept_bytes(&w), 0);
    assert_true(w.heap->old.free.chunks >= NODES / KEPT_OF);
    assert_true(lazy_sweep_bytes(w.heap, 1000));
}

TEST(a_step_ends_in_time) {
    LAZY_WORLD(w, LAZY);
    make_nodes(&w);
    eden_full_collect(w.m);
    uint64_t before = unswept_bytes(&w);
    assert_false(lazy_sweep_step(w.heap, 0));
    assert_false(lazy_sweep_step(w.heap, system_now_ns()));
    assert_int_equal(unswept_bytes(&w), before);
    assert_true(lazy_sweep_step(w.heap, UINT64_MAX));
    assert_int_equal(unswept_bytes(&w), 0);
    verify(&w);
    check_nodes();
    assert_true(lazy_sweep_step(w.heap, 0)); /* nothing is left */
}

/* Marks are gone where the sweep has been, and nowhere else. */
TEST(marks_go_with_the_sweep) {
    LAZY_WORLD(w, LAZY);
    make_nodes(&w);
    eden_full_collect(w.m);
    for (size_t i = 0; i < NODES; i += KEPT_OF) {
        assert_true(object_has(nodes[i], EDEN_HEADER_MARKED));
    }
    lazy_sweep_bytes(w.heap, 20000);
    for (size_t i = 0; i < NODES; i += KEPT_OF) {
        const struct segment *segment = &w.heap->old.segments[old_space_segment(&w.heap->old, nodes[i])];
        assert_int_equal(object_has(nodes[i], EDEN_HEADER_MARKED), nodes[i] >= segment->swept_to);
    }
    lazy_sweep_all(w.heap);
    for (size_t i = 0; i < NODES; i += KEPT_OF) {
        assert_false(object_has(nodes[i], EDEN_HEADER_MARKED));
    }
    verify(&w);
}

/* A run of dead objects that many steps walk over is one chunk in the end, and so is one with the free memory behind.
 */
TEST(a_gap_grows_over_steps) {
    LAZY_WORLD(w, LAZY ",grow_headroom=1M");
    make_nodes(&w);
    for (size_t i = 0; i < NODES; i++) {
        nodes[i] = i == 0 || i == NODES - 1 ? nodes[i] : EDEN_NONE;
    }
    nodes[0] = object_start(nodes[0]) == w.heap->old.segments[0].start ? nodes[0] : EDEN_NONE;
    eden_full_collect(w.m);
    assert_int_equal(w.heap->old.segment_count, 1);
    while (!lazy_sweep_bytes(w.heap, 500)) {
        verify(&w);
    }
    size_t live = nodes[0] != EDEN_NONE ? 2 : 1;
    assert_true(w.heap->old.free.chunks <= live + 1);
    verify(&w);
}

/* ---- who sweeps ---- */

TEST(an_allocation_sweeps_before_old_space_grows) {
    LAZY_WORLD(w, LAZY ",large_object=4096");
    enum { LARGE = 8000, COUNT = 100 };
    eden_value *large = nodes;
    eden_visitor_add(w.heap, visit_nodes, NULL);
    memset(nodes, 0, sizeof nodes);
    for (size_t i = 0; i < COUNT; i++) {
        large[i] = new_sized(&w, LARGE);
    }
    for (size_t i = 0; i < COUNT; i += 2) {
        large[i] = EDEN_NONE;
    }
    eden_full_collect(w.m);
    uint64_t capacity = w.heap->old.capacity, fulls = figures_of(&w).full_collections;
    size_t segments = unswept(&w);
    assert_true(segments > 5);
    large[0] = new_sized(&w, LARGE);
    assert_true(unswept(&w) >= segments - 1); /* no more than it needs */
    verify(&w);
    for (size_t i = 2; i < COUNT; i += 2) {
        large[i] = new_sized(&w, LARGE);
        assert_false(object_has(large[i], EDEN_HEADER_MARKED));
    }
    assert_int_equal(w.heap->old.capacity, capacity);
    assert_int_equal(figures_of(&w).full_collections, fulls);
    verify(&w);
    /* Nothing fits: all is swept, then a collection, then another segment. */
    eden_full_collect(w.m);
    assert_true(unswept(&w) != 0);
    large[COUNT] = new_sized(&w, 100 * KIB);
    assert_true(w.heap->old.capacity > capacity);
    assert_int_equal(figures_of(&w).full_collections, fulls + 2);
    verify(&w);
}

/* Where nearly all lives. With a limit there is nothing else to do. */
TEST(an_allocation_that_finds_little_room_sweeps_a_megabyte) {
    for (int limited = 0; limited <= 1; limited++) {
        LAZY_WORLD(w, LAZY);
        enum { BYTES = 1024, LIVE_MB = 4 };
        memset(nodes, 0, sizeof nodes);
        eden_visitor_add(w.heap, visit_nodes, NULL);
        for (size_t i = 0; i < NODES; i++) {
            nodes[i] = new_sized(&w, BYTES);
        }
        nodes[NODES - 500] = EDEN_NONE;
        nodes[NODES - 499] = EDEN_NONE; /* they make a gap of two */
        eden_full_collect(w.m);
        eden_full_collect(w.m);
        assert_true(unswept_bytes(&w) > LIVE_MB * 900 * KIB);
        uint64_t capacity = w.heap->old.capacity, before = unswept_bytes(&w);
        if (limited) {
            char mapped[24];
            snprintf(mapped, sizeof mapped, "%zu", w.heap->new_space.bytes + w.heap->old.capacity);
            set_parameter(&w, "max_heap", mapped);
        }
        uintptr_t start = heap_old_room(w.heap, 2 * BYTES);
        assert_true(start != 0);
        free_chunks_add(&w.heap->old.free, start, 2 * BYTES); /* gives it back */
        w.heap->old.free_bytes += 2 * BYTES;
        assert_true((w.heap->old.capacity > capacity) != limited);
        assert_true((before - unswept_bytes(&w) > 2 * KIB * KIB) == limited);
    }
}

TEST(a_scavenge_tenures_into_what_it_sweeps) {
    LAZY_WORLD(w, LAZY);
    make_nodes(&w);
    eden_full_collect(w.m);
    uint64_t capacity = w.heap->old.capacity, used = heap_old_used(w.heap);
    enum { FRESH = 2000 };
    for (size_t i = 1; i < FRESH; i += i % KEPT_OF == KEPT_OF - 1 ? 2 : 1) {
        nodes[i] = new_sized(&w, NODE_BYTES);
        *(uint64_t *)eden_raw(nodes[i]) = i;
    }
    eden_scavenge(w.m);
    eden_scavenge(w.m);
    assert_true(heap_old_used(w.heap) > used + FRESH / 2 * NODE_BYTES);
    assert_int_equal(w.heap->old.capacity, capacity);
    for (size_t i = 0; i < FRESH; i++) {
        if (nodes[i] != EDEN_NONE) {
            assert_int_equal(*(uint64_t *)eden_raw(nodes[i]), i);
            assert_true(is_old(&w, nodes[i]));
            const struct segment *segment = &w.heap->old.segments[old_space_segment(&w.heap->old, nodes[i])];
            assert_int_equal(object_has(nodes[i], EDEN_HEADER_MARKED), nodes[i] >= segment->swept_to);
        }
    }
    verify(&w);
    check_nodes();
}

TEST(the_next_full_collection_sweeps_the_rest) {
    LAZY_WORLD(w, LAZY);
    struct report report = {.sweeps = 0};
    observer_subscribe(&report.observer, w.heap, &report_calls);
    make_nodes(&w);
    eden_full_collect(w.m);
    lazy_sweep_bytes(w.heap, 10000);
    uint64_t freed = figures_of(&w).freed_bytes;
    assert_int_equal(report.sweeps, 1);
    eden_full_collect(w.m);
    assert_int_equal(report.sweeps, 3);
    assert_int_equal(report.swept.objects, 0); /* all that was dead had been reported */
    assert_int_equal(figures_of(&w).freed_bytes, freed);
    assert_true(unswept(&w) != 0);
    verify(&w);
    nodes[0] = EDEN_NONE;
    lazy_sweep_all(w.heap);
    eden_full_collect(w.m);
    assert_int_equal(report.sweeps, 4);
    assert_int_equal(report.swept.objects, 1);
    assert_int_equal(figures_of(&w).freed_bytes, freed + NODE_BYTES);
    verify(&w);
}

/* Three in a row, with the marks of the last one swept in between or not. */
TEST(what_dies_later_is_found_by_the_next_one) {
    LAZY_WORLD(w, LAZY);
    make_nodes(&w);
    for (int round = 0; round < 3; round++) {
        eden_full_collect(w.m);
        assert_int_equal(count_objects(&w), (size_t)(NODES / KEPT_OF - round));
        lazy_sweep_bytes(w.heap, (size_t)round * 30000);
        assert_int_equal(count_objects(&w), (size_t)(NODES / KEPT_OF - round));
        nodes[(size_t)round * KEPT_OF * 7] = EDEN_NONE;
        verify(&w);
    }
}

/* ---- memory ---- */

/* Segments of dead large objects only, in between those of one that lives. */
static void make_segments(const struct world *w, size_t count) {
    memset(nodes, 0, sizeof nodes);
    eden_visitor_add(w->heap, visit_nodes, NULL);
    for (size_t i = 0; i < count; i++) {
        nodes[i] = new_sized(w, 64 * KIB);
    }
    assert_int_equal(w->heap->old.segment_count, count);
}

TEST(segments_without_a_live_object_are_free_at_once) {
    LAZY_WORLD(w, LAZY);
    make_segments(&w, 10);
    for (size_t i = 0; i < 10; i++) {
        nodes[i] = i % 2 == 0 ? nodes[i] : EDEN_NONE;
    }
    eden_full_collect(w.m);
    assert_int_equal(unswept(&w), 5);
    assert_int_equal(w.heap->old.free.chunks, 5);
    assert_int_equal(old_space_largest_free(w.heap), 64 * KIB);
    verify(&w);
    for (size_t i = 1; i < 10; i += 2) {
        nodes[i] = new_sized(&w, 64 * KIB);
    }
    assert_int_equal(unswept(&w), 5); /* no need to sweep */
    assert_int_equal(w.heap->old.segment_count, 10);
    lazy_sweep_all(w.heap);
    verify(&w);
}

TEST(empty_segments_are_returned_without_a_sweep) {
    LAZY_WORLD(w, LAZY);
    make_segments(&w, 10);
    for (size_t i = 0; i < 10; i++) {
        nodes[i] = i % 2 == 0 ? nodes[i] : EDEN_NONE;
    }
    set_parameter(&w, "shrink_threshold", "0");
    eden_full_collect(w.m);
    assert_int_equal(w.heap->old.segment_count, 6); /* the headroom stays */
    assert_int_equal(unswept(&w), 5);
    verify(&w);
    assert_true(lazy_sweep_step(w.heap, UINT64_MAX));
    verify(&w);
}

/* Where it is not known before that they are empty: no memory for the pages' bytes. */
static bool refuse_pages(void *context, size_t bytes, const char *what) {
    (void)context;
    (void)bytes;
    return strcmp(what, "live pages") != 0;
}

TEST(empty_segments_are_returned_when_all_is_swept) {
    const eden_options options = {.parameters = LAZY, .memory_hook = refuse_pages};
    struct world w __attribute__((cleanup(world_end)));
    world_make_with(&w, &options);
    w.heap->old.sweeps_later = true;
    make_segments(&w, 10);
    for (size_t i = 0; i < 10; i++) {
        nodes[i] = i % 2 == 0 ? nodes[i] : EDEN_NONE;
    }
    set_parameter(&w, "shrink_threshold", "0");
    eden_full_collect(w.m);
    assert_int_equal(unswept(&w), 10);
    assert_int_equal(w.heap->old.segment_count, 10);
    verify(&w);
    uint64_t unmapped = figures_of(&w).segments_unmapped;
    assert_false(lazy_sweep_bytes(w.heap, 100 * KIB));
    assert_int_equal(w.heap->old.segment_count, 10);
    verify(&w);
    assert_true(lazy_sweep_step(w.heap, UINT64_MAX));
    assert_int_equal(w.heap->old.segment_count, 6);
    assert_int_equal(figures_of(&w).segments_unmapped, unmapped + 4);
    verify(&w);
}

/* The policy returns the free ends of segments, too: now, or when the last step has found them. */
TEST(free_ends_are_returned_when_all_is_swept) {
    uint64_t capacity[2];
    for (int later = 0; later < 2; later++) {
        enum { COUNT = 128, OF_SEGMENT = 16 };
        WORLD(w, "policy=auto,compactor=none,grow_headroom=16M");
        w.heap->old.sweeps_later = later != 0;
        memset(nodes, 0, sizeof nodes);
        eden_visitor_add(w.heap, visit_nodes, NULL);
        for (size_t i = 0; i < COUNT; i++) {
            nodes[i] = eden_new_raw(w.m, w.bytes, MIB - 64);
        }
        for (size_t i = 0; i < COUNT; i++) {
            nodes[i] = i % OF_SEGMENT == 0 ? nodes[i] : EDEN_NONE;
        }
        eden_full_collect(w.m);
        assert_int_equal(unswept(&w) != 0, later);
        assert_int_equal(w.heap->old.capacity < 64 * MIB, !later);
        verify(&w);
        assert_true(lazy_sweep_step(w.heap, UINT64_MAX));
        verify(&w);
        capacity[later] = w.heap->old.capacity;
    }
    assert_int_equal(capacity[0], capacity[1]);
}

/* ---- who sweeps at once ---- */

TEST(compaction_sweeps_at_once) {
    const char *const parameters[] = {LAZY ",compactor=planning", LAZY ",compactor=selective"};
    for (size_t i = 0; i < 2; i++) {
        LAZY_WORLD(w, parameters[i]);
        make_nodes(&w);
        eden_full_collect(w.m);
        assert_int_equal(unswept(&w), 0);
        verify(&w);
        check_nodes();
    }
}

/* An allocation that finds free memory in pieces slides, whatever is unswept. */
TEST(sliding_finds_all_swept) {
    LAZY_WORLD(w, "policy=auto,max_heap=24M,large_object=64K,eden_size=256K,full_gc_ratio=inf,shrink_threshold=none");
    enum { LARGE = 512 * 1024 };
    memset(nodes, 0, sizeof nodes);
    eden_visitor_add(w.heap, visit_nodes, NULL);
    size_t count = 0;
    while (count < NODES && (nodes[count] = new_sized(&w, LARGE)) != EDEN_NONE) {
        count++;
    }
    assert_true(count > 20);
    for (size_t i = 0; i < count; i += 2) {
        nodes[i] = EDEN_NONE;
    }
    eden_full_collect(w.m);
    size_t before = unswept(&w);
    nodes[0] = new_sized(&w, 4 * MIB);
    assert_true(nodes[0] != EDEN_NONE);
    assert_true(before == 0 || unswept(&w) == 0);
    verify(&w);
}

TEST(who_wants_the_dead_sees_them_at_once) {
    LAZY_WORLD(w, LAZY);
    struct report report = {.follows_dead = true};
    observer_subscribe(&report.observer, w.heap, &report_calls);
    make_nodes(&w);
    eden_full_collect(w.m);
    assert_int_equal(unswept(&w), 0);
    assert_int_equal(report.dead, NODES / KEPT_OF * (KEPT_OF - 1));
    verify(&w);
    /* Who begins while something is unswept sees what dies from then on. */
    report.follows_dead = false;
    nodes[0] = EDEN_NONE;
    eden_full_collect(w.m);
    assert_true(unswept(&w) != 0);
    report.follows_dead = true;
    report.dead = 0;
    nodes[KEPT_OF] = EDEN_NONE;
    eden_full_collect(w.m);
    assert_int_equal(unswept(&w), 0);
    assert_int_equal(report.dead, 1);
    verify(&w);
}

TEST(promotion_in_place_sweeps_at_once) {
    LAZY_WORLD(w, "policy=auto,max_heap=16M");
    EDEN_FRAME(w.m, local, 1);
    for (size_t i = 0; i < 200000; i++) {
        eden_value pair = eden_new(w.m, w.pair);
        assert_true(pair != EDEN_NONE);
        eden_slot_set(w.m, pair, 0, local[0]);
        local[0] = pair;
    }
    eden_full_collect(w.m);
    w.heap->is_mixed = true; /* so all is promoted in place */
    eden_scavenge(w.m);
    verify(&w);
    eden_full_collect(w.m);
    assert_false(old_space_has_adopted(&w.heap->old));
    verify(&w);
}

/* ---- what others find meanwhile ---- */

/* The remembered set could not grow: the scan of all old space passes over the dead, which refer to what is gone. */
TEST(a_scan_of_old_space_passes_over_the_dead) {
    LAZY_WORLD(w, LAZY);
    EDEN_FRAME(w.m, local, 2);
    local[0] = eden_new_slots(w.m, w.array, 100);
    local[1] = eden_new_slots(w.m, w.array, 100);
    make_old(&w, &local[0]);
    assert_true(is_old(&w, local[1]));
    set_parameter(&w, "tenure_proportion", "0");
    w.heap->tenure_threshold = 0;
    for (size_t i = 0; i < 100; i++) {
        eden_slot_set(w.m, local[0], i, new_sized(&w, 64));
        eden_slot_set(w.m, local[1], i, new_sized(&w, 64));
    }
    eden_scavenge(w.m);
    local[0] = EDEN_NONE;
    eden_full_collect(w.m);
    assert_true(unswept(&w) != 0);
    w.heap->remembered.is_incomplete = true;
    eden_scavenge(w.m);
    assert_int_equal(count_objects(&w), 101);
    verify(&w);
}

TEST(ephemerons_and_weak_slots_of_unswept_objects_work) {
    LAZY_WORLD(w, LAZY);
    EDEN_FRAME(w.m, local, 4);
    eden_class weak = define_class(w.heap, "Weak", EDEN_FORMAT_WEAK, 0);
    eden_class ephemeron = define_class(w.heap, "Ephemeron", EDEN_FORMAT_EPHEMERON, 2);
    local[0] = eden_new_slots(w.m, weak, 2);
    local[1] = eden_new(w.m, ephemeron);
    local[2] = eden_new(w.m, w.pair);
    make_old(&w, &local[0]);
    set_parameter(&w, "tenure_proportion", "0");
    w.heap->tenure_threshold = 0;
    eden_full_collect(w.m);
    assert_true(object_has(local[0], EDEN_HEADER_MARKED) && object_has(local[1], EDEN_HEADER_MARKED));
    eden_slot_set(w.m, local[0], 0, eden_new(w.m, w.pair));
    eden_slot_set(w.m, local[0], 1, local[2]);
    eden_slot_set(w.m, local[1], 0, eden_new(w.m, w.pair));
    eden_scavenge(w.m);
    verify(&w);
    assert_int_equal(eden_slot(local[0], 0), EDEN_NONE);
    assert_int_equal(eden_slot(local[0], 1), local[2]);
    assert_int_equal(eden_mourn_count(w.m), 1);
    assert_int_equal(eden_mourn_next(w.m), local[1]);
    assert_true(object_has(local[1], EDEN_HEADER_MARKED)); /* still unswept */
    lazy_sweep_all(w.heap);
    verify(&w);
    local[2] = EDEN_NONE;
    eden_full_collect(w.m);
    assert_int_equal(eden_slot(local[0], 1), EDEN_NONE);
    verify(&w);
}

TEST(pins_and_hashes_of_unswept_objects_stay) {
    LAZY_WORLD(w, LAZY);
    make_nodes(&w);
    eden_full_collect(w.m);
    eden_value object = nodes[NODES - KEPT_OF];
    assert_true(object_has(object, EDEN_HEADER_MARKED));
    uint32_t hash = eden_identity_hash(w.m, object);
    assert_int_equal(eden_pin(w.m, object), object);
    lazy_sweep_all(w.heap);
    verify(&w);
    assert_int_equal(eden_identity_hash(w.m, object), hash);
    assert_true(object_has(object, EDEN_HEADER_PINNED));
    eden_unpin(w.m, object);
}

/* A pair and its text, into a slot of the array in local[0]. */
static void put_pair(const struct world *w, eden_value *local, size_t i, size_t bytes) {
    local[1] = eden_new(w->m, w->pair);
    eden_slot_set(w->m, local[0], i, local[1]);
    eden_value text = new_sized(w, bytes);
    eden_slot_set(w->m, local[1], 0, text);
    local[1] = EDEN_NONE;
}

/* Several threads mark; a scavenge goes alone until all is swept. */
TEST(several_threads_mark_and_note_pages) {
    LAZY_WORLD(w, LAZY ",gc_threads=2,compat.overflow=scan-order");
    w.heap->alone_bytes = 0;
    EDEN_FRAME(w.m, local, 2);
    local[0] = eden_new_slots(w.m, w.array, 3000);
    for (size_t i = 0; i < 3000; i++) {
        put_pair(&w, local, i, 16 + 8 * (i % 30));
    }
    make_old(&w, &local[0]);
    for (int round = 0; round < 20; round++) {
        for (size_t i = (size_t)round; i < 3000; i += 7) {
            put_pair(&w, local, i, 16 + 8 * (i % 40));
        }
        taken = 0;
        eden_full_collect(w.m);
        assert_true(taken != 0 && unswept(&w) != 0);
        verify(&w);
        assert_int_equal(count_objects(&w), 1 + 2 * 3000);
        put_pair(&w, local, 0, 64);
        taken = 0;
        eden_scavenge(w.m);
        assert_int_equal(taken, 0);
        verify(&w);
        lazy_sweep_bytes(w.heap, (size_t)round * 10000);
        verify(&w);
    }
    lazy_sweep_all(w.heap);
    for (size_t i = 0; i < 100; i++) {
        put_pair(&w, local, i, 64);
    }
    eden_scavenge(w.m);
    assert_true(taken != 0);
    verify(&w);
}

/* ---- at random ---- */

TEST(random_steps_between_random_changes) {
    LAZY_WORLD(w, LAZY);
    memset(nodes, 0, sizeof nodes);
    eden_visitor_add(w.heap, visit_nodes, NULL);
    uint64_t random = 5;
    size_t seen_within = 0;
    for (int step = 0; step < 3000; step++) {
        uint64_t r = next_random(&random);
        size_t at = (r >> 8) % NODES;
        switch (r % 8) {
        case 0:
            eden_scavenge(w.m);
            break;
        case 1:
            lazy_sweep_bytes(w.heap, (r >> 32) % 30000);
            seen_within += unswept(&w) != 0;
            break;
        case 2:
            if (r >> 60 == 0) {
                eden_full_collect(w.m);
            }
            break;
        case 3:
            for (size_t i = 0; i < 200; i++) {
                nodes[(at + i * 13) % NODES] = EDEN_NONE;
            }
            break;
        case 4:
            nodes[at] = new_sized(&w, 16 * KIB + (r >> 32) % 4096 * 8);
            break;
        default:
            for (size_t i = 0; i < 50; i++) {
                nodes[(at + i * 7) % NODES] = new_sized(&w, 16 + (r >> 32) % 90 * 8);
            }
            break;
        }
        if (step % 10 == 0) {
            verify(&w);
        }
    }
    assert_true(seen_within > 10);
}
