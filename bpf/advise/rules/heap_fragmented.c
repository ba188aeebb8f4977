/* heap.fragmented: large allocations fail, or take a sliding collection, beside enough free memory.
 *
 * Free memory in pieces holds no object that is larger than the largest piece. compactor=none only sweeps, so the
 * pieces stay; selective empties the sparsest segments, and slides when an allocation would fail; planning slides
 * objects together in each full collection. A failure is reported even at a low cost. */
#include "advise/rules/rules.h"
#include "util/format.h"
#include <inttypes.h>

struct pieces {
    uint64_t failures, slides, ns;
    const struct tune_allocation *first;
    const struct tune_pass *before, *slide; /* the full collection before the first failure; a sliding one */
};

static const struct tune_pass *full_before(const struct tune_facts *facts, uint64_t time_ns) {
    const struct tune_pass *found = NULL;
    for (size_t i = 0; i < facts->pass_count && facts->passes[i].start_ns <= time_ns; i++) {
        found = facts->passes[i].full ? &facts->passes[i] : found;
    }
    return found;
}

/* It was to find room for an allocation, and found enough, but in no piece. */
static bool in_pieces(const struct tune_pass *pass) {
    return pass->full && pass->cause == EDEN_FULL_ALLOCATION && pass->requested > pass->largest_free &&
           pass->requested <= pass->capacity_after - pass->old_after;
}

void rule_heap_fragmented(const struct tune_facts *facts, struct findings *findings) {
    struct pieces pieces = {0};
    for (size_t i = 0; i < facts->failure_count; i++) {
        const struct tune_allocation *failure = &facts->failures[i];
        const struct tune_pass *before = full_before(facts, failure->time_ns);
        if (before && failure->bytes > before->largest_free &&
            failure->bytes <= before->capacity_after - before->old_after) {
            pieces.failures++;
            if (!pieces.first) {
                pieces.first = failure;
                pieces.before = before;
            }
        }
    }
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        bool slid = pass->full && pass->cause == EDEN_FULL_LIMIT && pass->requested &&
                    pass->requested <= pass->capacity_before - pass->old_before;
        pieces.slides += slid;
        pieces.slide = slid ? pass : pieces.slide;
        pieces.ns += slid || in_pieces(pass) ? pass->duration_ns : 0;
    }
    double share = tune_share_of_time(facts, (double)pieces.ns);
    if (!pieces.failures && (pieces.slides < 2 || share < TUNE_MATTERS)) {
        return;
    }
    char bytes[FORMAT_MAX], free[FORMAT_MAX], largest[FORMAT_MAX], when[TUNE_WHEN], name[TUNE_LABEL], took[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "heap.fragmented", share);
    finding_explains(finding, 0, (double)pieces.ns);
    if (pieces.failures) {
        finding->severity = TUNE_HIGH;
        finding_evidence(
            finding,
            "%" PRIu64 " allocations failed despite free memory: at %s one of %s (%s), when %s were free in %" PRIu64
            " chunks, the largest of %s",
            pieces.failures, tune_when(when, facts, pieces.first->time_ns), format_bytes(bytes, pieces.first->bytes),
            tune_class_label(name, facts, pieces.first->class_id),
            format_bytes(free, pieces.before->capacity_after - pieces.before->old_after), pieces.before->free_chunks,
            format_bytes(largest, pieces.before->largest_free));
    }
    if (pieces.slides) {
        finding_evidence(finding,
                         "%" PRIu64 " full collections had to slide all objects together for one allocation, the last "
                         "at %s for %s; they took %s",
                         pieces.slides, tune_when(when, facts, pieces.slide->start_ns),
                         format_bytes(bytes, pieces.slide->requested), format_ns(took, pieces.ns));
    }
    finding_why(finding, "Free memory is scattered between live objects, and no free chunk is large enough for a large "
                         "object. Sliding the objects together makes one chunk of it.");
    finding_set(finding, EDEN_PARAM_compactor, 0);
    finding_how(finding, "the compactor that leaves no fragments; now it is %s",
                facts->parameters[EDEN_PARAM_compactor].text);
    finding_gain(finding, 0, tune_share_of_gc(facts, (double)pieces.ns));
    finding_cost(finding, "longer full collections, since they move live objects");
}
