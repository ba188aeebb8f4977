#include "views/heap_events.h"
#include <stdlib.h>

bool heap_places(const struct model *model, struct heap_places *places) {
    size_t room = 1;
    for (size_t i = 0; i < model->process_count; i++) {
        room += model->processes[i].heap_count;
    }
    *places = (struct heap_places){.at = calloc(room, sizeof *places->at)};
    for (size_t i = 0; places->at && i < model->process_count; i++) {
        for (size_t j = 0; j < model->processes[i].heap_count; j++) {
            places->at[places->count++] = (struct heap_place){&model->processes[i], &model->processes[i].heaps[j]};
        }
    }
    return places->at;
}

struct passing {
    const struct viewed *viewed;
    struct heap_places *places;
    heap_event_fn *on_event;
    void *context;
};

static bool is_of(const struct heap_place *place, const struct event *event, uint64_t heap_id) {
    return process_is_same(&place->process->key, &event->process) &&
           heap_is_same(HEAP_REF(place->heap), event_heap_ref(event, heap_id));
}

/* Most events are of the heap of the one before. */
static bool pass_on(void *context, const struct event *event, uint64_t heap_id) {
    const struct passing *passing = context;
    struct heap_places *places = passing->places;
    if (event->time_ns < passing->viewed->from_ns || event->time_ns > passing->viewed->until_ns) {
        return true;
    }
    for (size_t i = 0; i < places->count; i++) {
        size_t number = (places->last + i) % places->count;
        if (is_of(&places->at[number], event, heap_id)) {
            places->last = number;
            return passing->on_event(passing->context, number, event);
        }
    }
    return true;
}

bool heap_events(const struct viewed *viewed, struct heap_places *places, const enum eden_probe_id *probe, size_t count,
                 heap_event_fn *on_event, void *context, struct failure *why) {
    uint64_t probes[(EDEN_PROBE_COUNT + 63) / 64] = {0};
    struct passing passing = {viewed, places, on_event, context};
    for (size_t i = 0; i < count; i++) {
        probes[probe[i] / 64] |= 1ull << probe[i] % 64;
    }
    return recording_events(viewed->recording, probes, pass_on, &passing, why);
}
