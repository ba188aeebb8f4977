/* What the world takes stock of: energy by where it came from and went to, births, deaths.
 *
 * Exact, by the species' own units, whatever the run:
 *   grass:   initial + grown = eaten + left;                eaten = goats' intake
 *   goats:   initial + intake = respired + lost by death + left;    lost by wolves = wolves' intake + wasted
 *   wolves:  initial + intake = respired + lost by death + left
 * where left is counted at the end, animal by animal. What is given to the young stays within the species: it is
 * shown but is no term. */
#ifndef AGENTS_LEDGER_H
#define AGENTS_LEDGER_H

#include "model.h"

struct species_ledger {
    int64_t births;
    int64_t deaths[DEATHS];
    int64_t initial, intake, respired, given, left; /* energy; given: to the young */
    int64_t lost[DEATHS];                           /* energy at death, by its cause */
};

struct ledger {
    int64_t grass_initial, grass_grown, grass_left;
    int64_t wasted; /* what is left of caught goats */
    struct species_ledger of[SPECIES];
};

#endif
