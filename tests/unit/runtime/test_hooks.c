/* Collection hooks: called after each collection, in order, on a heap at rest; nothing allocates or collects in one. */
#include "support.h"

enum { CALLS = 64 };
struct journal {
    struct world *w;
    char calls[CALLS];
    size_t count;
};
struct entry {
    struct journal *journal;
    char name; /* of a scavenge; a full collection adds the capital */
};

static void note(void *context, eden_mutator *mutator, enum eden_collection_kind kind) {
    const struct entry *entry = context;
    struct journal *journal = entry->journal;
    assert_ptr_equal(mutator, journal->w->m);
    assert_true(journal->count + 1 < CALLS);
    journal->calls[journal->count++] = (char)(kind == EDEN_COLLECTION_FULL ? entry->name - 'a' + 'A' : entry->name);
    journal->calls[journal->count] = '\0';
}

TEST(are_called_after_each_collection_in_order) {
    WORLD(w, "eden_size=64K,full_gc_ratio=inf");
    struct journal journal = {.w = &w};
    struct entry a = {&journal, 'a'}, b = {&journal, 'b'}, c = {&journal, 'c'};
    assert_true(eden_collection_hook_add(w.heap, note, &a));
    assert_true(eden_collection_hook_add(w.heap, note, &b));
    assert_true(eden_collection_hook_add(w.heap, note, &c));
    eden_scavenge(w.m);
    assert_string_equal(journal.calls, "abc");
    eden_full_collect(w.m);
    assert_string_equal(journal.calls, "abcabcABC");
    assert_true(eden_collection_hook_remove(w.heap, note, &b));
    assert_false(eden_collection_hook_remove(w.heap, note, &b));
    assert_false(eden_collection_hook_remove(w.heap, note, &w));
    while (figures_of(&w).scavenges == 2) { /* one that allocation asks for */
        eden_new(w.m, w.pair);
    }
    assert_string_equal(journal.calls, "abcabcABCac");
    assert_true(eden_collection_hook_add(w.heap, note, &a)); /* twice */
    eden_scavenge(w.m);
    assert_true(eden_collection_hook_remove(w.heap, note, &a)); /* the second */
    eden_scavenge(w.m);
    assert_string_equal(journal.calls, "abcabcABCacacaac");
    EDEN_FRAME(w.m, local, 1);
    local[0] = eden_pin(w.m, eden_new(w.m, w.pair));
    assert_string_equal(journal.calls, "abcabcABCacacaacac");
    assert_true(eden_collection_hook_remove(w.heap, note, &a) && eden_collection_hook_remove(w.heap, note, &c));
    eden_full_collect(w.m);
    assert_string_equal(journal.calls, "abcabcABCacacaacac");
}

struct scene {
    struct world *w;
    eden_value roots[4]; /* weak object, ephemeron, old array, young pair */
    uint64_t calls;
};

static void look(void *context, eden_mutator *mutator, enum eden_collection_kind kind) {
    struct scene *scene = context;
    eden_figures figures = figures_of(scene->w);
    assert_int_equal(figures.scavenges + figures.full_collections, ++scene->calls);
    verify(scene->w);
    assert_true(eden_slot(scene->roots[0], 0) == EDEN_NONE);
    assert_true(eden_slot(scene->roots[0], 1) == scene->roots[3]);
    assert_int_equal(eden_mourn_count(mutator), 1);
    /* Stores as usual: an old object is remembered. */
    for (size_t i = 0; i < 300; i++) {
        eden_slot_set(mutator, scene->roots[2], i, scene->roots[3]);
    }
    eden_slot_set(mutator, scene->roots[3], 0, eden_int((int64_t)kind));
    assert_true(eden_pin(mutator, scene->roots[2]) == scene->roots[2]);
    eden_unpin(mutator, scene->roots[2]);
    verify(scene->w);
}

TEST(see_the_heap_at_rest) {
    static const char *const parameters[] = {"eden_size=256K", "eden_size=256K,remembered_set=object",
                                             "eden_size=256K,stress=1", "eden_size=256K,compactor=selective"};
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        WORLD(w, parameters[i]);
        eden_class weak = define_class(w.heap, "Weak", EDEN_FORMAT_WEAK, 0);
        eden_class ephemeron = define_class(w.heap, "Ephemeron", EDEN_FORMAT_EPHEMERON, 2);
        struct scene scene = {.w = &w};
        assert_true(eden_root_range_add(w.heap, scene.roots, 4));
        scene.roots[2] = eden_new_slots(w.m, w.array, 300);
        make_old(&w, &scene.roots[2]);
        scene.roots[0] = eden_new_slots(w.m, weak, 2);
        scene.roots[1] = eden_new(w.m, ephemeron);
        scene.roots[3] = eden_new(w.m, w.pair);
        eden_slot_set(w.m, scene.roots[0], 1, scene.roots[3]);
        eden_value key = eden_new(w.m, w.pair);
        eden_slot_set(w.m, scene.roots[1], 0, key);
        eden_slot_set(w.m, scene.roots[0], 0, eden_new(w.m, w.pair));
        eden_figures figures = figures_of(&w);
        scene.calls = figures.scavenges + figures.full_collections;
        assert_true(eden_collection_hook_add(w.heap, look, &scene));
        eden_scavenge(w.m);
        eden_full_collect(w.m);
        assert_true(eden_slot(scene.roots[3], 0) == eden_int(EDEN_COLLECTION_FULL));
        assert_true(eden_slot(scene.roots[2], 299) == scene.roots[3]);
        assert_true(eden_collection_hook_remove(w.heap, look, &scene));
        assert_true(eden_root_range_remove(w.heap, scene.roots, 4));
    }
}

struct culprit {
    struct world *w;
    eden_value young, old;
    int runs;
};

static void assert_refused(const struct world *w) {
    assert_int_equal(eden_last_error(w->m)->status, EDEN_BAD_ARGUMENT);
    assert_non_null(strstr(eden_last_error(w->m)->message, "collection hook"));
    eden_error_clear(w->m);
    assert_int_equal(eden_last_error(w->m)->status, EDEN_OK);
}

static void misbehave(void *context, eden_mutator *mutator, enum eden_collection_kind kind) {
    struct culprit *culprit = context;
    const struct world *w = culprit->w;
    (void)kind;
    culprit->runs++;
    assert_true(eden_new(mutator, w->pair) == EDEN_NONE);
    assert_refused(w);
    set_parameter(w, "tenure_fill", "0"); /* which sets the limit of allocation anew */
    assert_true(eden_new_slots(mutator, w->array, 100000) == EDEN_NONE);
    assert_refused(w);
    assert_true(eden_new_raw(mutator, w->bytes, 1) == EDEN_NONE);
    assert_refused(w);
    assert_true(eden_pin(mutator, culprit->young) == EDEN_NONE);
    assert_refused(w);
    eden_scavenge(mutator);
    assert_refused(w);
    eden_full_collect(mutator);
    assert_refused(w);
    assert_false(eden_collection_hook_add(w->heap, misbehave, culprit));
    assert_refused(w);
    assert_false(eden_collection_hook_remove(w->heap, misbehave, culprit));
    assert_refused(w);
    eden_heap_destroy(w->heap);
    assert_refused(w);
}

TEST(neither_allocate_nor_collect) {
    if (CHECKED_BUILD) {
        skip(); /* it aborts: tests/programs/faults.c */
    }
    WORLD(w, "eden_size=64K,tenure_fill=1");
    struct culprit culprit = {.w = &w, .young = eden_new(w.m, w.pair)};
    assert_true(eden_root_add(w.heap, &culprit.young));
    assert_true(eden_collection_hook_add(w.heap, misbehave, &culprit));
    uintptr_t limit = w.m->limit;
    eden_scavenge(w.m);
    assert_int_equal(culprit.runs, 1);
    assert_int_equal(w.m->limit, limit); /* allocation is inline again */
    eden_full_collect(w.m);
    assert_int_equal(culprit.runs, 3);
    eden_figures figures = figures_of(&w);
    assert_int_equal(figures.scavenges, 2);
    assert_int_equal(figures.full_collections, 1);
    assert_int_equal(figures.alloc_failures, 0);
    assert_true(eden_new(w.m, w.pair) != EDEN_NONE);
    assert_true(eden_collection_hook_remove(w.heap, misbehave, &culprit));
    assert_true(eden_root_remove(w.heap, &culprit.young));
}

TEST(are_not_added_where_memory_is_refused) {
    struct refusal refusal = {LONG_MAX, LONG_MAX, 0};
    WORLD_REFUSING(w, NULL, &refusal);
    struct journal journal = {.w = &w};
    struct entry entries[20];
    refusal.from = refusal.seen + 1;
    assert_false(eden_collection_hook_add(w.heap, note, &entries[0]));
    assert_false(eden_collection_hook_remove(w.heap, note, &entries[0]));
    eden_scavenge(w.m);
    assert_int_equal(journal.count, 0);
    refusal.from = LONG_MAX;
    size_t added = 0;
    for (; added < 16; added++) {
        entries[added] = (struct entry){&journal, (char)('a' + added)};
        assert_true(eden_collection_hook_add(w.heap, note, &entries[added]));
    }
    refusal.from = refusal.seen + 1;
    while (eden_collection_hook_add(w.heap, note, &entries[19])) {
        assert_true(eden_collection_hook_remove(w.heap, note, &entries[19]));
        assert_true(added < 19);
        entries[added] = (struct entry){&journal, (char)('a' + added)};
        assert_true(eden_collection_hook_add(w.heap, note, &entries[added++]));
    }
    eden_scavenge(w.m);
    assert_memory_equal(journal.calls, "abcdefghijklmnopqrs", added);
    assert_int_equal(journal.count, added);
}
