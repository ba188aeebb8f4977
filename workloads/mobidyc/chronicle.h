/* The chronicle: how much grass and how many animals there were at each step, and what that comes to. */
#ifndef AGENTS_CHRONICLE_H
#define AGENTS_CHRONICLE_H

#include "world.h"

/* What a quantity did from step 0 to the last. */
struct course {
    int64_t first, last, least, most, sum;
    int64_t swings; /* times it went from above its mean to below or back: 2 for each full oscillation */
};

/* ROOT_CHRONICLE becomes an empty chronicle. May collect; as chronicle_note, false after program_fail where memory is
 * exhausted. */
bool chronicle_new(struct world *world);
/* Notes the state of the world: the grass as given, the animals as listed. May collect. */
bool chronicle_note(struct world *world, int64_t grass);
/* slot: CENSUS_GRASS or CENSUS_ANIMATS + species. Does not collect. */
struct course chronicle_course(const struct world *world, size_t slot);

#endif
