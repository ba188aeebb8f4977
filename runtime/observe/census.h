/* The census: what lives in a heap after a full collection, class by class. */
#ifndef EDEN_OBSERVE_CENSUS_H
#define EDEN_OBSERVE_CENSUS_H

#include "heap/observer.h"
#include <stddef.h>
#include <stdint.h>

struct census_sums {
    struct tally *of_class; /* by index; the last one is of heap->observer_class. NULL: there are none */
    uint32_t count;
};

struct census {
    struct observer observer; /* first */
    struct census_sums before,
        latest; /* of a heap that is nearly full: of the second full collection in a row, of the last */
};

void census_subscribe(struct census *census, eden_heap *heap);
void census_destroy(struct census *census);
/* Names the classes that grew most while full collections found the heap nearly full; else those with most bytes. Adds
 * sites to their classes. "": nothing is known. */
void census_growth(struct census *census, char *text, size_t size);

#endif
