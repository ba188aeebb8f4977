/* The census: what lives in a heap after a full collection, class by class. */
#ifndef EDEN_OBSERVE_CENSUS_H
#define EDEN_OBSERVE_CENSUS_H

#include "heap/observer.h"

struct census {
    struct observer observer; /* first */
};

void census_subscribe(struct census *census, eden_heap *heap);

#endif
