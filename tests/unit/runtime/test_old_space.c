/* Old space: free chunks by size, segments, growing, shrinking, walking. */
#include "support.h"
#include <sys/mman.h>
#include <sys/resource.h>

/* Memory to make chunks of, outside any heap. */
static uintptr_t arena(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    return (uintptr_t)at;
}

TEST(fillers_are_walked_over) {
    uintptr_t at = arena(4 * MIB);
    for (size_t bytes = 8; bytes <= 4096; bytes += 8) {
        object_fill(at, bytes);
        assert_true(object_is_free(object_at(at)));
        assert_int_equal(object_bytes(object_at(at)), bytes);
        assert_int_equal(object_end(object_at(at)), at + bytes);
    }
    object_fill(at, 4 * MIB);
    assert_int_equal(object_bytes(object_at(at)), 4 * MIB);
    munmap((void *)at, 4 * MIB);
}

TEST(exact_lists_return_chunks_of_their_size) {
    uintptr_t at = arena(MIB);
    struct free_chunks free_chunks;
    free_chunks_clear(&free_chunks);
    assert_int_equal(free_chunks_largest(&free_chunks), 0);
    for (size_t bytes = 16; bytes <= 504; bytes += 8) {
        assert_int_equal(free_chunks_pop(&free_chunks, bytes), 0);
        free_chunks_add(&free_chunks, at + bytes * 1024, bytes);
        free_chunks_add(&free_chunks, at + bytes * 1024 + 512, bytes);
        assert_int_equal(free_chunks_largest(&free_chunks), bytes);
    }
    assert_int_equal(free_chunks.chunks, 2 * 62);
    for (size_t bytes = 504; bytes >= 16; bytes -= 8) {
        assert_int_equal(free_chunks_largest(&free_chunks), bytes);
        assert_int_equal(free_chunks_pop(&free_chunks, bytes), at + bytes * 1024 + 512); /* the last added first */
        assert_int_equal(free_chunks_pop(&free_chunks, bytes), at + bytes * 1024);
        assert_int_equal(free_chunks_pop(&free_chunks, bytes), 0);
    }
    assert_int_equal(free_chunks.chunks, 0);
    assert_int_equal(free_chunks.filled, 0);
    /* 8 bytes are free, but in no list. */
    free_chunks_add(&free_chunks, at, 8);
    assert_int_equal(free_chunks.chunks, 0);
    assert_true(object_is_free(object_at(at)));
    munmap((void *)at, MIB);
}

TEST(small_requests_take_the_next_larger_list) {
    uintptr_t at = arena(MIB);
    struct free_chunks free_chunks;
    free_chunks_clear(&free_chunks);
    free_chunks_add(&free_chunks, at, 48);
    free_chunks_add(&free_chunks, at + 1024, 504);
    free_chunks_add(&free_chunks, at + 2048, 512);
    size_t found = 0;
    assert_int_equal(free_chunks_take(&free_chunks, 40, &found), at);
    assert_int_equal(found, 48);
    assert_int_equal(free_chunks_take(&free_chunks, 40, &found), at + 1024);
    assert_int_equal(found, 504);
    assert_int_equal(free_chunks_take(&free_chunks, 40, &found), at + 2048);
    assert_int_equal(found, 512);
    assert_int_equal(free_chunks_take(&free_chunks, 16, &found), 0);
    munmap((void *)at, MIB);
}

struct model_chunk {
    uintptr_t start;
    size_t bytes;
};

/* The best fit by the definition: the smallest that is large enough, the lowest address among equals. */
static size_t best_fit(const struct model_chunk *chunks, size_t count, size_t bytes) {
    size_t best = count;
    for (size_t i = 0; i < count; i++) {
        if (chunks[i].bytes >= bytes &&
            (best == count || chunks[i].bytes < chunks[best].bytes ||
             (chunks[i].bytes == chunks[best].bytes && chunks[i].start < chunks[best].start))) {
            best = i;
        }
    }
    return best;
}

struct listing {
    struct model_chunk last;
    size_t count;
};
static bool note_chunk(void *context, uintptr_t start, size_t bytes) {
    struct listing *listing = context;
    assert_true(listing->last.bytes < bytes || (listing->last.bytes == bytes && listing->last.start < start));
    listing->last = (struct model_chunk){start, bytes};
    listing->count++;
    return true;
}

TEST(the_tree_is_best_fit) {
    enum { MOST = 600, ROOM = 8192 };
    uintptr_t at = arena((size_t)MOST * ROOM);
    struct free_chunks free_chunks;
    static struct model_chunk chunks[MOST];
    size_t count = 0;
    uint64_t random = 3;
    uintptr_t places[MOST];
    size_t free_places = MOST;
    for (size_t i = 0; i < MOST; i++) {
        places[i] = at + i * ROOM;
    }
    free_chunks_clear(&free_chunks);
    for (int step = 0; step < 20000; step++) {
        uint64_t r = next_random(&random);
        if (r % 2 == 0 && free_places != 0) {
            size_t place = (r >> 8) % free_places;
            size_t bytes = 512 + (r >> 32) % (r % 4 == 0 ? 8 : (ROOM - 512) / 8) * 8;
            chunks[count++] = (struct model_chunk){places[place], bytes};
            free_chunks_add(&free_chunks, places[place], bytes);
            places[place] = places[--free_places];
        } else if (r % 8 == 1 && count != 0) {
            size_t i = (r >> 8) % count;
            assert_true(free_chunks_take_exact(&free_chunks, chunks[i].start, chunks[i].bytes));
            assert_false(free_chunks_take_exact(&free_chunks, chunks[i].start, chunks[i].bytes));
            places[free_places++] = chunks[i].start;
            chunks[i] = chunks[--count];
        } else {
            size_t bytes = 512 + (r >> 32) % (ROOM / 8) * 8, found = 0;
            size_t best = best_fit(chunks, count, bytes);
            uintptr_t taken = free_chunks_take(&free_chunks, bytes, &found);
            if (best == count) {
                assert_int_equal(taken, 0);
            } else {
                assert_int_equal(taken, chunks[best].start);
                assert_int_equal(found, chunks[best].bytes);
                places[free_places++] = taken;
                chunks[best] = chunks[--count];
            }
        }
        assert_int_equal(free_chunks.chunks, count);
        if (step % 100 == 0) {
            struct listing listing = {{0, 0}, 0};
            assert_true(free_chunks_each(&free_chunks, note_chunk, &listing));
            assert_int_equal(listing.count, count);
            assert_int_equal(free_chunks_largest(&free_chunks), listing.last.bytes);
        }
    }
    munmap((void *)at, (size_t)MOST * ROOM);
}

/* What was the end of a segment may have been used, and be free again in part. */
TEST(a_chunk_of_another_size_is_not_taken) {
    uintptr_t at = arena(MIB);
    struct free_chunks free_chunks;
    free_chunks_clear(&free_chunks);
    free_chunks_add(&free_chunks, at, 1024);
    assert_false(free_chunks_take_exact(&free_chunks, at, 2048));
    assert_int_equal(free_chunks.chunks, 1);
    assert_true(free_chunks_take_exact(&free_chunks, at, 1024));
    munmap((void *)at, MIB);
}

/* A heap with old space of one segment of 64K. */
#define SMALL_SEGMENTS "eden_size=64K,grow_headroom=64K,full_gc_ratio=inf,large_object=4096,shrink_threshold=none"

TEST(chunks_are_cut_and_the_rest_stays_free) {
    WORLD(w, SMALL_SEGMENTS);
    struct old_space *old = &w.heap->old;
    assert_int_equal(old_space_allocate(w.heap, 4096), 0);
    assert_true(old_space_grow(w.heap, 4096));
    assert_int_equal(old->segment_count, 1);
    assert_int_equal(old->capacity, 64 * KIB);
    assert_int_equal(old->free_bytes, 64 * KIB);
    assert_int_equal(old->free.chunks, 1);
    uintptr_t first = old_space_allocate(w.heap, 4096);
    assert_int_equal(first, old->segments[0].start);
    uintptr_t second = old_space_allocate(w.heap, 64 * KIB - 4096 - 8);
    assert_int_equal(second, first + 4096);
    assert_int_equal(old->free_bytes, 8); /* a sliver */
    assert_int_equal(old->free.chunks, 0);
    assert_int_equal(old_space_allocate(w.heap, 16), 0);
    /* Give them back, as dead objects. */
    object_fill(first, 4096);
    object_fill(second, 64 * KIB - 4096 - 8);
    old->free_bytes = 64 * KIB;
    eden_full_collect(w.m);
    assert_int_equal(old->free.chunks, 1);
    assert_int_equal(old_space_largest_free(w.heap), 64 * KIB);
}

TEST(small_objects_fill_holes_of_their_size) {
    WORLD(w, SMALL_SEGMENTS ",compactor=none,tenure_fill=0,tenure_proportion=1");
    EDEN_FRAME(w.m, local, 200);
    for (size_t i = 0; i < 200; i++) {
        local[i] = new_sized(&w, 64);
    }
    eden_scavenge(w.m);
    eden_scavenge(w.m);
    eden_value places[200];
    for (size_t i = 0; i < 200; i++) {
        assert_true(is_old(&w, local[i]));
        assert_true(i == 0 || local[i] == local[i - 1] + 64); /* bumped in the buffer */
        places[i] = local[i];
    }
    for (size_t i = 0; i < 200; i += 2) {
        local[i] = EDEN_NONE;
    }
    eden_full_collect(w.m);
    assert_int_equal(w.heap->old.free.chunks, 100 + 1);
    for (size_t i = 0; i < 200; i += 2) {
        local[i] = new_sized(&w, 64);
    }
    eden_scavenge(w.m);
    eden_scavenge(w.m);
    size_t in_holes = 0;
    for (size_t i = 0; i < 200; i += 2) {
        in_holes += local[i] >= places[0] && local[i] <= places[199];
    }
    assert_int_equal(in_holes, 100);
    assert_int_equal(heap_old_used(w.heap), 200 * 64);
}

TEST(segments_are_mapped_and_unmapped_as_needed) {
    WORLD(w, SMALL_SEGMENTS);
    EDEN_FRAME(w.m, local, 12);
    struct old_space *old = &w.heap->old;
    for (size_t i = 0; i < 12; i++) {
        local[i] = new_sized(&w, 60 * KIB);
        assert_true(is_old(&w, local[i]));
        memset(eden_raw(local[i]), (int)i, 100);
    }
    assert_int_equal(old->segment_count, 12);
    assert_int_equal(old->capacity, 12 * 64 * KIB);
    assert_int_equal(figures_of(&w).segments_mapped, 12);
    for (size_t i = 1; i < 12; i++) {
        assert_true(old->segments[i].start >= old->segments[i - 1].limit);
    }
    assert_int_equal(figures_of(&w).segments_unmapped, 0);
    for (size_t i = 0; i < 12; i++) {
        if (i % 4 != 1) {
            local[i] = EDEN_NONE;
        }
    }
    /* Threshold none: all stay mapped, whatever is free. */
    eden_full_collect(w.m);
    assert_int_equal(old->segment_count, 12);
    /* Just as much free as the threshold: nothing goes; a byte less, and all goes but the headroom. */
    char bytes[32];
    snprintf(bytes, sizeof bytes, "%zu", (size_t)old->free_bytes);
    set_parameter(&w, "shrink_threshold", bytes);
    eden_full_collect(w.m);
    assert_int_equal(old->segment_count, 12);
    snprintf(bytes, sizeof bytes, "%zu", (size_t)old->free_bytes - 1);
    set_parameter(&w, "shrink_threshold", bytes);
    uintptr_t last = old->segments[11].start;
    eden_full_collect(w.m);
    /* Three live, in the three lowest segments (sliding), and one segment of free memory, less the rests of those. */
    assert_int_equal(old->segment_count, 4);
    assert_int_equal(old->capacity, 4 * 64 * KIB);
    assert_int_equal(figures_of(&w).segments_unmapped, 8);
    for (size_t i = 1; i < 12; i += 4) {
        assert_int_equal(((unsigned char *)eden_raw(local[i]))[99], i);
    }
    /* It is really unmapped: the system says so of its first page. */
    unsigned char resident;
    if (mincore((void *)last, 4096, &resident) == 0) {
        assert_int_equal(resident & 1, 0);
    }
    /* And may be mapped again. */
    local[0] = new_sized(&w, 60 * KIB);
    local[2] = new_sized(&w, 60 * KIB);
    assert_true(local[0] != EDEN_NONE && local[2] != EDEN_NONE);
    verify(&w);
}

static void read_at(void *context) {
    volatile unsigned char *at = context;
    (void)*at;
    _exit(0); /* not exit(): the heap is the parent's */
}

TEST(an_unmapped_segment_cannot_be_read) {
    WORLD(w, SMALL_SEGMENTS);
    EDEN_FRAME(w.m, local, 1);
    for (int i = 0; i < 3; i++) {
        local[0] = new_sized(&w, 60 * KIB);
    }
    uintptr_t last = w.heap->old.segments[w.heap->old.segment_count - 1].start;
    assert_child_ok(run_child(read_at, (void *)last));
    set_parameter(&w, "shrink_threshold", "0");
    local[0] = EDEN_NONE;
    eden_full_collect(w.m);
    eden_full_collect(w.m);
    assert_int_equal(w.heap->old.segment_count, 1); /* grow_headroom stays */
    int status = run_child(read_at, (void *)last);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(growth_asks_for_headroom_or_the_object) {
    WORLD(w, "eden_size=64K,grow_headroom=1M,full_gc_ratio=inf,large_object=4096");
    EDEN_FRAME(w.m, local, 3);
    local[0] = new_sized(&w, 64 * KIB);
    assert_int_equal(w.heap->old.capacity, MIB);
    local[1] = new_sized(&w, 3 * MIB + 8);
    assert_int_equal(w.heap->old.capacity, 4 * MIB + 4096); /* whole pages */
    set_parameter(&w, "grow_headroom", "2M");
    local[2] = new_sized(&w, MIB);
    assert_int_equal(w.heap->old.capacity, 6 * MIB + 4096);
    assert_int_equal(w.heap->old.segment_count, 3);
    assert_int_equal(figures_of(&w).segments_mapped, 3);
}

/* compat.growth=refill: segments of the next power of two that has 32 bytes to spare, or of the headroom. */
TEST(growth_as_in_spur_asks_for_powers_of_two) {
    WORLD(w, "eden_size=64K,grow_headroom=1M,full_gc_ratio=inf,large_object=4096,compat.growth=refill");
    EDEN_FRAME(w.m, local, 4);
    local[0] = new_sized(&w, 64 * KIB);
    assert_int_equal(w.heap->old.capacity, MIB);
    local[1] = new_sized(&w, 3 * MIB + 8);
    assert_int_equal(w.heap->old.capacity, 5 * MIB);
    local[2] = new_sized(&w, 4 * MIB - 32);
    assert_int_equal(w.heap->old.capacity, 9 * MIB);
    local[3] = new_sized(&w, 4 * MIB - 24);
    assert_int_equal(w.heap->old.capacity, 17 * MIB);
    assert_int_equal(w.heap->old.segment_count, 4);
}

/* After each scavenge segments of the headroom are added until so much is free, but not in the middle of what max_heap
 * or the system leave. */
TEST(the_headroom_is_refilled_after_each_scavenge) {
    enum { HEADROOM = 1 << 20 }; /* and an object's size */
    for (int refills = 0; refills <= 1; refills++) {
        struct refusal refusal = {0, 0, 0};
        WORLD_REFUSING(w, "eden_size=64K,grow_headroom=1M,full_gc_ratio=inf,large_object=4096", &refusal);
        set_parameter(&w, "compat.growth", refills ? "refill" : "needed");
        EDEN_FRAME(w.m, local, 20);
        for (size_t i = 0; i < 20; i++) {
            local[i] = new_sized(&w, HEADROOM);
            assert_true(local[i] != EDEN_NONE);
            eden_scavenge(w.m);
            assert_true(!refills || w.heap->old.free_bytes >= HEADROOM);
        }
        assert_true(!refills || w.heap->old.free_bytes == HEADROOM);
        /* With it, each object found room: no full collection came first. */
        assert_int_equal(figures_of(&w).full_by_cause[EDEN_FULL_ALLOCATION], refills ? 0 : 19);
        uint64_t capacity = w.heap->old.capacity;
        set_parameter(&w, "grow_headroom", "64M");
        refusal = (struct refusal){refusal.seen + 1, LONG_MAX, refusal.seen};
        eden_scavenge(w.m);
        assert_int_equal(w.heap->old.capacity, capacity);
        refusal.to = 0;
        char limit[32];
        snprintf(limit, sizeof limit, "%zu", (size_t)(w.heap->info.new_bytes + capacity + 64 * MIB - 1));
        set_parameter(&w, "max_heap", limit);
        eden_scavenge(w.m);
        assert_int_equal(w.heap->old.capacity, capacity);
        set_parameter(&w, "max_heap", "none");
        eden_scavenge(w.m);
        assert_int_equal(w.heap->old.capacity, capacity + (refills ? 64 * MIB : 0));
    }
}

static bool refuse_large(void *context, size_t bytes, const char *what) {
    (void)what;
    return bytes <= *(size_t *)context;
}

TEST(the_headroom_is_a_wish_the_object_a_need) {
    size_t most = SIZE_MAX;
    eden_options options = {.parameters = "eden_size=64K,grow_headroom=16M,large_object=4096",
                            .memory_hook = refuse_large,
                            .memory_hook_context = &most};
    struct world w __attribute__((cleanup(world_end)));
    world_make_with(&w, &options);
    EDEN_FRAME(w.m, local, 1);
    most = MIB;
    local[0] = new_sized(&w, 100 * KIB);
    assert_true(local[0] != EDEN_NONE);
    assert_int_equal(w.heap->old.capacity, MIB); /* 16, 8, 4 and 2 MiB are refused */
    assert_int_equal(new_sized(&w, 2 * MIB), EDEN_NONE);
}

/* The first gap that has so much room, by looking at all. New space lies below it. */
static uintptr_t lowest_gap(const struct world *w, size_t bytes) {
    const struct old_space *old = &w->heap->old;
    uintptr_t from = w->heap->new_space.end;
    for (size_t i = 0; i < old->segment_count && old->segments[i].start - from < bytes; i++) {
        from = old->segments[i].limit;
    }
    return from;
}

/* Segments of two sizes, grown and returned in any order. */
TEST(gaps_are_filled_from_the_lowest) {
    enum { OBJECTS = 60, ROUNDS = 400 };
    WORLD(w, SMALL_SEGMENTS ",compactor=selective");
    EDEN_FRAME(w.m, local, OBJECTS);
    struct old_space *old = &w.heap->old;
    uint64_t random = 42;
    size_t lower = 0;
    set_parameter(&w, "shrink_threshold", "0");
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < 4; i++) {
            local[next_random(&random) % OBJECTS] = EDEN_NONE;
        }
        eden_full_collect(w.m);
        size_t size = next_random(&random) % 3 == 0 ? 500 * KIB : 60 * KIB, place = next_random(&random) % OBJECTS;
        for (bool grown = false; !grown;) {
            uintptr_t expected = lowest_gap(&w, system_page_round(size < 64 * KIB ? 64 * KIB : size));
            uint64_t mapped = figures_of(&w).segments_mapped, capacity = old->capacity;
            uintptr_t start = old_space_allocate(w.heap, size);
            if (start == 0) {
                assert_true(old_space_grow(w.heap, size));
                assert_int_equal(figures_of(&w).segments_mapped, mapped + 1);
                start = old_space_allocate(w.heap, size);
                assert_int_equal(start, expected);
                lower += expected < old->segments[old->segment_count - 1].start;
                grown = true;
            } else {
                assert_int_equal(old->capacity, capacity);
            }
            *(uint64_t *)start = 0;
            object_fill(start, size); /* a dead object, which the next sweep frees */
            old->free_bytes += size;
        }
        local[place] = new_sized(&w, size);
        assert_true(local[place] != EDEN_NONE);
    }
    assert_true(lower > ROUNDS / 20);
}

TEST(a_segment_that_loses_its_end_leaves_a_gap) {
    WORLD(w, "policy=auto,grow_headroom=64M");
    EDEN_FRAME(w.m, local, 5);
    const struct old_space *old = &w.heap->old;
    local[0] = new_sized(&w, MIB);
    local[1] = new_sized(&w, 60 * MIB); /* in the same segment */
    local[2] = new_sized(&w, 10 * MIB);
    local[3] = new_sized(&w, 50 * MIB);
    assert_int_equal(old->segment_count, 2);
    set_parameter(&w, "grow_headroom", "64K");
    local[4] = new_sized(&w, 5 * MIB); /* the search goes past the first two */
    assert_int_equal(old->segment_count, 3);
    local[1] = EDEN_NONE;
    eden_full_collect(w.m);
    uintptr_t end = old->segments[0].limit;
    assert_int_equal(old->segment_count, 3);
    assert_true(old->segments[1].start - end >= 5 * MIB);
    assert_int_equal(old_space_gap(w.heap, 5 * MIB), end);
}

/* Grants segments while there is a budget, and counts how often it is asked. */
struct budget {
    size_t left, asked;
};
static bool grant(void *context, size_t bytes, const char *what) {
    struct budget *budget = context;
    if (strcmp(what, "segment") != 0) {
        return true;
    }
    budget->asked++;
    bool granted = bytes <= budget->left;
    budget->left -= granted ? bytes : 0;
    return granted;
}

/* Makes a list as long as there is memory; its length. The heap must be whole then, and of use once the list is
 * dropped.
 */
static size_t fill_with_list(const struct world *w) {
    size_t length = 0;
    EDEN_FRAME(w->m, local, 2);
    for (; (local[1] = eden_new(w->m, w->pair)) != EDEN_NONE; length++) {
        eden_slot_set(w->m, local[1], 0, local[0]);
        local[0] = local[1];
    }
    verify(w);
    for (local[1] = local[0]; local[1] != EDEN_NONE; local[1] = eden_slot(local[1], 0)) {
        length--;
    }
    assert_int_equal(length, 0);
    local[0] = EDEN_NONE;
    eden_full_collect(w->m);
    return figures_of(w).allocated_bytes / 24;
}

/* Memory that is refused is not asked for again by each survivor. */
TEST(a_refusal_holds_for_the_scavenge) {
    struct budget budget = {.left = 10 * MIB};
    eden_options options = {
        .parameters = "eden_size=2M,grow_headroom=16M", .memory_hook = grant, .memory_hook_context = &budget};
    struct world w __attribute__((cleanup(world_end)));
    world_make_with(&w, &options);
    assert_true(fill_with_list(&w) > 10 * MIB / 24);
    eden_figures figures = figures_of(&w);
    assert_true(budget.left < 4096);
    assert_true(figures.segments_mapped <= 12);
    assert_true(budget.asked <= 15 * (figures.scavenges + figures.full_collections));
    assert_true(eden_new(w.m, w.pair) != EDEN_NONE);
}

/* Where the range ends, or the system gives no more: a few segments that use it up, not one for each page. */
static void fill_address_space(void *context) {
    (void)context;
    struct rlimit limit = {60 * MIB, 60 * MIB};
    CHILD_CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    struct world w;
    world_make(&w, "eden_size=4M");
    CHILD_CHECK(fill_with_list(&w) > 25 * MIB / 24);
    eden_figures figures = figures_of(&w);
    CHILD_CHECK(figures.segments_mapped <= 12);
    CHILD_CHECK(eden_new(w.m, w.pair) != EDEN_NONE);
    world_end(&w);
}

TEST(the_end_of_the_range_is_used_in_few_segments) {
    if (TEST_SANITIZED) {
        skip(); /* the sanitizers' own tables are beyond any limit */
    }
    assert_child_ok(run_child(fill_address_space, NULL));
}

TEST(a_walk_meets_everything_once) {
    WORLD(w, SMALL_SEGMENTS ",compactor=none,tenure_fill=0,tenure_proportion=1");
    EDEN_FRAME(w.m, local, 500);
    assert_int_equal(old_space_walk(w.heap, 0), EDEN_NONE);
    uint64_t random = 11;
    for (size_t i = 0; i < 500; i++) {
        local[i] = eden_new_raw(w.m, w.bytes, next_random(&random) % (i % 9 == 0 ? 5000 : 100));
    }
    eden_scavenge(w.m);
    eden_scavenge(w.m);
    for (size_t i = 0; i < 500; i += 3) {
        local[i] = EDEN_NONE;
    }
    for (int round = 0; round < 2; round++) {
        uintptr_t expected = w.heap->old.segments[0].start;
        uint64_t used = 0;
        size_t segment = 0, objects = 0;
        for (eden_value at = old_space_walk(w.heap, 0); at != EDEN_NONE; at = old_space_walk(w.heap, object_end(at))) {
            if (expected == w.heap->old.buffer_free && expected < w.heap->old.buffer_limit) {
                expected = w.heap->old.buffer_limit;
            }
            if (expected == w.heap->old.segments[segment].limit) {
                expected = w.heap->old.segments[++segment].start;
            }
            assert_int_equal(object_start(at), expected);
            expected = object_end(at);
            used += object_is_free(at) ? 0 : object_bytes(at);
            objects += !object_is_free(at);
        }
        assert_int_equal(used, heap_old_used(w.heap));
        assert_int_equal(objects, round == 0 ? 500 : 500 - 167);
        eden_full_collect(w.m);
    }
}

/* Small objects, dead and alive in turn, leave no gap that another would fit: evacuation moves nothing. At the limit
 * old space is slid together before an allocation fails. */
TEST(at_the_limit_pieces_are_slid_together) {
    for (int none = 0; none <= 1; none++) {
        WORLD(w, none == 1 ? "eden_size=1M,max_heap=16M,grow_headroom=1M,compactor=none"
                           : "eden_size=1M,max_heap=16M,grow_headroom=1M");
        EDEN_FRAME(w.m, local, 6);
        eden_class one = define_class(w.heap, "One", EDEN_FORMAT_FIXED, 1);
        set_parameter(&w, "tenure_fill", "0");
        set_parameter(&w, "tenure_proportion", "1");
        /* A list of pairs, each with an object of 16 bytes. */
        while (heap_old_used(w.heap) < 12 * MIB) {
            local[1] = eden_new(w.m, w.pair);
            assert_true(local[1] != EDEN_NONE);
            eden_slot_set(w.m, local[1], 0, local[0]);
            eden_slot_set(w.m, local[1], 1, eden_new(w.m, one));
            local[0] = local[1];
        }
        eden_scavenge(w.m);
        for (eden_value pair = local[0]; pair != EDEN_NONE; pair = eden_slot(pair, 0)) {
            eden_slot_set(w.m, pair, 1, EDEN_NONE);
        }
        eden_full_collect(w.m);
        assert_true(w.heap->old.capacity - heap_old_used(w.heap) > 4 * MIB);
        uint64_t limits = figures_of(&w).full_by_cause[EDEN_FULL_LIMIT];
        bool room = true;
        for (int i = 2; i < 6; i++) {
            local[i] = eden_new_raw(w.m, w.bytes, 900 * 1000);
            room &= local[i] != EDEN_NONE;
        }
        assert_int_equal(room, none == 0);
        if (none == 0) {
            assert_true(figures_of(&w).full_by_cause[EDEN_FULL_LIMIT] > limits);
        }
    }
}
