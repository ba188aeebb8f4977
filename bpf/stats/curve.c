/* Survival curves with censored lifetimes: Kaplan and Meier's product-limit estimator
 * ("Nonparametric Estimation from Incomplete Observations", JASA 53, 1958).
 *
 * An object that is alive at the end of the profile has lived at least so long: its lifetime is censored. To leave it
 * out would make lifetimes too short, to count it as dead shorter still. The estimator uses it for as long as it was
 * seen: of those alive at the beginning of bucket i (at risk, n_i) the share h_i = d_i / n_i dies in it, and
 *
 *     S(upper edge of bucket i) = (1 - h_1) (1 - h_2) ... (1 - h_i).
 *
 * Buckets and ties. The histogram's buckets (at most 1/16 of their lower edge wide) take the place of single times. All
 * deaths of a bucket happen at its upper edge: percentiles are never too small, and too large by at most 6.25%. What is
 * censored in a bucket is at risk in it, and leaves after its deaths; with ties among exact times this is Kaplan and
 * Meier's own convention. The death of an object is known to lie between two collections, and the model has the later
 * one: all of the curve is an upper bound in that respect.
 *
 * Weights. Each sample stands for 1 / p objects, p being the probability with which it was taken: h_i is the quotient
 * of sums of weights (Horvitz and Thompson 1952), or of weights times sizes, where the curve is by memory. The standard
 * error is Greenwood's (1926),
 *
 *     S^2 (sum of h_j / ((1 - h_j) m_j) for j <= i),
 *
 * with m_j the *number of samples* at risk. That is exact where all weights of a group are alike: an object's weight
 * follows from its size, and the objects of a class are mostly of one size. Where they differ, the effective number of
 * samples, (sum w)^2 / (sum w^2), is smaller than m_j, and the reported error is too small; the histograms do not hold
 * sum w^2, so it cannot be computed here.
 *
 * A percentile is reported only if the curve falls that far. If 30% of the objects are alive at the end, the time by
 * which 90% are dead is unknown: it is above the longest time seen.
 *
 * The mean is the area under the curve up to the longest time seen. Within a bucket the curve falls in a straight line,
 * as if deaths were spread evenly in it; the upper edge would be too large each time. If the curve ends above 0, this
 * is the restricted mean, of lifetimes cut at the limit. Its variance is the sum over i of A_i^2 h_i / ((1 - h_i) m_i),
 * with A_i the area right of bucket i's middle (Kaplan and Meier); without censoring that is the variance
 * of the lifetimes by the number of samples. */
#include "stats/lifetimes.h"
#include "util/sum.h"
#include <math.h>

static uint64_t weight_of(const struct life_bucket *bucket, enum life_measure measure) {
    return measure == LIFE_BY_MEMORY ? bucket->weight_bytes : bucket->weight;
}

static void sum_up(const struct life_histogram *histogram, enum life_measure measure, uint64_t *count, double *weight) {
    for (size_t i = 0; i < histogram->count; i++) {
        sum_add(count, histogram->at[i].count);
        *weight += (double)weight_of(&histogram->at[i], measure);
    }
}

/* The first of the two histograms' next buckets. */
static uint32_t next_bucket(const struct life_histogram *died, size_t i, const struct life_histogram *censored,
                            size_t j) {
    uint32_t a = i < died->count ? died->at[i].bucket : UINT32_MAX;
    uint32_t b = j < censored->count ? censored->at[j].bucket : UINT32_MAX;
    return a < b ? a : b;
}

void life_curve_make(struct life_curve *curve, const struct life_site *group, enum life_clock clock,
                     enum life_measure measure) {
    const struct life_histogram *died = &group->histogram[LIFE_DIED][clock];
    const struct life_histogram *censored = &group->histogram[LIFE_CENSORED][clock];
    uint64_t left = 0;
    double weight = 0, survival = 1, greenwood = 0;
    curve->clock = clock;
    curve->count = 0;
    curve->censored = censored->count != 0;
    sum_up(died, measure, &left, &weight);
    sum_up(censored, measure, &left, &weight);
    for (size_t i = 0, j = 0; (i < died->count || j < censored->count) && curve->count < HISTOGRAM_BUCKETS;) {
        struct life_point *point = &curve->at[curve->count++];
        double dead = 0, gone = 0;
        *point = (struct life_point){.bucket = next_bucket(died, i, censored, j), .at_risk = left};
        if (i < died->count && died->at[i].bucket == point->bucket) {
            point->deaths = died->at[i].count;
            dead = (double)weight_of(&died->at[i++], measure);
        }
        if (j < censored->count && censored->at[j].bucket == point->bucket) {
            point->censored = censored->at[j].count;
            gone = (double)weight_of(&censored->at[j++], measure);
        }
        /* Sums of 64-bit integers in doubles can miss by their last bits. */
        bool all = left == point->deaths || dead >= weight;
        point->hazard = point->deaths == 0 || weight <= 0 ? 0 : all ? 1 : dead / weight;
        survival *= 1 - point->hazard;
        if (point->hazard < 1 && left != 0) {
            greenwood += point->hazard / ((1 - point->hazard) * (double)left);
        }
        point->survival = survival;
        point->error = survival * sqrt(greenwood);
        left = sum_less(sum_less(left, point->deaths), point->censored);
        weight -= dead + gone;
    }
}

const struct life_point *life_curve_at(const struct life_curve *curve, double time) {
    const struct life_point *last = NULL;
    for (size_t i = 0; i < curve->count && (double)histogram_upper(curve->at[i].bucket) <= time; i++) {
        last = &curve->at[i];
    }
    return last;
}

struct life_percentile life_curve_percentile(const struct life_curve *curve, double percent) {
    const double rounding = 1e-9;
    struct life_percentile found = {0};
    for (size_t i = 0; i < curve->count; i++) {
        uint32_t bucket = curve->at[i].bucket;
        /* All of them lived as long as the last bucket's lower edge; it has no upper one if it is the open one. */
        found.value = histogram_lower(bucket);
        if (curve->at[i].survival <= 1 - percent / 100 + rounding && histogram_upper(bucket) != UINT64_MAX) {
            found.known = true;
            found.value = histogram_upper(bucket);
            break;
        }
    }
    return found;
}

/* Where the last bucket ends, for the mean: no lifetime is longer than the run. */
static double last_edge(uint32_t bucket, double most) {
    double lower = (double)histogram_lower(bucket), upper = (double)histogram_upper(bucket);
    if (histogram_upper(bucket) == UINT64_MAX) {
        upper = most > lower ? most : lower;
    }
    return most > 0 && most < upper ? fmax(most, lower) : upper;
}

struct life_mean life_curve_mean(const struct life_curve *curve, double most) {
    struct life_mean mean = {.known = curve->count != 0, .restricted = curve->censored};
    double area = 0, variance = 0, right = 0;
    /* From the right: what is right of each bucket is known when it is needed. */
    for (size_t i = curve->count; i-- > 0;) {
        const struct life_point *point = &curve->at[i];
        double before = i > 0 ? curve->at[i - 1].survival : 1;
        double lower = (double)histogram_lower(point->bucket), upper = (double)histogram_upper(point->bucket);
        if (i + 1 == curve->count) {
            upper = mean.limit = last_edge(point->bucket, most);
        }
        double start = i > 0 ? (double)histogram_upper(curve->at[i - 1].bucket) : 0;
        double behind = right + point->survival * (upper - lower) / 2;
        if (point->hazard < 1 && point->at_risk != 0) {
            variance += behind * behind * point->hazard / ((1 - point->hazard) * (double)point->at_risk);
        }
        right += (upper - lower) * (before + point->survival) / 2 + (lower - start) * before;
        area = right;
    }
    mean.value = area;
    mean.error = sqrt(variance);
    return mean;
}
