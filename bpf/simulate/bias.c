/* Tenure bias: which survivors a scavenge tenures first.
 *
 * 1. Purpose. A scavenge tenures past survivors in the order in which they lie in their semispace: the order in which
 *    the scavenge before reached them (runtime/young/tenure.c, scavenge.c). Survivors of eden overflow if they are
 *    reached last. A recording holds no references. But objects that are reached first may live long (the tables that
 *    roots refer to) or die soon, and the recording shows which: of each scavenge that tenured some survivors and kept
 *    others it has the deaths of both.
 *
 * 2. Terms. Soon: within the bytes until the next simulated scavenge. a: bytes tenured that live on; b: tenured that
 *    die soon; c: kept that live on; d: kept that die soon; n = a + b + c + d.
 *
 * 3. Algorithm. Over all scavenges, for survivors of eden and of the semispace apart, the odds ratio of Mantel and
 *    Haenszel (1959):
 *
 *        odds = sum of a d / n over sum of b c / n
 *
 *    The simulated run is assumed to have the same bias. An object survives eden at its first collection, and the
 *    semispace from the second on until it is tenured or found dead. It is added to differences at the ends of this
 *    range, which are summed up at the end.
 *
 * 4. Failure. If almost none or almost all survivors were tenured, the ratio is chance; it is bounded. */
#include "simulate/bias.h"
#include "simulate/history.h"
#include <math.h>
#include <stdlib.h>

static const double MOST_ODDS = 64;

void bias_clear(struct bias *bias) {
    for (int i = 0; i < BIAS_KINDS; i++) {
        free(bias->sums[i]);
    }
    *bias = (struct bias){0};
}

/* Survivors of the collections from first on, before end; the last of these tenured them, or not. */
static void add(const struct bias *bias, const struct simulate_history *history, struct bias_sums *sums, size_t first,
                size_t end, bool tenured, double bytes, uint64_t death) {
    if (first >= end || end > history->time_count) {
        return;
    }
    sums[first].bytes += bytes;
    sums[end].bytes -= bytes;
    sums[end - 1].tenured += tenured ? bytes : 0;
    for (int i = 0; i < BIAS_HORIZONS; i++) {
        uint64_t horizon = bias->eden << i;
        size_t last = death == UINT64_MAX ? end
                      : death > horizon   ? simulate_collections_until(history, death - horizon - 1)
                                          : 0;
        last = last < end ? last : end;
        if (last > first) {
            sums[first].lives[i] += bytes;
            sums[last].lives[i] -= bytes;
        }
        sums[end - 1].tenured_lives[i] += tenured && last == end ? bytes : 0;
    }
}

bool bias_object(struct bias *bias, const struct simulate_history *history, const struct eden_life_record *record) {
    if (bias->eden == 0 || record->flags & (EDEN_LIFE_BORN_OLD | EDEN_LIFE_NEPOTISM)) {
        return true;
    }
    for (int i = 0; i < BIAS_KINDS; i++) {
        if (!bias->sums[i]) {
            bias->sums[i] = calloc(history->time_count + 1, sizeof *bias->sums[i]);
            if (!bias->sums[i]) {
                return false;
            }
        }
    }
    bool tenured = record->flags & EDEN_LIFE_TENURED;
    uint64_t death = record->censored ? UINT64_MAX : record->death_bytes;
    size_t first = simulate_collections_until(history, record->birth_bytes);
    size_t end = tenured               ? simulate_collections_until(history, record->tenured_bytes)
                 : death == UINT64_MAX ? history->time_count
                                       : simulate_collections_until(history, death - 1);
    if (first >= end || (tenured && record->tenured_bytes >= death)) {
        return true;
    }
    double bytes = (double)record->bytes;
    add(bias, history, bias->sums[BIAS_FRESH], first, first + 1, tenured && end == first + 1, bytes, death);
    add(bias, history, bias->sums[BIAS_PAST], first + 1, end, tenured, bytes, death);
    return true;
}

static double odds(const struct bias_sums *all, size_t collections, int horizon) {
    double for_it = 0, against = 0;
    for (size_t i = 0; i < collections; i++) {
        const struct bias_sums *sums = &all[i];
        double a = sums->tenured_lives[horizon], b = sums->tenured - a;
        double c = sums->lives[horizon] - a, d = sums->bytes - sums->lives[horizon] - b;
        if (sums->bytes > 1) {
            for_it += a * fmax(d, 0) / sums->bytes;
            against += b * fmax(c, 0) / sums->bytes;
        }
    }
    if (for_it == 0 && against == 0) {
        return 1;
    }
    return fmax(for_it, against / MOST_ODDS) / fmax(against, for_it / MOST_ODDS);
}

static void sum_up(struct bias_sums *sums, size_t collections) {
    for (size_t i = 1; i < collections; i++) {
        sums[i].bytes += sums[i - 1].bytes;
        for (int j = 0; j < BIAS_HORIZONS; j++) {
            sums[i].lives[j] += sums[i - 1].lives[j];
        }
    }
}

void bias_finish(struct bias *bias, size_t collections) {
    for (int kind = 0; kind < BIAS_KINDS; kind++) {
        struct bias_sums *sums = bias->sums[kind];
        if (sums) {
            sum_up(sums, collections);
        }
        for (int i = 0; i < BIAS_HORIZONS; i++) {
            bias->odds[kind][i] = sums ? odds(sums, collections, i) : 1;
        }
    }
}

struct bias_shares bias_shares(double soon, double lives, double tenured, double odds) {
    double all = soon + lives;
    struct bias_shares shares = {tenured / all, tenured / all};
    double low = 0, high = 1;
    for (int i = 0; odds != 1 && tenured < all && i < 50; i++) {
        shares.soon = (low + high) / 2;
        shares.lives = odds * shares.soon / (1 - shares.soon + odds * shares.soon);
        if (shares.soon * soon + shares.lives * lives > tenured) {
            high = shares.soon;
        } else {
            low = shares.soon;
        }
    }
    return shares;
}

double bias_odds(const struct bias *bias, enum bias_kind kind, double eden) {
    if (bias->eden == 0 || eden <= 0) {
        return 1;
    }
    double horizon = round(log2(eden / (double)bias->eden));
    int i = horizon < 0 ? 0 : horizon >= BIAS_HORIZONS ? BIAS_HORIZONS - 1 : (int)horizon;
    return bias->odds[kind][i] > 0 ? bias->odds[kind][i] : 1;
}
