/* Rules about full collections: how often they come, and what for. */
#include "advise/rules/rule.h"
#include "util/format.h"
#include "util/whole.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* policy=auto grows old space for an allocation as far as for promotion, and then collects for either. */
static bool is_for_growth(const struct tune_facts *facts, const struct tune_pass *pass) {
    return pass->full &&
           (pass->cause == EDEN_FULL_RATIO || (tune_is_old_decided(facts) && pass->cause == EDEN_FULL_ALLOCATION));
}

/* With max_heap, policy=auto collects as rarely as that lets it: there is nothing to set but the limit (heap.limit). */
static bool is_left_to_limit(const struct tune_facts *facts) {
    return tune_is_old_decided(facts) && isfinite(tune_ran_with_max_heap(facts));
}

/* Without, it keeps memory within a factor of what lives. The operator chooses a limit, since allocation beyond it
 * fails. */
static void advise_limit(const struct tune_facts *facts, struct finding *finding) {
    if (tune_asks_max_heap(facts)) {
        finding_set(finding, EDEN_PARAM_max_heap, tune_number(facts, EDEN_PARAM_max_heap));
        finding_how(finding,
                    "as --max-heap says: with a limit, policy=auto collects old space as rarely as that allows");
    } else {
        finding_how(finding,
                    "policy=auto lets old space grow by three quarters of what lives, and to max_heap if that is set: "
                    "set it (--max-heap) to the memory that the program may take, if that is much more than now");
    }
    finding_cost(finding, "memory, up to the limit; allocation beyond it fails");
}

/* States no gain where --max-heap leaves less than `bytes` beside what the heap took: it is collected for the limit
 * then. */
static void gain_with(const struct tune_facts *facts, struct finding *finding, double bytes, double min, double max) {
    if (!tune_asks_max_heap(facts) || tune_heap_peak(facts) + bytes <= tune_number(facts, EDEN_PARAM_max_heap)) {
        finding_gain(finding, min, max);
    }
}

/* full.growth: full collections that free nearly nothing, while old space grows by what is tenured.
 *
 * A program that loads data makes its old space grow by objects that stay. Each time it has grown by full_gc_ratio,
 * everything is marked, nearly all of it is found alive, and the time was wasted; that many times
 * log(final / initial) / log(1 + ratio). The tuning paper's first step set the ratio to infinite. This rule raises it
 * until at most one such collection falls into the growth seen. What the fruitless collections freed is the cost.
 *
 * A ratio above 10 allows more garbage later than anybody wants. A growth from next to nothing needs a larger one: then
 * a least size of old space (full_gc_min_old) spares the collections that are left. It allows no more than what was
 * used anyway. Where growth has no end (heap.grows) no size does. One fruitless collection may be one of chance, so it
 * must cost more to count. */

static const double GROWTH_FREED = 0.2; /* of old space, freed at most */
static const double GROWTH_RATIO = 10;  /* the largest of the lifetimes paper's configurations, 1000% */
static const double GROWTH_LIMIT = 0.9; /* of what old space may have below max_heap */

struct growth {
    uint64_t count, all, ns, freed, searched; /* searched: old space, summed over them */
    double first_base, last_used;             /* old space that the first one grew from; at the last */
    const struct tune_pass *first, *last;
};

static void look_for_growth(const struct tune_facts *facts, struct growth *growth) {
    double ratio = tune_growth(facts);
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        if (!is_for_growth(facts, pass)) {
            continue;
        }
        growth->all++;
        if ((double)pass->freed_bytes > GROWTH_FREED * (double)pass->old_before) {
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

/* The next of a few round numbers. */
static double round_up(double ratio) {
    static const double steps[] = {0.5, 1, 1.5, 2, 3, 4, 5, 7};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i] >= ratio) {
            return steps[i];
        }
    }
    return GROWTH_RATIO;
}

/* A size of old space that it stays below as it grows as seen, or that is next to the limit that is asked for; 0: there
 * is none that helps. */
static double size_above(const struct tune_facts *facts, const struct growth *growth) {
    double most = growth->last_used;
    for (size_t i = 0; i < facts->pass_count; i++) {
        most = fmax(most, (double)facts->passes[i].old_before);
    }
    double room = tune_number(facts, EDEN_PARAM_max_heap) - tune_number(facts, EDEN_PARAM_eden_size) * 7 / 5;
    double size = fmin(most * 1.1, GROWTH_LIMIT * room), helps = tune_asks_max_heap(facts) ? tune_alive(facts) : most;
    return size > fmax(helps, tune_number(facts, EDEN_PARAM_full_gc_min_old)) ? size : 0;
}

void rule_full_growth(const struct tune_facts *facts, struct findings *findings) {
    struct growth growth = {0};
    look_for_growth(facts, &growth);
    double share = tune_share_of_time(facts, (double)growth.ns), ratio = tune_growth(facts);
    if (is_left_to_limit(facts) || growth.count == 0 || share < (growth.count == 1 ? 2 * TUNE_MATTERS : TUNE_MATTERS) ||
        growth.last_used < growth.first_base * 1.5) {
        return;
    }
    double needed = growth.last_used / growth.first_base - 1, value = round_up(fmax(needed * 1.1, 2 * ratio));
    bool is_sized = !tune_is_old_decided(facts) && needed * 1.1 > value && !heap_grows(facts);
    double size = is_sized ? size_above(facts, &growth) : 0;
    if (value <= ratio && size <= 0) {
        return; /* neither is what is too small */
    }
    char took[FORMAT_MAX], from[FORMAT_MAX], to[FORMAT_MAX], freed[FORMAT_MAX], first[TUNE_WHEN], last[TUNE_WHEN];
    struct finding *finding = finding_add(findings, "full.growth", share);
    finding_explains(finding, 0, (double)growth.ns);
    double share_freed = 100 * (double)growth.freed / fmax((double)growth.searched, 1);
    double grown_from = growth.count == 1 ? growth.first_base : (double)growth.first->old_before;
    if (growth.count == 1) {
        finding_evidence(finding,
                         "the full collection that growth caused (seq %" PRIu64
                         " at %s) freed %.0f%% of old space; it took %s",
                         growth.first->seq, tune_when(first, facts, growth.first->start_ns), share_freed,
                         format_ns(took, growth.ns));
    } else {
        finding_evidence(
            finding,
            "%" PRIu64 " of %" PRIu64
            " full collections caused by growth freed %.0f%% of old space on average; they took %s (seq %" PRIu64
            " at %s to seq %" PRIu64 " at %s)",
            growth.count, growth.all, share_freed, format_ns(took, growth.ns), growth.first->seq,
            tune_when(first, facts, growth.first->start_ns), growth.last->seq,
            tune_when(last, facts, growth.last->start_ns));
    }
    finding_evidence(finding, "%s, old space grew from %s to %s", growth.count == 1 ? "in this run" : "meanwhile",
                     format_bytes(from, whole_of(grown_from)), format_bytes(to, whole_of(growth.last_used)));
    finding_why(finding,
                "Each time old space has grown by %.0f%%, all of it is marked, and most of it is alive: the live "
                "data is growing. A larger ratio%s searches for garbage less often.",
                100 * ratio, size > 0 ? ", or a least size of old space," : "");
    double gain = tune_share_of_gc(facts, (double)growth.ns);
    gain_with(facts, finding, (double)growth.freed, gain * (needed > value && size <= 0 ? 0.4 : 0.6), gain);
    if (tune_is_old_decided(facts)) {
        advise_limit(facts, finding);
        return;
    }
    if (value > ratio) {
        finding_set(finding, EDEN_PARAM_full_gc_ratio, value);
    }
    if (size > 0) {
        finding_set(finding, EDEN_PARAM_full_gc_min_old, size);
    }
    double collections = log(growth.last_used / growth.first_base) / log(1 + ratio);
    if (size > 0) {
        finding_how(finding,
                    "old space grew %.3g times, more than a ratio of %.3g allows without a full collection; "
                    "full_gc_min_old is the most that old space used, plus a tenth",
                    growth.last_used / growth.first_base, fmax(value, ratio));
    } else {
        finding_how(finding,
                    "log(%.3g) / log(1 + %.3g) = %.0f full collections fit into that growth; from %.3g on there is at "
                    "most one",
                    growth.last_used / growth.first_base, ratio, collections, needed);
    }
    if (value > ratio) {
        finding_cost(finding,
                     "%s more of old space in this run; if old objects die later, up to %.3g times the live data, and "
                     "longer pauses then",
                     format_bytes(freed, growth.freed), 1 + value);
    } else {
        finding_cost(finding, "%s more of old space in this run", format_bytes(freed, growth.freed));
    }
}

/* full.headroom: full collections in clusters, from large allocations that find no room.
 *
 * A large object is born in old space. Where no free chunk holds it, everything is collected in full before memory is
 * asked of the system, and then no more of it than grow_headroom, or the object, so that the next large object does the
 * same (the tuning paper's Figure 5). With a headroom as large as all that the heap holds at its
 * largest there is room for the cluster, wherever it comes.
 *
 * The headroom is address space first: pages that nobody writes to take no memory. It is not made larger than that, so
 * that a program that drops its large objects as fast as it makes them collects still, with at most twice the memory.
 */

static const double ALLOCATION_FREED = 0.2; /* of old space, freed */

struct clusters {
    uint64_t fulls, ns, freed, requested;
    uint64_t largest;  /* bytes of the largest cluster */
    uint64_t remapped; /* those that came after segments had been returned: heap.thrash */
    double at_ns;      /* when the largest begins */
};

/* Was the last change of segments before this time a return? */
static bool after_unmap(const struct tune_facts *facts, uint64_t time_ns) {
    bool unmapped = false;
    for (size_t i = 0; i < facts->segment_count && facts->segments[i].time_ns < time_ns; i++) {
        unmapped = !facts->segments[i].mapped;
    }
    return unmapped;
}

/* One that freed what was asked for, and much at that, was none in vain. */
static bool is_ours(const struct tune_pass *pass) {
    bool fruitful = pass->freed_bytes >= pass->requested &&
                    (double)pass->freed_bytes >= ALLOCATION_FREED * (double)pass->old_before;
    return pass->full && pass->cause == EDEN_FULL_ALLOCATION && pass->requested && !fruitful;
}

/* Near its limit the heap could not grow, whatever the headroom. */
static bool might_grow(const struct tune_facts *facts, double requested) {
    return tune_heap_peak(facts) + requested <= tune_ran_with_max_heap(facts);
}

/* Large allocations less than a twentieth of the run apart are a cluster. */
static void find_clusters(const struct tune_facts *facts, struct clusters *clusters) {
    uint64_t apart = facts->wall_ns / 20, bytes = 0, begun = 0, before = 0;
    size_t pass = 0;
    bool counted = false;
    for (size_t i = 0; i < facts->large_count; i++) {
        const struct tune_allocation *large = &facts->large[i];
        if (i == 0 || large->time_ns - before > apart) {
            bytes = 0;
            begun = large->time_ns;
            counted = false;
        }
        before = large->time_ns;
        bytes += large->bytes;
        for (; pass < facts->pass_count && facts->passes[pass].start_ns <= large->time_ns; pass++) {
            counted = counted || is_ours(&facts->passes[pass]);
        }
        if (counted && bytes > clusters->largest) {
            clusters->largest = bytes;
            clusters->at_ns = (double)begun;
        }
    }
}

void rule_full_headroom(const struct tune_facts *facts, struct findings *findings) {
    struct clusters clusters = {0};
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        if (is_ours(pass)) {
            clusters.fulls++;
            clusters.ns += pass->duration_ns;
            clusters.freed += pass->freed_bytes;
            clusters.requested += pass->requested;
            clusters.remapped += after_unmap(facts, pass->start_ns);
        }
    }
    double share = tune_share_of_time(facts, (double)clusters.ns);
    if (tune_is_old_decided(facts)) {
        return; /* it grows without a collection first, as far as the policy lets it */
    }
    if (clusters.fulls == 0 || share < (clusters.fulls == 1 ? 2 * TUNE_MATTERS : TUNE_MATTERS) ||
        clusters.remapped * 2 > clusters.fulls) {
        return;
    }
    find_clusters(facts, &clusters);
    double headroom = tune_number(facts, EDEN_PARAM_grow_headroom), peak = tune_old_peak(facts);
    double largest = fmax((double)clusters.largest, (double)clusters.requested / (double)clusters.fulls);
    double value = fmin(fmax(largest, peak), fmax(peak, 2 * headroom)) * 1.1;
    value = fmin(value, tune_number(facts, EDEN_PARAM_max_heap));
    if (value <= headroom * 1.1 || !might_grow(facts, (double)clusters.requested / (double)clusters.fulls)) {
        return; /* the headroom is not what is too small */
    }
    char took[FORMAT_MAX], freed[FORMAT_MAX], all[FORMAT_MAX], has[FORMAT_MAX], when[TUNE_WHEN], mapped[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "full.headroom", share);
    finding_explains(finding, 0, (double)clusters.ns);
    finding_evidence(finding,
                     "full collections because an allocation found no room: %" PRIu64
                     ", for %s on average; they took %s and freed %s",
                     clusters.fulls, format_bytes(all, clusters.requested / clusters.fulls),
                     format_ns(took, clusters.ns), format_bytes(freed, clusters.freed));
    if (clusters.largest) {
        finding_evidence(finding, "the largest cluster of large allocations takes %s, from %s on; grow_headroom is %s",
                         format_bytes(all, clusters.largest), tune_when(when, facts, whole_of(clusters.at_ns)),
                         format_bytes(has, whole_of(headroom)));
    }
    finding_why(finding, "A large object that finds no free chunk causes a full collection before the heap grows, and "
                         "then the heap grows only by the headroom. So the next large object finds no chunk either. A "
                         "headroom for all of them is mapped once.");
    finding_set(finding, EDEN_PARAM_grow_headroom, value);
    finding_how(finding, "the largest mapped size of the heap plus a tenth: this leaves room for %s",
                largest <= value ? "the largest cluster beside everything else"
                                 : "as many large objects as the heap ever holds");
    double gain = tune_share_of_gc(facts, (double)clusters.ns);
    double left = fmin(1, largest / value / (double)clusters.fulls);
    gain_with(facts, finding, value, gain * (1 - left) * 0.7, gain);
    finding_cost(finding, "up to %s of mapped address space, which uses memory only when it is touched",
                 format_bytes(mapped, whole_of(value)));
}

/* full.explicit: collections that the program asks for and gains nothing from.
 *
 * A program that knows when it has dropped much may well ask for a collection. Where those free nearly nothing, the
 * program guesses wrong, and no parameter helps: the calls have to go. */

static const double REQUEST_FREED = 0.1; /* of what was there, freed at most */

struct asked {
    uint64_t count, fruitless, ns, full_ns, freed, seen; /* full_ns: of ns, in full collections */
    const struct tune_pass *worst;
};

static void add_asked(struct asked *asked, const struct tune_pass *pass, uint64_t freed, uint64_t seen) {
    asked->count++;
    if ((double)freed > REQUEST_FREED * (double)seen) {
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
            add_asked(&asked, pass, pass->freed_bytes, pass->old_before);
            /* Its own scavenge frees eden, which would have been freed when it is full. */
            if (before && !before->full && before->cause == EDEN_SCAVENGE_FULL &&
                (double)pass->freed_bytes <= REQUEST_FREED * (double)pass->old_before) {
                asked.ns += before->duration_ns;
            }
        } else if (!pass->full && pass->cause == EDEN_SCAVENGE_REQUEST) {
            uint64_t seen = pass->eden_used + pass->survivors_before,
                     left = pass->survivors_after + pass->tenured_bytes;
            double eden = tune_number(facts, EDEN_PARAM_eden_size);
            bool early = (double)pass->eden_used < eden / 2; /* else it would have come soon anyway */
            add_asked(&asked, pass, early ? 0 : seen - (left < seen ? left : seen), seen);
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

/* full.frequent: full collections that free what they are for, but come more often than they need to.
 *
 * In a program whose objects live long and then die (a cache, a queue) what is tenured becomes garbage in old space,
 * and each growth by full_gc_ratio brings on a full collection that frees about as much. It marks all that lives to do
 * so; so what is marked for each byte freed goes with 1 / ratio, and the price of a larger ratio is the garbage that
 * waits meanwhile. Where garbage gets to old space that need not (premature tenuring, nepotism, overflow), those rules
 * report it; where collections free next to nothing, full.growth does. */

static const double FREQUENT_FREED = 0.5; /* of what old space had grown by, freed at least */
static const double FREQUENT_HEAP = 0.9;  /* of max_heap: more is heap.limit's */
static const double FREQUENT_RATIO = 4;   /* further collections are few then */
enum { FREQUENT_LEAST = 6 };

struct frequent {
    uint64_t count, ns, freed;
    double alive; /* the most that was alive after one */
    const struct tune_pass *first, *last;
};

static void look_for_frequent(const struct tune_facts *facts, struct frequent *frequent) {
    double ratio = tune_growth(facts), grown = ratio / (1 + ratio);
    for (size_t i = 0; i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        if (is_for_growth(facts, pass) &&
            (double)pass->freed_bytes > FREQUENT_FREED * grown * (double)pass->old_before) {
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
    double new_space = tune_number(facts, EDEN_PARAM_eden_size) * 7 / 5, peak = tune_heap_peak(facts);
    double room = fmin(2 * peak, FREQUENT_HEAP * tune_number(facts, EDEN_PARAM_max_heap)) - new_space;
    return room / fmax(alive, tune_number(facts, EDEN_PARAM_full_gc_min_old)) - 1;
}

void rule_full_frequent(const struct tune_facts *facts, struct findings *findings) {
    struct frequent frequent = {0};
    look_for_frequent(facts, &frequent);
    double share = tune_share_of_time(facts, (double)frequent.ns), ratio = tune_growth(facts);
    if (is_left_to_limit(facts) || frequent.count < FREQUENT_LEAST || share < TUNE_WORTH_MEMORY || ratio <= 0 ||
        is_explained(findings)) {
        return;
    }
    double value = floor(10 * fmin(FREQUENT_RATIO, ratio_that_fits(facts, frequent.alive))) / 10;
    if (value < 1.5 * ratio) {
        return; /* there is no memory for it */
    }
    char took[FORMAT_MAX], freed[FORMAT_MAX], alive[FORMAT_MAX], first[TUNE_WHEN], last[TUNE_WHEN], more[FORMAT_MAX];
    struct finding *finding = finding_add(findings, "full.frequent", share);
    finding_explains(finding, 0, (double)frequent.ns);
    finding_evidence(finding,
                     "%" PRIu64 " full collection%s caused by growth took %s (seq %" PRIu64 " at %s to seq %" PRIu64
                     " at %s); each freed %s on average",
                     frequent.count, plural(frequent.count), format_ns(took, frequent.ns), frequent.first->seq,
                     tune_when(first, facts, frequent.first->start_ns), frequent.last->seq,
                     tune_when(last, facts, frequent.last->start_ns),
                     format_bytes(freed, frequent.freed / frequent.count));
    if (tune_is_old_decided(facts)) {
        finding_evidence(finding, "up to %s were alive in old space, and marked each time",
                         format_bytes(alive, whole_of(frequent.alive)));
    } else {
        finding_evidence(finding, "up to %s were alive in old space, and marked each time; full_gc_ratio is %.3g",
                         format_bytes(alive, whole_of(frequent.alive)), ratio);
    }
    finding_why(finding,
                "Objects die in old space as fast as others arrive. Each time it has grown by %.0f%%, all live objects "
                "are marked to free that much. Marking costs by live objects: a larger ratio marks less often, and "
                "frees more each time.",
                100 * ratio);
    double gain = tune_share_of_gc(facts, (double)frequent.ns) * (1 - ratio / value);
    gain_with(facts, finding, frequent.alive * (value - ratio), gain * 0.6, gain);
    if (tune_is_old_decided(facts)) {
        advise_limit(facts, finding);
        return;
    }
    finding_set(finding, EDEN_PARAM_full_gc_ratio, value);
    finding_how(finding, "the largest ratio, up to %.0f, that at most doubles the heap%s", FREQUENT_RATIO,
                isfinite(tune_number(facts, EDEN_PARAM_max_heap)) ? ", and keeps it below max_heap" : "");
    finding_cost(
        finding, "up to %s of garbage that remains in old space until the next full collection",
        format_bytes(more, whole_of(fmax(frequent.alive, tune_number(facts, EDEN_PARAM_full_gc_min_old)) * value)));
}
