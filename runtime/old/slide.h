/* Compaction by sliding. */
#ifndef EDEN_OLD_SLIDE_H
#define EDEN_OLD_SLIDE_H

#include "heap/heap.h"

bool slide(eden_heap *heap); /* false, and nothing done, where its tables find no memory */

#endif
