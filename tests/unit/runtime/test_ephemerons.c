/* Ephemerons and weak objects, in scavenges and full collections. */
#include "support.h"

struct mourning {
    struct world w;
    eden_class ephemeron; /* key, value */
    eden_class weak;      /* 1 strong slot, then weak ones */
};

static void make(struct mourning *t, const char *parameters) {
    world_make(&t->w, parameters);
    t->ephemeron = define_class(t->w.heap, "Ephemeron", EDEN_FORMAT_EPHEMERON, 2);
    t->weak = define_class(t->w.heap, "Weak", EDEN_FORMAT_WEAK, 1);
}

static void end(struct mourning *t) { world_end(&t->w); }

enum how { SCAVENGE, FULL };
static void collect(const struct mourning *t, enum how how) {
    if (how == SCAVENGE) {
        eden_scavenge(t->w.m);
    } else {
        eden_full_collect(t->w.m);
    }
    verify(&t->w);
}

/* An ephemeron in local[to], of the key in local[key] and a new value that holds n. */
static void make_ephemeron(const struct mourning *t, eden_value *local, size_t to, size_t key, int n) {
    local[to] = eden_new(t->w.m, t->ephemeron);
    eden_slot_set(t->w.m, local[to], 0, local[key]);
    eden_value value = eden_new(t->w.m, t->w.pair);
    eden_slot_set(t->w.m, value, 0, eden_int(n));
    eden_slot_set(t->w.m, local[to], 1, value);
}

/* policy=fixed: all stays young, so that a scavenge finds the key dead. */
TEST(lives_while_its_key_lives) {
    for (int how = SCAVENGE; how <= FULL; how++) {
        struct mourning t __attribute__((cleanup(end)));
        make(&t, "policy=fixed,eden_size=1M");
        EDEN_FRAME(t.w.m, local, 2);
        local[1] = eden_new(t.w.m, t.w.pair);
        make_ephemeron(&t, local, 0, 1, 42);
        for (int i = 0; i < 3; i++) {
            collect(&t, (enum how)how);
            assert_true(eden_slot(local[0], 0) == local[1]);
            assert_int_equal(eden_int_value(eden_slot(eden_slot(local[0], 1), 0)), 42);
            assert_int_equal(eden_mourn_count(t.w.m), 0);
            assert_true(eden_mourn_next(t.w.m) == EDEN_NONE);
        }
        local[1] = EDEN_NONE; /* the key is now held by the ephemeron alone */
        collect(&t, (enum how)how);
        assert_int_equal(figures_of(&t.w).mourned, 1);
        assert_int_equal(eden_mourn_count(t.w.m), 1);
        assert_true(eden_mourn_next(t.w.m) == local[0]);
        assert_int_equal(eden_mourn_count(t.w.m), 0);
        assert_true(eden_mourn_next(t.w.m) == EDEN_NONE);
        /* Mourned, it holds key and value like any object, and is mourned once only. */
        collect(&t, (enum how)how);
        assert_true(eden_is_object(eden_slot(local[0], 0)));
        assert_int_equal(eden_int_value(eden_slot(eden_slot(local[0], 1), 0)), 42);
        assert_int_equal(figures_of(&t.w).mourned, 1);
    }
}

/* The value refers to the key: that does not keep the key alive. */
TEST(value_does_not_keep_its_key) {
    for (int how = SCAVENGE; how <= FULL; how++) {
        struct mourning t __attribute__((cleanup(end)));
        make(&t, "eden_size=1M");
        EDEN_FRAME(t.w.m, local, 2);
        local[1] = eden_new(t.w.m, t.w.pair);
        make_ephemeron(&t, local, 0, 1, 1);
        eden_slot_set(t.w.m, eden_slot(local[0], 1), 1, local[1]);
        local[1] = EDEN_NONE;
        collect(&t, (enum how)how);
        assert_int_equal(figures_of(&t.w).mourned, 1);
    }
}

TEST(immediate_keys_live_for_ever) {
    struct mourning t __attribute__((cleanup(end)));
    make(&t, "eden_size=1M");
    EDEN_FRAME(t.w.m, local, 2);
    local[1] = eden_int(7);
    make_ephemeron(&t, local, 0, 1, 3);
    collect(&t, SCAVENGE);
    collect(&t, FULL);
    assert_int_equal(figures_of(&t.w).mourned, 0);
    assert_int_equal(eden_int_value(eden_slot(eden_slot(local[0], 1), 0)), 3);
}

/* An unreachable ephemeron is garbage: it is not mourned. */
TEST(dead_ephemerons_are_not_mourned) {
    struct mourning t __attribute__((cleanup(end)));
    make(&t, "eden_size=1M");
    EDEN_FRAME(t.w.m, local, 2);
    local[1] = eden_new(t.w.m, t.w.pair);
    make_ephemeron(&t, local, 0, 1, 3);
    local[0] = local[1] = EDEN_NONE;
    collect(&t, SCAVENGE);
    collect(&t, FULL);
    assert_int_equal(figures_of(&t.w).mourned, 0);
    assert_true(eden_mourn_next(t.w.m) == EDEN_NONE);
}

/* Old ephemeron, young key. */
TEST(old_ephemeron_dies_with_its_young_key) {
    struct mourning t __attribute__((cleanup(end)));
    make(&t, "eden_size=1M");
    EDEN_FRAME(t.w.m, local, 2);
    local[1] = eden_int(0);
    make_ephemeron(&t, local, 0, 1, 9);
    local[0] = eden_pin(t.w.m, local[0]);
    assert_true(is_old(&t.w, local[0]));
    local[1] = eden_new(t.w.m, t.w.pair);
    eden_slot_set(t.w.m, local[0], 0, local[1]);
    collect(&t, SCAVENGE);
    assert_true(eden_slot(local[0], 0) == local[1]);
    assert_int_equal(figures_of(&t.w).mourned, 0);
    local[1] = EDEN_NONE;
    collect(&t, SCAVENGE);
    assert_true(eden_mourn_next(t.w.m) == local[0]);
    assert_int_equal(eden_int_value(eden_slot(eden_slot(local[0], 1), 0)), 9);
}

/* Several ephemerons of one key are mourned together. */
TEST(all_ephemerons_of_one_key_die_together) {
    for (int how = SCAVENGE; how <= FULL; how++) {
        struct mourning t __attribute__((cleanup(end)));
        make(&t, "eden_size=1M");
        EDEN_FRAME(t.w.m, local, 3);
        local[2] = eden_new_slots(t.w.m, t.w.array, 100);
        local[1] = eden_new(t.w.m, t.w.pair);
        for (size_t i = 0; i < 100; i++) {
            make_ephemeron(&t, local, 0, 1, (int)i);
            eden_slot_set(t.w.m, local[2], i, local[0]);
        }
        collect(&t, (enum how)how);
        assert_int_equal(figures_of(&t.w).mourned, 0);
        local[1] = EDEN_NONE;
        collect(&t, (enum how)how);
        assert_int_equal(figures_of(&t.w).mourned, 100);
        for (size_t i = 0; i < 100; i++) {
            eden_value mourner = eden_mourn_next(t.w.m);
            assert_true(eden_is_object(mourner));
            assert_true(eden_slot(mourner, 0) == eden_slot(eden_slot(local[2], 0), 0));
        }
        assert_true(eden_mourn_next(t.w.m) == EDEN_NONE);
    }
}

/* A chain of keys: the value of each ephemeron is the key of the next, and they are in an array in any order. */
static void chain(enum how how, const size_t *order, size_t count, bool alive) {
    struct mourning t __attribute__((cleanup(end)));
    make(&t, "eden_size=64M");
    EDEN_FRAME(t.w.m, local, 4);
    local[0] = eden_new_slots(t.w.m, t.w.array, count);
    local[1] = eden_new(t.w.m, t.w.pair); /* the first key */
    local[2] = local[1];
    for (size_t i = 0; i < count; i++) {
        local[3] = eden_new(t.w.m, t.ephemeron);
        eden_slot_set(t.w.m, local[3], 0, local[2]);
        local[2] = eden_new(t.w.m, t.w.pair);
        eden_slot_set(t.w.m, local[2], 0, eden_int((int64_t)i));
        eden_slot_set(t.w.m, local[3], 1, local[2]);
        eden_slot_set(t.w.m, local[0], order[i], local[3]);
    }
    local[2] = local[3] = EDEN_NONE;
    if (!alive) {
        local[1] = EDEN_NONE;
    }
    collect(&t, how);
    assert_int_equal(figures_of(&t.w).mourned, alive ? 0 : count);
    for (size_t i = 0; i < count; i++) {
        eden_value ephemeron = eden_slot(local[0], order[i]);
        assert_int_equal(eden_int_value(eden_slot(eden_slot(ephemeron, 1), 0)), i);
        assert_true(i == 0 || eden_slot(ephemeron, 0) == eden_slot(eden_slot(local[0], order[i - 1]), 1));
    }
}

TEST(chains_of_keys_are_followed_in_any_order) {
    enum { COUNT = TEST_SANITIZED ? 20000 : 277777 };
    size_t *order __attribute__((cleanup(free_at))) = malloc(COUNT * sizeof *order);
    assert_non_null(order);
    for (int kind = 0; kind < 3; kind++) {
        uint32_t seed = 1;
        for (size_t i = 0; i < COUNT; i++) {
            order[i] = kind == 1 ? COUNT - 1 - i : i;
        }
        for (size_t i = COUNT; kind == 2 && i-- > 1;) {
            seed = seed * 1664525u + 1013904223u;
            size_t j = (seed >> 8) % (i + 1), swapped = order[i];
            order[i] = order[j];
            order[j] = swapped;
        }
        for (int how = SCAVENGE; how <= FULL; how++) {
            chain((enum how)how, order, COUNT, true);
            chain((enum how)how, order, COUNT, false);
        }
    }
}

static bool refuse_waiting(void *context, size_t bytes, const char *what) {
    (void)bytes;
    return strcmp(what, context) != 0;
}

/* Without memory for the table the ephemeron counts as strong: nothing is mourned, nothing lost. */
TEST(without_memory_they_are_strong) {
    static char refused[] = "waiting ephemerons";
    struct mourning t __attribute__((cleanup(end)));
    eden_options options = {
        .parameters = "eden_size=1M", .memory_hook = refuse_waiting, .memory_hook_context = refused};
    world_make_with(&t.w, &options);
    t.ephemeron = define_class(t.w.heap, "Ephemeron", EDEN_FORMAT_EPHEMERON, 2);
    EDEN_FRAME(t.w.m, local, 2);
    local[1] = eden_new(t.w.m, t.w.pair);
    make_ephemeron(&t, local, 0, 1, 5);
    local[1] = EDEN_NONE;
    collect(&t, SCAVENGE);
    collect(&t, FULL);
    assert_int_equal(figures_of(&t.w).mourned, 0);
    assert_true(eden_is_object(eden_slot(local[0], 0)));
    strcpy(refused, "mourners");
    collect(&t, FULL);
    assert_int_equal(figures_of(&t.w).mourned, 0);
    strcpy(refused, "nothing");
    collect(&t, FULL);
    assert_int_equal(figures_of(&t.w).mourned, 1);
}

enum { MANY = 300000 }; /* more than the mark stack holds */

static void check_many(const struct mourning *t, const eden_value *local) {
    for (size_t i = 0; i < MANY; i++) {
        eden_value ephemeron = eden_slot(local[0], i);
        if (eden_slot(ephemeron, 0) != eden_slot(local[1], 0) ||
            eden_int_value(eden_slot(eden_slot(ephemeron, 1), 0)) != (int)i) {
            fail_msg("ephemeron %zu lost its key or value", i);
        }
    }
    assert_int_equal(figures_of(&t->w).mourned, 0);
}

/* All of them wait when their key is reached, at the end of a path, and find no room on the mark stack. */
TEST(more_released_than_the_stack_holds) {
    struct mourning t __attribute__((cleanup(end)));
    make(&t, "eden_size=80M,full_gc_ratio=inf,tenure_proportion=0,tenure_fill=1");
    EDEN_FRAME(t.w.m, local, 4);
    local[0] = eden_new_slots(t.w.m, t.w.array, MANY);
    local[3] = eden_new(t.w.m, t.w.pair);
    for (size_t i = 0; i < MANY; i++) {
        make_ephemeron(&t, local, 2, 3, (int)i);
        eden_slot_set(t.w.m, local[0], i, local[2]);
    }
    local[1] = eden_new(t.w.m, t.w.pair);
    eden_slot_set(t.w.m, local[1], 0, local[3]);
    local[2] = local[3] = EDEN_NONE;
    eden_scavenge(t.w.m); /* the ephemerons stay young */
    verify(&t.w);
    assert_false(is_old(&t.w, eden_slot(local[0], 0)));
    check_many(&t, local);
    set_parameter(&t.w, "tenure_fill", "0");
    set_parameter(&t.w, "tenure_proportion", "1");
    eden_scavenge(t.w.m);
    eden_scavenge(t.w.m); /* they become old */
    verify(&t.w);
    assert_true(is_old(&t.w, eden_slot(local[0], 0)));
    check_many(&t, local);
    local[3] = eden_new(t.w.m, t.w.pair);
    for (size_t i = 0; i < MANY; i++) {
        eden_slot_set(t.w.m, eden_slot(local[0], i), 0, local[3]);
        eden_value value = eden_new(t.w.m, t.w.pair);
        eden_slot_set(t.w.m, value, 0, eden_int((int)i));
        eden_slot_set(t.w.m, eden_slot(local[0], i), 1, value);
    }
    local[1] = eden_new(t.w.m, t.w.pair); /* a young path to a young key of old ephemerons */
    eden_slot_set(t.w.m, local[1], 0, local[3]);
    local[3] = EDEN_NONE;
    eden_scavenge(t.w.m);
    verify(&t.w);
    check_many(&t, local);
    for (int order = 0; order < 2; order++) { /* one of these has the ephemerons wait */
        eden_full_collect(t.w.m);
        verify(&t.w);
        check_many(&t, local);
        local[2] = local[1]; /* visited later */
        local[1] = local[0];
        local[0] = local[2];
        eden_full_collect(t.w.m);
        local[2] = local[0];
        local[0] = local[1];
        local[1] = local[2];
        check_many(&t, local);
        local[2] = EDEN_NONE;
    }
}

/* A dead young ephemeron, in four slots of an old weak object, is counted four times by the census of `remembered`: in
 * header bits, one of them grey elsewhere. A stack that overflows must not take it for reached. */
TEST(counted_is_not_grey) {
    struct mourning t __attribute__((cleanup(end)));
    make(&t, "eden_size=1M,tenure_criterion=remembered");
    EDEN_FRAME(t.w.m, local, 6);
    local[0] = eden_pin(t.w.m, eden_new_slots(t.w.m, t.weak, 8));
    local[1] = eden_new_slots(t.w.m, t.w.array, 3);
    local[2] = eden_new(t.w.m, t.w.pair); /* a key, at the end of a path */
    for (size_t i = 0; i < 3; i++) {
        make_ephemeron(&t, local, 3, 2, (int)i);
        eden_slot_set(t.w.m, local[1], i, local[3]);
    }
    local[3] = eden_new(t.w.m, t.w.pair);
    eden_slot_set(t.w.m, local[3], 0, local[2]);
    for (int i = 0; i < 6; i++) {
        local[2] = eden_new(t.w.m, t.w.pair);
        eden_slot_set(t.w.m, local[2], 0, local[3]);
        local[3] = local[2];
    }
    local[5] = eden_new(t.w.m, t.w.pair);
    make_ephemeron(&t, local, 4, 5, 7);
    for (size_t i = 1; i < 5; i++) {
        eden_slot_set(t.w.m, local[0], i, local[4]);
    }
    local[2] = local[4] = local[5] = EDEN_NONE;
    t.w.heap->mark_stack.room = 1;
    eden_scavenge(t.w.m);
    verify(&t.w);
    assert_int_equal(figures_of(&t.w).mourned, 0);
    for (size_t i = 1; i < 5; i++) {
        assert_true(eden_slot(local[0], i) == EDEN_NONE);
    }
}

/* Each is found only when the one before has fired: a collector that looks at all again each time would take hours. */
TEST(each_found_by_the_death_of_another) {
    for (int how = SCAVENGE; how <= FULL; how++) {
        struct mourning t __attribute__((cleanup(end)));
        make(&t, "eden_size=80M,full_gc_ratio=inf,tenure_proportion=0,tenure_fill=1");
        EDEN_FRAME(t.w.m, local, 3);
        local[0] = eden_new(t.w.m, t.w.pair);
        for (size_t i = 0; i < MANY; i++) {
            local[1] = eden_new(t.w.m, t.w.pair);
            make_ephemeron(&t, local, 2, 1, (int)i);
            eden_slot_set(t.w.m, eden_slot(local[2], 1), 1, local[0]);
            local[0] = local[2];
        }
        local[1] = local[2] = EDEN_NONE;
        collect(&t, (enum how)how);
        assert_int_equal(figures_of(&t.w).mourned, MANY);
        for (size_t i = MANY; i-- > 0; local[0] = eden_slot(eden_slot(local[0], 1), 1)) {
            if (eden_int_value(eden_slot(eden_slot(local[0], 1), 0)) != (int)i || eden_mourn_next(t.w.m) != local[0]) {
                fail_msg("ephemeron %zu is not the next to mourn", i);
            }
        }
    }
}

TEST(weak_slots_forget_the_dead) {
    for (int how = SCAVENGE; how <= FULL; how++) {
        struct mourning t __attribute__((cleanup(end)));
        make(&t, "eden_size=1M");
        EDEN_FRAME(t.w.m, local, 3);
        local[0] = eden_new_slots(t.w.m, t.weak, 300);
        local[1] = eden_new(t.w.m, t.w.pair);
        eden_slot_set(t.w.m, local[0], 0, eden_new(t.w.m, t.w.pair)); /* strong */
        eden_slot_set(t.w.m, local[0], 1, local[1]);
        eden_slot_set(t.w.m, local[0], 2, eden_new(t.w.m, t.w.pair));
        eden_slot_set(t.w.m, local[0], 3, eden_int(3));
        eden_slot_set(t.w.m, local[0], 300, eden_slot(local[0], 0));
        collect(&t, (enum how)how);
        assert_true(eden_is_object(eden_slot(local[0], 0)));
        assert_true(eden_slot(local[0], 1) == local[1]);
        assert_true(eden_slot(local[0], 2) == EDEN_NONE);
        assert_true(eden_slot(local[0], 3) == eden_int(3));
        assert_true(eden_slot(local[0], 300) == eden_slot(local[0], 0));
        /* Old weak object, young referent. */
        local[0] = eden_pin(t.w.m, local[0]);
        eden_slot_set(t.w.m, local[0], 2, eden_new(t.w.m, t.w.pair));
        local[2] = eden_new(t.w.m, t.w.pair);
        eden_slot_set(t.w.m, local[0], 4, local[2]);
        collect(&t, (enum how)how);
        assert_true(eden_slot(local[0], 2) == EDEN_NONE);
        assert_true(eden_slot(local[0], 4) == local[2]);
    }
}
