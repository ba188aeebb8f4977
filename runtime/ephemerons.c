/* Ephemerons: objects whose slots count only while something else keeps their key (slot 0) alive (Hayes 1997).
 *
 * When a collection reaches an ephemeron whose key it has not reached, the ephemeron waits: an entry in a table, linked
 * from the key's header, which is saved in the entry and replaced by its number with the WAITING pattern. If the key is
 * reached later, its header is put back and everything that waited for it is released, to be scanned like any object.
 * So each ephemeron is looked at twice at most, whatever the order and however long the chains of keys: the time is
 * linear in their number, where rescanning all that wait, until nothing changes, takes the square of it.
 *
 * When nothing is left to scan and some still wait, their keys are dead. All of them are fired together: each becomes
 * an ordinary object (format FIXED) that holds its key strongly and joins the queue of mourners, which the embedder
 * drains. The collection then goes on with what they refer to.
 *
 * Weak objects: the strong slots are scanned; the object is noted; when everything reachable is known, slots that refer
 * to the dead are cleared.
 *
 * Both need memory in the middle of a collection. Where it is refused, this collection treats the object as strong: it
 * keeps too much, once, and frees nothing that is alive.
 *
 * Invariants: WAITING headers exist only between the first wait of a collection and its end; whoever looks at the
 * header of an object not yet reached in between asks for the real one. */
#include "private.h"
#include <stdlib.h>

bool ephemeron_wait(eden_heap *heap, eden_value ephemeron, eden_value key) {
    struct waiting *waiting = &heap->waiting;
    if (!system_grow(&heap->system, (void **)&waiting->entries, &waiting->room, waiting->count,
                     sizeof *waiting->entries, "waiting ephemerons")) {
        return false;
    }
    uint64_t header = eden_header(key);
    size_t first = header_is_waiting(header) ? (size_t)(header & ~EDEN_WAITING) : 0;
    waiting->entries[waiting->count++] = (struct waiting_entry){
        .ephemeron = ephemeron,
        .key = key,
        .header = first != 0 ? waiting->entries[first - 1].header : header,
        .next = first,
    };
    *eden_words_(key) = EDEN_WAITING | waiting->count;
    return true;
}

uint64_t real_header(const eden_heap *heap, eden_value object) {
    uint64_t header = eden_header(object);
    return header_is_waiting(header) ? heap->waiting.entries[(header & ~EDEN_WAITING) - 1].header : header;
}

void ephemerons_release(eden_heap *heap, eden_value key) {
    struct waiting *waiting = &heap->waiting;
    size_t first = (size_t)(eden_header(key) & ~EDEN_WAITING), last = first;
    *eden_words_(key) = waiting->entries[first - 1].header;
    for (;; last = waiting->entries[last - 1].next) {
        waiting->entries[last - 1].released = true;
        if (waiting->entries[last - 1].next == 0) {
            break;
        }
    }
    waiting->entries[last - 1].next = waiting->released;
    waiting->released = first;
}

eden_value ephemeron_released(eden_heap *heap) {
    struct waiting *waiting = &heap->waiting;
    if (waiting->released == 0) {
        return EDEN_NONE;
    }
    const struct waiting_entry *entry = &waiting->entries[waiting->released - 1];
    waiting->released = entry->next;
    return entry->ephemeron;
}

static void fire(eden_heap *heap, const struct waiting_entry *entry) {
    struct mourners *mourners = &heap->mourners;
    if (eden_format_bits(entry->ephemeron) != EDEN_FORMAT_EPHEMERON) {
        return; /* it waited twice (a scan of all old space may come across what was just tenured) */
    }
    if (!system_grow(&heap->system, (void **)&mourners->queue, &mourners->room, mourners->end, sizeof *mourners->queue,
                     "mourners")) {
        return; /* stays an ephemeron, strong this time; the next collection tries again */
    }
    header_clear(entry->ephemeron, 31ull << EDEN_HEADER_FORMAT_SHIFT);
    header_set(entry->ephemeron, (uint64_t)EDEN_FORMAT_FIXED << EDEN_HEADER_FORMAT_SHIFT);
    mourners->queue[mourners->end++] = entry->ephemeron;
    uint32_t key_class = (uint32_t)(real_header(heap, entry->key) & EDEN_HEADER_CLASS_MASK);
    event_mourn(heap, entry->ephemeron, key_class, mourners->end - mourners->next);
}

bool ephemerons_fire(eden_heap *heap, void (*reach_key)(void *context, eden_value key), void *context) {
    struct waiting *waiting = &heap->waiting;
    bool any = false;
    for (size_t i = 0; i < waiting->count; i++) {
        if (!waiting->entries[i].released) {
            fire(heap, &waiting->entries[i]);
        }
    }
    /* Only now: reaching a key releases all that wait for it. */
    for (size_t i = 0; i < waiting->count; i++) {
        if (!waiting->entries[i].released) {
            reach_key(context, waiting->entries[i].key);
            any = true;
        }
    }
    return any;
}

void ephemerons_finish(eden_heap *heap) { heap->waiting.count = heap->waiting.released = 0; }

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

bool weak_note(eden_heap *heap, eden_value object) {
    struct weak_list *weak = &heap->weak;
    if (!system_grow(&heap->system, (void **)&weak->objects, &weak->room, weak->count, sizeof *weak->objects,
                     "weak objects")) {
        return false;
    }
    weak->objects[weak->count++] = object;
    return true;
}

struct tally weak_clear(eden_heap *heap, eden_value (*now)(void *context, eden_value v), void *context) {
    struct weak_list *weak = &heap->weak;
    struct tally examined = {0, 0};
    for (size_t i = 0; i < weak->count; i++) {
        eden_value object = weak->objects[i];
        size_t count = reference_slots(heap, object);
        examined.objects++;
        examined.bytes += object_bytes(object);
        for (size_t slot = strong_slots(heap, object); slot < count; slot++) {
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
    free(heap->waiting.entries);
    free(heap->mourners.queue);
    free(heap->weak.objects);
}
