/* Rules about tenuring: too early, at a wrong threshold, or for the sake of dead objects. */
#include "advise/facts/scavenges.h"
#include "advise/rules/rule.h"
#include "util/format.h"
#include "util/whole.h"
#include <inttypes.h>
#include <math.h>

/* tenure.premature: moved to old space by age, and dead by the next full collection.
 *
 * Tenuring is a bet that an object goes on living. Lost, it costs a copy, and garbage that only a full collection frees
 * and that makes the next one come sooner. The cure is to let objects get older in new space: a larger eden, which
 * counts age in more bytes, and tenuring no more than must be when the semispace is full. Overflow is another rule's.
 */

static const double WASTED = 0.5; /* of what was tenured */

static double wasted(const struct tune_site *site) { return site->wasted_bytes; }

static void report_wasted(const struct tune_facts *facts, struct finding *finding) {
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
        tune_needs_lifetimes(findings, "tenure.premature");
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
                     format_bytes(tenured, whole_of(model->tenured_bytes)));
    report_wasted(facts, finding);
    finding_evidence(finding, "full collections caused by growth took %s", format_ns(full, whole_of(model->full_ns)));
    finding_why(finding, "These objects are tenured, and die soon after. In old space only a full collection frees "
                         "them, and their garbage brings the next one forward.");
    if (early) {
        finding_set(finding, EDEN_PARAM_tenure_proportion, 0.1);
        finding_set(finding, EDEN_PARAM_tenure_fill, 0.9);
        finding_how(finding,
                    "tenure only when the semispace fills: these are the defaults; now tenure_fill is %.3g and "
                    "tenure_proportion %.3g",
                    fill, proportion);
        finding_cost(finding, "more copies of survivors");
    } else {
        double value = scavenge_eden(&plan, 4);
        finding_set(finding, EDEN_PARAM_eden_size, value);
        finding_how(
            finding,
            "%.3g times the eden: objects are then that many times older, in bytes allocated, when they are tenured",
            value / model->eden_bytes);
        finding_cost(finding, "%s more memory", format_bytes(more, whole_of((value - model->eden_bytes) * 7 / 5)));
    }
    double gain = tune_share_of_gc(facts, early ? ns : fmax(ns, scavenge_eden_ns(&plan)));
    finding_gain(finding, gain * 0.4, gain);
}

/* tenure.threshold-outside: the tenuring threshold lies outside the semispace that the next scavenge copies from.
 *
 * scavenge__done reports the threshold and the bounds of that semispace. Survivors below the threshold are tenured: if
 * it lies below the semispace none is, if above, all are, whatever their age. So the VM bug of the tuning paper's
 * section 5 shows in the probes alone. It is a runtime bug, so it is reported even at a low cost. */

struct outside {
    uint64_t set, below, above, tenured, expected;
    const struct tune_pass *first;
};

void rule_tenure_threshold(const struct tune_facts *facts, struct findings *findings) {
    struct outside outside = {0};
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        if (pass->full || !pass->threshold) {
            continue;
        }
        bool below = pass->semispace_start > pass->threshold;
        bool above = pass->threshold > pass->semispace_limit;
        outside.set++;
        outside.below += below;
        outside.above += above;
        if (!below && !above) {
            continue;
        }
        outside.first = outside.first ? outside.first : pass;
        const struct tune_pass *next = i + 1 < facts->pass_count && !pass[1].full ? &pass[1] : NULL;
        outside.tenured += next ? next->tenured_bytes : 0;
    }
    if (!outside.first) {
        return;
    }
    const struct tune_pass *pass = outside.first;
    char when[TUNE_WHEN], tenured[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "tenure.threshold-outside", 0);
    finding->severity = TUNE_HIGH;
    finding_evidence(finding,
                     "%" PRIu64 " of %" PRIu64 " thresholds lay outside their semispace: %" PRIu64
                     " below it, so nothing was tenured, %" PRIu64
                     " above it, so everything was; the scavenges after them tenured %s",
                     outside.below + outside.above, outside.set, outside.below, outside.above,
                     format_bytes(tenured, outside.tenured));
    finding_evidence(finding,
                     "first after seq %" PRIu64 " at %s: threshold %#" PRIx64 ", semispace %#" PRIx64 " to %#" PRIx64,
                     pass->seq, tune_when(when, facts, pass->start_ns), pass->threshold, pass->semispace_start,
                     pass->semispace_limit);
    finding_why(
        finding,
        "The threshold was computed in the semispace that the next scavenge copies to, not in the one it copies from. "
        "So all survivors are tenured or none, whatever their age: a runtime bug, which the Pharo VM had until 2023.");
    finding_set(finding, EDEN_PARAM_compat_threshold_bug, 0);
    finding_how(finding, "%s",
                tune_number(facts, EDEN_PARAM_compat_threshold_bug) == 1
                    ? "a parameter requested the bug (compat.threshold_bug=1)"
                    : "without that parameter, use a newer libeden");
    finding_gain(finding, 0, tune_share_of_gc(facts, (double)tune_figure(facts, EDEN_FIGURE_full_ns)));
}

/* tenure.nepotism: young garbage is kept alive by dead old objects.
 *
 * A scavenge takes every remembered old object for alive. What a dead one refers to is copied, and tenured in its turn,
 * and keeps what it refers to: a dead list or queue whose head was tenured drags all that was ever linked to it into
 * old space (Ungar 1984). A full collection ends it: full__done reports the bytes of new space that only dead old
 * objects kept. */

static const double KEPT = 0.2; /* of survivors, by the dead alone */

struct nepotism_sums {
    uint64_t fulls, freed, survivors;
    const struct tune_pass *worst;
};

static double nepotism(const struct tune_site *site) { return site->nepotism_bytes; }

static void report_nepotism(const struct tune_facts *facts, struct finding *finding) {
    const struct tune_site *most = tune_most(facts, nepotism);
    if (most) {
        finding_evidence(finding, "mostly %s (%.0f%%, by samples)", most->name,
                         100 * most->nepotism_bytes / facts->all.nepotism_bytes);
    }
}

void rule_tenure_nepotism(const struct tune_facts *facts, struct findings *findings) {
    struct nepotism_sums sums = {0};
    struct scavenge_plan plan;
    const struct scavenge_model *model = &plan.model;
    bool known = scavenge_plan_make(&plan, facts);
    uint64_t survivors = 0;
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        survivors = pass->full ? survivors : pass->survivors_after;
        if (pass->full) {
            sums.fulls++;
            sums.freed += pass->young_freed;
            sums.survivors += survivors;
            sums.worst = !sums.worst || pass->young_freed > sums.worst->young_freed ? pass : sums.worst;
        }
    }
    if (!sums.fulls || sums.survivors == 0 || !known) {
        return;
    }
    double part = (double)sums.freed / (double)sums.survivors, wasted = scavenge_wasted(facts);
    double full_ns = wasted > 0 ? wasted * part * model->full_ns : 0;
    double ns = part * model->ns_per_byte * model->copied_bytes + full_ns;
    double share = tune_share_of_time(facts, ns);
    if (part < KEPT || share < TUNE_MATTERS) {
        return;
    }
    char freed[FORMAT_MAX], all[FORMAT_MAX], most[FORMAT_MAX], when[TUNE_WHEN], more[FORMAT_MAX];
    share = fmax(share, tune_share_of_time(facts, scavenge_eden_ns(&plan))); /* what the eden set here spares besides */
    struct finding *finding = finding_add(findings, "tenure.nepotism", share);
    finding_explains(finding, share * (double)facts->wall_ns - full_ns, full_ns);
    finding_evidence(finding,
                     "%" PRIu64 " full collections found %s of %s of survivors dead, kept only by dead old objects; "
                     "the most at %s: %s (seq %" PRIu64 ")",
                     sums.fulls, format_bytes(freed, sums.freed), format_bytes(all, sums.survivors),
                     tune_when(when, facts, sums.worst->start_ns), format_bytes(most, sums.worst->young_freed),
                     sums.worst->seq);
    report_nepotism(facts, finding);
    finding_why(
        finding,
        "Until a full collection, an object that a dead old object refers to counts as alive: it is copied and "
        "tenured, and keeps others alive in turn. A list with a dead old head drags all following objects along.");
    double value = scavenge_eden(&plan, 4);
    finding_set(finding, EDEN_PARAM_eden_size, value);
    finding_how(finding, "a larger eden tenures fewer objects that will soon be dead, so fewer chains start; only "
                         "cutting links to finished objects, in the program, removes the cause");
    double gain = tune_share_of_gc(facts, fmax(ns, scavenge_eden_ns(&plan)));
    finding_gain(finding, gain * 0.3, gain);
    finding_cost(finding, "%s more memory", format_bytes(more, whole_of((value - model->eden_bytes) * 7 / 5)));
}
