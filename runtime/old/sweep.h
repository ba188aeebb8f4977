/* Sweeping: what marking did not reach becomes free. */
#ifndef EDEN_OLD_SWEEP_H
#define EDEN_OLD_SWEEP_H

#include "heap/heap.h"

struct tally sweep_old(eden_heap *heap); /* unmarks; leaves the gaps of each segment in its chain. What was freed */
void sweep_free_gaps(eden_heap *heap, struct segment *segment); /* makes them free chunks */
/* Makes fillers of the dead among the young; bytes of them. Adds what lives to *live. */
uint64_t sweep_young(eden_heap *heap, struct tally *live);

#endif
