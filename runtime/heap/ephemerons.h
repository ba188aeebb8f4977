/* Ephemerons and weak objects. */
#ifndef EDEN_HEAP_EPHEMERONS_H
#define EDEN_HEAP_EPHEMERONS_H

#include "heap/object.h"
#include "heap/observer.h"
#include "heap/space.h"

/* The keys, not reached yet, that ephemerons wait for. */
struct pending_keys {
    eden_value *keys;
    size_t count, room;
};
struct mourners {
    eden_value *queue;
    size_t next, end, room;
};
struct weak_list { /* weak objects that this collection has reached */
    eden_value *objects;
    size_t count, room;
};

#define EDEN_HEADER_PENDING (EDEN_HEADER_FORWARDED | EDEN_HEADER_MARKED) /* of a pending key */
enum { FORMAT_PENDING = 7 }; /* of an ephemeron whose first slot is not its key for now */
static inline bool ephemerons_is_pending(uint64_t header) {
    return (header & EDEN_HEADER_PENDING) == EDEN_HEADER_PENDING;
}

bool ephemerons_wait(eden_heap *heap, eden_value ephemeron, eden_value key); /* false: no memory, treat it as strong */
uint64_t ephemerons_real_header(eden_value object);
/* A pending key has been reached: call before inspecting it. What waited goes on the mark stack. */
void ephemerons_release(eden_heap *heap, eden_value key);
/* Nothing is left to scan: fires what still waits and reaches the keys, which releases it. False: none waited. */
bool ephemerons_fire(eden_heap *heap, void (*reach_key)(void *context, eden_value key), void *context);
void ephemerons_destroy(eden_heap *heap);

bool ephemerons_note_weak(eden_heap *heap, eden_value object); /* false: no memory, treat it as strong */
/* Sets the weak slots of all noted objects to what `now` returns for them. */
struct tally ephemerons_clear_weak(eden_heap *heap, observer_now *now, void *context);

#endif
