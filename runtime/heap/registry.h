/* The registry: every heap of the process. */
#ifndef EDEN_HEAP_REGISTRY_H
#define EDEN_HEAP_REGISTRY_H

#include "heap/object.h"

void registry_add(eden_heap *heap);
bool registry_remove(eden_heap *heap); /* false: it was not there (already reported at exit) */
eden_heap *registry_first(void);       /* NULL: there is none */

#endif
