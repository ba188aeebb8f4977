/* The policy of a heap: applies the rule of eden_policy.h where policy=auto.
 *
 * A parameter that is set decides over the rule (params_decide): with eden_size the size of eden is fixed, with
 * full_gc_ratio so is when old space is collected, with shrink_threshold so is what it returns to the system, and so
 * on. Old space smaller than full_gc_min_old is not collected for growth in any case. With policy=fixed the rule
 * decides nothing.
 *
 * Without max_heap, three quarters of what the process's control group may use bound what the rule chooses, but nothing
 * is refused because of it: near the group's limit old space is collected earlier than the rule would, and eden is
 * smaller. That limit is read when the policy begins.
 *
 * Whether survivors stay young is decided at the end of a full collection, and reviewed after each scavenge
 * (struct keeping).
 *
 * Observers get each change of a size at the end of a collection (policy_report). What changes a size between two
 * collections, large objects and eden_heap_set, is reported by the second: figures are as of a collection's end, too.
 */
#include "heap/policy.h"
#include "eden_policy.h"
#include "heap/cgroup.h"
#include "heap/new_space.h"
#include <limits.h>

/* Reserved for eden at most: address space, not memory. */
static const uint64_t EDEN_MOST = 1ull << 34;

/* The share of what the control group may use; the rest is for the program, and for what is copied meanwhile. */
static uint64_t share_of_group(void) {
    uint64_t all = cgroup_memory("/proc/self/cgroup", "/sys/fs/cgroup");
    return all == EDEN_NO_LIMIT ? all : all / 4 * 3;
}

void policy_create(eden_heap *heap) {
    heap->group_memory = share_of_group();
    if (params_decide(&heap->params, EDEN_PARAM_eden_size)) {
        uint64_t first = EDEN_POLICY_FIRST, most = eden_policy_most(heap->params.max_heap, 0);
        heap->params.eden_size = first < most ? first : most;
        heap->policy.eden = (struct eden_policy_choice){heap->params.eden_size, EDEN_REASON_MEMORY};
    }
}

void policy_set(eden_heap *heap) {
    heap->policy = (struct policy){.eden = {heap->params.eden_size, EDEN_REASON_MEMORY}};
    heap->group_memory = share_of_group();
    policy_start(heap);
}

size_t policy_eden_most(const eden_heap *heap, size_t eden, uint64_t old_bytes) {
    uint64_t limit = heap->params.max_heap, most = limit == EDEN_NO_LIMIT ? EDEN_MOST : eden_policy_pages(limit);
    if (!params_decide(&heap->params, EDEN_PARAM_eden_size)) {
        return eden;
    }
    most = most < old_bytes / 4 ? most : old_bytes / 4 / EDEN_POLICY_PAGE * EDEN_POLICY_PAGE;
    return most > eden ? most : eden;
}

/* Bytes of new space, without the end of eden that is kept mapped, which old space may have (kept_mapped). */
static uint64_t new_space_used(const eden_heap *heap) {
    uint64_t mapped = heap->new_space.eden_end - heap->new_space.eden_start, eden = heap->policy.eden.bytes;
    bool kept = params_decide(&heap->params, EDEN_PARAM_eden_size) && mapped > eden;
    return heap->new_space.bytes - (kept ? mapped - eden : 0);
}

/* EDEN_NO_LIMIT: the parameters decide. */
static struct eden_policy_choice choose_old(const eden_heap *heap) {
    if (!params_decide(&heap->params, EDEN_PARAM_full_gc_ratio)) {
        return (struct eden_policy_choice){.bytes = EDEN_NO_LIMIT};
    }
    uint64_t limit = heap->params.max_heap, new_space = new_space_used(heap);
    struct eden_policy_choice choice = eden_policy_old(limit, new_space, heap->old.used_at_full);
    return limit == EDEN_NO_LIMIT && heap->group_memory != EDEN_NO_LIMIT
               ? eden_policy_at_most(choice, eden_policy_old(heap->group_memory, new_space, 0).bytes, EDEN_REASON_LIMIT)
               : choice;
}

/* Eden, where max_heap is none and the control group's memory is not. */
static struct eden_policy_choice within_memory(const eden_heap *heap, struct eden_policy_choice eden) {
    const uint64_t memory = heap->params.max_heap == EDEN_NO_LIMIT ? heap->group_memory : EDEN_NO_LIMIT;
    return memory == EDEN_NO_LIMIT
               ? eden
               : eden_policy_at_most(eden, eden_policy_most(memory, heap->old.used_at_full), EDEN_REASON_MEMORY);
}

uint64_t policy_old_goal(const eden_heap *heap) { return choose_old(heap).bytes; }

/* New space may grow as far as the rule lets it, and needs what it has. */
uint64_t policy_old_kept(const eden_heap *heap) {
    uint64_t goal = policy_old_goal(heap), limit = heap->params.max_heap;
    if (goal == EDEN_NO_LIMIT || limit == EDEN_NO_LIMIT || !params_decide(&heap->params, EDEN_PARAM_eden_size)) {
        return goal;
    }
    uint64_t most = eden_policy_most(limit, heap->old.used_at_full) / 5 * 7;
    if (policy_keeps(heap) || heap->policy.is_in_place) {
        most = eden_policy_left(limit, heap->old.used_at_full);
    }
    return limit - most < goal ? limit - most : goal;
}

/* May what cannot be copied stay where it is? */
static bool may_promote(const eden_heap *heap) {
    return heap->params.max_heap != EDEN_NO_LIMIT && heap->params.max_heap / 16 >= EDEN_POLICY_OTHER &&
           params_decide(&heap->params, EDEN_PARAM_eden_size) &&
           params_decide(&heap->params, EDEN_PARAM_full_gc_ratio) &&
           params_decide(&heap->params, EDEN_PARAM_shrink_threshold);
}

bool policy_wants_full(const eden_heap *heap) {
    uint64_t survivors = policy_keeps(heap) && may_promote(heap) ? 0 : heap_survivor_used(heap);
    uint64_t promoted = heap->policy.promoted + survivors, used = heap_old_used(heap);
    if (heap->policy.is_in_place || heap->policy.in_place != 0) {
        return heap->policy.in_place != 0; /* only then there is something to find */
    }
    return used >= heap->params.full_gc_min_old &&
           ((policy_keeps(heap) && heap->policy.keeping.is_due) ||
            eden_policy_collects(policy_old_goal(heap), used, heap->old.used_at_full, promoted));
}

uint64_t policy_kept_free(const eden_heap *heap) { return may_promote(heap) ? EDEN_POLICY_OTHER : 0; }

bool policy_promotes_in_place(const eden_heap *heap) {
    const struct new_space *new = &heap->new_space;
    uint64_t mapped = new->bytes + heap->old.capacity, limit = heap->params.max_heap;
    uint64_t room = (limit > mapped ? limit - mapped : 0) + heap->old.free_bytes / 8 * 7;
    room += new->eden_end - system_page_round(heap->mutator.free);
    return may_promote(heap) &&
           (heap->is_mixed ||
            (heap->policy.is_in_place && heap->mutator.free - heap->eden.start + heap_survivor_used(heap) > room));
}

/* What new space may have mapped. What old space has is not there for it until a full collection returns it. */
static uint64_t most_mapped(const eden_heap *heap) {
    uint64_t mapped = heap->new_space.bytes + heap->old.capacity;
    uint64_t left = heap->params.max_heap > mapped ? heap->params.max_heap - mapped : 0;
    const uint64_t rounded = 4ull * EDEN_POLICY_PAGE; /* each of three spaces is whole pages */
    return heap->new_space.bytes + (left > rounded ? left - rounded : 0);
}

/* How much of eden the program may use, so that all of it can be promoted; in sixteenths, so that it seldom changes. */
static uint64_t safe(const eden_heap *heap) {
    if (heap->params.max_heap == EDEN_NO_LIMIT || heap->policy.is_in_place) {
        return EDEN_NO_LIMIT;
    }
    uint64_t mapped = heap->new_space.eden_end - heap->new_space.eden_start;
    uint64_t most = eden_policy_safe(heap->params.max_heap, heap->new_space.bytes - mapped, heap_old_used(heap),
                                     heap->old.free_bytes, policy_keeps(heap));
    uint64_t step = mapped / 16 / EDEN_POLICY_PAGE * EDEN_POLICY_PAGE;
    return most >= mapped || step == 0 || most < step ? most : most / step * step;
}

static void limit_eden(eden_heap *heap, uint64_t bytes) {
    new_space_limit(heap, bytes);
    heap->params.eden_size = heap->eden.limit - heap->new_space.eden_start;
    params_publish_one(heap, EDEN_PARAM_eden_size);
}

void policy_yield(eden_heap *heap, uint64_t bytes) {
    uint64_t mapped = heap->new_space.eden_end - heap->new_space.eden_start;
    uint64_t used = heap->mutator.free - heap->new_space.eden_start, left = mapped > bytes ? mapped - bytes : 0;
    if (heap->policy.is_in_place && left < heap->eden.limit - heap->new_space.eden_start) {
        heap->policy.reason = EDEN_REASON_PROMOTION;
        limit_eden(heap, left > used ? left : used);
    }
    new_space_yield(heap, bytes);
    heap_set_limit(heap); /* whoever grows old space: the program may go on without the slow path */
}

/* Eden takes all there is, but for another new space, and the survivors. */
static void fit_all(eden_heap *heap) {
    uint64_t all = most_mapped(heap), least = new_space_fifth(EDEN_POLICY_LEAST);
    uint64_t survivors = system_page_round(heap_survivor_used(heap));
    uint64_t rest = EDEN_POLICY_OTHER + least + (survivors > least ? survivors : least);
    uint64_t most = all > rest + EDEN_POLICY_LEAST ? eden_policy_pages(all - rest) : EDEN_POLICY_LEAST;
    struct eden_policy_choice eden = eden_policy_at_most(heap->policy.eden, most, EDEN_REASON_MAPPED);
    heap->policy.reason = eden.reason;
    new_space_resize(heap, eden.bytes, least);
    limit_eden(heap, EDEN_NO_LIMIT);
}

/* With a limit, an eden that shrinks keeps its pages for the time when it grows again, unless others need them: they
 * are the first that old space takes (policy_yield). */
static uint64_t kept_mapped(const eden_heap *heap, uint64_t eden_bytes, uint64_t most) {
    uint64_t now = heap->new_space.eden_end - heap->new_space.eden_start;
    uint64_t kept = heap->params.max_heap == EDEN_NO_LIMIT ? 0 : now < most ? now : eden_policy_pages(most);
    return kept > eden_bytes ? kept : eden_bytes;
}

/* Eden is empty. */
static void fit(eden_heap *heap) {
    struct policy *policy = &heap->policy;
    if (policy->is_in_place) {
        fit_all(heap);
        return;
    }
    uint64_t all = most_mapped(heap), now = heap->new_space.eden_end - heap->new_space.eden_start;
    uint64_t semispace = policy->semispace < all / 3 ? policy->semispace : eden_policy_pages(all / 3);
    uint64_t most = eden_policy_pages(all / 7 * 5); /* beside semispaces of a fifth of it */
    if (semispace > (policy->eden.bytes < most ? policy->eden.bytes : most) / 5) {
        most = eden_policy_pages(all - 2 * semispace);
    } else {
        semispace = 0;
        most = most > now ? most : now;
    }
    struct eden_policy_choice eden = eden_policy_at_most(policy->eden, most, EDEN_REASON_MAPPED);
    most = safe(heap);
    policy->reason = eden_policy_at_most(eden, most, EDEN_REASON_PROMOTION).reason;
    eden.bytes = most < eden.bytes / 2 ? most : eden.bytes; /* then the semispaces shrink, too */
    semispace = semispace != 0 ? semispace : new_space_fifth(eden.bytes);
    new_space_resize(heap, kept_mapped(heap, eden.bytes, all - 2 * semispace), semispace);
    most = safe(heap);
    limit_eden(heap, most < eden.bytes ? most : eden.bytes);
}

void policy_old_changed(eden_heap *heap) {
    if (!params_decide(&heap->params, EDEN_PARAM_eden_size) || heap->is_mixed) {
        return;
    }
    /* Where less lives than before, new space may take less, too. */
    uint64_t limit = heap->params.max_heap, live = heap->old.used_at_full, semispace = heap->policy.semispace;
    bool tries = heap->policy.keeping.scavenges < EDEN_POLICY_TRIAL;
    uint64_t largest = semispace == 0 ? eden_policy_most(limit, live)
                                      : eden_policy_most_beside(limit, live, heap_old_used(heap), semispace, tries);
    if (!heap->policy.is_in_place) {
        heap->policy.eden = within_memory(heap, eden_policy_at_most(heap->policy.eden, largest, EDEN_REASON_MEMORY));
    }
    if (heap->mutator.free == heap->new_space.eden_start) {
        fit(heap);
    } else {
        uint64_t most = safe(heap), used = heap->mutator.free - heap->new_space.eden_start;
        heap->policy.reason = EDEN_REASON_PROMOTION;
        limit_eden(heap, most > used ? most : used);
    }
    heap_set_limit(heap);
}

void policy_start(eden_heap *heap) {
    heap->policy.reported[EDEN_DECISION_EDEN] = heap->params.eden_size;
    heap->policy.reported[EDEN_DECISION_OLD_GOAL] = policy_old_goal(heap);
    heap->policy.reported[EDEN_DECISION_SEMISPACE] = heap->policy.semispace;
}

static void report(eden_heap *heap, enum eden_decision decision, struct eden_policy_choice now) {
    uint64_t before = heap->policy.reported[decision];
    heap->policy.reported[decision] = now.bytes;
    if (before != now.bytes && before != EDEN_NO_LIMIT && now.bytes != EDEN_NO_LIMIT) {
        const struct policy_decision made = {
            .decision = decision, .reason = now.reason, .from = before, .to = now.bytes};
        OBSERVE(heap, decided, &made);
    }
}

void policy_report(eden_heap *heap) {
    struct policy *policy = &heap->policy;
    if (policy->reported[EDEN_DECISION_EDEN] != heap->params.eden_size) {
        report(heap, EDEN_DECISION_EDEN, (struct eden_policy_choice){heap->params.eden_size, policy->reason});
        policy->eden.reason = policy->reason; /* what now limits it, not the rule, is why it changes again */
    }
    report(heap, EDEN_DECISION_OLD_GOAL, choose_old(heap));
    enum eden_decision_reason why = policy->semispace != 0 ? EDEN_REASON_TURNOVER : EDEN_REASON_LASTING;
    report(heap, EDEN_DECISION_SEMISPACE, (struct eden_policy_choice){policy->semispace, why});
}

bool policy_tenures(const eden_heap *heap) {
    return params_decide(&heap->params, EDEN_PARAM_tenure_proportion) &&
           params_decide(&heap->params, EDEN_PARAM_survivors_to_keep) &&
           params_decide(&heap->params, EDEN_PARAM_tenure_fill) &&
           params_decide(&heap->params, EDEN_PARAM_compat_threshold_bug);
}

bool policy_keeps(const eden_heap *heap) { return heap->policy.keeping.is_on && policy_tenures(heap); }

bool policy_tenures_all(const eden_heap *heap) {
    return heap->policy.at_once != 0 && policy_tenures(heap) && !policy_keeps(heap);
}

/* Whether eden may be larger than what could be copied. That survivors stay young is tried first. */
static bool may_promote_all(const eden_heap *heap) {
    bool is_tried = !policy_keeps(heap) || heap->policy.keeping.scavenges > EDEN_POLICY_TRIAL;
    return may_promote(heap) && policy_tenures(heap) && is_tried && !heap->is_mixed;
}

void policy_collected(eden_heap *heap, uint64_t live_before, uint64_t used, uint64_t adopted) {
    struct policy *policy = &heap->policy;
    struct keeping *keeping = &policy->keeping;
    uint64_t in_place = policy->in_place;
    uint64_t tenured = heap->figures.tenured_bytes - heap->policy.tenured_before;
    heap->policy.tenured_before = heap->figures.tenured_bytes;
    uint64_t now = heap_old_used(heap);
    keeping->is_due = false;
    policy->in_place = 0;
    policy->turns_over = in_place != 0 || policy->is_in_place ? policy->turns_over
                                                              : eden_policy_turns_over(live_before, used, now, tenured);
    if (in_place != 0) {
        policy->is_in_place =
            may_promote_all(heap) && eden_policy_stays_in_place(in_place, adopted, policy->scattered, now);
    } else if (policy->is_in_place) {
        /* nothing is known of what was tenured, for nothing was */
    } else if (keeping->wait != 0) {
        keeping->wait--;
    } else if (!keeping->is_on && policy_tenures(heap) && params_decide(&heap->params, EDEN_PARAM_eden_size) &&
               policy->turns_over) {
        *keeping = (struct keeping){.is_on = true, .patience = keeping->patience};
        /* The next scavenge has to have room for what survives. */
        heap->policy.semispace = eden_policy_most_semispace(heap->params.max_heap, now, now);
    }
}

/* Ends what costs more than it saves. While it is tried, old space is collected twice: what was tenured before keeps
 * survivors alive until it is found dead. */
static void review_keeping(struct keeping *keeping, const struct scavenged *scavenged) {
    if (!keeping->is_on) {
        return;
    }
    keeping->scavenges++;
    keeping->is_due |= keeping->scavenges == EDEN_POLICY_TRIAL / 2 || keeping->scavenges == EDEN_POLICY_TRIAL;
    if (keeping->scavenges > EDEN_POLICY_TRIAL && eden_policy_ages(scavenged->survivors, scavenged->survived_again)) {
        keeping->is_on = keeping->is_due = false;
        keeping->wait = keeping->patience > EDEN_POLICY_PATIENCE ? keeping->patience : EDEN_POLICY_PATIENCE;
        keeping->patience = keeping->wait < UINT_MAX / 2 ? keeping->wait * 2 : keeping->wait;
    }
}

static void review_at_once(struct policy *policy, const struct scavenged *scavenged) {
    if (policy->at_once != 0) {
        policy->at_once--;
    } else if (eden_policy_tenures_at_once(scavenged->allocated, scavenged->survivors, scavenged->survived_again)) {
        policy->at_once = EDEN_POLICY_AT_ONCE;
    }
}

/* As it is, where it is large enough and not much too large: each change costs a decision, and pages. It shrinks a
 * quarter at a time: what has no room once is tenured, and then keeps alive what it refers to. */
static uint64_t choose_semispace(const struct policy *policy, const struct eden_policy_state *state) {
    uint64_t wanted = eden_policy_semispace(state), now = policy->semispace;
    if (wanted != 0 && wanted <= now && wanted >= now / 4 * 3) {
        return now;
    }
    uint64_t least = state->keeps ? eden_policy_pages(now / 4 * 3) : 0;
    return wanted >= least ? wanted : eden_policy_is_large(state, least) ? least : 0;
}

void policy_scavenged(eden_heap *heap, const struct scavenged *scavenged) {
    struct policy *policy = &heap->policy;
    policy->in_place += scavenged->in_place ? scavenged->promoted : 0;
    uint64_t allocated = scavenged->allocated, survived = scavenged->survived, promoted = scavenged->promoted;
    policy->promoted = promoted > policy->promoted / 4 * 3 ? promoted : policy->promoted / 4 * 3;
    policy->quiet = eden_policy_is_quiet(allocated, survived) ? policy->quiet + 1 : 0;
    /* For the scavenge, or nobody knows: what survives says little. */
    bool asked = allocated < heap->params.eden_size / 2 || scavenged->in_place;
    if (params_decide(&heap->params, EDEN_PARAM_eden_size) && !asked) {
        review_keeping(&policy->keeping, scavenged);
        review_at_once(policy, scavenged);
        bool scatters = eden_policy_scatters(policy->turns_over, scavenged->survivors, scavenged->survived_again);
        struct eden_policy_state state = {.limit = heap->params.max_heap,
                                          .eden = policy->eden.bytes,
                                          .live = heap->old.used_at_full,
                                          .used = heap_old_used(heap),
                                          .allocated = allocated,
                                          .survived = survived,
                                          .scattered = scatters ? survived : scavenged->scattered,
                                          .from_eden = survived - scavenged->survived_again,
                                          .keeps = policy_keeps(heap),
                                          .quiet = policy->quiet};
        policy->semispace = choose_semispace(policy, &state);
        policy->scattered = survived == 0 ? 0 : (double)state.scattered / (double)survived;
        policy->is_in_place =
            may_promote_all(heap) && (policy->is_in_place || eden_policy_is_in_place(&state, policy->semispace));
        policy->keeping.is_on &= !policy->is_in_place;
        state.in_place = policy->is_in_place;
        struct eden_policy_choice eden = eden_policy_eden(&state, policy->semispace);
        eden = within_memory(heap, eden_policy_at_most(eden, heap->new_space.eden_most, EDEN_REASON_RESERVED));
        if (eden.bytes != policy->eden.bytes) {
            policy->eden = eden;
            policy->quiet = 0;
        }
    }
    if (params_decide(&heap->params, EDEN_PARAM_eden_size) && !heap->is_mixed) {
        fit(heap);
    }
    policy_report(heap);
}
