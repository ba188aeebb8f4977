/* The sizes of new space under policy=auto: the steps of eden_policy_rule.h, as runtime/heap/policy.c takes them, and
 * with a limit what old space leaves to be mapped.
 *
 * Unknown. A recording does not hold which survivors old space refers to (`scattered`). With a limit that decides
 * whether eden is promoted in place. So each scavenge is put to the rule twice, with none and with all of them
 * scattered. Where one of the two promotes in place, or where old space and new space come to the limit, the run cannot
 * be predicted. Else it decides only how fast eden grows where nearly all survives, sixteenfold or fourfold at a time:
 * fourfold is assumed.
 *
 * Failure. The control group's memory is not in a recording: the rule is taken to have all that it wants. */
#include "simulate/sizing.h"
#include "util/whole.h"
#include <math.h>

static const uint64_t EDEN_MOST = 1ull << 34; /* as policy.c reserves */

static uint64_t limit_of(const struct simulate_parameters *parameters) {
    return isfinite(parameters->max_heap) ? whole_of(parameters->max_heap) : EDEN_NO_LIMIT;
}

static double new_space(const struct sizing *sizing) { return sizing->eden + 2 * (double)sizing->semispace; }

void sizing_init(struct sizing *sizing, const struct simulate_parameters *parameters) {
    uint64_t limit = limit_of(parameters);
    bool sizes = simulate_decides(parameters, EDEN_PARAM_eden_size);
    bool promotes = limit != EDEN_NO_LIMIT && limit / 16 >= EDEN_POLICY_OTHER && sizes &&
                    simulate_decides(parameters, EDEN_PARAM_full_gc_ratio);
    *sizing = (struct sizing){
        .parameters = parameters,
        .eden = parameters->eden_size,
        .bounds = {.limit = limit,
                   .memory = EDEN_NO_LIMIT,
                   .eden_most = limit < EDEN_MOST ? eden_policy_pages(limit) : EDEN_MOST,
                   .sizes = sizes,
                   .tenures = simulate_decides(parameters, EDEN_PARAM_tenure_proportion) &&
                              simulate_decides(parameters, EDEN_PARAM_survivors_to_keep) &&
                              simulate_decides(parameters, EDEN_PARAM_tenure_fill),
                   .promotes = promotes},
    };
    if (sizes) {
        uint64_t most = eden_policy_most(limit, 0);
        sizing->rule.eden.bytes = most < EDEN_POLICY_FIRST ? most : EDEN_POLICY_FIRST;
        sizing->eden = (double)sizing->rule.eden.bytes;
    }
    sizing->eden_least = sizing->eden;
    sizing->semispace = simulate_semispace(sizing->eden);
    sizing->is_unknown = !sizes && new_space(sizing) > parameters->max_heap; /* no heap can be created */
}

bool sizing_tenures(const struct sizing *sizing) { return sizing->bounds.tenures; }
bool sizing_tenures_all(const struct sizing *sizing) { return eden_policy_tenures_all(&sizing->rule, &sizing->bounds); }
bool sizing_keeps(const struct sizing *sizing) { return eden_policy_keeps(&sizing->rule, &sizing->bounds); }

double sizing_goal(const struct sizing *sizing, double live) {
    if (!simulate_decides(sizing->parameters, EDEN_PARAM_full_gc_ratio)) {
        return (double)INFINITY;
    }
    return (double)eden_policy_goal(&sizing->bounds, whole_of(new_space(sizing)), whole_of(live)).bytes;
}

bool sizing_wants_full(const struct sizing *sizing, const struct sizing_old *old, double survivors) {
    return old->used >= sizing->parameters->full_gc_min_old &&
           eden_policy_wants_full(&sizing->rule, &sizing->bounds, whole_of(sizing_goal(sizing, old->live)),
                                  sizing->rule.eden.bytes, whole_of(old->used), whole_of(old->live),
                                  whole_of(survivors), 0);
}

double sizing_kept(const struct sizing *sizing, double live) {
    double goal = sizing_goal(sizing, live);
    uint64_t limit = sizing->bounds.limit;
    if (isinf(goal) || limit == EDEN_NO_LIMIT || !sizing->bounds.sizes) {
        return goal;
    }
    uint64_t most = sizing_keeps(sizing) ? eden_policy_left(limit, whole_of(live))
                                         : eden_policy_most(limit, whole_of(live)) / 5 * 7;
    return (double)(limit - most) < goal ? (double)(limit - most) : goal;
}

/* As fit() of policy.c: within a limit, what old space has mapped, and what may have to be promoted, leaves less. */
static void fit(struct sizing *sizing, const struct sizing_old *old) {
    const struct eden_policy_rule *rule = &sizing->rule;
    uint64_t limit = sizing->bounds.limit, eden = rule->eden.bytes, semispace = rule->semispace;
    if (limit != EDEN_NO_LIMIT) {
        uint64_t capacity = whole_of(old->capacity), all = limit > capacity ? limit - capacity : 0;
        uint64_t most = eden_policy_pages(all / 7 * 5);
        semispace = semispace < all / 3 ? semispace : eden_policy_pages(all / 3);
        if (semispace > (eden < most ? eden : most) / 5) {
            most = eden_policy_pages(all > 2 * semispace ? all - 2 * semispace : 0);
        }
        eden = eden < most ? eden : most;
    }
    semispace = semispace > eden / 5 ? semispace : simulate_semispace((double)eden);
    if (limit != EDEN_NO_LIMIT) {
        uint64_t safe = eden_policy_safe(limit, 2 * semispace, whole_of(old->used), whole_of(old->capacity - old->used),
                                         sizing_keeps(sizing));
        eden = eden < safe ? eden : safe;
        sizing->is_unknown |= eden < EDEN_POLICY_LEAST || old->used + (double)(eden + 2 * semispace) > (double)limit;
    }
    sizing->eden = (double)eden;
    sizing->eden_least = sizing->eden < sizing->eden_least ? sizing->eden : sizing->eden_least;
    sizing->semispace = semispace;
}

/* With a fixed new space: does all fit? */
static void check_limit(struct sizing *sizing, const struct sizing_old *old) {
    sizing->is_unknown |= old->capacity + new_space(sizing) > sizing->parameters->max_heap;
}

void sizing_scavenged(struct sizing *sizing, const struct eden_policy_scavenged *found, const struct sizing_old *old) {
    struct eden_policy_scavenged full = *found;
    full.eden = whole_of(sizing->eden);
    full.live = whole_of(old->live);
    full.used = whole_of(old->used);
    struct eden_policy_rule other = sizing->rule;
    eden_policy_scavenge(&sizing->rule, &sizing->bounds, &full);
    full.scattered = full.survived;
    eden_policy_scavenge(&other, &sizing->bounds, &full);
    sizing->is_unknown |= sizing->rule.is_in_place || other.is_in_place;
    if (sizing->bounds.sizes) {
        fit(sizing, old);
    } else {
        check_limit(sizing, old);
    }
}

void sizing_old_changed(struct sizing *sizing, const struct sizing_old *old) {
    if (sizing->bounds.sizes) {
        eden_policy_shrink(&sizing->rule, &sizing->bounds, whole_of(old->live), whole_of(old->used));
        fit(sizing, old);
    } else {
        check_limit(sizing, old);
    }
}

void sizing_collected(struct sizing *sizing, const struct sizing_old *before, const struct sizing_old *old,
                      double tenured) {
    const struct eden_policy_full found = {.live_before = whole_of(before->live),
                                           .used = whole_of(before->used),
                                           .live = whole_of(old->used),
                                           .tenured = whole_of(tenured) - sizing->tenured_before};
    sizing->tenured_before = whole_of(tenured);
    eden_policy_collect(&sizing->rule, &sizing->bounds, &found);
    sizing_old_changed(sizing, old);
}
