/* tenure.nepotism: young garbage is kept alive by dead old objects.
 *
 * A scavenge takes every remembered old object for alive. What a dead one refers to is copied, and tenured in its turn,
 * and keeps what it refers to: a dead list or queue whose head was tenured drags all that was ever linked to it into
 * old space (Ungar 1984). A full collection ends it: full__done reports the bytes of new space that only dead old
 * objects kept. */
#include "advise/facts/scavenges.h"
#include "advise/rules/rules.h"
#include "util/format.h"
#include <inttypes.h>
#include <math.h>

static const double KEPT = 0.2; /* of survivors, by the dead alone */

struct kept {
    uint64_t fulls, freed, survivors;
    const struct tune_pass *worst;
};

static double nepotism(const struct tune_site *site) { return site->nepotism_bytes; }

static void report_classes(const struct tune_facts *facts, struct finding *finding) {
    const struct tune_site *most = tune_most(facts, nepotism);
    if (most) {
        finding_evidence(finding, "mostly %s (%.0f%%, by samples)", most->name,
                         100 * most->nepotism_bytes / facts->all.nepotism_bytes);
    }
}

void rule_tenure_nepotism(const struct tune_facts *facts, struct findings *findings) {
    struct kept kept = {0};
    struct scavenge_plan plan;
    const struct scavenge_model *model = &plan.model;
    bool known = scavenge_plan_make(&plan, facts);
    uint64_t survivors = 0;
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        survivors = pass->full ? survivors : pass->survivors_after;
        if (pass->full) {
            kept.fulls++;
            kept.freed += pass->young_freed;
            kept.survivors += survivors;
            kept.worst = !kept.worst || pass->young_freed > kept.worst->young_freed ? pass : kept.worst;
        }
    }
    if (!kept.fulls || kept.survivors == 0 || !known) {
        return;
    }
    double part = (double)kept.freed / (double)kept.survivors, wasted = scavenge_wasted(facts);
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
                     kept.fulls, format_bytes(freed, kept.freed), format_bytes(all, kept.survivors),
                     tune_when(when, facts, kept.worst->start_ns), format_bytes(most, kept.worst->young_freed),
                     kept.worst->seq);
    report_classes(facts, finding);
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
    finding_cost(finding, "%s more memory", format_bytes(more, (uint64_t)((value - model->eden_bytes) * 7 / 5)));
}
