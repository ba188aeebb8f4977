/* Collections as spans of OpenTelemetry: `edenscope script --otlp`. */
#ifndef EDEN_OTLP_H
#define EDEN_OTLP_H

#include "views/script.h"

struct otlp;

/* NULL: no memory. */
struct otlp *otlp_begin(const struct script *script);
/* False where writing failed: errno says why. */
bool otlp_event(struct otlp *otlp, const struct event *event, uint64_t heap_id);
/* Prints what has not ended, and frees it. Returns how many events were left out for lack of memory. */
uint64_t otlp_end(struct otlp *otlp);

#endif
