/* The policy of a heap: applies the rule of eden_policy_rule.h where policy=auto.
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
 * (struct eden_policy_keeping).
 *
 * Observers get each change of a size at the end of a collection (policy_report). What changes a size between two
 * collections, large objects and eden_heap_set, is reported by the second: figures are as of a collection's end, too.
 */
#include "heap/policy.h"
#include "eden_policy_rule.h"
#include "heap/cgroup.h"
#include "heap/new_space.h"

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
        heap->policy.rule.eden = (struct eden_policy_choice){heap->params.eden_size, EDEN_REASON_MEMORY};
    }
}

void policy_set(eden_heap *heap) {
    heap->policy = (struct policy){.rule.eden = {heap->params.eden_size, EDEN_REASON_MEMORY}};
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
    uint64_t mapped = heap->new_space.eden_end - heap->new_space.eden_start, eden = heap->policy.rule.eden.bytes;
    bool kept = params_decide(&heap->params, EDEN_PARAM_eden_size) && mapped > eden;
    return heap->new_space.bytes - (kept ? mapped - eden : 0);
}

/* May what cannot be copied stay where it is? */
static bool may_promote(const eden_heap *heap) {
    return heap->params.max_heap != EDEN_NO_LIMIT && heap->params.max_heap / 16 >= EDEN_POLICY_OTHER &&
           params_decide(&heap->params, EDEN_PARAM_eden_size) &&
           params_decide(&heap->params, EDEN_PARAM_full_gc_ratio) &&
           params_decide(&heap->params, EDEN_PARAM_shrink_threshold);
}

bool policy_tenures(const eden_heap *heap) {
    return params_decide(&heap->params, EDEN_PARAM_tenure_proportion) &&
           params_decide(&heap->params, EDEN_PARAM_survivors_to_keep) &&
           params_decide(&heap->params, EDEN_PARAM_tenure_fill) &&
           params_decide(&heap->params, EDEN_PARAM_compat_threshold_bug);
}

/* An eden larger than what can be copied has no part in short pauses: with pause_goal only need promotes in place. */
static struct eden_policy_bounds bounds_of(const eden_heap *heap) {
    return (struct eden_policy_bounds){.limit = heap->params.max_heap,
                                       .memory = heap->group_memory,
                                       .eden_most = heap->new_space.eden_most,
                                       .sizes = params_decide(&heap->params, EDEN_PARAM_eden_size),
                                       .tenures = policy_tenures(heap),
                                       .promotes = may_promote(heap) && heap->params.pause_goal == 0};
}

bool policy_keeps(const eden_heap *heap) {
    const struct eden_policy_bounds bounds = bounds_of(heap);
    return eden_policy_keeps(&heap->policy.rule, &bounds);
}

bool policy_tenures_all(const eden_heap *heap) {
    const struct eden_policy_bounds bounds = bounds_of(heap);
    return eden_policy_tenures_all(&heap->policy.rule, &bounds);
}

/* EDEN_NO_LIMIT: the parameters decide. */
static struct eden_policy_choice choose_old(const eden_heap *heap) {
    if (!params_decide(&heap->params, EDEN_PARAM_full_gc_ratio)) {
        return (struct eden_policy_choice){.bytes = EDEN_NO_LIMIT};
    }
    const struct eden_policy_bounds bounds = bounds_of(heap);
    return eden_policy_goal(&bounds, new_space_used(heap), heap->old.used_at_full);
}

uint64_t policy_old_goal(const eden_heap *heap) { return choose_old(heap).bytes; }

/* What is promoted where it is needs no room: then a large object and eden take all memory, from both its ends, before
 * anything is collected. */
bool policy_lets_grow(const eden_heap *heap, size_t bytes) {
    const struct new_space *new = &heap->new_space;
    uint64_t goal = policy_old_goal(heap);
    if (goal == EDEN_NO_LIMIT) {
        return false;
    }
    goal += heap->policy.rule.is_in_place ? new->eden_end - system_page_round(heap->mutator.free) : 0;
    return heap->old.capacity + bytes <= goal;
}

/* New space may grow as far as the rule lets it, and needs what it has. */
uint64_t policy_old_kept(const eden_heap *heap) {
    uint64_t goal = policy_old_goal(heap), limit = heap->params.max_heap;
    if (goal == EDEN_NO_LIMIT || limit == EDEN_NO_LIMIT || !params_decide(&heap->params, EDEN_PARAM_eden_size)) {
        return goal;
    }
    uint64_t most = eden_policy_most(limit, heap->old.used_at_full) / 5 * 7;
    if (policy_keeps(heap) || heap->policy.rule.is_in_place) {
        most = eden_policy_left(limit, heap->old.used_at_full);
    }
    return limit - most < goal ? limit - most : goal;
}

bool policy_wants_full(const eden_heap *heap) {
    const struct eden_policy_bounds bounds = bounds_of(heap);
    uint64_t used = heap_old_used(heap);
    return (heap->policy.in_place != 0 || used >= heap->params.full_gc_min_old) &&
           eden_policy_wants_full(&heap->policy.rule, &bounds, policy_old_goal(heap), heap->params.eden_size, used,
                                  heap->old.used_at_full, heap_survivor_used(heap), heap->policy.in_place);
}

static uint64_t goal_by_ratio(const eden_heap *heap) {
    double goal = (double)heap->old.used_at_full * (1 + heap->params.full_gc_ratio);
    return goal < 0x1p63 ? (uint64_t)goal : EDEN_NO_LIMIT;
}

uint64_t policy_full_at(const eden_heap *heap) {
    bool decides = params_decide(&heap->params, EDEN_PARAM_full_gc_ratio);
    if (decides && (heap->policy.rule.is_in_place || heap->policy.in_place != 0)) {
        return EDEN_NO_LIMIT;
    }
    uint64_t goal = decides ? policy_old_goal(heap) : goal_by_ratio(heap);
    return goal > heap->params.full_gc_min_old ? goal : heap->params.full_gc_min_old;
}

uint64_t policy_kept_free(const eden_heap *heap) { return may_promote(heap) ? EDEN_POLICY_OTHER : 0; }

bool policy_promotes_in_place(const eden_heap *heap) {
    const struct new_space *new = &heap->new_space;
    uint64_t mapped = new->bytes + heap->old.capacity, limit = heap->params.max_heap;
    uint64_t room = (limit > mapped ? limit - mapped : 0) + heap->old.free_bytes / 8 * 7;
    room += new->eden_end - system_page_round(heap->mutator.free);
    return may_promote(heap) &&
           (heap->is_mixed ||
            (heap->policy.rule.is_in_place && heap->mutator.free - heap->eden.start + heap_survivor_used(heap) > room));
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
    if (heap->params.max_heap == EDEN_NO_LIMIT || heap->policy.rule.is_in_place) {
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
    uint64_t used = heap->mutator.free - heap->new_space.eden_start;
    uint64_t left = mapped > bytes ? eden_policy_pages(mapped - bytes) : 0; /* it gives whole pages */
    if (heap->policy.rule.is_in_place && left < heap->eden.limit - heap->new_space.eden_start) {
        heap->policy.reason = EDEN_REASON_PROMOTION;
        limit_eden(heap, left > used ? left : used);
    }
    new_space_yield(heap, bytes);
    heap_set_limit(heap); /* also outside a collection: the program may go on without the slow path */
}

/* A semispace that has room for what survives. */
static uint64_t least_semispace(const eden_heap *heap) {
    uint64_t least = new_space_fifth(EDEN_POLICY_LEAST), used = system_page_round(heap_survivor_used(heap));
    return used > least ? used : least;
}

bool policy_could_give(const eden_heap *heap, size_t bytes) {
    uint64_t limit = heap->params.max_heap, wanted = system_page_round(bytes) + policy_kept_free(heap);
    uint64_t new_bytes = EDEN_POLICY_LEAST + 2 * least_semispace(heap),
             needed = new_bytes + heap->old.capacity + wanted;
    return params_decide(&heap->params, EDEN_PARAM_eden_size) && !heap->is_mixed && limit != EDEN_NO_LIMIT &&
           new_bytes < heap->new_space.bytes && needed <= limit;
}

/* In the checked build eden may begin later than new space has it (poison.c): then it is in use. */
bool policy_gives_eden(eden_heap *heap, size_t bytes) {
    if (heap->mutator.free != heap->new_space.eden_start || !policy_could_give(heap, bytes)) {
        return false;
    }
    heap->policy.reason = EDEN_REASON_MAPPED;
    new_space_resize(heap, EDEN_POLICY_LEAST, least_semispace(heap));
    limit_eden(heap, EDEN_NO_LIMIT);
    return true;
}

/* Eden takes all there is, but for another new space, and the survivors. */
static void fit_all(eden_heap *heap) {
    uint64_t all = most_mapped(heap), least = new_space_fifth(EDEN_POLICY_LEAST);
    uint64_t survivors = system_page_round(heap_survivor_used(heap));
    uint64_t rest = EDEN_POLICY_OTHER + least + (survivors > least ? survivors : least);
    uint64_t most = all > rest + EDEN_POLICY_LEAST ? eden_policy_pages(all - rest) : EDEN_POLICY_LEAST;
    struct eden_policy_choice eden = eden_policy_at_most(heap->policy.rule.eden, most, EDEN_REASON_MAPPED);
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
    if (policy->rule.is_in_place) {
        fit_all(heap);
        return;
    }
    /* What has no room to be copied to is promoted where it is: another new space must find room then. */
    uint64_t all = most_mapped(heap), now = heap->new_space.eden_end - heap->new_space.eden_start;
    all -= all > 2 * policy_kept_free(heap) ? policy_kept_free(heap) : 0;
    uint64_t semispace = policy->rule.semispace < all / 3 ? policy->rule.semispace : eden_policy_pages(all / 3);
    uint64_t most = eden_policy_pages(all / 7 * 5); /* beside semispaces of a fifth of it */
    if (semispace > (policy->rule.eden.bytes < most ? policy->rule.eden.bytes : most) / 5) {
        most = eden_policy_pages(all - 2 * semispace);
    } else {
        semispace = 0;
        most = most > now ? most : now;
    }
    struct eden_policy_choice eden = eden_policy_at_most(policy->rule.eden, most, EDEN_REASON_MAPPED);
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
    const struct eden_policy_bounds bounds = bounds_of(heap);
    eden_policy_shrink(&heap->policy.rule, &bounds, heap->old.used_at_full, heap_old_used(heap));
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
    heap->policy.reported[EDEN_DECISION_SEMISPACE] = heap->policy.rule.semispace;
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
        policy->rule.eden.reason = policy->reason; /* what now limits it, not the rule, is why it changes again */
    }
    report(heap, EDEN_DECISION_OLD_GOAL, choose_old(heap));
    enum eden_decision_reason why = policy->rule.semispace != 0 ? EDEN_REASON_TURNOVER : EDEN_REASON_LASTING;
    report(heap, EDEN_DECISION_SEMISPACE, (struct eden_policy_choice){policy->rule.semispace, why});
}

/* What new space needs at least, and has where the policy does not size it; and what is kept free for another one. */
static uint64_t least_new_space(const eden_heap *heap) {
    bool is_sized = params_decide(&heap->params, EDEN_PARAM_eden_size);
    return is_sized ? EDEN_POLICY_LEAST + 2 * new_space_fifth(EDEN_POLICY_LEAST) + policy_kept_free(heap)
                    : heap->new_space.bytes;
}

/* A limit that was met: max_heap, or what is mapped where the system has refused more. */
static uint64_t limit_met(const eden_heap *heap, bool is_refused) {
    uint64_t limit = heap->params.max_heap;
    return limit == EDEN_NO_LIMIT && is_refused ? heap->new_space.bytes + heap->old.capacity : limit;
}

bool policy_gives_up(eden_heap *heap) {
    struct overhead *overhead = &heap->policy.overhead;
    const uint64_t *by_cause = heap->figures.full_by_cause;
    uint64_t collected = heap->figures.full_collections - by_cause[EDEN_FULL_REQUEST];
    bool is_limited = heap->params.policy == EDEN_POLICY_AUTO || params_has(&heap->params, EDEN_PARAM_overhead_limit);
    if (collected == overhead->collected || !is_limited) {
        return false;
    }
    uint64_t allocated = heap_allocated(heap), copied = heap->figures.survived_bytes;
    uint64_t limit = limit_met(heap, by_cause[EDEN_FULL_LIMIT] != overhead->refused);
    uint64_t live = heap_old_used(heap) + heap_survivor_used(heap);
    uint64_t work = overhead->full_work + copied - overhead->copied_before;
    bool is_full = eden_policy_is_full(limit, least_new_space(heap), live) &&
                   eden_policy_is_overhead(heap->params.overhead_limit, work, allocated - overhead->allocated_before);
    /* An allocation may have several full collections: they count once. */
    bool is_next = overhead->row == 0 || (allocated != overhead->allocated_before && overhead->row < EDEN_POLICY_ROW);
    overhead->row = is_full ? overhead->row + is_next : 0;
    overhead->collected = collected;
    overhead->refused = by_cause[EDEN_FULL_LIMIT];
    overhead->copied_before = copied;
    overhead->allocated_before = allocated;
    return overhead->row >= EDEN_POLICY_ROW;
}

void policy_collected(eden_heap *heap, uint64_t live_before, uint64_t used, uint64_t adopted) {
    struct policy *policy = &heap->policy;
    const struct eden_policy_bounds bounds = bounds_of(heap);
    const struct eden_policy_full found = {.live_before = live_before,
                                           .used = used,
                                           .live = heap_old_used(heap),
                                           .tenured = heap->figures.tenured_bytes - policy->tenured_before,
                                           .in_place = policy->in_place,
                                           .adopted = adopted,
                                           .is_mixed = heap->is_mixed};
    policy->overhead.full_work = used + found.live;
    policy->tenured_before = heap->figures.tenured_bytes;
    policy->in_place = 0;
    eden_policy_collect(&policy->rule, &bounds, &found);
}

void policy_scavenged(eden_heap *heap, const struct scavenged *scavenged) {
    const struct eden_policy_bounds bounds = bounds_of(heap);
    const struct eden_policy_scavenged found = {.eden = heap->params.eden_size,
                                                .allocated = scavenged->allocated,
                                                .survivors = scavenged->survivors,
                                                .survived = scavenged->survived,
                                                .survived_again = scavenged->survived_again,
                                                .promoted = scavenged->promoted,
                                                .scattered = scavenged->scattered,
                                                .in_place = scavenged->in_place,
                                                .is_mixed = heap->is_mixed,
                                                .live = heap->old.used_at_full,
                                                .used = heap_old_used(heap)};
    heap->policy.in_place += scavenged->in_place ? scavenged->promoted : 0;
    eden_policy_scavenge(&heap->policy.rule, &bounds, &found);
    if (bounds.sizes && !heap->is_mixed) {
        fit(heap);
    }
    policy_report(heap);
}
