/* A model of the cost of scavenges, to choose the size of eden and the age of tenuring.
 *
 * 1. Purpose. Forecast, from one recording, what scavenges cost with another eden or with earlier tenuring.
 *
 * 2. Terms. The allocation clock counts allocated bytes. A boundary is a scavenge on that clock. Early tenuring: tenure
 *    at the second scavenge (tenure_fill=0, tenure_proportion=1).
 *
 * 3. Algorithm. A scavenge has a fixed cost (roots, remembered set, the stop itself) and a cost for each copied byte;
 *    dead objects cost nothing. With an eden m times as large there are 1/m of the scavenges. What they copy follows
 *    from the lifetimes:
 *    - An object that survived c scavenges and died young passed c boundaries. A larger eden keeps every m-th of them,
 *      so on average it is copied c / m times.
 *    - An object that was tenured after c copies and lived for L bytes passes L / (m eden) boundaries. It is copied
 * that often, but at most c times: the semispace grows with eden, and so does the amount of survivors. Early tenuring
 * copies no object more than twice. Its price: objects that survive a second scavenge and die young become garbage in
 * old space, which causes full collections. These are assumed to cost as much as the recorded ones or, without any,
 * what marking usually costs. Both costs are fitted to the recorded scavenges: the slope between those that copied
 * little and those that copied much, each by its first quartile, since other load only adds to durations. Without
 * records of single objects it is unknown what would be copied; then only the part that is proportional to the number
 * of scavenges is forecast.
 *
 * 4. Failure. A run of two different halves is taken for its mean. Page faults on first use, in the collector or in the
 *    program, are not modelled. A larger eden may exceed the cache. So gains are ranges, and `tune --verify` measures.
 */
#include "advise/facts/scavenges.h"
#include <math.h>
#include <stdlib.h>

enum { LEAST_SCAVENGES = 4, ENOUGH_TENURED = 30, ENOUGH_TO_COMPARE = 12 };

/* Marking and sweeping, by experience; for runs in which there was no full collection to measure it by. */
static const double FULL_NS_PER_BYTE = 2;
static const double FIXED_NS = 15e3; /* likewise, of a scavenge that finds nothing */
static const double TRACED_NS = 4e3; /* the time of probes within the reported duration of a scavenge */
static const double KIB = 1024, MIB = 1024 * 1024;
static const double NEAR_SHARE_OF_TIME = 0.005; /* a choice so near to the best is as good */
static const double CHEAP_SHARE = 0.125;        /* of the heap: so much more memory nobody misses */

struct sample { /* a scavenge */
    double ns, bytes;
};

static int by_copied(const void *a, const void *b) {
    const struct sample *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int by_number(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The duration of the first quartile and the mean of what was copied, of some scavenges. */
static struct sample middle(const struct sample *samples, size_t count, double *numbers) {
    struct sample middle = {0, 0};
    for (size_t i = 0; i < count; i++) {
        numbers[i] = samples[i].ns;
        middle.bytes += samples[i].bytes / (double)count;
    }
    qsort(numbers, count, sizeof *numbers, by_number);
    middle.ns = numbers[count / 4];
    return middle;
}

/* The pace of copying, where all scavenges are alike: the median of theirs, of those that copied anything of note. */
static double typical_pace(const struct sample *samples, size_t count, double *numbers) {
    size_t some = 0;
    for (size_t i = 0; i < count; i++) {
        if (samples[i].bytes >= 65536) {
            numbers[some++] = fmax(samples[i].ns - FIXED_NS, 0) / samples[i].bytes;
        }
    }
    qsort(numbers, some, sizeof *numbers, by_number);
    return some ? numbers[some / 4] : 0;
}

/* The sum of numbers, each counted as three times the median at most. */
static double usual_sum(double *numbers, size_t count) {
    double sum = 0;
    qsort(numbers, count, sizeof *numbers, by_number);
    for (size_t i = 0; i < count; i++) {
        sum += fmin(numbers[i], 3 * numbers[count / 2]);
    }
    return sum;
}

/* First quartiles, so that what else the machine does is not taken for the collector's. */
static void fit(struct scavenge_model *model, struct sample *samples, size_t count, double *numbers) {
    double slope = NAN;
    if (count >= ENOUGH_TO_COMPARE) {
        qsort(samples, count, sizeof *samples, by_copied);
        struct sample low = middle(samples, count / 3, numbers);
        struct sample high = middle(samples + count - count / 3, count / 3, numbers);
        if (high.bytes > 1.5 * low.bytes && high.bytes - low.bytes > 4096) {
            slope = (high.ns - low.ns) / (high.bytes - low.bytes);
        }
    }
    double all_ns = 0;
    for (size_t i = 0; i < count; i++) {
        all_ns += samples[i].ns;
        numbers[i] = fmax(samples[i].ns - TRACED_NS, 0);
    }
    model->seen_ns = usual_sum(numbers, count);
    slope = fmax(isnan(slope) ? typical_pace(samples, count, numbers) : slope, 0);
    model->ns_per_byte = model->copied_bytes > 0 ? fmin(slope, all_ns / model->copied_bytes) : 0;
    for (size_t i = 0; i < count; i++) {
        numbers[i] = samples[i].ns - model->ns_per_byte * samples[i].bytes;
    }
    qsort(numbers, count, sizeof *numbers, by_number);
    /* No more in all than was seen. */
    double rest = (all_ns - model->ns_per_byte * model->copied_bytes) / model->count;
    model->fixed_ns = fmax(fmin(numbers[count / 4] - TRACED_NS, rest), 0);
}

void scavenge_model_make(struct scavenge_model *model, const struct tune_facts *facts) {
    struct sample *samples = calloc(facts->pass_count + 1, sizeof *samples);
    double *numbers = calloc(facts->pass_count + 1, sizeof *numbers);
    size_t count = 0, fulls = 0;
    *model = (struct scavenge_model){.facts = facts, .eden_bytes = tune_number(facts, EDEN_PARAM_eden_size)};
    for (size_t i = 0; samples && numbers && i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        if (pass->full) {
            if (pass->cause == EDEN_FULL_RATIO) {
                numbers[fulls++] = (double)pass->duration_ns;
            }
        } else {
            struct sample *sample = &samples[count++];
            *sample = (struct sample){(double)pass->duration_ns, (double)(pass->survivors_after + pass->tenured_bytes)};
            model->copied_bytes += sample->bytes;
            model->tenured_bytes += (double)pass->tenured_bytes;
        }
    }
    model->full_ns = numbers ? usual_sum(numbers, fulls) : 0;
    model->peak_bytes = model->eden_bytes * 7 / 5 + tune_old_peak(facts);
    model->count = (double)count;
    model->known = numbers && count >= LEAST_SCAVENGES && model->eden_bytes > 0;
    if (model->known) {
        fit(model, samples, count, numbers);
    }
    free(samples);
    free(numbers);
}

double scavenge_copies(const struct tune_facts *facts) {
    return facts->details && facts->all.survivor_bytes > 0 ? facts->all.copied_bytes / facts->all.survivor_bytes : 0;
}

struct sums {
    double copied, tenured, garbage;
};

/* Over the sampled survivors. */
static struct sums sum_up(const struct scavenge_model *model, struct scavenge_choice choice) {
    const struct tune_survivors *survivors = model->facts->survivors;
    double eden = model->eden_bytes * choice.times, most = choice.early ? 2 : INFINITY;
    struct sums sums = {0, 0, 0};
    for (int bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
        double life = (double)histogram_lower((uint32_t)bucket) * KIB;
        for (int copies = 1; copies < TUNE_COPIES; copies++) {
            double young = survivors->died_young[bucket][copies], old = survivors->tenured[bucket][copies];
            double passed = fmin(life / eden, copies);
            sums.copied += young * fmin(copies / choice.times, most) + old * fmin(passed, most);
            sums.tenured += old * fmin(passed / copies, 1);
            sums.garbage += choice.early ? young * fmin(fmax(copies / choice.times - 1, 0), 1) : 0;
        }
    }
    return sums;
}

/* Growth by garbage brings on full collections. */
static double garbage_ns(const struct scavenge_model *model, double garbage) {
    const struct tune_facts *facts = model->facts;
    double ratio = tune_growth(facts), live = (double)tune_figure(facts, EDEN_FIGURE_old_used);
    double base = fmax(fmax(live, tune_number(facts, EDEN_PARAM_full_gc_min_old)), 1 * MIB);
    uint64_t fulls = tune_figure(facts, EDEN_FIGURE_full_collections);
    double each = fulls ? (double)tune_figure(facts, EDEN_FIGURE_full_ns) / (double)fulls : live * FULL_NS_PER_BYTE;
    return ratio > 0 ? garbage / (ratio * base) * each : 0;
}

void scavenge_forecast(const struct scavenge_model *model, struct scavenge_choice choice,
                       struct scavenge_forecast *forecast) {
    *forecast = (struct scavenge_forecast){.copied_bytes = model->copied_bytes};
    double full_ns = model->full_ns;
    if (model->facts->survivors && model->facts->all.survivor_bytes > 0) {
        struct sums now = sum_up(model, (struct scavenge_choice){1, false}), then = sum_up(model, choice);
        forecast->copied_bytes *= now.copied > 0 ? then.copied / now.copied : 1;
        full_ns *= now.tenured > 0 ? then.tenured / now.tenured : 1;
        forecast->garbage_bytes = then.garbage;
    }
    forecast->ns = model->count / choice.times * model->fixed_ns + model->ns_per_byte * forecast->copied_bytes +
                   full_ns + garbage_ns(model, forecast->garbage_bytes);
    forecast->more_bytes = (choice.times - 1) * model->eden_bytes * 7 / 5 + forecast->garbage_bytes;
}

struct scavenge_choice scavenge_choose(const struct scavenge_model *model) {
    struct scavenge_choice best = {1, false}, choice;
    struct scavenge_forecast forecast;
    double least_ns = INFINITY, least_bytes = INFINITY;
    int ways = tune_is_tenuring_decided(model->facts) ? 1 : 2; /* policy=auto tenures early as it is */
    double allocated = (double)tune_figure(model->facts, EDEN_FIGURE_allocated_bytes);
    /* Twice the heap; or what nobody misses. */
    double room =
        fmin(fmax(2 * model->peak_bytes, model->peak_bytes + 96 * MIB), tune_number(model->facts, EDEN_PARAM_max_heap));
    for (int pass = 0; pass < 2; pass++) {
        double near = pass ? fmax(least_ns * 1.1, least_ns + NEAR_SHARE_OF_TIME * (double)model->facts->wall_ns) : 0;
        for (choice.times = 1; choice.times < 4096; choice.times *= 2) {
            bool fits = model->peak_bytes + (choice.times - 1) * model->eden_bytes * 7 / 5 <= room &&
                        choice.times * model->eden_bytes <= allocated / 4;
            for (int early = 0; early < ways && (fits || choice.times == 1); early++) {
                choice.early = early;
                scavenge_forecast(model, choice, &forecast);
                if (pass == 0) {
                    least_ns = fmin(least_ns, forecast.ns);
                } else if (forecast.ns <= near && forecast.more_bytes < least_bytes) {
                    least_bytes = forecast.more_bytes;
                    best = choice;
                }
            }
        }
    }
    return best;
}

struct scavenge_choice scavenge_choose_cheap(const struct scavenge_model *model, bool early) {
    struct scavenge_choice best = {1, early}, choice = {1, early};
    struct scavenge_forecast forecast;
    double least_ns = INFINITY, limit = tune_number(model->facts, EDEN_PARAM_max_heap);
    double usual = eden_param(EDEN_PARAM_eden_size)->fallback;
    double allocated = (double)tune_figure(model->facts, EDEN_FIGURE_allocated_bytes);
    for (int pass = 0; pass < 2; pass++) {
        for (choice.times = 1; choice.times < 4096; choice.times *= 2) {
            double eden = choice.times * model->eden_bytes, more = (eden - model->eden_bytes) * 7 / 5;
            bool is_cheap = eden <= usual || more <= CHEAP_SHARE * model->peak_bytes;
            bool fits = model->peak_bytes + more <= limit && eden <= allocated / 4;
            if (choice.times > 1 && !(is_cheap && fits)) {
                break;
            }
            scavenge_forecast(model, choice, &forecast);
            if (pass == 0) {
                least_ns = fmin(least_ns, forecast.ns);
            } else if (forecast.ns <= least_ns * 1.1) {
                best = choice;
                break;
            }
        }
    }
    return best;
}

bool scavenge_plan_make(struct scavenge_plan *plan, const struct tune_facts *facts) {
    *plan = (struct scavenge_plan){.choice = {1, false}};
    scavenge_model_make(&plan->model, facts);
    if (!plan->model.known) {
        return false;
    }
    plan->choice = scavenge_choose(&plan->model);
    scavenge_forecast(&plan->model, (struct scavenge_choice){1, false}, &plan->now);
    scavenge_forecast(&plan->model, plan->choice, &plan->chosen);
    scavenge_forecast(&plan->model, (struct scavenge_choice){1, plan->choice.early}, &plan->without_eden);
    scavenge_forecast(&plan->model, (struct scavenge_choice){plan->choice.times, false}, &plan->without_early);
    return true;
}

double scavenge_eden(const struct scavenge_plan *plan, double least) {
    double limit = tune_number(plan->model.facts, EDEN_PARAM_max_heap), times = fmax(least, plan->choice.times);
    double fits = 1 + (limit - plan->model.peak_bytes) * 5 / 7 / plan->model.eden_bytes;
    return plan->model.eden_bytes * fmax(1, fmin(times, fits));
}

double scavenge_eden_ns(const struct scavenge_plan *plan) {
    return fmin(plan->without_eden.ns, plan->now.ns) - plan->chosen.ns;
}

double scavenge_early_ns(const struct scavenge_plan *plan) {
    return fmin(plan->without_early.ns, plan->now.ns) - plan->chosen.ns;
}

double scavenge_gain_most(double gain) { return 1 - (1 - gain) * (1 - gain); }

/* ---- tenuring ---------------------------------------------------------------------------------------------------- */

/* Of a scavenge that tenures by age, what is above the threshold of the one before overflowed. */
void scavenge_overflow_sum(struct scavenge_overflow *overflow, const struct tune_facts *facts) {
    const struct tune_pass *before = NULL;
    *overflow = (struct scavenge_overflow){0};
    double criterion = tune_number(facts, EDEN_PARAM_tenure_criterion);
    bool by_age = criterion == EDEN_BY_AGE || criterion == EDEN_BY_NOTHING;
    uint64_t worst = 0;
    for (size_t i = 0; by_age && i < facts->pass_count; i++) {
        const struct tune_pass *pass = &facts->passes[i];
        if (pass->full) {
            continue;
        }
        uint64_t aged =
            before && before->threshold > before->semispace_start ? before->threshold - before->semispace_start : 0;
        bool full_house =
            (double)pass->survivors_after >= 0.8 * (double)(pass->semispace_limit - pass->semispace_start);
        if (before && pass->tenured_bytes > aged && full_house && pass->cause != EDEN_SCAVENGE_PIN) {
            uint64_t bytes = pass->tenured_bytes - aged;
            overflow->bytes += bytes;
            overflow->passes++;
            overflow->first = overflow->first ? overflow->first : pass;
            if (bytes > worst) {
                worst = bytes;
                overflow->worst = pass;
            }
        }
        before = pass;
    }
}

double scavenge_wasted(const struct tune_facts *facts) {
    bool known = facts->details && facts->all.tenured_samples >= ENOUGH_TENURED && facts->all.tenured_bytes > 0;
    return known ? facts->all.wasted_bytes / facts->all.tenured_bytes : -1;
}
