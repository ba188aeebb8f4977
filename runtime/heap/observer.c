#include "heap/heap.h"

void observer_subscribe(struct observer *observer, eden_heap *heap, const struct observer_calls *calls) {
    struct observer **last = &heap->observers;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *observer = (struct observer){.calls = calls, .heap = heap};
    *last = observer;
}

void observer_watch_allocation(struct observer *observer) {
    struct observer **last = &observer->heap->allocation_observers;
    while (*last != NULL) {
        last = &(*last)->next_allocation;
    }
    observer->next_allocation = NULL;
    *last = observer;
    heap_set_limit(observer->heap);
}

void observer_unwatch_allocation(struct observer *observer) {
    for (struct observer **at = &observer->heap->allocation_observers; *at != NULL; at = &(*at)->next_allocation) {
        if (*at == observer) {
            *at = observer->next_allocation;
            break;
        }
    }
    heap_set_limit(observer->heap);
}

uint64_t observer_phase_begin(eden_heap *heap, enum eden_phase phase) {
    OBSERVE(heap, phase_begin, phase);
    uint64_t start_ns = system_now_ns();
    OBSERVE(heap, phase_began, phase, start_ns);
    return start_ns;
}

void observer_phase_end(eden_heap *heap, enum eden_phase phase, uint64_t start_ns, struct tally tally) {
    uint64_t ns = system_now_ns() - start_ns;
    OBSERVE(heap, phase_end, phase, ns, tally);
}

bool observer_wants_dead(const eden_heap *heap) {
    bool wanted = false;
    for (struct observer *at = heap->observers; at != NULL; at = at->next) {
        wanted |= at->calls->wants_dead != NULL && at->calls->wants_dead(at);
    }
    return wanted;
}

uintptr_t observer_dead(eden_heap *heap, eden_value object) {
    uintptr_t least = UINTPTR_MAX;
    for (struct observer *at = heap->observers; at != NULL; at = at->next) {
        uintptr_t from = at->calls->dead == NULL ? UINTPTR_MAX : at->calls->dead(at, object);
        least = from < least ? from : least;
    }
    return least;
}
