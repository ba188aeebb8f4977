/* Whether a heap's census is whole: each of its events has the number of events that it consists of, and the full
 * collection that it belongs to ends after them. A census with lost events is not whole. */
#ifndef EDEN_CENSUS_H
#define EDEN_CENSUS_H

#include "kernel/event.h"
#include <stdbool.h>

struct census {
    uint64_t seq; /* of the collection; 0: none has begun */
    uint64_t received, expected;
};

/* An event `census`. True: it is the first of its census. */
bool census_add(struct census *census, const struct event *event);
/* An event `full__done`: whether the census is of that collection, and whole. */
bool census_is_whole(const struct census *census, const struct event *event);

#endif
