/* The search for parameters, on made-up programs whose cost is known: what it recommends must be, by the true cost and
 * not by what it measured, within a tenth of the best of all points within the memory; whatever the noise. */
#include "advise/trials/search_trials.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

static const double MIB = 1024 * 1024;

/* A program made up of what its collections cost. Seconds and bytes; 0 is none of it. */
struct made_up {
    double allocated;  /* bytes */
    double survivors;  /* seconds that each scavenge takes */
    double growth;     /* old space at the end over that at the beginning: full collections by growth */
    double full;       /* seconds that each takes at the end */
    double large;      /* bytes of large objects: a full collection for each headroom's worth */
    double copying;    /* seconds of scavenges that tenuring earlier spares */
    double best_fill;  /* where that is least */
    double cache;      /* bytes of eden above which the program itself takes half as long again */
    double compacting; /* share of full collections that compactor=none spares */
    double own, base;  /* of the program itself, and its memory beside eden */
    bool fails;        /* with compactor=none */
    bool needs_two;    /* headroom only helps with a larger full_gc_ratio */
};

/* What the machine does to figures; all relative. */
struct unrest {
    double noise; /* of each figure */
    double drift; /* of a whole run, the same for the program and its collections */
    double pace;  /* for some forty runs at a time all takes up to so much longer, the program by half that */
};

struct bench {
    const struct made_up *program;
    const struct search_space *space;
    size_t trials, runs;
    uint64_t seed;
    struct unrest unrest;
    double pace_now;
};

static const char *value_of(const struct search_space *space, const struct search_point *point, enum search_axis axis) {
    return space->axis[axis].text[point->choice[axis]];
}

static double number_of(const struct search_space *space, const struct search_point *point, enum search_axis axis) {
    return space->axis[axis].number[point->choice[axis]];
}

/* Without any noise. */
static struct search_figures true_cost(const struct made_up *program, const struct search_space *space,
                                       const struct search_point *point) {
    double eden = number_of(space, point, AXIS_EDEN), ratio = number_of(space, point, AXIS_RATIO);
    double scavenges = floor(program->allocated / eden) * program->survivors;
    double fill = number_of(space, point, AXIS_FILL);
    double copying = program->copying * (0.2 + fabs(fill - program->best_fill));
    double grown = program->growth > 1 ? floor(log(program->growth) / log(1 + ratio)) * program->full : 0;
    double headroom = number_of(space, point, AXIS_HEADROOM);
    double large = !program->needs_two || ratio > 0.9 ? floor(program->large / headroom) * program->full
                                                      : floor(program->large / 16 / MIB) * program->full;
    double compacting = strcmp(value_of(space, point, AXIS_COMPACTOR), "none") == 0 ? 1 - program->compacting : 1;
    double own = program->own * (program->cache > 0 && eden > program->cache ? 1.5 : 1);
    struct search_figures cost = {.gc = scavenges + copying + (grown + large) * compacting, .own = own};
    cost.cpu = cost.wall = cost.gc + own;
    cost.pause = program->full + program->survivors;
    cost.memory =
        program->base + 1.1 * eden + (ratio - 0.33) * 0.2 * program->base + (program->large > 0 ? headroom : 0);
    cost.gain_bound[AXIS_EDEN] = cost.gc;
    cost.gain_bound[AXIS_RATIO] = grown;
    cost.gain_bound[AXIS_HEADROOM] = large;
    cost.gain_bound[AXIS_FILL] = copying;
    cost.gain_bound[AXIS_COMPACTOR] = 0.5 * (grown + large) * (program->compacting > 0);
    cost.work = (uint64_t)(cost.gc * 1e9);
    return cost;
}

static double chance(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

static enum search_answer run(void *context, const struct search_point *point, struct search_figures *figures) {
    struct bench *bench = context;
    if (bench->runs >= bench->trials) {
        return SEARCH_ENDED;
    }
    bench->runs++;
    if (bench->program->fails && strcmp(value_of(bench->space, point, AXIS_COMPACTOR), "none") == 0) {
        return SEARCH_FAILED;
    }
    *figures = true_cost(bench->program, bench->space, point);
    /* Others on the machine come and go, for some ten runs; and each run has a little of its own. */
    double slow = 1 + bench->unrest.drift * (0.5 + 0.5 * sin((double)bench->runs / 3));
    double gc = slow * (1 + bench->unrest.noise * chance(&bench->seed)),
           own = slow * (1 + bench->unrest.noise * chance(&bench->seed));
    if (bench->unrest.pace > 0 && (bench->runs == 1 || chance(&bench->seed) < 1.0 / 40)) {
        bench->pace_now = bench->unrest.pace * chance(&bench->seed);
    }
    gc *= 1 + bench->pace_now;
    own *= 1 + bench->pace_now / 2;
    figures->gc *= gc;
    figures->own *= own;
    figures->cpu = figures->wall = figures->gc + figures->own;
    return SEARCH_RAN;
}

static double left(void *context) {
    struct bench *bench = context;
    return 1 - (double)bench->runs / (double)bench->trials;
}

/* The least true gc of all combinations on the axes that these programs know, within the memory. */
static double best_of_grid(const struct made_up *program, const struct search_space *space, double memory_most) {
    struct search_point point = search_as_is(space);
    double best = INFINITY;
    size_t points = 0;
    for (uint8_t eden = 0; eden < space->axis[AXIS_EDEN].count; eden++) {
        for (uint8_t ratio = 0; ratio < space->axis[AXIS_RATIO].count; ratio++) {
            for (uint8_t headroom = 0; headroom < space->axis[AXIS_HEADROOM].count; headroom++) {
                for (uint8_t compactor = 0; compactor < space->axis[AXIS_COMPACTOR].count; compactor++) {
                    for (uint8_t fill = 0; fill < space->axis[AXIS_FILL].count; fill++) {
                        point.choice[AXIS_EDEN] = eden;
                        point.choice[AXIS_RATIO] = ratio;
                        point.choice[AXIS_HEADROOM] = headroom;
                        point.choice[AXIS_COMPACTOR] = compactor;
                        point.choice[AXIS_FILL] = fill;
                        struct search_figures cost = true_cost(program, space, &point);
                        bool fails = program->fails && strcmp(value_of(space, &point, AXIS_COMPACTOR), "none") == 0;
                        points++;
                        best = !fails && cost.memory <= memory_most ? fmin(best, cost.gc) : best;
                    }
                }
            }
        }
    }
    assert_true(points > 200);
    return best;
}

struct searched {
    struct search_space space;
    struct search search;
    struct search_finding finding;
    struct bench bench;
};

static void search_made_up(struct searched *searched, const struct made_up *program, size_t trials,
                           struct unrest unrest, uint64_t seed, const char *proposed) {
    *searched = (struct searched){0};
    search_space_init(&searched->space, (uint64_t)(16 * MIB), NULL);
    assert_true(search_space_add(&searched->space, proposed));
    searched->bench =
        (struct bench){.program = program, .space = &searched->space, .trials = trials, .seed = seed, .unrest = unrest};
    searched->search = (struct search){.space = &searched->space,
                                       .ports = {&searched->bench, run, left},
                                       .memory_factor = 2,
                                       .memory_most = 4096 * MIB};
    struct search_point start = search_point_of(&searched->space, proposed);
    assert_true(search_run(&searched->search, &start, *proposed != 0));
    assert_true(search_find(&searched->search, &searched->finding));
    assert_int_equal(searched->search.runs, searched->bench.runs);
    assert_true(searched->bench.runs <= trials);
}

static void forget(struct searched *searched) {
    search_finding_clear(&searched->finding);
    search_clear(&searched->search);
}

static struct search_figures truth_of(const struct searched *searched, size_t index) {
    return true_cost(searched->bench.program, &searched->space, &searched->search.candidate[index].point);
}

static const struct made_up programs[] = {
    {.allocated = 4e9, .survivors = 1e-3, .own = 1.5, .base = 100e6},
    {.allocated = 1e9, .survivors = 1e-4, .growth = 60, .full = 0.05, .own = 1, .base = 200e6},
    {.allocated = 2e9, .survivors = 2e-4, .growth = 10, .full = 0.04, .large = 2e9, .own = 1, .base = 400e6},
    {.allocated = 3e9, .survivors = 1e-3, .copying = 1, .best_fill = 0.2, .own = 1, .base = 50e6},
    {.allocated = 1e9, .survivors = 5e-4, .growth = 30, .full = 0.05, .compacting = 0.6, .own = 2, .base = 300e6},
    {.allocated = 1e9,
     .survivors = 5e-4,
     .growth = 30,
     .full = 0.05,
     .compacting = 0.6,
     .own = 2,
     .base = 300e6,
     .fails = true},
    {.allocated = 1e9,
     .survivors = 2e-4,
     .growth = 20,
     .full = 0.05,
     .large = 1e9,
     .own = 1,
     .base = 300e6,
     .needs_two = true},
};
enum { PROGRAMS = sizeof programs / sizeof *programs, TRIALS = 60 };

/* How far the recommended point is above the best there is, by true cost. */
static double distance(const struct searched *searched) {
    double memory_most = 2 * truth_of(searched, 0).memory;
    struct search_figures found = truth_of(searched, searched->finding.recommended);
    assert_true(found.memory <= memory_most);
    double best = best_of_grid(searched->bench.program, &searched->space, memory_most);
    return (found.gc - best) / fmax(best, 1e-3 * found.wall);
}

/* Where two axes only help together, searches along one at a time may end a little beside the best. */
TEST(search_finds_the_best_point_without_noise) {
    for (size_t i = 0; i < PROGRAMS; i++) {
        struct searched searched;
        search_made_up(&searched, &programs[i], TRIALS, (struct unrest){0}, 1, "");
        if (distance(&searched) > (programs[i].needs_two ? 0.25 : 0.1)) {
            char text[SEARCH_POINT_TEXT];
            fail_msg("program %zu: %.0f%% above the best: %s", i, 100 * distance(&searched),
                     search_point_text(text, &searched.space,
                                       &searched.search.candidate[searched.finding.recommended].point));
        }
        forget(&searched);
    }
}

static void print(const struct searched *searched, char *text, size_t size) {
    const struct search_request request = {.memory_factor = 2};
    const struct search_outcome outcome = {
        .space = searched->space, .search = searched->search, .finding = searched->finding, .took = 1};
    FILE *out = fmemopen(text, size, "w");
    assert_non_null(out);
    search_print(out, &request, &outcome, NULL);
    fclose(out);
}

/* One run varies from no other, and is compared with none. */
TEST(one_run_does_not_vary) {
    static char text[8192];
    struct searched searched;
    search_made_up(&searched, &programs[0], 1, (struct unrest){0}, 1, "");
    print(&searched, text, sizeof text);
    forget(&searched);
    assert_non_null(strstr(text, "1 run in 1.0 s\n"));
    assert_non_null(strstr(text, "Nothing was compared"));
    assert_null(strstr(text, "Nothing better"));
    search_made_up(&searched, &programs[0], TRIALS, (struct unrest){0}, 1, "");
    print(&searched, text, sizeof text);
    forget(&searched);
    assert_non_null(strstr(text, "from run to run"));
    assert_null(strstr(text, "Nothing was compared"));
}

/* Seeds are fixed, so this is the same each time. */
TEST(search_finds_a_good_point_in_noise) {
    size_t good = 0, all = 0;
    for (size_t i = 0; i < PROGRAMS; i++) {
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct searched searched;
            search_made_up(&searched, &programs[i], TRIALS, (struct unrest){.noise = 0.1, .drift = 0.5}, seed, "");
            good += distance(&searched) <= 0.1;
            all++;
            assert_true(truth_of(&searched, searched.finding.recommended).gc <= 1.02 * truth_of(&searched, 0).gc);
            forget(&searched);
        }
    }
    print_message("%zu of %zu searches within a tenth of the best\n", good, all);
    assert_true(good * 10 >= all * 9);
}

/* A machine that changes its pace for many runs at a time: only runs of the same minutes distinguish points that differ
 * by a tenth. Seeds are fixed. */
TEST(search_finds_a_good_point_as_the_machine_changes_pace) {
    size_t good = 0, all = 0;
    for (size_t i = 0; i < PROGRAMS; i++) {
        for (uint64_t seed = 1; seed <= 10 && !programs[i].needs_two; seed++) {
            struct searched searched;
            search_made_up(&searched, &programs[i], 200, (struct unrest){.noise = 0.2, .pace = 1}, seed, "");
            good += distance(&searched) <= 0.1;
            all++;
            forget(&searched);
        }
    }
    print_message("%zu of %zu searches within a tenth of the best\n", good, all);
    assert_true(good * 20 >= all * 19);
}

/* Where nothing helps, nothing is recommended, whatever the noise pretends; what looks better in the table is named. */
TEST(nothing_is_recommended_where_nothing_helps) {
    static const struct made_up flat = {.copying = 0.5, .best_fill = 0.9, .own = 1, .base = 100e6};
    static char text[8192];
    size_t named = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct searched searched;
        search_made_up(&searched, &flat, 40, (struct unrest){.noise = 0.1, .drift = 0.3}, seed, "");
        assert_int_equal(searched.finding.recommended, 0);
        assert_false(searched.finding.cache);
        print(&searched, text, sizeof text);
        assert_true((searched.finding.likely != 0) == (strstr(text, "a larger --budget may decide") != NULL));
        named += searched.finding.likely != 0;
        forget(&searched);
    }
    assert_true(named > 0);
}

/* A proposal is measured, with the axes it is on, and recommended where it can't be bettered. */
TEST(a_proposal_is_measured_and_recommended_if_best) {
    static const char proposal[] = "eden_size=20M,full_gc_ratio=3,large_object=1M,pretenure=/a/file";
    struct searched searched;
    char text[SEARCH_POINT_TEXT];
    search_made_up(&searched, &programs[1], 4, (struct unrest){0}, 1, proposal);
    struct search_point start = search_point_of(&searched.space, proposal);
    assert_string_equal(search_point_text(text, &searched.space, &start), proposal);
    assert_memory_equal(&searched.search.candidate[1].point, &start, sizeof start);
    assert_int_equal(searched.finding.recommended, 1);
    forget(&searched);
}

/* A larger eden spares scavenges and costs the program more: found, and not recommended. */
TEST(an_eden_that_slows_the_program_is_found_and_not_recommended) {
    static const struct made_up program = {
        .allocated = 2e9, .survivors = 1e-4, .own = 1, .base = 300e6, .cache = 40 * 1024 * 1024};
    struct searched searched;
    search_made_up(&searched, &program, TRIALS, (struct unrest){.noise = 0.02, .drift = 0.2}, 7, "");
    assert_true(searched.finding.cache);
    struct search_figures small = truth_of(&searched, searched.finding.cache_small);
    struct search_figures large = truth_of(&searched, searched.finding.cache_large);
    assert_true(large.own > small.own && large.gc < small.gc);
    assert_true(truth_of(&searched, searched.finding.recommended).own <= program.own);
    struct search_figures least = truth_of(&searched, searched.finding.least_within);
    assert_true(least.gc <= truth_of(&searched, searched.finding.recommended).gc);
    assert_true(least.memory <= 2 * truth_of(&searched, 0).memory);
    forget(&searched);
}

/* The front rises in memory and falls in gc, and no measured point is better than one of it in both. */
TEST(front_rises_in_memory_and_falls_in_gc) {
    struct searched searched;
    search_made_up(&searched, &programs[2], TRIALS, (struct unrest){0}, 1, "");
    const struct search_finding *finding = &searched.finding;
    assert_true(finding->front_count >= 3);
    for (size_t i = 1; i < finding->front_count; i++) {
        assert_true(truth_of(&searched, finding->front[i - 1]).memory <= truth_of(&searched, finding->front[i]).memory);
        assert_true(truth_of(&searched, finding->front[i - 1]).gc > truth_of(&searched, finding->front[i]).gc);
    }
    for (size_t i = 0; i < searched.search.count; i++) {
        for (size_t j = 0; j < finding->front_count; j++) {
            struct search_figures point = truth_of(&searched, i), on_front = truth_of(&searched, finding->front[j]);
            assert_false(point.memory < on_front.memory && point.gc < 0.97 * on_front.gc);
        }
    }
    forget(&searched);
}

/* However small the budget is, it is kept, and there is an answer. */
TEST(small_budgets_are_kept_and_give_an_answer) {
    for (size_t trials = 1; trials <= 12; trials++) {
        struct searched searched;
        search_made_up(&searched, &programs[0], trials, (struct unrest){.noise = 0.05}, 3, "eden_size=64M");
        assert_true(searched.finding.front_count >= 1);
        assert_true(searched.finding.recommended < searched.search.count);
        forget(&searched);
    }
}

/* Where the budget allows for more runs than the searches need, no point is judged by one. */
TEST(short_runs_are_repeated) {
    struct searched searched;
    search_made_up(&searched, &programs[0], 400, (struct unrest){.noise = 0.3}, 3, "");
    for (size_t i = 0; i < searched.search.count; i++) {
        assert_true(searched.search.candidate[i].runs >= 2);
    }
    assert_true(searched.search.candidate[1].runs >= 3 && searched.search.rounds > 15);
    forget(&searched);
    search_made_up(&searched, &programs[0], 40, (struct unrest){.noise = 0.3}, 3, "");
    size_t once = 0;
    for (size_t i = 0; i < searched.search.count; i++) {
        once += searched.search.candidate[i].runs == 1;
    }
    assert_true(once > searched.search.count / 3);
    forget(&searched);
}

static enum search_answer run_nothing(void *context, const struct search_point *point, struct search_figures *figures) {
    (void)context, (void)point, (void)figures;
    return SEARCH_FAILED;
}

TEST(a_program_that_fails_ends_the_search) {
    struct search_space space;
    search_space_init(&space, 1 << 24, NULL);
    struct bench bench = {.trials = 10};
    struct search search __attribute__((cleanup(search_clear))) = {
        .space = &space, .ports = {&bench, run_nothing, left}, .memory_factor = 2};
    assert_false(search_run(&search, NULL, 0));
}

/* What the environment sets already is as it is; values between the usual ones find their place. */
TEST(space_has_the_environments_values_in_their_places) {
    struct search_space space;
    char text[SEARCH_POINT_TEXT];
    search_space_init(&space, 20 << 20, "full_gc_ratio=0.5,,compactor=none,eden_size=20M,large_object=1M");
    struct search_point as_is = search_as_is(&space);
    assert_string_equal(search_point_text(text, &space, &as_is), "");
    assert_int_equal(search_point_changes(&space, &as_is), 0);
    const struct axis_values *eden = &space.axis[AXIS_EDEN], *ratio = &space.axis[AXIS_RATIO];
    assert_string_equal(eden->text[eden->as_is], "20M");
    assert_string_equal(eden->text[eden->as_is - 1], "16M");
    assert_string_equal(eden->text[eden->as_is + 1], "24M");
    assert_string_equal(ratio->text[ratio->as_is], "0.5");
    assert_string_equal(space.axis[AXIS_COMPACTOR].text[space.axis[AXIS_COMPACTOR].as_is], "none");
    for (size_t i = 1; i < eden->count; i++) {
        assert_true(eden->number[i] > eden->number[i - 1]);
    }
    assert_true(search_space_add(&space, "eden_size=0.5G,shrink_threshold=none,compactor=planning"));
    struct search_point point = search_point_of(&space, "eden_size=0.5G,shrink_threshold=none,compactor=planning");
    assert_string_equal(search_point_text(text, &space, &point),
                        "eden_size=512M,shrink_threshold=none,compactor=planning");
    assert_int_equal(search_point_changes(&space, &point), 3);
}

TEST(stats_of_all_heaps_are_added_up) {
    const double five[] = {0.9, 0.7, 0.8, 0.85, 0.95}, more[] = {1.1, 1.2, 1.05, 1.01, 1.3};
    struct stats spread = stats_of(five, 5);
    assert_float_equal(spread.median, 0.85, 1e-12);
    assert_float_equal(spread.low, 0.7, 1e-12);
    assert_float_equal(spread.high, 0.95, 1e-12);
    assert_float_equal(spread.confidence, 1 - 2.0 / 32, 1e-12); /* no coin gave five times the same */
    assert_int_equal(stats_verdict(&spread), VERDICT_LESS);
    spread = stats_of(more, 5);
    assert_int_equal(stats_verdict(&spread), VERDICT_MORE);
    spread = stats_of(five, 4);
    assert_int_equal(stats_verdict(&spread), VERDICT_TOO_FEW);
    const double mixed[] = {0.9, 0.7, 1.1, 0.85, 0.95};
    spread = stats_of(mixed, 5);
    assert_int_equal(stats_verdict(&spread), VERDICT_NONE);
    /* Of ten, the second lowest and the second highest: 1 - 2 (1 + 10) / 1024. */
    const double ten[] = {10, 1, 2, 9, 3, 8, 4, 7, 5, 6};
    spread = stats_of(ten, 10);
    assert_float_equal(spread.low, 2, 1e-12);
    assert_float_equal(spread.high, 9, 1e-12);
    assert_float_equal(spread.median, 5.5, 1e-12);
    assert_float_equal(spread.confidence, 1 - 22.0 / 1024, 1e-12);
    const double before[] = {0, 0, 2}, after[] = {0, 1, 1};
    spread = stats_of_ratios(before, after, 3);
    assert_float_equal(spread.least, 0.5, 1e-12);
    assert_float_equal(spread.median, 1, 1e-12);
    assert_true(isinf(spread.most));
}
