/* Marking: finds everything reachable, in both generations. */
#ifndef EDEN_OLD_MARK_H
#define EDEN_OLD_MARK_H

#include "heap/heap.h"

struct tally mark(eden_heap *heap); /* what was marked */

#endif
