/* What is to be said, besides the figures, of a model of lifetimes. */
#ifndef EDEN_LIFE_SAY_H
#define EDEN_LIFE_SAY_H

#include "model/lifetimes/model.h"

/* Reports on stderr the heaps that did not profile as requested (eden_batches.h), those without a reported end, and the
 * losses of the heaps themselves. */
void life_say(const struct life_model *model, uint64_t mailbox);

#endif
