/* The verifier finds each fault that it can detect, seeded here by writing into the heap by hand, and names it. */
#include "support.h"

enum { ROOT_OLD, ROOT_YOUNG, ROOT_SPARE, ROOT_OLD_RAW, ROOT_YOUNG_RAW, ROOTS };

static eden_value *roots; /* of the world under test */

static void assert_finds(const struct world *w, const char *text) {
    eden_error error = {EDEN_OK, ""};
    if (eden_heap_verify(w->heap, &error)) {
        fail_msg("the verifier finds nothing; it should say '%s'", text);
    }
    assert_int_equal(error.status, EDEN_CORRUPT);
    if (strstr(error.message, text) == NULL) {
        fail_msg("'%s' does not say '%s'", error.message, text);
    }
    assert_false(eden_heap_verify(w->heap, NULL));
}

/* Writes a word, looks for the fault, puts the word back: the heap is sound again. */
static void seed(const struct world *w, uint64_t *word, uint64_t value, const char *text) {
    uint64_t before = *word;
    assert_true(before != value);
    *word = value;
    assert_finds(w, text);
    *word = before;
    verify(w);
}

static uint64_t *header_word(size_t root) { return eden_words_(roots[root]); }

static uint64_t with_class(uint64_t header, uint32_t index) { return (header & ~EDEN_HEADER_CLASS_MASK) | index; }
static uint64_t with_format(uint64_t header, uint64_t format) {
    return (header & ~(31ull << EDEN_HEADER_FORMAT_SHIFT)) | format << EDEN_HEADER_FORMAT_SHIFT;
}
static uint64_t with_slots(uint64_t header, uint64_t slots) {
    return (header & ~(255ull << EDEN_HEADER_SLOTS_SHIFT)) | slots << EDEN_HEADER_SLOTS_SHIFT;
}

/* Old and young objects; a chunk free in old space; one remembered. */
static void prepare(const struct world *w) {
    roots[ROOT_OLD] = eden_new_slots(w->m, w->array, 20);
    roots[ROOT_OLD_RAW] = new_sized(w, 3000);
    roots[ROOT_SPARE] = new_sized(w, 64);
    make_old(w, &roots[ROOT_SPARE]);
    eden_scavenge(w->m);
    set_parameter(w, "tenure_proportion", "0");
    w->heap->tenure_threshold = 0;
    roots[ROOT_YOUNG] = eden_new(w->m, w->pair);
    roots[ROOT_YOUNG_RAW] = new_sized(w, 3000);
    assert_true(is_old(w, roots[ROOT_OLD]) && !is_old(w, roots[ROOT_YOUNG]));
    verify(w);
}

#define VERIFIED_WORLD(w, parameters)                                                                                  \
    WORLD(w, parameters);                                                                                              \
    EDEN_FRAME((w).m, local, ROOTS);                                                                                   \
    roots = local;                                                                                                     \
    prepare(&(w))

#define PARAMETERS "eden_size=64K,full_gc_ratio=inf,grow_headroom=64K,compactor=none"

TEST(damaged_headers_are_found) {
    VERIFIED_WORLD(w, PARAMETERS);
    for (size_t root = ROOT_OLD; root <= ROOT_YOUNG; root++) {
        uint64_t *header = header_word(root);
        seed(&w, header, *header | EDEN_HEADER_MARKED, "flag that only collections set");
        seed(&w, header, *header | EDEN_HEADER_GREY, "flag that only collections set");
        seed(&w, header, *header | EDEN_HEADER_IN_PLACE, "flag that only collections set");
        seed(&w, header, *header | EDEN_HEADER_FORWARDED, "flag that only collections set");
        seed(&w, header, with_class(*header, 4000000), "class index 4000000 is not defined");
        seed(&w, header, with_class(*header, 0), "neither an object nor a free chunk");
        seed(&w, header, with_format(*header, EDEN_FORMAT_BYTES), "format 16, but its class");
        seed(&w, header, with_class(*header, eden_class_index(w.bytes)), "but its class 'Bytes' has 16");
    }
    uint64_t *young = header_word(ROOT_YOUNG);
    seed(&w, young, with_class(with_format(*young, 3), eden_class_index(w.mixed)) - (1ull << 56),
         "1 slots, but its class 'Mixed' fixes 2");
    seed(&w, young, with_class(*young, eden_class_index(define_class(w.heap, "One", EDEN_FORMAT_FIXED, 1))),
         "2 slots, but its class 'One' fixes 1");
    seed(&w, young, *young | EDEN_HEADER_REMEMBERED, "young, but remembered");
    seed(&w, header_word(ROOT_YOUNG_RAW) - 1, 255ull << 56 | 100000, "reach beyond the end of its space");
    seed(&w, header_word(ROOT_OLD_RAW) - 1, 255ull << 56 | 100000, "reach beyond the end of its space");
    seed(&w, header_word(ROOT_OLD_RAW) - 1, 255ull << 56 | 0xffffffffffffffull, "reach beyond the end of its space");
}

TEST(messages_name_object_and_space) {
    VERIFIED_WORLD(w, PARAMETERS);
    const struct {
        size_t root;
        const char *space;
    } places[] = {{ROOT_OLD, "in old space"}, {ROOT_YOUNG, "in eden"}};
    for (size_t i = 0; i < 2; i++) {
        char address[32];
        snprintf(address, sizeof address, "%#llx", (unsigned long long)roots[places[i].root]);
        uint64_t *header = header_word(places[i].root);
        seed(&w, header, *header | EDEN_HEADER_MARKED, address);
        seed(&w, header, *header | EDEN_HEADER_MARKED, places[i].space);
    }
    eden_scavenge(w.m);
    seed(&w, header_word(ROOT_YOUNG), *header_word(ROOT_YOUNG) | EDEN_HEADER_MARKED, "in survivors");
}

TEST(damaged_references_are_found) {
    VERIFIED_WORLD(w, PARAMETERS);
    uint64_t *old_slot = eden_words_(roots[ROOT_OLD]) + 1 + 7, *young_slot = eden_words_(roots[ROOT_YOUNG]) + 2;
    uint64_t *const slots[] = {old_slot, young_slot};
    const char *const names[] = {"Array", "Pair"}, *const numbers[] = {"slot 7", "slot 1"};
    for (size_t i = 0; i < 2; i++) {
        const uint64_t bad_tags[] = {3, 5, 6, 7};
        for (size_t t = 0; t < 4; t++) {
            seed(&w, slots[i], 800 + bad_tags[t], "has an invalid tag");
        }
        seed(&w, slots[i], 4096, "is not an address of this heap");
        seed(&w, slots[i], (uintptr_t)&w, "is not an address of this heap");
        seed(&w, slots[i], w.heap->old.limit, "is not an address of this heap");
        seed(&w, slots[i], roots[ROOT_OLD] + 8, "is not the start of a live object");
        seed(&w, slots[i], roots[ROOT_OLD_RAW] - 8, "is not the start of a live object"); /* its overflow word */
        seed(&w, slots[i], w.heap->eden.limit - 8, "is not the start of a live object");
        seed(&w, slots[i], w.heap->semi[0].start + 16, "is not the start of a live object");
        seed(&w, slots[i], w.heap->old.segments[0].limit - 64, "is not the start of a live object");
        seed(&w, slots[i], 4096, names[i]);
        seed(&w, slots[i], 4096, numbers[i]);
    }
}

TEST(damaged_roots_are_found) {
    VERIFIED_WORLD(w, PARAMETERS);
    static eden_value global;
    global = EDEN_NONE;
    assert_true(eden_root_add(w.heap, &global));
    seed(&w, &global, roots[ROOT_OLD] + 16, "root at");
    seed(&w, &global, 8, "is not an address of this heap");
    seed(&w, &roots[ROOT_SPARE], roots[ROOT_YOUNG] + 8, "root at");
    assert_true(eden_root_remove(w.heap, &global));
}

/* What an embedder does wrong most often: a stale reference, and a store past the barrier. */
TEST(stale_references_and_missed_barriers_are_found) {
    VERIFIED_WORLD(w, PARAMETERS);
    uint64_t *slot = eden_words_(roots[ROOT_OLD]) + 1;
    seed(&w, slot, roots[ROOT_YOUNG], "is not remembered (a store without eden_slot_set?)");
    eden_value stale = roots[ROOT_YOUNG];
    eden_scavenge(w.m);
    seed(&w, slot, stale, "stale reference?");
    eden_slot_set(w.m, roots[ROOT_OLD], 0, roots[ROOT_YOUNG]);
    verify(&w);
    eden_slot_set(w.m, roots[ROOT_OLD], 0, EDEN_NONE);
    /* Where the set could not grow, missing entries are no fault. */
    *slot = roots[ROOT_YOUNG];
    w.heap->remembered.is_incomplete = true;
    verify(&w);
    eden_scavenge(w.m);
    verify(&w);
}

TEST(damage_to_the_remembered_set_is_found) {
    VERIFIED_WORLD(w, PARAMETERS);
    eden_slot_set(w.m, roots[ROOT_OLD], 0, roots[ROOT_YOUNG]);
    struct remembered_set *set = &w.heap->remembered;
    assert_int_equal(set->count, 1);
    seed(&w, &set->objects[0], roots[ROOT_YOUNG], "young, or lacks the remembered bit");
    seed(&w, &set->objects[0], roots[ROOT_OLD_RAW], "young, or lacks the remembered bit");
    seed(&w, &set->objects[0], roots[ROOT_OLD] + 8, "remembered set at");
    set->count = 0;
    assert_finds(&w, "remembered set: 0 entries, but 1 objects have the bit");
    set->objects[1] = set->objects[0];
    set->count = 2;
    assert_finds(&w, "remembered set");
    set->count = 1;
    /* Twice the one, the other not at all: the sum is right. */
    eden_value other = roots[ROOT_OLD_RAW];
    object_set(other, EDEN_HEADER_REMEMBERED);
    set->count = 2;
    assert_finds(&w, "occurs twice");
    set->objects[1] = other;
    verify(&w);
    object_clear(other, EDEN_HEADER_REMEMBERED);
    set->count = 1;
    uint64_t *header = header_word(ROOT_OLD);
    seed(&w, header, *header & ~EDEN_HEADER_REMEMBERED, "is not remembered");
}

TEST(damage_to_the_free_lists_is_found) {
    VERIFIED_WORLD(w, PARAMETERS);
    roots[ROOT_SPARE] = EDEN_NONE;
    eden_full_collect(w.m); /* swept: 64 bytes free in a list, the rest in the tree */
    verify(&w);
    struct old_space *old = &w.heap->old;
    seed(&w, &old->free_bytes, old->free_bytes + 8, "the counters have");
    seed(&w, &old->free_bytes, old->free_bytes - 8, "the counters have");
    seed(&w, &old->capacity, old->capacity + 4096, "the counters have");
    /* Chunks: a header that says another size, or that it is no chunk. */
    uint64_t *small = (uint64_t *)old->free.list[8];
    assert_non_null(small);
    seed(&w, small, with_slots(*small, 3), "");
    seed(&w, small, with_class(*small, eden_class_index(w.words64)), "");
    uint64_t *large = (uint64_t *)old->free.tree;
    assert_non_null(large);
    seed(&w, large + 2, large[2] - 64, "free chunk");
    /* A chunk that is lost, or listed in the wrong place. */
    struct chunk *list = old->free.list[8];
    old->free.list[8] = NULL;
    assert_finds(&w, "free chunks");
    old->free.list[8] = list;
    old->free.list[9] = list;
    assert_finds(&w, "free chunk");
    old->free.list[9] = NULL;
    seed(&w, &old->free.chunks, old->free.chunks + 1, "free chunks");
    verify(&w);
}

/* Without memory for its map the verifier still checks what it can. */
TEST(without_memory_the_verifier_checks_what_it_can) {
    struct refusal refusal = {1, 0, 0};
    WORLD_REFUSING(w, PARAMETERS, &refusal);
    EDEN_FRAME(w.m, local, ROOTS);
    roots = local;
    prepare(&w);
    refusal = (struct refusal){1, LONG_MAX, 0};
    verify(&w);
    seed(&w, header_word(ROOT_OLD), *header_word(ROOT_OLD) | EDEN_HEADER_MARKED, "flag that only collections set");
    seed(&w, eden_words_(roots[ROOT_OLD]) + 1, 4096, "is not an address of this heap");
}

TEST(it_changes_nothing) {
    VERIFIED_WORLD(w, PARAMETERS);
    eden_slot_set(w.m, roots[ROOT_OLD], 0, roots[ROOT_YOUNG]);
    eden_figures before = figures_of(&w);
    eden_value places[ROOTS];
    memcpy(places, roots, sizeof places);
    for (int i = 0; i < 5; i++) {
        verify(&w);
    }
    eden_figures after = figures_of(&w);
    assert_memory_equal(&before, &after, sizeof before);
    assert_memory_equal(places, roots, sizeof places);
    assert_int_equal(eden_last_error(w.m)->status, EDEN_OK);
}
