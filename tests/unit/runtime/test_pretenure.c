/* Pretenuring: what a file names is born old, in every format and size, and the heap stays what it must be; files that
 * are wrong are refused; pretenure=auto learns, and unlearns. */
#include "support.h"

static const char *write_file(const void *text, size_t size) {
    static char path[32];
    snprintf(path, sizeof path, "/tmp/eden-pretenure-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size), (ssize_t)size);
    close(fd);
    return path;
}

/* A world whose file says this. */
static void pretenured_world(struct world *w, const char *text, const char *more, eden_memory_hook hook,
                             void *context) {
    const char *path = write_file(text, strlen(text));
    char parameters[200];
    snprintf(parameters, sizeof parameters, "pretenure=%s%s%s", path, *more == '\0' ? "" : ",", more);
    eden_options options = {
        .name = "test", .parameters = parameters, .memory_hook = hook, .memory_hook_context = context};
    world_make_with(w, &options);
    unlink(path);
}

#define PRETENURED(w, text, more)                                                                                      \
    struct world w __attribute__((cleanup(world_end)));                                                                \
    pretenured_world(&(w), text, more, NULL, NULL)

static const char all_classes[] =
    "# everything that support.h makes\nclass Empty\nclass Pair\nclass Array\nclass Mixed\n"
    "class Words64\nclass Words32\nclass Words16\nclass Bytes\nclass Compound\n"
    "class Weak\nclass Ephemeron";

static void refused(const char *text, size_t size, const char *says) {
    const char *path = write_file(text, size);
    char parameters[100];
    eden_error error = {EDEN_OK, ""};
    snprintf(parameters, sizeof parameters, "pretenure=%s", path);
    eden_options options = {.parameters = parameters};
    assert_null(eden_heap_create(&options, &error));
    unlink(path);
    assert_int_equal(error.status, EDEN_BAD_PARAMETER);
    if (strstr(error.message, says) == NULL || strstr(error.message, path) == NULL) {
        fail_msg("'%s' does not say '%s'", error.message, says);
    }
}

TEST(wrong_files_are_refused_with_the_line) {
    static char large[(16 << 20) + 2], long_name[5000];
    memset(large, '#', sizeof large);
    memset(long_name, 'n', sizeof long_name);
    snprintf(long_name, sizeof long_name, "class ");
    long_name[6] = 'n';
    refused("klass A\n", 8, "line 1 is neither");
    refused("# a\n\nclass A\n class B\n", 21, "line 4 is neither");
    refused("class", 5, "line 1 is neither");
    refused("class \n", 7, "line 1 has no name");
    refused("class A\nsite ", 13, "line 2 has no name");
    refused("class a\\", 8, "line 1 has an invalid escape");
    refused("class a\\t\n", 10, "line 1 has an invalid escape");
    refused("class A\nclass B\0C\n", 18, "line 2 contains a NUL");
    refused("\0", 1, "line 1 contains a NUL");
    refused(long_name, sizeof long_name, "line 1 has a name of more than 4096 bytes");
    refused(large, sizeof large, "larger than 16M");
    refused("class A\nclass B\r\nclass\tC\n", 26, "line 3 is neither");
}

TEST(names_survive_as_they_are) {
    static const char *const names[] = {" two  spaces ", "#",    "class A",     "new\nline",
                                        "back\\slash",   "r\rr", "\xc3\xa9\xff"};
    PRETENURED(w,
               "class  two  spaces \nclass #\nclass class A\nclass new\\nline\nclass back\\\\slash\nclass r\\rr\n"
               "class \xc3\xa9\xff\nsite only a site\n",
               "");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        eden_value object = eden_new(w.m, define_class(w.heap, names[i], EDEN_FORMAT_FIXED, 1));
        assert_true(is_old(&w, object));
    }
    assert_false(is_old(&w, eden_new(w.m, define_class(w.heap, "only a site", EDEN_FORMAT_FIXED, 1))));
    assert_false(is_old(&w, eden_new(w.m, define_class(w.heap, "two  spaces", EDEN_FORMAT_FIXED, 1))));
    assert_false(is_old(&w, eden_new(w.m, w.pair)));
}

TEST(a_class_means_its_sites_and_a_site_only_itself) {
    PRETENURED(w, "class Array\nsite here\nclass Pair site\n", "");
    eden_error error;
    eden_class here = eden_site_define(w.heap, w.pair, "here", &error);
    eden_class there = eden_site_define(w.heap, w.pair, "there", &error);
    eden_class again = eden_site_define(w.heap, w.bytes, "here", &error);
    eden_class pair_site = eden_site_define(w.heap, w.pair, "Pair site", &error);
    eden_class array_site = eden_site_define(w.heap, w.array, "anywhere", &error);
    assert_true(is_old(&w, eden_new(w.m, here)));
    assert_true(is_old(&w, eden_new_raw(w.m, again, 3)));
    assert_true(is_old(&w, eden_new_slots(w.m, array_site, 3)));
    assert_true(is_old(&w, eden_new_slots(w.m, w.array, 3)));
    assert_false(is_old(&w, eden_new(w.m, there)));
    assert_false(is_old(&w, eden_new(w.m, pair_site)));
    assert_false(is_old(&w, eden_new(w.m, w.pair)));
    assert_false(is_old(&w, eden_new_raw(w.m, w.bytes, 3)));
    eden_figures figures = figures_of(&w);
    assert_int_equal(figures.pretenured_objects, 4);
    assert_int_equal(figures.pretenured_bytes, 24 + 16 + 32 + 32);
    assert_int_equal(figures.allocated_bytes, 4 * 24 + 16 + 32 + 32 + 16 - 24 + 24);
}

/* All formats in all sizes around the places where something changes: an object is what it is without pretenuring, but
 * old; what is asked for in absurd sizes fails as it does without. */
TEST(pretenured_objects_of_every_format_and_size_are_equal) {
    PRETENURED(w, all_classes, "eden_size=1M,large_object=64K");
    WORLD(plain, "eden_size=1M,large_object=64K");
    const struct {
        eden_class of, plain;
        char how;
    } kinds[] = {{w.empty, plain.empty, 'n'},     {w.pair, plain.pair, 'n'},       {w.array, plain.array, 's'},
                 {w.mixed, plain.mixed, 's'},     {w.words64, plain.words64, 'r'}, {w.words32, plain.words32, 'r'},
                 {w.words16, plain.words16, 'r'}, {w.bytes, plain.bytes, 'r'},     {w.compound, plain.compound, 'r'}};
    static const size_t absurd[] = {0, 1, 253, 254, 255, 256, 257, 300, 509, 510, 511, SIZE_MAX / 2, SIZE_MAX / 8};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (size_t n = 0; n < 3000; n += n < 600 ? 1 : 37) {
            EDEN_FRAME(w.m, a, 1);
            EDEN_FRAME(plain.m, b, 1);
            char how = kinds[k].how;
            a[0] = how == 'n'   ? eden_new(w.m, kinds[k].of)
                   : how == 's' ? eden_new_slots(w.m, kinds[k].of, n)
                                : eden_new_raw(w.m, kinds[k].of, n);
            b[0] = how == 'n'   ? eden_new(plain.m, kinds[k].plain)
                   : how == 's' ? eden_new_slots(plain.m, kinds[k].plain, n)
                                : eden_new_raw(plain.m, kinds[k].plain, n);
            assert_true(is_old(&w, a[0]) && !is_old(&plain, b[0]));
            assert_int_equal(eden_header(a[0]), eden_header(b[0]));
            assert_int_equal(eden_slot_count(a[0]), eden_slot_count(b[0]));
            assert_true(eden_class_of(w.heap, a[0]) == kinds[k].of);
            if (how != 'r') {
                assert_memory_equal(eden_words_(a[0]) + 1, eden_words_(b[0]) + 1, 8 * eden_slot_count(a[0]));
            } else {
                assert_int_equal(eden_raw_count(a[0]), eden_raw_count(b[0]));
                assert_int_equal((char *)eden_raw_after(kinds[k].of, a[0]) - (char *)a[0],
                                 (char *)eden_raw_after(kinds[k].plain, b[0]) - (char *)b[0]);
            }
            if (how == 'r' && kinds[k].of != w.words64 && n % 8 != 0) {
                size_t unit = kinds[k].of == w.words32 ? 4 : kinds[k].of == w.words16 ? 2 : 1;
                size_t end = n * unit % 8, slots = eden_slot_count(a[0]);
                for (size_t i = end; end != 0 && i < 8; i++) {
                    assert_int_equal(((unsigned char *)(eden_words_(a[0]) + slots))[i], 0);
                }
            }
        }
        for (size_t i = 0; kinds[k].how != 'n' && i < sizeof absurd / sizeof absurd[0]; i++) {
            size_t n = SIZE_MAX - absurd[i];
            assert_true((kinds[k].how == 's' ? eden_new_slots(w.m, kinds[k].of, n)
                                             : eden_new_raw(w.m, kinds[k].of, n)) == EDEN_NONE);
        }
        verify(&w);
    }
    assert_int_equal(figures_of(&w).large_objects, 0);
    assert_int_equal(figures_of(&w).allocated_bytes, figures_of(&w).pretenured_bytes);
    /* The largest of the fixed: where the count and the mark of pretenuring touch. */
    eden_full_collect(w.m);
    verify(&w);
}

TEST(most_fixed_slots_keep_their_raw_part) {
    PRETENURED(w, "class Most\nclass More\nclass Raw\n", "");
    eden_class most = define_class(w.heap, "Most", EDEN_FORMAT_FIXED, 254);
    eden_class more = define_class(w.heap, "More", EDEN_FORMAT_FIXED_VARIABLE, 254);
    eden_class raw = define_class(w.heap, "Raw", EDEN_FORMAT_COMPOUND, 254);
    EDEN_FRAME(w.m, local, 3);
    local[0] = eden_new(w.m, most);
    local[1] = eden_new_slots(w.m, more, 1);
    local[2] = eden_new_raw(w.m, raw, 9);
    assert_int_equal(eden_slot_count(local[0]), 254);
    assert_int_equal(eden_slot_count(local[1]), 255);
    assert_int_equal(eden_slot_count(local[2]), 256);
    memset(eden_raw_after(raw, local[2]), 0x77, 9);
    for (size_t i = 0; i < 254; i++) {
        assert_true(eden_slot(local[2], i) == EDEN_NONE);
    }
    eden_full_collect(w.m);
    assert_true(((unsigned char *)eden_raw_after(raw, local[2]))[8] == 0x77);
    assert_true(is_old(&w, local[0]) && is_old(&w, local[1]) && is_old(&w, local[2]));
}

/* A large object is large, and counted as that. */
TEST(large_objects_stay_large) {
    PRETENURED(w, all_classes, "large_object=64K");
    eden_value object = eden_new_raw(w.m, w.bytes, 100000);
    assert_true(is_old(&w, object));
    assert_int_equal(figures_of(&w).large_objects, 1);
    assert_int_equal(figures_of(&w).pretenured_objects, 0);
}

TEST(young_values_in_them_are_remembered) {
    PRETENURED(w, "class Array\n", "eden_size=64K");
    EDEN_FRAME(w.m, local, 2);
    for (size_t size = 3; size < 600; size += 290) {
        local[0] = eden_new_slots(w.m, w.array, size);
        for (size_t i = 0; i < size; i++) {
            local[1] = eden_new(w.m, w.pair);
            eden_slot_set(w.m, local[1], 0, eden_int((int64_t)i));
            eden_slot_set(w.m, local[0], i, local[1]);
        }
        assert_true(figures_of(&w).remembered != 0);
        eden_scavenge(w.m);
        verify(&w);
        for (size_t i = 0; i < size; i++) {
            assert_true(eden_slot(eden_slot(local[0], i), 0) == eden_int((int64_t)i));
        }
    }
}

TEST(pretenured_weak_objects_ephemerons_and_pins_work) {
    PRETENURED(w, all_classes, "eden_size=64K");
    eden_class weak = define_class(w.heap, "Weak", EDEN_FORMAT_WEAK, 1);
    eden_class ephemeron = define_class(w.heap, "Ephemeron", EDEN_FORMAT_EPHEMERON, 2);
    eden_class young = define_class(w.heap, "Young", EDEN_FORMAT_FIXED, 1);
    EDEN_FRAME(w.m, local, 4);
    local[0] = eden_new_slots(w.m, weak, 2);
    local[1] = eden_new(w.m, ephemeron);
    local[2] = eden_new(w.m, young);
    assert_true(is_old(&w, local[0]) && is_old(&w, local[1]) && !is_old(&w, local[2]));
    eden_slot_set(w.m, local[0], 1, local[2]);
    eden_slot_set(w.m, local[1], 0, local[2]);
    local[3] = eden_new(w.m, young);
    eden_slot_set(w.m, local[1], 1, local[3]);
    eden_slot_set(w.m, local[0], 2, local[3]);
    local[3] = EDEN_NONE;
    eden_scavenge(w.m);
    assert_true(eden_slot(local[0], 1) == local[2] && eden_slot(local[0], 2) == eden_slot(local[1], 1));
    assert_true(eden_mourn_next(w.m) == EDEN_NONE);
    local[2] = EDEN_NONE;
    eden_scavenge(w.m);
    assert_true(eden_mourn_next(w.m) == local[1]);
    local[1] = EDEN_NONE;
    eden_full_collect(w.m); /* the mourner held the key */
    assert_true(eden_slot(local[0], 1) == EDEN_NONE && eden_slot(local[0], 2) == EDEN_NONE);
    /* A pin needs no scavenge: it is old. */
    eden_value pair = eden_new(w.m, w.pair);
    uint64_t before = figures_of(&w).scavenges;
    assert_true(eden_pin(w.m, pair) == pair);
    assert_int_equal(figures_of(&w).scavenges, before);
    local[2] = pair;
    eden_full_collect(w.m);
    assert_true(local[2] == pair);
    eden_unpin(w.m, pair);
}

/* Garbage that is all born old: growth asks for full collections, and the heap stays small. */
TEST(growth_by_them_alone_is_collected) {
    PRETENURED(w, all_classes, "eden_size=64K,grow_headroom=256K,full_gc_ratio=0.5");
    for (size_t i = 0; i < 200000; i++) {
        assert_true(is_old(&w, eden_new_raw(w.m, w.bytes, i % 300)));
    }
    eden_figures figures = figures_of(&w);
    assert_true(figures.full_by_cause[EDEN_FULL_RATIO] > 20);
    assert_true(figures.old_capacity <= 2 * MIB);
    assert_int_equal(figures.pretenured_objects, 200000);
}

/* At max_heap: garbage is collected for as long as it takes; what is alive ends in a clean failure, and a heap that is
 * whole and usable. */
TEST(at_the_limit_pretenuring_fails_cleanly) {
    PRETENURED(w, all_classes, "eden_size=64K,max_heap=1M,full_gc_ratio=inf,grow_headroom=64K");
    for (size_t i = 0; i < 200000; i++) {
        assert_true(eden_new_raw(w.m, w.bytes, i % 300) != EDEN_NONE);
    }
    assert_true(figures_of(&w).full_by_cause[EDEN_FULL_LIMIT] > 20);
    assert_int_equal(figures_of(&w).pretenured_objects, 200000);
    EDEN_FRAME(w.m, local, 2);
    while ((local[1] = eden_new(w.m, w.pair)) != EDEN_NONE) {
        eden_slot_set(w.m, local[1], 0, local[0]);
        local[0] = local[1];
    }
    assert_int_equal(eden_last_error(w.m)->status, EDEN_NO_MEMORY);
    verify(&w);
    local[0] = EDEN_NONE;
    eden_full_collect(w.m);
    assert_true(is_old(&w, eden_new(w.m, w.pair)));
    verify(&w);
}

/* Every request for memory refused once, from the heap's creation on. */
TEST(memory_is_refused) {
    int refused_in_all = 0;
    for (long n = 1;; n++) {
        const char *path = write_file(all_classes, strlen(all_classes));
        char parameters[100];
        snprintf(parameters, sizeof parameters, "eden_size=64K,pretenure=%s", path);
        struct refusal refusal = {.from = n, .to = n};
        eden_error error = {EDEN_OK, ""};
        eden_options options = {.parameters = parameters, .memory_hook = refuse_some, .memory_hook_context = &refusal};
        eden_heap *heap = eden_heap_create(&options, &error);
        unlink(path);
        if (heap == NULL) {
            assert_int_equal(error.status, EDEN_NO_MEMORY);
            refused_in_all++;
            continue;
        }
        eden_heap_destroy(heap); /* less address space will do, too */
        if (refusal.seen < n) {
            break;
        }
    }
    assert_true(refused_in_all >= 7);
    struct refusal refusal = {.from = LONG_MAX, .to = LONG_MAX};
    struct world w;
    pretenured_world(&w, all_classes, "eden_size=64K", refuse_some, &refusal);
    refusal = (struct refusal){.from = 1, .to = LONG_MAX};
    /* No old space at all: they are young. */
    assert_false(is_old(&w, eden_new(w.m, w.pair)));
    assert_false(is_old(&w, eden_new_raw(w.m, w.bytes, 13)));
    verify(&w);
    refusal.to = 0;
    eden_scavenge(w.m);
    assert_true(is_old(&w, eden_new(w.m, w.pair)));
    world_end(&w);
}

TEST(pretenuring_survives_stress) {
    PRETENURED(w, all_classes, "eden_size=64K,stress=3");
    EDEN_FRAME(w.m, local, 2);
    for (size_t i = 0; i < 3000; i++) {
        local[1] = eden_new_slots(w.m, i % 2 == 0 ? w.array : w.mixed, i % 40 + 1);
        eden_slot_set(w.m, local[1], 0, i % 50 == 0 ? EDEN_NONE : local[0]);
        local[0] = local[1];
        assert_true(eden_new_raw(w.m, w.bytes, i % 300) != EDEN_NONE);
    }
    verify(&w);
}

/* ---- auto ---- */

static enum eden_pretenured standing(const struct world *w, eden_class of) {
    return (enum eden_pretenured)heap_class(w->heap, eden_class_index(of))->pretenured;
}

/* Objects of two classes: bytes die at once; of `keeper` each is in a ring until `keep` later ones have taken its
 * place. */
static void work(const struct world *w, const eden_value *ring, eden_class keeper, size_t count, size_t keep) {
    static size_t at;
    for (size_t i = 0; i < count; i++) {
        eden_slot_set(w->m, *ring, at++ % keep, eden_new(w->m, keeper));
        eden_new_raw(w->m, w->bytes, 40);
    }
}

TEST(auto_learns_what_lives_and_unlearns_it) {
    WORLD(w, "eden_size=256K,pretenure=auto,grow_headroom=256K");
    EDEN_FRAME(w.m, local, 2);
    local[0] = eden_new_slots(w.m, w.array, 200000);
    work(&w, local, w.pair, 100000, 200000);
    assert_int_equal(standing(&w, w.pair), EDEN_PRETENURED_LEARNT);
    assert_int_equal(standing(&w, w.bytes), EDEN_PRETENURED_NOT);
    /* It is tenured at its first scavenge. */
    local[1] = eden_new(w.m, w.pair);
    assert_false(is_old(&w, local[1]));
    eden_scavenge(w.m);
    assert_true(is_old(&w, local[1]));
    /* Now its objects die soon after their first scavenge. */
    local[0] = eden_new_slots(w.m, w.array, 200000);
    for (int i = 0; i < 400 && standing(&w, w.pair) == EDEN_PRETENURED_LEARNT; i++) {
        work(&w, local, w.pair, 2000, 3000);
    }
    assert_int_equal(standing(&w, w.pair), EDEN_PRETENURED_NOT);
    verify(&w);
}

TEST(auto_survives_refused_memory) {
    for (int overflow = 0; overflow < 2; overflow++) {
        WORLD(w, overflow ? "eden_size=64K,pretenure=auto,max_heap=1M"
                          : "eden_size=64K,pretenure=auto,max_heap=1M,compat.overflow=scan-order");
        for (int round = 0; round < 5; round++) {
            EDEN_FRAME(w.m, local, 2);
            while ((local[1] = eden_new(w.m, w.pair)) != EDEN_NONE) {
                eden_slot_set(w.m, local[1], 0, local[0]);
                local[0] = local[1];
            }
            verify(&w);
            local[0] = EDEN_NONE;
            eden_full_collect(w.m);
        }
    }
}

SUITE(clear_options, NULL)
