/* The scavenger. */
#ifndef EDEN_YOUNG_SCAVENGE_H
#define EDEN_YOUNG_SCAVENGE_H

#include "heap/heap.h"

void scavenge(eden_heap *heap, enum eden_scavenge_cause cause);

/* After copying to `to`: where a copy is now, or, of an object that was not copied, itself; is it alive? A copy that
 * the first pass made and the second did not reach is dead. */
static inline eden_value scavenge_last_copy(const eden_heap *heap, const struct space *to, eden_value object,
                                            bool *is_alive) {
    uint64_t header = eden_header(object);
    while ((header & EDEN_HEADER_FORWARDED) != 0) {
        object = object_forwarded_to(header);
        header = eden_header(object);
    }
    *is_alive = (header & EDEN_HEADER_IN_PLACE) != 0 || object - to->start < to->limit - to->start ||
                !heap_is_young(heap, object);
    return object;
}

/* Where an object of the spaces being collected is now, or the last copy of one that was moved. */
static inline eden_value scavenge_place(const eden_heap *heap, const struct space *to, eden_value object,
                                        bool *is_alive) {
    uint64_t header = eden_header(object);
    *is_alive = (header & EDEN_HEADER_IN_PLACE) != 0;
    return (header & EDEN_HEADER_FORWARDED) != 0 ? scavenge_last_copy(heap, to, object_forwarded_to(header), is_alive)
                                                 : object;
}

#endif
