/* program.allocates: time in collections that no parameter cures.
 *
 * What lives has to be copied once, and marked once in a while. Where the other rules together leave much of the time
 * as it is, what is left is what the program allocates and keeps: it is told who does. */
#include "format.h"
#include "rules.h"
#include <math.h>

static const double LEFT = 0.1; /* of the run, in collections, after all that the other rules promise */
static const double SHOWN = 4;

void rule_program_allocates(const struct tune_facts *facts, struct findings *findings) {
    double gain = 0;
    for (size_t i = 0; i < findings->count; i++) {
        gain += (findings->at[i].gain_min + findings->at[i].gain_max) / 2;
    }
    double left = tune_gc_share(facts) * (1 - fmin(gain, 1));
    if (left < LEFT) {
        return;
    }
    char allocated[FORMAT_MAX], copied[FORMAT_MAX], bytes[FORMAT_MAX];
    double all = (double)tune_figure(facts, EDEN_FIGURE_allocated_bytes);
    double survived = (double)tune_figure(facts, EDEN_FIGURE_survived_bytes);
    struct finding *finding = finding_add(findings, "program.allocates", left);
    finding_evidence(finding, "%s were allocated, %s a second; %s were copied, %.0f%% of it",
                     format_bytes(allocated, (uint64_t)all),
                     format_bytes(bytes, (uint64_t)(all / fmax((double)facts->wall_ns / 1e9, 1e-9))),
                     format_bytes(copied, (uint64_t)survived), 100 * survived / fmax(all, 1));
    for (size_t i = 0; i < facts->site_count && i < SHOWN; i++) {
        const struct tune_site *site = &facts->sites[i];
        finding_evidence(finding, "%s: %.1f%% of the bytes allocated, %.0f%% of them survive", site->name,
                         100 * site->bytes / fmax(facts->all.bytes, 1),
                         100 * fmin(site->survivor_bytes / fmax(site->bytes, 1), 1));
    }
    if (!facts->lifetimes) {
        tune_not_examined(findings, "program.allocates: who", "needs record --lifetimes");
    }
    finding_why(finding,
                "What the program allocates and keeps has to be copied at least once, whatever the parameters. "
                "Fewer or smaller objects at these places are what helps.");
    finding_how(finding, "look at who allocates: reuse objects, keep numbers in arrays of words, or allocate old what "
                         "stays (edenscope lifetimes --pretenure)");
}
