/* What scanning the cards of large objects costs, object by object, for the probe remembered__scan.
 *
 * Dirty cards are in the order of the stores that made them so: the cards of two arrays that a program fills in step
 * alternate. An event a card would cost more than the scan. So cards are added up by object, in a table of CARD_SCANS
 * places on the stack, and reported when all have been scanned. An object whose place another one needs is reported at
 * once, and begins again if more cards of it come: the events of a collection add up to the truth, and mostly there is
 * one an object. The clock is read where the object changes, not at each card. All of this happens only while a tool is
 * attached. */
#include "young/card_scans.h"

static size_t place_of(eden_value object) { return (size_t)(object * 0x9e3779b97f4a7c15ull >> 32) % CARD_SCANS; }

static void report(const struct card_scans *scans, struct card_scan *scan) {
    if (scan->object != EDEN_NONE) {
        eden_fire_remembered__scan(scans->heap, scans->seq, (const void *)(uintptr_t)scan->object,
                                   eden_index_of(scan->object), scan->slots, scan->young, scan->ns);
    }
}

void card_scans_begin(struct card_scans *scans, eden_heap *heap, uint64_t seq) {
    *scans = (struct card_scans){.heap = heap, .seq = seq};
}

void card_scans_change(struct card_scans *scans, eden_value object) {
    uint64_t now = system_now_ns();
    if (scans->object != EDEN_NONE && object_bytes(scans->object) > scans->heap->params.large_object) {
        struct card_scan *scan = &scans->at[place_of(scans->object)];
        if (scan->object != scans->object) {
            report(scans, scan);
            *scan = (struct card_scan){.object = scans->object};
        }
        scan->slots += scans->slots;
        scan->young += scans->young;
        scan->ns += now - scans->start_ns;
        now = system_now_ns(); /* what reporting took belongs to no object */
    }
    scans->object = object;
    scans->slots = scans->young = 0;
    scans->start_ns = now;
}

void card_scans_end(struct card_scans *scans) {
    card_scans_change(scans, EDEN_NONE);
    for (size_t i = 0; i < CARD_SCANS; i++) {
        report(scans, &scans->at[i]);
    }
}
