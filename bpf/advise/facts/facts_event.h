/* The inside of reading facts: what events add to those of one heap. */
#ifndef EDEN_TUNE_FACTS_EVENT_H
#define EDEN_TUNE_FACTS_EVENT_H

#include "advise/facts/facts.h"

struct heap_reader {
    struct tune_facts facts;
    uint64_t address;
    struct tune_pass open;
    bool is_open;
};

/* Adds an event of this heap. False: no memory. */
bool facts_take(struct heap_reader *heap, const struct event *event);

/* The probes that facts_take takes: bit i of word i / 64. */
enum { FACTS_PROBE_WORDS = (EDEN_PROBE_COUNT + 63) / 64 };
void facts_probes(uint64_t probes[FACTS_PROBE_WORDS]);

#endif
