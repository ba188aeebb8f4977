/* full.explicit: collections that the program asks for and gains nothing from.
 *
 * A program that knows when it has dropped much may well ask for a collection. Where those free nearly nothing, the
 * program guesses wrong, and no parameter helps: the calls have to go. */
#include "advise/rules/rules.h"
#include "util/format.h"
#include <inttypes.h>

static const double FRUITLESS = 0.1; /* of what was there, freed at most */

struct asked {
    uint64_t count, fruitless, ns, full_ns, freed, seen; /* full_ns: of ns, in full collections */
    const struct tune_pass *worst;
};

static void add(struct asked *asked, const struct tune_pass *pass, uint64_t freed, uint64_t seen) {
    asked->count++;
    if ((double)freed > FRUITLESS * (double)seen) {
        return;
    }
    asked->fruitless++;
    asked->ns += pass->duration_ns;
    asked->full_ns += pass->full ? pass->duration_ns : 0;
    asked->freed += freed;
    asked->seen += seen;
    if (!asked->worst || pass->duration_ns > asked->worst->duration_ns) {
        asked->worst = pass;
    }
}

void rule_full_explicit(const struct tune_facts *facts, struct findings *findings) {
    struct asked asked = {0};
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        const struct tune_pass *before = i ? pass - 1 : NULL;
        if (pass->full && pass->cause == EDEN_FULL_REQUEST) {
            add(&asked, pass, pass->freed_bytes, pass->old_before);
            /* Its own scavenge frees eden, which would have been freed when it is full. */
            if (before && !before->full && before->cause == EDEN_SCAVENGE_FULL &&
                (double)pass->freed_bytes <= FRUITLESS * (double)pass->old_before) {
                asked.ns += before->duration_ns;
            }
        } else if (!pass->full && pass->cause == EDEN_SCAVENGE_REQUEST) {
            uint64_t seen = pass->eden_used + pass->survivors_before,
                     left = pass->survivors_after + pass->tenured_bytes;
            double eden = tune_number(facts, EDEN_PARAM_eden_size);
            bool early = (double)pass->eden_used < eden / 2; /* else it would have come soon anyway */
            add(&asked, pass, early ? 0 : seen - (left < seen ? left : seen), seen);
        }
    }
    double share = tune_share_of_time(facts, (double)asked.ns);
    if (asked.fruitless < 2 || share < TUNE_MATTERS) {
        return;
    }
    char took[FORMAT_MAX], freed[FORMAT_MAX], seen[FORMAT_MAX], longest[FORMAT_MAX], when[TUNE_WHEN];
    struct finding *finding = finding_add(findings, "full.explicit", share);
    finding_explains(finding, (double)(asked.ns - asked.full_ns), (double)asked.full_ns);
    finding_evidence(finding,
                     "%" PRIu64 " of %" PRIu64
                     " collections requested by the program gained nothing: they took %s and freed %s of %s",
                     asked.fruitless, asked.count, format_ns(took, asked.ns), format_bytes(freed, asked.freed),
                     format_bytes(seen, asked.seen));
    finding_evidence(finding, "the longest took %s, seq %" PRIu64 " at %s",
                     format_ns(longest, asked.worst->duration_ns), asked.worst->seq,
                     tune_when(when, facts, asked.worst->start_ns));
    finding_why(finding, "The program requests collections when there is almost no garbage. The heap collects on its "
                         "own when a collection may gain something.");
    finding_how(finding, "no parameter prevents requests: remove calls of eden_full_collect and eden_scavenge, or make "
                         "them only after much has been dropped");
    double gain = tune_share_of_gc(facts, (double)asked.ns);
    finding_gain(finding, gain * 0.8, gain);
}
