/* `edenscope report --view pauses`: how long programs stood still, pause by pause. */
#ifndef EDEN_PAUSES_H
#define EDEN_PAUSES_H

#include "views/heap_events.h"
#include <jansson.h>
#include <stdio.h>

/* The pauses of each heap of a model, from a recording's events. False and why. */
bool pauses_print(FILE *out, const struct viewed *viewed, struct failure *why);
/* The lower quartiles of the pauses of all chosen heaps: of scavenges, and of full collections. */
struct quartile;
bool pauses_quartiles(const struct viewed *viewed, const struct heap_choice *choice, struct quartile *scavenges,
                      struct quartile *fulls, struct failure *why);
/* A new reference; NULL and why. */
json_t *pauses_to_json(const struct viewed *viewed, struct failure *why);

#endif
