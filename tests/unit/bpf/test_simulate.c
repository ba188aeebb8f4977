/* Simulated collections on histories made by hand, whose collections can be counted on paper. */
#include "eden_policy.h"
#include "simulate/collector.h"
#include "util/whole.h"
#include <stdio.h>
#include <string.h>

#include "suite.h"

enum { KIB = 1024, MIB = 1024 * KIB };

static void set(struct simulate_parameters *parameters, const char *text) {
    struct failure why = {0};
    if (!simulate_parameter_wanted(parameters, text, &why)) {
        fail_msg("%s: %s", text, why.message);
    }
}

static struct simulate_parameters usual(const char *eden) {
    struct simulate_parameters parameters;
    simulate_parameters_default(&parameters);
    set(&parameters, eden);
    set(&parameters, "tenure_proportion=0");
    set(&parameters, "full_gc_ratio=inf");
    return parameters;
}

static struct simulate_figures predict(const struct simulate_history *history, struct simulate_parameters parameters,
                                       double holding) {
    struct simulate_figures figures;
    struct simulate_holding shares = {{holding, 0}};
    assert_int_equal(simulate_collector(history, &parameters, &shares, &figures), SIMULATE_DONE);
    return figures;
}

/* ---- histories -------------------------------------------------------------------------------------------------- */

/* A run of `bytes`, recorded with a collection each `epoch` bytes. */
static struct simulate_history begin(uint64_t bytes, uint64_t epoch) {
    struct simulate_history history = {.end = bytes, .young_most = 512 * KIB};
    for (uint64_t at = epoch; at <= bytes; at += epoch) {
        assert_true(simulate_history_collection(&history, at));
    }
    return history;
}

static void add(struct simulate_history *history, struct eden_life_record record) {
    assert_true(simulate_history_object(history, &record));
}

/* It is found dead at `death`, 0: it lives to the end, and is tenured at `tenured`; 0: not. */
static void live_tenured(struct simulate_history *history, uint64_t birth, uint64_t bytes, uint64_t tenured,
                         uint64_t death) {
    add(history, (struct eden_life_record){.bytes = bytes,
                                           .birth_bytes = birth,
                                           .flags = tenured != 0 ? EDEN_LIFE_TENURED : 0,
                                           .tenured_bytes = tenured,
                                           .death_bytes = death != 0 ? death : history->end,
                                           .censored = death == 0});
}

static void live(struct simulate_history *history, uint64_t birth, uint64_t bytes, uint64_t death) {
    live_tenured(history, birth, bytes, 0, death);
}

/* The first recorded collection after a byte. */
static uint64_t next_collection(const struct simulate_history *history, uint64_t at) {
    for (size_t i = 0; i < history->time_count; i++) {
        if (history->times[i] > at) {
            return history->times[i];
        }
    }
    return 0;
}

/* Objects of 64 bytes: each `of`-th lives for ever and the others die before the next collection; 0: none. */
static struct simulate_history objects(uint64_t bytes, uint64_t epoch, uint64_t of) {
    struct simulate_history history = begin(bytes, epoch);
    for (uint64_t at = 0; at < bytes; at += 64) {
        bool lives = of != 0 && at / 64 % of == 0;
        live(&history, at, 64, lives ? 0 : next_collection(&history, at));
    }
    simulate_history_finish(&history);
    return history;
}

/* ---- the curve, cells ------------------------------------------------------------------------------------------- */

/* Ages below 16 have steps of their own. At 4 and 5 the shares go up, so they are pooled: (1 + 3) / (4 + 4). */
TEST(the_curve_is_the_best_that_does_not_rise) {
    static const struct {
        uint64_t age, bytes, alive;
        double survival;
    } rows[] = {{1, 10, 9, 0.9}, {4, 4, 1, 0.5}, {5, 4, 3, 0.5}, {9, 10, 2, 0.2}, {12, 10, 0, 0}};
    struct simulate_curve curve = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        simulate_curve_add(&curve, rows[i].age, rows[i].bytes - rows[i].alive, false);
        simulate_curve_add(&curve, rows[i].age, rows[i].alive, true);
    }
    simulate_curve_finish(&curve);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_near(simulate_curve_at(&curve, rows[i].age), rows[i].survival, 1e-12);
    }
    assert_near(simulate_curve_at(&curve, 0), 1, 0);
    for (uint64_t age = 0; age < 100; age++) {
        assert_true(simulate_curve_at(&curve, age) >= simulate_curve_at(&curve, age + 1));
    }
}

TEST(every_byte_is_in_a_cell_or_big) {
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = begin(10 * MIB, MIB);
    live(&history, 0, 64, MIB);
    live(&history, 64, 64, MIB);                    /* the same cell */
    live(&history, 128, 64, 2 * MIB);               /* another death */
    live(&history, MIB - 64, 64, 0);                /* the last bin of that epoch */
    live(&history, 2 * MIB, SIMULATE_BIG, 3 * MIB); /* big */
    live(&history, MIB, SIMULATE_BIG - 8, 2 * MIB); /* not big */
    simulate_history_finish(&history);
    assert_int_equal(history.objects, 6);
    assert_int_equal(history.cell_count, 4);
    assert_int_equal(history.big_count, 1);
    assert_int_equal(history.cells[0].bytes, 128);
    assert_int_equal(history.cells[0].from, 0);
    assert_int_equal(history.cells[1].from, MIB);
    assert_int_equal(history.cells[1].to, 2 * MIB);
    assert_int_equal(history.cells[2].bin, SIMULATE_BINS - 1);
    assert_true(history.cells[2].to == SIMULATE_NEVER);
    assert_int_equal(history.cells[3].bin, SIMULATE_BINS);
    for (uint64_t bin = 0; bin < 2 * (uint64_t)SIMULATE_BINS; bin++) {
        assert_int_equal(simulate_bin(&history, simulate_bin_start(&history, bin)), bin);
        assert_int_equal(simulate_bin(&history, simulate_bin_start(&history, bin + 1) - 1), bin);
    }
}

/* ---- what is tenured first -------------------------------------------------------------------------------------- */

/* At 2 MiB 400 bytes are tenured and 600 copied; 100 of the former and 400 of the latter live for 2 MiB more. */
TEST(odds_are_those_of_the_recorded_run) {
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = begin(10 * MIB, MIB);
    history.bias.eden = MIB;
    live_tenured(&history, 0, 100, 2 * MIB, 0);
    live_tenured(&history, 100, 300, 2 * MIB, 3 * MIB);
    live_tenured(&history, 400, 400, 0, 4 * MIB);
    live_tenured(&history, 800, 200, 0, 3 * MIB);
    live_tenured(&history, 5 * MIB, 700, 6 * MIB, 0); /* out of eden: the only ones there */
    simulate_history_finish(&history);
    const struct bias *bias = &history.bias;
    assert_near(bias_odds(bias, BIAS_PAST, MIB), 100. * 200 / (300. * 400), 1e-12);
    assert_near(bias_odds(bias, BIAS_PAST, 2 * MIB), 64, 0); /* nobody was kept and lived on */
    assert_near(bias_odds(bias, BIAS_FRESH, MIB), 1, 0);
    simulate_history_clear(&history);

    history = begin(10 * MIB, MIB);
    history.bias.eden = MIB;
    live_tenured(&history, 0, 500, MIB, 0);
    live_tenured(&history, 500, 100, MIB, 2 * MIB);
    live_tenured(&history, 600, 200, 0, 3 * MIB);
    live_tenured(&history, 800, 600, 0, 2 * MIB);
    simulate_history_finish(&history);
    assert_near(bias_odds(&history.bias, BIAS_FRESH, MIB), 500. * 600 / (100. * 200), 1e-12);
}

TEST(shares_have_the_odds_and_the_sum) {
    static const double odds[] = {1. / 64, 0.5, 1, 3, 64};
    for (size_t i = 0; i < sizeof odds / sizeof *odds; i++) {
        for (double tenured = 100; tenured < 4000; tenured += 300) {
            struct bias_shares shares = bias_shares(1000, 3000, tenured, odds[i]);
            assert_near(shares.soon * 1000 + shares.lives * 3000, tenured, 1e-6);
            assert_near(shares.lives * (1 - shares.soon), odds[i] * shares.soon * (1 - shares.lives), 1e-9);
        }
    }
}

/* Of 16 objects one lives for 20 epochs and one for 2; either is tenured, at its second collection, as recorded. */
static double tenured_where(bool long_lived_are) {
    struct simulate_history history = begin(60 * MIB, MIB);
    history.bias.eden = MIB;
    for (uint64_t at = 0; at < 60 * MIB; at += 64) {
        uint64_t which = at / 64 % 16, next = next_collection(&history, at);
        uint64_t death = next + (which == 0 ? 20u : which == 1 ? 2u : 0u) * (uint64_t)MIB;
        bool tenured = which == (long_lived_are ? 0 : 1) && next + MIB < history.end;
        live_tenured(&history, at, 64, tenured ? next + MIB : 0, next == 0 || death > history.end ? 0 : death);
    }
    simulate_history_finish(&history);
    struct simulate_figures figures = predict(&history, usual("eden_size=1M"), 0);
    simulate_history_clear(&history);
    return figures.tenured_bytes;
}

/* Where those that die soon are tenured, the others stay, and fill the semispace. */
TEST(who_was_tenured_is_tenured) { assert_true(tenured_where(false) > 1.2 * tenured_where(true)); }

TEST(a_clock_that_goes_back_is_refused) {
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = begin(3 * MIB, MIB);
    assert_true(simulate_history_collection(&history, 3 * MIB)); /* a full collection at the same byte */
    assert_int_equal(history.time_count, 4);
    assert_false(simulate_history_collection(&history, 2 * MIB));
}

TEST(times_beyond_the_end_are_refused) {
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = begin(3 * MIB, MIB);
    assert_false(simulate_history_collection(&history, 3 * MIB + 1));
    assert_false(simulate_history_object(
        &history, &(struct eden_life_record){.bytes = 64, .birth_bytes = MIB, .death_bytes = 1ull << 62}));
    assert_false(simulate_history_object(
        &history, &(struct eden_life_record){.bytes = 64, .birth_bytes = 2 * MIB, .death_bytes = MIB}));
    assert_int_equal(history.end, 3 * MIB);
    assert_false(history.out_of_memory);
}

/* Only a damaged recording has a death without a collection that found it. */
TEST(deaths_without_collections_are_taken) {
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = begin(64 * KIB, MIB);
    live(&history, 0, 64, 32 * KIB);
    simulate_history_finish(&history);
    assert_int_equal(history.time_count, 0);
    assert_int_equal(history.cell_count, 1);
}

/* One object that claims all bytes, and is born when half of them are allocated: 2^45 times eden, without objects. */
TEST(clocks_without_objects_end) {
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = begin(1ull << 62, 1ull << 60);
    struct simulate_parameters parameters = usual("eden_size=64K");
    struct simulate_holding holding = {{0}};
    struct simulate_figures figures;
    live(&history, 1ull << 61, 1ull << 62, 0);
    simulate_history_finish(&history);
    assert_int_equal(simulate_collector(&history, &parameters, &holding, &figures), SIMULATE_TOO_LONG);
}

/* ---- scavenges -------------------------------------------------------------------------------------------------- */

TEST(garbage_is_not_copied) {
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = objects(64 * MIB, MIB, 0);
    for (unsigned edens = 1; edens <= 16; edens *= 4) {
        char eden[32];
        snprintf(eden, sizeof eden, "eden_size=%uM", edens);
        struct simulate_figures figures = predict(&history, usual(eden), 0);
        /* An eden of n MiB, less half an object, in 64 MiB. The curve sees none alive. */
        assert_int_equal(figures.scavenges, 64 / edens);
        assert_near(figures.survived_bytes, 0, 1);
        assert_near(figures.tenured_bytes, 0, 1);
        assert_int_equal(figures.full_collections, 0);
    }
}

TEST(what_does_not_fit_is_tenured) {
    /* An eighth lives for ever: 128 KiB a MiB. Semispaces are a fifth of eden, in whole pages. */
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = objects(64 * MIB, MIB, 8);
    struct simulate_parameters parameters = usual("eden_size=4M");
    struct simulate_figures figures = predict(&history, parameters, 0);
    double kept = (double)simulate_semispace(parameters.eden_size);
    assert_int_equal(figures.scavenges, 16);
    assert_near(figures.tenured_bytes, 8.0 * MIB - kept, 2 * KIB);
    assert_near(figures.old_used, figures.tenured_bytes, 1);
    /* What is in the semispace is copied each time, and the rest once. */
    double copied = 0;
    for (int i = 1; i <= 16; i++) {
        double past = (i - 1) * 512.0 * KIB;
        copied += (past < kept ? past : kept) + 512.0 * KIB;
    }
    assert_near(figures.survived_bytes, copied, 16 * KIB);
}

TEST(tenuring_takes_its_share_when_the_semispace_is_full) {
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = objects(64 * MIB, MIB, 8);
    struct simulate_parameters parameters = usual("eden_size=4M");
    double room = (double)simulate_semispace(parameters.eden_size);
    set(&parameters, "tenure_proportion=1");
    set(&parameters, "tenure_fill=0.5");
    struct simulate_figures figures = predict(&history, parameters, 0);
    /* 512 KiB of 820 are over the half: each scavenge tenures all that the one before kept. */
    assert_true(512.0 * KIB > 0.5 * room && 512.0 * KIB < room);
    assert_near(figures.tenured_bytes, 8.0 * MIB - 512 * KIB, 2 * KIB);
    set(&parameters, "tenure_criterion=never");
    assert_near(predict(&history, parameters, 0).tenured_bytes, 8.0 * MIB - room, 2 * KIB);
}

/* ---- policy=auto ------------------------------------------------------------------------------------------------ */

static struct simulate_parameters automatic(const char *text) {
    struct simulate_parameters parameters;
    simulate_parameters_default(&parameters);
    set(&parameters, "policy=auto");
    if (text != NULL) {
        set(&parameters, text);
    }
    return parameters;
}

/* Nothing survives: eden stays as it begins. */
TEST(a_quiet_eden_stays_at_its_first_size) {
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = objects(64 * MIB, MIB, 0);
    struct simulate_figures figures = predict(&history, automatic(NULL), 0);
    assert_near(figures.eden_size, EDEN_POLICY_FIRST, 0);
    assert_int_equal(figures.scavenges, 64 * MIB / EDEN_POLICY_FIRST);
}

/* An eighth lives for ever: eden doubles until it has all that memory without a limit allows, and old space is
 * collected when it has grown by 16 MiB. What survives twice is tenured. */
TEST(eden_grows_where_much_survives) {
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = objects(256 * MIB, MIB, 8);
    struct simulate_figures figures = predict(&history, automatic(NULL), 0);
    assert_near(figures.eden_least, EDEN_POLICY_FIRST, 0);
    assert_near(figures.eden_size, (double)eden_policy_most(EDEN_NO_LIMIT, whole_of(figures.old_used)), 4096);
    assert_in_range(figures.full_by_cause[EDEN_FULL_RATIO], 1, 2);
    assert_near(figures.tenured_bytes, 30.0 * MIB, 2.0 * MIB);
}

TEST(a_given_parameter_is_pinned) {
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = objects(256 * MIB, MIB, 8);
    struct simulate_figures figures = predict(&history, automatic("eden_size=4M"), 0);
    assert_near(figures.eden_size, 4.0 * MIB, 0);
    figures = predict(&history, automatic("full_gc_ratio=inf"), 0);
    assert_int_equal(figures.full_collections, 0);
    struct simulate_parameters parameters = automatic("tenure_proportion=0");
    assert_false(simulate_decides(&parameters, EDEN_PARAM_tenure_proportion));
    assert_true(simulate_decides(&parameters, EDEN_PARAM_eden_size));
    simulate_parameters_usual(&parameters, &parameters);
    assert_true(simulate_decides(&parameters, EDEN_PARAM_tenure_proportion));
}

/* 32 MiB live at the end, most of them old. */
TEST(a_heap_that_comes_to_its_limit_is_unknown) {
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = objects(256 * MIB, MIB, 8);
    struct simulate_holding none = {{0, 0}};
    struct simulate_figures figures;
    for (int fixed = 0; fixed < 2; fixed++) {
        struct simulate_parameters parameters = fixed ? usual("eden_size=4M") : automatic("eden_size=4M");
        set(&parameters, "max_heap=32M");
        assert_int_equal(simulate_collector(&history, &parameters, &none, &figures), SIMULATE_UNKNOWN);
        set(&parameters, "max_heap=80M");
        assert_int_equal(simulate_collector(&history, &parameters, &none, &figures), SIMULATE_DONE);
    }
}

/* ---- full collections ------------------------------------------------------------------------------------------- */

TEST(old_space_that_grew_is_collected) {
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = objects(256 * MIB, MIB, 8);
    struct simulate_parameters parameters = usual("eden_size=4M");
    set(&parameters, "grow_headroom=1M");
    set(&parameters, "full_gc_ratio=1");
    /* On paper: all that does not fit into the semispace is old, and lives. */
    double base = MIB, room = (double)simulate_semispace(parameters.eden_size);
    uint64_t fulls = 0;
    for (int i = 1; i <= 64; i++) {
        double old = i * 512.0 * KIB - room;
        if (old > base && old - base >= base) {
            fulls++;
            base = old;
        }
    }
    struct simulate_figures figures = predict(&history, parameters, 0);
    assert_in_range(fulls, 3, 6);
    assert_int_equal(figures.full_by_cause[EDEN_FULL_RATIO], fulls);
    assert_int_equal(figures.full_collections, fulls);
    assert_int_equal(figures.scavenges, 64 + fulls);
    set(&parameters, "full_gc_min_old=1G");
    assert_int_equal(predict(&history, parameters, 0).full_collections, 0);
}

TEST(what_the_program_asks_for_comes_when_it_did) {
    struct simulate_history history
        __attribute__((cleanup(simulate_history_clear))) = {.end = 64 * MIB, .young_most = 512 * KIB};
    assert_true(simulate_history_asked(&history, 10 * MIB + 8, SIMULATE_FULL));
    assert_true(simulate_history_asked(&history, 11 * MIB, SIMULATE_SCAVENGE));
    assert_true(simulate_history_asked(&history, 64 * MIB, SIMULATE_FULL)); /* at the very end */
    simulate_history_finish(&history);
    struct simulate_figures figures = predict(&history, usual("eden_size=32M"), 0);
    assert_int_equal(figures.full_by_cause[EDEN_FULL_REQUEST], 2);
    assert_int_equal(figures.full_collections, 2);
    /* Eden is empty at 11 MiB; it is full at 43. */
    assert_int_equal(figures.scavenges, 4);
}

TEST(large_objects_ask_for_room) {
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = begin(16 * MIB, MIB);
    for (uint64_t i = 0; i < 8; i++) {
        live(&history, 2 * i * MIB, MIB, 0);
    }
    simulate_history_finish(&history);
    struct simulate_parameters parameters = usual("eden_size=1M");
    set(&parameters, "grow_headroom=64K");
    /* Where segments are made for each, all but the first, which finds old space empty, collect; of four MiB, each
     * fourth. */
    struct simulate_figures figures = predict(&history, parameters, 0);
    assert_int_equal(figures.full_by_cause[EDEN_FULL_ALLOCATION], 7);
    assert_near(figures.old_used_peak, 7.0 * MIB, 1); /* the last collection comes before the last object */
    assert_int_equal(figures.tenured_bytes, 0);
    set(&parameters, "grow_headroom=4M");
    assert_int_equal(predict(&history, parameters, 0).full_by_cause[EDEN_FULL_ALLOCATION], 1);
    /* Of a segment of two MiB two objects take the first and the second half (Spur keeps 16 bytes of it). */
    set(&parameters, "eden_size=512K");
    set(&parameters, "compat.growth=refill");
    set(&parameters, "grow_headroom=512K");
    assert_int_equal(predict(&history, parameters, 0).full_by_cause[EDEN_FULL_ALLOCATION], 3);
    /* With a headroom of one, each scavenge makes room for the next. */
    set(&parameters, "grow_headroom=1M");
    assert_int_equal(predict(&history, parameters, 0).full_by_cause[EDEN_FULL_ALLOCATION], 0);
    set(&parameters, "compat.growth=needed");
    assert_int_equal(predict(&history, parameters, 0).full_by_cause[EDEN_FULL_ALLOCATION], 7);
    set(&parameters, "eden_size=1M");
    set(&parameters, "grow_headroom=4M");
    /* Not too large to be young. */
    set(&parameters, "large_object=2M");
    set(&parameters, "eden_size=4M");
    figures = predict(&history, parameters, 0);
    assert_int_equal(figures.full_collections, 0);
    assert_true(figures.tenured_bytes > 4.0 * MIB);
}

/* ---- nepotism --------------------------------------------------------------------------------------------------- */

/* For each MiB, objects that live for 4 MiB. Some are old when they die, others young. */
static struct simulate_history middle_aged(void) {
    struct simulate_history history = begin(64 * MIB, MIB);
    for (uint64_t at = 0; at < 64 * (uint64_t)MIB; at += 64) {
        uint64_t death = next_collection(&history, at + 4 * MIB);
        live(&history, at, 64, at / 64 % 8 != 0 ? next_collection(&history, at) : death);
    }
    simulate_history_finish(&history);
    return history;
}

TEST(the_dead_hold_the_young_until_a_full_collection) {
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = middle_aged();
    struct simulate_parameters parameters = usual("eden_size=2M");
    struct simulate_figures none = predict(&history, parameters, 0), all = predict(&history, parameters, 1);
    assert_true(none.holdable_bytes[SIMULATE_SEEN] > 0);
    assert_true(all.survived_bytes > none.survived_bytes);
    assert_true(all.tenured_bytes > none.tenured_bytes);
    assert_int_equal(none.held_bytes, 0);
    assert_near(all.held_bytes, all.holdable_bytes[SIMULATE_SEEN], 1);
    /* No more than dies can be held. */
    assert_true(all.tenured_bytes < 8.0 * MIB);
    set(&parameters, "grow_headroom=64K");
    set(&parameters, "full_gc_ratio=0");
    struct simulate_figures freed = predict(&history, parameters, 1);
    assert_true(freed.full_collections > 10);
    assert_true(freed.old_used < all.old_used / 2);
}

TEST(those_reached_last_hold_nothing) {
    /* Of the last 2 MiB all are alive: more than a semispace takes. At the next scavenge they are dead, old or not. */
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = begin(64 * MIB, MIB);
    for (uint64_t at = 0; at < 64 * (uint64_t)MIB; at += 64) {
        live(&history, at, 64, next_collection(&history, at + 2 * MIB));
    }
    simulate_history_finish(&history);
    struct simulate_figures figures = predict(&history, usual("eden_size=4M"), 1);
    assert_true(figures.tenured_bytes > 4.0 * MIB);
    assert_int_equal(figures.holdable_bytes[SIMULATE_SEEN] + figures.holdable_bytes[SIMULATE_UNSEEN], 0);
}

TEST(what_was_held_is_reported_by_the_full_collection_after) {
    struct simulate_history history __attribute__((cleanup(simulate_history_clear))) = begin(10 * MIB, MIB);
    struct eden_life_record record = {
        .bytes = 100, .birth_bytes = 8, .death_bytes = 3 * MIB, .flags = EDEN_LIFE_TENURED, .tenured_bytes = 3 * MIB};
    add(&history, record); /* tenured by the scavenge right before */
    assert_int_equal(history.held_bytes[SIMULATE_SEEN], 100);
    record.flags = EDEN_LIFE_NEPOTISM;
    add(&history, record); /* kept by it */
    assert_int_equal(history.held_bytes[SIMULATE_SEEN], 200);
    record = (struct eden_life_record){
        .bytes = 100, .birth_bytes = 8, .death_bytes = 3 * MIB, .flags = EDEN_LIFE_TENURED, .tenured_bytes = MIB};
    add(&history, record); /* tenured before */
    assert_int_equal(history.held_bytes[SIMULATE_SEEN], 200);
    simulate_history_finish(&history);
    /* Held objects were alive at the collection before; the other, which no full collection reported, when tenured. */
    assert_int_equal(history.cell_count, 2);
    assert_int_equal(history.cells[0].from, MIB);
    assert_int_equal(history.cells[0].bytes, 100);
    assert_int_equal(history.cells[1].from, 2 * MIB);
    assert_int_equal(history.cells[1].bytes, 200);
}

/* ---- parameters ------------------------------------------------------------------------------------------------- */

static void refuse(const char *text, const char *word) {
    struct simulate_parameters parameters;
    struct failure why = {0};
    simulate_parameters_default(&parameters);
    if (simulate_parameter_wanted(&parameters, text, &why) || !strstr(why.message, word) || why.status != 1) {
        fail_msg("%s: '%s' does not say %s", text, why.message, word);
    }
}

TEST(other_parameters_are_refused_by_name) {
    refuse("eden", "NAME=VALUE");
    refuse("=4", "NAME=VALUE");
    refuse("eden_sise=4M", "eden_sise: unknown parameter; choose one of eden_size, full_gc_ratio");
    refuse("stress=1", "stress: this parameter cannot be simulated; choose one of eden_size");
    refuse("eden_size=4", "eden_size=4: out of bounds");
    refuse("eden_size=4Q", "eden_size=4Q");
    refuse("eden_size=", "eden_size=");
    refuse("eden_size=none", "eden_size=none");
    refuse("tenure_proportion=1.1", "tenure_proportion=1.1");
    refuse("full_gc_ratio=nan", "full_gc_ratio=nan");
    refuse("survivors_to_keep=1.5", "survivors_to_keep=1.5");
    refuse("tenure_criterion=sometimes", "tenure_criterion=sometimes");
    refuse("tenure_criterion=class", "tenure_criterion=class: cannot be simulated");
}

TEST(recorded_parameters_must_be_simulated) {
    struct simulate_parameters parameters;
    struct failure why = {0};
    simulate_parameters_default(&parameters);
    assert_true(simulate_parameter_recorded(&parameters, "eden_size", "1048576", &why));
    assert_true(simulate_parameter_recorded(&parameters, "max_heap", "none", &why));
    assert_true(simulate_parameter_recorded(&parameters, "remembered_set", "object", &why));
    assert_true(simulate_parameter_recorded(&parameters, "compat.tenured_scan", "set-order", &why));
    assert_false(simulate_parameter_recorded(&parameters, "compat.threshold_bug", "1", &why));
    assert_true(simulate_parameter_recorded(&parameters, "survivors_to_keep", "unset", &why));
    assert_false(simulate_parameter_recorded(&parameters, "pretenure", "names.txt", &why));
    assert_true(simulate_parameter_recorded(&parameters, "policy", "fixed", &why));
    assert_false(simulate_parameter_recorded(&parameters, "policy", "auto", &why));
    assert_non_null(strstr(why.message, "policy=auto, which cannot be simulated; record with policy=fixed"));
    assert_false(simulate_parameter_recorded(&parameters, "of_a_newer_runtime", "1", &why));
    char text[200];
    set(&parameters, "survivors_to_keep=100");
    simulate_parameters_text(&parameters, text, sizeof text);
    assert_string_equal(text, "policy=fixed,eden_size=1M,survivors_to_keep=100");
    assert_true(simulate_parameter_recorded(&parameters, "max_heap", "67108864", &why));
    simulate_parameters_text(&parameters, text, sizeof text);
    assert_string_equal(text, "policy=fixed,eden_size=1M,survivors_to_keep=100,max_heap=64M");
    /* The later of the two wins. */
    set(&parameters, "tenure_proportion=0.25");
    assert_near(simulate_tenure_share(&parameters, simulate_semispace(parameters.eden_size)), 0.25, 0);
}
