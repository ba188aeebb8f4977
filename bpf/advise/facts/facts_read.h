/* From a recording to the facts of its heaps. */
#ifndef EDEN_TUNE_FACTS_READ_H
#define EDEN_TUNE_FACTS_READ_H

#include "advise/facts/facts.h"
#include "recording/recording.h"

struct tune_heaps {
    struct tune_facts *at; /* owned; in order of process and number */
    size_t count;
};

/* Those heaps that have this process and number; 0: any. False and why where the recording can't be read, or there is
 * no memory; *heaps is then empty. No heap is no failure. */
bool tune_heaps_read(struct tune_heaps *heaps, struct recording *recording, uint64_t pid, uint64_t heap_id,
                     struct failure *why);
void tune_heaps_clear(struct tune_heaps *heaps);

#endif
