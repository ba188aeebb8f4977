/* The rules of tuning, on facts made by hand: each is silent on what is well, and on what is nearly its pattern, and
 * speaks on its pattern with a value that follows from the facts. */
#include "advise/print.h"
#include "advise/rules/account.h"
#include "advise/rules/rule.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

enum { PASSES = 4096, OTHERS = 1024 };
#define MB 1048576ull
#define MS 1000000ull

/* A heap with default parameters and policy=fixed, which most rules are about, seen for ten seconds. */
static struct tune_facts make_facts(void) {
    struct tune_facts facts = {.wall_ns = 10000 * MS, .id = 1, .complete = true};
    tune_parameters_default(facts.parameters);
    for (int i = 0; i < EDEN_PARAM_COUNT; i++) {
        facts.parameters[i].is_reported = true;
    }
    tune_parameter_read(facts.parameters, "policy", "fixed");
    facts.known = ~0ull;
    facts.figures[EDEN_FIGURE_allocated_bytes] = 4000 * MB;
    facts.passes = calloc(PASSES, sizeof *facts.passes);
    facts.large = calloc(OTHERS, sizeof *facts.large);
    facts.failures = calloc(OTHERS, sizeof *facts.failures);
    facts.segments = calloc(OTHERS, sizeof *facts.segments);
    facts.scans = calloc(OTHERS, sizeof *facts.scans);
    assert_true(facts.passes && facts.large && facts.failures && facts.segments && facts.scans);
    return facts;
}

/* FACTS(facts); declares facts that are cleared with the enclosing block. */
#define FACTS(facts) struct tune_facts facts __attribute__((cleanup(tune_facts_clear))) = make_facts()

/* Those of the next case. */
static void renew(struct tune_facts *facts) {
    tune_facts_clear(facts);
    *facts = make_facts();
}

static void set(struct tune_facts *facts, const char *name, const char *value) {
    tune_parameter_read(facts->parameters, name, value);
}

static struct tune_pass *add_pass(struct tune_facts *facts, bool full, uint64_t cause, uint64_t ns) {
    assert_true(facts->pass_count < PASSES);
    struct tune_pass *pass = &facts->passes[facts->pass_count];
    *pass = (struct tune_pass){.full = full,
                               .started = true,
                               .seq = facts->pass_count + 1,
                               .cause = cause,
                               .start_ns = facts->pass_count * MS + MS,
                               .duration_ns = ns};
    facts->pass_count++;
    facts->figures[full ? EDEN_FIGURE_full_ns : EDEN_FIGURE_scavenge_ns] += ns;
    facts->figures[full ? EDEN_FIGURE_full_collections : EDEN_FIGURE_scavenges]++;
    facts->figures[EDEN_FIGURE_gc_ns] += ns;
    if (ns > facts->figures[EDEN_FIGURE_max_pause_ns]) {
        facts->figures[EDEN_FIGURE_max_pause_ns] = ns;
    }
    return pass;
}

static struct tune_pass *add_scavenge(struct tune_facts *facts, uint64_t ns, uint64_t survivors, uint64_t tenured) {
    struct tune_pass *pass = add_pass(facts, false, EDEN_SCAVENGE_EDEN, ns);
    uint64_t eden = (uint64_t)tune_number(facts, EDEN_PARAM_eden_size);
    pass->eden_used = eden;
    pass->survivors_after = survivors;
    pass->tenured_bytes = tenured;
    pass->semispace_start = 0x10000000;
    pass->semispace_limit = 0x10000000 + eden / 5;
    facts->figures[EDEN_FIGURE_survived_bytes] += survivors + tenured;
    facts->figures[EDEN_FIGURE_tenured_bytes] += tenured;
    return pass;
}

static struct tune_pass *add_full(struct tune_facts *facts, uint64_t cause, uint64_t ns, uint64_t before,
                                  uint64_t freed) {
    struct tune_pass *pass = add_pass(facts, true, cause, ns);
    pass->old_before = before;
    pass->old_after = before - freed;
    pass->freed_bytes = freed;
    pass->capacity_before = pass->capacity_after = before + 8 * MB;
    facts->figures[EDEN_FIGURE_old_used] = pass->old_after;
    return pass;
}

/* Samples of one site, copied `copies` times each, and then tenured or dead. */
static void add_survivors(struct tune_facts *facts, double bytes, int copies, bool tenured, double wasted) {
    if (!facts->survivors) {
        facts->survivors = calloc(1, sizeof *facts->survivors);
        facts->sites = calloc(4, sizeof *facts->sites);
        assert_true(facts->survivors && facts->sites);
        facts->lifetimes = facts->details = true;
    }
    struct tune_site *site = &facts->sites[facts->site_count++];
    double life = copies * tune_number(facts, EDEN_PARAM_eden_size) / 1024;
    uint32_t bucket = tenured ? HISTOGRAM_BUCKETS - 1 : histogram_bucket((uint64_t)life);
    snprintf(site->name, sizeof site->name, "Node, Maker>>make%zu", facts->site_count);
    (tenured ? facts->survivors->tenured : facts->survivors->died_young)[bucket][copies] += bytes;
    site->samples = 1000;
    site->bytes = site->survivor_bytes = bytes;
    site->copied_bytes = bytes * copies;
    site->tenured_samples = tenured ? 1000 : 0;
    site->tenured_bytes = tenured ? bytes : 0;
    site->wasted_bytes = bytes * wasted;
    facts->all.samples += site->samples;
    facts->all.bytes += bytes;
    facts->all.survivor_bytes += bytes;
    facts->all.copied_bytes += site->copied_bytes;
    facts->all.tenured_samples += site->tenured_samples;
    facts->all.tenured_bytes += site->tenured_bytes;
    facts->all.wasted_bytes += site->wasted_bytes;
}

/* The finding of this key, or NULL; all is well formed. */
static struct finding look(struct tune_facts *facts, const char *key, bool *found) {
    struct findings findings;
    struct finding finding = {0};
    assert_true(tune_examine(facts, &findings));
    assert_true(findings.count > 0);
    *found = false;
    for (size_t i = 0; i < findings.count; i++) {
        const struct finding *at = &findings.at[i];
        assert_true(at->evidence_count > 0);
        assert_true(at->why[0]);
        assert_true(!at->gains || (at->gain_min >= 0 && at->gain_min <= at->gain_max && at->gain_max <= 1));
        assert_true(!at->gains || !at->setting_count || at->gain_min > 0); /* I4 */
        assert_true(strcmp(at->key, "ok") != 0 || findings.count == 1);
        if (strcmp(at->key, key) == 0) {
            assert_false(*found);
            *found = true;
            finding = *at;
        }
    }
    findings_clear(&findings);
    return finding;
}

static struct finding expect(struct tune_facts *facts, const char *key) {
    bool found;
    struct finding finding = look(facts, key, &found);
    if (!found) {
        fail_msg("no finding %s", key);
    }
    return finding;
}

static void expect_none(struct tune_facts *facts, const char *key) {
    bool found;
    look(facts, key, &found);
    if (found) {
        fail_msg("a finding %s", key);
    }
}

static bool is_unexamined(const struct tune_facts *facts, const char *key) {
    struct findings findings;
    bool found = false;
    assert_true(tune_examine(facts, &findings));
    for (int i = 0; i < findings.unexamined_count; i++) {
        found = found || strcmp(findings.unexamined[i].key, key) == 0;
    }
    findings_clear(&findings);
    return found;
}

/* What is left when the findings have explained what they can. */
static struct account_shares shares_of(const struct tune_facts *facts) {
    struct findings findings;
    struct account account;
    struct account_shares shares;
    assert_true(tune_examine(facts, &findings));
    account_make(&account, &findings);
    account_shares(&shares, &account, facts);
    findings_clear(&findings);
    for (int kind = 0; kind < TUNE_KINDS; kind++) {
        assert_true(account.explained_ns[kind] >= 0 && account.explained_ns[kind] <= account.all_ns[kind]);
    }
    assert_true(fabs(shares.gc - tune_gc_share(facts)) < 1e-9);
    assert_true(fabs(shares.explained + shares.unexplained - shares.gc) < 1e-9);
    assert_true(fabs(shares.rest[TUNE_SCAVENGES] + shares.rest[TUNE_FULLS] - shares.unexplained) < 1e-9);
    return shares;
}

static double value_of(const struct finding *finding, enum eden_param_id parameter) {
    for (int i = 0; i < finding->setting_count; i++) {
        if (finding->settings[i].parameter == parameter) {
            return finding->settings[i].number;
        }
    }
    return NAN;
}

/* ---- full collections -------------------------------------------------------------------------------------------- */

static void fulls_of_growth(struct tune_facts *facts, uint64_t ns, uint64_t freed_percent) {
    for (uint64_t used = 22 * MB; used < 200 * MB; used = used * 133 / 100) {
        add_scavenge(facts, MS, MB, MB);
        add_full(facts, EDEN_FULL_RATIO, ns, used, used * freed_percent / 100);
    }
}

TEST(full_growth_proposes_a_ratio_that_spares_collections) {
    FACTS(facts);
    fulls_of_growth(&facts, 200 * MS, 3);
    struct finding finding = expect(&facts, "full.growth");
    assert_int_equal(finding.severity, TUNE_HIGH);
    /* From 22 MB / 1.33 to 160 MB or so one more collection at most. */
    assert_true(value_of(&finding, EDEN_PARAM_full_gc_ratio) >= 8 &&
                value_of(&finding, EDEN_PARAM_full_gc_ratio) <= 10);
    assert_true(finding.gain_max > 0.9);

    renew(&facts); /* they free half: that is what they are for */
    fulls_of_growth(&facts, 200 * MS, 50);
    expect_none(&facts, "full.growth");

    renew(&facts); /* they cost nothing */
    fulls_of_growth(&facts, 2 * MS, 3);
    expect_none(&facts, "full.growth");
}

/* A ratio of 10 lets old space of 7 MB grow to 78 MB, and then marks it, for next to nothing. */
static void one_full_of_growth(struct tune_facts *facts, uint64_t ns) {
    set(facts, "full_gc_ratio", "10");
    for (uint64_t i = 0; i < 10; i++) {
        add_scavenge(facts, 20 * MS, MB, 7 * MB);
    }
    add_full(facts, EDEN_FULL_RATIO, ns, 78 * MB, 3 * MB);
}

TEST(full_growth_proposes_a_least_size_where_no_ratio_is_large_enough) {
    FACTS(facts);
    one_full_of_growth(&facts, 500 * MS);
    struct finding finding = expect(&facts, "full.growth");
    assert_true(isnan(value_of(&finding, EDEN_PARAM_full_gc_ratio))); /* it is as large as it may be */
    double value = value_of(&finding, EDEN_PARAM_full_gc_min_old);
    assert_true(value > 78.0 * MB && value < 90.0 * MB);
    assert_true(finding.gain_max > 0.7);
    set(&facts, "max_heap", "125829120"); /* 120 MB, of which new space takes 22: it must stay below */
    finding = expect(&facts, "full.growth");
    assert_true(value_of(&finding, EDEN_PARAM_full_gc_min_old) <= 90.0 * MB);
    set(&facts, "max_heap", "104857600"); /* 100 MB: no size above 78 MB does */
    expect_none(&facts, "full.growth");

    renew(&facts); /* one collection may be one of chance: it must cost more to count */
    one_full_of_growth(&facts, 300 * MS);
    expect_none(&facts, "full.growth");

    renew(&facts); /* growth by a factor of 30, with a ratio of 0.33: both, for the data may be larger next time */
    fulls_of_growth(&facts, 100 * MS, 3);
    facts.figures[EDEN_FIGURE_old_used] = 500 * MB;
    finding = expect(&facts, "full.growth");
    assert_true(value_of(&finding, EDEN_PARAM_full_gc_ratio) == 10);
    value = value_of(&finding, EDEN_PARAM_full_gc_min_old);
    assert_true(value > 500.0 * MB && value < 600.0 * MB);

    renew(&facts); /* by a factor of 10: the ratio is enough */
    fulls_of_growth(&facts, 100 * MS, 3);
    finding = expect(&facts, "full.growth");
    assert_true(isnan(value_of(&finding, EDEN_PARAM_full_gc_min_old)));
}

static void fulls_of_columns(struct tune_facts *facts, uint64_t freed) {
    for (uint64_t i = 0; i < 10; i++) {
        add_scavenge(facts, MS, MB, MB);
        struct tune_pass *pass =
            add_full(facts, EDEN_FULL_ALLOCATION, 100 * MS, (40 + 24 * i) * MB, freed ? freed : MB / 4);
        pass->requested = 24 * MB;
        facts->large[facts->large_count++] = (struct tune_allocation){pass->start_ns + 1, 24 * MB, 1};
        facts->segments[facts->segment_count++] =
            (struct tune_segment){pass->start_ns + 1, 24 * MB, (64 + 24 * i) * MB, true};
    }
}

TEST(full_headroom_proposes_room_for_the_requests) {
    FACTS(facts);
    fulls_of_columns(&facts, 0);
    struct finding finding = expect(&facts, "full.headroom");
    double value = value_of(&finding, EDEN_PARAM_grow_headroom);
    assert_true(value >= 240.0 * MB && value <= 400.0 * MB);
    set(&facts, "grow_headroom", "536870912"); /* what they need is there; so it is something else */
    expect_none(&facts, "full.headroom");

    renew(&facts); /* each finds the room that it looks for */
    fulls_of_columns(&facts, 30 * MB);
    facts.large_count = 10;
    for (size_t i = 0; i < facts.pass_count; i++) {
        facts.passes[i].old_before = facts.passes[i].full ? 80 * MB : 0;
    }
    expect_none(&facts, "full.headroom");

    renew(&facts); /* no headroom helps at the limit */
    fulls_of_columns(&facts, 0);
    set(&facts, "max_heap", "304087040"); /* 290 MB */
    expect_none(&facts, "full.headroom");
}

TEST(full_explicit_blames_the_program_where_little_is_freed) {
    FACTS(facts);
    for (int i = 0; i < 20; i++) {
        add_full(&facts, EDEN_FULL_REQUEST, 30 * MS, 50 * MB, MB);
    }
    struct finding finding = expect(&facts, "full.explicit");
    assert_int_equal(finding.setting_count, 0); /* the program's to cure */
    assert_true(finding.how[0]);

    renew(&facts); /* they free most */
    for (int i = 0; i < 20; i++) {
        add_full(&facts, EDEN_FULL_REQUEST, 30 * MS, 50 * MB, 40 * MB);
    }
    expect_none(&facts, "full.explicit");

    renew(&facts); /* nobody asked */
    for (int i = 0; i < 20; i++) {
        add_full(&facts, EDEN_FULL_RATIO, 30 * MS, 50 * MB, MB);
    }
    expect_none(&facts, "full.explicit");
}

/* ---- scavenges --------------------------------------------------------------------------------------------------- */

TEST(scavenge_remembered_proposes_cards_where_few_references_are_young) {
    FACTS(facts);
    set(&facts, "remembered_set", "object");
    for (int i = 0; i < 100; i++) {
        struct tune_pass *pass = add_scavenge(&facts, 20 * MS, 64 * 1024, 0);
        pass->part_ns[EDEN_PHASE_scavenge__remembered] = 19 * MS;
        pass->part_objects[EDEN_PHASE_scavenge__remembered] = 1;
        pass->part_bytes[EDEN_PHASE_scavenge__remembered] = 16 * MB;
    }
    facts.scans_reported = true;
    facts.scans[facts.scan_count++] = (struct tune_scans){
        .class_id = 7, .count = 100, .slots = 200 * MB, .young_references = 5000, .duration_ns = 1900 * MS};
    facts.classes = calloc(2, sizeof *facts.classes);
    assert_non_null(facts.classes);
    facts.classes[0] = (struct tune_class){1, 1, "Array"};
    facts.classes[1] = (struct tune_class){7, 1, "Frame>>grow"};
    facts.class_count = 2;
    struct finding finding = expect(&facts, "scavenge.remembered");
    assert_true(value_of(&finding, EDEN_PARAM_remembered_set) == 1);
    bool named = false;
    for (int i = 0; i < finding.evidence_count; i++) {
        named = named || strstr(finding.evidence[i], "Array, Frame>>grow");
    }
    assert_true(named);

    facts.scans[0].young_references = 100 * MB; /* half of the slots: the work has to be done */
    expect_none(&facts, "scavenge.remembered");
    facts.scans[0].young_references = 5000;
    set(&facts, "remembered_set", "card"); /* it is set already */
    expect_none(&facts, "scavenge.remembered");
}

TEST(scavenge_copying_proposes_early_tenuring_of_repeated_copies) {
    FACTS(facts);
    for (int i = 0; i < 300; i++) {
        add_scavenge(&facts, 5 * MS, 25 * MB / 10, 0);
    }
    add_survivors(&facts, 25e5, TUNE_COPIES - 1, true, 0);
    struct finding finding = expect(&facts, "scavenge.copying");
    assert_true(value_of(&finding, EDEN_PARAM_tenure_fill) == 0);
    assert_true(value_of(&finding, EDEN_PARAM_tenure_proportion) == 1);

    renew(&facts); /* as much is copied, but most survivors once */
    for (int i = 0; i < 300; i++) {
        add_scavenge(&facts, 5 * MS, 25 * MB / 10, 0);
    }
    add_survivors(&facts, 700e6, 1, false, 0);
    add_survivors(&facts, 20e6, TUNE_COPIES - 1, true, 0);
    expect_none(&facts, "scavenge.copying");
}

static void overflowing_by(struct tune_facts *facts, uint64_t kept, uint64_t tenured, double wasted) {
    for (int i = 0; i < 100; i++) {
        add_scavenge(facts, 4 * MS, kept, tenured);
        if (i % 4 == 3) {
            add_full(facts, EDEN_FULL_RATIO, 20 * MS, 40 * MB, 18 * MB);
        }
    }
    add_survivors(facts, 500e6, 1, true, wasted);
}

static void overflowing(struct tune_facts *facts, double wasted) { overflowing_by(facts, 3 * MB, 5 * MB, wasted); }

/* A queue: all that is tenured dies after some full collections, so they free as much as was tenured. */
TEST(scavenge_overflow_needs_lifetimes) {
    FACTS(facts);
    for (int i = 0; i < 100; i++) {
        add_scavenge(&facts, 4 * MS, 3 * MB, 5 * MB);
        if (i % 4 == 3) {
            add_full(&facts, EDEN_FULL_RATIO, 40 * MS, 62 * MB, 20 * MB);
        }
    }
    expect_none(&facts, "scavenge.overflow");
    assert_true(is_unexamined(&facts, "scavenge.overflow") && is_unexamined(&facts, "scavenge.copying") &&
                is_unexamined(&facts, "eden.small"));
    struct finding finding = expect(&facts, "full.frequent"); /* which needs none */
    assert_true(value_of(&finding, EDEN_PARAM_full_gc_ratio) > 1);
}

TEST(scavenge_overflow_proposes_an_eden_that_holds_the_survivors) {
    FACTS(facts);
    overflowing(&facts, 0.9);
    struct finding finding = expect(&facts, "scavenge.overflow");
    assert_true(value_of(&finding, EDEN_PARAM_eden_size) >= 40.0 * MB); /* 8 MB in a fifth of it */
    expect_none(&facts, "tenure.premature");                            /* the one or the other */
    assert_string_equal(
        finding.how,
        "this fits the most bytes that a scavenge found alive, plus a tenth: a semispace is a fifth of eden");

    renew(&facts); /* 4 MB in a fifth of it; and most of what is copied would die in a larger one */
    overflowing_by(&facts, 3 * MB, 1 * MB, 0.9);
    add_survivors(&facts, 5000e6, 1, false, 0);
    finding = expect(&facts, "scavenge.overflow");
    assert_string_equal(finding.how,
                        "by the forecast, this spares scavenges; the most bytes ever alive, plus a tenth, need 22.0 "
                        "MiB: a semispace is a fifth of eden");

    renew(&facts); /* 60 MB would need an eden of 330 MB */
    overflowing_by(&facts, 3 * MB, 57 * MB, 0.9);
    finding = expect(&facts, "scavenge.overflow");
    assert_string_equal(finding.how,
                        "this doubles the heap; even so, the most bytes ever alive do not fit: a semispace is a fifth "
                        "of eden");

    renew(&facts); /* what overflows goes on living */
    overflowing(&facts, 0.05);
    expect_none(&facts, "scavenge.overflow");

    renew(&facts); /* most of it, though it costs much */
    overflowing(&facts, 0.25);
    for (int i = 0; i < 40; i++) {
        add_full(&facts, EDEN_FULL_RATIO, 80 * MS, 40 * MB, 18 * MB);
    }
    expect_none(&facts, "scavenge.overflow");
}

TEST(eden_small_proposes_a_larger_eden_within_the_limit) {
    FACTS(facts);
    set(&facts, "eden_size", "1048576");
    for (int i = 0; i < 4000; i++) {
        add_scavenge(&facts, 500000, 100 * 1024, 0);
    }
    add_survivors(&facts, 400e6, 1, false, 0);
    struct finding finding = expect(&facts, "eden.small");
    assert_true(value_of(&finding, EDEN_PARAM_eden_size) >= 8.0 * MB);
    assert_true(finding.cost[0]);
    set(&facts, "max_heap", "2097152"); /* a limit that allows no more: that is reported */
    expect_none(&facts, "eden.small");
    finding = expect(&facts, "unexplained");
    const char *limit = NULL;
    for (int i = 0; i < finding.evidence_count && !limit; i++) {
        limit = strstr(finding.evidence[i], "MiB would spare scavenges, but max_heap (2.00 MiB) leaves no room for it");
    }
    assert_non_null(limit);

    renew(&facts); /* the same number, which cost nothing */
    set(&facts, "eden_size", "1048576");
    for (int i = 0; i < 4000; i++) {
        add_scavenge(&facts, 20000, 1024, 0);
    }
    add_survivors(&facts, 4e6, 1, false, 0);
    expect_none(&facts, "eden.small");

    renew(&facts); /* what is copied stays for ever: no eden spares that */
    set(&facts, "eden_size", "1048576");
    for (int i = 0; i < 1000; i++) {
        add_scavenge(&facts, 1000000, 0, 400 * 1024);
    }
    add_survivors(&facts, 400e6, 1, true, 0);
    expect_none(&facts, "eden.small");
}

/* A program with an eden of a megabyte, half of what is copied goes on living; `ns` a scavenge. */
static void frequent_scavenges(struct tune_facts *facts, const char *eden, uint64_t ns) {
    set(facts, "eden_size", eden);
    for (int i = 0; i < 4000; i++) {
        add_scavenge(facts, ns, 80 * 1024, 0);
    }
    add_survivors(facts, 160e6, 1, false, 0);
    add_survivors(facts, 10e6, 15, true, 0);
}

TEST(eden_small_takes_cheap_memory_for_less) {
    FACTS(facts); /* 4.8% in scavenges, of which a larger eden and earlier tenuring would spare something each */
    frequent_scavenges(&facts, "1048576", 120000);
    struct finding finding = expect(&facts, "eden.small");
    double value = value_of(&finding, EDEN_PARAM_eden_size);
    assert_true(value >= 4.0 * MB && value <= 16.0 * MB); /* no more than the default */
    assert_int_equal(finding.severity, TUNE_LOW);
    assert_true(finding.time_share > 0.01 && finding.time_share < 0.04);
    assert_non_null(strstr(finding.how, "up to the default eden"));

    renew(&facts); /* one scavenge at which the machine stopped is no reason */
    frequent_scavenges(&facts, "1048576", 30000);
    facts.passes[7].duration_ns += 500 * MS;
    expect_none(&facts, "eden.small");

    renew(&facts); /* collections are negligible */
    frequent_scavenges(&facts, "1048576", 40000);
    expect_none(&facts, "eden.small");

    renew(&facts); /* the same share, but an eden of 32 MB, which is most of the heap: memory has its price */
    frequent_scavenges(&facts, "33554432", 120000);
    expect_none(&facts, "eden.small");
    facts.segments[0] = (struct tune_segment){MS, 1200 * MB, 1200 * MB, true}; /* in a large heap it is little */
    facts.segment_count = 1;
    expect(&facts, "eden.small");

    renew(&facts); /* the limit allows no more */
    frequent_scavenges(&facts, "1048576", 120000);
    set(&facts, "max_heap", "2097152");
    expect_none(&facts, "eden.small");
}

/* ---- tenuring ---------------------------------------------------------------------------------------------------- */

static void tenuring(struct tune_facts *facts, double wasted) {
    for (int i = 0; i < 200; i++) {
        struct tune_pass *pass = add_scavenge(facts, 2 * MS, MB, MB);
        pass->threshold = pass->semispace_start + MB;
        if (i % 4 == 3) {
            add_full(facts, EDEN_FULL_RATIO, 20 * MS, 20 * MB, 4 * MB);
        }
    }
    add_survivors(facts, 200e6, 2, true, wasted);
}

TEST(tenure_premature_proposes_eden_or_the_default_fill) {
    FACTS(facts);
    tenuring(&facts, 0.9);
    struct finding finding = expect(&facts, "tenure.premature");
    assert_true(value_of(&finding, EDEN_PARAM_eden_size) >= 64.0 * MB);
    set(&facts, "tenure_fill", "0"); /* it was asked for */
    finding = expect(&facts, "tenure.premature");
    assert_true(fabs(value_of(&finding, EDEN_PARAM_tenure_fill) - 0.9) < 1e-9);

    renew(&facts);
    tenuring(&facts, 0.45); /* a bet that is won more often than not, though it costs enough */
    expect_none(&facts, "tenure.premature");

    renew(&facts); /* no samples: it is not known, and said so */
    tenuring(&facts, 0.9);
    facts.all = (struct tune_site){0};
    expect_none(&facts, "tenure.premature");
    assert_true(is_unexamined(&facts, "tenure.premature"));
}

TEST(threshold_outside_the_semispace_is_reported_whatever_it_costs) {
    FACTS(facts);
    for (int i = 0; i < 10; i++) {
        struct tune_pass *pass = add_scavenge(&facts, 1000, MB, 0);
        pass->threshold = i % 2 ? 0 : pass->semispace_limit; /* at the end: tenures all, as asked */
    }
    expect_none(&facts, "tenure.threshold-outside");
    facts.passes[4].threshold = facts.passes[4].semispace_limit + 8;
    struct finding finding = expect(&facts, "tenure.threshold-outside"); /* however little it costs */
    assert_true(value_of(&finding, EDEN_PARAM_compat_threshold_bug) == 0);
    assert_int_equal(finding.severity, TUNE_HIGH);
    facts.passes[4].threshold = facts.passes[4].semispace_start - 8;
    expect(&facts, "tenure.threshold-outside");
    facts.passes[4].threshold = facts.passes[4].semispace_start;
    expect_none(&facts, "tenure.threshold-outside");
}

static void nepotism(struct tune_facts *facts, uint64_t young_freed) {
    for (int i = 0; i < 200; i++) {
        add_scavenge(facts, 5 * MS, 3 * MB, 2 * MB);
        if (i % 5 == 4) {
            add_full(facts, EDEN_FULL_RATIO, 20 * MS, 30 * MB, 9 * MB)->young_freed = young_freed;
        }
    }
}

TEST(tenure_nepotism_needs_more_than_a_sixth) {
    FACTS(facts);
    nepotism(&facts, 2 * MB);
    expect(&facts, "tenure.nepotism");
    renew(&facts);
    nepotism(&facts, MB / 2); /* a sixth */
    for (int i = 0; i < 500; i++) {
        add_scavenge(&facts, 10 * MS, 3 * MB, 2 * MB);
    }
    expect_none(&facts, "tenure.nepotism");
}

/* ---- the heap ---------------------------------------------------------------------------------------------------- */

static void swings(struct tune_facts *facts, bool unmaps) {
    uint64_t capacity = 40 * MB;
    for (int i = 0; i < 20; i++) {
        add_scavenge(facts, MS, MB, 0);
        struct tune_pass *pass = add_full(facts, EDEN_FULL_ALLOCATION, 40 * MS, 64 * MB, 40 * MB);
        pass->requested = 40 * MB;
        pass->capacity_before = 64 * MB;
        if (unmaps) {
            facts->segments[facts->segment_count++] =
                (struct tune_segment){pass->start_ns + 10, 40 * MB, capacity -= 40 * MB, false};
        }
        if (unmaps || i == 0) {
            facts->segments[facts->segment_count++] =
                (struct tune_segment){pass->start_ns + 20, 40 * MB, capacity += 40 * MB, true};
        }
    }
}

TEST(heap_thrash_proposes_a_threshold_above_the_swings) {
    FACTS(facts);
    set(&facts, "shrink_threshold", "8388608");
    swings(&facts, true);
    struct finding finding = expect(&facts, "heap.thrash");
    assert_true(value_of(&finding, EDEN_PARAM_shrink_threshold) >= 40.0 * MB);
    expect_none(&facts, "full.headroom"); /* those collections are of the thrashing */

    renew(&facts); /* the return takes 30 of 40 ms, which are in no phase */
    set(&facts, "shrink_threshold", "8388608");
    swings(&facts, true);
    for (size_t i = 0; i < facts.pass_count; i++) {
        if (facts.passes[i].full) {
            facts.passes[i].part_ns[EDEN_PHASE_mark] = 4 * MS;
            facts.passes[i].part_ns[EDEN_PHASE_sweep] = 3 * MS;
            facts.passes[i].part_ns[EDEN_PHASE_compact] = 3 * MS;
            facts.passes[i].part_ns[EDEN_PHASE_compact__move] = 2 * MS;
        }
    }
    finding = expect(&facts, "heap.thrash");
    struct account_shares shares = shares_of(&facts);
    assert_true(fabs(shares.rest[TUNE_FULLS] - 0.02) < 1e-9);
    assert_true(fabs(shares.explained - 0.06) < 1e-9);
    assert_true(finding.gains && fabs(finding.gain_max - 20 * 30 / 820.0) < 1e-9);

    renew(&facts); /* the same swings, of what stays mapped */
    swings(&facts, false);
    expect_none(&facts, "heap.thrash");

    renew(&facts); /* twice is no pattern, however long it took */
    set(&facts, "shrink_threshold", "8388608");
    swings(&facts, true);
    facts.segment_count = 4;
    for (size_t i = 0; i < facts.pass_count; i++) {
        facts.passes[i].duration_ns *= 10;
        facts.passes[i].freed_bytes = 0;
    }
    expect_none(&facts, "heap.thrash");
}

TEST(heap_fragmented_needs_enough_free_bytes_in_pieces) {
    FACTS(facts);
    set(&facts, "compactor", "none");
    add_scavenge(&facts, 1000, 1000, 0);
    struct tune_pass *pass = add_full(&facts, EDEN_FULL_ALLOCATION, MS, 60 * MB, MB);
    pass->capacity_after = 90 * MB;
    pass->largest_free = 2 * MB;
    pass->free_chunks = 5000;
    facts.failures[facts.failure_count++] = (struct tune_allocation){pass->start_ns + 10, 12 * MB, 1};
    struct finding finding = expect(&facts, "heap.fragmented");
    assert_true(value_of(&finding, EDEN_PARAM_compactor) == 0);
    facts.failures[0].bytes = 200 * MB; /* more than is free: no pieces would do */
    expect_none(&facts, "heap.fragmented");
    facts.failures[0].bytes = 16; /* it is simply full */
    pass->old_after = pass->capacity_after - 1000;
    pass->largest_free = 8;
    expect_none(&facts, "heap.fragmented");
}

TEST(heap_limit_proposes_more_where_the_limit_causes_collections) {
    FACTS(facts);
    set(&facts, "max_heap", "104857600"); /* 100 MB, 22.4 of them new space */
    add_scavenge(&facts, 1000, 1000, 0);
    add_full(&facts, EDEN_FULL_RATIO, MS, 70 * MB, MB);
    facts.segments[facts.segment_count++] = (struct tune_segment){5 * MS, 30 * MB, 76 * MB, true};
    struct finding finding = expect(&facts, "heap.limit");
    assert_true(value_of(&finding, EDEN_PARAM_max_heap) > 104857600.0);
    facts.segments[0].capacity_after = 60 * MB;
    expect_none(&facts, "heap.limit");
    facts.segments[0].capacity_after = 90 * MB; /* while new space was smaller */
    finding = expect(&facts, "heap.limit");
    assert_non_null(strstr(finding.evidence[0], " 100% of max_heap"));
    set(&facts, "max_heap", "none");
    expect_none(&facts, "heap.limit");
}

/* 40 full collections over the ten seconds, one in each quarter of a second; `alive` gives what each leaves, in MB. */
static void fulls_that_leave(struct tune_facts *facts, double (*alive)(int full), int count) {
    for (int i = 0; i < count; i++) {
        uint64_t at = (uint64_t)(i + 1) * 10000 * MS / 41, left = (uint64_t)(alive(i) * (double)MB);
        struct tune_pass *pass = add_scavenge(facts, MS, MB, MB);
        pass->start_ns = at;
        pass->old_before = left + 8 * MB;
        pass->allocated_since = 100 * MB;
        pass = add_full(facts, EDEN_FULL_RATIO, (4 + (uint64_t)i) * MS / 4, left + 8 * MB, 8 * MB);
        pass->start_ns = at + MS;
    }
}

static double leaks(int full) { return 20 + full; }
static double leaks_fast(int full) { return 20 + full * 40; }
static double leaks_unsteadily(int full) { return 20 + full + full % 5; } /* what it works on comes and goes */
static double leaks_little(int full) { return 400 + full * 0.5; }         /* 5% in the last half */
static double builds_first(int full) { return full < 16 ? 20 + full * 10 : 180; }
static double builds_most(int full) { return full < 28 ? 20 + full * 10 : 300 + full * 0.01; }
static double fills_a_cache(int full) { return 200 - 180 * exp(-full / 6.0); }
static double swings_widely(int full) { return 20 + (full % 10) * 10; }
static double fell_from_more(int full) { return full < 10 ? 500 : 20 + full; }

TEST(heap_grows_reports_what_is_alive_after_each_full_collection) {
    FACTS(facts);
    fulls_that_leave(&facts, leaks, 40);
    struct finding finding = expect(&facts, "heap.grows"); /* though collections take 1% of the time */
    assert_int_equal(finding.setting_count, 0);
    assert_int_equal(finding.severity, TUNE_MEDIUM);
    assert_string_equal(finding.evidence[0], "40 full collections: the first left 20.0 MiB alive in old space (seq 2 "
                                             "at 0.245 s), the last 59.0 MiB (seq 80 at 9.76 s)");
    /* 1 MiB for each 100 MiB; 41 collections take ten seconds. The groups' lowest levels are the first ones. */
    assert_non_null(strstr(finding.evidence[1], "by 10.2 KiB for each MiB allocated, and by 4.10 MiB per second"));
    assert_string_equal(finding.evidence[2], "the first of these full collections took 1.00 ms, the last 10.8 ms");
    assert_non_null(strstr(finding.how, "edenscope lifetimes"));
    expect_none(&facts, "ok");

    facts.sites = calloc(4, sizeof *facts.sites); /* samples name what is alive */
    assert_non_null(facts.sites);
    facts.site_count = 2;
    snprintf(facts.sites[0].name, sizeof facts.sites[0].name, "Array, Maker>>dropped");
    snprintf(facts.sites[1].name, sizeof facts.sites[1].name, "Association, Registry>>add:");
    facts.sites[1].alive_bytes = facts.all.alive_bytes = 50e6;
    finding = expect(&facts, "heap.grows");
    assert_int_equal(finding.evidence_count, 4);
    assert_string_equal(finding.evidence[3],
                        "alive at the end, by samples: Association, Registry>>add:, 100% of the bytes");

    renew(&facts);
    fulls_that_leave(&facts, leaks_unsteadily, 40);
    expect(&facts, "heap.grows");

    renew(&facts); /* growth without end has no size */
    fulls_that_leave(&facts, leaks_fast, 40);
    expect(&facts, "heap.grows");
    for (size_t i = 0; i < facts.pass_count; i++) {
        facts.passes[i].duration_ns *= facts.passes[i].full ? 10 : 1;
    }
    finding = expect(&facts, "full.growth");
    assert_true(value_of(&finding, EDEN_PARAM_full_gc_ratio) == 10);
    assert_true(isnan(value_of(&finding, EDEN_PARAM_full_gc_min_old)));
}

TEST(heap_grows_is_silent_where_growth_ends) {
    double (*const programs[])(int) = {leaks_little,  builds_first,  builds_most,
                                       fills_a_cache, swings_widely, fell_from_more};
    FACTS(facts);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        renew(&facts);
        fulls_that_leave(&facts, programs[i], 40);
        expect_none(&facts, "heap.grows");
    }
    renew(&facts); /* it grew, and then made no garbage to collect: what became of it is not known */
    fulls_that_leave(&facts, leaks, 28);
    expect_none(&facts, "heap.grows");
}

TEST(heap_grows_needs_full_collections_to_know) {
    FACTS(facts);
    for (uint64_t i = 0; i < 40; i++) { /* tenured, dead or alive */
        struct tune_pass *pass = add_scavenge(&facts, MS, MB, 4 * MB);
        pass->start_ns = (i + 1) * 10000 * MS / 41;
        pass->old_before = i * 4 * MB;
    }
    expect_none(&facts, "heap.grows");
    struct findings findings;
    assert_true(tune_examine(&facts, &findings));
    assert_int_equal(findings.unexamined_count, 1);
    assert_string_equal(findings.unexamined[0].key, "heap.grows");
    findings_clear(&findings);
}

static void weak_load(struct tune_facts *facts, uint64_t weak_ns) {
    for (int i = 0; i < 100; i++) {
        struct tune_pass *pass = add_scavenge(facts, 20 * MS, 100 * 1024, 0);
        pass->part_ns[EDEN_PHASE_scavenge__weak] = weak_ns;
        pass->part_objects[EDEN_PHASE_scavenge__weak] = 500;
        pass->part_objects[EDEN_PHASE_scavenge__copy] = 5000;
    }
}

TEST(waiting_for_the_machine_is_reported_with_its_cause) {
    FACTS(facts);
    add_pass(&facts, false, EDEN_SCAVENGE_EDEN, 1000 * MS);
    add_pass(&facts, true, EDEN_FULL_RATIO, 1000 * MS);
    facts.spent[TUNE_SCAVENGES] = (struct pause_time){.ns = {[PAUSE_working] = 900 * MS, [PAUSE_no_cpu] = 100 * MS}};
    facts.spent[TUNE_FULLS] = (struct pause_time){.ns = {[PAUSE_working] = 950 * MS, [PAUSE_asleep] = 50 * MS}};
    expect_none(&facts, "machine.waits"); /* 1% of the time: sleeping is the program's own */
    facts.spent[TUNE_SCAVENGES].ns[PAUSE_no_cpu] = 400 * MS;
    facts.spent[TUNE_FULLS].ns[PAUSE_throttled] = 300 * MS;
    struct finding finding = expect(&facts, "machine.waits");
    assert_near(finding.time_share, 0.07, 1e-9);
    assert_int_equal(finding.setting_count, 0);
    assert_near(finding.explained_ns[TUNE_SCAVENGES], 400.0 * MS, 1);
    assert_near(finding.explained_ns[TUNE_FULLS], 300.0 * MS, 1);
    assert_non_null(strstr(finding.evidence[0], "without a CPU for 400 ms, throttled for 300 ms"));
    assert_non_null(strstr(finding.how, "more CPUs"));
    facts.spent[TUNE_FULLS].ns[PAUSE_throttled] = 500 * MS;
    facts.spent[TUNE_FULLS].ns[PAUSE_faulting] = 150 * MS; /* work, too */
    finding = expect(&facts, "machine.waits");
    assert_non_null(strstr(finding.evidence[0], "worked for 2.00 s"));
    assert_non_null(strstr(finding.how, "cpu.max"));
    facts.spent[TUNE_FULLS].ns[PAUSE_disk] = 600 * MS;
    finding = expect(&facts, "machine.waits");
    assert_non_null(strstr(finding.how, "swap"));
}

TEST(ephemeron_load_is_reported_by_time_or_by_number) {
    FACTS(facts);
    weak_load(&facts, 15 * MS);
    expect(&facts, "ephemeron.load");
    renew(&facts);
    weak_load(&facts, 4 * MS); /* a fifth, though it is 4% of the run */
    expect_none(&facts, "ephemeron.load");
    facts.figures[EDEN_FIGURE_mourned] = 5000000; /* ten times what is moved */
    struct finding finding = expect(&facts, "ephemeron.load");
    assert_int_equal(finding.setting_count, 0);     /* a larger eden may gain nothing */
    facts.figures[EDEN_FIGURE_mourned] = 500000000; /* whose time, by the estimate, is five times the run */
    finding = expect(&facts, "ephemeron.load");
    assert_true(finding.time_share <= tune_gc_share(&facts));
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

TEST(program_allocates_names_the_busiest_sites) {
    FACTS(facts); /* all that survives stays; tenured at once, and no full collection */
    for (int i = 0; i < 300; i++) {
        add_scavenge(&facts, 15 * MS, 0, 4 * MB);
    }
    add_survivors(&facts, 1200e6, 1, true, 0);
    struct finding finding = expect(&facts, "program.allocates");
    assert_int_equal(finding.setting_count, 0);
    assert_non_null(strstr(finding.evidence[1], "Node, Maker>>make1"));
    facts.figures[EDEN_FIGURE_allocated_bytes] = facts.figures[EDEN_FIGURE_survived_bytes] = UINT64_MAX;
    finding = expect(&facts, "program.allocates"); /* as a real number, 2^64 */
    assert_non_null(strstr(finding.evidence[0], "16.0 EiB were allocated"));
    assert_non_null(strstr(finding.evidence[0], "16.0 EiB were copied"));
    renew(&facts); /* a third of the run is in collections: in one, at which the machine stopped */
    for (int i = 0; i < 20; i++) {
        add_scavenge(&facts, MS, 0, MB / 256);
        add_full(&facts, EDEN_FULL_ALLOCATION, i == 7 ? 5000 * MS : MS, 24 * MB, 24 * MB);
    }
    expect_none(&facts, "program.allocates");
}

TEST(ok_needs_an_observed_collection) {
    FACTS(facts);
    expect_none(&facts, "ok"); /* nothing happened, or a collection has been under way all the time */
    assert_non_null(strstr(expect(&facts, "unseen").evidence[0], "unknown"));
    facts.collection = (struct collection_model){.known = true};
    expect_none(&facts, "ok");
    assert_string_equal(expect(&facts, "unseen").evidence[0], "no collection was observed");
    for (int i = 0; i < 10; i++) {
        add_scavenge(&facts, MS, MB, 0);
    }
    struct finding finding = expect(&facts, "ok");
    expect_none(&facts, "unseen");
    assert_int_equal(finding.setting_count, 0);
    assert_false(finding.gains);
    facts.wall_ns = 0; /* nothing is divided by it */
    expect(&facts, "ok");
}

/* A process that was stopped in a scavenge a second before tune attached, and that stays so. */
TEST(unfinished_is_a_collection_for_most_of_the_time) {
    FACTS(facts);
    const uint64_t end = 90000 * MS;
    facts.collection = (struct collection_model){.known = true,
                                                 .under_way = true,
                                                 .phase = EDEN_PHASE_scavenge__copy,
                                                 .since_ns = end - 11000 * MS,
                                                 .phase_since_ns = end - 10900 * MS,
                                                 .until_ns = end,
                                                 .observed_ns = 10001 * MS}; /* the clocks were read one by one */
    struct finding finding = expect(&facts, "unfinished");
    expect_none(&facts, "unseen");
    expect_none(&facts, "unexplained");
    assert_int_equal(finding.severity, TUNE_HIGH);
    assert_near(finding.time_share, 1, 0);
    assert_string_equal(finding.evidence[0],
                        "in scavenge.copy for 10.9 s; this collection had taken 11.0 s by then, 10.0 s of it observed");
    assert_string_equal(finding.evidence[1], "no collection ended while it was observed");
    assert_non_null(strstr(finding.how, "stopped"));
    assert_int_equal(finding.setting_count, 0);
    struct findings findings;
    struct account account;
    struct account_shares shares;
    assert_true(tune_examine(&facts, &findings));
    account_make(&account, &findings);
    account_shares(&shares, &account, &facts);
    assert_near(shares.gc, 1, 0);
    assert_near(shares.explained, 1, 0);
    char *text __attribute__((cleanup(free_at))) = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    tune_print_text(out, &(struct tune_report){.findings = &findings, .heaps = 1, .before = ""});
    fclose(out);
    assert_non_null(strstr(text, "100.0% of 10.0 s was spent in collections: 10.0 s in one that had not ended"));
    assert_non_null(strstr(text, "No parameter is proposed: find out why the collection does not end.\n"));
    assert_null(strstr(text, "observe it longer"));
    findings_clear(&findings);

    add_scavenge(&facts, MS, MB, 0); /* it took its time before that */
    assert_int_equal(expect(&facts, "unfinished").evidence_count, 1);
    renew(&facts); /* the recording happened to end in one */
    facts.collection =
        (struct collection_model){.known = true, .under_way = true, .phase = EDEN_PHASE_mark, .observed_ns = 20 * MS};
    expect_none(&facts, "unfinished");
    assert_string_equal(expect(&facts, "unseen").evidence[0], "no collection ended while it was observed");
    facts.collection.observed_ns = 9000 * MS; /* its start was not seen */
    assert_string_equal(expect(&facts, "unfinished").evidence[0],
                        "in full.mark for ?; this collection had taken ? by then, 9.00 s of it observed");
}

/* report's shares are of the whole recording. */
TEST(a_heap_that_came_late_says_what_its_shares_are_of) {
    FACTS(facts);
    add_scavenge(&facts, 100 * MS, MB, 0);
    facts.recorded_ns = 2 * facts.wall_ns;
    struct findings findings;
    assert_true(tune_examine(&facts, &findings));
    char *text __attribute__((cleanup(free_at))) = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    tune_print_text(out, &(struct tune_report){.findings = &findings, .heaps = 1, .before = ""});
    fclose(out);
    assert_non_null(strstr(text, "1.0% of 10.0 s of the 20.0 s recorded was spent in collections"));
    findings_clear(&findings);
}

/* 400 scavenges; each eighth is the first part of a full collection, and one of these pauses is longer than 30 ms. */
static void add_short_pauses(struct tune_facts *facts) {
    set(facts, "pause_goal", "30");
    for (int i = 0; i < 400; i++) {
        struct tune_pass *pass = add_scavenge(facts, 4 * MS, MB, 0);
        pass->part_ns[EDEN_PHASE_scavenge] = 4 * MS;
        pass->part_ns[EDEN_PHASE_scavenge__mark] = MS;
        pass->part_ns[EDEN_PHASE_scavenge__sweep] = MS / 2;
        if (i % 8 == 0) {
            pass->cause = EDEN_SCAVENGE_FULL;
            add_full(facts, EDEN_FULL_RATIO, i == 0 ? 28 * MS : MS, 64 * MB, 32 * MB);
        }
    }
}

TEST(pause_goal_names_its_price) {
    FACTS(facts);
    add_short_pauses(&facts);
    struct finding finding = expect(&facts, "pause.goal");
    assert_near(finding.time_share, 0.06, 1e-9);
    assert_near(finding.explained_ns[TUNE_SCAVENGES], 600.0 * MS, 1);
    assert_string_equal(finding.evidence[0],
                        "1 of 400 pauses were longer than the goal of 30.0 ms; the longest took 32.0 ms");
    assert_string_equal(finding.evidence[1], "scavenges marked and swept old space for 600 ms, 6.0% of the run");
    assert_int_equal(finding.setting_count, 0);
    set(&facts, "pause_goal", "0");
    expect_none(&facts, "pause.goal");

    renew(&facts); /* it costs nothing, but is missed in one of 50 pauses */
    set(&facts, "pause_goal", "1.5");
    for (int i = 0; i < 50; i++) {
        add_scavenge(&facts, i == 7 ? 2 * MS : MS, MB, 0);
    }
    assert_string_equal(expect(&facts, "pause.goal").evidence[0],
                        "1 of 50 pauses were longer than the goal of 1.50 ms; the longest took 2.00 ms");
    set(&facts, "pause_goal", "3");
    expect_none(&facts, "pause.goal");
    add_survivors(&facts, 4e6, 1, false, 0); /* nor is it in force while lifetimes are measured */
    assert_non_null(strstr(expect(&facts, "pause.goal").why, "not in force"));
}

TEST(pause_goal_decides_over_the_size_of_eden) {
    FACTS(facts);
    frequent_scavenges(&facts, "1048576", 120000);
    assert_true(expect(&facts, "eden.small").setting_count > 0);
    set(&facts, "pause_goal", "10");
    const struct finding finding = expect(&facts, "eden.small");
    assert_int_equal(finding.setting_count, 0);
    assert_false(finding.gains);
    assert_non_null(strstr(finding.how, "pause_goal decides"));
}

/* The machine stops the program in a few full collections that no rule is for. */
TEST(unexplained_is_what_no_rule_accounts_for) {
    FACTS(facts);
    for (int i = 0; i < 4; i++) {
        add_scavenge(&facts, MS, MB, 0);
    }
    add_full(&facts, EDEN_FULL_LIMIT, 400 * MS, 24 * MB, 24 * MB);
    expect(&facts, "ok"); /* 4% of the time */
    expect_none(&facts, "unexplained");
    add_full(&facts, EDEN_FULL_LIMIT, 7000 * MS, 24 * MB, 24 * MB)->part_ns[EDEN_PHASE_mark] = 6000 * MS;
    expect_none(&facts, "ok");
    struct finding finding = expect(&facts, "unexplained"); /* 74% */
    assert_int_equal(finding.setting_count, 0);
    assert_int_equal(finding.severity, TUNE_HIGH);
    assert_true(fabs(finding.time_share - tune_gc_share(&facts)) < 1e-9);
    assert_non_null(strstr(finding.evidence[1], "full collections: 74.0% of the run is unexplained"));
    assert_non_null(strstr(finding.evidence[1], "goes into marking"));
    assert_non_null(
        strstr(finding.evidence[2], "the longest pause was 7.00 s; the longest collection, a full collection"));
    assert_true(shares_of(&facts).explained == 0);
    renew(&facts); /* one long pause in a long run */
    facts.wall_ns = 1000000 * MS;
    add_full(&facts, EDEN_FULL_LIMIT, 501 * MS, 24 * MB, 24 * MB);
    expect_none(&facts, "ok");
    expect(&facts, "unexplained");
}

/* Findings explain their part, and no more than the whole; the rest is reported beside them. */
TEST(findings_explain_no_more_than_their_part) {
    FACTS(facts);
    for (int i = 0; i < 10; i++) {
        add_full(&facts, EDEN_FULL_REQUEST, 100 * MS, 24 * MB, MB);
        add_full(&facts, EDEN_FULL_LIMIT, 200 * MS, 24 * MB, MB);
    }
    expect(&facts, "full.explicit");
    struct finding finding = expect(&facts, "unexplained");
    struct account_shares shares = shares_of(&facts);
    assert_true(fabs(shares.explained - 0.1) < 1e-9);
    assert_true(fabs(shares.rest[TUNE_FULLS] - 0.2) < 1e-9);
    assert_true(fabs(finding.time_share - 0.2) < 1e-9);
}

/* What processes report may be more than there was: both kinds together, too. */
TEST(shares_of_the_account_stay_within_the_time_observed) {
    FACTS(facts);
    for (int i = 0; i < 8; i++) {
        add_scavenge(&facts, 1200 * MS, MB, 0);
        add_full(&facts, EDEN_FULL_REQUEST, 900 * MS, 24 * MB, MB);
    }
    struct account_shares shares = shares_of(&facts); /* 96% and 72% */
    assert_true(fabs(shares.gc - 1) < 1e-9);
}

/* As old space of 60 MB that grows by a third, and loses as much. */
static void fulls_of_replacement(struct tune_facts *facts, uint64_t ns, uint64_t freed) {
    for (int i = 0; i < 20; i++) {
        add_scavenge(facts, MS, MB, 20 * MB);
        add_full(facts, EDEN_FULL_RATIO, ns, 80 * MB, freed);
    }
    add_survivors(facts, 400e6, 1, true, 0.2); /* most live beyond the next full collection */
}

TEST(full_frequent_proposes_a_ratio_within_the_limit) {
    FACTS(facts);
    fulls_of_replacement(&facts, 100 * MS, 20 * MB);
    struct finding finding = expect(&facts, "full.frequent");
    /* Twice 88 MB and new space, 22 MB, of which new space takes its part: 198 MB, which are 60 and 138 more. */
    double value = value_of(&finding, EDEN_PARAM_full_gc_ratio);
    assert_true(value >= 2.2 && value <= 2.3);
    assert_true(finding.gain_max > 0.8 && finding.gain_max < 0.9);
    set(&facts, "max_heap", "209715200"); /* 200 MB, of which 180 may be taken: 157 for old space */
    finding = expect(&facts, "full.frequent");
    value = value_of(&finding, EDEN_PARAM_full_gc_ratio);
    assert_true(value >= 1.5 && value <= 1.7);
    set(&facts, "max_heap", "125829120"); /* 120 MB: there is no room */
    expect_none(&facts, "full.frequent");
    set(&facts, "max_heap", "none");
    set(&facts, "full_gc_ratio", "2"); /* it is as large as it may be */
    expect_none(&facts, "full.frequent");

    renew(&facts); /* they cost little */
    fulls_of_replacement(&facts, 10 * MS, 20 * MB);
    expect_none(&facts, "full.frequent");

    renew(&facts); /* they free little: not what they are for */
    fulls_of_replacement(&facts, 100 * MS, 5 * MB);
    expect_none(&facts, "full.frequent");

    renew(&facts); /* what dies old is tenured too early, which explains it */
    overflowing(&facts, 0.9);
    expect(&facts, "scavenge.overflow");
    expect_none(&facts, "full.frequent");
}

static void expect_limit_advised(const struct finding *finding) {
    assert_int_equal(finding->setting_count, 0);
    assert_non_null(strstr(finding->how, "max_heap"));
    assert_true(finding->gains);
}

/* What policy=auto decides is not proposed; what the program has set is. */
TEST(full_collections_of_policy_auto_are_for_the_limit_to_spare) {
    FACTS(facts);
    set(&facts, "policy", "auto");
    fulls_of_growth(&facts, 200 * MS, 3);
    struct finding finding = expect(&facts, "full.growth");
    expect_limit_advised(&finding);
    set(&facts, "full_gc_ratio", "0.1");
    finding = expect(&facts, "full.growth");
    assert_true(value_of(&finding, EDEN_PARAM_full_gc_ratio) >= 8);
    set(&facts, "full_gc_ratio", "0.33");
    set(&facts, "max_heap", "1073741824"); /* it waits as long as that lets it */
    expect_none(&facts, "full.growth");

    renew(&facts);
    set(&facts, "policy", "auto");
    fulls_of_replacement(&facts, 100 * MS, 30 * MB);
    finding = expect(&facts, "full.frequent");
    expect_limit_advised(&finding);
    set(&facts, "max_heap", "1073741824");
    expect_none(&facts, "full.frequent");

    renew(&facts); /* it grows without a collection, as far as it lets itself */
    set(&facts, "policy", "auto");
    fulls_of_columns(&facts, 0);
    expect_none(&facts, "full.headroom");
    finding = expect(&facts, "full.growth");
    expect_limit_advised(&finding);
}

/* --max-heap: what is proposed fits it, and it is proposed. */
TEST(what_is_proposed_fits_a_limit_that_is_asked_for) {
    FACTS(facts);
    fulls_of_columns(&facts, 0); /* up to 290 MB */
    tune_ask_max_heap(&facts, 250 * MB);
    struct finding finding = expect(&facts, "full.headroom");
    assert_true(value_of(&finding, EDEN_PARAM_grow_headroom) == 250.0 * MB); /* it grows to the limit at once */
    assert_false(finding.gains);                                             /* but does not have all it would need */
    tune_ask_max_heap(&facts, 4096 * MB);
    finding = expect(&facts, "full.headroom");
    assert_true(finding.gains);

    renew(&facts); /* old space grew to 78 MB and has 84: it is to be collected next to the limit, not before */
    one_full_of_growth(&facts, 500 * MS);
    tune_ask_max_heap(&facts, 107 * MB);
    finding = expect(&facts, "full.growth");
    double value = value_of(&finding, EDEN_PARAM_full_gc_min_old);
    assert_true(value > 0);
    assert_true(value < 78.0 * MB);
    assert_false(finding.gains);
    tune_ask_max_heap(&facts, 80 * MB); /* more lives than new space leaves of it */
    expect_none(&facts, "full.growth");

    renew(&facts); /* policy=auto needs the limit alone */
    set(&facts, "policy", "auto");
    fulls_of_replacement(&facts, 100 * MS, 30 * MB);
    tune_ask_max_heap(&facts, 1024 * MB);
    finding = expect(&facts, "full.frequent");
    assert_true(value_of(&finding, EDEN_PARAM_max_heap) == 1024.0 * MB);
    assert_int_equal(finding.setting_count, 1);

    renew(&facts); /* a limit that was met: one that is no larger helps nothing */
    set(&facts, "max_heap", "104857600");
    add_scavenge(&facts, 1000, 1000, 0);
    add_full(&facts, EDEN_FULL_RATIO, MS, 70 * MB, MB);
    facts.segments[facts.segment_count++] = (struct tune_segment){5 * MS, 30 * MB, 76 * MB, true};
    struct tune_facts as_it_ran = facts;
    tune_ask_max_heap(&facts, 90 * MB);
    finding = expect(&facts, "heap.limit");
    assert_int_equal(finding.setting_count, 0);
    facts = as_it_ran;
    tune_ask_max_heap(&facts, 200 * MB);
    finding = expect(&facts, "heap.limit");
    assert_true(value_of(&finding, EDEN_PARAM_max_heap) == 200.0 * MB);

    struct findings none = {.facts = &facts}; /* what no finding sets is set, too */
    struct tune_options options;
    char line[TUNE_OPTIONS_LINE];
    tune_merge(&none, 1, &options);
    assert_string_equal(tune_options_line(line, &options), "max_heap=200M");
}

TEST(policy_auto_tenures_early_as_it_is) {
    FACTS(facts);
    set(&facts, "policy", "auto");
    for (int i = 0; i < 300; i++) {
        add_scavenge(&facts, 5 * MS, 25 * MB / 10, 0);
    }
    add_survivors(&facts, 25e5, TUNE_COPIES - 1, true, 0);
    expect_none(&facts, "scavenge.copying");
    set(&facts, "tenure_fill", "0.8"); /* so it does not */
    expect(&facts, "scavenge.copying");
}

/* It uses what it may: full is what has no room for what lives. */
TEST(heap_limit_of_policy_auto_goes_by_what_lives) {
    FACTS(facts);
    set(&facts, "policy", "auto");
    set(&facts, "max_heap", "104857600");
    facts.segments[facts.segment_count++] = (struct tune_segment){5 * MS, 30 * MB, 76 * MB, true};
    add_scavenge(&facts, 1000, 1000, 0)->old_before = 76 * MB;
    add_full(&facts, EDEN_FULL_RATIO, MS, 76 * MB, 50 * MB);
    expect_none(&facts, "heap.limit");
    add_full(&facts, EDEN_FULL_RATIO, MS, 76 * MB, 10 * MB);
    struct finding finding = expect(&facts, "heap.limit");
    assert_true(value_of(&finding, EDEN_PARAM_max_heap) > 104857600.0);
    assert_non_null(strstr(finding.evidence[1], "2 full collections (cause ratio) took 2.00 ms: max_heap lets"));
    assert_non_null(strstr(finding.why, "each one frees less"));
    add_full(&facts, EDEN_FULL_LIMIT, MS, 76 * MB, 20 * MB);
    add_full(&facts, EDEN_FULL_RATIO, MS, 20 * MB, MB); /* with room to grow */
    finding = expect(&facts, "heap.limit");
    assert_non_null(strstr(finding.evidence[1], "2 full collections (cause ratio) took 2.00 ms"));
    assert_non_null(strstr(finding.evidence[2], "1 full collection (cause limit) took 1.00 ms"));
    assert_null(strstr(finding.why, "each one frees less"));
}

TEST(each_known_key_has_a_rule_with_a_pattern) {
    static const char *const keys[] = {
        "full.growth",      "full.headroom",     "full.explicit",    "scavenge.remembered",
        "scavenge.copying", "scavenge.overflow", "tenure.premature", "tenure.threshold-outside",
        "tenure.nepotism",  "eden.small",        "eden.cache",       "full.frequent",
        "heap.thrash",      "heap.fragmented",   "heap.limit",       "heap.grows",
        "pause.goal",       "machine.waits",     "ephemeron.load",   "program.allocates",
        "unexplained",      "unfinished",        "unseen",           "ok"};
    size_t count = 0;
    for (const struct rule *rule = tune_rules; rule->key; rule++) {
        assert_non_null(rule->pattern);
        count++;
    }
    assert_int_equal(count, sizeof keys / sizeof *keys);
    for (size_t i = 0; i < count; i++) {
        const struct rule *rule = tune_rules;
        while (rule->key && strcmp(rule->key, keys[i]) != 0) {
            rule++;
        }
        assert_non_null(rule->key);
    }
}

/* ---- values and merging ------------------------------------------------------------------------------------------ */

static void expect_text(enum eden_param_id id, double number, const char *wanted) {
    char text[TUNE_VALUE];
    assert_string_equal(tune_value(text, id, number), wanted);
}

TEST(proposed_values_are_rounded_within_bounds) {
    expect_text(EDEN_PARAM_eden_size, 64.0 * MB, "64M");
    expect_text(EDEN_PARAM_eden_size, 63.2 * MB, "64M");
    expect_text(EDEN_PARAM_eden_size, 1.5 * MB, "1536K");
    expect_text(EDEN_PARAM_eden_size, 1, "64K"); /* its lower bound */
    expect_text(EDEN_PARAM_grow_headroom, 1000.0 * MB, "1G");
    expect_text(EDEN_PARAM_shrink_threshold, INFINITY, "none");
    expect_text(EDEN_PARAM_full_gc_ratio, INFINITY, "inf");
    expect_text(EDEN_PARAM_full_gc_ratio, 2.5, "2.5");
    expect_text(EDEN_PARAM_tenure_proportion, 7, "1"); /* its upper bound */
    expect_text(EDEN_PARAM_remembered_set, 1, "card");
    expect_text(EDEN_PARAM_compactor, 0, "planning");
    expect_text(EDEN_PARAM_compat_threshold_bug, 0, "0");

    struct tune_parameter parameters[EDEN_PARAM_COUNT];
    tune_parameters_default(parameters);
    assert_true(isinf(parameters[EDEN_PARAM_max_heap].number));
    assert_true(parameters[EDEN_PARAM_survivors_to_keep].number == EDEN_UNSET);
    assert_false(parameters[EDEN_PARAM_eden_size].is_reported);
    tune_parameter_read(parameters, "eden_size", "\n 1048576"); /* it would go into a line for a shell */
    tune_parameter_read(parameters, "eden_size", "nonsense");
    tune_parameter_read(parameters, "no_such", "1");
    assert_false(parameters[EDEN_PARAM_eden_size].is_reported);
    tune_parameter_read(parameters, "eden_size", "1048576");
    assert_true(parameters[EDEN_PARAM_eden_size].is_reported && parameters[EDEN_PARAM_eden_size].number == 1048576);
    tune_parameter_read(parameters, "remembered_set", "object");
    assert_true(parameters[EDEN_PARAM_remembered_set].number == 0);
}

TEST(merging_keeps_one_value_a_parameter_and_names_the_overruled) {
    FACTS(facts);
    struct findings findings[2] = {{.facts = &facts}, {.facts = &facts}};
    struct finding *finding = finding_add(&findings[0], "one", 0.5);
    finding_set(finding, EDEN_PARAM_eden_size, 32.0 * MB);
    finding_set(finding, EDEN_PARAM_tenure_fill, 0.9);
    finding_set(finding, EDEN_PARAM_compactor, 0);
    finding = finding_add(&findings[1], "two", 0.1);
    finding_set(finding, EDEN_PARAM_eden_size, 64.0 * MB);
    finding_set(finding, EDEN_PARAM_tenure_fill, 0);
    finding_set(finding, EDEN_PARAM_compactor, 2);
    struct tune_options options;
    char line[TUNE_OPTIONS_LINE];
    tune_merge(findings, 2, &options);
    assert_string_equal(tune_options_line(line, &options), "eden_size=64M,tenure_fill=0,compactor=planning");
    assert_string_equal(options.from[EDEN_PARAM_eden_size], "two");
    assert_string_equal(options.overruled[EDEN_PARAM_eden_size], "one");
    assert_string_equal(options.overruled[EDEN_PARAM_compactor], "two");
    assert_null(options.overruled[EDEN_PARAM_full_gc_ratio]);
    findings_clear(&findings[0]);
    findings_clear(&findings[1]);
    findings[0].facts = findings[1].facts = &facts;
    tune_merge(findings, 2, &options);
    assert_string_equal(tune_options_line(line, &options), "");
}

/* What is for one heap would stop another one from being created. */
TEST(merging_withholds_what_harms_another_heap) {
    FACTS(small);
    FACTS(large);
    set(&small, "max_heap", "4M");
    small.id = 2;
    struct findings findings[2] = {{.facts = &small}, {.facts = &large}};
    struct tune_options options;
    char line[TUNE_OPTIONS_LINE];
    finding_set(finding_add(&findings[0], "heap.limit", 0.5), EDEN_PARAM_max_heap, 6.0 * MB);
    finding_set(finding_add(&findings[1], "eden.small", 0.1), EDEN_PARAM_eden_size, 8.0 * MB);
    finding_set(finding_add(&findings[1], "full.growth", 0.1), EDEN_PARAM_full_gc_ratio, 1);
    tune_merge(findings, 2, &options);
    assert_string_equal(tune_options_line(line, &options), "full_gc_ratio=1");
    assert_ptr_equal(options.of[EDEN_PARAM_max_heap], &small);
    assert_ptr_equal(options.harmed[EDEN_PARAM_max_heap], &large); /* it has no limit */
    assert_ptr_equal(options.of[EDEN_PARAM_eden_size], &large);
    assert_ptr_equal(options.harmed[EDEN_PARAM_eden_size], &small); /* 7/5 of it are more than it may take */
    set(&large, "max_heap", "5M");
    tune_merge(findings, 2, &options);
    assert_string_equal(tune_options_line(line, &options), "full_gc_ratio=1,max_heap=6M");
    assert_null(options.harmed[EDEN_PARAM_max_heap]);
    set(&small, "max_heap", "none");
    set(&large, "max_heap", "64M");
    tune_merge(findings, 2, &options);
    assert_string_equal(tune_options_line(line, &options), "eden_size=8M,full_gc_ratio=1");
    tune_merge(findings, 1, &options); /* a heap alone is what its findings are about */
    assert_string_equal(tune_options_line(line, &options), "max_heap=6M");
    findings_clear(&findings[0]);
    findings_clear(&findings[1]);
}
