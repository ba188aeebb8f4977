/* `edenscope report --view tenuring`: survivors against the threshold, scavenge by scavenge. */
#ifndef EDEN_TENURING_H
#define EDEN_TENURING_H

#include "recording/recording.h"
#include <jansson.h>
#include <stdio.h>

/* Of each heap of a model, from a recording's events. False and why. */
bool tenuring_print(FILE *out, struct recording *recording, const struct model *model, struct failure *why);
/* A new reference; NULL and why. */
json_t *tenuring_to_json(struct recording *recording, const struct model *model, struct failure *why);

#endif
