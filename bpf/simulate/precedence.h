/* Whom a scavenge tenures first: of past survivors those that live on, or those that die soon. Learnt from a recorded
 * run. */
#ifndef EDEN_SIMULATE_PRECEDENCE_H
#define EDEN_SIMULATE_PRECEDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum precedence_kind { PRECEDENCE_FRESH, PRECEDENCE_PAST, PRECEDENCE_KINDS }; /* survivors of eden, of the semispace */
enum { PRECEDENCE_HORIZONS = 12 }; /* soon: within the recorded eden, twice, four times... as many bytes */

struct precedence_sums {
    double bytes, tenured;
    double lives[PRECEDENCE_HORIZONS], tenured_lives[PRECEDENCE_HORIZONS]; /* of these, what lives on */
};

struct precedence {
    uint64_t eden; /* recorded; 0: nothing is learnt */
    /* Owned; a collection each. Differences until finished. */
    struct precedence_sums *sums[PRECEDENCE_KINDS];
    /* Of being tenured: of those that live on over those that die soon. */
    double odds[PRECEDENCE_KINDS][PRECEDENCE_HORIZONS];
};

struct simulate_history;
struct eden_life_record;

void precedence_clear(struct precedence *precedence);
/* All collections must have been told. False: no memory. */
bool precedence_object(struct precedence *precedence, const struct simulate_history *history,
                       const struct eden_life_record *record);
void precedence_finish(struct precedence *precedence, size_t collections);

/* Which shares are tenured of those that die soon and of those that live on, if so many bytes of both together are. */
struct precedence_shares {
    double soon, lives;
};
struct precedence_shares precedence_shares(double soon, double lives, double tenured, double odds);

/* Soon being within so large an eden. 1: it makes no difference, or is not known. */
double precedence_odds(const struct precedence *precedence, enum precedence_kind kind, double eden);

#endif
