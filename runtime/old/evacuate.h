/* Compaction by evacuation of the sparsest segments. */
#ifndef EDEN_OLD_EVACUATE_H
#define EDEN_OLD_EVACUATE_H

#include "heap/heap.h"

void evacuate_segments(eden_heap *heap); /* after sweeping; frees the gaps too */

#endif
