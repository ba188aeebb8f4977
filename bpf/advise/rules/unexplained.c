/* unexplained: time in collections that no rule has a word for.
 *
 * More than a tenth of the time, or a pause of more than half a second, is never well. Where the findings leave some of
 * it, or there are none, that is said: with the share, the part of collections that takes most of it, and the longest
 * pause. */
#include "advise/rules/account.h"
#include "advise/rules/rules.h"
#include "util/format.h"
#include <inttypes.h>
#include <math.h>

static const struct {
    enum eden_phase phase;
    int kind;
    const char *name;
} parts[] = {
    {EDEN_PHASE_scavenge__remembered, TUNE_SCAVENGES, "the remembered set"},
    {EDEN_PHASE_scavenge__roots, TUNE_SCAVENGES, "the roots"},
    {EDEN_PHASE_scavenge__copy, TUNE_SCAVENGES, "copying survivors"},
    {EDEN_PHASE_scavenge__weak, TUNE_SCAVENGES, "weak references"},
    {EDEN_PHASE_mark, TUNE_FULLS, "marking"},
    {EDEN_PHASE_sweep, TUNE_FULLS, "sweeping"},
    {EDEN_PHASE_compact, TUNE_FULLS, "compaction"},
};

static uint64_t part_ns(const struct tune_facts *facts, enum eden_phase phase) {
    uint64_t ns = 0;
    for (size_t i = 0; i < facts->pass_count; i++) {
        ns += facts->passes[i].part_ns[phase];
    }
    return ns;
}

static void add_kind(struct finding *finding, const struct tune_facts *facts, const struct account *account,
                     const struct account_shares *shares, int kind) {
    static const char *const names[TUNE_KINDS] = {"scavenges", "full collections"};
    size_t most = 0;
    uint64_t most_ns = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        uint64_t ns = parts[i].kind == kind ? part_ns(facts, parts[i].phase) : 0;
        if (ns > most_ns) {
            most = i;
            most_ns = ns;
        }
    }
    if (most_ns) {
        finding_evidence(finding, "%s: %.1f%% of the run is unexplained; %.0f%% of their time goes into %s",
                         names[kind], 100 * shares->rest[kind], 100 * (double)most_ns / account->all_ns[kind],
                         parts[most].name);
    } else {
        finding_evidence(finding, "%s: %.1f%% of the run is unexplained", names[kind], 100 * shares->rest[kind]);
    }
}

static void add_pause(struct finding *finding, const struct tune_facts *facts) {
    char pause[FORMAT_MAX], took[FORMAT_MAX], when[TUNE_WHEN];
    const struct tune_pass *longest = NULL;
    uint64_t most = tune_figure(facts, EDEN_FIGURE_max_pause_ns);
    for (size_t i = 0; i < facts->pass_count; i++) {
        longest = !longest || facts->passes[i].duration_ns > longest->duration_ns ? &facts->passes[i] : longest;
    }
    if (longest) {
        finding_evidence(finding,
                         "the longest pause was %s; the longest collection, a %s (seq %" PRIu64 " at %s), took %s",
                         format_ns(pause, most), longest->full ? "full collection" : "scavenge", longest->seq,
                         tune_when(when, facts, longest->start_ns), format_ns(took, longest->duration_ns));
    } else {
        finding_evidence(finding, "the longest pause was %s", format_ns(pause, most));
    }
}

void rule_unexplained(const struct tune_facts *facts, struct findings *findings) {
    struct account account;
    struct account_shares shares;
    account_make(&account, findings);
    account_shares(&shares, &account, facts);
    if (!account.is_costly || (findings->count && shares.unexplained < TUNE_MATTERS)) {
        return;
    }
    struct finding *finding = finding_add(findings, "unexplained", shares.unexplained);
    for (int kind = 0; kind < TUNE_KINDS; kind++) {
        if (shares.rest[kind] > 0) {
            add_kind(finding, facts, &account, &shares, kind);
        }
    }
    add_pause(finding, facts);
    finding_why(finding, "Collections take more than a tenth of the time, or a pause lasts more than half a second, "
                         "and no rule explains this part. It may still have a remedy.");
    finding_how(finding, "measure other parameters (edenscope tune --search), and find the sites that allocate most "
                         "(edenscope lifetimes); a machine short of processors or memory also lengthens pauses");
}
