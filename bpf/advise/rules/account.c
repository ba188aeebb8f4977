/* The account of the time in collections: explained and unexplained.
 *
 * 1. Purpose. Findings must not look like the whole truth. A reader sees what share of the time in collections they
 *    account for, and what share no rule has a word for.
 *
 * 2. Terms. Kinds: scavenges and full collections, with one that hung at the end. Explained: the sum of the costs that
 *    the findings estimate, kind by kind. Unexplained: the rest of that kind.
 *
 * 3. Algorithm. Each finding that is a matter of time says what it costs in scavenges and in full collections
 *    (finding_explains). Estimates overlap: two findings may claim the same copies. So a kind's sum counts for no more
 *    than the time in collections of that kind. program.allocates explains what is left for the program to change.
 *
 * 4. Invariants.
 *    I1. 0 <= explained <= all, for each kind.
 *    I2. Explained and unexplained add up to the time in collections. */
#include "advise/rules/account.h"
#include <math.h>

static const double COSTLY = 0.1, LONG_PAUSE_NS = 0.5e9;

const char *const account_kinds[TUNE_KINDS] = {"scavenge", "full"};

void account_make(struct account *account, const struct findings *findings) {
    const struct tune_facts *facts = findings->facts;
    *account = (struct account){.is_costly = tune_gc_share(facts) > COSTLY || tune_unfinished_ns(facts) != 0 ||
                                             (double)tune_figure(facts, EDEN_FIGURE_max_pause_ns) > LONG_PAUSE_NS};
    account->all_ns[TUNE_SCAVENGES] = (double)tune_figure(facts, EDEN_FIGURE_scavenge_ns);
    account->all_ns[TUNE_FULLS] = (double)tune_figure(facts, EDEN_FIGURE_full_ns);
    account->all_ns[tune_unfinished_kind(facts)] += (double)tune_unfinished_ns(facts);
    for (int kind = 0; kind < TUNE_KINDS; kind++) {
        double sum = 0;
        for (size_t i = 0; i < findings->count; i++) {
            sum += fmax(findings->at[i].explained_ns[kind], 0);
        }
        account->explained_ns[kind] = fmin(sum, account->all_ns[kind]);
    }
}

void account_shares(struct account_shares *shares, const struct account *account, const struct tune_facts *facts) {
    *shares = (struct account_shares){0};
    /* Processes and recordings may report more than the time observed. */
    double wall_ns = fmax((double)facts->wall_ns, account->all_ns[TUNE_SCAVENGES] + account->all_ns[TUNE_FULLS]);
    for (int kind = 0; facts->wall_ns && kind < TUNE_KINDS; kind++) {
        shares->rest[kind] = (account->all_ns[kind] - account->explained_ns[kind]) / wall_ns;
        shares->explained += account->explained_ns[kind] / wall_ns;
        shares->unexplained += shares->rest[kind];
    }
    shares->gc = shares->explained + shares->unexplained;
}
