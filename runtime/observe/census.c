/* The census: what lives in a heap after a full collection, class by class.
 *
 * 1. Algorithm
 * While somebody is attached to the probe census, each full collection ends with a walk over old space and the
 * survivors, which adds up the objects and bytes of each class or site. Then the probe fires once for each that has
 * any, before full__done; of an empty heap once, for class 0.
 *
 * 2. Growth
 * Where full collections in a row find the heap nearly full, an allocation is about to fail (eden_policy.h, section 6).
 * The sums of the second of them, and of each that may be the last, are kept, so that the error can name the classes
 * that grew between. They go with the first full collection after one that found room.
 *
 * 3. Invariants
 * I1. What is walked is swept, or slid together, and not yet the program's to change. It is alive, but after a
 *     collection that ends a cycle (heap/cycle.c): that keeps what has died since the cycle began.
 * I2. Each firing says how many there are in all, so a listener knows whether it has the whole census.
 *
 * 4. Failure
 * Without memory for the sums the probe does not fire, and the error names no class.
 *
 * 5. Cost
 * A look at each object's header, and 16 bytes for each class and site that is defined. The walk counts towards the
 * duration of the collection, as everything does that keeps the program waiting. Without a listener, in a heap that has
 * room: two loads. */
#include "observe/census.h"
#include "heap/heap.h"
#include <stdio.h>
#include <stdlib.h>

static void add(const struct census_sums *sums, eden_value object) {
    if (!object_is_free(object)) {
        uint32_t index = eden_index_of(object), last = sums->count - 1;
        struct tally *tally = &sums->of_class[index < last ? index : last];
        tally->objects++;
        tally->bytes += object_bytes(object);
    }
}

static void walk(eden_heap *heap, const struct census_sums *sums) {
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

static void fire(eden_heap *heap, const struct census_sums *sums) {
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

static void drop(struct census_sums *sums) {
    if (sums->of_class != NULL) {
        system_unmap(sums->of_class, system_page_round(sums->count * sizeof *sums->of_class));
    }
    *sums = (struct census_sums){NULL, 0};
}

static struct census_sums count(eden_heap *heap) {
    struct census_sums sums = {.count = heap->info.class_limit + 1};
    sums.of_class = system_map(&heap->system, system_page_round(sums.count * sizeof *sums.of_class), "census");
    if (sums.of_class != NULL) {
        walk(heap, &sums);
    }
    return sums;
}

static void on_swept(struct observer *observer) {
    struct census *census = (struct census *)observer;
    eden_heap *heap = observer->heap;
    const unsigned row = heap->policy.overhead.row; /* this one is not judged yet */
    struct census_sums *kept = row == 1 ? &census->before : row >= EDEN_POLICY_ROW - 1 ? &census->latest : NULL;
    if (row == 0) {
        census_destroy(census);
    }
    if (!eden_watched_census() && kept == NULL) {
        return;
    }
    struct census_sums sums = count(heap);
    if (sums.of_class != NULL && eden_watched_census()) {
        fire(heap, &sums);
    }
    if (kept != NULL) {
        drop(kept);
        *kept = sums;
    } else {
        drop(&sums);
    }
}

void census_destroy(struct census *census) {
    drop(&census->before);
    drop(&census->latest);
}

/* Of a class or site. */
static struct tally at(const struct census_sums *sums, uint32_t index) {
    return sums->of_class != NULL && index < sums->count - 1 ? sums->of_class[index] : (struct tally){0, 0};
}

static void add_sites(const eden_heap *heap, const struct census_sums *sums) {
    for (uint32_t i = 0; sums->of_class != NULL && i < sums->count - 1; i++) {
        uint32_t of = heap_class(heap, i)->class_index;
        if (of != i && of < sums->count - 1) {
            sums->of_class[of].objects += sums->of_class[i].objects;
            sums->of_class[of].bytes += sums->of_class[i].bytes;
            sums->of_class[i] = (struct tally){0, 0};
        }
    }
}

/* What a class has more than before; nothing if it has less bytes. */
static struct tally growth(const struct census_sums *before, const struct census_sums *latest, uint32_t index) {
    struct tally was = at(before, index), is = at(latest, index);
    return is.bytes > was.bytes
               ? (struct tally){is.objects > was.objects ? is.objects - was.objects : 0, is.bytes - was.bytes}
               : (struct tally){0, 0};
}

/* The class that grew most of those that grew less than `below`, or as much and stand later. 0: none. */
static uint32_t next_growth(const struct census_sums *before, const struct census_sums *latest, uint64_t below,
                            uint32_t after) {
    uint32_t best = 0;
    uint64_t most = 0;
    for (uint32_t i = 1; latest->of_class != NULL && i < latest->count - 1; i++) {
        uint64_t bytes = growth(before, latest, i).bytes;
        if (bytes > most && (bytes < below || (bytes == below && i > after))) {
            best = i;
            most = bytes;
        }
    }
    return best;
}

static size_t describe(const struct census *census, const struct census_sums *before, char *text, size_t size) {
    enum { NAMED = 3, LEAST_PART = 100 }; /* one that grew by less than that part of the first explains nothing */
    const eden_heap *heap = census->observer.heap;
    size_t length = 0;
    uint64_t below = UINT64_MAX, least = 0;
    uint32_t index = 0;
    for (int i = 0; i < NAMED && length < size; i++) {
        index = next_growth(before, &census->latest, below, index);
        if (index == 0) {
            break;
        }
        struct tally grown = growth(before, &census->latest, index);
        if (grown.bytes < least) {
            break;
        }
        below = grown.bytes;
        least = i == 0 ? grown.bytes / LEAST_PART : least;
        const char *label = i > 0 ? "," : before->of_class != NULL ? "grown:" : "most:";
        length += (size_t)snprintf(text + length, size - length, "%s '%.40s' (%llu objects, %llu bytes)", label,
                                   (const char *)(uintptr_t)heap_class(heap, index)->name,
                                   (unsigned long long)grown.objects, (unsigned long long)grown.bytes);
    }
    return length;
}

void census_growth(struct census *census, char *text, size_t size) {
    const struct census_sums nothing = {NULL, 0};
    text[0] = '\0';
    add_sites(census->observer.heap, &census->before);
    add_sites(census->observer.heap, &census->latest);
    if (census->before.of_class == NULL || describe(census, &census->before, text, size) == 0) {
        describe(census, &nothing, text, size);
    }
}

static const struct observer_calls calls = {.swept = on_swept};

void census_subscribe(struct census *census, eden_heap *heap) { observer_subscribe(&census->observer, heap, &calls); }
