/* Classes, sites and objects: every format, every size that the header counts differently, identity. */
#include "support.h"

static const size_t counts[] = {0, 1, 2, 7, 8, 9, 253, 254, 255, 256, 257, 65535, 65536};
enum { COUNTS = sizeof counts / sizeof counts[0] };

/* Makes eden dirty, so that what is not cleared shows. */
static void soil(const struct world *w) {
    for (int i = 0; i < 2; i++) {
        while (w->heap->eden.limit - w->m->free >= 16 * KIB) {
            new_sized(w, 4 * KIB);
        }
        eden_scavenge(w->m);
    }
}

static void check_layout(const struct world *w, eden_value object, eden_class of, size_t slots) {
    assert_true(eden_is_object(object));
    assert_int_equal(object % 8, 0);
    assert_int_equal(eden_slot_count(object), slots);
    assert_int_equal(eden_index_of(object), eden_class_index(of));
    assert_true(eden_class_of(w->heap, object) == of);
    assert_int_equal(object_bytes(object), 8 * slots + (slots < 255 ? 8 : 16));
}

TEST(empty_objects_are_distinct) {
    WORLD(w, "eden_size=1M");
    EDEN_FRAME(w.m, local, 2);
    local[0] = eden_new(w.m, w.empty);
    local[1] = eden_new(w.m, w.empty);
    check_layout(&w, local[0], w.empty, 0);
    assert_int_equal(local[1] - local[0], 8);
    eden_scavenge(w.m);
    assert_int_not_equal(local[0], local[1]);
    check_layout(&w, local[1], w.empty, 0);
    make_old(&w, &local[0]);
    eden_full_collect(w.m);
    check_layout(&w, local[0], w.empty, 0);
}

TEST(fixed_objects_of_every_size_keep_their_slots) {
    WORLD(w, "eden_size=1M");
    soil(&w);
    for (uint32_t slots = 0; slots <= 254; slots++) {
        eden_class of = define_class(w.heap, "Fixed", EDEN_FORMAT_FIXED, slots);
        eden_value object = eden_new(w.m, of);
        check_layout(&w, object, of, slots);
        for (size_t i = 0; i < slots; i++) {
            assert_int_equal(eden_slot(object, i), EDEN_NONE);
        }
    }
}

/* The number of slots as a constant; a wrong one is the class's all the same. */
TEST(fixed_objects_of_a_known_size_are_cleared) {
    WORLD(w, "eden_size=1M");
    eden_class of[16];
    for (uint32_t slots = 1; slots < 16; slots++) {
        of[slots] = define_class(w.heap, "Known", EDEN_FORMAT_FIXED, slots);
    }
    for (int i = 0; i < 30000; i++) { /* eden is used again: its memory is not zero */
        const eden_value objects[] = {eden_new_fixed(w.m, of[1], 1), eden_new_fixed(w.m, of[12], 12),
                                      eden_new_fixed(w.m, of[13], 13), eden_new_fixed(w.m, of[7], 2)};
        const size_t slots[] = {1, 12, 13, 7};
        for (size_t j = 0; j < 4; j++) {
            assert_int_equal(eden_slot_count(objects[j]), slots[j]);
            for (size_t k = 0; k < slots[j]; k++) {
                assert_true(eden_slot(objects[j], k) == EDEN_NONE);
                eden_slot_set(w.m, objects[j], k, eden_int(i));
            }
        }
    }
}

TEST(variable_objects_of_every_size_keep_their_slots) {
    WORLD(w, "eden_size=4M,large_object=1M");
    soil(&w);
    EDEN_FRAME(w.m, local, 2 * COUNTS);
    for (size_t c = 0; c < COUNTS; c++) {
        local[2 * c] = eden_new_slots(w.m, w.array, counts[c]);
        check_layout(&w, local[2 * c], w.array, counts[c]);
        local[2 * c + 1] = eden_new_slots(w.m, w.mixed, counts[c]);
        check_layout(&w, local[2 * c + 1], w.mixed, counts[c] + 2);
        for (size_t i = 0; i < counts[c]; i++) {
            assert_int_equal(eden_slot(local[2 * c], i), EDEN_NONE);
            assert_int_equal(eden_slot(local[2 * c + 1], i + 2), EDEN_NONE);
            eden_slot_set(w.m, local[2 * c], i, eden_int((int64_t)i));
        }
    }
    for (int round = 0; round < 3; round++) {
        round == 1 ? eden_full_collect(w.m) : eden_scavenge(w.m);
        for (size_t c = 0; c < COUNTS; c++) {
            check_layout(&w, local[2 * c], w.array, counts[c]);
            check_layout(&w, local[2 * c + 1], w.mixed, counts[c] + 2);
            for (size_t i = 0; i < counts[c]; i++) {
                assert_true(eden_slot(local[2 * c], i) == eden_int((int64_t)i));
            }
        }
        verify(&w);
    }
}

TEST(raw_objects_of_every_size_keep_their_bytes) {
    WORLD(w, "eden_size=4M,large_object=1M");
    soil(&w);
    const struct {
        eden_class of;
        size_t per_slot, fixed;
    } kinds[] = {{w.words64, 1, 0}, {w.words32, 2, 0}, {w.words16, 4, 0}, {w.bytes, 8, 0}, {w.compound, 8, 3}};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (size_t c = 0; c < COUNTS; c++) {
            for (size_t less = 0; less < 9 && less <= counts[c] * kinds[k].per_slot; less++) {
                size_t n = counts[c] * kinds[k].per_slot - less;
                EDEN_FRAME(w.m, local, 1);
                local[0] = eden_new_raw(w.m, kinds[k].of, n);
                size_t body = (n + kinds[k].per_slot - 1) / kinds[k].per_slot, slots = body + kinds[k].fixed;
                /* The header's format has the unused units, and then differs from the class's. */
                assert_int_equal(eden_slot_count(local[0]), slots);
                assert_int_equal(eden_raw_count(local[0]), n + 8 * kinds[k].fixed);
                assert_true(eden_class_of(w.heap, local[0]) == kinds[k].of);
                for (size_t i = 0; i < kinds[k].fixed; i++) {
                    assert_int_equal(eden_slot(local[0], i), EDEN_NONE);
                }
                /* What the last word holds beyond the units is zero. */
                size_t unit = 8 / kinds[k].per_slot;
                unsigned char *raw = eden_raw_after(kinds[k].of, local[0]);
                for (size_t i = n * unit; i < body * 8; i++) {
                    assert_int_equal(raw[i], 0);
                }
                memset(raw, 0xa5, n * unit);
                if (counts[c] < 300) {
                    eden_scavenge(w.m);
                    raw = eden_raw_after(kinds[k].of, local[0]);
                    for (size_t i = 0; i < body * 8; i++) {
                        assert_int_equal(raw[i], i < n * unit ? 0xa5 : 0);
                    }
                }
            }
        }
    }
}

TEST(compound_references_are_followed_raw_bytes_not) {
    WORLD(w, "eden_size=1M");
    EDEN_FRAME(w.m, local, 2);
    local[0] = eden_new_raw(w.m, w.compound, 16);
    eden_value target = eden_new(w.m, w.pair);
    eden_slot_set(w.m, target, 0, eden_int(5));
    eden_slot_set(w.m, local[0], 1, target);
    uint64_t *raw = eden_raw_after(w.compound, local[0]);
    raw[0] = target; /* bits, no reference */
    eden_scavenge(w.m);
    raw = eden_raw_after(w.compound, local[0]);
    assert_true(raw[0] == target);
    assert_int_not_equal(eden_slot(local[0], 1), target);
    assert_true(eden_slot(eden_slot(local[0], 1), 0) == eden_int(5));
    assert_int_equal(eden_slot(local[0], 0), EDEN_NONE);
}

TEST(sites_are_seen_through) {
    WORLD(w, "eden_size=1M");
    eden_error error = {EDEN_OK, ""};
    eden_class site = eden_site_define(w.heap, w.pair, "main.c:10", &error);
    eden_class site_of_site = eden_site_define(w.heap, site, "main.c:11", &error);
    eden_class compound_site = eden_site_define(w.heap, w.compound, "main.c:12", &error);
    assert_true(site != 0 && site_of_site != 0 && compound_site != 0);
    assert_int_not_equal(eden_class_index(site), eden_class_index(w.pair));
    EDEN_FRAME(w.m, local, 3);
    local[0] = eden_new(w.m, site);
    local[1] = eden_new(w.m, site_of_site);
    local[2] = eden_new_raw(w.m, compound_site, 5);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(eden_index_of(local[0]), eden_class_index(site));
        assert_int_equal(eden_slot_count(local[0]), 2);
        assert_true(eden_class_of(w.heap, local[0]) == w.pair);
        assert_int_equal(eden_index_of(local[1]), eden_class_index(site_of_site));
        assert_true(eden_class_of(w.heap, local[1]) == w.pair);
        assert_true(eden_class_of(w.heap, local[2]) == w.compound);
        assert_int_equal(eden_slot_count(local[2]), 4);
        eden_full_collect(w.m);
    }
    assert_string_equal(eden_class_name(w.heap, site), "main.c:10");
    assert_string_equal(eden_class_name(w.heap, w.pair), "Pair");
    assert_null(eden_class_name(w.heap, 0));
    assert_null(eden_class_name(w.heap, EDEN_CLASS_LIMIT - 1));
}

TEST(a_class_test_sees_through_sites) {
    WORLD(w, "eden_size=1M");
    EDEN_FRAME(w.m, local, 4);
    eden_class site = eden_site_define(w.heap, w.pair, "main.c:10", NULL);
    for (int i = 0; i < 3000; i++) { /* beyond a page of the table */
        define_class(w.heap, "more", EDEN_FORMAT_EMPTY, 0);
    }
    eden_class far_site = eden_site_define(w.heap, site, "main.c:20", NULL);
    eden_class other = define_class(w.heap, "Pair", EDEN_FORMAT_FIXED, 2);
    local[0] = eden_new(w.m, w.pair);
    local[1] = eden_new(w.m, site);
    local[2] = eden_new(w.m, far_site);
    local[3] = eden_new(w.m, other);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 3; i++) {
            assert_true(eden_is_a(w.m, local[i], w.pair));
            assert_false(eden_is_a(w.m, local[i], other));
            assert_int_equal(eden_is_a(w.m, local[i], site), i == 1);
            assert_int_equal(eden_is_a(w.m, local[i], far_site), i == 2);
        }
        assert_true(eden_is_a(w.m, local[3], other));
        assert_false(eden_is_a(w.m, local[3], w.pair));
        eden_full_collect(w.m);
    }
    const eden_value others[] = {EDEN_NONE, eden_int(1), eden_char(1), eden_float(1)};
    for (size_t i = 0; i < 4; i++) {
        assert_false(eden_is_a(w.m, others[i], w.pair));
    }
}

TEST(names_are_copied_and_last) {
    WORLD(w, "eden_size=64K");
    char name[] = "changing";
    eden_class of = define_class(w.heap, name, EDEN_FORMAT_FIXED, 1);
    const char *kept = eden_class_name(w.heap, of);
    name[0] = 'X';
    for (int i = 0; i < 3000; i++) { /* beyond a page of the table */
        define_class(w.heap, "more", EDEN_FORMAT_EMPTY, 0);
    }
    assert_ptr_equal(eden_class_name(w.heap, of), kept);
    assert_string_equal(kept, "changing");
    static char longest[4098];
    memset(longest, 'n', sizeof longest - 1);
    longest[4096] = '\0';
    assert_string_equal(eden_class_name(w.heap, define_class(w.heap, longest, EDEN_FORMAT_EMPTY, 0)), longest);
}

TEST(wrong_definitions_are_refused) {
    WORLD(w, "eden_size=64K");
    static char too_long[4098];
    memset(too_long, 'n', sizeof too_long - 1);
    const eden_class_definition wrong[] = {
        {NULL, EDEN_FORMAT_FIXED, 1},
        {"", EDEN_FORMAT_FIXED, 1},
        {too_long, EDEN_FORMAT_FIXED, 1},
        {"Weak", EDEN_FORMAT_WEAK, 255},
        {"Ephemeron", EDEN_FORMAT_EPHEMERON, 0},
        {"Odd", (enum eden_format)6, 0},
        {"Odd", (enum eden_format)11, 0},
        {"Odd", (enum eden_format)31, 0},
        {"Big", EDEN_FORMAT_FIXED, 255},
        {"Big", EDEN_FORMAT_FIXED, UINT32_MAX},
        {"Big", EDEN_FORMAT_COMPOUND, 255},
        {"Some", EDEN_FORMAT_EMPTY, 1},
        {"Some", EDEN_FORMAT_VARIABLE, 1},
        {"Some", EDEN_FORMAT_BYTES, 1},
        {"Some", EDEN_FORMAT_WORDS64, 1},
    };
    uint32_t before = w.heap->next_class;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        eden_error error = {EDEN_OK, ""};
        assert_true(eden_class_define(w.heap, &wrong[i], &error) == 0);
        assert_int_equal(error.status, EDEN_BAD_ARGUMENT);
        assert_true(eden_class_define(w.heap, &wrong[i], NULL) == 0);
        if (wrong[i].name != NULL && wrong[i].name[0] != '\0' && wrong[i].name != too_long) {
            assert_non_null(strstr(error.message, wrong[i].name));
        }
    }
    eden_error error = {EDEN_OK, ""};
    assert_true(eden_site_define(w.heap, 0, "nowhere", &error) == 0);
    assert_int_equal(error.status, EDEN_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "nowhere"));
    assert_true(eden_site_define(w.heap, EDEN_CLASS_LIMIT - 1, "nowhere", &error) == 0);
    assert_true(eden_site_define(w.heap, w.pair, NULL, &error) == 0);
    assert_true(eden_site_define(w.heap, w.pair, "", &error) == 0);
    assert_int_equal(w.heap->next_class, before);
}

/* The table is full: seen by putting the next index near its end, since 4 million definitions take long. */
TEST(class_indices_that_run_out_are_an_error) {
    WORLD(w, "eden_size=64K");
    uint32_t before = w.heap->next_class;
    w.heap->next_class = EDEN_CLASS_LIMIT - 1;
    eden_class last = define_class(w.heap, "Last", EDEN_FORMAT_FIXED, 1);
    assert_int_equal(eden_class_index(last), EDEN_CLASS_LIMIT - 1);
    EDEN_FRAME(w.m, local, 1);
    local[0] = eden_new(w.m, last);
    eden_scavenge(w.m);
    assert_true(eden_class_of(w.heap, local[0]) == last);
    eden_error error = {EDEN_OK, ""};
    assert_true(eden_class_define(w.heap, &(eden_class_definition){"One more", EDEN_FORMAT_EMPTY, 0}, &error) == 0);
    assert_int_equal(error.status, EDEN_NO_MEMORY);
    assert_non_null(strstr(error.message, "One more"));
    assert_non_null(strstr(error.message, "4194303"));
    assert_true(eden_site_define(w.heap, w.pair, "One more", &error) == 0);
    assert_int_equal(w.heap->info.class_limit, EDEN_CLASS_LIMIT);
    verify(&w);
    local[0] = EDEN_NONE;
    eden_full_collect(w.m);
    /* Back to a table without a hole, so that the heap can be destroyed. */
    free((void *)(uintptr_t)heap_class(w.heap, EDEN_CLASS_LIMIT - 1)->name);
    w.heap->next_class = before;
}

TEST(identity_stays) {
    enum { OBJECTS = 500 };
    WORLD(w, "eden_size=64K,tenure_fill=0.1,tenure_proportion=0.5");
    EDEN_FRAME(w.m, local, OBJECTS);
    uint32_t hashes[OBJECTS];
    size_t distinct = 0;
    for (size_t i = 0; i < OBJECTS; i++) {
        local[i] = i % 50 == 0 ? eden_new_slots(w.m, w.array, 300) : eden_new(w.m, w.pair);
        hashes[i] = eden_identity_hash(w.m, local[i]);
        assert_true(hashes[i] > 0 && hashes[i] < 1u << 22);
        distinct += i == 0 || hashes[i] != hashes[i - 1];
    }
    assert_true(distinct > OBJECTS - 5);
    for (int round = 0; round < 8; round++) {
        new_sized(&w, 2040);
        round % 3 == 2 ? eden_full_collect(w.m) : eden_scavenge(w.m);
        for (size_t i = 0; i < OBJECTS; i++) {
            assert_int_equal(eden_identity_hash(w.m, local[i]), hashes[i]);
        }
        local[round * 7 + 1] = local[0]; /* holes, so that compaction moves */
        hashes[round * 7 + 1] = hashes[0];
    }
}
