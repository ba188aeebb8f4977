/* tenure.threshold-outside: the tenuring threshold lies outside the semispace that the next scavenge copies from.
 *
 * scavenge__done reports the threshold and the bounds of that semispace. Survivors below the threshold are tenured: if
 * it lies below the semispace none is, if above, all are, whatever their age. So the VM bug of the tuning paper's
 * section 5 shows in the probes alone. It is a runtime bug, so it is reported even at a low cost. */
#include "advise/rules/rules.h"
#include "util/format.h"
#include <inttypes.h>

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
