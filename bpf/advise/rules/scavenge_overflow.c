/* scavenge.overflow: survivors do not fit into their semispace, and are tenured for that alone.
 *
 * A semispace is a fifth of eden. What does not fit is moved to old space however young it is; that which dies soon is
 * garbage there until the next full collection, and brings it on. Where what overflows keeps living, it was to be
 * tenured anyway, and nothing is wrong. */
#include "advise/facts/scavenges.h"
#include "advise/rules/rules.h"
#include "util/format.h"
#include <inttypes.h>
#include <math.h>

static const double MORE = 96 * 1024 * 1024; /* bytes more that nobody misses */
static const double WASTED = 0.3;            /* of what was tenured, dead by the next full collection */

/* The largest of what a scavenge found alive, but for the largest twentieth. */
static double alive_at_most(const struct tune_facts *facts) {
    double most = 0;
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        most = pass->full ? most : fmax(most, (double)(pass->survivors_after + pass->tenured_bytes));
    }
    return most;
}

void rule_scavenge_overflow(const struct tune_facts *facts, struct findings *findings) {
    struct scavenge_overflow overflow;
    struct scavenge_plan plan;
    const struct scavenge_model *model = &plan.model;
    bool known = scavenge_plan_make(&plan, facts);
    scavenge_overflow_sum(&overflow, facts);
    double wasted = scavenge_wasted(facts);
    if (!known || overflow.passes < 3 || (double)overflow.bytes < 0.5 * model->tenured_bytes) {
        return;
    }
    if (wasted < 0 && tune_gc_share(facts) >= TUNE_MATTERS) {
        tune_not_examined(findings, "scavenge.overflow", "needs record --lifetimes=details, or more samples");
    }
    /* What of full collections, and of copying, is for garbage that overflowed. */
    double ns = wasted * (model->full_ns + model->ns_per_byte * (double)overflow.bytes);
    double share = tune_share_of_time(facts, ns);
    if (wasted < WASTED || share < TUNE_MATTERS) {
        return;
    }
    double fits = alive_at_most(facts) * 5 * 1.1, value = model->eden_bytes;
    double room = fmin(fmax(2 * model->peak_bytes, model->peak_bytes + MORE),
                       scavenge_eden(&plan, INFINITY)); /* of the limit, if there is one */
    while (value < fits && value * 2 * 7 / 5 <= room) {
        value *= 2;
    }
    value = fmax(value, scavenge_eden(&plan, 1));
    if (value <= model->eden_bytes) {
        return; /* the limit allows no larger eden */
    }
    char bytes[FORMAT_MAX], most[FORMAT_MAX], semispace[FORMAT_MAX], when[TUNE_WHEN], more[FORMAT_MAX];
    const struct tune_pass *worst = overflow.worst;
    share = fmax(share, tune_share_of_time(facts, scavenge_eden_ns(&plan))); /* what the eden set here spares besides */
    struct finding *finding = finding_add(findings, "scavenge.overflow", share);
    finding_explains(finding, share * (double)facts->wall_ns - wasted * model->full_ns, wasted * model->full_ns);
    finding_evidence(
        finding,
        "in %" PRIu64 " of %.0f scavenges survivors did not fit: %s were tenured for that reason, %.0f%% of all "
        "tenured bytes; the most at %s (seq %" PRIu64 "), with %s alive and a semispace of %s",
        overflow.passes, model->count, format_bytes(bytes, overflow.bytes),
        100 * (double)overflow.bytes / fmax(model->tenured_bytes, 1), tune_when(when, facts, worst->start_ns),
        worst->seq, format_bytes(most, worst->survivors_after + worst->tenured_bytes),
        format_bytes(semispace, worst->semispace_limit - worst->semispace_start));
    finding_evidence(finding, "%.0f%% of the tenured bytes were dead by the next full collection", 100 * wasted);
    finding_why(finding,
                "Survivors that find no room in their semispace are tenured, however young they are. Many die soon "
                "after, but only a full collection frees them, and their garbage brings the next one forward.");
    finding_set(finding, EDEN_PARAM_eden_size, value);
    finding_how(finding, "%s: a semispace is a fifth of eden",
                value >= fits ? "this fits the most bytes ever alive, plus a tenth"
                              : "this doubles the heap; even so, the most bytes ever alive do not fit");
    double gain = tune_share_of_gc(facts, fmax(ns, scavenge_eden_ns(&plan)));
    finding_gain(finding, gain * 0.5, scavenge_gain_most(gain));
    finding_cost(finding, "%s more memory", format_bytes(more, (uint64_t)((value - model->eden_bytes) * 7 / 5)));
}
