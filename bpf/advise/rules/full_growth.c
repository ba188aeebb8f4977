/* full.growth: full collections that free nearly nothing, while old space grows by what is tenured.
 *
 * A program that loads data makes its old space grow by objects that stay. Each time it has grown by full_gc_ratio,
 * everything is marked, nearly all of it is found alive, and the time was wasted; that many times
 * log(final / initial) / log(1 + ratio). The tuning paper's first step was to raise the ratio, so that at most one
 * such collection falls into the growth that was seen. What the fruitless collections did free is what that costs. */
#include "advise/rules/rules.h"
#include "util/format.h"
#include <inttypes.h>
#include <math.h>

static const double FRUITLESS = 0.2; /* of old space, freed at most */

struct growth {
    uint64_t count, all, ns, freed, searched; /* searched: old space, summed over them */
    double first_base, last_used;             /* old space that the first one grew from; at the last */
    const struct tune_pass *first, *last;
};

static void look(const struct tune_facts *facts, struct growth *growth) {
    double ratio = tune_number(facts, EDEN_PARAM_full_gc_ratio);
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        if (!pass->full || pass->cause != EDEN_FULL_RATIO) {
            continue;
        }
        growth->all++;
        if ((double)pass->freed_bytes > FRUITLESS * (double)pass->old_before) {
            continue;
        }
        if (!growth->first) {
            growth->first = pass;
            growth->first_base = (double)pass->old_before / (1 + ratio);
        }
        growth->last = pass;
        growth->count++;
        growth->ns += pass->duration_ns;
        growth->freed += pass->freed_bytes;
        growth->searched += pass->old_before;
        growth->last_used = fmax(growth->last_used, (double)pass->old_before);
    }
    growth->last_used = fmax(growth->last_used, (double)tune_figure(facts, EDEN_FIGURE_old_used));
}

/* The next of a few round numbers; the papers' largest is the last. */
static double round_up(double ratio) {
    static const double steps[] = {0.5, 1, 1.5, 2, 3, 4, 5, 7, 10};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i] >= ratio) {
            return steps[i];
        }
    }
    return 10;
}

void rule_full_growth(const struct tune_facts *facts, struct findings *findings) {
    struct growth growth = {0};
    look(facts, &growth);
    double share = tune_share_of_time(facts, (double)growth.ns), ratio = tune_number(facts, EDEN_PARAM_full_gc_ratio);
    if (growth.count < 2 || share < TUNE_MATTERS || growth.last_used < growth.first_base * 1.5) {
        return;
    }
    char took[FORMAT_MAX], from[FORMAT_MAX], to[FORMAT_MAX], freed[FORMAT_MAX], first[TUNE_WHEN], last[TUNE_WHEN];
    double needed = growth.last_used / growth.first_base - 1, value = round_up(fmax(needed * 1.1, 2 * ratio));
    struct finding *finding = finding_add(findings, "full.growth", share);
    finding_explains(finding, 0, (double)growth.ns);
    finding_evidence(
        finding,
        "%" PRIu64 " of %" PRIu64
        " full collections caused by growth freed %.0f%% of old space on average; they took %s (seq %" PRIu64
        " at %s to seq %" PRIu64 " at %s)",
        growth.count, growth.all, 100 * (double)growth.freed / fmax((double)growth.searched, 1),
        format_ns(took, growth.ns), growth.first->seq, tune_when(first, facts, growth.first->start_ns),
        growth.last->seq, tune_when(last, facts, growth.last->start_ns));
    finding_evidence(finding, "meanwhile, old space grew from %s to %s", format_bytes(from, growth.first->old_before),
                     format_bytes(to, (uint64_t)growth.last_used));
    finding_why(finding,
                "Each time old space has grown by %.0f%%, all of it is marked, and most of it is alive: the live "
                "data is growing. A larger ratio searches for garbage less often.",
                100 * ratio);
    finding_set(finding, EDEN_PARAM_full_gc_ratio, value);
    finding_how(finding,
                "log(%.3g) / log(1 + %.3g) = %.0f full collections fit into that growth; from %.3g on there is at most "
                "one",
                growth.last_used / growth.first_base, ratio, log(growth.last_used / growth.first_base) / log(1 + ratio),
                needed);
    double gain = tune_share_of_gc(facts, (double)growth.ns);
    finding_gain(finding, gain * (needed > value ? 0.4 : 0.6), gain);
    finding_cost(finding,
                 "%s more of old space in this run; if old objects die later, up to %.3g times the live data, and "
                 "longer pauses then",
                 format_bytes(freed, growth.freed), 1 + value);
}
