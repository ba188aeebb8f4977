/* What is to be said, besides the figures, of a model of lifetimes. */
#ifndef EDEN_LIFE_SAY_H
#define EDEN_LIFE_SAY_H

#include "model/lifetimes/model.h"

/* Tells on stderr which heaps profiled otherwise than the request (eden_batches.h) asked, whose end was not told, and
 * what the heaps themselves lost. */
void life_say(const struct life_model *model, uint64_t mailbox);

#endif
