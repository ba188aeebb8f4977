/* ephemeron.load: ephemerons or weak objects dominate a phase of collections.
 *
 * Each scavenge looks at every weak object it reaches and clears what is dead; each ephemeron whose key has died is
 * copied, fired and queued. */
#include "advise/facts/scavenges.h"
#include "advise/rules/rules.h"
#include "util/format.h"
#include <math.h>

static const double DOMINATES = 0.25;  /* of the time in scavenges, or of the objects moved */
static const double MOURNING_NS = 100; /* about what firing one takes */

void rule_ephemeron_load(const struct tune_facts *facts, struct findings *findings) {
    uint64_t weak_ns = 0, weak = 0, moved = 0;
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        weak_ns += pass->part_ns[EDEN_PHASE_scavenge__weak];
        weak += pass->part_objects[EDEN_PHASE_scavenge__weak];
        moved += pass->part_objects[EDEN_PHASE_scavenge__copy] + pass->part_objects[EDEN_PHASE_scavenge__roots];
    }
    uint64_t mourned = tune_figure(facts, EDEN_FIGURE_mourned);
    double scavenge_ns = (double)tune_figure(facts, EDEN_FIGURE_scavenge_ns),
           mourning_ns = (double)mourned * MOURNING_NS;
    bool by_weak = (double)weak_ns >= DOMINATES * scavenge_ns;
    bool by_mourned = (double)mourned >= DOMINATES * (double)moved;
    double ns = (by_weak ? (double)weak_ns : 0) + (by_mourned ? mourning_ns : 0), share = tune_share_of_time(facts, ns);
    if (share < TUNE_MATTERS) {
        return;
    }
    char took[FORMAT_MAX], count[FORMAT_MAX], all[FORMAT_MAX];
    struct scavenge_plan plan;
    scavenge_plan_make(&plan, facts);
    share = fmax(share, tune_share_of_time(facts, scavenge_eden_ns(&plan))); /* what the eden set here spares besides */
    struct finding *finding = finding_add(findings, "ephemeron.load", share);
    finding_explains(finding, share * (double)facts->wall_ns, 0);
    if (by_weak) {
        finding_evidence(
            finding, "clearing weak references took %s, %.0f%% of scavenges, for %s weak objects inspected",
            format_ns(took, weak_ns), 100 * (double)weak_ns / fmax(scavenge_ns, 1), format_count(count, weak));
    }
    if (by_mourned) {
        finding_evidence(finding, "%s ephemerons lost their key, while scavenges moved %s objects in total",
                         format_count(count, mourned), format_count(all, moved));
    }
    finding_why(finding, "Each scavenge inspects every weak object that it reaches, and fires every ephemeron with a "
                         "dead key. Both cost more than copying plain objects, and recur with each scavenge.");
    double eden = plan.model.eden_bytes, value = scavenge_eden(&plan, 4);
    finding_set(finding, EDEN_PARAM_eden_size, value);
    finding_how(finding,
                "%.3g times the eden, for as many times fewer scavenges; only fewer ephemerons and weak objects in the "
                "program remove the cause",
                value / eden);
    double gain = tune_share_of_gc(facts, fmax(ns, scavenge_eden_ns(&plan)));
    finding_gain(finding, by_weak ? gain * 0.4 : 0, gain * 0.8);
    finding_cost(finding, "%s more memory", format_bytes(took, (uint64_t)((value - eden) * 7 / 5)));
}
