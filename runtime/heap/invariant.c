#include "heap/invariant.h"
#include "heap/heap.h"

void invariant_fail(eden_heap *heap, const char *name) {
    if (heap->broken_invariant != NULL) {
        return;
    }
    heap->broken_invariant = name;
    heap_set_limit(heap); /* each allocation takes the slow path, which refuses it */
    error_fail(&heap->last_error, EDEN_CORRUPT, "heap '%s' is corrupt: %s", heap->info.name, name);
    OBSERVE(heap, invariant_broken, name);
}
