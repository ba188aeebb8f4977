/* unseen: no collection ended, so nothing is judged. ok: nothing is wrong. Said with the figures, so that it can be
 * believed; suggests nothing. */
#include "advise/rules/rules.h"
#include "util/format.h"
#include <inttypes.h>

void rule_unseen(const struct tune_facts *facts, struct findings *findings) {
    if (tune_has_collections(facts)) {
        return;
    }
    struct finding *finding = finding_add(findings, "unseen", 0);
    finding_evidence(finding, "%s",
                     facts->is_at_rest ? "no collection was observed"
                                       : "unknown: no collection ended while it was observed");
    finding_why(finding, "The rules examine completed collections only.");
    finding_how(finding, "observe it longer, or while it allocates");
}

void rule_ok(const struct tune_facts *facts, struct findings *findings) {
    if (findings->count) {
        return;
    }
    char pause[FORMAT_MAX], allocated[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "ok", 0);
    finding_evidence(finding,
                     "collections took %.1f%% of the time; the longest pause was %s; %s were allocated, in %" PRIu64
                     " scavenges and %" PRIu64 " full collections",
                     100 * tune_gc_share(facts), format_ns(pause, tune_figure(facts, EDEN_FIGURE_max_pause_ns)),
                     format_bytes(allocated, tune_figure(facts, EDEN_FIGURE_allocated_bytes)),
                     tune_figure(facts, EDEN_FIGURE_scavenges), tune_figure(facts, EDEN_FIGURE_full_collections));
    if (tune_gc_share(facts) < TUNE_MATTERS) {
        finding_why(finding, "Below %.0f%%, other parameters gain nothing.", 100 * TUNE_MATTERS);
    } else {
        finding_why(finding, "No part of the collections stands out, and no pattern is pathological.");
    }
}
