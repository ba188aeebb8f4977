/* The rule of policy=auto as it runs: what it remembers of a heap, and its steps after a scavenge and after a full
 * collection. eden_policy.h has the questions that they ask, with their reasons. The runtime (runtime/heap/policy.c)
 * and `edenscope simulate` run the same steps; neither has anything of the rule of its own.
 *
 * Invariants
 * I1. A step depends on its arguments alone: no clock, no state elsewhere.
 * I2. What the bounds do not let the rule decide stays as it is. */
#ifndef EDEN_POLICY_RULE_H
#define EDEN_POLICY_RULE_H

#include "eden_policy.h"
#include <limits.h>

/* What the rule may decide, and within what; bytes. */
struct eden_policy_bounds {
    uint64_t limit;     /* max_heap, or EDEN_NO_LIMIT */
    uint64_t memory;    /* without a limit: what the rule stays below, but refuses nothing; or EDEN_NO_LIMIT */
    uint64_t eden_most; /* address space for it */
    bool sizes;         /* eden and the semispaces */
    bool tenures;       /* what is tenured */
    bool promotes;      /* what cannot be copied may stay where it is */
};

struct eden_policy_keeping { /* survivors young */
    bool is_on;
    bool is_due;        /* a full collection of what was old before */
    unsigned scavenges; /* since it is on */
    unsigned wait;      /* full collections before it may begin again */
    unsigned patience;  /* what `wait` becomes the next time that it costs more than it saves */
};

struct eden_policy_rule {
    struct eden_policy_choice eden; /* what the rule gives it; less where it cannot be mapped or promoted */
    uint64_t semispace;             /* what the rule gives it; 0: a fifth of eden */
    struct eden_policy_keeping keeping;
    bool turns_over;   /* most of what was tenured before the last full collection was dead in it */
    bool is_in_place;  /* eden may be larger than what could be promoted by copying (young/promote.c) */
    double scattered;  /* the part of survivors that old space refers to, or what those refer to */
    uint64_t promoted; /* bytes that a scavenge promoted of late, at most */
    unsigned at_once;  /* the number of scavenges left that tenure all survivors */
    unsigned quiet;    /* the latest scavenges, in a row, that had hardly a survivor */
};

/* What a scavenge has found; bytes. */
struct eden_policy_scavenged {
    uint64_t eden;                     /* how much of eden the program could use */
    uint64_t allocated, survivors;     /* in eden, and in from-space, before */
    uint64_t survived, survived_again; /* of both; of from-space */
    uint64_t promoted, scattered;      /* of `survived`; scattered: reached from old space */
    bool in_place;                     /* all was promoted, dead or alive; only `promoted` is known */
    bool is_mixed;                     /* promotion has failed */
    uint64_t live, used;               /* of old space: after the last full collection; now */
};

/* What a full collection has found, and the time since the one before; bytes. */
struct eden_policy_full {
    uint64_t live_before, used, live; /* of old space: after the one before, before this one, after it */
    uint64_t tenured;                 /* since the one before */
    uint64_t in_place, adopted;       /* promoted in place since then; what lives of it */
    bool is_mixed;
};

static inline bool eden_policy_keeps(const struct eden_policy_rule *rule, const struct eden_policy_bounds *bounds) {
    return rule->keeping.is_on && bounds->tenures;
}

/* Is all that survives tenured? */
static inline bool eden_policy_tenures_all(const struct eden_policy_rule *rule,
                                           const struct eden_policy_bounds *bounds) {
    return rule->at_once != 0 && bounds->tenures && !eden_policy_keeps(rule, bounds);
}

/* Whether eden may be larger than what could be copied. That survivors stay young is tried first. */
static inline bool eden_policy_may_promote_all(const struct eden_policy_rule *rule,
                                               const struct eden_policy_bounds *bounds, bool is_mixed) {
    bool is_tried = !eden_policy_keeps(rule, bounds) || rule->keeping.scavenges > EDEN_POLICY_TRIAL;
    return bounds->promotes && bounds->tenures && is_tried && !is_mixed;
}

/* A size of eden, where there is no limit and the control group's memory has one. */
static inline struct eden_policy_choice eden_policy_within_memory(const struct eden_policy_bounds *bounds,
                                                                  struct eden_policy_choice eden, uint64_t live) {
    const uint64_t memory = bounds->limit == EDEN_NO_LIMIT ? bounds->memory : EDEN_NO_LIMIT;
    return memory == EDEN_NO_LIMIT ? eden
                                   : eden_policy_at_most(eden, eden_policy_most(memory, live), EDEN_REASON_MEMORY);
}

/* How large old space may become before it is collected. */
static inline struct eden_policy_choice eden_policy_goal(const struct eden_policy_bounds *bounds, uint64_t new_space,
                                                         uint64_t live) {
    struct eden_policy_choice choice = eden_policy_old(bounds->limit, new_space, live);
    return bounds->limit == EDEN_NO_LIMIT && bounds->memory != EDEN_NO_LIMIT
               ? eden_policy_at_most(choice, eden_policy_old(bounds->memory, new_space, 0).bytes, EDEN_REASON_LIMIT)
               : choice;
}

/* After a scavenge: is old space to be collected? eden: as it is from now on; in_place: bytes promoted so since it
 * was. */
static inline bool eden_policy_wants_full(const struct eden_policy_rule *rule, const struct eden_policy_bounds *bounds,
                                          uint64_t goal, uint64_t eden, uint64_t used, uint64_t live,
                                          uint64_t survivors, uint64_t in_place) {
    bool keeps = eden_policy_keeps(rule, bounds);
    if (rule->is_in_place || in_place != 0) {
        /* Only then there is something to find, or where large objects have taken most of eden. */
        return in_place != 0 || (eden < eden_policy_left(bounds->limit, live) / 4 && used > live + live / 16);
    }
    return (keeps && rule->keeping.is_due) ||
           eden_policy_collects(goal, used, live, rule->promoted + (keeps && bounds->promotes ? 0 : survivors));
}

/* ---- after a scavenge ---------------------------------------------------------------------------------------------
 */

/* Ends what costs more than it saves. While it is tried, old space is collected twice: what was tenured before keeps
 * survivors alive until it is found dead. */
static inline void eden_policy_review_keeping(struct eden_policy_keeping *keeping,
                                              const struct eden_policy_scavenged *found) {
    if (!keeping->is_on) {
        return;
    }
    keeping->scavenges++;
    keeping->is_due |= keeping->scavenges == EDEN_POLICY_TRIAL / 2 || keeping->scavenges == EDEN_POLICY_TRIAL;
    if (keeping->scavenges > EDEN_POLICY_TRIAL && eden_policy_ages(found->survivors, found->survived_again)) {
        keeping->is_on = keeping->is_due = false;
        keeping->wait = keeping->patience > EDEN_POLICY_PATIENCE ? keeping->patience : EDEN_POLICY_PATIENCE;
        keeping->patience = keeping->wait < UINT_MAX / 2 ? keeping->wait * 2 : keeping->wait;
    }
}

static inline void eden_policy_review_at_once(struct eden_policy_rule *rule,
                                              const struct eden_policy_scavenged *found) {
    if (rule->at_once != 0) {
        rule->at_once--;
    } else if (eden_policy_tenures_at_once(found->allocated, found->survivors, found->survived_again)) {
        rule->at_once = EDEN_POLICY_AT_ONCE;
    }
}

/* As it is, where it is large enough and not much too large: each change costs a decision, and pages. It shrinks a
 * quarter at a time: what has no room once is tenured, and then keeps alive what it refers to. */
static inline uint64_t eden_policy_next_semispace(uint64_t now, const struct eden_policy_state *state) {
    uint64_t wanted = eden_policy_semispace(state);
    if (wanted != 0 && wanted <= now && wanted >= now / 4 * 3) {
        return now;
    }
    uint64_t least = state->keeps ? eden_policy_pages(now / 4 * 3) : 0;
    return wanted >= least ? wanted : eden_policy_is_large(state, least) ? least : 0;
}

static inline void eden_policy_scavenge(struct eden_policy_rule *rule, const struct eden_policy_bounds *bounds,
                                        const struct eden_policy_scavenged *found) {
    uint64_t allocated = found->allocated, survived = found->survived, promoted = found->promoted;
    rule->promoted = promoted > rule->promoted / 4 * 3 ? promoted : rule->promoted / 4 * 3;
    rule->quiet = eden_policy_is_quiet(allocated, survived) ? rule->quiet + 1 : 0;
    /* For the scavenge, or nobody knows: what survives says little. */
    bool asked = allocated < found->eden / 2 || found->in_place;
    if (!bounds->sizes || asked) {
        return;
    }
    eden_policy_review_keeping(&rule->keeping, found);
    eden_policy_review_at_once(rule, found);
    bool scatters = eden_policy_scatters(rule->turns_over, found->survivors, found->survived_again);
    struct eden_policy_state state = {.limit = bounds->limit,
                                      .eden = rule->eden.bytes,
                                      .live = found->live,
                                      .used = found->used,
                                      .allocated = allocated,
                                      .survived = survived,
                                      .scattered = scatters ? survived : found->scattered,
                                      .from_eden = survived - found->survived_again,
                                      .keeps = eden_policy_keeps(rule, bounds),
                                      .quiet = rule->quiet};
    rule->semispace = eden_policy_next_semispace(rule->semispace, &state);
    rule->scattered = survived == 0 ? 0 : (double)state.scattered / (double)survived;
    rule->is_in_place = eden_policy_may_promote_all(rule, bounds, found->is_mixed) &&
                        (rule->is_in_place || eden_policy_is_in_place(&state, rule->semispace));
    rule->keeping.is_on &= !rule->is_in_place;
    state.in_place = rule->is_in_place;
    struct eden_policy_choice eden = eden_policy_eden(&state, rule->semispace);
    eden = eden_policy_within_memory(bounds, eden_policy_at_most(eden, bounds->eden_most, EDEN_REASON_RESERVED),
                                     found->live);
    if (eden.bytes != rule->eden.bytes) {
        rule->eden = eden;
        rule->quiet = 0;
    }
}

/* ---- after a full collection --------------------------------------------------------------------------------------
 */

static inline void eden_policy_collect(struct eden_policy_rule *rule, const struct eden_policy_bounds *bounds,
                                       const struct eden_policy_full *found) {
    struct eden_policy_keeping *keeping = &rule->keeping;
    keeping->is_due = false;
    if (found->in_place == 0 && !rule->is_in_place) {
        rule->turns_over = eden_policy_turns_over(found->live_before, found->used, found->live, found->tenured);
    }
    if (found->in_place != 0) {
        rule->is_in_place = eden_policy_may_promote_all(rule, bounds, found->is_mixed) &&
                            eden_policy_stays_in_place(found->in_place, found->adopted, rule->scattered, found->live);
    } else if (rule->is_in_place) {
        /* nothing is known of what was tenured, for nothing was */
    } else if (keeping->wait != 0) {
        keeping->wait--;
    } else if (!keeping->is_on && bounds->tenures && bounds->sizes && rule->turns_over) {
        *keeping = (struct eden_policy_keeping){.is_on = true, .patience = keeping->patience};
        /* The next scavenge has to have room for what survives. */
        rule->semispace = eden_policy_most_semispace(bounds->limit, found->live, found->live);
    }
}

/* Old space has another size: where less lives than before, new space may take less, too. */
static inline void eden_policy_shrink(struct eden_policy_rule *rule, const struct eden_policy_bounds *bounds,
                                      uint64_t live, uint64_t used) {
    bool tries = rule->keeping.scavenges < EDEN_POLICY_TRIAL;
    uint64_t largest = rule->semispace == 0
                           ? eden_policy_most(bounds->limit, live)
                           : eden_policy_most_beside(bounds->limit, live, used, rule->semispace, tries);
    if (!rule->is_in_place) {
        rule->eden =
            eden_policy_within_memory(bounds, eden_policy_at_most(rule->eden, largest, EDEN_REASON_MEMORY), live);
    }
}

#endif
