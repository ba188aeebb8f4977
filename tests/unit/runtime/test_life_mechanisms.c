/* The mechanisms of death: each against the truth, against each other object by object, and against a program that must
 * not notice them. */
#include "eden_values.h"
#include "life_truth.h"

enum { STEP = 14 }; /* the oracle's, log2 of bytes: above the size of any object */

static uint64_t by(enum eden_mechanism mechanism, uint64_t mail) {
    return mail | (uint64_t)mechanism << EDEN_CONTROL_MECHANISM_SHIFT | (uint64_t)STEP << EDEN_CONTROL_STEP_SHIFT;
}

static uint64_t all_by(enum eden_mechanism mechanism) {
    return by(mechanism, mail(EDEN_SAMPLE_OBJECTS, 1, EDEN_CONTROL_OBJECTS));
}

static void check_whole(enum eden_mechanism mechanism) {
    assert_int_equal(truth.state.mechanism, mechanism);
    assert_int_equal(truth.births, truth.count);
    for (size_t i = 0; i < truth.count; i++) {
        assert_true(truth.made[i].is_reported);
    }
    assert_true(truth.deaths > truth.count / 2);
    assert_true(truth.censored > 0);
}

static uint64_t last_death(void) {
    uint64_t last = 0;
    for (size_t i = 0; i < truth.count; i++) {
        const struct made *made = &truth.made[i];
        last = !made->is_censored && made->reported_death > last ? made->reported_death : last;
    }
    return last;
}

/* vm's and the oracle's intervals both contain the true death; each is measured in allocation. */
TEST(exact_object_by_object) {
    static struct made oracle[MOST];
    for (size_t h = 0; h < HEAPS; h++) {
        run(heaps[h], all_by(EDEN_MECHANISM_ORACLE), objects_for(heaps[h]));
        check_whole(EDEN_MECHANISM_ORACLE);
        assert_int_equal(truth.state.step, STEP);
        assert_true(truth.state.passes > truth.made[truth.count - 1].birth >> STEP);
        assert_true(truth.widest <= 1u << STEP);
        memcpy(oracle, truth.made, truth.count * sizeof *oracle);
        uint64_t last_pass = last_death();
        for (int m = 0; m < EDEN_MECHANISM_ORACLE; m++) {
            run(heaps[h], all_by((enum eden_mechanism)m), objects_for(heaps[h]));
            check_whole((enum eden_mechanism)m);
            assert_int_equal(truth.state.passes, 0);
            for (size_t i = 0; i < truth.count; i++) {
                const struct made *exact = &oracle[i], *made = &truth.made[i];
                assert_int_equal(made->birth, exact->birth);
                assert_int_equal(made->site, exact->site);
                assert_int_equal(made->death, exact->death);
                if (!made->is_censored) {
                    assert_true(exact->reported_last <= made->reported_death);
                    assert_true(!exact->is_censored || exact->death >= last_pass);
                }
                assert_true(exact->is_censored || made->reported_last <= exact->reported_death);
            }
        }
    }
}

/* The oracle misses only what was dropped after its last pass. */
TEST(oracle_finds_all) {
    run(heaps[0], all_by(EDEN_MECHANISM_ORACLE), 60000);
    uint64_t last = last_death();
    for (size_t i = 0; i < truth.count; i++) {
        assert_true(!truth.made[i].is_censored || truth.made[i].death >= last);
    }
}

/* A dead old object holds a young one: the collections say so; for the oracle both died together. */
TEST(nepotism_is_reported) {
    for (int m = 0; m < EDEN_MECHANISMS; m++) {
        for (int full = 0; full < 2; full++) { /* found young, or tenured by the full collection's own scavenge */
            listen();
            WORLD(w, "eden_size=1M,tenure_fill=1");
            begin_anew(&w, all_by((enum eden_mechanism)m));
            EDEN_FRAME(w.m, local, 1);
            uint64_t birth = bytes_now(&w);
            local[0] = eden_new(w.m, w.pair);
            note(&w, birth, local[0], 0);
            make_old(&w, &local[0]);
            if (full == 0) {
                set_parameter(&w, "tenure_criterion", "never");
            }
            birth = bytes_now(&w);
            eden_value held = eden_new(w.m, w.pair);
            note(&w, birth, held, 0);
            eden_slot_set(w.m, local[0], 1, held);
            eden_scavenge(w.m);
            assert_true(eden_is_young(w.m, eden_slot(local[0], 1)));
            local[0] = EDEN_NONE;
            truth.made[0].death = truth.made[1].death = bytes_now(&w);
            eden_full_collect(w.m);
            assert_int_equal(truth.deaths, 2);
            assert_int_equal(truth.nepotism, m == EDEN_MECHANISM_ORACLE ? 0 : 1);
            assert_int_equal(truth.tenured, m == EDEN_MECHANISM_ORACLE ? 1 : 1 + full);
            assert_int_equal(truth.made[1].reported_death, bytes_now(&w));
            eden_batch_semaphore = 0;
        }
    }
}

TEST(all_see_tenuring) {
    for (int m = 0; m < EDEN_MECHANISMS; m++) {
        run(heaps[0], all_by((enum eden_mechanism)m), 60000);
        assert_true(truth.tenured > 100);
        assert_true(truth.nepotism == 0 || m != EDEN_MECHANISM_ORACLE);
    }
}

TEST(every_sampling_accounts_for_all_births) {
    static const struct {
        enum eden_sampling sampling;
        uint64_t rate;
        double tolerance; /* five standard errors of the estimated number of objects */
    } ways[] = {
        {EDEN_SAMPLE_BYTES, 2000, 0.15}, {EDEN_SAMPLE_OBJECTS, 1, 0},  {EDEN_SAMPLE_OBJECTS, 2, 0.025},
        {EDEN_SAMPLE_OBJECTS, 100, 0.3}, {EDEN_SAMPLE_NTH, 10, 0.002}, {EDEN_SAMPLE_REFILL, 2000, 0.2},
    };
    for (int m = 0; m < EDEN_MECHANISMS; m++) {
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            for (size_t h = 0; h < HEAPS; h += 5) {
                uint64_t asked = by((enum eden_mechanism)m, mail(ways[i].sampling, ways[i].rate, 0));
                bool by_object = ways[i].sampling == EDEN_SAMPLE_OBJECTS && ways[i].rate != 1; /* in stretches */
                run(heaps[h], asked, objects_for(heaps[h]) * (by_object ? 4 : 1));
                assert_int_equal(truth.ended_weight, truth.weight);
                double share = (double)truth.weight / EDEN_WEIGHT_ONE / (double)truth.count;
                double off = share < 1 ? 1 - share : share - 1;
                if (off > ways[i].tolerance * (h == 0 ? 1 : 5)) {
                    fail_msg("%s, sampling %d: %zu objects are estimated to be %.2f as many",
                             eden_mechanism_name((uint64_t)m), (int)ways[i].sampling, truth.count, share);
                }
                run(heaps[h], asked | EDEN_CONTROL_OBJECTS, objects_for(heaps[h]) / 3);
            }
        }
        /* 1 ms open, none closed, and back: how many objects that are is a matter of time. */
        run(heaps[1], by((enum eden_mechanism)m, mail(EDEN_SAMPLE_WINDOW, 1u << 24 | 1, 0)), 100000);
        assert_true(truth.births > 0 && truth.births <= truth.count);
    }
}

/* ---- what the program must not notice ---- */

enum { NOTICED = 4000 };
struct noticed {
    uint64_t mourned[NOTICED];
    size_t count;
    eden_figures figures;
    uint32_t next_class;
};

/* Objects with ephemerons of the program's own: some keys live, some die; some are held by sampled objects that are
 * dead, some ephemerons are themselves such objects' only, some values hold further keys; some keys have two. */
static void mourn(uint64_t mail, bool listened, struct noticed *noticed) {
    enum { ROUNDS = 60, KEYS = 12 };
    WORLD(w, "eden_size=4M,full_gc_ratio=inf");
    eden_class ephemeron = define_class(w.heap, "Ephemeron", EDEN_FORMAT_EPHEMERON, 2);
    if (listened) {
        begin_anew(&w, mail);
    } else {
        eden_scavenge(w.m);
        eden_scavenge(w.m);
    }
    uint64_t random = 7;
    memset(noticed, 0, sizeof *noticed);
    EDEN_FRAME(w.m, local, 3 + KEYS);
    local[0] = eden_new_slots(w.m, w.array, KEYS * 4); /* ephemerons that are held */
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < KEYS; i++) {
            uint64_t r = next_random(&random);
            if ((r & 3) != 0) {
                local[3 + i] = eden_new(w.m, w.pair);
                eden_slot_set(w.m, local[3 + i], 0, eden_int(round * KEYS + (int)i));
                eden_slot_set(w.m, local[3 + i], 1, local[3 + (r >> 8) % KEYS]);
            }
            for (uint64_t n = r >> 16 & 3; n != 0; n--) {
                local[1] = eden_new(w.m, ephemeron);
                eden_slot_set(w.m, local[1], 0, local[3 + i]);
                local[2] = eden_new(w.m, w.pair);
                eden_slot_set(w.m, local[2], 1, eden_slot(local[0], (r >> 24) % (KEYS * 4)));
                eden_slot_set(w.m, local[1], 1, local[2]);
                eden_slot_set(w.m, local[0], (r >> (32 + 2 * n)) % (KEYS * 4), local[1]);
            }
        }
        local[1] = local[2] = EDEN_NONE;
        if (round % 7 == 6) {
            eden_full_collect(w.m);
        } else {
            eden_scavenge(w.m);
        }
        eden_value gone;
        while (round % 3 == 2 && (gone = eden_mourn_next(w.m)) != EDEN_NONE) {
            eden_value key = eden_slot(gone, 0);
            assert_true(noticed->count < NOTICED);
            noticed->mourned[noticed->count++] =
                eden_is_object(key) ? (uint64_t)eden_int_value(eden_slot(key, 0)) : UINT64_MAX;
        }
        verify(&w);
    }
    noticed->figures = figures_of(&w);
    eden_class late = define_class(w.heap, "Late", EDEN_FORMAT_FIXED, 1);
    assert_string_equal(eden_class_name(w.heap, late), "Late");
    noticed->next_class = w.heap->next_class;
    eden_batch_semaphore = 0;
}

TEST(program_mourns_the_same) {
    static struct noticed alone, watched;
    mourn(0, false, &alone);
    assert_true(alone.count > 100);
    for (int m = 0; m < EDEN_MECHANISMS; m++) {
        truth.count = 0;
        mourn(by((enum eden_mechanism)m, mail(EDEN_SAMPLE_OBJECTS, 1, 0)), true, &watched);
        assert_int_equal(truth.state.mechanism, m);
        assert_int_equal(watched.count, alone.count);
        assert_memory_equal(watched.mourned, alone.mourned, alone.count * sizeof *alone.mourned);
        assert_int_equal(watched.figures.mourned, alone.figures.mourned);
        assert_int_equal(watched.figures.allocated_bytes, alone.figures.allocated_bytes);
        assert_int_equal(watched.figures.scavenges, alone.figures.scavenges);
        assert_int_equal(watched.next_class, alone.next_class);
        if (m == EDEN_MECHANISM_VM || m == EDEN_MECHANISM_ORACLE) {
            assert_int_equal(watched.figures.survived_bytes, alone.figures.survived_bytes);
            assert_int_equal(watched.figures.tenured_objects, alone.figures.tenured_objects);
            assert_int_equal(watched.figures.remembered, alone.figures.remembered);
        }
    }
}

/* A pass changes not a bit of the heap, whatever it meets: pinned, remembered, weak, grey for want of stack. */
static void add_count(void *context, struct tracked_list *lives) { *(size_t *)context += lives->count; }

TEST(a_pass_leaves_no_trace) {
    enum { WIDE = 100000 };
    listen();
    WORLD(w, "eden_size=8M,large_object=4096");
    eden_class weak = define_class(w.heap, "Weak", EDEN_FORMAT_WEAK, 1);
    begin_anew(&w, by(EDEN_MECHANISM_ORACLE, mail(EDEN_SAMPLE_OBJECTS, 1, 0)));
    EDEN_FRAME(w.m, local, 4);
    local[0] = eden_new_slots(w.m, w.array, WIDE);
    for (size_t i = 0; i < WIDE; i++) { /* more than the stack takes, two levels deep */
        local[1] = eden_new(w.m, w.pair);
        eden_slot_set(w.m, local[0], i, local[1]);
        eden_value below = eden_new(w.m, w.empty);
        eden_slot_set(w.m, eden_slot(local[0], i), 0, below);
    }
    local[2] = eden_new_slots(w.m, weak, 2);
    eden_value lost = eden_new(w.m, w.pair);
    eden_slot_set(w.m, local[2], 1, lost);
    local[3] = eden_pin(w.m, eden_slot(local[0], 7));
    uint64_t deaths = profile_of(w.heap)->oracle.passes;
    size_t bytes = w.heap->mutator.free - w.heap->eden.start;
    size_t old_bytes = w.heap->old.segments[0].limit - w.heap->old.segments[0].start;
    unsigned char *eden = malloc(bytes), *old = malloc(old_bytes);
    memcpy(eden, (void *)w.heap->eden.start, bytes);
    memcpy(old, (void *)w.heap->old.segments[0].start, old_bytes);
    eden_figures before = figures_of(&w), after;
    struct mark_stack stack = w.heap->mark_stack;
    OBSERVE(w.heap, before_scavenge);
    after = figures_of(&w);
    assert_int_equal(profile_of(w.heap)->oracle.passes, deaths + 1);
    assert_memory_equal(eden, (void *)w.heap->eden.start, bytes);
    assert_memory_equal(old, (void *)w.heap->old.segments[0].start, old_bytes);
    assert_memory_equal(&before, &after, sizeof after);
    assert_memory_equal(&stack, &w.heap->mark_stack, sizeof stack);
    free(eden);
    free(old);
    /* All that is held was found: only what the weak slot had is dead, and perhaps what the pin moved. */
    size_t held = profile_of(w.heap)->pending.count + profile_of(w.heap)->young.count;
    old_objects_each(profile_of(w.heap), add_count, &held);
    assert_int_equal(held, 2 * WIDE + 2);
    eden_batch_semaphore = 0;
}

/* ---- memory refused ---- */

struct scarce {
    struct refusal refusal;
    bool all; /* or only what is the profile's */
};

static bool is_scarce(void *context, size_t bytes, const char *what) {
    struct scarce *scarce = context;
    static const char *const many[] = {"profile",           "segment",         "segment table", "remembered set",
                                       "compaction tables", "compaction gaps", "overflow"};
    bool counts = false;
    for (size_t i = 0; i < (scarce->all ? sizeof many / sizeof many[0] : 1); i++) {
        counts |= strcmp(what, many[i]) == 0;
    }
    return !counts || refuse_some(&scarce->refusal, bytes, what);
}

TEST(refused_memory_loses_objects_and_counts_them) {
    for (int m = 0; m < EDEN_MECHANISMS; m++) {
        uint64_t lost = 0;
        for (long from = 1; from < 400; from += from < 60 ? 1 : 29) {
            for (int all = 0; all < 2; all++) {
                struct scarce scarce = {{from + 12 * all, from + 12 * all + (from & 1 ? 0 : 30), 0}, all != 0};
                eden_options options = {"test", heaps[from & 1], is_scarce, &scarce};
                run_with(&options, all_by((enum eden_mechanism)m), 6000);
                if (truth.state.ended != 0 &&
                    truth.state.begun_bytes <= truth.made[0].birth) { /* one profile for all */
                    assert_true(truth.births <= truth.count && truth.births + truth.state.lost >= truth.count);
                }
                lost += truth.state.lost;
            }
        }
        assert_true(lost != 0);
    }
}

/* A listener comes and goes, with another mechanism each time: what one profile has left in the heap is no other's. */
TEST(profiles_one_after_the_other_leave_nothing_behind) {
    for (size_t h = 0; h < HEAPS; h++) {
        listen();
        WORLD(w, heaps[h]);
        EDEN_FRAME(w.m, local, 1);
        local[0] = eden_new_slots(w.m, w.array, SLOTS);
        for (int i = 0; i < 24; i++) {
            begin_anew(&w, by((enum eden_mechanism)(i * 7 % 4), mail(EDEN_SAMPLE_OBJECTS, 1 + (uint64_t)i % 2, 0)));
            assert_int_equal(truth.state.mechanism, i * 7 % 4);
            for (size_t slot = 0; slot < SLOTS; slot++) {
                eden_slot_set(w.m, local[0], slot, EDEN_NONE);
            }
            churn(&w, &local[0], objects_for(heaps[h]) / 10);
            eden_batch_semaphore = 0;
            if (i % 3 == 0) {
                eden_full_collect(w.m); /* the profile goes as it starts */
            }
            eden_scavenge(w.m);
            assert_null(profile_of(w.heap));
            churn(&w, &local[0], objects_for(heaps[h]) / 10);
            verify(&w);
        }
    }
}

/* Where the program's classes take the whole table, there is none for ephemerons: the collections do it. */
TEST(without_a_class_for_ephemerons_collections_do_it) {
    listen();
    WORLD(w, "eden_size=64K");
    uint32_t before = w.heap->next_class;
    w.heap->next_class = EDEN_CLASS_LIMIT;
    begin_anew(&w, all_by(EDEN_MECHANISM_EPHEMERON));
    assert_int_equal(truth.state.mechanism, EDEN_MECHANISM_VM);
    w.heap->next_class = before;
    begin_anew(&w, all_by(EDEN_MECHANISM_EPHEMERON));
    assert_int_equal(truth.state.mechanism, EDEN_MECHANISM_EPHEMERON);
    w.heap->next_class = EDEN_CLASS_LIMIT - 1;
    eden_error error = {EDEN_OK, ""};
    assert_true(eden_class_define(w.heap, &(eden_class_definition){"Last", EDEN_FORMAT_EMPTY, 0}, &error) == 0);
    assert_int_equal(error.status, EDEN_NO_MEMORY);
    w.heap->next_class = before;
    eden_batch_semaphore = 0;
}

/* ---- what it is for ---- */

/* Three classes: of one all die at once, of one some are kept for a while, of one for long. Or, kept longer. */
static void work(uint64_t mail, size_t kept, double means[3]) {
    enum { KEEP = 4000 };
    listen();
    uint32_t site[3];
    {
        WORLD(w, "eden_size=128K,grow_headroom=256K");
        eden_class of[3];
        begin_anew(&w, mail);
        for (int i = 0; i < 3; i++) {
            of[i] = define_class(w.heap, i == 0 ? "Short" : i == 1 ? "Middle" : "Long", EDEN_FORMAT_FIXED, 3);
            site[i] = eden_class_index(of[i]);
        }
        EDEN_FRAME(w.m, local, 2);
        local[0] = eden_new_slots(w.m, w.array, KEEP);
        local[1] = eden_new_slots(w.m, w.array, KEEP);
        for (size_t i = 0; i < 200000; i++) {
            assert_true(eden_new(w.m, of[0]) != EDEN_NONE);
            eden_value middle = eden_new(w.m, of[1]);
            eden_slot_set(w.m, local[0], i % kept, middle);
            if (i % 4 == 0) {
                eden_value longest = eden_new(w.m, of[2]);
                eden_slot_set(w.m, local[1], i / 4 % KEEP, longest);
            }
            if (i % 15000 == 0) {
                eden_full_collect(w.m);
            }
        }
    }
    eden_batch_semaphore = 0;
    for (int i = 0; i < 3; i++) {
        assert_true(truth.class_deaths[site[i]] != 0);
        means[i] = (double)truth.class_lifetimes[site[i]] / (double)truth.class_deaths[site[i]];
    }
}

TEST(keeping_is_seen) {
    static const uint64_t rates[] = {1, 2, 100, 1000};
    for (int m = 0; m < EDEN_MECHANISMS; m++) {
        for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
            double before[3], after[3];
            uint64_t asked = by((enum eden_mechanism)m, mail(EDEN_SAMPLE_OBJECTS, rates[i], 0));
            work(asked, 10, before);
            work(asked, 2000, after);
            assert_true(after[1] > 1.2 * before[1]);
            assert_true(before[2] > before[1] && after[2] > after[1]);
            assert_true(after[1] > after[0]);
            /* The share of long-lived objects stays the same, within the error of so few samples. */
            double tolerance = rates[i] <= 2 ? 0.1 : rates[i] == 100 ? 0.15 : 0.4;
            if (after[2] > before[2] * (1 + tolerance) || before[2] > after[2] * (1 + tolerance)) {
                fail_msg("%s, 1/%d: long-lived from %.0f to %.0f", eden_mechanism_name((uint64_t)m), (int)rates[i],
                         before[2], after[2]);
            }
        }
    }
}

/* Every tenth object is large: sampled every tenth, all are large or none; at random, a tenth. */
TEST(a_period_fools_counting_only) {
    static const uint64_t ways[] = {EDEN_SAMPLE_NTH | 10u << 8, EDEN_SAMPLE_OBJECTS | 10u << 8,
                                    EDEN_SAMPLE_BYTES | 2000u << 8};
    for (int m = 0; m < EDEN_MECHANISMS; m++) {
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            uint64_t asked = by((enum eden_mechanism)m, mail((enum eden_sampling)(ways[i] & 15), ways[i] >> 8, 0));
            double bytes = 0, births = 0;
            {
                listen();
                WORLD(w, "eden_size=256K");
                begin_anew(&w, asked);
                for (size_t n = 0; n < 200000; n++) {
                    assert_true(eden_new_raw(w.m, w.words64, n % 10 == 3 ? 100 : 1) != EDEN_NONE);
                }
                eden_scavenge(w.m);
                births = (double)truth.weight / EDEN_WEIGHT_ONE;
                bytes = (double)truth.state.allocated_bytes / births;
                eden_batch_semaphore = 0;
            }
            double large = (double)truth.reported_bytes / (double)truth.births; /* mean size as sampled */
            double expected = (9 * 16 + 808) / 10.0;
            if (ways[i] % 16 == EDEN_SAMPLE_NTH) {
                assert_true(large < 17 || large > 800);
            } else {
                assert_true(bytes > expected * 0.85 && bytes < expected * 1.15);
            }
            if (ways[i] % 16 == EDEN_SAMPLE_OBJECTS) {
                assert_true(large > expected * 0.9 && large < expected * 1.1);
            }
        }
    }
}

/* What is sampled at random stays the same: the bounds are for one draw. */
static int fix_seed(void **state) {
    (void)state;
    return setenv("EDEN_SAMPLING_SEED", "2", 1);
}

SUITE(fix_seed, NULL)
