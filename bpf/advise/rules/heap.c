/* Rules about the memory of old space: its segments, its free chunks, its limit. */
#include "advise/rules/rule.h"
#include "eden_values.h"
#include "util/format.h"
#include "util/whole.h"
#include <inttypes.h>
#include <math.h>

/* heap.thrash: segments are returned to the system and asked for again, in turn.
 *
 * A full collection that leaves more free than shrink_threshold returns segments until grow_headroom is left. A program
 * whose use of old space swings by more than that pays for each swing: the system clears the pages again as they are
 * touched, and the first allocation that finds no room brings on a full collection before the heap grows. With a
 * threshold above the swing the segments stay. */

/* Pages are touched mostly by the program: so the gain in collections is less than the share of the run. */
static const double CLEARING_NS_PER_BYTE = 0.25; /* a page fault of some 1,000 ns clears 4 KiB */

struct swings {
    uint64_t count, remapped;     /* times that segments were mapped after others had been returned; their bytes */
    uint64_t fulls, ns;           /* full collections because an allocation found no room then */
    uint64_t returns, returns_ns; /* other full collections that returned those segments; their time in no phase */
    double most_free;             /* at the end of a full collection, before anything was returned */
    uint64_t first_ns, last_ns;
};

/* Returning segments is no phase: the system takes back their pages, between the last phase and the end. */
static uint64_t ns_in_no_phase(const struct tune_pass *full) {
    uint64_t phases = 0;
    for (int phase = 0; phase < EDEN_PHASE_COUNT; phase++) {
        phases += phase_parents[phase] == EDEN_PHASE_full ? full->part_ns[phase] : 0;
    }
    return full->duration_ns > phases ? full->duration_ns - phases : 0;
}

/* Where segments are mapped after others were returned, the full collection before may have come from the allocation
 * that found no room for that. One that freed as much as was asked for would have been made anyway: then only the
 * return is in vain. */
static void look_for_swings(const struct tune_facts *facts, struct swings *swings) {
    uint64_t returned = 0; /* that could be asked for again */
    bool unmapped = false;
    size_t next = 0;
    const struct tune_pass *last = NULL, *returner = NULL;
    uint64_t returns = 0, returns_ns = 0; /* since a segment was mapped */
    for (size_t i = 0; i < facts->segment_count; i++) {
        const struct tune_segment *segment = &facts->segments[i];
        for (; next < facts->pass_count && facts->passes[next].start_ns <= segment->time_ns; next++) {
            last = facts->passes[next].full ? &facts->passes[next] : last;
        }
        if (!segment->mapped) {
            returned += segment->bytes;
            unmapped = true;
            if (last && last != returner) {
                returner = last;
                returns++;
                returns_ns += ns_in_no_phase(last);
            }
            continue;
        }
        uint64_t again = segment->bytes < returned ? segment->bytes : returned;
        returned -= again;
        swings->remapped += again;
        swings->count += unmapped;
        if (unmapped && last && last->cause == EDEN_FULL_ALLOCATION && last->freed_bytes < last->requested) {
            swings->fulls++;
            swings->ns += last->duration_ns;
            if (last == returner) { /* its return is part of that */
                returns--;
                returns_ns -= ns_in_no_phase(last);
            }
        }
        if (again && unmapped) {
            swings->returns += returns;
            swings->returns_ns += returns_ns;
        }
        returns = returns_ns = 0;
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
    look_for_swings(facts, &swings);
    double in_fulls = (double)swings.ns + (double)swings.returns_ns,
           clearing = CLEARING_NS_PER_BYTE * (double)swings.remapped,
           share = tune_share_of_time(facts, in_fulls + clearing);
    double threshold = tune_number(facts, EDEN_PARAM_shrink_threshold), value = swings.most_free * 1.1;
    if (swings.count < 3 || share < TUNE_MATTERS || tune_gc_share(facts) < TUNE_MATTERS || value <= threshold) {
        return;
    }
    char again[FORMAT_MAX], took[FORMAT_MAX], first[TUNE_WHEN], last[TUNE_WHEN], most[FORMAT_MAX], has[FORMAT_MAX],
        headroom[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "heap.thrash", share);
    finding_explains(finding, 0, in_fulls); /* the rest is spent in the program */
    finding_evidence(finding,
                     "segments were mapped %" PRIu64
                     " time%s after others had been returned, %s in total, between %s and %s",
                     swings.count, plural(swings.count), format_bytes(again, swings.remapped),
                     tune_when(first, facts, swings.first_ns), tune_when(last, facts, swings.last_ns));
    if (swings.fulls) {
        finding_evidence(finding,
                         "%" PRIu64 " full collection%s came from allocations that then found no room, and took %s",
                         swings.fulls, plural(swings.fulls), format_ns(took, swings.ns));
    }
    if (swings.returns) {
        finding_evidence(finding, "%" PRIu64 " full collection%s returned them, and took %s outside the phases",
                         swings.returns, plural(swings.returns), format_ns(took, swings.returns_ns));
    }
    finding_evidence(finding, "the program takes about %s to touch these segments again, by an estimate",
                     format_ns(took, whole_of(clearing)));
    finding_evidence(finding, "shrink_threshold is %s and grow_headroom %s; up to %s were free after a full collection",
                     format_bytes(has, whole_of(threshold)),
                     format_bytes(headroom, whole_of(tune_number(facts, EDEN_PARAM_grow_headroom))),
                     format_bytes(most, whole_of(swings.most_free)));
    finding_why(finding, "The program's need for old space oscillates. At each low the heap returns memory that it "
                         "needs again at the next high. The system then clears the pages again, and an allocation that "
                         "finds no room causes a full collection.");
    finding_set(finding, EDEN_PARAM_shrink_threshold, value);
    finding_how(finding,
                "the most memory ever free after a full collection plus a tenth, so that the heap keeps it mapped");
    double gain = tune_share_of_gc(facts, in_fulls);
    finding_gain(finding, gain * 0.5, gain);
    finding_cost(finding, "up to %s of memory that the heap does not always use", format_bytes(most, whole_of(value)));
}

static const double MUCH_FREE = 0.05; /* of old space: with less it is simply full */

/* heap.fragmented: large allocations fail, or take a sliding collection, beside enough free memory.
 *
 * Free memory in pieces holds no object that is larger than the largest piece. compactor=none only sweeps, so the
 * pieces stay; selective empties the sparsest segments, and slides when an allocation would fail; planning slides
 * objects together in each full collection. A failure is reported even at a low cost. */

struct pieces {
    uint64_t failures, slides, ns;
    const struct tune_allocation *first;
    const struct tune_pass *before, *slide; /* the full collection before the first failure; a sliding one */
};

static const struct tune_pass *full_before(const struct tune_facts *facts, uint64_t time_ns) {
    const struct tune_pass *found = NULL;
    for (size_t i = 0; i < facts->pass_count && facts->passes[i].start_ns <= time_ns; i++) {
        found = facts->passes[i].full ? &facts->passes[i] : found;
    }
    return found;
}

/* It was to find room for an allocation, and found enough, but in no piece. */
static bool in_pieces(const struct tune_pass *pass) {
    return pass->full && pass->cause == EDEN_FULL_ALLOCATION && pass->requested > pass->largest_free &&
           pass->requested <= pass->capacity_after - pass->old_after;
}

void rule_heap_fragmented(const struct tune_facts *facts, struct findings *findings) {
    struct pieces pieces = {0};
    for (size_t i = 0; i < facts->failure_count; i++) {
        const struct tune_allocation *failure = &facts->failures[i];
        const struct tune_pass *before = full_before(facts, failure->time_ns);
        uint64_t unused = before ? before->capacity_after - before->old_after : 0;
        if (before && failure->bytes > before->largest_free && failure->bytes <= unused &&
            (double)unused > MUCH_FREE * (double)before->capacity_after) {
            pieces.failures++;
            if (!pieces.first) {
                pieces.first = failure;
                pieces.before = before;
            }
        }
    }
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        bool slid = pass->full && pass->cause == EDEN_FULL_LIMIT && pass->requested &&
                    pass->requested <= pass->capacity_before - pass->old_before;
        pieces.slides += slid;
        pieces.slide = slid ? pass : pieces.slide;
        pieces.ns += slid || in_pieces(pass) ? pass->duration_ns : 0;
    }
    double share = tune_share_of_time(facts, (double)pieces.ns);
    if (!pieces.failures && (pieces.slides < 2 || share < TUNE_MATTERS)) {
        return;
    }
    char bytes[FORMAT_MAX], free[FORMAT_MAX], largest[FORMAT_MAX], when[TUNE_WHEN], name[TUNE_LABEL], took[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "heap.fragmented", share);
    finding_explains(finding, 0, (double)pieces.ns);
    if (pieces.failures) {
        finding->severity = TUNE_HIGH;
        finding_evidence(
            finding,
            "%" PRIu64 " allocation%s failed despite free memory: at %s one of %s (%s), when %s were free in %" PRIu64
            " chunks, the largest of %s",
            pieces.failures, plural(pieces.failures), tune_when(when, facts, pieces.first->time_ns),
            format_bytes(bytes, pieces.first->bytes), tune_class_label(name, facts, pieces.first->class_id),
            format_bytes(free, pieces.before->capacity_after - pieces.before->old_after), pieces.before->free_chunks,
            format_bytes(largest, pieces.before->largest_free));
    }
    if (pieces.slides) {
        finding_evidence(finding,
                         "%" PRIu64 " full collections had to slide all objects together for one allocation, the last "
                         "at %s for %s; they took %s",
                         pieces.slides, tune_when(when, facts, pieces.slide->start_ns),
                         format_bytes(bytes, pieces.slide->requested), format_ns(took, pieces.ns));
    }
    finding_why(finding, "Free memory is scattered between live objects, and no free chunk is large enough for a large "
                         "object. Sliding the objects together makes one chunk of it.");
    finding_set(finding, EDEN_PARAM_compactor, 0);
    finding_how(finding, "the compactor that leaves no fragments; now it is %s",
                facts->parameters[EDEN_PARAM_compactor].text);
    finding_cost(finding, "longer full collections, since they move live objects");
}

/* heap.limit: new and old space together come near max_heap.
 *
 * Near the limit the heap collects in full again and again for ever less (cause limit), and at it allocation fails. So
 * it is reported even at a low cost. */

static const double NEAR = 0.9, USED = 0.75; /* of the limit: mapped, and in use */

/* policy=auto uses all memory up to the limit on purpose: only what collections find alive says how near it is. Near
 * the limit, those for growth come as early as they do because of it. */
struct hurried {
    uint64_t by_cause[EDEN_FULL_CAUSES], ns_by_cause[EDEN_FULL_CAUSES];
    uint64_t count, ns, freed; /* freed: by the last one */
    bool is_less;              /* each has freed less than the one before */
};

static void add_hurried(struct hurried *hurried, const struct tune_pass *pass) {
    hurried->by_cause[pass->cause]++;
    hurried->ns_by_cause[pass->cause] += pass->duration_ns;
    hurried->is_less = hurried->count == 0 || (hurried->is_less && pass->freed_bytes < hurried->freed);
    hurried->freed = pass->freed_bytes;
    hurried->count++;
    hurried->ns += pass->duration_ns;
}

/* new_space: at least what is beside old space. */
static bool is_hurried(const struct tune_facts *facts, const struct tune_pass *pass, double new_space, double limit) {
    return pass->full && (pass->cause == EDEN_FULL_LIMIT || pass->cause == EDEN_FULL_ALLOCATION ||
                          (tune_is_old_decided(facts) && pass->cause == EDEN_FULL_RATIO &&
                           (double)pass->old_before + new_space >= USED * limit));
}

static void hurried_evidence(struct finding *finding, const struct hurried *hurried) {
    static const char *const whys[EDEN_FULL_CAUSES] = {
        [EDEN_FULL_RATIO] = "max_heap lets old space grow no further",
        [EDEN_FULL_ALLOCATION] = "an allocation found no room",
        [EDEN_FULL_LIMIT] = "the heap was at max_heap",
    };
    for (unsigned i = 0; i < EDEN_FULL_CAUSES; i++) {
        char took[FORMAT_MAX];
        if (hurried->by_cause[i]) {
            finding_evidence(finding, "%" PRIu64 " full collection%s (cause %s) took %s: %s", hurried->by_cause[i],
                             plural(hurried->by_cause[i]), eden_full_cause_name(i),
                             format_ns(took, hurried->ns_by_cause[i]), whys[i]);
        }
    }
}

void rule_heap_limit(const struct tune_facts *facts, struct findings *findings) {
    double asked = tune_number(facts, EDEN_PARAM_max_heap), limit = tune_ran_with_max_heap(facts), peak = 0, used = 0;
    uint64_t peak_ns = 0;
    struct hurried hurried = {0};
    if (!isfinite(limit)) {
        return;
    }
    double new_space = tune_number(facts, EDEN_PARAM_eden_size) * 7 / 5;
    for (size_t i = 0; i < facts->segment_count; i++) {
        if ((double)facts->segments[i].capacity_after > peak) {
            peak = (double)facts->segments[i].capacity_after;
            peak_ns = facts->segments[i].time_ns;
        }
    }
    peak = fmax(peak, (double)tune_figure(facts, EDEN_FIGURE_old_capacity));
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        if (pass->full || !tune_is_old_decided(facts)) {
            used = fmax(used, (double)(pass->full ? pass->old_after : pass->old_before));
        }
        if (is_hurried(facts, pass, new_space, limit)) {
            add_hurried(&hurried, pass);
        }
    }
    /* Mapped is not used: what is mapped and free is room still. */
    const double taken = fmin(peak + new_space, limit); /* they need not have been largest at one moment */
    bool near = taken >= NEAR * limit && used + new_space >= USED * limit;
    if (!near) {
        return;
    }
    char most[FORMAT_MAX], bound[FORMAT_MAX], when[TUNE_WHEN];
    struct finding *finding = finding_add(findings, "heap.limit", tune_share_of_time(facts, (double)hurried.ns));
    finding_explains(finding, 0, (double)hurried.ns);
    finding->severity = facts->failure_count ? TUNE_HIGH : finding->severity > TUNE_MEDIUM ? TUNE_HIGH : TUNE_MEDIUM;
    finding_evidence(finding, "the heap took %s at %s, %.0f%% of max_heap (%s)", format_bytes(most, whole_of(taken)),
                     tune_when(when, facts, peak_ns), 100 * taken / limit, format_bytes(bound, whole_of(limit)));
    hurried_evidence(finding, &hurried);
    if (facts->failure_count) {
        finding_evidence(finding, "%zu allocation%s failed, the first at %s", facts->failure_count,
                         plural(facts->failure_count), tune_when(when, facts, facts->failures[0].time_ns));
    }
    finding_why(finding,
                "Near the limit the heap cannot grow as it would, so it runs a full collection each time it needs "
                "room%s. When one frees too little, allocation fails.",
                hurried.count > 1 && hurried.is_less ? ", and each one frees less" : "");
    if (tune_asks_max_heap(facts) && asked <= limit) {
        finding_how(finding, "--max-heap allows no more: keep less data in the program");
        return;
    }
    finding_set(finding, EDEN_PARAM_max_heap, tune_asks_max_heap(facts) ? asked : limit * 1.5);
    finding_how(finding, "%s; or keep less data in the program",
                tune_asks_max_heap(facts) ? "as --max-heap says"
                                          : "1.5 times the limit, and more if that is still too little");
    finding_cost(finding, "memory, up to the new limit");
}

/* heap.grows: ever more is alive after each full collection, to the end.
 *
 * What a full collection leaves is alive, whatever the parameters. A program that builds its data grows until it is
 * built, and one that keeps what it should drop grows for ever (a leak). The two look alike while they grow: only
 * growth that goes on in the last quarter of the run, at no less than a quarter of its pace before, is reported. It is
 * a failure to come, so it is reported even at a low cost.
 *
 * 1. Terms. Level: the bytes alive in old space after a full collection. Window: from the last full collection of the
 *    first half of the run to the last one.
 * 2. Algorithm. The levels of the window are put into up to four groups, in order of time. A group counts as its lowest
 *    level, since the data that a program works on comes and goes. These must rise from group to group. */

enum { GROWS_LEAST = 4, GROWS_WINDOW = 3, GROWS_GROUPS = 4, GROWS_SITES = 3 };
static const double GROWS_PART = 0.1;          /* of what was alive: growth in the window, at least */
static const double GROWS_BYTES = 1024 * 1024; /* likewise, bytes */
static const double GROWS_PACE = 0.25;         /* of the mean pace in the window: that of its end, at least */
static const double GROWS_UNSEEN = 1.5;        /* times the old space of the middle of the run: that might be a leak */

struct level {
    double bytes;
    const struct tune_pass *full;
    double allocated; /* until it, bytes */
};

struct grows {
    uint64_t count;
    double highest;                /* before the window */
    const struct tune_pass *first; /* full collection of the run */
    struct level at[GROWS_GROUPS]; /* the lowest of each group */
    size_t groups;
    struct level last;
};

static uint64_t at_part(const struct tune_facts *facts, double part) {
    return facts->start_ns + whole_of(part * (double)facts->wall_ns);
}

/* The first pass of the window; pass_count: there is none. */
static size_t window_start(const struct tune_facts *facts, struct grows *grows) {
    size_t start = facts->pass_count;
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        if (pass->full) {
            grows->count++;
            grows->first = grows->first ? grows->first : pass;
            start = pass->start_ns < at_part(facts, 0.5) ? i : start;
        }
    }
    return start;
}

static void look_for_growing(const struct tune_facts *facts, struct grows *grows) {
    size_t start = window_start(facts, grows), in_window = 0, seen = 0;
    double allocated = 0;
    for (size_t i = start; i < facts->pass_count; i++) {
        in_window += facts->passes[i].full;
    }
    if (in_window == 0) {
        return;
    }
    grows->groups = in_window < GROWS_GROUPS ? in_window : GROWS_GROUPS;
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        allocated += (double)pass->allocated_since;
        if (!pass->full) {
            continue;
        }
        if (i < start) {
            grows->highest = fmax(grows->highest, (double)pass->old_after);
            continue;
        }
        struct level *level = &grows->at[seen++ * grows->groups / in_window];
        grows->last = (struct level){(double)pass->old_after, pass, allocated};
        *level = !level->full || grows->last.bytes < level->bytes ? grows->last : *level;
    }
}

static double pace(const struct level *from, const struct level *to) {
    return (to->bytes - from->bytes) / fmax((double)(to->full->start_ns - from->full->start_ns), 1);
}

static bool is_known(const struct grows *grows) { return grows->count >= GROWS_LEAST && grows->groups >= GROWS_WINDOW; }

/* It rises to the end of the run. */
static bool rises(const struct tune_facts *facts, const struct grows *grows) {
    const struct level *first = &grows->at[0], *last = &grows->at[grows->groups - 1];
    for (size_t i = 1; i < grows->groups; i++) {
        if (grows->at[i].bytes <= grows->at[i - 1].bytes) {
            return false;
        }
    }
    return grows->last.full->start_ns >= at_part(facts, 0.75) && grows->last.bytes >= grows->highest &&
           last->bytes - first->bytes >= fmax(GROWS_PART * first->bytes, GROWS_BYTES) &&
           pace(last - 1, last) >= GROWS_PACE * pace(first, last);
}

bool heap_grows(const struct tune_facts *facts) {
    struct grows grows = {0};
    look_for_growing(facts, &grows);
    return is_known(&grows) && rises(facts, &grows);
}

/* Old space grew in the last half of the run, and there were too few full collections to know what of it is alive. */
static bool may_grow_unseen(const struct tune_facts *facts) {
    double middle = 0, end = 0;
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        middle = pass->start_ns < at_part(facts, 0.5) ? (double)pass->old_before : middle;
        end = (double)pass->old_before;
    }
    return end - GROWS_UNSEEN * middle >= 16 * GROWS_BYTES;
}

static void report_alive(const struct tune_facts *facts, struct finding *finding) {
    double below = INFINITY;
    for (int shown = 0; shown < GROWS_SITES; shown++) {
        const struct tune_site *next = NULL;
        for (size_t i = 0; i < facts->site_count; i++) {
            double of = facts->sites[i].alive_bytes;
            next = of > 0 && of < below && (!next || of > next->alive_bytes) ? &facts->sites[i] : next;
        }
        if (!next || next->alive_bytes < 0.05 * facts->all.alive_bytes) {
            return;
        }
        below = next->alive_bytes;
        finding_evidence(finding, "alive at the end, by samples: %s, %.0f%% of the bytes", next->name,
                         100 * next->alive_bytes / facts->all.alive_bytes);
    }
}

void rule_heap_grows(const struct tune_facts *facts, struct findings *findings) {
    struct grows grows = {0};
    look_for_growing(facts, &grows);
    if (!is_known(&grows)) {
        if (may_grow_unseen(facts)) {
            tune_not_examined(findings, "heap.grows", "needs more full collections, to the end of the run");
        }
        return;
    }
    if (!rises(facts, &grows)) {
        return;
    }
    const struct level *from = &grows.at[0], *to = &grows.at[grows.groups - 1];
    double more = to->bytes - from->bytes;
    char first[FORMAT_MAX], last[FORMAT_MAX], first_when[TUNE_WHEN], last_when[TUNE_WHEN], bytes[FORMAT_MAX],
        each[FORMAT_MAX], second[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "heap.grows", 0);
    finding->severity = facts->failure_count ? TUNE_HIGH : TUNE_MEDIUM;
    finding_evidence(finding,
                     "%" PRIu64 " full collections: the first left %s alive in old space (seq %" PRIu64
                     " at %s), the last %s (seq %" PRIu64 " at %s)",
                     grows.count, format_bytes(first, grows.first->old_after), grows.first->seq,
                     tune_when(first_when, facts, grows.first->start_ns),
                     format_bytes(last, grows.last.full->old_after), grows.last.full->seq,
                     tune_when(last_when, facts, grows.last.full->start_ns));
    finding_evidence(finding,
                     "from %s on, the live data grew by %s: by %s for each MiB allocated, and by %s per second",
                     tune_when(first_when, facts, from->full->start_ns), format_bytes(bytes, whole_of(more)),
                     format_bytes(each, whole_of(more / fmax((to->allocated - from->allocated) / 1048576, 1))),
                     format_bytes(second, whole_of(pace(from, to) * 1e9)));
    finding_evidence(finding, "the first of these full collections took %s, the last %s",
                     format_ns(first, grows.first->duration_ns), format_ns(last, grows.last.full->duration_ns));
    report_alive(facts, finding);
    finding_why(finding,
                "What a full collection leaves is alive: the program refers to it, and each collection marks it "
                "again. A program that builds its data grows until it is built. One that has worked for long, "
                "and grows still, keeps what it should drop: a leak.");
    finding_how(finding,
                "no parameter cures this. Find the classes and sites with edenscope lifetimes -- PROGRAM (or -p "
                "PID, or -i FILE): its column `censored` counts the objects alive at the end. Then find in the "
                "program what refers to them");
}
