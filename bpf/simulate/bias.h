/* Tenure bias: whether a scavenge tenures first the survivors that live on or those that die soon, as recorded. */
#ifndef EDEN_SIMULATE_BIAS_H
#define EDEN_SIMULATE_BIAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bias_kind { BIAS_FRESH, BIAS_PAST, BIAS_KINDS }; /* survivors of eden, of the semispace */
enum { BIAS_HORIZONS = 12 }; /* soon: within the recorded eden, twice, four times... as many bytes */

struct bias_sums {
    double bytes, tenured;
    double lives[BIAS_HORIZONS], tenured_lives[BIAS_HORIZONS]; /* of these, what lives on */
};

struct bias {
    uint64_t eden; /* recorded; 0: nothing is learnt */
    /* Owned; a collection each. Differences until finished. */
    struct bias_sums *sums[BIAS_KINDS];
    /* Of being tenured: of those that live on over those that die soon. */
    double odds[BIAS_KINDS][BIAS_HORIZONS];
};

struct simulate_history;
struct eden_life_record;

void bias_clear(struct bias *bias);
/* All collections must have been added. False: no memory. */
bool bias_object(struct bias *bias, const struct simulate_history *history, const struct eden_life_record *record);
void bias_finish(struct bias *bias, size_t collections);

/* The tenured shares of survivors that die soon and of those that live on, if `bytes` of both together are tenured. */
struct bias_shares {
    double soon, lives;
};
struct bias_shares bias_shares(double soon, double lives, double tenured, double odds);

/* Soon being within so large an eden. 1: it makes no difference, or is not known. */
double bias_odds(const struct bias *bias, enum bias_kind kind, double eden);

#endif
