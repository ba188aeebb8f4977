/* Statistics over the model of lifetimes: of a site, of a class (all its sites merged), of a heap.
 *
 * The explanation stands in stats/curve.c (survival under censoring) and stats/lifetimes.c (weights, means, the rule of
 * short and long life, and whether there are enough samples for it). Nothing here keeps or changes the model. */
#ifndef EDEN_LIFE_STATS_H
#define EDEN_LIFE_STATS_H

#include "model/lifetimes/model.h"

/* ---- groups (stats/groups.c) ---- */

/* The sites of a heap as they are, or merged by class; those that most memory was allocated for first. */
struct life_groups {
    const struct life_site **at; /* owned; `count` of them, of the model or of `merged` */
    size_t count;
    struct life_site *merged; /* owned; NULL: by site */
    size_t merged_count;
    struct life_site total; /* all sites of the heap as one */
};

/* False: no memory; nothing is to be cleared then. The groups are good until the heap changes. */
bool life_groups_make(struct life_groups *groups, const struct life_heap *heap, bool by_site);
void life_groups_clear(struct life_groups *groups);

/* Adds what `from` holds to `into`, whose histograms are owned. False: no memory; `into` can still be cleared. */
bool life_site_merge(struct life_site *into, const struct life_site *from);

/* The sums of one outcome over those flags that have all bits of `flags`; 0: of all. */
struct life_sums life_sums_of(const struct life_site *site, enum life_outcome outcome, unsigned flags);

/* ---- survival (stats/curve.c) ---- */

enum life_measure { LIFE_BY_OBJECTS, LIFE_BY_MEMORY };

struct life_point {
    uint32_t bucket;
    uint64_t deaths, censored, at_risk; /* samples */
    double survival;                    /* share that lives longer than the bucket's upper edge */
    double error;                       /* Greenwood's standard error of it */
    double hazard;                      /* share of those at risk that died in the bucket */
};

struct life_curve {
    enum life_clock clock;
    size_t count;  /* of points: the buckets in which something ended, in order */
    bool censored; /* something was */
    struct life_point at[HISTOGRAM_BUCKETS];
};

void life_curve_make(struct life_curve *curve, const struct life_site *group, enum life_clock clock,
                     enum life_measure measure);

/* The last point whose bucket lies wholly at or below `time`; NULL: none does, all are alive then. */
const struct life_point *life_curve_at(const struct life_curve *curve, double time);

/* Samples that carry information about the share alive at a time: deaths before it, and what was seen alive at
 * it; less where some were censored on the way (stats/lifetimes.c). */
double life_curve_samples(const struct life_curve *curve, double time);

/* Wilson's 95% interval of a share seen in samples; 0 to 1 where there are none. */
struct life_interval {
    double low, high;
};
struct life_interval life_share_interval(double share, double samples);

struct life_percentile {
    bool known;     /* false: the curve does not fall that far, for what was censored */
    uint64_t value; /* nanoseconds, bytes or collections; where not known, it is above this (0: nothing ended at all) */
};

/* The smallest upper edge of a bucket at which at most 1 - percent / 100 are alive. */
struct life_percentile life_curve_percentile(const struct life_curve *curve, double percent);

struct life_mean {
    bool known;      /* something ended */
    bool restricted; /* some were censored: the mean of lifetimes cut at `limit`, a lower bound */
    double value;    /* nanoseconds, bytes or collections */
    double error;    /* standard error */
    double limit;
};

/* The mean as the area under the curve; `most`: what no lifetime exceeds, 0: not known. */
struct life_mean life_curve_mean(const struct life_curve *curve, double most);

/* ---- summaries (stats/lifetimes.c)
 * ------------------------------------------------------------------------------------ */

/* The length of the profile on a clock, in its unit; 0: not known (collections have none). */
double life_run(const struct life_heap *heap, enum life_clock clock);

/* What separates short from long: a share of the run on a clock, LIFE_NS or LIFE_BYTES. FiLiP's is 0.05 of time. */
struct life_rule {
    double share;
    enum life_clock clock;
};

enum life_verdict { LIFE_UNKNOWN, LIFE_SHORT, LIFE_LONG };
const char *life_verdict_name(enum life_verdict verdict); /* "unknown", "short-lived", "long-lived" */

/* Doubles are NAN where they are not known. */
struct life_summary {
    uint64_t births, deaths, censored; /* samples */
    double objects, bytes;             /* allocated, estimated from the samples */
    double allocation_share, memory_share;
    struct life_mean mean[LIFE_CLOCKS];
    double mean_share;             /* of the run, on the rule's clock */
    double long_share, long_error; /* of objects, that live longer than the rule's limit; its standard error */
    double long_memory;            /* of bytes */
    enum life_verdict verdict;     /* of the mean */
    bool enough;                   /* the samples suffice for the verdict */
    bool found_late;               /* the verdict is unknown, as scavenges are too far apart for it */
};

/* "?" follows where the samples do not suffice: "long-lived?". */
const char *life_verdict_text(const struct life_summary *summary);

/* `total`: what the shares refer to, as in life_groups. */
void life_summarise(struct life_summary *summary, const struct life_heap *heap, const struct life_site *group,
                    const struct life_site *total, const struct life_rule *rule);

/* The mean on one clock: exact where nothing was censored, else restricted. */
struct life_mean life_mean_of(const struct life_site *group, enum life_clock clock, double run);

/* Objects that sums stand for. */
double life_objects(const struct life_sums *sums);

enum { LIFE_ADVICE_MAX = 64 };
/* The next higher rate than that of the profile, as an argument of --sampling; false where all is sampled already, or
 * the profile's state is not known. */
bool life_next_sampling(const struct life_heap *heap, char text[LIFE_ADVICE_MAX]);

#endif
