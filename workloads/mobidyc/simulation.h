/* A simulation from its start to its last step. */
#ifndef AGENTS_SIMULATION_H
#define AGENTS_SIMULATION_H

#include "world.h"

/* Makes the world: patches, and so many animals of each species. world: program, mutator, roots, random, width and
 * height are set. May collect. False, after program_fail, where memory is exhausted; so does simulation_run. */
bool simulation_new(struct world *world, const int64_t animats[SPECIES]);

/* Does so many steps, then completes the ledger. May collect. */
bool simulation_run(struct world *world, int64_t steps);

#endif
