/* Events as a trace that Perfetto, speedscope and chrome://tracing open: the JSON of Chrome's trace events. */
#ifndef EDEN_CHROME_H
#define EDEN_CHROME_H

#include "views/script.h"

struct chrome;

/* NULL: no memory. What it refers to must outlive it. */
struct chrome *chrome_begin(const struct script *script);
/* False where writing failed: errno says why. */
bool chrome_event(struct chrome *chrome, const struct event *event, uint64_t heap_id);
/* Ends what is still under way, and the trace; frees it. Returns how many events are not in it, for want of memory. */
uint64_t chrome_end(struct chrome *chrome);

#endif
