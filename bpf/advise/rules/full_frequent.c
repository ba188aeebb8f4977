/* full.frequent: full collections that free what they are for, but come more often than they need to.
 *
 * In a program whose objects live long and then die (a cache, a queue) what is tenured becomes garbage in old space,
 * and each growth by full_gc_ratio brings on a full collection that frees about as much. It marks all that lives to do
 * so; so what is marked for each byte freed goes with 1 / ratio, and the price of a larger ratio is the garbage that
 * waits meanwhile. Where garbage gets to old space that need not (premature tenuring, nepotism, overflow), those rules
 * tell; where collections free next to nothing, full.growth. */
#include "advise/rules/rules.h"
#include "util/format.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const double FRUITFUL = 0.5; /* of what old space had grown by, freed at least */
static const double FULL = 0.9;     /* of max_heap: more is heap.limit's */
static const double MOST = 4;       /* further collections are few then */
enum { LEAST = 6 };

struct frequent {
    uint64_t count, ns, freed;
    double alive; /* the most that was alive after one */
    const struct tune_pass *first, *last;
};

static void look(const struct tune_facts *facts, struct frequent *frequent) {
    double ratio = tune_number(facts, EDEN_PARAM_full_gc_ratio), grown = ratio / (1 + ratio);
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        if (pass->full && pass->cause == EDEN_FULL_RATIO &&
            (double)pass->freed_bytes > FRUITFUL * grown * (double)pass->old_before) {
            frequent->first = frequent->first ? frequent->first : pass;
            frequent->last = pass;
            frequent->count++;
            frequent->ns += pass->duration_ns;
            frequent->freed += pass->freed_bytes;
            frequent->alive = fmax(frequent->alive, (double)pass->old_after);
        }
    }
}

/* By findings that name the cause of garbage in old space; or full.growth, which sets the ratio itself. */
static bool is_explained(const struct findings *findings) {
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->at[i];
        if (finding_is_of_tenuring(finding) || strcmp(finding->key, "tenure.threshold-outside") == 0 ||
            strcmp(finding->key, "full.growth") == 0) {
            return true;
        }
    }
    return false;
}

/* The largest ratio with which the heap takes at most twice what it takes now, and stays below its limit. */
static double ratio_that_fits(const struct tune_facts *facts, double alive) {
    double new_space = tune_number(facts, EDEN_PARAM_eden_size) * 7 / 5, peak = tune_old_peak(facts) + new_space;
    double room = fmin(2 * peak, FULL * tune_number(facts, EDEN_PARAM_max_heap)) - new_space;
    return room / fmax(alive, tune_number(facts, EDEN_PARAM_full_gc_min_old)) - 1;
}

void rule_full_frequent(const struct tune_facts *facts, struct findings *findings) {
    struct frequent frequent = {0};
    look(facts, &frequent);
    double share = tune_share_of_time(facts, (double)frequent.ns), ratio = tune_number(facts, EDEN_PARAM_full_gc_ratio);
    if (frequent.count < LEAST || share < TUNE_WORTH_MEMORY || ratio <= 0 || is_explained(findings)) {
        return;
    }
    double value = floor(10 * fmin(MOST, ratio_that_fits(facts, frequent.alive))) / 10;
    if (value < 1.5 * ratio) {
        return; /* there is no memory for it */
    }
    char took[FORMAT_MAX], freed[FORMAT_MAX], alive[FORMAT_MAX], first[TUNE_WHEN], last[TUNE_WHEN], more[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "full.frequent", share);
    finding_explains(finding, 0, (double)frequent.ns);
    finding_evidence(finding,
                     "%" PRIu64 " full collections caused by growth took %s (seq %" PRIu64 " at %s to seq %" PRIu64
                     " at %s); each freed %s on average",
                     frequent.count, format_ns(took, frequent.ns), frequent.first->seq,
                     tune_when(first, facts, frequent.first->start_ns), frequent.last->seq,
                     tune_when(last, facts, frequent.last->start_ns),
                     format_bytes(freed, frequent.freed / frequent.count));
    finding_evidence(finding, "up to %s were alive in old space, and marked each time; full_gc_ratio is %.3g",
                     format_bytes(alive, (uint64_t)frequent.alive), ratio);
    finding_why(finding,
                "Objects die in old space as fast as others arrive. Each time it has grown by %.0f%%, all live objects "
                "are marked to free that much. Marking costs by live objects: a larger ratio marks less often, and "
                "frees more each time.",
                100 * ratio);
    finding_set(finding, EDEN_PARAM_full_gc_ratio, value);
    finding_how(finding, "the largest ratio, up to %.0f, that at most doubles the heap%s", MOST,
                isfinite(tune_number(facts, EDEN_PARAM_max_heap)) ? ", and keeps it below max_heap" : "");
    double gain = tune_share_of_gc(facts, (double)frequent.ns) * (1 - ratio / value);
    finding_gain(finding, gain * 0.6, gain);
    finding_cost(
        finding, "up to %s of garbage that remains in old space until the next full collection",
        format_bytes(more, (uint64_t)(fmax(frequent.alive, tune_number(facts, EDEN_PARAM_full_gc_min_old)) * value)));
}
