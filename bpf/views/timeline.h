/* `edenscope report --view timeline`: what a heap did, interval by interval. */
#ifndef EDEN_TIMELINE_H
#define EDEN_TIMELINE_H

#include "views/heap_events.h"
#include <jansson.h>
#include <stdio.h>

/* Of each heap of a model, from a recording's events. False and why. */
bool timeline_print(FILE *out, const struct viewed *viewed, struct failure *why);
/* A new reference; NULL and why. */
json_t *timeline_to_json(const struct viewed *viewed, struct failure *why);

#endif
