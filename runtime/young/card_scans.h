/* What scanning the cards of large objects costs, for the probe remembered__scan. */
#ifndef EDEN_YOUNG_CARD_SCANS_H
#define EDEN_YOUNG_CARD_SCANS_H

#include "heap/heap.h"

enum { CARD_SCANS = 16 };
struct card_scan {
    eden_value object; /* EDEN_NONE: a free place */
    uint64_t slots, young, ns;
};
struct card_scans {
    eden_heap *heap;
    uint64_t seq;
    eden_value object; /* whose cards are being scanned; EDEN_NONE: none yet */
    uint64_t slots, young, start_ns;
    struct card_scan at[CARD_SCANS];
};

void card_scans_begin(struct card_scans *scans, eden_heap *heap, uint64_t seq);
void card_scans_change(struct card_scans *scans, eden_value object); /* cards of this one come next */
void card_scans_end(struct card_scans *scans);

#endif
