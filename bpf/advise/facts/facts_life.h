/* What sampled objects add to the facts. */
#ifndef EDEN_TUNE_FACTS_LIFE_H
#define EDEN_TUNE_FACTS_LIFE_H

#include "advise/facts/facts_read.h"

/* Fills what is of lifetimes in the facts of each heap that was sampled. False and why where they can't be read. */
bool tune_facts_add_lifetimes(struct tune_heaps *heaps, struct recording *recording, struct failure *why);

#endif
