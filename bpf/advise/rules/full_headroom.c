/* full.headroom: full collections in clusters, from large allocations that find no room.
 *
 * A large object is born in old space. Where no free chunk holds it, everything is collected in full before memory is
 * asked of the system, and then no more of it than grow_headroom, or the object, so that the next large object does the
 * same (the tuning paper's Figure 5). With a headroom as large as all that the heap holds at its
 * largest there is room for the cluster, wherever it comes.
 *
 * The headroom is address space first: pages that nobody writes to take no memory. It is not made larger than that, so
 * that a program that drops its large objects as fast as it makes them collects still, with at most twice the memory.
 */
#include "advise/rules/rules.h"
#include "util/format.h"
#include <inttypes.h>
#include <math.h>

static const double FRUITFUL = 0.2; /* of old space, freed */

struct clusters {
    uint64_t fulls, ns, freed, requested;
    uint64_t largest;  /* bytes of the largest cluster */
    uint64_t remapped; /* those that came after segments had been returned: heap.thrash */
    double at_ns;      /* when the largest begins */
};

/* Was the last change of segments before this time a return? */
static bool after_unmap(const struct tune_facts *facts, uint64_t time_ns) {
    bool unmapped = false;
    for (size_t i = 0; i < facts->segment_count && facts->segments[i].time_ns < time_ns; i++) {
        unmapped = !facts->segments[i].mapped;
    }
    return unmapped;
}

/* One that freed what was asked for, and much at that, was none in vain. */
static bool is_ours(const struct tune_pass *pass) {
    bool fruitful =
        pass->freed_bytes >= pass->requested && (double)pass->freed_bytes >= FRUITFUL * (double)pass->old_before;
    return pass->full && pass->cause == EDEN_FULL_ALLOCATION && pass->requested && !fruitful;
}

/* Near the limit the heap can't grow, whatever the headroom. */
static bool may_grow(const struct tune_facts *facts, double peak, double requested) {
    double limit = tune_number(facts, EDEN_PARAM_max_heap);
    return tune_number(facts, EDEN_PARAM_eden_size) * 7 / 5 + peak + requested <= limit;
}

/* Large allocations less than a twentieth of the run apart are a cluster. */
static void find_clusters(const struct tune_facts *facts, struct clusters *clusters) {
    uint64_t apart = facts->wall_ns / 20, bytes = 0, begun = 0, before = 0;
    size_t pass = 0;
    bool counted = false;
    for (size_t i = 0; i < facts->large_count; i++) {
        const struct tune_allocation *large = &facts->large[i];
        if (i == 0 || large->time_ns - before > apart) {
            bytes = 0;
            begun = large->time_ns;
            counted = false;
        }
        before = large->time_ns;
        bytes += large->bytes;
        for (; pass < facts->pass_count && facts->passes[pass].start_ns <= large->time_ns; pass++) {
            counted = counted || is_ours(&facts->passes[pass]);
        }
        if (counted && bytes > clusters->largest) {
            clusters->largest = bytes;
            clusters->at_ns = (double)begun;
        }
    }
}

void rule_full_headroom(const struct tune_facts *facts, struct findings *findings) {
    struct clusters clusters = {0};
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        if (is_ours(pass)) {
            clusters.fulls++;
            clusters.ns += pass->duration_ns;
            clusters.freed += pass->freed_bytes;
            clusters.requested += pass->requested;
            clusters.remapped += after_unmap(facts, pass->start_ns);
        }
    }
    double share = tune_share_of_time(facts, (double)clusters.ns);
    if (clusters.fulls == 0 || share < (clusters.fulls == 1 ? 2 * TUNE_MATTERS : TUNE_MATTERS) ||
        clusters.remapped * 2 > clusters.fulls) {
        return;
    }
    find_clusters(facts, &clusters);
    double headroom = tune_number(facts, EDEN_PARAM_grow_headroom), peak = tune_old_peak(facts);
    double largest = fmax((double)clusters.largest, (double)clusters.requested / (double)clusters.fulls);
    double value = fmin(fmax(largest, peak), fmax(peak, 2 * headroom)) * 1.1;
    if (value <= headroom * 1.1 || !may_grow(facts, peak, (double)clusters.requested / (double)clusters.fulls)) {
        return; /* the headroom is not what is too small */
    }
    char took[FORMAT_MAX], freed[FORMAT_MAX], all[FORMAT_MAX], has[FORMAT_MAX], when[TUNE_WHEN], mapped[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "full.headroom", share);
    finding_explains(finding, 0, (double)clusters.ns);
    finding_evidence(finding,
                     "full collections because an allocation found no room: %" PRIu64
                     ", for %s on average; they took %s and freed %s",
                     clusters.fulls, format_bytes(all, clusters.requested / clusters.fulls),
                     format_ns(took, clusters.ns), format_bytes(freed, clusters.freed));
    if (clusters.largest) {
        finding_evidence(finding, "the largest cluster of large allocations takes %s, from %s on; grow_headroom is %s",
                         format_bytes(all, clusters.largest), tune_when(when, facts, (uint64_t)clusters.at_ns),
                         format_bytes(has, (uint64_t)headroom));
    }
    finding_why(finding, "A large object that finds no free chunk causes a full collection before the heap grows, and "
                         "then the heap grows only by the headroom. So the next large object finds no chunk either. A "
                         "headroom for all of them is mapped once.");
    finding_set(finding, EDEN_PARAM_grow_headroom, value);
    finding_how(finding, "the largest mapped size of the heap plus a tenth: this leaves room for %s",
                largest <= value ? "the largest cluster beside everything else"
                                 : "as many large objects as the heap ever holds");
    double gain = tune_share_of_gc(facts, (double)clusters.ns);
    double left = fmin(1, largest / value / (double)clusters.fulls);
    finding_gain(finding, gain * (1 - left) * 0.7, gain);
    finding_cost(finding, "up to %s of mapped address space, which uses memory only when it is touched",
                 format_bytes(mapped, (uint64_t)value));
}
