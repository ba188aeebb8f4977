/* Cards: of a large old object only those that were stored into are remembered and scanned. */
#include "support.h"
#include "young/cards.h"

#define CARDS "eden_size=1M,full_gc_ratio=inf,remembered_set=card,tenure_criterion=never,"

/* An old array in *slot. */
static void old_array(const struct world *w, eden_value *slot, size_t n) {
    *slot = eden_new_slots(w->m, w->array, n);
    if (!is_old(w, *slot)) {
        *slot = eden_pin(w->m, *slot);
        eden_unpin(w->m, *slot);
    }
    assert_true(is_old(w, *slot));
}

static eden_value new_pair(const struct world *w, int64_t n) {
    eden_value pair = eden_new(w->m, w->pair);
    eden_slot_set(w->m, pair, 0, eden_int(n));
    return pair;
}

static int64_t number_of(eden_value pair) { return eden_int_value(eden_slot(pair, 0)); }

/* Bits set in the card table, where it may be read. */
static size_t dirty_bits(const struct world *w) {
    const struct old_space *old = &w->heap->old;
    size_t count = 0;
    for (size_t i = 0; i < old->segment_count; i++) {
        for (uintptr_t at = old->segments[i].start; at < old->segments[i].limit; at += CARD_BYTES) {
            count += (size_t)__builtin_popcount(w->heap->old.card_table[(at - old->start) / CARD_BYTES]);
        }
    }
    return count;
}

static void assert_cards(const struct world *w, size_t now, uint64_t remembered, uint64_t forgotten) {
    eden_figures figures = figures_of(w);
    assert_int_equal(w->heap->remembered.card_count, now);
    assert_int_equal(dirty_bits(w), now);
    assert_int_equal(figures.remembered, remembered);
    assert_int_equal(figures.forgotten, forgotten);
}

static bool is_dirty(const struct world *w, eden_value object, size_t slot) {
    return cards_is_dirty(w->heap, (struct card){object, slot / CARD_SLOTS * CARD_SLOTS});
}

TEST(only_cards_stored_into_are_scanned) {
    enum { SLOTS = 10000 };
    static const size_t stored[] = {5, CARD_SLOTS - 1, CARD_SLOTS, SLOTS - 1};
    WORLD(w, CARDS);
    EDEN_FRAME(w.m, local, 2);
    old_array(&w, &local[0], SLOTS);
    for (size_t i = 0; i < 4; i++) {
        eden_slot_set(w.m, local[0], stored[i], new_pair(&w, (int64_t)i));
        eden_slot_set(w.m, local[0], stored[i], eden_slot(local[0], stored[i])); /* again: the same card */
    }
    assert_cards(&w, 3, 3, 0);
    assert_int_equal(w.heap->remembered.count, 0);
    assert_false(object_has(local[0], EDEN_HEADER_REMEMBERED));
    /* Written past the barrier into a clean card: what is not scanned stays as it is. */
    eden_value planted = local[1] = new_pair(&w, 99);
    eden_words_(local[0])[1 + 5000] = planted;
    eden_scavenge(w.m);
    assert_true(local[1] != planted);
    assert_true(eden_slot(local[0], 5000) == planted);
    eden_words_(local[0])[1 + 5000] = EDEN_NONE;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(number_of(eden_slot(local[0], stored[i])), i);
    }
    verify(&w);
    assert_cards(&w, 3, 3, 0);
    assert_int_equal(figures_of(&w).remembered_now, 3);
    eden_slot_set(w.m, local[0], CARD_SLOTS, EDEN_NONE);
    assert_cards(&w, 3, 3, 0); /* stores never forget */
    eden_scavenge(w.m);
    assert_cards(&w, 2, 3, 1);
    for (size_t i = 0; i < 4; i++) {
        eden_slot_set(w.m, local[0], stored[i], EDEN_NONE);
    }
    eden_scavenge(w.m);
    assert_cards(&w, 0, 3, 3);
}

/* Objects of up to 254 slots are remembered whole; larger ones by cards; the last card may be short. */
TEST(the_last_card_of_any_length_is_scanned) {
    WORLD(w, CARDS);
    for (size_t slots = 250; slots <= 450; slots++) {
        EDEN_FRAME(w.m, local, 1);
        old_array(&w, &local[0], slots);
        bool carded = slots >= EDEN_SLOTS_OVERFLOW;
        eden_figures before = figures_of(&w);
        for (size_t i = 0; i < slots; i++) {
            eden_slot_set(w.m, local[0], i, new_pair(&w, (int64_t)i));
        }
        size_t cards = carded ? (slots + CARD_SLOTS - 1) / CARD_SLOTS : 0;
        assert_cards(&w, cards, before.remembered + (carded ? cards : 1), before.forgotten);
        eden_scavenge(w.m);
        for (size_t i = 0; i < slots; i++) {
            assert_int_equal(number_of(eden_slot(local[0], i)), i);
            eden_slot_set(w.m, local[0], i, EDEN_NONE);
        }
        eden_scavenge(w.m);
        assert_cards(&w, 0, before.remembered + (carded ? cards : 1), before.forgotten + (carded ? cards : 1));
    }
}

static uintptr_t byte_of(const struct world *w, eden_value object, size_t first) {
    return (object + 8 + first * 8 - w->heap->old.start) / CARD_BYTES;
}

/* The last card of one object and the first of the next may have the same byte of the table: if it is so short that it
 * and the two words between them take less than CARD_BYTES. How many of the neighbours do. */
static size_t neighbours_sharing_a_byte(size_t slots) {
    enum { ARRAYS = 16 };
    const size_t last = (slots - 1) / CARD_SLOTS * CARD_SLOTS;
    WORLD(w, CARDS);
    EDEN_FRAME(w.m, local, ARRAYS);
    for (size_t i = 0; i < ARRAYS; i++) {
        old_array(&w, &local[i], slots);
    }
    size_t sharing = 0;
    for (size_t i = 0; i < ARRAYS; i++) {
        for (size_t j = 0; j < ARRAYS; j++) {
            eden_value low = local[i], high = local[j];
            if (i == j || byte_of(&w, low, last) != byte_of(&w, high, 0)) {
                continue;
            }
            sharing++;
            eden_slot_set(w.m, low, last, new_pair(&w, 1));
            assert_true(is_dirty(&w, low, last) && !is_dirty(&w, high, 0));
            eden_slot_set(w.m, high, 0, new_pair(&w, 2));
            assert_true(is_dirty(&w, low, last) && is_dirty(&w, high, 0));
            eden_slot_set(w.m, low, last, EDEN_NONE);
            eden_scavenge(w.m);
            assert_true(!is_dirty(&w, low, last) && is_dirty(&w, high, 0));
            assert_int_equal(number_of(eden_slot(high, 0)), 2);
            eden_slot_set(w.m, low, slots - 1, new_pair(&w, 3));
            eden_slot_set(w.m, high, 0, EDEN_NONE);
            eden_scavenge(w.m);
            assert_true(is_dirty(&w, low, last) && !is_dirty(&w, high, 0));
            assert_int_equal(number_of(eden_slot(low, slots - 1)), 3);
            eden_slot_set(w.m, low, slots - 1, EDEN_NONE);
            eden_scavenge(w.m);
        }
    }
    assert_int_equal(w.heap->remembered.card_count, 0);
    assert_int_equal(dirty_bits(&w), 0);
    return sharing;
}

TEST(objects_that_share_a_card_byte_are_both_scanned) {
    size_t sharing = 0;
    for (size_t slots = EDEN_SLOTS_OVERFLOW; slots <= EDEN_SLOTS_OVERFLOW + 2 * CARD_SLOTS; slots++) {
        size_t of_last = (slots - 1) % CARD_SLOTS + 1, some = neighbours_sharing_a_byte(slots);
        assert_true(some == 0 || of_last * 8 + 16 < CARD_BYTES);
        sharing += some;
    }
    assert_true(sharing > 0);
}

/* All slots of neighbours, written at once: each card is in the list once, and what each slot refers to survives. */
TEST(neighbours_with_all_cards_dirty_are_scanned) {
    enum { ARRAYS = 8 };
    WORLD(w, CARDS);
    EDEN_FRAME(w.m, local, ARRAYS);
    size_t cards = 0;
    for (size_t i = 0; i < ARRAYS; i++) {
        size_t slots = EDEN_SLOTS_OVERFLOW + i;
        old_array(&w, &local[i], slots);
        cards += (slots + CARD_SLOTS - 1) / CARD_SLOTS;
    }
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < ARRAYS; i++) {
            for (size_t slot = eden_slot_count(local[i]); slot-- > 0;) {
                eden_slot_set(w.m, local[i], slot, new_pair(&w, (int64_t)(1000 * i + slot)));
            }
        }
        assert_cards(&w, cards, cards, 0);
        eden_scavenge(w.m);
        verify(&w);
        assert_cards(&w, cards, cards, 0);
        for (size_t i = 0; i < ARRAYS; i++) {
            for (size_t slot = 0; slot < eden_slot_count(local[i]); slot++) {
                assert_int_equal(number_of(eden_slot(local[i], slot)), 1000 * i + slot);
            }
        }
    }
}

/* Weak objects are remembered whole: their slots keep nothing young alive. */
TEST(large_weak_objects_are_remembered_whole) {
    enum { SLOTS = 1000 };
    WORLD(w, CARDS);
    eden_class weak = define_class(w.heap, "Weak", EDEN_FORMAT_WEAK, 1);
    EDEN_FRAME(w.m, local, 2);
    local[0] = eden_new_slots(w.m, weak, SLOTS);
    local[0] = eden_pin(w.m, local[0]);
    local[1] = new_pair(&w, 7);
    eden_slot_set(w.m, local[0], 0, new_pair(&w, 1));     /* strong */
    eden_slot_set(w.m, local[0], 700, new_pair(&w, 700)); /* nothing else holds it */
    eden_slot_set(w.m, local[0], SLOTS, local[1]);
    assert_int_equal(w.heap->remembered.card_count, 0);
    assert_int_equal(w.heap->remembered.count, 1);
    eden_scavenge(w.m);
    verify(&w);
    assert_int_equal(number_of(eden_slot(local[0], 0)), 1);
    assert_true(eden_slot(local[0], 700) == EDEN_NONE);
    assert_true(eden_slot(local[0], SLOTS) == local[1]);
    assert_int_equal(w.heap->remembered.count, 1);
    eden_slot_set(w.m, local[0], 0, EDEN_NONE);
    local[1] = EDEN_NONE;
    eden_full_collect(w.m);
    assert_true(eden_slot(local[0], SLOTS) == EDEN_NONE);
    eden_scavenge(w.m);
    assert_int_equal(w.heap->remembered.count, 0);
}

/* Dirty cards follow their objects; those of the dead are forgotten, and no bit stays where an object was. */
static void collected_with(const char *parameters) {
    enum { ARRAYS = 40, SLOTS = 2000 };
    WORLD(w, parameters);
    EDEN_FRAME(w.m, local, ARRAYS + 1);
    eden_value before[ARRAYS];
    uint64_t dead = 0;
    for (size_t i = 0; i < ARRAYS; i++) {
        old_array(&w, &local[i], SLOTS + i);
        before[i] = local[i];
    }
    for (size_t i = 0; i < ARRAYS; i++) {
        for (size_t slot = i; slot < SLOTS; slot += 500) {
            eden_slot_set(w.m, local[i], slot, new_pair(&w, (int64_t)(i * SLOTS + slot)));
        }
    }
    size_t cards = w.heap->remembered.card_count;
    assert_int_equal(cards, ARRAYS * 4);
    for (size_t i = 0; i < ARRAYS; i++) {
        if (i % 4 != 1) { /* holes, sparse segments */
            local[i] = EDEN_NONE;
            dead += 4;
        }
    }
    eden_full_collect(w.m);
    verify(&w);
    assert_cards(&w, cards - dead, cards, dead);
    size_t moved = 0;
    for (size_t i = 1; i < ARRAYS; i += 4) {
        moved += local[i] != before[i];
        for (size_t slot = i; slot < SLOTS; slot += 500) {
            assert_int_equal(number_of(eden_slot(local[i], slot)), i * SLOTS + slot);
            assert_true(is_dirty(&w, local[i], slot));
        }
    }
    assert_true((moved != 0) == (strstr(parameters, "none") == NULL));
    eden_scavenge(w.m);
    verify(&w);
    for (size_t i = 1; i < ARRAYS; i += 4) {
        for (size_t slot = i; slot < SLOTS; slot += 500) {
            assert_int_equal(number_of(eden_slot(local[i], slot)), i * SLOTS + slot);
            eden_slot_set(w.m, local[i], slot, EDEN_NONE);
        }
    }
    eden_scavenge(w.m);
    assert_cards(&w, 0, cards, cards);
}

TEST(dirty_cards_follow_objects_that_full_collections_move) {
    collected_with(CARDS "large_object=4096,compactor=planning");
    collected_with(CARDS "large_object=4096,compactor=none");
    collected_with(CARDS "large_object=4096,grow_headroom=64K,compactor=selective");
}

/* Where the list can't grow the card stays clean, and the next scavenge looks at all of old space. */
TEST(card_list_that_cannot_grow_loses_no_store) {
    enum { SLOTS = CARD_SLOTS * 100 };
    struct refusal refusal = {0, 0, 0};
    WORLD_REFUSING(w, CARDS, &refusal);
    EDEN_FRAME(w.m, local, 1);
    old_array(&w, &local[0], SLOTS);
    refusal = (struct refusal){1, LONG_MAX, 0};
    for (size_t i = 0; i < SLOTS; i += CARD_SLOTS) {
        eden_slot_set(w.m, local[0], i, new_pair(&w, (int64_t)i));
    }
    assert_true(w.heap->remembered.is_incomplete);
    assert_cards(&w, 0, 0, 0);
    for (int round = 0; round < 3; round++) { /* refused still; then granted */
        refusal.to = round == 0 ? LONG_MAX : 0;
        eden_scavenge(w.m);
        verify(&w);
        assert_true(w.heap->remembered.is_incomplete == (round == 0));
        assert_cards(&w, round == 0 ? 0 : SLOTS / CARD_SLOTS, round == 0 ? 0 : SLOTS / CARD_SLOTS, 0);
        for (size_t i = 0; i < SLOTS; i += CARD_SLOTS) {
            assert_int_equal(number_of(eden_slot(local[0], i)), i);
        }
    }
}

/* A scan of all of old space comes across what it has just tenured; an ephemeron among it is mourned once. */
TEST(scan_of_old_space_meets_what_it_tenures) {
    enum { EPHEMERONS = 5 };
    struct refusal refusal = {0, 0, 0};
    WORLD_REFUSING(w, "eden_size=1M,full_gc_ratio=inf,remembered_set=card,tenure_criterion=class", &refusal);
    eden_class ephemeron = define_class(w.heap, "Ephemeron", EDEN_FORMAT_EPHEMERON, 2);
    EDEN_FRAME(w.m, local, 1);
    old_array(&w, &local[0], 10);
    /* Lists that are needed later have room for 16; the remembered set has none. */
    eden_slot_set(w.m, local[0], 0, eden_new(w.m, ephemeron));
    eden_slot_set(w.m, eden_slot(local[0], 0), 0, eden_new(w.m, w.pair));
    eden_scavenge(w.m);
    assert_int_equal(figures_of(&w).mourned, 1);
    assert_true(eden_mourn_next(w.m) == eden_slot(local[0], 0));
    eden_slot_set(w.m, local[0], 0, EDEN_NONE);
    eden_scavenge(w.m);
    assert_int_equal(w.heap->remembered.count, 0);
    free(w.heap->remembered.objects);
    w.heap->remembered.objects = NULL;
    w.heap->remembered.room = 0;
    refusal = (struct refusal){1, LONG_MAX, 0};
    eden_tenure_choose(w.heap, ephemeron, true);
    for (size_t i = 0; i < EPHEMERONS; i++) {
        eden_slot_set(w.m, local[0], i, eden_new(w.m, ephemeron));
        eden_slot_set(w.m, eden_slot(local[0], i), 0, eden_new(w.m, w.pair));
    }
    assert_true(w.heap->remembered.is_incomplete);
    eden_scavenge(w.m);
    verify(&w);
    assert_int_equal(figures_of(&w).mourned, 1 + EPHEMERONS);
    for (size_t i = 0; i < EPHEMERONS; i++) {
        assert_true(is_old(&w, eden_slot(local[0], i)));
        assert_true(eden_mourn_next(w.m) != EDEN_NONE);
    }
    assert_true(eden_mourn_next(w.m) == EDEN_NONE);
}

/* A large array that is tenured while it refers to young objects: only the cards that do are dirty. */
TEST(tenured_arrays_have_dirty_cards_where_references_are_young) {
    WORLD(w, "eden_size=1M,full_gc_ratio=inf,remembered_set=card,tenure_criterion=class");
    eden_tenure_choose(w.heap, w.array, true);
    EDEN_FRAME(w.m, local, 1);
    local[0] = eden_new_slots(w.m, w.array, 1000);
    eden_slot_set(w.m, local[0], 100, new_pair(&w, 100));
    eden_slot_set(w.m, local[0], 103, new_pair(&w, 103));
    eden_slot_set(w.m, local[0], 999, new_pair(&w, 999));
    assert_cards(&w, 0, 0, 0);
    eden_scavenge(w.m);
    assert_true(is_old(&w, local[0]) && !is_old(&w, eden_slot(local[0], 100)));
    assert_cards(&w, 2, 2, 0);
    assert_true(is_dirty(&w, local[0], 100) && is_dirty(&w, local[0], 999) && !is_dirty(&w, local[0], 0));
    eden_scavenge(w.m);
    verify(&w);
    assert_int_equal(number_of(eden_slot(local[0], 100)), 100);
    assert_int_equal(number_of(eden_slot(local[0], 999)), 999);
}

static void assert_fault(const struct world *w, const char *text) {
    eden_error error = {EDEN_OK, ""};
    assert_false(eden_heap_verify(w->heap, &error));
    assert_int_equal(error.status, EDEN_CORRUPT);
    if (strstr(error.message, text) == NULL) {
        fail_msg("'%s' does not say '%s'", error.message, text);
    }
}

TEST(verifier_names_wrong_cards) {
    WORLD(w, CARDS);
    EDEN_FRAME(w.m, local, 2);
    old_array(&w, &local[0], 1000);
    local[1] = new_pair(&w, 1);
    eden_slot_set(w.m, local[0], 10, local[1]);
    verify(&w);
    eden_words_(local[0])[1 + 64] = local[1]; /* another card, past the barrier */
    assert_fault(&w, "slot 64 refers to young");
    eden_words_(local[0])[1 + 64] = EDEN_NONE;
    verify(&w);
    uint8_t *byte = &w.heap->old.card_table[byte_of(&w, local[0], 10 / CARD_SLOTS * CARD_SLOTS)], was = *byte;
    *byte = 0;
    assert_fault(&w, "is not remembered");
    eden_words_(local[0])[1 + 10] = EDEN_NONE;
    assert_fault(&w, "clean in the table");
    *byte = was;
    verify(&w);
    w.heap->remembered.cards[0].object = local[1];
    assert_fault(&w, "belongs to no large old object");
    w.heap->remembered.cards[0].object = local[0];
    object_set(local[0], EDEN_HEADER_REMEMBERED);
    assert_fault(&w, "have the bit");
    object_clear(local[0], EDEN_HEADER_REMEMBERED);
}

TEST(remembered_set_can_not_be_switched_later) {
    static const char *const values[] = {"object", "card"};
    for (int i = 0; i < 2; i++) {
        char parameters[64];
        snprintf(parameters, sizeof parameters, "eden_size=64K,remembered_set=%s", values[i]);
        WORLD(w, parameters);
        eden_error error = {EDEN_OK, ""};
        assert_true((w.heap->old.card_table != NULL) == (i == 1));
        for (int j = 0; j < 2; j++) {
            assert_false(eden_heap_set(w.heap, "remembered_set", values[j], &error));
            assert_int_equal(error.status, EDEN_BAD_PARAMETER);
            assert_non_null(strstr(error.message, "remembered_set cannot change after the heap is created"));
        }
    }
}

/* Without memory for the table of a new segment there is no segment; without address space for it, no heap. */
static bool refuse_table(void *context, size_t bytes, const char *what) {
    (void)bytes;
    return strcmp(what, context) != 0;
}

TEST(allocation_fails_cleanly_without_memory_for_cards) {
    static char refused[16] = "card table";
    eden_options options = {.parameters = CARDS, .memory_hook = refuse_table, .memory_hook_context = refused};
    struct world w __attribute__((cleanup(world_end)));
    world_make_with(&w, &options);
    assert_true(eden_new_slots(w.m, w.array, 100000) == EDEN_NONE);
    assert_int_equal(eden_last_error(w.m)->status, EDEN_NO_MEMORY);
    assert_int_equal(w.heap->old.segment_count, 0);
    strcpy(refused, "nothing");
    assert_true(eden_new_slots(w.m, w.array, 100000) != EDEN_NONE);
}
