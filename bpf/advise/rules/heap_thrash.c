/* heap.thrash: segments are returned to the system and asked for again, in turn.
 *
 * A full collection that leaves more free than shrink_threshold returns segments until grow_headroom is left. A program
 * whose use of old space swings by more than that pays for each swing: the system clears the pages again as they are
 * touched, and the first allocation that finds no room brings on a full collection before the heap grows. With a
 * threshold above the swing the segments stay. */
#include "advise/rules/rules.h"
#include "util/format.h"
#include <inttypes.h>
#include <math.h>

/* Where pages are touched, which is in the program mostly: so the gain in collections is less than the share of the
 * run. */
static const double CLEARING_NS_PER_BYTE = 0.25; /* a page fault of some 1,000 ns clears 4 KiB */

struct swings {
    uint64_t count, remapped; /* times that segments were mapped after others had been returned; their bytes */
    uint64_t fulls, ns;       /* full collections because an allocation found no room then */
    double most_free;         /* at the end of a full collection, before anything was returned */
    uint64_t first_ns, last_ns;
};

/* Where segments are mapped after others were returned, the full collection before may have come from the allocation
 * that found no room for that. One that freed as much as was asked for would have been made anyway. */
static void look(const struct tune_facts *facts, struct swings *swings) {
    uint64_t returned = 0; /* that could be asked for again */
    bool unmapped = false;
    size_t next = 0;
    const struct tune_pass *last = NULL;
    for (size_t i = 0; i < facts->segment_count; i++) {
        const struct tune_segment *segment = &facts->segments[i];
        for (; next < facts->pass_count && facts->passes[next].start_ns <= segment->time_ns; next++) {
            last = facts->passes[next].full ? &facts->passes[next] : last;
        }
        if (!segment->mapped) {
            returned += segment->bytes;
            unmapped = true;
            continue;
        }
        uint64_t again = segment->bytes < returned ? segment->bytes : returned;
        returned -= again;
        swings->remapped += again;
        swings->count += unmapped;
        if (unmapped && last && last->cause == EDEN_FULL_ALLOCATION && last->freed_bytes < last->requested) {
            swings->fulls++;
            swings->ns += last->duration_ns;
        }
        unmapped = false;
        if (again) {
            swings->first_ns = swings->first_ns ? swings->first_ns : segment->time_ns;
            swings->last_ns = segment->time_ns;
        }
    }
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *full = &facts->passes[i];
        if (full->full) {
            swings->most_free = fmax(swings->most_free, (double)full->capacity_before - (double)full->old_after);
        }
    }
}

void rule_heap_thrash(const struct tune_facts *facts, struct findings *findings) {
    struct swings swings = {0};
    look(facts, &swings);
    double ns = (double)swings.ns + CLEARING_NS_PER_BYTE * (double)swings.remapped,
           share = tune_share_of_time(facts, ns);
    double threshold = tune_number(facts, EDEN_PARAM_shrink_threshold), value = swings.most_free * 1.1;
    if (swings.count < 3 || share < TUNE_MATTERS || tune_gc_share(facts) < TUNE_MATTERS || value <= threshold) {
        return;
    }
    char again[FORMAT_MAX], took[FORMAT_MAX], first[TUNE_WHEN], last[TUNE_WHEN], most[FORMAT_MAX], has[FORMAT_MAX],
        headroom[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "heap.thrash", share);
    finding_explains(finding, 0, (double)swings.ns); /* the rest is spent in the program */
    finding_evidence(finding,
                     "segments were mapped %" PRIu64
                     " times after others had been returned, %s in total, between %s and %s",
                     swings.count, format_bytes(again, swings.remapped), tune_when(first, facts, swings.first_ns),
                     tune_when(last, facts, swings.last_ns));
    if (swings.fulls) {
        finding_evidence(finding,
                         "%" PRIu64 " full collections came from allocations that then found no room; they took "
                         "%s",
                         swings.fulls, format_ns(took, swings.ns));
    }
    finding_evidence(finding, "shrink_threshold is %s and grow_headroom %s; up to %s were free after a full collection",
                     format_bytes(has, (uint64_t)threshold),
                     format_bytes(headroom, (uint64_t)tune_number(facts, EDEN_PARAM_grow_headroom)),
                     format_bytes(most, (uint64_t)swings.most_free));
    finding_why(finding, "The program's need for old space oscillates. At each low the heap returns memory that it "
                         "needs again at the next high. The system then clears the pages again, and an allocation that "
                         "finds no room causes a full collection.");
    finding_set(finding, EDEN_PARAM_shrink_threshold, value);
    finding_how(finding,
                "the most memory ever free after a full collection plus a tenth, so that the heap keeps it mapped");
    double gain = tune_share_of_gc(facts, (double)swings.ns);
    finding_gain(finding, gain * 0.5, gain);
    finding_cost(finding, "the heap keeps up to %s that it does not always use", format_bytes(most, (uint64_t)value));
}
