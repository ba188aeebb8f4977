/* Statistics of a site, a class or a heap: amounts, means, the verdict short- or long-lived, and its certainty.
 *
 * Amounts. Each sample stands for as many objects as its weight, so a sum of weights estimates a number of
 * objects, and a sum of weights times sizes a number of bytes, without bias (Horvitz and Thompson, JASA 47, 1952).
 * Shares are quotients of such sums.
 *
 * Means. If nothing of a group was censored, its mean lifetime is the sum of weighted lifetimes by the sum of weights:
 * exact, not read off a histogram. If something was, that would leave out the longest lifetimes. The restricted
 * mean of the survival curve replaces it (stats/curve.c), is marked as such, and is a lower bound. Its error
 * comes from the curve in both cases.
 *
 * Short and long. FiLiP's rule (Jordan Montaño et al., ISMM 2024): a class is short-lived if its mean lifetime is at
 * most 5% of the run, else long-lived. Here the same limit divides single objects. Share and clock can be set. The
 * share of objects (or of bytes) that live longer than the limit is the survival curve at the limit; of the bucket that
 * contains the limit, all count as longer, which moves the limit down by at most 6.25%.
 *
 * Unseen objects. A lifetime ends with the collection that found the object dead. An object that survived no scavenge
 * lived for any time from 0 to that. Even if all of a class die at once, the mean is as long as from birth to the next
 * scavenge. So a mean is long only if it exceeds the limit with these lifetimes as 0, too; else the verdict is unknown.
 * Histograms do not join two clocks: the shortest lifetimes are taken for those of unseen objects, which cuts the curve
 * at the share that was seen. If the distances of scavenges vary, some of these are longer, and the cut mean is too
 * large. Objects born after the last scavenge do not count in the share. The oracle dates deaths between scavenges: its
 * curve is not cut.
 *
 * Enough samples. The verdict is on the mean m with standard error e and the limit L, from n samples. It is sure enough
 * if L lies outside of m +- 1.96 e (95%), and if besides one of these holds:
 *   - n >= 30: their mean is taken as normally distributed;
 *   - the share p of objects that live longer than L is on the same side as the verdict, with Wilson's 95% interval
 *     (JASA 22, 1927) excluding 1/2. That interval is sound for few samples: four that all died at once suffice, three
 *     do not. Of n only those samples count that carry information about the limit: p (1 - p) / (Greenwood's error of
 * p)^2 where that error is not 0, else those that died before the limit or were seen alive at it. A restricted mean is
 * a lower bound: above L it is a verdict, below it a sure one only with the share on its side, and none at all where no
 * object was watched as long as L, or most live longer than L; unless what its restriction leaves out can't lift it to
 * L: no object outlives the run, so the mean is at most the restricted one, plus the share alive at the restriction
 * times the rest of the run. Lifetimes with rare, extreme values need more samples than any of this can see: nothing
 * that was not sampled is known. If samples are too few, the advice is FiLiP's: start low, go up if needed, which is
 * where a class has too few. The rates are FiLiP's (0.1, 1, 50, 100%); in bytes, an eighth of the distance. */
#include "stats/lifetimes.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const double confidence = 1.96; /* standard errors each way: 95% */
enum { MANY = 30 };

double life_objects(const struct life_sums *sums) { return (double)sums->weight / EDEN_WEIGHT_ONE; }

double life_run(const struct life_heap *heap, enum life_clock clock) {
    const struct eden_profile_record *state = &heap->state;
    uint64_t from = clock == LIFE_NS ? state->begun_ns : state->begun_bytes;
    uint64_t to = clock == LIFE_NS ? state->time_ns : state->allocated_bytes;
    bool has_length = clock == LIFE_NS || clock == LIFE_BYTES;
    return heap->begun && has_length && to > from ? (double)(to - from) : 0;
}

const char *life_verdict_name(enum life_verdict verdict) {
    static const char *const names[] = {"unknown", "short-lived", "long-lived"};
    return names[verdict];
}

const char *life_verdict_text(const struct life_summary *summary) {
    static const char *const doubtful[] = {"unknown", "short-lived?", "long-lived?"};
    return summary->enough ? life_verdict_name(summary->verdict) : doubtful[summary->verdict];
}

/* Sums are exact where curves are not, to the microsecond and KiB, or wholly where each object was sampled. */
static double exact_mean(const struct life_sums *died, enum life_clock clock) {
    if (died->weight == died->count * EDEN_WEIGHT_ONE) {
        uint64_t sum[] = {died->ns_sum, died->bytes_sum, died->scavenges, died->fulls};
        return (double)sum[clock] / (double)died->count;
    }
    return clock == LIFE_NS ? (double)died->weight_us * 1e3 / life_objects(died)
                            : (double)died->weight_kib * 1024 / life_objects(died);
}

static struct life_mean mean_from(const struct life_curve *curve, const struct life_site *group, double run) {
    struct life_mean mean = life_curve_mean(curve, run);
    struct life_sums died = life_sums_of(group, LIFE_DIED, 0);
    bool summed = curve->clock == LIFE_NS || curve->clock == LIFE_BYTES || died.weight == died.count * EDEN_WEIGHT_ONE;
    if (mean.known && !mean.restricted && died.count != 0 && died.weight != 0 && summed) {
        mean.value = exact_mean(&died, curve->clock);
    }
    return mean;
}

struct life_mean life_mean_of(const struct life_site *group, enum life_clock clock, double run) {
    struct life_curve curve;
    life_curve_make(&curve, group, clock, LIFE_BY_OBJECTS);
    return mean_from(&curve, group, run);
}

/* ---- the verdict and its certainty ------------------------------------------------------------------------------- */

static double share_above(const struct life_curve *curve, double limit) {
    const struct life_point *point = life_curve_at(curve, limit);
    return point ? point->survival : 1;
}

double life_curve_samples(const struct life_curve *curve, double time) {
    const struct life_point *point = life_curve_at(curve, time);
    if (point && point->error > 0) {
        return point->survival * (1 - point->survival) / (point->error * point->error);
    }
    size_t next = point ? (size_t)(point - curve->at) + 1 : 0;
    bool all_dead = point && point->survival <= 0;
    return all_dead ? (double)curve->at[0].at_risk : next < curve->count ? (double)curve->at[next].at_risk : 0;
}

struct life_interval life_share_interval(double share, double samples) {
    if (!(samples > 0)) {
        return (struct life_interval){0, 1};
    }
    double z2 = confidence * confidence;
    double middle = (share + z2 / (2 * samples)) / (1 + z2 / samples);
    double half = confidence / (1 + z2 / samples) * sqrt(share * (1 - share) / samples + z2 / (4 * samples * samples));
    return (struct life_interval){middle - half, middle + half};
}

/* So far is the share from 1/2 that it can't be chance. */
static bool excludes_half(double share, double samples) {
    struct life_interval interval = life_share_interval(share, samples);
    return interval.low > 0.5 || interval.high < 0.5;
}

/* Of the objects that a scavenge found alive or dead, the share that one found alive. */
static double share_seen(const struct life_site *group) {
    double unseen[LIFE_OUTCOMES] = {0}, all = 0;
    for (int outcome = 0; outcome < LIFE_OUTCOMES; outcome++) {
        const struct life_histogram *survived = &group->histogram[outcome][LIFE_SCAVENGES];
        for (size_t i = 0; i < survived->count; i++) {
            all += (double)survived->at[i].weight;
            unseen[outcome] += survived->at[i].bucket == 0 ? (double)survived->at[i].weight : 0;
        }
    }
    double seen = all - unseen[LIFE_DIED] - unseen[LIFE_CENSORED];
    return seen > 0 ? seen / (seen + unseen[LIFE_DIED]) : 0;
}

/* The mean with the lifetimes of unseen objects as 0. */
static double mean_at_least(const struct life_curve *curve, const struct life_mean *mean, double seen) {
    double area = 0, from = 0, alive = 1;
    for (size_t i = 0; i < curve->count; i++) {
        double to = fmin((double)histogram_upper(curve->at[i].bucket), mean->limit);
        area += (to - from) * fmin(alive, seen);
        alive = curve->at[i].survival;
        from = to;
    }
    return fmin(mean->value, area);
}

static bool is_enough(const struct life_curve *curve, const struct life_mean *mean, double limit, double seen,
                      bool is_long) {
    double away = is_long ? mean_at_least(curve, mean, seen) - limit : limit - mean->value;
    double share = is_long ? fmin(share_above(curve, limit), seen) : share_above(curve, limit);
    bool majority = excludes_half(share, life_curve_samples(curve, limit)) && (share > 0.5) == is_long;
    bool few = curve->at[0].at_risk < MANY;
    bool bound = mean->restricted && !is_long;
    return away > confidence * mean->error && (majority || (!few && !bound));
}

/* What the mean is at most, as no lifetime exceeds the run. */
static double mean_at_most(const struct life_curve *curve, const struct life_mean *mean, double run) {
    double left = mean->restricted && run > mean->limit ? run - mean->limit : 0;
    return mean->value + left * (curve->count != 0 ? curve->at[curve->count - 1].survival : 1);
}

static void judge(struct life_summary *summary, const struct life_heap *heap, const struct life_site *group,
                  const struct life_rule *rule) {
    struct life_curve curve;
    double run = life_run(heap, rule->clock), limit = run * rule->share;
    life_curve_make(&curve, group, rule->clock, LIFE_BY_MEMORY);
    summary->long_memory = run > 0 && curve.count ? share_above(&curve, limit) : NAN;
    life_curve_make(&curve, group, rule->clock, LIFE_BY_OBJECTS);
    const struct life_mean *mean = &summary->mean[rule->clock];
    summary->mean_share = summary->long_share = summary->long_error = NAN;
    if (run <= 0 || !mean->known) {
        return;
    }
    const struct life_point *point = life_curve_at(&curve, limit);
    summary->mean_share = mean->value / run;
    summary->long_share = point ? point->survival : 1;
    summary->long_error = point ? point->error : 0;
    double most = mean_at_most(&curve, mean, run);
    bool capped = mean->restricted && most + confidence * mean->error < limit;
    bool unwatched = mean->restricted && !capped && (mean->limit < limit || summary->long_share > 0.5);
    double seen = heap->state.mechanism == EDEN_MECHANISM_ORACLE ? 1 : share_seen(group);
    summary->found_late = mean->value > limit && mean_at_least(&curve, mean, seen) <= limit;
    bool is_unknown = summary->found_late || (mean->value <= limit && unwatched);
    summary->verdict = is_unknown ? LIFE_UNKNOWN : mean->value > limit ? LIFE_LONG : LIFE_SHORT;
    summary->enough =
        summary->verdict != LIFE_UNKNOWN && ((capped && curve.count != 0 && curve.at[0].at_risk >= MANY) ||
                                             is_enough(&curve, mean, limit, seen, summary->verdict == LIFE_LONG));
}

void life_summarise(struct life_summary *summary, const struct life_heap *heap, const struct life_site *group,
                    const struct life_site *total, const struct life_rule *rule) {
    *summary = (struct life_summary){
        .births = group->births.count,
        .deaths = life_sums_of(group, LIFE_DIED, 0).count,
        .censored = life_sums_of(group, LIFE_CENSORED, 0).count,
        .objects = life_objects(&group->births),
        .bytes = (double)group->births.weight_bytes,
        .allocation_share = NAN,
        .memory_share = NAN,
    };
    if (total->births.weight != 0) {
        summary->allocation_share = (double)group->births.weight / (double)total->births.weight;
    }
    if (total->births.weight_bytes != 0) {
        summary->memory_share = (double)group->births.weight_bytes / (double)total->births.weight_bytes;
    }
    for (enum life_clock clock = 0; clock < LIFE_CLOCKS; clock++) {
        summary->mean[clock] = life_mean_of(group, clock, life_run(heap, clock));
    }
    judge(summary, heap, group, rule);
}

/* ---- advice ------------------------------------------------------------------------------------------------------ */

bool life_next_sampling(const struct life_heap *heap, char text[LIFE_ADVICE_MAX]) {
    uint64_t rate = heap->state.rate;
    uint32_t sampling = heap->state.sampling;
    bool in_bytes = sampling == EDEN_SAMPLE_BYTES || sampling == EDEN_SAMPLE_REFILL;
    if (!heap->begun || (!in_bytes && sampling != EDEN_SAMPLE_WINDOW && rate <= 1)) {
        return false;
    }
    /* Below that distance most objects are sampled anyway, and all of them cost less. */
    if (in_bytes && rate / 8 >= 64) {
        snprintf(text, LIFE_ADVICE_MAX, "bytes=%" PRIu64, rate / 8);
    } else if (!in_bytes && sampling != EDEN_SAMPLE_WINDOW && rate > 2) {
        snprintf(text, LIFE_ADVICE_MAX, "1/%d", rate > 1000 ? 1000 : rate > 100 ? 100 : 2);
    } else {
        snprintf(text, LIFE_ADVICE_MAX, "all");
    }
    return true;
}
