/* The registry: every heap of the process. */
#ifndef EDEN_HEAP_REGISTRY_H
#define EDEN_HEAP_REGISTRY_H

#include "heap/object.h"

void registry_add(eden_heap *heap);
/* False: it was not there, for it is reported at exit; then that is done. */
bool registry_remove(eden_heap *heap);
/* Calls `report` for each heap of the list and takes it out. */
void registry_report_all(void (*report)(eden_heap *heap));

#endif
