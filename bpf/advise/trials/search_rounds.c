/* The end of a search: finalists are run in rounds, one run each, again and again, in an order left to chance, and
 * their medians decide.
 *
 * Why. A machine changes its pace for seconds or minutes, by more than what most points differ in. So points that were
 * run at different times can hardly be told apart, while the runs of one round have the same minutes in common: what is
 * compared are ratios, round by round. And a finalist that came here by luck is found out, as these are not the runs
 * that it was chosen by.
 *
 * Who. The program as it is, where the walk ended, the best within the memory and the best of all, the front's largest
 * edens, and runners-up within the memory, also those that look half as slow again: they may have had bad luck. No
 * runner-up whose collections did the same work as a finalist's. As many as can have LEAST_ROUNDS rounds of the budget.
 *
 * Heats. From the fifth round on those are dropped that another one beats beyond doubt (by the sign test of spread.c),
 * which leaves more rounds for those who are close. After as many rounds the leader's neighbours along eden are looked
 * at, as a walk may have passed over one, or have ended elsewhere. Where there are new ones, they and those who are
 * left begin anew; their earlier rounds then count as any other run does. If that comes to nothing, as somebody has had
 * enough, the heat before it is what counts.
 *
 * What can go wrong: a budget that ends early, which leaves fewer rounds, or none; a best point that is neither on any
 * walk nor next to a leader. */
#include "advise/trials/search_parts.h"
#include <math.h>

enum { ROUNDS = 31, HEAT_ROUNDS = 5, HEATS = 3, LEAST_ROUNDS = 5, ENOUGH_ROUNDS = 3, NEIGHBOURS = 2 };
_Static_assert((HEATS - 1) * HEAT_ROUNDS + ROUNDS + 16 <= SEARCH_RUNS, "room for all rounds, and the walks' runs");

static const double may_be_unlucky = 1.5; /* as slow as that may a runner-up look */

/* ---- who -------------------------------------------------------------------------------------------------------- */

/* Whether its collections do the same as a finalist's, in the same way. */
static bool is_represented(const struct search *search, size_t index) {
    const struct candidate *candidate = &search->candidate[index];
    static const enum search_axis ways[] = {AXIS_COMPACTOR, AXIS_REMEMBERED, AXIS_SHRINK};
    for (size_t i = 0; i < search->finalists; i++) {
        const struct candidate *finalist = &search->candidate[search->finalist[i]];
        bool same = finalist->figures[0].work == candidate->figures[0].work;
        for (size_t j = 0; j < sizeof ways / sizeof *ways && same; j++) {
            same = finalist->point.choice[ways[j]] == candidate->point.choice[ways[j]];
        }
        if (same) {
            return true;
        }
    }
    return false;
}

static void add_finalist(struct search *search, size_t index, size_t most) {
    if (search->finalists < most && search_usable(search, index) && !search_is_finalist(search, index)) {
        search->finalist[search->finalists++] = index;
    }
}

/* The next best within the memory that is not represented; 0: none. */
static size_t runner_up(const struct search *search, double memory_most) {
    double limit = may_be_unlucky * search_median_gc(search, search_best_within(search, memory_most));
    size_t found = 0;
    for (size_t i = 1; i < search->count; i++) {
        if (search_usable(search, i) && !is_represented(search, i) && search_median_memory(search, i) <= memory_most &&
            search_median_gc(search, i) <= limit &&
            (found == 0 || search_median_gc(search, i) < search_median_gc(search, found))) {
            found = i;
        }
    }
    return found;
}

/* How many runs are left in the budget, if they take as long as those before. */
static size_t runs_left(const struct search *search) {
    double left = search->ports.left(search->ports.context), used = 1 - left;
    return used > 0 ? (size_t)(left / used * (double)search->runs) : SIZE_MAX;
}

static void choose_finalists(struct search *search, double memory_most, size_t walked) {
    const size_t affordable = runs_left(search) / LEAST_ROUNDS;
    const size_t most = affordable < 2 ? 2 : affordable < SEARCH_FINALISTS ? affordable : SEARCH_FINALISTS;
    struct search_finding finding;
    size_t index;
    add_finalist(search, 0, most);
    add_finalist(search, walked, most);
    add_finalist(search, search_best_within(search, memory_most), most);
    add_finalist(search, search_best_within(search, INFINITY), most);
    if ((index = runner_up(search, memory_most)) != 0) {
        add_finalist(search, index, most);
    }
    if (search_find(search, &finding)) {
        for (size_t i = finding.front_count; i-- > 0;) {
            if (!is_represented(search, finding.front[i])) {
                add_finalist(search, finding.front[i], most);
            }
        }
        search_finding_clear(&finding);
    }
    while (search->finalists < most && (index = runner_up(search, memory_most)) != 0) {
        add_finalist(search, index, most);
    }
}

/* ---- rounds ----------------------------------------------------------------------------------------------------- */

/* Whether a finalist has lost to another: it failed, or takes more time in collections beyond doubt and by what counts,
 * with nothing to say for it: no less CPU time in all, and no less memory than another that takes too much. Times are
 * as measured: what corrects them is the same for all rounds of a finalist, and the sign test wants rounds that have
 * nothing to do with each other. */
static bool has_lost(const struct search *search, size_t index, size_t other, double memory_most) {
    const struct candidate *loser = &search->candidate[index], *winner = &search->candidate[other];
    double from[SEARCH_RUNS], to[SEARCH_RUNS];
    if (loser->failed || winner->failed) {
        return loser->failed;
    }
    double memory = search_median_memory(search, other);
    if (memory > memory_most && memory > search_median_memory(search, index)) {
        return false;
    }
    for (size_t i = 0; i < search->rounds; i++) {
        from[i] = winner->figures[winner->first_final + i].gc;
        to[i] = loser->figures[loser->first_final + i].gc;
    }
    struct spread ratio = spread_of_ratios(from, to, search->rounds), cpu = search_cpu_ratio(search, other, index);
    double lost = spread_of(to, search->rounds).median - spread_of(from, search->rounds).median;
    return spread_verdict(&ratio) == VERDICT_MORE && ratio.median > 1 + 2 * search_worth_share && cpu.median >= 1 &&
           lost > search_worth_of_run * search_median_wall(search, other);
}

/* The program as it is stays, as all are compared with it. */
static void drop_losers(struct search *search, double memory_most) {
    size_t kept = 1;
    bool lost[SEARCH_FINALISTS] = {0};
    for (size_t i = 1; i < search->finalists; i++) {
        for (size_t j = 0; j < search->finalists && !lost[i]; j++) {
            lost[i] = i != j && has_lost(search, search->finalist[i], search->finalist[j], memory_most);
        }
    }
    for (size_t i = 1; i < search->finalists; i++) {
        if (!lost[i]) {
            search->finalist[kept++] = search->finalist[i];
        }
    }
    search->finalists = kept;
}

/* An order that has nothing to do with any other, as what else the machine does may have a rhythm of its own. The same
 * for the same seed, so that a search can be repeated. */
static void shuffle(size_t *order, size_t count, uint64_t seed) {
    for (size_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (size_t i = count; i > 1; i--) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t other = (size_t)((seed >> 33) % i), held = order[i - 1];
        order[i - 1] = order[other];
        order[other] = held;
    }
}

/* Every other round has the order of the one before, reversed, so that a machine that slows down slows all alike.
 * False: the search has ended in the middle of it. */
static bool run_round(struct search *search) {
    size_t order[SEARCH_FINALISTS], count = search->finalists;
    shuffle(order, count, search->rounds / 2);
    for (size_t i = 0; i < count && !search->ended; i++) {
        search_measure(search, search->finalist[order[search->rounds % 2 ? count - 1 - i : i]]);
    }
    return !search->ended;
}

static void run_rounds(struct search *search, double memory_most, size_t rounds) {
    while (search->finalists > 1 && search->rounds < rounds && run_round(search)) {
        search->rounds++;
        drop_losers(search, memory_most);
    }
}

/* The finalist of the least gc within the memory; `walked` where there is none. */
static size_t leader_of(const struct search *search, double memory_most, size_t walked) {
    size_t leader = walked;
    double least = INFINITY;
    for (size_t i = 0; i < search->finalists; i++) {
        size_t index = search->finalist[i];
        if (!search->candidate[index].failed && search_median_memory(search, index) <= memory_most &&
            search_median_gc(search, index) < least) {
            leader = index;
            least = search_median_gc(search, index);
        }
    }
    return leader;
}

/* From here on the finalists' runs are those of rounds; what was run before counts as any other run does. */
static void begin_rounds(struct search *search) {
    for (size_t i = 0; i < search->count; i++) {
        search->candidate[i].first_final = SEARCH_RUNS;
    }
    for (size_t i = 0; i < search->finalists; i++) {
        struct candidate *candidate = &search->candidate[search->finalist[i]];
        candidate->first_final = candidate->runs;
    }
    search->rounds = 0;
}

/* The next smaller and larger edens are finalists, where they were not measured before and fit, and where the budget is
 * enough to have them all run in rounds. True: there are such. */
static bool add_neighbours(struct search *search, size_t of, double memory_most) {
    const struct search_point best = search->candidate[of].point;
    const size_t measured = search->count, before = search->finalists;
    for (int way = -NEIGHBOURS; way <= NEIGHBOURS; way++) {
        struct search_point point = best;
        int choice = best.choice[AXIS_EDEN] + way;
        size_t index;
        if (way != 0 && choice >= 0 && choice < (int)search->space->axis[AXIS_EDEN].count &&
            runs_left(search) > (search->finalists + 1) * HEAT_ROUNDS + search->repeats) {
            point.choice[AXIS_EDEN] = (uint8_t)choice;
            if (search_visit(search, &point, &index) && index >= measured &&
                search_median_memory(search, index) <= memory_most) {
                add_finalist(search, index, SEARCH_FINALISTS);
            }
        }
    }
    if (search->ended) {
        search->finalists = before;
    }
    return search->finalists > before;
}

/* What a heat has come to. */
struct heat {
    size_t finalist[SEARCH_FINALISTS], first_final[SEARCH_FINALISTS], finalists, rounds;
};

static struct heat heat_of(const struct search *search) {
    struct heat heat = {.finalists = search->finalists, .rounds = search->rounds};
    for (size_t i = 0; i < heat.finalists; i++) {
        heat.finalist[i] = search->finalist[i];
        heat.first_final[i] = search->candidate[heat.finalist[i]].first_final;
    }
    return heat;
}

static void return_to(struct search *search, const struct heat *heat) {
    search->finalists = 0;
    begin_rounds(search);
    for (size_t i = 0; i < heat->finalists; i++) {
        search->finalist[i] = heat->finalist[i];
        search->candidate[heat->finalist[i]].first_final = heat->first_final[i];
    }
    search->finalists = heat->finalists;
    search->rounds = heat->rounds;
}

void search_race(struct search *search, double memory_most, size_t walked) {
    struct heat last = {0}; /* none: without rounds, all runs count */
    if (!search_usable(search, 0)) {
        return;
    }
    choose_finalists(search, memory_most, walked);
    begin_rounds(search);
    for (int heat = 1; heat < HEATS; heat++) {
        run_rounds(search, memory_most, HEAT_ROUNDS);
        if (search->rounds < HEAT_ROUNDS) {
            break;
        }
        struct heat done = heat_of(search);
        if (!add_neighbours(search, leader_of(search, memory_most, walked), memory_most)) {
            break;
        }
        last = done;
        begin_rounds(search);
    }
    run_rounds(search, memory_most, ROUNDS);
    if (search->rounds < ENOUGH_ROUNDS) {
        return_to(search, &last);
    }
}
