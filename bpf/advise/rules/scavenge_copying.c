/* scavenge.copying: the same survivors are copied again and again.
 *
 * A survivor is copied by each scavenge until it dies or is tenured. Where nearly all that survive go on living,
 * waiting for the semispace to fill is in vain: tenured at their second scavenge (tenure_fill=0, tenure_proportion=1),
 * they are copied twice and no more. (The tuning paper's third step kept all survivors instead; that was right for a
 * VM that tenured what is reached last.) Where they die after some scavenges, a larger eden lets them die before. */
#include "advise/facts/scavenges.h"
#include "advise/rules/rules.h"
#include "util/format.h"
#include <math.h>

static const double OFTEN = 1.5; /* copies of a survivor, on average */

static double copied(const struct tune_site *site) { return site->copied_bytes; }

static void report_classes(const struct tune_facts *facts, struct finding *finding) {
    const struct tune_site *most = tune_most(facts, copied);
    if (most) {
        finding_evidence(finding, "mostly %s (%.0f%%), copied %.1f times each", most->name,
                         100 * most->copied_bytes / facts->all.copied_bytes,
                         most->copied_bytes / fmax(most->survivor_bytes, 1));
    }
}

void rule_scavenge_copying(const struct tune_facts *facts, struct findings *findings) {
    struct scavenge_plan plan;
    if (!facts->details && tune_gc_share(facts) >= TUNE_MATTERS) {
        tune_not_examined(findings, "scavenge.copying", "needs record --lifetimes=details");
    }
    if (!facts->details || !scavenge_plan_make(&plan, facts) || !plan.choice.early) {
        return;
    }
    double copies = scavenge_copies(facts), ns = scavenge_early_ns(&plan);
    double share = tune_share_of_time(facts, ns);
    if (copies < OFTEN || share < TUNE_MATTERS) {
        return;
    }
    const struct scavenge_model *model = &plan.model;
    char copied[FORMAT_MAX], survivors[FORMAT_MAX], garbage[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "scavenge.copying", share);
    finding_explains(finding, ns, 0);
    finding_evidence(finding,
                     "scavenges copied %s, each surviving object %.1f times; of the %s that survived, %.0f%% lived on "
                     "in old space or to the end",
                     format_bytes(copied, (uint64_t)model->copied_bytes), copies,
                     format_bytes(survivors, (uint64_t)facts->all.survivor_bytes),
                     100 * fmin(facts->all.old_bound_bytes / facts->all.survivor_bytes, 1));
    report_classes(facts, finding);
    finding_why(finding, "Survivors stay in new space, and each scavenge copies them, until they fill their semispace. "
                         "An object that is tenured at its second scavenge is copied at most twice.");
    finding_set(finding, EDEN_PARAM_tenure_fill, 0);
    finding_set(finding, EDEN_PARAM_tenure_proportion, 1);
    finding_how(finding, "by the recorded lifetimes, this copies %.0f%% of the bytes",
                100 * plan.chosen.copied_bytes / fmax(plan.without_early.copied_bytes, 1));
    double gain = tune_share_of_gc(facts, ns);
    finding_gain(finding, gain * 0.5, scavenge_gain_most(gain));
    finding_cost(finding, "about %s of objects that die soon after become garbage in old space in such a run",
                 format_bytes(garbage, (uint64_t)plan.chosen.garbage_bytes));
}
