/* program.allocates: time in collections that no parameter cures.
 *
 * What lives has to be copied once, and marked once in a while. If the other rules together leave much of the time
 * unchanged, the rest is caused by objects that the program allocates and keeps: the finding names their sites. */
#include "advise/facts/scavenges.h"
#include "advise/rules/rules.h"
#include "util/format.h"
#include <math.h>

static const double LEFT = 0.25; /* of the run, in collections, after all that the other rules promise */
enum { SHOWN = 3 };

static double weight(const struct tune_facts *facts, const struct tune_site *site) {
    return facts->all.copied_bytes > 0 ? site->copied_bytes : site->bytes;
}

/* Those whose objects are copied most; where that is not known, those that allocate most. */
static void report_sites(const struct tune_facts *facts, struct finding *finding) {
    double below = INFINITY;
    for (int shown = 0; shown < SHOWN; shown++) {
        const struct tune_site *next = NULL;
        for (size_t i = 0; i < facts->site_count; i++) {
            double of = weight(facts, &facts->sites[i]);
            next = of > 0 && of < below && (!next || of > weight(facts, next)) ? &facts->sites[i] : next;
        }
        if (!next) {
            return;
        }
        below = weight(facts, next);
        finding_evidence(finding, "%s: %.0f%% of the bytes allocated, and %.0f%% of what was copied", next->name,
                         100 * next->bytes / fmax(facts->all.bytes, 1),
                         100 * next->copied_bytes / fmax(facts->all.copied_bytes, 1));
    }
}

void rule_program_allocates(const struct tune_facts *facts, struct findings *findings) {
    struct scavenge_plan plan;
    double gain = 0, all_ns = (double)tune_figure(facts, EDEN_FIGURE_gc_ns);
    double full_ns = (double)tune_figure(facts, EDEN_FIGURE_full_ns);
    for (size_t i = 0; i < findings->count; i++) {
        gain += findings->at[i].gain_max;
    }
    /* What stopped the whole machine now and then is in the durations, but not in the model. */
    double ns = scavenge_plan_make(&plan, facts) ? fmin(all_ns, plan.now.ns - plan.model.full_ns + full_ns) : all_ns;
    ns -= fmin(gain, 1) * all_ns;
    double left = tune_share_of_time(facts, ns);
    /* In a short run the machine, stopped once, can be a quarter of it, and that is nobody's habit. */
    if (tune_share_of_time(facts, ns - (double)tune_figure(facts, EDEN_FIGURE_max_pause_ns)) < LEFT) {
        return;
    }
    char allocated[FORMAT_MAX], copied[FORMAT_MAX], bytes[FORMAT_MAX];
    double all = (double)tune_figure(facts, EDEN_FIGURE_allocated_bytes);
    double survived = (double)tune_figure(facts, EDEN_FIGURE_survived_bytes);
    struct finding *finding = finding_add(findings, "program.allocates", left);
    finding_explains(finding, ns * (all_ns - full_ns) / all_ns, ns * full_ns / all_ns);
    finding_evidence(finding, "%s were allocated, %s per second; %s were copied, %.0f%% of it",
                     format_bytes(allocated, (uint64_t)all),
                     format_bytes(bytes, (uint64_t)(all / fmax((double)facts->wall_ns / 1e9, 1e-9))),
                     format_bytes(copied, (uint64_t)survived), 100 * survived / fmax(all, 1));
    report_sites(facts, finding);
    if (!facts->lifetimes) {
        tune_not_examined(findings, "program.allocates: classes and sites", "needs record --lifetimes");
    }
    finding_why(finding, "Objects that the program keeps have to be copied at least once, whatever the parameters. "
                         "Allocate fewer or smaller objects at these sites.");
    finding_how(finding, "find the sites that allocate most: reuse objects, keep numbers in arrays of words, or "
                         "allocate long-lived objects old (edenscope lifetimes --pretenure)");
}
