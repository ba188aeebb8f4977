/* `edenscope report --view timeline`: what a heap did, interval by interval. */
#ifndef EDEN_TIMELINE_H
#define EDEN_TIMELINE_H

#include "recording/recording.h"
#include <jansson.h>
#include <stdio.h>

/* Of each heap of a model, from a recording's events. False and why. */
bool timeline_print(FILE *out, struct recording *recording, const struct model *model, struct failure *why);
/* A new reference; NULL and why. */
json_t *timeline_to_json(struct recording *recording, const struct model *model, struct failure *why);

#endif
