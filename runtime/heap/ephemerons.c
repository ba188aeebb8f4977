/* Ephemerons and weak objects. The slots of an ephemeron count only while something else keeps its key, slot 0, alive.
 *
 * 1. Waiting
 * When a collection reaches an ephemeron whose key it has not reached, the ephemeron waits, and the key is pending. The
 * ephemeron is threaded to its key: its first slot takes the key's header, and the key's header becomes the ephemeron's
 * address with the pattern PENDING. Others that wait for the same key come in front of it in the same way, so the key's
 * real header is at the end of the chain. If the key is reached later, its header is restored, the first slots are the
 * key again, and all that waited is scanned like any object.
 *
 * 2. Firing
 * When nothing is left to scan and some still wait, their keys are dead. All of them fire together: each becomes an
 * ordinary object (format FIXED) that holds its key strongly and joins the queue of mourners, which the embedder
 * drains. The collection then goes on with what they refer to. The list of keys starts again then, so that ephemerons
 * that only fired ones refer to, one after the other, do not take quadratic time either.
 *
 * 3. Ephemerons of observers
 * Those of heap->observer_class do not wait, do not fire, and no probe or figure counts them: their observer handles
 * them when all else is done (`reached`). So the program's fire as they would without them, in the same order.
 *
 * 4. Weak objects
 * Their strong slots are scanned, and the object is noted. When everything reachable is known, slots that refer to the
 * dead are cleared.
 *
 * 5. Invariants
 * I1. PENDING headers, and the format PENDING, exist only between the first wait of a collection and the end of firing.
 *     In between, read the header of an object that has not been reached with ephemerons_real_header.
 * I2. The first slot of an object of format PENDING is no reference. A scan of all old space may come across one that
 *     was just tenured.
 *
 * 6. Cost
 * Each ephemeron is inspected twice (a scan of all old space, or a second pass of the scavenger, apart), so the time is
 * linear whatever the order and however long the chains of keys; rescanning all that wait until nothing changes is
 * quadratic. The thread runs through the objects, so a chain is followed where they lie: a table of what waits cost a
 * cache miss for each (bench/ephemerons.c).
 *
 * 7. Failure
 * The lists of keys and of weak objects need memory in the middle of a collection. Where it is refused, this collection
 * treats the object as strong: it keeps too much, once, and frees nothing that is alive.
 *
 * 8. References
 * B. Hayes, "Ephemerons: a New Finalization Mechanism", OOPSLA 1997. */
#include "heap/ephemerons.h"
#include "heap/heap.h"
#include <stdlib.h>

static uint64_t *first_slot(eden_value ephemeron) { return eden_words_(ephemeron) + 1; }

/* Where several threads collect, others may read it meanwhile. */
static void write_header(eden_value object, uint64_t header) {
    __atomic_store_n(eden_words_(object), header, __ATOMIC_RELEASE);
}

static void set_format(eden_value object, uint64_t format) {
    uint64_t rest = eden_header(object) & ~(31ull << EDEN_HEADER_FORMAT_SHIFT);
    write_header(object, rest | format << EDEN_HEADER_FORMAT_SHIFT);
}

bool ephemerons_wait(eden_heap *heap, eden_value ephemeron, eden_value key) {
    struct pending_keys *pending = &heap->pending;
    uint64_t header = eden_header(key);
    if (eden_index_of(ephemeron) == heap->observer_class) {
        return true;
    }
    if (!ephemerons_is_pending(header)) {
        if (!system_grow(&heap->system, (void **)&pending->keys, &pending->room, pending->count, sizeof *pending->keys,
                         "waiting ephemerons")) {
            return false;
        }
        pending->keys[pending->count++] = key;
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
    write_header(key, header);
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
    struct pending_keys *pending = &heap->pending;
    bool any = false;
    for (size_t i = 0; i < pending->count; i++) {
        uint32_t key_class = (uint32_t)(ephemerons_real_header(pending->keys[i]) & EDEN_HEADER_CLASS_MASK);
        uint64_t header = eden_header(pending->keys[i]);
        for (; ephemerons_is_pending(header); header = *first_slot(header & ~EDEN_HEADER_PENDING)) {
            fire(heap, header & ~EDEN_HEADER_PENDING, key_class);
        }
    }
    /* Only now: reaching a key releases all that wait for it. */
    for (size_t i = 0; i < pending->count; i++) {
        if (ephemerons_is_pending(eden_header(pending->keys[i]))) {
            reach_key(context, pending->keys[i]);
            any = true;
        }
    }
    pending->count = 0;
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
