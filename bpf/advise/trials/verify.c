/* Pairs, and nothing fancier: each pair is one run as it is and one with the options, right after each other, and which
 * goes first alternates. What is compared is the ratio within a pair (spread.h says why), and a gain is claimed only
 * where the interval of the ratios excludes 1. One run goes before them all: it fills the caches of files that the
 * command reads, and shows what is wrong with the command before time is spent on it.
 *
 * That the program prints the same is checked too: parameters of a collector must not change what a program does. A
 * program that never prints the same twice can't be checked so, which the default runs among themselves show. */
#include "advise/trials/verify.h"
#include "util/interrupt.h"
#include "util/message.h"

const char *const verify_names[VERIFY_MEASURES] = {"time_s",   "cpu_s",       "gc_s",
                                                   "gc_share", "max_pause_s", "memory_bytes"};

struct series {
    double value[VERIFY_MEASURES][SPREAD_MOST];
    uint64_t hash[SPREAD_MOST + 1], bytes[SPREAD_MOST + 1]; /* of the output; defaults: the run before the pairs, too */
    size_t outputs;
};

static void add(struct series *series, size_t pair, const struct trial_figures *figures) {
    double wall = (double)figures->wall_ns, gc = (double)figures->figure[EDEN_FIGURE_gc_ns];
    series->value[VERIFY_TIME][pair] = wall / 1e9;
    series->value[VERIFY_CPU][pair] = (double)figures->cpu_ns / 1e9;
    series->value[VERIFY_GC][pair] = gc / 1e9;
    series->value[VERIFY_SHARE][pair] = wall > 0 ? gc / wall : 0;
    series->value[VERIFY_PAUSE][pair] = (double)figures->figure[EDEN_FIGURE_max_pause_ns] / 1e9;
    series->value[VERIFY_MEMORY][pair] = (double)figures->peak_bytes;
}

static void add_output(struct series *series, const struct trial_figures *figures) {
    series->hash[series->outputs] = figures->output_hash;
    series->bytes[series->outputs++] = figures->output_bytes;
}

static bool all_print(const struct series *series, uint64_t hash, uint64_t bytes) {
    for (size_t i = 0; i < series->outputs; i++) {
        if (series->hash[i] != hash || series->bytes[i] != bytes) {
            return false;
        }
    }
    return true;
}

static enum verify_output compare_output(const struct series series[VERIFY_SIDES]) {
    const struct series *original = &series[VERIFY_DEFAULT];
    if (!all_print(original, original->hash[0], original->bytes[0])) {
        return VERIFY_CHANGES;
    }
    return all_print(&series[VERIFY_TUNED], original->hash[0], original->bytes[0]) ? VERIFY_SAME : VERIFY_DIFFERS;
}

static void summarize(const struct series series[VERIFY_SIDES], struct verify_result *result) {
    for (int i = 0; i < VERIFY_MEASURES; i++) {
        const double *original = series[VERIFY_DEFAULT].value[i], *tuned = series[VERIFY_TUNED].value[i];
        result->side[VERIFY_DEFAULT][i] = spread_of(original, result->pairs);
        result->side[VERIFY_TUNED][i] = spread_of(tuned, result->pairs);
        result->ratio[i] = spread_of_ratios(original, tuned, result->pairs);
    }
    result->output = compare_output(series);
}

static void tell_pair(size_t pair, size_t pairs, const struct series series[VERIFY_SIDES]) {
    const struct series *original = &series[VERIFY_DEFAULT], *tuned = &series[VERIFY_TUNED];
    message_print("pair %zu of %zu: time %.3f s and %.3f s tuned, GC %.3f s and %.3f s", pair + 1, pairs,
                  original->value[VERIFY_TIME][pair], tuned->value[VERIFY_TIME][pair], original->value[VERIFY_GC][pair],
                  tuned->value[VERIFY_GC][pair]);
}

bool verify_run(char *const *command, const char *options, size_t pairs, struct verify_result *result,
                struct failure *why) {
    static const char *const none = "";
    struct series series[VERIFY_SIDES] = {0};
    struct trial_figures figures;
    *result = (struct verify_result){0};
    enum trial_outcome outcome = trial_run(command, none, 0, &figures, why);
    if (outcome != TRIAL_RAN) {
        return false;
    }
    add_output(&series[VERIFY_DEFAULT], &figures);
    for (size_t pair = 0; pair < pairs && outcome == TRIAL_RAN; pair++) {
        for (size_t turn = 0; turn < VERIFY_SIDES && outcome == TRIAL_RAN; turn++) {
            size_t side = (pair + turn) % VERIFY_SIDES;
            outcome = trial_run(command, side == VERIFY_TUNED ? options : none, 0, &figures, why);
            if (outcome == TRIAL_RAN) {
                add(&series[side], pair, &figures);
                add_output(&series[side], &figures);
                if (pair == 0) {
                    result->first[side] = figures;
                }
            }
        }
        if (outcome == TRIAL_RAN) {
            result->pairs++;
            tell_pair(pair, pairs, series);
        }
    }
    result->interrupted = outcome == TRIAL_INTERRUPTED;
    if (result->pairs == 0 || (outcome != TRIAL_RAN && !result->interrupted)) {
        return false;
    }
    summarize(series, result);
    return true;
}
