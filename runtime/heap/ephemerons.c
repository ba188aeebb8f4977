/* Ephemerons: objects whose slots count only while something else keeps their key (slot 0) alive (Hayes 1997).
 *
 * When a collection reaches an ephemeron whose key it has not reached, the ephemeron waits. It is threaded to its key:
 * its first slot takes the key's header, and the key's header becomes the ephemeron's address with the WAITING pattern.
 * Others that wait for the same key come in front of it the same way, so the key's real header stands at the end of the
 * chain. If the key is reached later, its header is put back, the first slots are the key again, and all that waited is
 * scanned like any object. So each ephemeron is looked at twice (a scan of all old space, or a second round
 * of the scavenger, apart), whatever the order and however long the chains
 * of keys: the time is linear in their number, where rescanning all that wait, until nothing changes, takes the square
 * of it. And since the thread runs through the objects, a chain is followed where they lie: a table of what waits,
 * tried first, cost a cache miss for each (random order, first key alive: 86 ms of marking; threaded: see
 * bench/ephemerons.c).
 *
 * When nothing is left to scan and some still wait, their keys are dead. All of them are fired together: each becomes
 * an ordinary object (format FIXED) that holds its key strongly and joins the queue of mourners, which the embedder
 * drains. The collection then goes on with what they refer to. The list of keys starts again then, so that ephemerons
 * that only fired ones refer to, one after the other, do not go quadratic either.
 *
 * A profile's own ephemerons (baseline/profiler_ephemerons.c) are left alone where their key has not been reached yet:
 * the profile looks at them when all else is done. They don't wait, don't fire, and no probe or figure counts them. So
 * those of the program are fired as they would be without a profile, in the same order.
 *
 * Weak objects: the strong slots are scanned; the object is noted; when everything reachable is known, slots that refer
 * to the dead are cleared.
 *
 * The lists of keys and of weak objects need memory in the middle of a collection. Where it is refused, this collection
 * treats the object as strong: it keeps too much, once, and frees nothing that is alive.
 *
 * Invariants: WAITING headers, and the format WAITING, exist only between the first wait of a collection and the end of
 * firing; whoever looks at the header of an object not yet reached in between asks for the real one. The first slot of
 * an object of format WAITING is nothing to look at; the format tells who comes across it again (a scan of all old
 * space may, of what was just tenured). */
#include "heap/ephemerons.h"
#include "heap/heap.h"
#include <stdlib.h>

static uint64_t *first_slot(eden_value ephemeron) { return eden_words_(ephemeron) + 1; }

static void set_format(eden_value object, uint64_t format) {
    object_clear(object, 31ull << EDEN_HEADER_FORMAT_SHIFT);
    object_set(object, format << EDEN_HEADER_FORMAT_SHIFT);
}

bool ephemerons_wait(eden_heap *heap, eden_value ephemeron, eden_value key) {
    struct pending_keys *waiting = &heap->pending;
    uint64_t header = eden_header(key);
    if (eden_index_of(ephemeron) == heap->observer_class) {
        return true;
    }
    if (!ephemerons_is_pending(header)) {
        if (!system_grow(&heap->system, (void **)&waiting->keys, &waiting->room, waiting->count, sizeof *waiting->keys,
                         "waiting ephemerons")) {
            return false;
        }
        waiting->keys[waiting->count++] = key;
    }
    *first_slot(ephemeron) = header;
    set_format(ephemeron, FORMAT_PENDING);
    *eden_words_(key) = EDEN_HEADER_PENDING | ephemeron;
    return true;
}

uint64_t ephemerons_real_header(eden_value object) {
    uint64_t header = eden_header(object);
    while (ephemerons_is_pending(header)) {
        header = *first_slot(header & ~EDEN_HEADER_PENDING);
    }
    return header;
}

void ephemerons_release(eden_heap *heap, eden_value key) {
    uint64_t header = eden_header(key);
    while (ephemerons_is_pending(header)) {
        eden_value ephemeron = header & ~EDEN_HEADER_PENDING;
        header = *first_slot(ephemeron);
        *first_slot(ephemeron) = key;
        if (eden_format_bits(ephemeron) == FORMAT_PENDING) { /* not fired */
            set_format(ephemeron, EDEN_FORMAT_EPHEMERON);
        }
        mark_stack_push(&heap->mark_stack, ephemeron);
    }
    *eden_words_(key) = header;
}

static void fire(eden_heap *heap, eden_value ephemeron, uint32_t key_class) {
    struct mourners *mourners = &heap->mourners;
    if (!system_grow(&heap->system, (void **)&mourners->queue, &mourners->room, mourners->end, sizeof *mourners->queue,
                     "mourners")) {
        return; /* stays an ephemeron, strong this time; the next collection tries again */
    }
    set_format(ephemeron, EDEN_FORMAT_FIXED);
    mourners->queue[mourners->end++] = ephemeron;
    heap->delta.mourned++;
    eden_fire_mourn(heap, (const void *)(uintptr_t)ephemeron, key_class, mourners->end - mourners->next);
}

bool ephemerons_fire(eden_heap *heap, void (*reach_key)(void *context, eden_value key), void *context) {
    struct pending_keys *waiting = &heap->pending;
    bool any = false;
    for (size_t i = 0; i < waiting->count; i++) {
        uint32_t key_class = (uint32_t)(ephemerons_real_header(waiting->keys[i]) & EDEN_HEADER_CLASS_MASK);
        uint64_t header = eden_header(waiting->keys[i]);
        for (; ephemerons_is_pending(header); header = *first_slot(header & ~EDEN_HEADER_PENDING)) {
            fire(heap, header & ~EDEN_HEADER_PENDING, key_class);
        }
    }
    /* Only now: reaching a key releases all that wait for it. */
    for (size_t i = 0; i < waiting->count; i++) {
        if (ephemerons_is_pending(eden_header(waiting->keys[i]))) {
            reach_key(context, waiting->keys[i]);
            any = true;
        }
    }
    waiting->count = 0;
    return any;
}

eden_value eden_mourn_next(eden_mutator *mutator) {
    struct mourners *mourners = &mutator->heap->mourners;
    if (mourners->next == mourners->end) {
        return EDEN_NONE;
    }
    eden_value ephemeron = mourners->queue[mourners->next++];
    if (mourners->next == mourners->end) {
        mourners->next = mourners->end = 0;
    }
    return ephemeron;
}

size_t eden_mourn_count(const eden_mutator *mutator) {
    return mutator->heap->mourners.end - mutator->heap->mourners.next;
}

bool ephemerons_note_weak(eden_heap *heap, eden_value object) {
    struct weak_list *weak = &heap->weak;
    if (!system_grow(&heap->system, (void **)&weak->objects, &weak->room, weak->count, sizeof *weak->objects,
                     "weak objects")) {
        return false;
    }
    weak->objects[weak->count++] = object;
    return true;
}

struct tally ephemerons_clear_weak(eden_heap *heap, eden_value (*now)(void *context, eden_value v), void *context) {
    struct weak_list *weak = &heap->weak;
    struct tally examined = {0, 0};
    for (size_t i = 0; i < weak->count; i++) {
        eden_value object = weak->objects[i];
        size_t count = heap_reference_slots(heap, object);
        examined.objects++;
        examined.bytes += object_bytes(object);
        for (size_t slot = heap_strong_slots(heap, object); slot < count; slot++) {
            eden_value v = eden_slot(object, slot);
            if (eden_is_object(v)) {
                eden_words_(object)[1 + slot] = now(context, v);
            }
        }
    }
    weak->count = 0;
    return examined;
}

void ephemerons_destroy(eden_heap *heap) {
    free(heap->pending.keys);
    free(heap->mourners.queue);
    free(heap->weak.objects);
}
