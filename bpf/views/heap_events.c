#include "views/heap_events.h"
#include <stdlib.h>

struct heap_of {
    const struct process_key *process;
    struct heap_ref heap;
};

/* As heap_is_same() compares them. */
static uint64_t hash_of(const struct heap_of *of) {
    const struct heap_ref *heap = &of->heap;
    return lookup_hash((const uint64_t[]){of->process->pid, of->process->start_ns, heap->serial,
                                          heap->serial ? 0 : heap->address, heap->serial ? 0 : heap->id},
                       5);
}

static bool is_of(const void *array, size_t place, const void *key) {
    const struct heap_place *at = (const struct heap_place *)array + place;
    const struct heap_of *of = key;
    return process_is_same(&at->process->key, of->process) && heap_is_same(HEAP_REF(at->heap), of->heap);
}

bool heap_places(const struct model *model, struct heap_places *places) {
    size_t room = 1;
    for (size_t i = 0; i < model->process_count; i++) {
        room += model->processes[i].heap_count;
    }
    *places = (struct heap_places){.at = calloc(room, sizeof *places->at)};
    bool good = places->at;
    for (size_t i = 0; good && i < model->process_count; i++) {
        for (size_t j = 0; good && j < model->processes[i].heap_count; j++) {
            const struct heap_place place = {&model->processes[i], &model->processes[i].heaps[j]};
            const struct heap_of of = {&place.process->key, HEAP_REF(place.heap)};
            good = lookup_add(&places->by_heap, hash_of(&of), places->count);
            places->at[places->count++] = place;
        }
    }
    return good;
}

void heap_places_clear(struct heap_places *places) {
    free(places->at);
    lookup_clear(&places->by_heap);
}

struct passing {
    struct heap_places *places;
    heap_event_fn *on_event;
    void *context;
};

/* Most events are of the heap of the one before. */
static bool pass_on(void *context, const struct event *event, uint64_t heap_id) {
    const struct passing *passing = context;
    struct heap_places *places = passing->places;
    if (places->count == 0) {
        return true;
    }
    const struct heap_of of = {&event->process, event_heap_ref(event, heap_id)};
    if (!is_of(places->at, places->last, &of)) {
        uint32_t place = lookup_find(&places->by_heap, hash_of(&of), is_of, places->at, &of);
        if (place == LOOKUP_NONE) {
            return true;
        }
        places->last = place;
    }
    return passing->on_event(passing->context, places->last, event);
}

bool heap_events(struct recording *recording, struct heap_places *places, const enum eden_probe_id *probe, size_t count,
                 heap_event_fn *on_event, void *context, struct failure *why) {
    uint64_t probes[(EDEN_PROBE_COUNT + 63) / 64] = {0};
    struct passing passing = {places, on_event, context};
    for (size_t i = 0; i < count; i++) {
        probes[probe[i] / 64] |= 1ull << probe[i] % 64;
    }
    return recording_events(recording, probes, pass_on, &passing, why);
}
