/* Rules about scavenges: what they read and copy, and how often they come. */
#include "advise/facts/scavenges.h"
#include "advise/rules/rule.h"
#include "util/format.h"
#include "util/whole.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* scavenge.remembered: scavenges slowed by large remembered objects.
 *
 * With remembered_set=object a large old object into which one young reference was stored is scanned whole by each
 * scavenge, for as long as it refers to anything young: after the tuning paper's first step scavenges of its data frame
 * took 52 times as long, by its authors for that reason. With cards only the parts that were stored into are scanned.
 *
 * remembered__scan reports the inspected slots and the young references of each scan of a large object. Its duration
 * includes the copying of referenced objects, which is necessary work. The cost reported here is that of inspection
 * only: at most the time of slots without young references, at the pace of the fastest scans. */

static const double SLOTS_A_REFERENCE = 16; /* that are looked at for each young reference found: more is in vain */

void rule_scavenge_remembered(const struct tune_facts *facts, struct findings *findings) {
    uint64_t ns = 0, objects = 0, bytes = 0, slots = 0, references = 0;
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        ns += pass->full ? 0 : pass->part_ns[EDEN_PHASE_scavenge__remembered];
        objects += pass->full ? 0 : pass->part_objects[EDEN_PHASE_scavenge__remembered];
        bytes += pass->full ? 0 : pass->part_bytes[EDEN_PHASE_scavenge__remembered];
    }
    for (size_t i = 0; i < facts->scan_count; i++) {
        slots += facts->scans[i].slots;
        references += facts->scans[i].young_references;
    }
    bool object_mode = tune_number(facts, EDEN_PARAM_remembered_set) == 0;
    double share = tune_share_of_time(facts, (double)ns), large = tune_number(facts, EDEN_PARAM_large_object);
    if (share < TUNE_MATTERS || !object_mode) {
        return;
    }
    if (!facts->scans_reported && (double)bytes < 16 * large) {
        return; /* nothing large was scanned */
    }
    if (!facts->scans_reported) { /* by bytes: only large objects have that many each */
        slots = bytes / 8;
        references = objects;
    }
    if ((double)slots < SLOTS_A_REFERENCE * (double)references || slots * 8 < whole_of(large)) {
        return;
    }
    char took[FORMAT_MAX], read[FORMAT_MAX], count[FORMAT_MAX], found[FORMAT_MAX], name[TUNE_LABEL], one[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "scavenge.remembered", share);
    finding_explains(finding, (double)ns, 0);
    finding_evidence(finding, "scanning the remembered set took %s, %.0f%% of scavenges; it read %s of old objects",
                     format_ns(took, ns),
                     100 * (double)ns / fmax((double)tune_figure(facts, EDEN_FIGURE_scavenge_ns), 1),
                     format_bytes(read, bytes));
    for (size_t i = 0; i < facts->scan_count && i < 3; i++) {
        const struct tune_scans *scan = &facts->scans[i];
        finding_evidence(finding, "%s: %s scans of %s each on average, for %s young references in total; %s",
                         tune_class_label(name, facts, scan->class_id), format_count(count, scan->count),
                         format_bytes(one, scan->slots * 8 / scan->count), format_count(found, scan->young_references),
                         format_ns(took, scan->duration_ns));
    }
    finding_why(finding, "Each scavenge scans an old object with a young reference in full, even if few of its slots "
                         "were stored into. With cards, it scans only the parts that were stored into.");
    finding_set(finding, EDEN_PARAM_remembered_set, 1);
    finding_how(finding, "now it is object; of %s inspected slots, one in %.0f had a young reference",
                format_count(count, slots), (double)slots / fmax((double)references, 1));
    double gain = tune_share_of_gc(facts, (double)ns);
    finding_gain(finding, gain * 0.5, gain);
    finding_cost(finding, "one byte per 512 bytes of old space");
}

/* scavenge.copying: the same survivors are copied again and again.
 *
 * A survivor is copied by each scavenge until it dies or is tenured. Where nearly all that survive go on living,
 * waiting for the semispace to fill is in vain: tenured at their second scavenge (tenure_fill=0, tenure_proportion=1),
 * they are copied twice and no more. (The tuning paper's third step keeps all survivors, against the cost of another
 * rule, scavenge.remembered: once the semispace is full, new survivors go to old space from eden, to what refers to
 * them.) Where they die after some scavenges, a larger eden lets them die before. */

static const double OFTEN = 1.5; /* copies of a survivor, on average */

static double copied(const struct tune_site *site) { return site->copied_bytes; }

static void report_copied(const struct tune_facts *facts, struct finding *finding) {
    const struct tune_site *most = tune_most(facts, copied);
    if (most) {
        finding_evidence(finding, "mostly %s (%.0f%%), copied %.1f times each", most->name,
                         100 * most->copied_bytes / facts->all.copied_bytes,
                         most->copied_bytes / fmax(most->survivor_bytes, 1));
    }
}

void rule_scavenge_copying(const struct tune_facts *facts, struct findings *findings) {
    struct scavenge_plan plan;
    if (!facts->details) {
        tune_needs_lifetimes(findings, "scavenge.copying");
    }
    if (!facts->details || !scavenge_plan_make(&plan, facts) || !plan.choice.early) {
        return;
    }
    double copies = scavenge_copies(facts), ns = scavenge_early_ns(&plan);
    double share = tune_share_of_time(facts, ns);
    if (copies < OFTEN || share < TUNE_MATTERS) {
        return;
    }
    const struct scavenge_model *model = &plan.model;
    char copied[FORMAT_MAX], survivors[FORMAT_MAX], garbage[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "scavenge.copying", share);
    finding_explains(finding, ns, 0);
    finding_evidence(finding,
                     "scavenges copied %s, each surviving object %.1f times; of the %s that survived, %.0f%% lived on "
                     "in old space or to the end",
                     format_bytes(copied, whole_of(model->copied_bytes)), copies,
                     format_bytes(survivors, whole_of(facts->all.survivor_bytes)),
                     100 * fmin(facts->all.old_bound_bytes / facts->all.survivor_bytes, 1));
    report_copied(facts, finding);
    finding_why(finding, "Survivors stay in new space, and each scavenge copies them, until they fill their semispace. "
                         "An object that is tenured at its second scavenge is copied at most twice.");
    finding_set(finding, EDEN_PARAM_tenure_fill, 0);
    finding_set(finding, EDEN_PARAM_tenure_proportion, 1);
    finding_how(finding, "by the recorded lifetimes, this copies %.0f%% of the bytes",
                100 * plan.chosen.copied_bytes / fmax(plan.without_early.copied_bytes, 1));
    double gain = tune_share_of_gc(facts, ns);
    finding_gain(finding, gain * 0.5, scavenge_gain_most(gain));
    finding_cost(finding, "about %s of objects that die soon after become garbage in old space in such a run",
                 format_bytes(garbage, whole_of(plan.chosen.garbage_bytes)));
}

/* scavenge.overflow: survivors do not fit into their semispace, and are tenured for that alone.
 *
 * A semispace is a fifth of eden. What does not fit is moved to old space however young it is; that which dies soon is
 * garbage there until the next full collection, and brings it on. Where what overflows keeps living, it was to be
 * tenured anyway, and nothing is wrong. */

static const double OVERFLOW_MORE = 96 * 1024 * 1024; /* bytes more that nobody misses */
static const double OVERFLOW_WASTED = 0.3;            /* of what was tenured, dead by the next full collection */

/* The most bytes that a scavenge found alive. */
static double alive_at_most(const struct tune_facts *facts) {
    double most = 0;
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        most = pass->full ? most : fmax(most, (double)(pass->survivors_after + pass->tenured_bytes));
    }
    return most;
}

void rule_scavenge_overflow(const struct tune_facts *facts, struct findings *findings) {
    struct scavenge_overflow overflow;
    struct scavenge_plan plan;
    const struct scavenge_model *model = &plan.model;
    bool known = scavenge_plan_make(&plan, facts);
    scavenge_overflow_sum(&overflow, facts);
    double wasted = scavenge_wasted(facts);
    if (!known || overflow.passes < 3 || (double)overflow.bytes < 0.5 * model->tenured_bytes) {
        return;
    }
    if (wasted < 0) {
        tune_needs_lifetimes(findings, "scavenge.overflow");
        return;
    }
    /* What of full collections, and of copying, is for garbage that overflowed. */
    double ns = wasted * (model->full_ns + model->ns_per_byte * (double)overflow.bytes);
    double share = tune_share_of_time(facts, ns);
    if (wasted < OVERFLOW_WASTED || share < TUNE_MATTERS) {
        return;
    }
    double fits = alive_at_most(facts) * 5 * 1.1, value = model->eden_bytes;
    double room = fmin(fmax(2 * model->peak_bytes, model->peak_bytes + OVERFLOW_MORE),
                       scavenge_eden(&plan, INFINITY)); /* of the limit, if there is one */
    while (value < fits && value * 2 * 7 / 5 <= room) {
        value *= 2;
    }
    double forecast = scavenge_eden(&plan, 1);
    bool is_forecast = forecast > value;
    value = fmax(value, forecast);
    if (value <= model->eden_bytes) {
        return; /* the limit allows no larger eden */
    }
    char bytes[FORMAT_MAX], most[FORMAT_MAX], semispace[FORMAT_MAX], when[TUNE_WHEN], more[FORMAT_MAX];
    const struct tune_pass *worst = overflow.worst;
    share = fmax(share, tune_share_of_time(facts, scavenge_eden_ns(&plan))); /* what the eden set here spares besides */
    struct finding *finding = finding_add(findings, "scavenge.overflow", share);
    finding_explains(finding, share * (double)facts->wall_ns - wasted * model->full_ns, wasted * model->full_ns);
    finding_evidence(
        finding,
        "in %" PRIu64 " of %.0f scavenges survivors did not fit: %s were tenured for that reason, %.0f%% of all "
        "tenured bytes; the most at %s (seq %" PRIu64 "), with %s alive and a semispace of %s",
        overflow.passes, model->count, format_bytes(bytes, overflow.bytes),
        100 * (double)overflow.bytes / fmax(model->tenured_bytes, 1), tune_when(when, facts, worst->start_ns),
        worst->seq, format_bytes(most, worst->survivors_after + worst->tenured_bytes),
        format_bytes(semispace, worst->semispace_limit - worst->semispace_start));
    finding_evidence(finding, "%.0f%% of the tenured bytes were dead by the next full collection", 100 * wasted);
    finding_why(finding,
                "Survivors that find no room in their semispace are tenured, however young they are. Many die soon "
                "after, but only a full collection frees them, and their garbage brings the next one forward.");
    finding_set(finding, EDEN_PARAM_eden_size, value);
    if (is_forecast) {
        finding_how(finding,
                    "by the forecast, this spares scavenges; the most bytes ever alive, plus a tenth, need %s: a "
                    "semispace is a fifth of eden",
                    format_bytes(most, whole_of(fits)));
    } else {
        finding_how(finding, "%s: a semispace is a fifth of eden",
                    value >= fits ? "this fits the most bytes that a scavenge found alive, plus a tenth"
                                  : "this doubles the heap; even so, the most bytes ever alive do not fit");
    }
    double gain = tune_share_of_gc(facts, fmax(ns, scavenge_eden_ns(&plan)));
    finding_gain(finding, gain * 0.5, scavenge_gain_most(gain));
    finding_cost(finding, "%s more memory", format_bytes(more, whole_of((value - model->eden_bytes) * 7 / 5)));
}

/* eden.small: eden too small for the allocation rate.
 *
 * A scavenge costs what it finds alive, not what is dead, and something for itself. With a larger eden there are fewer,
 * and objects have more time to die before one comes. How much that would spare is forecast from the lifetimes
 * recorded (scavenges.c).
 *
 * Memory has its price: an eden that takes much must spare 4% of the run. Up to the default eden, or an eighth of the
 * heap more, memory costs next to nothing. Then it is enough that scavenges take 2% of the run, and that much of it
 * goes away. The forecast's part of what scavenges took counts here, not its nanoseconds: a busy machine makes the
 * program and its scavenges longer alike. */

static const double EDEN_WORTH = 0.2;  /* of what scavenges cost by the model: for less nobody takes more memory */
static const double EDEN_OWN = 0.3;    /* of what a larger eden would spare, that no other finding explains */
static const double EDEN_SPARES = 0.9; /* a larger eden that copies less than this part of the bytes spares copies */
static const double EDEN_CHEAP_WORTH = 0.3, EDEN_CHEAP_SHARE = 0.01; /* of scavenges, of the run: with cheap memory */

/* A larger eden, and what it spares. */
struct larger_eden {
    double times, ns;
    struct scavenge_forecast now, then;
};

/* The share of the run that findings about scavenges and tenuring promise to cure: a larger eden would hide
 * these. Findings about objects tenured in vain set an eden themselves, or report what makes this one look small. */
static double claimed(const struct tune_facts *facts, const struct findings *findings) {
    double share = 0;
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->at[i];
        bool of_scavenges = strncmp(finding->key, "scavenge.", 9) == 0 || strncmp(finding->key, "tenure.", 7) == 0 ||
                            strncmp(finding->key, "ephemeron.", 10) == 0;
        share += finding_is_of_tenuring(finding) ? 1 : of_scavenges ? finding->gain_max * tune_gc_share(facts) : 0;
    }
    return share;
}

static bool tenures_early(const struct findings *findings) {
    for (size_t i = 0; i < findings->count; i++) {
        if (strcmp(findings->at[i].key, "scavenge.copying") == 0) {
            return true;
        }
    }
    return false;
}

/* Does it spare this share of the run beside what others claim, and enough of its own? */
static bool is_worth(const struct larger_eden *eden, double least, const struct tune_facts *facts,
                     const struct findings *findings) {
    double share = tune_share_of_time(facts, eden->ns), left = share - claimed(facts, findings);
    return eden->times > 1 && left >= fmax(least, share * EDEN_OWN);
}

/* As the plan has it; false: it is not worth its memory. */
static bool plan_eden(struct larger_eden *eden, const struct scavenge_plan *plan, const struct tune_facts *facts,
                      const struct findings *findings) {
    *eden = (struct larger_eden){plan->choice.times, scavenge_eden_ns(plan), plan->now, plan->chosen};
    return eden->ns >= EDEN_WORTH * eden->now.ns && is_worth(eden, TUNE_WORTH_MEMORY, facts, findings);
}

/* One that nobody misses the memory of. Tenuring is as it will be: early if scavenge.copying is a finding. */
static bool cheap_eden(struct larger_eden *eden, const struct scavenge_plan *plan, const struct tune_facts *facts,
                       const struct findings *findings) {
    struct scavenge_choice choice = scavenge_choose_cheap(&plan->model, tenures_early(findings));
    *eden = (struct larger_eden){.times = choice.times};
    scavenge_forecast(&plan->model, (struct scavenge_choice){1, choice.early}, &eden->now);
    scavenge_forecast(&plan->model, choice, &eden->then);
    double part = (eden->now.ns - eden->then.ns) / fmax(plan->now.ns, 1);
    eden->ns = part * plan->model.seen_ns;
    return tune_share_of_time(facts, plan->model.seen_ns) >= TUNE_MATTERS && part >= EDEN_CHEAP_WORTH &&
           is_worth(eden, EDEN_CHEAP_SHARE, facts, findings);
}

double rule_eden_beyond_limit(const struct tune_facts *facts, const struct findings *findings) {
    struct scavenge_plan plan;
    struct larger_eden eden;
    struct tune_facts without = *facts;
    if (!facts->details || !isfinite(tune_number(facts, EDEN_PARAM_max_heap))) {
        return 0;
    }
    without.parameters[EDEN_PARAM_max_heap].number = INFINITY;
    bool is_worth_it = scavenge_plan_make(&plan, &without) && plan_eden(&eden, &plan, &without, findings);
    return is_worth_it ? plan.model.eden_bytes * eden.times : 0;
}

void rule_eden_small(const struct tune_facts *facts, struct findings *findings) {
    struct scavenge_plan plan;
    struct larger_eden eden;
    if (!scavenge_plan_make(&plan, facts)) {
        return;
    }
    bool is_planned = plan_eden(&eden, &plan, facts, findings);
    if (!is_planned && !cheap_eden(&eden, &plan, facts, findings)) {
        if (!facts->details) {
            tune_needs_lifetimes(findings, "eden.small");
        }
        return;
    }
    const struct scavenge_model *model = &plan.model;
    double value = model->eden_bytes * eden.times, scavenge_ns = (double)tune_figure(facts, EDEN_FIGURE_scavenge_ns);
    char size[FORMAT_MAX], every[FORMAT_MAX], each[FORMAT_MAX], kept[FORMAT_MAX], count[FORMAT_MAX], more[FORMAT_MAX],
        peak[FORMAT_MAX], now[FORMAT_MAX], then[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "eden.small", tune_share_of_time(facts, eden.ns));
    finding->severity = finding->severity > TUNE_LOW ? finding->severity : TUNE_LOW;
    finding_explains(finding, eden.ns, 0);
    finding_evidence(finding, "%s scavenges of an eden of %s, one every %s, which on average copied %s and took %s",
                     format_count(count, whole_of(model->count)), format_bytes(size, whole_of(model->eden_bytes)),
                     format_ns(every, whole_of((double)facts->wall_ns / model->count)),
                     format_bytes(kept, whole_of(model->copied_bytes / model->count)),
                     format_ns(each, whole_of(scavenge_ns / model->count)));
    if (facts->survivors) {
        finding_evidence(finding, "by the recorded lifetimes, an eden of %s would copy %s in total; this one copied %s",
                         format_bytes(size, whole_of(value)), format_bytes(then, whole_of(eden.then.copied_bytes)),
                         format_bytes(now, whole_of(model->copied_bytes)));
    }
    finding_why(finding,
                eden.then.copied_bytes < EDEN_SPARES * model->copied_bytes
                    ? "Scavenges are so frequent that objects have no time to die: objects that would soon be "
                      "dead are copied, or even tenured. A scavenge costs by live objects, not by dead ones, so "
                      "fewer scavenges cost less."
                    : "Each scavenge costs something, however little it copies, so fewer scavenges cost less.");
    finding_set(finding, EDEN_PARAM_eden_size, value);
    if (is_planned) {
        finding_how(finding, "the smallest eden, by doubling, that is within 10%% of the best predicted one, or within "
                             "0.5%% of the run");
    } else {
        finding_how(finding,
                    "the smallest eden, by doubling, that is within 10%% of the best predicted one among those up to "
                    "the default eden, or up to an eighth of the heap more; it spares %.0f%% of what scavenges cost",
                    100 * (eden.now.ns - eden.then.ns) / fmax(plan.now.ns, 1));
    }
    double gain = tune_share_of_gc(facts, eden.ns);
    finding_gain(finding, gain * 0.5, scavenge_gain_most(gain));
    double bytes = (eden.times - 1) * model->eden_bytes * 7 / 5;
    finding_cost(finding, "%s more memory: the heap took %s, and would take %.3g times that",
                 format_bytes(more, whole_of(bytes)), format_bytes(peak, whole_of(model->peak_bytes)),
                 1 + bytes / fmax(model->peak_bytes, 1));
}

/* ephemeron.load: ephemerons or weak objects dominate a phase of collections.
 *
 * Each scavenge looks at every weak object it reaches and clears what is dead; each ephemeron whose key has died is
 * copied, fired and queued. */

static const double DOMINATES = 0.25;  /* of the time in scavenges, or of the objects moved */
static const double MOURNING_NS = 100; /* about what firing one takes */

void rule_ephemeron_load(const struct tune_facts *facts, struct findings *findings) {
    uint64_t weak_ns = 0, weak = 0, moved = 0;
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        weak_ns += pass->part_ns[EDEN_PHASE_scavenge__weak];
        weak += pass->part_objects[EDEN_PHASE_scavenge__weak];
        moved += pass->part_objects[EDEN_PHASE_scavenge__copy] + pass->part_objects[EDEN_PHASE_scavenge__roots];
    }
    uint64_t mourned = tune_figure(facts, EDEN_FIGURE_mourned);
    double scavenge_ns = (double)tune_figure(facts, EDEN_FIGURE_scavenge_ns),
           mourning_ns = (double)mourned * MOURNING_NS;
    bool by_weak = (double)weak_ns >= DOMINATES * scavenge_ns;
    bool by_mourned = (double)mourned >= DOMINATES * (double)moved;
    double ns = fmin((by_weak ? (double)weak_ns : 0) + (by_mourned ? mourning_ns : 0), scavenge_ns);
    double share = tune_share_of_time(facts, ns);
    if (share < TUNE_MATTERS) {
        return;
    }
    char took[FORMAT_MAX], count[FORMAT_MAX], all[FORMAT_MAX];
    struct scavenge_plan plan;
    scavenge_plan_make(&plan, facts);
    share = fmax(share, tune_share_of_time(facts, scavenge_eden_ns(&plan))); /* what the eden set here spares besides */
    struct finding *finding = finding_add(findings, "ephemeron.load", share);
    finding_explains(finding, share * (double)facts->wall_ns, 0);
    if (by_weak) {
        finding_evidence(
            finding, "clearing weak references took %s, %.0f%% of scavenges, for %s weak objects inspected",
            format_ns(took, weak_ns), 100 * (double)weak_ns / fmax(scavenge_ns, 1), format_count(count, weak));
    }
    if (by_mourned) {
        finding_evidence(finding, "%s ephemerons lost their key, while scavenges moved %s objects in total",
                         format_count(count, mourned), format_count(all, moved));
    }
    finding_why(finding, "Each scavenge inspects every weak object that it reaches, and fires every ephemeron with a "
                         "dead key. Both cost more than copying plain objects, and recur with each scavenge.");
    if (!by_weak) {
        finding_how(finding, "fewer ephemerons in the program; no parameter is known to help: edenscope tune --search "
                             "measures");
        return;
    }
    double eden = plan.model.eden_bytes, value = scavenge_eden(&plan, 4);
    finding_set(finding, EDEN_PARAM_eden_size, value);
    finding_how(finding,
                "%.3g times the eden, for as many times fewer scavenges; only fewer ephemerons and weak objects in the "
                "program remove the cause",
                value / eden);
    double gain = tune_share_of_gc(facts, fmax(ns, scavenge_eden_ns(&plan)));
    finding_gain(finding, gain * 0.4, gain * 0.8);
    finding_cost(finding, "%s more memory", format_bytes(took, whole_of((value - eden) * 7 / 5)));
}
