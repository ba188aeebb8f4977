/* The result of a simulation, on standard output. */
#ifndef AGENTS_PRINT_H
#define AGENTS_PRINT_H

#include "world.h"

/* One JSON object, or a table. False, after program_fail, where there is no memory for it or it can't be written. Do
 * not collect. */
bool print_json(struct world *world);
void print_table(const struct world *world);

#endif
