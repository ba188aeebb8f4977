/* A heap with all that observes it: one block of memory, made and ended in create.c. */
#ifndef EDEN_API_INSTANCE_H
#define EDEN_API_INSTANCE_H

#include "api/hooks.h"
#include "check/check.h"
#include "heap/heap.h"
#include "observe/census.h"
#include "observe/events.h"
#include "pretenure/pretenure.h"
#include "profile/lifetimes.h"

struct instance {
    eden_heap heap; /* first: the API's functions get its address */
    struct events events;
    struct census census;
    struct pretenure pretenure;
    struct lifetimes lifetimes;
    struct check check;
    struct hooks hooks;
};

static inline struct instance *instance_of(eden_heap *heap) { return (struct instance *)heap; }

/* True, with last_error filled: `call` would collect, and may not, in a collection hook or a corrupt heap. */
bool instance_refuses(eden_heap *heap, const char *call);

#endif
