/* Promotion in place: a scavenge that copies nothing. */
#ifndef EDEN_YOUNG_PROMOTE_H
#define EDEN_YOUNG_PROMOTE_H

#include "heap/heap.h"

/* All that is young becomes old where it is, and new space is elsewhere, and empty. False: nothing has been done. */
bool promote_in_place(eden_heap *heap, struct scavenge_pass *pass);

#endif
