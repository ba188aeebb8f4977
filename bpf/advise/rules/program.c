/* Rules about what is left for the program, and where nothing is wrong or known. They see what the others found. */
#include "advise/facts/scavenges.h"
#include "advise/rules/account.h"
#include "advise/rules/rule.h"
#include "util/format.h"
#include "util/whole.h"
#include <inttypes.h>
#include <math.h>

/* program.allocates: time in collections that no parameter cures.
 *
 * What lives has to be copied once, and marked once in a while. If the other rules together leave much of the time
 * unchanged, the rest is caused by objects that the program allocates and keeps: the finding names their sites. */

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

/* The share of the time in collections that a finding takes care of: what it gains, or, where that is not known, what
 * it accounts for. */
static double covered(const struct finding *finding, double all_ns) {
    double explained = finding->explained_ns[TUNE_SCAVENGES] + finding->explained_ns[TUNE_FULLS];
    return finding->gains ? finding->gain_max : all_ns > 0 ? explained / all_ns : 0;
}

void rule_program_allocates(const struct tune_facts *facts, struct findings *findings) {
    struct scavenge_plan plan;
    double gain = 0, all_ns = (double)tune_figure(facts, EDEN_FIGURE_gc_ns);
    double full_ns = (double)tune_figure(facts, EDEN_FIGURE_full_ns);
    for (size_t i = 0; i < findings->count; i++) {
        gain += covered(&findings->at[i], all_ns);
    }
    /* What stopped the whole machine now and then is in the durations, but not in the model. */
    double ns = scavenge_plan_make(&plan, facts) ? fmin(all_ns, plan.now.ns - plan.model.full_ns + full_ns) : all_ns;
    ns -= fmin(gain, 1) * all_ns;
    double left = tune_share_of_time(facts, ns);
    /* In a short run the machine, stopped once, can be a quarter of it, and that is nobody's habit. */
    if (tune_share_of_time(facts, ns - (double)tune_figure(facts, EDEN_FIGURE_max_pause_ns)) < LEFT) {
        return;
    }
    if (!facts->details) { /* what is left may be another rule's, which needs them, too */
        tune_needs_lifetimes(findings, "program.allocates");
        return;
    }
    char allocated[FORMAT_MAX], copied[FORMAT_MAX], bytes[FORMAT_MAX];
    double all = (double)tune_figure(facts, EDEN_FIGURE_allocated_bytes);
    double survived = (double)tune_figure(facts, EDEN_FIGURE_survived_bytes);
    struct finding *finding = finding_add(findings, "program.allocates", left);
    finding_explains(finding, ns * (all_ns - full_ns) / all_ns, ns * full_ns / all_ns);
    finding_evidence(finding, "%s were allocated, %s per second; %s were copied, %.0f%% of it",
                     format_bytes(allocated, whole_of(all)),
                     format_bytes(bytes, whole_of(all / fmax((double)facts->wall_ns / 1e9, 1e-9))),
                     format_bytes(copied, whole_of(survived)), 100 * survived / fmax(all, 1));
    report_sites(facts, finding);
    finding_why(finding, "Objects that the program keeps have to be copied at least once, whatever the parameters. "
                         "Allocate fewer or smaller objects at these sites.");
    finding_how(finding, "find the sites that allocate most: reuse objects, keep numbers in arrays of words, or "
                         "allocate long-lived objects old (edenscope lifetimes --pretenure)");
}

/* unexplained: time in collections that no rule has a word for.
 *
 * More than a tenth of the time, or a pause of more than half a second, is never well. Where the findings leave some of
 * it, or there are none, that is said: with the share, the part of collections that takes most of it, and the longest
 * pause. */

static const struct {
    enum eden_phase phase;
    int kind;
    const char *name;
} parts[] = {
    {EDEN_PHASE_scavenge__remembered, TUNE_SCAVENGES, "the remembered set and copying what it refers to"},
    {EDEN_PHASE_scavenge__roots, TUNE_SCAVENGES, "the roots"},
    {EDEN_PHASE_scavenge__copy, TUNE_SCAVENGES, "copying survivors"},
    {EDEN_PHASE_scavenge__weak, TUNE_SCAVENGES, "weak references"},
    {EDEN_PHASE_scavenge__mark, TUNE_SCAVENGES, "marking for the next full collection"},
    {EDEN_PHASE_scavenge__sweep, TUNE_SCAVENGES, "sweeping after the last full collection"},
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
    const double eden = rule_eden_beyond_limit(facts, findings);
    if (eden > 0) {
        char size[FORMAT_MAX], limit[FORMAT_MAX];
        finding_evidence(finding, "an eden of %s would spare scavenges, but max_heap (%s) leaves no room for it",
                         format_bytes(size, whole_of(eden)),
                         format_bytes(limit, whole_of(tune_number(facts, EDEN_PARAM_max_heap))));
    }
    finding_why(finding, "Collections take more than a tenth of the time, or a pause lasts more than half a second, "
                         "and no rule explains this part. It may still have a remedy.");
    finding_how(finding, "measure other parameters (edenscope tune --search), and find the sites that allocate most "
                         "(edenscope lifetimes); a machine short of processors or memory also lengthens pauses");
}

/* unfinished: the heap was in one collection for most of the observed time, to its end. No parameter makes such a
 * collection end: the process is stopped, or its thread does not get on. */

void rule_unfinished(const struct tune_facts *facts, struct findings *findings) {
    const struct collection_model *collection = &facts->collection;
    const uint64_t ns = tune_unfinished_ns(facts);
    if (ns == 0) {
        return;
    }
    char phase[PHASE_NOW_MAX], all[FORMAT_MAX] = "?", seen[FORMAT_MAX];
    if (collection->since_ns && collection->until_ns > collection->since_ns) {
        format_ns(all, collection->until_ns - collection->since_ns);
    }
    struct finding *finding = finding_add(findings, "unfinished", tune_share_of_time(facts, (double)ns));
    finding_explains(finding, tune_unfinished_kind(facts) == TUNE_SCAVENGES ? (double)ns : 0,
                     tune_unfinished_kind(facts) == TUNE_FULLS ? (double)ns : 0);
    finding_evidence(finding, "%s; this collection had taken %s by then, %s of it observed", tune_phase(phase, facts),
                     all, format_ns(seen, ns));
    if (!tune_has_collections(facts)) {
        finding_evidence(finding, "no collection ended while it was observed");
    }
    finding_why(finding, "The program stands still until this collection ends. Its process may be stopped, or the "
                         "thread that collects waits: for memory, a disk or a CPU.");
    finding_how(finding,
                "no parameter cures this. While it runs, `ps -o stat,wchan,args -p %" PRIu32
                "` shows whether the process is stopped "
                "(T; kill -CONT continues it), waits (D, S) or works (R), and `edenscope stat -p %" PRIu32
                " 1` in which phase it is",
                facts->process.pid, facts->process.pid);
}

/* unseen: no collection ended, so nothing is judged. ok: nothing is wrong. Said with the figures, so that it can be
 * believed; suggests nothing. */

void rule_unseen(const struct tune_facts *facts, struct findings *findings) {
    if (tune_has_collections(facts) || tune_unfinished_ns(facts) != 0) {
        return;
    }
    struct finding *finding = finding_add(findings, "unseen", 0);
    finding_evidence(finding, "%s",
                     tune_is_at_rest(facts)          ? "no collection was observed"
                     : tune_under_way_ns(facts) != 0 ? "no collection ended while it was observed"
                                                     : "unknown: no collection ended while it was observed");
    finding_why(finding, "The rules examine completed collections only.");
    finding_how(finding, "observe it longer, or while it allocates");
}

void rule_ok(const struct tune_facts *facts, struct findings *findings) {
    if (findings->count) {
        return;
    }
    char pause[FORMAT_MAX], allocated[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "ok", 0);
    finding_evidence(finding,
                     "collections took %.1f%% of the time; the longest pause was %s; %s were allocated, in %" PRIu64
                     " scavenges and %" PRIu64 " full collections",
                     100 * tune_gc_share(facts), format_ns(pause, tune_figure(facts, EDEN_FIGURE_max_pause_ns)),
                     format_bytes(allocated, tune_figure(facts, EDEN_FIGURE_allocated_bytes)),
                     tune_figure(facts, EDEN_FIGURE_scavenges), tune_figure(facts, EDEN_FIGURE_full_collections));
    if (tune_gc_share(facts) < TUNE_MATTERS) {
        finding_why(finding, "Below %.0f%%, other parameters gain nothing.", 100 * TUNE_MATTERS);
    } else {
        finding_why(finding, "No part of the collections stands out, and no pattern is pathological.");
    }
}
