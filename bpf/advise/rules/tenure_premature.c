/* tenure.premature: moved to old space by age, and dead by the next full collection.
 *
 * Tenuring is a bet that an object goes on living. Lost, it costs a copy, and garbage that only a full collection frees
 * and that makes the next one come sooner. The cure is to let objects get older in new space: a larger eden, which
 * counts age in more bytes, and tenuring no more than must be when the semispace is full. Overflow is another rule's.
 */
#include "advise/facts/scavenges.h"
#include "advise/rules/rules.h"
#include "util/format.h"
#include <math.h>

static const double WASTED = 0.5; /* of what was tenured */

static double wasted(const struct tune_site *site) { return site->wasted_bytes; }

static void report_classes(const struct tune_facts *facts, struct finding *finding) {
    const struct tune_site *most = tune_most(facts, wasted);
    if (most) {
        finding_evidence(finding, "mostly %s: %.0f%% of its tenured bytes", most->name,
                         100 * most->wasted_bytes / fmax(most->tenured_bytes, 1));
    }
}

void rule_tenure_premature(const struct tune_facts *facts, struct findings *findings) {
    struct scavenge_overflow overflow;
    struct scavenge_plan plan;
    const struct scavenge_model *model = &plan.model;
    bool known = scavenge_plan_make(&plan, facts);
    scavenge_overflow_sum(&overflow, facts);
    double wasted = scavenge_wasted(facts);
    if (!known || model->tenured_bytes <= 0 || (double)overflow.bytes >= 0.5 * model->tenured_bytes) {
        return;
    }
    if (wasted < 0) {
        if (tune_gc_share(facts) >= TUNE_MATTERS) {
            tune_not_examined(findings, "tenure.premature", "needs record --lifetimes=details, or more samples");
        }
        return;
    }
    double ns = wasted * model->full_ns, share = tune_share_of_time(facts, ns);
    if (wasted < WASTED || share < TUNE_MATTERS) {
        return;
    }
    char tenured[FORMAT_MAX], more[FORMAT_MAX], full[FORMAT_MAX];
    double fill = tune_number(facts, EDEN_PARAM_tenure_fill),
           proportion = tune_number(facts, EDEN_PARAM_tenure_proportion);
    bool early = fill < 0.9 || proportion > 0.1; /* than the defaults, that is */
    share = early ? share : fmax(share, tune_share_of_time(facts, scavenge_eden_ns(&plan)));
    struct finding *finding = finding_add(findings, "tenure.premature", share);
    finding_explains(finding, share * (double)facts->wall_ns - ns, ns);
    finding_evidence(finding, "%.0f%% of the %s that were tenured were dead by the next full collection", 100 * wasted,
                     format_bytes(tenured, (uint64_t)model->tenured_bytes));
    report_classes(facts, finding);
    finding_evidence(finding, "full collections caused by growth took %s", format_ns(full, (uint64_t)model->full_ns));
    finding_why(finding, "These objects are tenured, and die soon after. In old space only a full collection frees "
                         "them, and their garbage brings the next one forward.");
    if (early) {
        finding_set(finding, EDEN_PARAM_tenure_proportion, 0.1);
        finding_set(finding, EDEN_PARAM_tenure_fill, 0.9);
        finding_how(finding,
                    "tenure only when the semispace fills: these are the defaults; now tenure_fill is %.3g and "
                    "tenure_proportion %.3g",
                    fill, proportion);
        finding_cost(finding, "survivors are copied more often");
    } else {
        double value = scavenge_eden(&plan, 4);
        finding_set(finding, EDEN_PARAM_eden_size, value);
        finding_how(
            finding,
            "%.3g times the eden: objects are then that many times older, in bytes allocated, when they are tenured",
            value / model->eden_bytes);
        finding_cost(finding, "%s more memory", format_bytes(more, (uint64_t)((value - model->eden_bytes) * 7 / 5)));
    }
    double gain = tune_share_of_gc(facts, early ? ns : fmax(ns, scavenge_eden_ns(&plan)));
    finding_gain(finding, gain * 0.4, gain);
}
