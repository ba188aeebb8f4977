/* The probe census: what a full collection says of each class; and the word by which a tool asks for one. */
#include "support.h"

extern volatile unsigned short eden_census_semaphore;

enum { MOST_SEEN = 64 };
struct seen {
    uint64_t class_id, objects, bytes, classes;
};
static struct seen seen[MOST_SEEN];
static size_t seen_count;

/* Instead of the probe's site: the linker leads the runtime's calls here. */
void __wrap_eden_probe_census(const void *heap, uint64_t seq, uint64_t class_id, uint64_t objects, uint64_t bytes,
                              uint64_t classes);
void __wrap_eden_probe_census(const void *heap, uint64_t seq, uint64_t class_id, uint64_t objects, uint64_t bytes,
                              uint64_t classes) {
    assert_int_equal(seq, ((const struct eden_heap_info *)heap)->seq + 1); /* before full__done */
    assert_true(seen_count < MOST_SEEN);
    seen[seen_count++] = (struct seen){class_id, objects, bytes, classes};
}

static void watched_collection(const struct world *w) {
    seen_count = 0;
    eden_census_semaphore = 1;
    eden_full_collect(w->m);
    eden_census_semaphore = 0;
}

static void assert_counted(eden_value of, uint64_t objects, uint64_t bytes) {
    size_t found = 0;
    for (size_t i = 0; i < seen_count; i++) {
        if (seen[i].class_id == eden_index_of(of)) {
            assert_int_equal(seen[i].objects, objects);
            assert_int_equal(seen[i].bytes, bytes);
            found++;
        }
        assert_int_equal(seen[i].classes, seen_count);
    }
    assert_int_equal(found, 1);
}

/* Old and young, large and small, those of a site, and nothing that is dead. */
static void counts(const char *parameters) {
    enum { PAIRS = 1000, KEPT = 500, LARGE = 1000000 };
    WORLD(w, parameters);
    EDEN_FRAME(w.m, local, 4);
    local[0] = eden_new_slots(w.m, w.array, PAIRS);
    local[1] = eden_new_raw(w.m, w.bytes, LARGE);
    for (size_t i = 0; i < PAIRS; i++) {
        eden_value pair = eden_new(w.m, w.pair);
        eden_slot_set(w.m, local[0], i, pair);
    }
    eden_full_collect(w.m); /* some of them are old now */
    for (size_t i = KEPT; i < PAIRS; i++) {
        eden_slot_set(w.m, local[0], i, EDEN_NONE);
    }
    local[2] = eden_new_slots(w.m, w.mixed, 10); /* young */
    eden_new_slots(w.m, w.mixed, 10);
    watched_collection(&w);
    assert_int_equal(seen_count, 4);
    assert_counted(local[0], 1, object_bytes(local[0]));
    assert_counted(local[1], 1, object_bytes(local[1]));
    assert_counted(local[2], 1, object_bytes(local[2]));
    assert_counted(eden_slot(local[0], 0), KEPT, KEPT * 24);
    uint64_t bytes = 0;
    for (size_t i = 0; i < seen_count; i++) {
        bytes += seen[i].bytes;
    }
    assert_int_equal(bytes, heap_old_used(w.heap) + heap_survivor_used(w.heap));
}
TEST(what_lives_is_counted) { counts("eden_size=1M"); }
TEST(what_lives_is_counted_after_sliding) { counts("eden_size=1M,compactor=planning"); }
TEST(what_lives_is_counted_where_nothing_moves) { counts("eden_size=1M,compactor=none"); }

TEST(an_empty_heap_says_so) {
    WORLD(w, "eden_size=1M");
    watched_collection(&w);
    assert_int_equal(seen_count, 1);
    assert_int_equal(seen[0].objects + seen[0].bytes + seen[0].classes + seen[0].class_id, 0);
}

TEST(nobody_counts_unwatched) {
    WORLD(w, "eden_size=1M");
    seen_count = 0;
    eden_full_collect(w.m);
    assert_int_equal(seen_count, 0);
}

static bool refuse_census(void *context, size_t bytes, const char *what) {
    (void)context, (void)bytes;
    return strcmp(what, "census") != 0;
}

TEST(without_memory_it_does_not_count) {
    struct world w;
    world_make_with(&w, &(eden_options){.name = "test", .parameters = "eden_size=1M", .memory_hook = refuse_census});
    watched_collection(&w);
    assert_int_equal(seen_count, 0);
    assert_int_equal(figures_of(&w).full_collections, 1);
    world_end(&w);
}

/* A tool writes the word; the heap collects after its next scavenge, once. */
TEST(a_tool_asks_for_a_collection) {
    WORLD(w, "eden_size=1M");
    struct eden_heap_info *info = (struct eden_heap_info *)w.heap;
    eden_scavenge(w.m);
    assert_int_equal(figures_of(&w).full_collections, 0);
    info->collect_request = 1;
    eden_scavenge(w.m);
    assert_int_equal(figures_of(&w).full_collections, 1);
    assert_int_equal(info->collect_request, 0);
    eden_scavenge(w.m);
    assert_int_equal(figures_of(&w).full_collections, 1);
    info->collect_request = 1;
    eden_full_collect(w.m); /* the program's own will do */
    eden_scavenge(w.m);
    assert_int_equal(figures_of(&w).full_collections, 2);
}
