/* `edenscope report --view tenuring`: survivors against the threshold, scavenge by scavenge. */
#ifndef EDEN_TENURING_H
#define EDEN_TENURING_H

#include "views/heap_events.h"
#include <jansson.h>
#include <stdio.h>

/* Of each heap of a model, from a recording's events. False and why. */
bool tenuring_print(FILE *out, const struct viewed *viewed, struct failure *why);
/* A new reference; NULL and why. */
json_t *tenuring_to_json(const struct viewed *viewed, struct failure *why);

#endif
