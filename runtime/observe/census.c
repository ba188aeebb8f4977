/* The census: what lives in a heap after a full collection, class by class.
 *
 * 1. Algorithm
 * While somebody is attached to the probe census, each full collection ends with a walk over old space and the
 * survivors, which adds up the objects and bytes of each class or site. Then the probe fires once for each that has
 * any, before full__done; of an empty heap once, for class 0.
 *
 * 2. Invariants
 * I1. What is walked is alive: swept, or slid together, and not yet the program's to change.
 * I2. Each firing says how many there are in all, so a listener knows whether it has the whole census.
 *
 * 3. Failure
 * Without memory for the sums the probe does not fire.
 *
 * 4. Cost
 * A look at each object's header, and 16 bytes for each class and site that is defined. The walk counts towards the
 * duration of the collection, as everything does that keeps the program waiting. Without a listener: one load. */
#include "observe/census.h"
#include "heap/heap.h"
#include <stdlib.h>

struct sums {
    struct tally *of_class; /* by index; the last one is of heap->observer_class */
    uint32_t count;
};

static void add(const struct sums *sums, eden_value object) {
    if (!object_is_free(object)) {
        uint32_t index = eden_index_of(object), last = sums->count - 1;
        struct tally *tally = &sums->of_class[index < last ? index : last];
        tally->objects++;
        tally->bytes += object_bytes(object);
    }
}

static void walk(eden_heap *heap, const struct sums *sums) {
    struct space *spaces[YOUNG_SPACES];
    heap_young_spaces(heap, spaces);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        for (uintptr_t at = spaces[i]->start; at < spaces[i]->used; at = object_end(object_at(at))) {
            add(sums, object_at(at));
        }
    }
    for (eden_value object = old_space_walk(heap, 0); object != EDEN_NONE;
         object = old_space_walk(heap, object_end(object))) {
        add(sums, object);
    }
}

static void fire(eden_heap *heap, const struct sums *sums) {
    uint64_t classes = 0, seq = heap->info.seq + 1;
    for (uint32_t i = 0; i < sums->count; i++) {
        classes += sums->of_class[i].objects != 0;
    }
    for (uint32_t i = 0; i < sums->count; i++) {
        const struct tally *tally = &sums->of_class[i];
        uint32_t index = i < sums->count - 1 ? i : heap->observer_class;
        if (tally->objects != 0) {
            eden_fire_census(heap, seq, index, tally->objects, tally->bytes, classes);
        }
    }
    if (classes == 0) {
        eden_fire_census(heap, seq, 0, 0, 0, 0);
    }
}

static void on_swept(struct observer *observer) {
    eden_heap *heap = observer->heap;
    if (!eden_watched_census()) {
        return;
    }
    struct sums sums = {.count = heap->info.class_limit + 1};
    sums.of_class = system_map(&heap->system, system_page_round(sums.count * sizeof *sums.of_class), "census");
    if (sums.of_class != NULL) {
        walk(heap, &sums);
        fire(heap, &sums);
        system_unmap(sums.of_class, system_page_round(sums.count * sizeof *sums.of_class));
    }
}

static const struct observer_calls calls = {.swept = on_swept};

void census_subscribe(struct census *census, eden_heap *heap) { observer_subscribe(&census->observer, heap, &calls); }
