/* Statistics of lifetimes: survival curves against the examples of the literature, weights, merging, verdicts. */
#include "life_builder.h"
#include "stats/lifetimes.h"
#include <math.h>

#include "suite.h"

static void die(struct life_site *site, uint64_t ns) {
    build_end(site, (struct build_end){.outcome = LIFE_DIED, .count = 1, .bytes = 16, .ns = ns});
}

static void live_on(struct life_site *site, uint64_t ns) {
    build_end(site, (struct build_end){.outcome = LIFE_CENSORED, .count = 1, .bytes = 16, .ns = ns});
}

/* Remission of leukaemia in weeks under 6-mercaptopurine (Freireich et al., Blood 21, 1963), with the estimates and
 * Greenwood errors that textbooks print (Cox and Oakes, Analysis of Survival Data, 1984). Times below 32 have buckets
 * of their own. */
static void six_mp(struct life_site *site) {
    static const uint64_t died[] = {6, 6, 6, 7, 10, 13, 16, 22, 23};
    static const uint64_t censored[] = {6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35};
    for (size_t i = 0; i < sizeof died / sizeof *died; i++) {
        die(site, died[i]);
    }
    for (size_t i = 0; i < sizeof censored / sizeof *censored; i++) {
        live_on(site, censored[i]);
    }
}

TEST(the_leukaemia_trial_comes_out) {
    static const struct {
        double time, survival, error;
        uint64_t at_risk;
    } table[] = {
        {6, 0.8571, 0.0764, 21},  {7, 0.8067, 0.0869, 17}, {10, 0.7529, 0.0963, 15}, {13, 0.6902, 0.1068, 12},
        {16, 0.6275, 0.1141, 11}, {22, 0.5378, 0.1282, 7}, {23, 0.4482, 0.1346, 6},
    };
    struct life_site site __attribute__((cleanup(life_site_clear))) = {0};
    struct life_curve curve;
    six_mp(&site);
    life_curve_make(&curve, &site, LIFE_NS, LIFE_BY_OBJECTS);
    assert_true(curve.censored);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct life_point *point = life_curve_at(&curve, table[i].time);
        assert_non_null(point);
        assert_int_equal(histogram_upper(point->bucket), (uint64_t)table[i].time);
        assert_int_equal(point->at_risk, table[i].at_risk);
        assert_near(point->survival, table[i].survival, 0.00005);
        assert_near(point->error, table[i].error, 0.00005);
    }
    assert_null(life_curve_at(&curve, 5.9));
    /* Between deaths it stays. */
    assert_near(life_curve_at(&curve, 21)->survival, 0.6275, 0.00005);
    assert_near(life_curve_at(&curve, 1000)->survival, 0.4482, 0.00005);
}

/* A hostile process may report any counts. */
TEST(counts_beyond_all_sums_leave_errors_finite) {
    struct life_site site __attribute__((cleanup(life_site_clear))) = {0};
    struct life_curve curve;
    for (uint64_t ns = 1; ns <= 3; ns++) {
        build_end(&site, (struct build_end){.outcome = LIFE_DIED, .count = 1ull << 63, .bytes = 16, .ns = ns});
    }
    life_curve_make(&curve, &site, LIFE_NS, LIFE_BY_OBJECTS);
    assert_int_equal(curve.count, 3);
    for (size_t i = 0; i < curve.count; i++) {
        assert_true(isfinite(curve.at[i].error) && isfinite(curve.at[i].survival));
    }
    assert_true(isfinite(life_curve_mean(&curve, 0).error));
}

TEST(percentiles_mark_what_is_unknown) {
    struct life_site site __attribute__((cleanup(life_site_clear))) = {0};
    struct life_curve curve;
    life_curve_make(&curve, &site, LIFE_NS, LIFE_BY_OBJECTS);
    assert_false(life_curve_percentile(&curve, 50).known);
    assert_int_equal(life_curve_percentile(&curve, 50).value, 0);
    six_mp(&site);
    life_curve_make(&curve, &site, LIFE_NS, LIFE_BY_OBJECTS);
    assert_true(life_curve_percentile(&curve, 50).known);
    assert_int_equal(life_curve_percentile(&curve, 50).value, 23);
    assert_int_equal(life_curve_percentile(&curve, 25).value, 13);
    assert_int_equal(life_curve_percentile(&curve, 10).value, 6);
    /* The curve ends at 0.448; the longest time seen lies in the bucket of 34 and 35. */
    assert_false(life_curve_percentile(&curve, 75).known);
    assert_int_equal(life_curve_percentile(&curve, 75).value, 34);

    /* Without censoring, the ranks: 1 to 10. */
    struct life_site whole __attribute__((cleanup(life_site_clear))) = {0};
    for (uint64_t i = 1; i <= 10; i++) {
        die(&whole, i);
    }
    life_curve_make(&curve, &whole, LIFE_NS, LIFE_BY_OBJECTS);
    assert_int_equal(life_curve_percentile(&curve, 50).value, 5);
    assert_int_equal(life_curve_percentile(&curve, 90).value, 9);
    assert_int_equal(life_curve_percentile(&curve, 100).value, 10);
    assert_true(life_curve_percentile(&curve, 100).known);

    /* The open bucket has no upper edge. */
    struct life_site ancient __attribute__((cleanup(life_site_clear))) = {0};
    die(&ancient, UINT64_MAX);
    life_curve_make(&curve, &ancient, LIFE_NS, LIFE_BY_OBJECTS);
    assert_false(life_curve_percentile(&curve, 50).known);
    assert_int_equal(life_curve_percentile(&curve, 50).value, histogram_lower(HISTOGRAM_BUCKETS - 1));
}

/* Kaplan and Meier's own example (1958): deaths at 0.8, 3.1, 5.4, 9.2 months, losses at 1.0, 2.7, 7.0, 12.1;
 * here in tenths. */
TEST(kaplan_and_meiers_example_comes_out) {
    static const uint64_t died[] = {8, 31, 54, 92}, lost[] = {10, 27, 70, 121};
    static const double survival[] = {7 / 8., 7 / 10., 21 / 40., 21 / 80.};
    struct life_site site __attribute__((cleanup(life_site_clear))) = {0};
    struct life_curve curve;
    for (int i = 0; i < 4; i++) {
        die(&site, died[i]);
        live_on(&site, lost[i]);
    }
    life_curve_make(&curve, &site, LIFE_NS, LIFE_BY_OBJECTS);
    assert_int_equal(curve.count, 8);
    for (int i = 0; i < 4; i++) {
        const struct life_point *point = life_curve_at(&curve, (double)histogram_upper(histogram_bucket(died[i])));
        assert_near(point->survival, survival[i], 1e-12);
        assert_int_equal(point->deaths, 1);
    }
    /* The restricted mean, by hand: steps at 8 and 31, straight lines over [54, 55] and [92, 95], to 123. */
    struct life_mean mean = life_curve_mean(&curve, 0);
    double area = 8 + 0.875 * (31 - 8) + 0.7 * (54 - 31) + (0.7 + 0.525) / 2 + 0.525 * (92 - 55) +
                  3 * (0.525 + 0.2625) / 2 + 0.2625 * (123 - 95);
    assert_true(mean.known && mean.restricted);
    assert_near(mean.limit, 123, 0);
    assert_near(mean.value, area, 1e-9);
    /* No lifetime is longer than the run. */
    assert_near(life_curve_mean(&curve, 121).value, area - 2 * 0.2625, 1e-9);
}

/* Lifetimes below 16 have buckets of their own: mean, and variance by n, are the plain ones. */
TEST(without_censoring_the_mean_is_the_mean) {
    static const uint64_t times[] = {1, 2, 2, 3, 7, 15};
    struct life_site site __attribute__((cleanup(life_site_clear))) = {0};
    double sum = 0, squares = 0, n = sizeof times / sizeof *times;
    for (int i = 0; i < n; i++) {
        die(&site, times[i]);
        sum += (double)times[i];
        squares += (double)(times[i] * times[i]);
    }
    struct life_mean mean = life_mean_of(&site, LIFE_NS, 0);
    assert_true(mean.known && !mean.restricted);
    assert_near(mean.value, sum / n, 1e-12);
    assert_near(mean.error, sqrt((squares / n - sum / n * sum / n) / n), 1e-12);
    /* Exact, where buckets are wide: 1000 and 1001 are of one. */
    struct life_site wide __attribute__((cleanup(life_site_clear))) = {0};
    die(&wide, 1000);
    die(&wide, 1001);
    assert_near(life_mean_of(&wide, LIFE_NS, 0).value, 1000.5, 0);
}

TEST(samples_count_as_often_as_they_weigh) {
    struct life_site site __attribute__((cleanup(life_site_clear))) = {0};
    struct life_curve curve;
    /* One represents 300 objects of 1000 bytes that live 5 us, two for 50 of 10 bytes each that live 10 us. */
    build_end(&site, (struct build_end){.count = 1, .weight = 300, .bytes = 1000, .ns = 5000, .allocated = 4096});
    build_end(&site, (struct build_end){.count = 2, .weight = 50, .bytes = 10, .ns = 10000, .allocated = 8192});
    assert_near(life_objects(&site.births), 400, 0);
    assert_near(life_mean_of(&site, LIFE_NS, 0).value, (300. * 5000 + 100. * 10000) / 400, 1e-9);
    assert_near(life_mean_of(&site, LIFE_BYTES, 0).value, (300. * 4096 + 100. * 8192) / 400, 1e-9);
    life_curve_make(&curve, &site, LIFE_NS, LIFE_BY_OBJECTS);
    assert_near(curve.at[0].survival, 0.25, 1e-12);
    assert_near(curve.at[1].survival, 0, 0);
    /* The error follows from the three samples. */
    assert_near(curve.at[0].error, 0.25 * sqrt(0.75 / (0.25 * 3)), 1e-12);
    life_curve_make(&curve, &site, LIFE_NS, LIFE_BY_MEMORY);
    assert_near(curve.at[0].survival, 1000. / 301000, 1e-12);
}

TEST(sites_merge_into_classes) {
    struct life_heap heap __attribute__((cleanup(build_clear))) = {0};
    struct life_groups groups;
    build_run(&heap, 1000000, 1 << 20);
    struct life_site *site = build_site(&heap, 3, 3, "Point", "Point");
    build_end(site, (struct build_end){.count = 5, .bytes = 24, .ns = 100, .allocated = 50, .flags = 1});
    build_end(site, (struct build_end){.count = 7, .bytes = 24, .ns = 100000, .allocated = 5000});
    site = build_site(&heap, 5, 5, "Array", "Array");
    build_end(site, (struct build_end){.count = 1, .bytes = 100000, .ns = 900000, .outcome = LIFE_CENSORED});
    site = build_site(&heap, 9, 3, "parse:12", "Point");
    build_end(site, (struct build_end){.count = 11, .bytes = 24, .ns = 100, .flags = 1});
    build_end(site, (struct build_end){.count = 13, .bytes = 24, .ns = 3000});
    build_end(site, (struct build_end){.count = 17, .bytes = 24, .ns = 50, .outcome = LIFE_CENSORED});

    assert_true(life_groups_make(&groups, &heap, false));
    assert_int_equal(groups.count, 2);
    assert_string_equal(groups.at[0]->name, "Array"); /* most memory */
    const struct life_site *point = groups.at[1];
    assert_string_equal(point->class_name, "Point");
    assert_int_equal(point->births.count, 53);
    assert_int_equal(life_sums_of(point, LIFE_DIED, 0).count, 36);
    assert_int_equal(life_sums_of(point, LIFE_DIED, EDEN_LIFE_TENURED).count, 16);
    assert_int_equal(life_sums_of(point, LIFE_CENSORED, 0).count, 17);
    const struct life_histogram *histogram = &point->histogram[LIFE_DIED][LIFE_NS];
    static const uint64_t counts[] = {16, 13, 7}, times[] = {100, 3000, 100000};
    assert_int_equal(histogram->count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(histogram->at[i].bucket, histogram_bucket(times[i]));
        assert_int_equal(histogram->at[i].count, counts[i]);
        assert_int_equal(histogram->at[i].weight, counts[i] * EDEN_WEIGHT_ONE);
        assert_int_equal(histogram->at[i].weight_bytes, counts[i] * 24);
    }
    assert_int_equal(groups.total.births.count, 54);
    life_groups_clear(&groups);

    assert_true(life_groups_make(&groups, &heap, true));
    assert_int_equal(groups.count, 3);
    assert_int_equal(groups.at[0]->site, 5);
    assert_int_equal(groups.at[1]->site, 9);
    struct life_summary summary;
    life_summarise(&summary, &heap, groups.at[1], &groups.total, &(struct life_rule){0.05, LIFE_NS});
    assert_near(summary.allocation_share, 41. / 54, 1e-12);
    assert_near(summary.memory_share, 41. * 24 / (53 * 24 + 100000), 1e-12);
    assert_int_equal(summary.births, 41);
    assert_int_equal(summary.deaths, 24);
    assert_int_equal(summary.censored, 17);
    life_groups_clear(&groups);
}

static struct life_summary judge(const struct life_heap *heap, const struct life_site *site) {
    struct life_summary summary;
    life_summarise(&summary, heap, site, site, &(struct life_rule){0.05, LIFE_NS});
    return summary;
}

static struct life_summary assert_judged(const struct life_heap *heap, const struct life_site *site,
                                         enum life_verdict verdict, bool enough) {
    struct life_summary summary = judge(heap, site);
    assert_int_equal(summary.verdict, verdict);
    assert_int_equal(summary.enough, enough);
    return summary;
}

/* A run of a second: the limit is 50 ms. */
TEST(verdicts_need_samples) {
    const uint64_t ms = 1000000;
    struct life_heap heap = {0};
    struct life_summary summary;
    build_run(&heap, 1000 * ms, 1 << 20);
    for (uint64_t n = 1; n <= 6; n++) {
        /* All die at once: from four on, chance is excluded. */
        struct life_site site __attribute__((cleanup(life_site_clear))) = {0};
        build_end(&site, (struct build_end){.count = n, .bytes = 16, .ns = ms});
        summary = assert_judged(&heap, &site, LIFE_SHORT, n >= 4);
        assert_near(summary.mean_share, 0.001, 1e-12);
        assert_near(summary.long_share, 0, 0);
    }
    /* Most die at once, one lives long: the mean of 60 ms is above the limit, but by chance, for all that is known. */
    struct life_site rare __attribute__((cleanup(life_site_clear))) = {0};
    build_end(&rare, (struct build_end){.count = 9, .bytes = 16, .ns = ms});
    build_end(&rare, (struct build_end){.count = 1, .bytes = 16, .ns = 600 * ms, .scavenges = 1});
    summary = assert_judged(&heap, &rare, LIFE_LONG, false);
    assert_near(summary.long_share, 0.1, 1e-12);
    /* A thousand times as many say the same for certain. */
    build_end(&rare, (struct build_end){.count = 8991, .bytes = 16, .ns = ms});
    build_end(&rare, (struct build_end){.count = 999, .bytes = 16, .ns = 600 * ms, .scavenges = 1});
    assert_judged(&heap, &rare, LIFE_LONG, true);

    /* All alive at the end, half a second old: long-lived, as a lower bound. */
    struct life_site alive __attribute__((cleanup(life_site_clear))) = {0};
    build_end(&alive,
              (struct build_end){.outcome = LIFE_CENSORED, .count = 50, .bytes = 16, .ns = 500 * ms, .scavenges = 1});
    summary = assert_judged(&heap, &alive, LIFE_LONG, true);
    assert_true(summary.mean[LIFE_NS].restricted);
    assert_near(summary.long_share, 1, 0);
    /* All alive, but born a moment ago: nothing is known of how long they live. */
    struct life_site fresh __attribute__((cleanup(life_site_clear))) = {0};
    build_end(&fresh, (struct build_end){.outcome = LIFE_CENSORED, .count = 50, .bytes = 16, .ns = ms});
    assert_judged(&heap, &fresh, LIFE_UNKNOWN, false);
    /* Nearly all die within a moment, and the others were born less than one ago: even if those lived to the run's end,
     * the mean would be short. With a tenth of them older than any death seen, it might not be. */
    for (uint64_t older = 0; older <= 100; older += 100) {
        struct life_site young __attribute__((cleanup(life_site_clear))) = {0};
        build_end(&young, (struct build_end){.count = 900, .bytes = 16, .ns = ms});
        uint64_t age = older == 0 ? ms / 2 : 2 * ms;
        build_end(&young, (struct build_end){.outcome = LIFE_CENSORED, .count = 100, .bytes = 16, .ns = age});
        summary = assert_judged(&heap, &young, older == 0 ? LIFE_SHORT : LIFE_UNKNOWN, older == 0);
        assert_true(summary.mean[LIFE_NS].restricted);
    }
    /* Short by what was seen, but most live on: unknown. With nearly half of them: short, not for certain. */
    for (uint64_t dead = 30; dead <= 70; dead += 20) {
        struct life_site watched __attribute__((cleanup(life_site_clear))) = {0};
        build_end(&watched, (struct build_end){.count = dead, .bytes = 16, .ns = ms});
        build_end(&watched,
                  (struct build_end){.outcome = LIFE_CENSORED, .count = 100 - dead, .bytes = 16, .ns = 51 * ms});
        summary = assert_judged(&heap, &watched, dead == 30 ? LIFE_UNKNOWN : LIFE_SHORT, dead == 70);
        assert_true(summary.mean[LIFE_NS].value < (double)(50 * ms));
    }
    /* Forty samples, and a mean just above the limit by three of them. */
    struct life_site three __attribute__((cleanup(life_site_clear))) = {0};
    build_end(&three, (struct build_end){.count = 37, .bytes = 16, .ns = ms});
    build_end(&three, (struct build_end){.count = 3, .bytes = 16, .ns = 700 * ms, .scavenges = 1});
    assert_judged(&heap, &three, LIFE_LONG, false);
    /* Twenty samples: the mean is well above the limit, most objects are well below it. */
    struct life_site torn __attribute__((cleanup(life_site_clear))) = {0};
    build_end(&torn, (struct build_end){.count = 16, .bytes = 16, .ns = 45 * ms});
    build_end(&torn, (struct build_end){.count = 4, .bytes = 16, .ns = 950 * ms, .scavenges = 1});
    summary = assert_judged(&heap, &torn, LIFE_LONG, false);
    assert_true(summary.mean[LIFE_NS].value - 1.96 * summary.mean[LIFE_NS].error > (double)(50 * ms));
    /* The length of the run is not known, or nothing ended. */
    struct life_site one __attribute__((cleanup(life_site_clear))) = {0};
    assert_int_equal(judge(&heap, &one).verdict, LIFE_UNKNOWN);
    assert_true(isnan(judge(&heap, &one).allocation_share));
    die(&one, 5);
    heap.begun = false;
    assert_int_equal(judge(&heap, &one).verdict, LIFE_UNKNOWN);
    assert_true(isnan(judge(&heap, &one).mean_share));
}

/* A run of a second: the limit is 50 ms. An object that survived no scavenge may have died at once. */
TEST(lifetimes_of_unseen_objects_do_not_make_a_class_long_lived) {
    const uint64_t ms = 1000000;
    const struct build_end unseen = {.count = 1000, .bytes = 16, .ns = 100 * ms};
    const struct build_end alive = {
        .outcome = LIFE_CENSORED, .count = 10, .bytes = 16, .ns = 1000 * ms, .scavenges = 9};
    const struct build_end unseen_at_end = {.outcome = LIFE_CENSORED, .count = 900, .bytes = 16, .ns = 90 * ms};
    struct {
        struct build_end first, second;
        enum life_verdict verdict;
        bool enough, found_late;
        uint32_t mechanism;
    } table[] = {
        {unseen, {0}, LIFE_UNKNOWN, false, true, EDEN_MECHANISM_VM},
        {unseen, {0}, LIFE_LONG, true, false, EDEN_MECHANISM_VM},  /* survived a scavenge */
        {unseen, {0}, LIFE_SHORT, true, false, EDEN_MECHANISM_VM}, /* found sooner */
        {unseen, {0}, LIFE_LONG, true, false, EDEN_MECHANISM_ORACLE},
        {unseen_at_end, {0}, LIFE_UNKNOWN, false, true, EDEN_MECHANISM_VM}, /* there was no scavenge */
        {unseen, unseen_at_end, LIFE_UNKNOWN, false, true, EDEN_MECHANISM_VM},
        {unseen, alive, LIFE_UNKNOWN, false, true, EDEN_MECHANISM_VM}, /* the mean is at least 10 ms */
        {unseen, alive, LIFE_LONG, true, false, EDEN_MECHANISM_VM},    /* at least 91 ms */
        {alive, unseen_at_end, LIFE_LONG, true, false, EDEN_MECHANISM_VM},
        {unseen, alive, LIFE_LONG, false, false, EDEN_MECHANISM_VM}, /* most of 20 may have died at once */
    };
    table[1].first.scavenges = 1;
    table[2].first.ns = 40 * ms;
    table[7].second.count = 100;
    table[9].first.count = 12;
    table[9].second.count = 8;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct life_heap heap = {0};
        struct life_site site __attribute__((cleanup(life_site_clear))) = {0};
        build_run(&heap, 1000 * ms, 1 << 20);
        heap.state.mechanism = table[i].mechanism;
        build_end(&site, table[i].first);
        if (table[i].second.count) {
            build_end(&site, table[i].second);
        }
        struct life_summary summary = assert_judged(&heap, &site, table[i].verdict, table[i].enough);
        assert_int_equal(summary.found_late, table[i].found_late);
    }
}

/* What is on which side of the limit, to a bucket. */
TEST(the_limit_divides) {
    struct life_heap heap = {0};
    struct life_site site __attribute__((cleanup(life_site_clear))) = {0};
    build_run(&heap, 400, 1 << 20); /* the limit is 20 ns */
    build_end(&site, (struct build_end){.count = 3, .bytes = 16, .ns = 20});
    build_end(&site, (struct build_end){.count = 1, .bytes = 160, .ns = 21});
    struct life_summary summary = judge(&heap, &site);
    assert_near(summary.long_share, 0.25, 1e-12);
    assert_near(summary.long_memory, 160. / 208, 1e-12);
    life_summarise(&summary, &heap, &site, &site, &(struct life_rule){0.04, LIFE_NS});
    assert_near(summary.long_share, 1, 0);
}

TEST(a_verdict_from_too_few_samples_is_in_doubt) {
    struct life_summary summary = {.verdict = LIFE_LONG, .enough = true};
    assert_string_equal(life_verdict_text(&summary), "long-lived");
    summary.enough = false;
    assert_string_equal(life_verdict_text(&summary), "long-lived?");
    summary.verdict = LIFE_UNKNOWN;
    assert_string_equal(life_verdict_text(&summary), "unknown");
}

TEST(advice_goes_up_the_rates) {
    static const struct {
        uint32_t sampling;
        uint64_t rate;
        const char *next;
    } table[] = {
        {EDEN_SAMPLE_OBJECTS, 5000, "1/1000"},   {EDEN_SAMPLE_OBJECTS, 1000, "1/100"},
        {EDEN_SAMPLE_NTH, 100, "1/2"},           {EDEN_SAMPLE_OBJECTS, 2, "all"},
        {EDEN_SAMPLE_OBJECTS, 1, NULL},          {EDEN_SAMPLE_BYTES, 524288, "bytes=65536"},
        {EDEN_SAMPLE_REFILL, 4096, "bytes=512"}, {EDEN_SAMPLE_BYTES, 100, "all"},
        {EDEN_SAMPLE_WINDOW, 1, "all"},
    };
    struct life_heap heap = {0};
    char text[LIFE_ADVICE_MAX];
    assert_false(life_next_sampling(&heap, text));
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        heap = (struct life_heap){.begun = true, .state = {.sampling = table[i].sampling, .rate = table[i].rate}};
        assert_int_equal(life_next_sampling(&heap, text), table[i].next != NULL);
        if (table[i].next) {
            assert_string_equal(text, table[i].next);
        }
    }
}
