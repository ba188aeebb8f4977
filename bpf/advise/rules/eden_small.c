/* eden.small: eden too small for the allocation rate.
 *
 * A scavenge costs what it finds alive, not what is dead, and something for itself. With a larger eden there are fewer,
 * and objects have more time to die before one comes. How much that would spare is forecast from the lifetimes
 * recorded (scavenges.c). */
#include "advise/facts/scavenges.h"
#include "advise/rules/rules.h"
#include "util/format.h"
#include <math.h>
#include <string.h>

static const double WORTH = 0.2; /* of what scavenges cost by the model: for less nobody takes more memory */
static const double OWN = 0.3;   /* of what a larger eden would spare, that no other finding explains */

/* The share of the run that findings about scavenges and tenuring promise to cure: a larger eden would hide what they
 * tell. Those that tell who is tenured in vain set an eden themselves, or what makes this one look small. */
static double claimed(const struct tune_facts *facts, const struct findings *findings) {
    double share = 0;
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->at[i];
        bool of_scavenges = strncmp(finding->key, "scavenge.", 9) == 0 || strncmp(finding->key, "tenure.", 7) == 0 ||
                            strncmp(finding->key, "ephemeron.", 10) == 0;
        share += finding_is_of_tenuring(finding) ? 1 : of_scavenges ? finding->gain_max * tune_gc_share(facts) : 0;
    }
    return share;
}

void rule_eden_small(const struct tune_facts *facts, struct findings *findings) {
    struct scavenge_plan plan;
    if (!scavenge_plan_make(&plan, facts) || plan.choice.times <= 1) {
        return;
    }
    double ns = scavenge_eden_ns(&plan), share = tune_share_of_time(facts, ns);
    double left = share - claimed(facts, findings);
    if (left < fmax(TUNE_WORTH_MEMORY, share * OWN) || ns < WORTH * plan.now.ns) {
        return;
    }
    const struct scavenge_model *model = &plan.model;
    double value = model->eden_bytes * plan.choice.times,
           scavenge_ns = (double)tune_figure(facts, EDEN_FIGURE_scavenge_ns);
    char eden[FORMAT_MAX], every[FORMAT_MAX], each[FORMAT_MAX], kept[FORMAT_MAX], count[FORMAT_MAX], more[FORMAT_MAX],
        peak[FORMAT_MAX], now[FORMAT_MAX], then[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "eden.small", share);
    finding_explains(finding, ns, 0);
    finding_evidence(finding, "%s scavenges of an eden of %s, one each %s, which on average copied %s and took %s",
                     format_count(count, (uint64_t)model->count), format_bytes(eden, (uint64_t)model->eden_bytes),
                     format_ns(every, (uint64_t)((double)facts->wall_ns / model->count)),
                     format_bytes(kept, (uint64_t)(model->copied_bytes / model->count)),
                     format_ns(each, (uint64_t)(scavenge_ns / model->count)));
    if (facts->survivors) {
        finding_evidence(finding, "by the recorded lifetimes, an eden of %s would copy %s in total; this one copied %s",
                         format_bytes(eden, (uint64_t)value), format_bytes(then, (uint64_t)plan.chosen.copied_bytes),
                         format_bytes(now, (uint64_t)model->copied_bytes));
    }
    finding_why(
        finding,
        "Scavenges are so frequent that objects have no time to die: objects that would soon be dead are copied, or "
        "even tenured. A scavenge costs by live objects, not by dead ones, so fewer scavenges cost less.");
    finding_set(finding, EDEN_PARAM_eden_size, value);
    finding_how(
        finding,
        "the smallest eden, by doubling, that is within 10%% of the best predicted one, or within 0.5%% of the run");
    double gain = tune_share_of_gc(facts, ns);
    finding_gain(finding, gain * 0.5, scavenge_gain_most(gain));
    double bytes = (plan.choice.times - 1) * model->eden_bytes * 7 / 5;
    finding_cost(finding, "%s more memory (the heap took %s)%s", format_bytes(more, (uint64_t)bytes),
                 format_bytes(peak, (uint64_t)model->peak_bytes),
                 bytes > model->peak_bytes ? ": more than twice the total memory" : "");
}
