/* Few, noisy numbers: their median, how far they spread, and what follows from that. */
#ifndef EDEN_TUNE_STATS_H
#define EDEN_TUNE_STATS_H

#include <jansson.h>
#include <stddef.h>

#define STATS_MOST 100 /* numbers */

struct stats {
    size_t count;
    double median, least, most; /* NAN of none */
    double low, high;           /* an interval that holds the true median with this confidence */
    double confidence;          /* 0 to 1 */
};

/* Of at most STATS_MOST values, in any order; they may be INFINITY but not NAN. */
struct stats stats_of(const double *values, size_t count);

/* b / a of each pair, and their spread: 0 / 0 is 1, and anything else / 0 INFINITY. */
struct stats stats_of_ratios(const double *a, const double *b, size_t count);

enum verdict { VERDICT_LESS, VERDICT_MORE, VERDICT_NONE, VERDICT_TOO_FEW };

/* What ratios say: less or more than 1 where the interval excludes 1, and has a confidence of nine in ten at least. */
enum verdict stats_verdict(const struct stats *ratios);

/* {"median", "min", "max", "low", "high"}; what is not finite is null. */
json_t *stats_json(const struct stats *spread);

#endif
