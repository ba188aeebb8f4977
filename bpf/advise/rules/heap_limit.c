/* heap.limit: new and old space together come near max_heap.
 *
 * Near the limit the heap collects in full again and again for ever less (cause limit), and at it allocation fails. So
 * it is reported even at a low cost. */
#include "advise/rules/rules.h"
#include "util/format.h"
#include <inttypes.h>
#include <math.h>

static const double NEAR = 0.9, USED = 0.75; /* of the limit: mapped, and in use */

void rule_heap_limit(const struct tune_facts *facts, struct findings *findings) {
    double limit = tune_number(facts, EDEN_PARAM_max_heap), peak = 0, used = 0;
    uint64_t peak_ns = 0, ns = 0, fulls = 0;
    if (!isfinite(limit)) {
        return;
    }
    double new_space = tune_number(facts, EDEN_PARAM_eden_size) * 7 / 5;
    for (size_t i = 0; i < facts->segment_count; i++) {
        if ((double)facts->segments[i].capacity_after > peak) {
            peak = (double)facts->segments[i].capacity_after;
            peak_ns = facts->segments[i].time_ns;
        }
    }
    peak = fmax(peak, (double)tune_figure(facts, EDEN_FIGURE_old_capacity));
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        bool hurried = pass->full && (pass->cause == EDEN_FULL_LIMIT || pass->cause == EDEN_FULL_ALLOCATION);
        used = fmax(used, (double)(pass->full ? pass->old_after : pass->old_before));
        fulls += hurried;
        ns += hurried ? pass->duration_ns : 0;
    }
    /* Mapped is not used: what is mapped and free is room still. */
    bool near = peak + new_space >= NEAR * limit && used + new_space >= USED * limit;
    if (!near) {
        return;
    }
    char most[FORMAT_MAX], bound[FORMAT_MAX], when[TUNE_WHEN], took[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "heap.limit", tune_share_of_time(facts, (double)ns));
    finding_explains(finding, 0, (double)ns);
    finding->severity = facts->failure_count ? TUNE_HIGH : finding->severity > TUNE_MEDIUM ? TUNE_HIGH : TUNE_MEDIUM;
    finding_evidence(finding, "the heap took %s at %s, %.0f%% of max_heap (%s)",
                     format_bytes(most, (uint64_t)(peak + new_space)), tune_when(when, facts, peak_ns),
                     100 * (peak + new_space) / limit, format_bytes(bound, (uint64_t)limit));
    if (fulls) {
        finding_evidence(finding, "%" PRIu64 " full collections ran for lack of room; they took %s", fulls,
                         format_ns(took, ns));
    }
    if (facts->failure_count) {
        finding_evidence(finding, "%zu allocations failed, the first at %s", facts->failure_count,
                         tune_when(when, facts, facts->failures[0].time_ns));
    }
    finding_why(finding, "The heap cannot grow any more, so it runs a full collection each time it needs room, and "
                         "each one frees less. When one frees too little, allocation fails.");
    finding_set(finding, EDEN_PARAM_max_heap, limit * 1.5);
    finding_how(finding, "1.5 times the limit; or keep less data in the program");
    finding_gain(finding, 0, tune_share_of_gc(facts, (double)ns));
    finding_cost(finding, "memory, up to the new limit");
}
