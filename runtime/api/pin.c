/* Pinning: an object that must not move, because C code holds a pointer into it.
 *
 * Old objects carry the pinned bit and the compactor steps around them. Young objects move at every scavenge, so a
 * young object is promoted first, by a scavenge of its own (cause `pin`) that tenures it whatever the policy says. That
 * is the simplest thing that is right, and it costs a scavenge: a program that pins much allocates large or pins old.
 */
#include "api/instance.h"
#include "old/full.h"
#include "young/scavenge.h"

eden_value eden_pin(eden_mutator *mutator, eden_value object) {
    eden_heap *heap = mutator->heap;
    if (!eden_is_object(object)) {
        return object;
    }
    check_object_of(heap, object, "eden_pin");
    if (!heap_is_young(heap, object)) {
        object_set(object, EDEN_HEADER_PINNED);
        return object;
    }
    if (instance_refuses(heap, "eden_pin of a young object")) {
        return EDEN_NONE;
    }
    EDEN_FRAME(mutator, local, 1);
    local[0] = object;
    /* Once more after a full collection, where old space had no room. */
    for (int attempt = 0; attempt < 2 && heap_is_young(heap, local[0]); attempt++) {
        if (attempt != 0) {
            full_collect(heap, EDEN_FULL_LIMIT, object_bytes(local[0]));
        }
        if (heap_is_young(heap, local[0])) {
            object_set(local[0], EDEN_HEADER_PINNED);
            scavenge(heap, EDEN_SCAVENGE_PIN);
        }
    }
    full_collect_if_grown(heap);
    if (heap_is_young(heap, local[0])) {
        size_t bytes = object_bytes(local[0]);
        error_fail(&heap->last_error, EDEN_NO_MEMORY, "cannot pin an object of %zu bytes: out of memory to promote it",
                   bytes);
        events_alloc_failed(heap, eden_index_of(local[0]), bytes, EDEN_FAILURE_MEMORY);
        return EDEN_NONE;
    }
    /* Whichever collection promoted it: where the pinning scavenge found no room it took the bit away. */
    object_set(local[0], EDEN_HEADER_PINNED);
    return local[0];
}

void eden_unpin(eden_mutator *mutator, eden_value object) {
    if (eden_is_object(object)) {
        check_object_of(mutator->heap, object, "eden_unpin");
        object_clear(object, EDEN_HEADER_PINNED);
    }
}
