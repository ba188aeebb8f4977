/* Full collections. */
#ifndef EDEN_OLD_FULL_H
#define EDEN_OLD_FULL_H

#include "heap/heap.h"

void full_collect(eden_heap *heap, enum eden_full_cause cause, size_t requested);
void full_collect_sliding(eden_heap *heap, size_t requested); /* cause: limit */
/* After a scavenge, where old space has grown, or a tool has asked. Then compat.growth=refill has its turn. */
void full_collect_if_grown(eden_heap *heap);

#endif
