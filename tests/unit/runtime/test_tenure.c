/* What scavenges tenure, by each criterion. The age criterion's arithmetic is test_scavenge.c's. */
#include "eden_values.h"
#include "support.h"
#include "young/tenure.h"

static int64_t number_of(eden_value pair) { return eden_int_value(eden_slot(pair, 0)); }

/* What the next scavenge would say of a young object. */
static int reason_for(const struct world *w, eden_value object) {
    const struct tenure_policy policy = {.criterion = (enum eden_criterion)w->heap->params.tenure_criterion};
    return tenure_reason(w->heap, &policy, object, eden_header(object));
}

/* Reference counts are in young headers from the census until the scavenge that took it. */
static void clear_counts(const struct world *w) {
    struct space *spaces[YOUNG_SPACES];
    heap_young_spaces(w->heap, spaces);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        for (uintptr_t at = spaces[i]->start; at < spaces[i]->used; at = object_end(object_at(at))) {
            object_clear(object_at(at), YOUNG_COUNT_BITS);
        }
    }
}

/* `count` old arrays of one slot, in an old array in *slot. What is tenured from now on is up to the criterion. */
static void old_entries(const struct world *w, eden_value *slot, size_t count) {
    *slot = eden_new_slots(w->m, w->array, count);
    for (size_t i = 0; i < count; i++) {
        eden_value entry = eden_new_slots(w->m, w->array, 1);
        eden_slot_set(w->m, *slot, i, entry);
    }
    char criterion[16];
    assert_true(eden_heap_get(w->heap, "tenure_criterion", criterion, sizeof criterion));
    set_parameter(w, "tenure_criterion", "age");
    make_old(w, slot);
    eden_scavenge(w->m);
    set_parameter(w, "tenure_proportion", "0");
    set_parameter(w, "tenure_criterion", criterion);
    w->heap->tenure_threshold = 0;
    assert_int_equal(w->heap->remembered.count, 0);
    assert_true(is_old(w, eden_slot(*slot, 0)) && is_old(w, eden_slot(*slot, count - 1)));
}

/* Makes `objects` young pairs, each stored into `references` entries from `at` on; answers the next entry. */
static size_t refer(const struct world *w, eden_value holder, size_t at, size_t objects, size_t references) {
    for (size_t i = 0; i < objects; i++) {
        eden_value young = eden_new(w->m, w->pair);
        eden_slot_set(w->m, young, 0, eden_int((int64_t)at));
        for (size_t n = 0; n < references; n++) {
            eden_slot_set(w->m, eden_slot(holder, at++), 0, young);
        }
    }
    return at;
}

struct population {
    size_t objects, references;
};

/* Two groups of young objects, each referred to by its number of remembered ones: the least count that is tenured, how
 * many are, and how many entries are left. */
static void remembered_case(struct population a, struct population b, unsigned least, size_t tenured, size_t left) {
    WORLD(w, "eden_size=4M,full_gc_ratio=inf,tenure_criterion=remembered");
    EDEN_FRAME(w.m, local, 1);
    size_t count = a.objects * a.references + b.objects * b.references;
    old_entries(&w, &local[0], count);
    size_t at = refer(&w, local[0], 0, a.objects, a.references);
    assert_int_equal(refer(&w, local[0], at, b.objects, b.references), count);
    assert_int_equal(w.heap->remembered.count, count);
    struct tenure_policy policy = tenure_policy(w.heap, EDEN_SCAVENGE_REQUEST);
    assert_int_equal(policy.criterion, EDEN_BY_REMEMBERED);
    assert_int_equal(policy.least_references, least);
    eden_value first = eden_slot(eden_slot(local[0], 0), 0);
    assert_int_equal(tenure_reason(w.heap, &policy, first, eden_header(first)),
                     a.references >= least ? EDEN_TENURE_REMEMBERED : NOT_TENURED);
    clear_counts(&w);
    uint64_t before = figures_of(&w).tenured_objects;
    eden_scavenge(w.m);
    verify(&w);
    assert_int_equal(figures_of(&w).tenured_objects - before, tenured);
    assert_int_equal(w.heap->remembered.count, left);
    for (size_t i = 0; i < count; i++) {
        eden_value young = eden_slot(eden_slot(local[0], i), 0);
        size_t references = i < a.objects * a.references ? a.references : b.references;
        assert_true(number_of(young) <= (int64_t)i && (size_t)number_of(young) + references > i);
        assert_true(is_old(&w, young) == (references >= least));
    }
}

TEST(what_fills_the_remembered_set) {
    /* As the Pharo VM's code does. */
    remembered_case((struct population){160, 10}, (struct population){140, 1}, 7, 160, 140);
    remembered_case((struct population){60, 10}, (struct population){1200, 1}, 1, 1260, 0);
    /* Just half, and one less. */
    remembered_case((struct population){10, 3}, (struct population){10, 2}, 3, 10, 20);
    remembered_case((struct population){9, 3}, (struct population){11, 2}, 2, 20, 0);
    /* A population of one is never tenured, one of two is. */
    remembered_case((struct population){1, 5}, (struct population){0, 0}, 8, 0, 5);
    remembered_case((struct population){2, 5}, (struct population){0, 0}, 5, 2, 0);
}

/* The same counts with the references in one large array, remembered by cards. */
TEST(references_from_cards_count) {
    WORLD(w, "eden_size=1M,full_gc_ratio=inf,tenure_criterion=remembered,remembered_set=card");
    EDEN_FRAME(w.m, local, 1);
    local[0] = eden_new_slots(w.m, w.array, 100000);
    assert_true(is_old(&w, local[0]));
    for (size_t i = 0; i < 30; i++) {
        eden_value young = eden_new(w.m, w.pair);
        for (size_t n = 0; n <= i % 3; n++) {
            eden_slot_set(w.m, local[0], i * 3000 + n * 999, young);
        }
    }
    eden_scavenge(w.m);
    verify(&w);
    /* 10 each of 1, 2 and 3 references: half of the 30 have at least 2. */
    assert_int_equal(figures_of(&w).tenured_objects, 20);
    assert_int_equal(w.heap->remembered.card_count, 10);
}

/* With the age criterion, a remembered set that is about to grow and large for eden brings about the other. */
TEST(full_remembered_set_switches_to_reference_counts) {
    enum { ROOM = 1024, ZONE = ROOM - 4 }; /* what the set begins with; eden_size / 8 / 1024 is less */
    for (size_t entries = ZONE - 1; entries <= ZONE; entries++) {
        WORLD(w, "eden_size=1M,full_gc_ratio=inf");
        EDEN_FRAME(w.m, local, 1);
        old_entries(&w, &local[0], ZONE);
        refer(&w, local[0], 0, entries, 1);
        assert_int_equal(w.heap->remembered.room, ROOM);
        struct tenure_policy policy = tenure_policy(w.heap, EDEN_SCAVENGE_REQUEST);
        clear_counts(&w);
        assert_int_equal(policy.criterion, entries == ZONE ? EDEN_BY_REMEMBERED : EDEN_BY_AGE);
        uint64_t before = figures_of(&w).tenured_objects;
        eden_scavenge(w.m);
        assert_int_equal(figures_of(&w).tenured_objects - before, entries == ZONE ? entries : 0);
        assert_int_equal(w.heap->remembered.count, entries == ZONE ? 0 : entries);
        /* Back to age by itself. */
        assert_int_equal(tenure_policy(w.heap, EDEN_SCAVENGE_REQUEST).criterion, EDEN_BY_AGE);
    }
}

/* Dirty cards have a list of their own: a set with room left in it is not about to grow. */
TEST(dirty_cards_alone_do_not_switch) {
    WORLD(w, "eden_size=1M,full_gc_ratio=inf,remembered_set=card");
    EDEN_FRAME(w.m, local, 2);
    old_entries(&w, &local[1], 1);
    local[0] = eden_new_slots(w.m, w.array, 100000);
    refer(&w, local[1], 0, 1, 1);
    for (size_t i = 0; i < 1100; i++) {
        eden_slot_set(w.m, local[0], i * CARD_SLOTS, eden_new(w.m, w.pair));
    }
    assert_int_equal(heap_remembered(w.heap), 1101);
    assert_int_equal(tenure_policy(w.heap, EDEN_SCAVENGE_REQUEST).criterion, EDEN_BY_AGE);
}

/* Nor does room in one of the two hide that the other is full. */
TEST(room_for_cards_does_not_hide_a_full_set) {
    enum { ZONE = 1024 - 4 };
    WORLD(w, "eden_size=1M,full_gc_ratio=inf,remembered_set=card");
    EDEN_FRAME(w.m, local, 2);
    old_entries(&w, &local[0], ZONE);
    local[1] = eden_new_slots(w.m, w.array, 100000);
    eden_slot_set(w.m, local[1], 0, eden_new(w.m, w.pair));
    eden_slot_set(w.m, local[1], 0, EDEN_NONE);
    refer(&w, local[0], 0, ZONE, 1);
    assert_true(w.heap->remembered.card_room > 0);
    assert_int_equal(tenure_policy(w.heap, EDEN_SCAVENGE_REQUEST).criterion, EDEN_BY_REMEMBERED);
    clear_counts(&w);
}

/* A pin needs the bits that count: its scavenge tenures what is pinned, and nothing by reference counts. */
TEST(a_pin_suspends_tenuring_by_counts) {
    WORLD(w, "eden_size=1M,full_gc_ratio=inf,tenure_criterion=remembered");
    EDEN_FRAME(w.m, local, 2);
    old_entries(&w, &local[0], 100);
    refer(&w, local[0], 0, 10, 10);
    local[1] = eden_new(w.m, w.pair);
    uint64_t before = figures_of(&w).tenured_objects;
    local[1] = eden_pin(w.m, local[1]);
    verify(&w);
    assert_true(is_old(&w, local[1]));
    assert_int_equal(figures_of(&w).tenured_objects - before, 1);
    eden_scavenge(w.m);
    verify(&w);
    assert_int_equal(figures_of(&w).tenured_objects - before, 11);
    for (size_t i = 0; i < 100; i++) {
        assert_false(object_has(eden_slot(eden_slot(local[0], i), 0), EDEN_HEADER_PINNED | EDEN_HEADER_GREY));
    }
}

enum { OF_CLASS, OF_SITE, OF_OTHER_SITE, OF_OTHER_CLASS, KINDS };

static void chosen_are_tenured(const char *criterion, const bool tenured[KINDS], bool choose_site, int reason) {
    WORLD(w, "policy=fixed,eden_size=1M,full_gc_ratio=inf");
    set_parameter(&w, "tenure_criterion", criterion);
    eden_class of[KINDS];
    of[OF_CLASS] = w.pair;
    of[OF_SITE] = eden_site_define(w.heap, w.pair, "here", NULL);
    of[OF_OTHER_SITE] = eden_site_define(w.heap, w.pair, "there", NULL);
    of[OF_OTHER_CLASS] = define_class(w.heap, "Other", EDEN_FORMAT_FIXED, 2);
    eden_class chosen = choose_site ? of[OF_SITE] : of[OF_CLASS];
    EDEN_FRAME(w.m, local, KINDS);
    for (int round = 0; round < 3; round++) { /* nothing chosen; chosen; taken back */
        eden_tenure_choose(w.heap, chosen, round == 1);
        for (size_t i = 0; i < KINDS; i++) {
            local[i] = eden_new(w.m, of[i]);
            assert_int_equal(reason_for(&w, local[i]), round == 1 && tenured[i] ? reason : NOT_TENURED);
        }
        eden_scavenge(w.m);
        eden_scavenge(w.m);
        verify(&w);
        for (size_t i = 0; i < KINDS; i++) {
            assert_true(is_old(&w, local[i]) == (round == 1 && tenured[i]));
        }
    }
}

TEST(chosen_classes_and_sites_are_tenured) {
    /* A chosen class is tenured whatever the site; a chosen site means nothing to the criterion class. */
    chosen_are_tenured("class", (bool[KINDS]){true, true, true, false}, false, EDEN_TENURE_CLASS);
    chosen_are_tenured("class", (bool[KINDS]){false, false, false, false}, true, EDEN_TENURE_CLASS);
    /* A chosen site is just its own objects; a class is a site too: objects allocated at no named place. */
    chosen_are_tenured("site", (bool[KINDS]){false, true, false, false}, true, EDEN_TENURE_SITE);
    chosen_are_tenured("site", (bool[KINDS]){true, false, false, false}, false, EDEN_TENURE_SITE);
    /* The others have no use for a choice. */
    chosen_are_tenured("never", (bool[KINDS]){false, false, false, false}, true, NOT_TENURED);
    chosen_are_tenured("age", (bool[KINDS]){false, false, false, false}, false, NOT_TENURED);
}

/* Never: only overflow tenures. */
TEST(never_tenures_by_overflow_alone) {
    WORLD(w, "eden_size=64K,full_gc_ratio=inf,tenure_fill=0,tenure_proportion=1,tenure_criterion=never");
    EDEN_FRAME(w.m, local, 2);
    local[0] = new_sized(&w, 8000);
    for (int i = 0; i < 10; i++) {
        eden_scavenge(w.m);
        assert_false(is_old(&w, local[0]));
        assert_int_equal(reason_for(&w, local[0]), NOT_TENURED);
    }
    assert_int_equal(figures_of(&w).tenured_objects, 0);
    local[1] = new_sized(&w, 12000); /* the semispace has 16K */
    eden_scavenge(w.m);
    assert_int_equal(figures_of(&w).tenured_objects, 1);
    assert_true(is_old(&w, local[0]) != is_old(&w, local[1]));
    /* With age the survivor would have gone at once. */
    eden_value *young = is_old(&w, local[0]) ? &local[1] : &local[0];
    assert_false(is_old(&w, *young));
    set_parameter(&w, "tenure_criterion", "age");
    assert_int_equal(reason_for(&w, *young), EDEN_TENURE_AGE);
    eden_scavenge(w.m);
    assert_true(is_old(&w, *young));
}

/* Survivors that fill a semispace of 208K to 97%, in the lower or the upper one: how many of them are tenured. */
static size_t tenured_of(size_t objects, bool bug, bool lower) {
    WORLD(w, "eden_size=1M,full_gc_ratio=inf,tenure_proportion=0.1");
    set_parameter(&w, "compat.threshold_bug", bug ? "1" : "0");
    EDEN_FRAME(w.m, local, 1);
    if (lower) {
        eden_scavenge(w.m); /* the semispaces take turns */
    }
    local[0] = eden_new_slots(w.m, w.array, objects);
    for (size_t i = 0; i < objects; i++) {
        eden_slot_set(w.m, local[0], i, new_sized(&w, 200));
    }
    eden_scavenge(w.m);
    assert_true((w.heap->from == 0) == lower);
    assert_true(w.heap->tenure_threshold != 0);
    assert_int_equal(figures_of(&w).tenured_objects, 0);
    eden_scavenge(w.m);
    size_t old = is_old(&w, local[0]);
    for (size_t i = 0; i < objects; i++) {
        old += is_old(&w, eden_slot(local[0], i));
    }
    assert_int_equal(figures_of(&w).tenured_objects, old);
    return old;
}

/* The old VM computed the threshold in the other semispace: all or none of the survivors lie below it. */
TEST(threshold_in_the_wrong_space_tenures_all_or_none) {
    enum { OBJECTS = 1000 };
    assert_int_equal(tenured_of(OBJECTS, true, true), OBJECTS + 1);
    assert_int_equal(tenured_of(OBJECTS, true, false), 0);
    for (int lower = 0; lower <= 1; lower++) {
        size_t tenured = tenured_of(OBJECTS, false, lower == 1);
        assert_true(tenured > OBJECTS / 20 && tenured < OBJECTS / 8);
    }
}

/* The reasons that probes and tools report. */
TEST(reasons_have_names) {
    assert_null(eden_tenure_reason_name(EDEN_TENURE_REASONS));
    assert_string_equal(eden_tenure_reason_name(EDEN_TENURE_AGE), "age");
    assert_string_equal(eden_tenure_reason_name(EDEN_TENURE_OVERFLOW), "overflow");
    assert_string_equal(eden_tenure_reason_name(EDEN_TENURE_PIN), "pin");
    assert_string_equal(eden_tenure_reason_name(EDEN_TENURE_RETRY), "retry");
    assert_string_equal(eden_tenure_reason_name(EDEN_TENURE_REMEMBERED), "remembered");
    assert_string_equal(eden_tenure_reason_name(EDEN_TENURE_CLASS), "class");
    assert_string_equal(eden_tenure_reason_name(EDEN_TENURE_SITE), "site");
    assert_string_equal(eden_tenure_reason_name(EDEN_TENURE_LEARNT), "learnt");
}
