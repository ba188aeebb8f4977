/* pause.goal: what pause_goal costs, and where pauses are longer than it.
 *
 * With a goal, scavenges mark and sweep old space a part at a time, and find less of eden used. That takes more time in
 * all than full collections would, and none of it is in full collections. Each part ends by the clock, but what a
 * scavenge finds alive, and the last part of a full collection, have no such end.
 *
 * While lifetimes are measured the goal is not in force, so what is recorded then does not show what it does. */
#include "advise/rules/rule.h"
#include "util/format.h"
#include "util/whole.h"
#include <math.h>
#include <stdio.h>

static const double OFTEN = 0.01; /* of all pauses */

struct goal_pauses {
    size_t count, longer;
    uint64_t longest_ns;
    double ahead_ns; /* of marking and sweeping in scavenges */
};

static struct goal_pauses pauses_of(const struct tune_facts *facts, double goal_ns) {
    struct goal_pauses pauses = {0};
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        const uint64_t ns = tune_pause_ns(facts, i);
        pauses.ahead_ns +=
            (double)pass->part_ns[EDEN_PHASE_scavenge__mark] + (double)pass->part_ns[EDEN_PHASE_scavenge__sweep];
        pauses.count += ns != 0;
        pauses.longer += (double)ns > goal_ns;
        pauses.longest_ns = ns > pauses.longest_ns ? ns : pauses.longest_ns;
    }
    return pauses;
}

void rule_pause_goal(const struct tune_facts *facts, struct findings *findings) {
    const double goal_ns = tune_number(facts, EDEN_PARAM_pause_goal) * 1e6;
    if (!(goal_ns > 0) || !tune_has_collections(facts)) {
        return;
    }
    const struct goal_pauses pauses = pauses_of(facts, goal_ns);
    const double share = tune_share_of_time(facts, pauses.ahead_ns);
    const bool is_exceeded = (double)pauses.longer > OFTEN * (double)pauses.count;
    if (share < TUNE_MATTERS && !is_exceeded && !facts->lifetimes) {
        return;
    }
    char goal[FORMAT_MAX], longest[FORMAT_MAX], ahead[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "pause.goal", share);
    format_ns(goal, whole_of(goal_ns));
    finding_explains(finding, pauses.ahead_ns, 0);
    finding_evidence(finding, "%zu of %zu pauses were longer than the goal of %s; the longest took %s", pauses.longer,
                     pauses.count, goal, format_ns(longest, pauses.longest_ns));
    if (pauses.ahead_ns > 0) {
        finding_evidence(finding, "scavenges marked and swept old space for %s, %.1f%% of the run",
                         format_ns(ahead, whole_of(pauses.ahead_ns)), 100 * share);
    }
    if (facts->lifetimes) {
        finding_why(finding, "While lifetimes are measured, pause_goal is not in force: each full collection marks and "
                             "sweeps all of old space at once. So pauses are longer here than in other runs, and "
                             "collections cheaper.");
        finding_how(finding, "to examine the program as it runs otherwise, record it without lifetimes: edenscope "
                             "record, then edenscope tune -i");
    } else {
        finding_why(finding, "With pause_goal scavenges are many and small, and do most of the work of full "
                             "collections in parts. That makes pauses shorter, and takes more time in all.");
        finding_how(finding,
                    "a larger pause_goal, or 0, spends less time on collections in longer pauses; how much has "
                    "to be measured (edenscope tune --verify --options pause_goal=...)");
    }
}
