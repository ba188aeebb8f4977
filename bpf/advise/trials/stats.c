/* The interval is that of the sign test: of n independent values, k or fewer lie below the true median with the
 * probability that n throws of a coin give k or fewer heads. So the k-th smallest and the k-th largest value hold it
 * between them with a confidence that depends on n alone, whatever the noise is like; and noise here is like nothing
 * simple: most runs are alike, some are much slower. Of 5 values, the least and the most hold it with 94%; of fewer,
 * no interval says enough. The largest k is taken that leaves 95%, or 1 where none does.
 *
 * Ratios are taken of pairs, runs that followed each other, because a machine whose speed drifts hits both. */
#include "advise/trials/stats.h"
#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Confidence of the interval from the k-th smallest to the k-th largest of n, k from 1. */
static double confidence_of(size_t k, size_t n) {
    double outside = 0, ways = 1;
    for (size_t i = 0; i < k; i++) {
        outside += ways;
        ways = ways * (double)(n - i) / (double)(i + 1);
    }
    double confidence = 1 - 2 * outside / pow(2, (double)n);
    return confidence > 0 ? confidence : 0;
}

struct stats stats_of(const double *values, size_t count) {
    double sorted[STATS_MOST];
    count = count < STATS_MOST ? count : STATS_MOST;
    if (count == 0) {
        return (struct stats){0, NAN, NAN, NAN, NAN, NAN, 0};
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = values[i];
    }
    qsort(sorted, count, sizeof *sorted, compare);
    size_t k = 1;
    while (confidence_of(k + 1, count) >= 0.95) {
        k++;
    }
    double middle = sorted[count / 2];
    return (struct stats){.count = count,
                          .median = count % 2 ? middle : (sorted[count / 2 - 1] + middle) / 2,
                          .least = sorted[0],
                          .most = sorted[count - 1],
                          .low = sorted[k - 1],
                          .high = sorted[count - k],
                          .confidence = confidence_of(k, count)};
}

struct stats stats_of_ratios(const double *a, const double *b, size_t count) {
    double ratios[STATS_MOST];
    count = count < STATS_MOST ? count : STATS_MOST;
    for (size_t i = 0; i < count; i++) {
        ratios[i] = a[i] > 0 ? b[i] / a[i] : b[i] > 0 ? INFINITY : 1;
    }
    return stats_of(ratios, count);
}

enum verdict stats_verdict(const struct stats *ratios) {
    if (ratios->confidence < 0.9) {
        return VERDICT_TOO_FEW;
    }
    return ratios->high < 1 ? VERDICT_LESS : ratios->low > 1 ? VERDICT_MORE : VERDICT_NONE;
}

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *stats_json(const struct stats *spread) {
    return json_pack("{s:o,s:o,s:o,s:o,s:o}", "median", number(spread->median), "min", number(spread->least), "max",
                     number(spread->most), "low", number(spread->low), "high", number(spread->high));
}
