/* The heap verifier.
 *
 * 1. Purpose
 * Checks what the rest of the runtime relies on between collections, and reports the first fault. The checked build
 * (check.c) calls it around each collection, tests and fuzzers when they like.
 *
 * 2. Terms
 * Start: the address of a live object's header. Transient flag: one that only a running collection sets (FORWARDED,
 * MARKED, GREY, IN_PLACE). Fragment: free bytes of old space too few for a chunk of the free list.
 *
 * 3. Algorithm
 * The first pass walks all spaces and segments: it checks each header by itself, notes starts in a bit map over the
 * heap, and adds up bytes. The second pass checks every reference in roots and objects. Then the free list, the
 * remembered set and the counters are compared with the sums.
 *
 * 4. Invariants
 * I1. Objects and fillers follow each other without a gap, and end within their space or segment.
 * I2. A header has no transient flag, a defined class, and the format and slot count of that class. A mourned ephemeron
 *     has format FIXED instead. In a cycle (heap/cycle.c) old objects may be marked, and grey where its stack was full.
 * I3. A reference slot holds EDEN_NONE, an immediate, or a start.
 * I4. An old object with a young reference is remembered (a large one: the slot's card is dirty), or the remembered set
 *     is_incomplete.
 * I5. The remembered set has each old object with the REMEMBERED bit once, and no other; its cards are dirty cards of
 *     large old objects. A young object never has the bit.
 * I6. Listed chunks are free memory of old space, and their headers have their sizes. Sizes rise; chunks of one size in
 *     the tree rise by address.
 * I7. Allocation bumps no further than eden reaches.
 * I8. Chunks, fragments and what is dead in unswept parts add up to the free bytes, objects to the used bytes, and the
 *     counters say the same, and how many objects old space has.
 * I9. In unswept parts of old space (heap/lazy_sweep.c) what lives is MARKED, and there is just what marking has
 *     counted. What is not marked there is dead: it ends where the next object begins, and is not looked into.
 * I10. I1 of cycles: a marked ordinary old object refers to no old object that is not marked, unless it is still to be
 *      scanned.
 *
 * 5. Failure
 * Without memory for the bit map, I3 is reduced to "lies within the heap", and I5 is not checked for duplicates.
 * Without memory for another, I10 is not checked.
 *
 * 6. Cost
 * Two walks of the heap, and a bit for each of its words. */
#include "heap/heap.h"
#include "young/cards.h"
#include <inttypes.h>
#include <stdio.h>

struct verifier {
    eden_visit visit; /* first: root visitors get its address */
    eden_heap *heap;
    eden_error *error;
    bool ok;
    uint64_t *starts; /* a bit for each word of the heap; NULL: no memory for it */
    size_t starts_bytes;
    uint64_t *unscanned; /* likewise, of what a cycle has marked and is to scan; NULL: no cycle, or no memory */
    uintptr_t base;
    struct tally old_objects;
    uint64_t old_free_bytes;
    uint64_t unswept_bytes;
    size_t unswept;          /* segments that have any */
    struct tally marked;     /* what lives in unswept parts */
    uintptr_t marked_from;   /* what is checked is marked from there on */
    uint64_t fragment_bytes; /* free, but too short to be listed */
    uint64_t chunks, chunk_bytes;
    size_t last_bytes; /* of the chunk listed before */
    uintptr_t last_chunk;
    uint64_t remembered_bits;
    eden_value before; /* the object that ends where the one that is checked begins; EDEN_NONE: none */
};

static const char *space_name(const eden_heap *heap, eden_value v) {
    if (v >= heap->eden.start && v < heap->eden.limit) {
        return "eden";
    }
    return heap_is_young(heap, v) ? "survivors" : "old space";
}

static void note_start(struct verifier *v, eden_value object) {
    size_t word = (object - v->base) / 8;
    if (v->starts != NULL) {
        v->starts[word / 64] |= 1ull << (word % 64);
    }
}

static bool is_start(const struct verifier *v, eden_value object) {
    size_t word = (object - v->base) / 8;
    return v->starts == NULL || (v->starts[word / 64] >> (word % 64) & 1) != 0;
}

static uint64_t transient_flags(const eden_heap *heap, eden_value object) {
    uint64_t flags = EDEN_HEADER_FORWARDED | EDEN_HEADER_MARKED | EDEN_HEADER_GREY | EDEN_HEADER_IN_PLACE;
    if (cycle_is_running(&heap->cycle) && !heap_is_young(heap, object)) {
        bool may_be_grey = heap->cycle.stack.overflowed && object_has(object, EDEN_HEADER_MARKED);
        flags &= ~(EDEN_HEADER_MARKED | (may_be_grey ? EDEN_HEADER_GREY : 0));
    }
    return flags;
}

static bool check_header(struct verifier *v, eden_value object, uintptr_t limit) {
    const eden_heap *heap = v->heap;
    uint64_t header = eden_header(object);
    const char *where = space_name(heap, object);
    if (object_end(object) > limit || object_end(object) <= object_start(object)) {
        return error_fail(v->error, EDEN_CORRUPT,
                          "object %#" PRIx64 " in %s: %zu slots reach beyond the end of its space", object, where,
                          eden_slot_count(object));
    }
    if (object_is_free(object)) {
        return eden_format_bits(object) == EDEN_FORMAT_WORDS64 ||
               error_fail(v->error, EDEN_CORRUPT, "%#" PRIx64 " in %s: neither an object nor a free chunk", object,
                          where);
    }
    uint64_t expected = object < v->marked_from ? 0 : EDEN_HEADER_MARKED;
    if ((header & transient_flags(heap, object)) != expected) {
        return error_fail(v->error, EDEN_CORRUPT,
                          "object %#" PRIx64 " in %s: header %#" PRIx64 " has a flag that only collections set", object,
                          where, header);
    }
    uint32_t index = eden_index_of(object);
    if (index >= heap->next_class && index != heap->observer_class) {
        return error_fail(v->error, EDEN_CORRUPT, "object %#" PRIx64 " in %s: class index %u is not defined", object,
                          where, index);
    }
    const struct eden_class_info *class = heap_class(heap, index);
    uint32_t format = eden_format_bits(object);
    uint32_t unused_mask = class->format >= EDEN_FORMAT_BYTES     ? 7u
                           : class->format >= EDEN_FORMAT_WORDS16 ? 3u
                           : class->format >= EDEN_FORMAT_WORDS32 ? 1u
                                                                  : 0u;
    bool mourned = class->format == EDEN_FORMAT_EPHEMERON && format == EDEN_FORMAT_FIXED;
    if ((format & ~unused_mask) != class->format && !mourned) {
        return error_fail(v->error, EDEN_CORRUPT, "object %#" PRIx64 " in %s: format %u, but its class '%.60s' has %u",
                          object, where, format, (const char *)(uintptr_t) class->name, class->format);
    }
    size_t slots = eden_slot_count(object);
    bool fixed = class->format == EDEN_FORMAT_EMPTY || class->format == EDEN_FORMAT_FIXED;
    if (slots < class->fixed_slots || (fixed && slots != class->fixed_slots)) {
        return error_fail(v->error, EDEN_CORRUPT,
                          "object %#" PRIx64 " in %s: %zu slots, but its class '%.60s' fixes %u", object, where, slots,
                          (const char *)(uintptr_t) class->name, class->fixed_slots);
    }
    if (heap_is_young(heap, object) && (header & EDEN_HEADER_REMEMBERED) != 0) {
        return error_fail(v->error, EDEN_CORRUPT, "object %#" PRIx64 " in %s: young, but remembered", object, where);
    }
    return true;
}

/* For messages: `what`, or of an object, where it is NULL, the class. Not looked up for each slot of the heap. */
static const char *holder_name(const struct verifier *v, const char *what, uint64_t at) {
    return what != NULL ? what : eden_class_name(v->heap, eden_class_of(v->heap, at));
}

/* Is it a reference to an object, an immediate, or none? */
static bool check_value(struct verifier *v, eden_value value, const char *holder, uint64_t at, size_t slot) {
    const eden_heap *heap = v->heap;
    if (value == EDEN_NONE) {
        return true;
    }
    if (!eden_is_object(value)) {
        uint64_t tag = value & EDEN_TAG_MASK;
        return tag == EDEN_TAG_INT || tag == EDEN_TAG_CHAR || tag == EDEN_TAG_FLOAT ||
               error_fail(v->error, EDEN_CORRUPT, "%s %#" PRIx64 ", slot %zu: %#" PRIx64 " has an invalid tag",
                          holder_name(v, holder, at), at, slot, value);
    }
    bool mapped = value - v->base < v->starts_bytes * 64 - 512;
    if (!mapped || (!heap_is_young(heap, value) && !heap_is_old(heap, value))) {
        return error_fail(v->error, EDEN_CORRUPT,
                          "%s %#" PRIx64 ", slot %zu: %#" PRIx64 " is not an address of this heap",
                          holder_name(v, holder, at), at, slot, value);
    }
    if (!is_start(v, value)) {
        return error_fail(v->error, EDEN_CORRUPT,
                          "%s %#" PRIx64 ", slot %zu: %#" PRIx64
                          " in %s is not the start of a live object (stale reference?)",
                          holder_name(v, holder, at), at, slot, value, space_name(heap, value));
    }
    return true;
}

static void check_root_slots(eden_visit *visit, eden_value *slots, size_t count) {
    struct verifier *v = (struct verifier *)visit;
    for (size_t i = 0; v->ok && i < count; i++) {
        v->ok = check_value(v, slots[i], "root at", (uintptr_t)&slots[i], 0);
    }
}

static bool is_remembered(const eden_heap *heap, eden_value object, size_t slot) {
    if (cards_apply(heap, object)) {
        return cards_is_dirty(heap, (struct card){object, slot / CARD_SLOTS * CARD_SLOTS});
    }
    return object_has(object, EDEN_HEADER_REMEMBERED);
}

static void note_unscanned(struct verifier *v, eden_value object) {
    size_t word = (object - v->base) / 8;
    v->unscanned[word / 64] |= 1ull << (word % 64);
}

/* On the stack, integers say where to go on in an object. */
static void note_all_unscanned(struct verifier *v) {
    const struct cycle *cycle = &v->heap->cycle;
    if (!cycle_is_running(cycle)) {
        return;
    }
    v->unscanned = system_map(&v->heap->system, v->starts_bytes, "verifier");
    if (v->unscanned != NULL) {
        for (size_t i = 0; i < cycle->stack.count; i++) {
            if (eden_is_object(cycle->stack.entries[i])) {
                note_unscanned(v, cycle->stack.entries[i]);
            }
        }
        for (size_t i = 0; i < cycle->left_count; i++) {
            note_unscanned(v, cycle->left[i]);
        }
    }
}

/* Has a cycle scanned it, and will the last stop not do so again? */
static bool is_black(const struct verifier *v, eden_value object) {
    size_t word = (object - v->base) / 8;
    return v->unscanned != NULL && !v->heap->cycle.rescans && !heap_is_young(v->heap, object) &&
           object_has(object, EDEN_HEADER_MARKED) && !object_has(object, EDEN_HEADER_GREY | EDEN_HEADER_REMEMBERED) &&
           (v->unscanned[word / 64] >> (word % 64) & 1) == 0;
}

static bool is_white(const struct verifier *v, eden_value value) {
    return eden_is_object(value) && !heap_is_young(v->heap, value) && !object_has(value, EDEN_HEADER_MARKED);
}

static bool check_slots(struct verifier *v, eden_value object) {
    size_t count = object_is_free(object) ? 0 : heap_reference_slots(v->heap, object);
    bool old = !heap_is_young(v->heap, object), black = is_black(v, object);
    for (size_t i = 0; i < count; i++) {
        eden_value value = eden_slot(object, i);
        if (!check_value(v, value, NULL, object, i)) {
            return false;
        }
        if (old && heap_is_young(v->heap, value) && !is_remembered(v->heap, object, i) &&
            !v->heap->remembered.is_incomplete) {
            return error_fail(v->error, EDEN_CORRUPT,
                              "old %.60s %#" PRIx64 ", slot %zu refers to young %#" PRIx64
                              ", but is not remembered (a store without eden_slot_set?)",
                              holder_name(v, NULL, object), object, i, value);
        }
        if (black && is_white(v, value)) {
            return error_fail(v->error, EDEN_CORRUPT,
                              "marked %.60s %#" PRIx64 ", slot %zu refers to unmarked %#" PRIx64
                              " (a store without eden_slot_set, or by code compiled against other headers?)",
                              holder_name(v, NULL, object), object, i, value);
        }
    }
    return true;
}

static bool check_dead(struct verifier *v, eden_value object, uintptr_t limit) {
    return (object_end(object) <= limit && object_end(object) > object_start(object)) ||
           error_fail(v->error, EDEN_CORRUPT,
                      "dead object %#" PRIx64 " in old space: %zu slots reach beyond its segment", object,
                      eden_slot_count(object));
}

/* The unswept part of a segment. */
static bool each_marked(struct verifier *v, const struct segment *segment,
                        bool (*check)(struct verifier *, eden_value, uintptr_t)) {
    bool ok = true;
    v->marked_from = segment->dead_to;
    for (uintptr_t at = segment->swept_to; ok && at < segment->limit; at = object_end(object_at(at))) {
        eden_value object = object_at(at);
        ok = object_has(object, EDEN_HEADER_MARKED) ? check(v, object, segment->limit)
                                                    : check_dead(v, object, segment->limit);
    }
    v->marked_from = UINTPTR_MAX;
    return ok;
}

/* Calls check for every object and filler of the heap, but the dead of unswept parts, with the end of its space. */
static bool each_object(struct verifier *v, bool (*check)(struct verifier *, eden_value, uintptr_t)) {
    eden_heap *heap = v->heap;
    struct space *spaces[YOUNG_SPACES];
    heap_young_spaces(heap, spaces);
    for (int i = 0; i < YOUNG_SPACES; i++) {
        for (uintptr_t at = spaces[i]->start; at < spaces[i]->used; at = object_end(object_at(at))) {
            if (!check(v, object_at(at), spaces[i]->used)) {
                return false;
            }
        }
    }
    for (size_t i = 0; i < heap->old.segment_count; i++) {
        struct segment segment = heap->old.segments[i];
        eden_value object = old_space_walk(heap, segment.start);
        while (object != EDEN_NONE && object < segment.swept_to) {
            if (!check(v, object, segment.swept_to)) {
                return false;
            }
            object = old_space_walk(heap, object_end(object));
        }
        if (!each_marked(v, &segment, check)) {
            return false;
        }
    }
    return true;
}

/* A bad header was overwritten: adds what may have done it to the message. */
static void explain_header(const struct verifier *v) {
    if (v->error == NULL) {
        return;
    }
    size_t length = strlen(v->error->message), room = sizeof v->error->message - length;
    if (v->before == EDEN_NONE || object_is_free(v->before)) {
        snprintf(v->error->message + length, room, " (a write through a stale C pointer?)");
    } else {
        snprintf(v->error->message + length, room,
                 " (a write through a stale C pointer, or past the end of %.40s %#" PRIx64 " before it?)",
                 holder_name(v, NULL, v->before), v->before);
    }
}

static void count(struct tally *tally, bool is_in, eden_value object) {
    tally->objects += is_in;
    tally->bytes += is_in ? object_bytes(object) : 0;
}

static bool first_pass(struct verifier *v, eden_value object, uintptr_t limit) {
    if (v->before != EDEN_NONE &&
        object - object_end(v->before) > 8) { /* 8: what is read as the word of a long object */
        v->before = EDEN_NONE;                /* of another space */
    }
    if (!check_header(v, object, limit)) {
        explain_header(v);
        return false;
    }
    v->before = object;
    bool old = !heap_is_young(v->heap, object);
    if (object_is_free(object)) {
        size_t bytes = object_bytes(object);
        v->old_free_bytes += old ? bytes : 0;
        v->fragment_bytes += old && bytes < 16 ? bytes : 0;
        return true;
    }
    count(&v->old_objects, old, object);
    count(&v->marked, object >= v->marked_from, object);
    v->remembered_bits += object_has(object, EDEN_HEADER_REMEMBERED);
    note_start(v, object);
    return true;
}

static bool second_pass(struct verifier *v, eden_value object, uintptr_t limit) {
    (void)limit;
    return check_slots(v, object);
}

static bool check_chunk(void *context, uintptr_t start, size_t bytes) {
    struct verifier *v = context;
    eden_value chunk = object_at(start);
    v->chunk_bytes += bytes;
    v->chunks++;
    if (!heap_is_old(v->heap, start) || !object_is_free(chunk) || object_bytes(chunk) != bytes) {
        return error_fail(v->error, EDEN_CORRUPT,
                          "free chunk %#" PRIx64 ": its header does not match its size of %zu bytes", (uint64_t)start,
                          bytes);
    }
    bool tree = bytes >= (size_t)FREE_LIST_SIZES * 8;
    if (bytes < v->last_bytes || (tree && bytes == v->last_bytes && start <= v->last_chunk)) {
        return error_fail(v->error, EDEN_CORRUPT, "free chunk %#" PRIx64 " of %zu bytes: out of order", (uint64_t)start,
                          bytes);
    }
    v->last_bytes = bytes;
    v->last_chunk = start;
    return true;
}

/* Each entry is an old object with the remembered bit, and as many objects have it: no entry is there twice. */
static bool check_remembered(struct verifier *v) {
    const struct remembered_set *set = &v->heap->remembered;
    for (size_t i = 0; i < set->count; i++) {
        eden_value object = set->objects[i];
        if (object == EDEN_NONE) {
            return error_fail(v->error, EDEN_CORRUPT, "remembered set: entry %zu is empty", i);
        }
        if (!check_value(v, object, "remembered set at", (uintptr_t)&set->objects[i], i)) {
            return false;
        }
        if (heap_is_young(v->heap, object) || !object_has(object, EDEN_HEADER_REMEMBERED)) {
            return error_fail(v->error, EDEN_CORRUPT,
                              "remembered set: %#" PRIx64 " is young, or lacks the remembered bit", object);
        }
    }
    for (size_t i = 0; v->starts != NULL && i < set->count; i++) {
        size_t word = (set->objects[i] - v->base) / 8;
        if (!is_start(v, set->objects[i])) {
            return error_fail(v->error, EDEN_CORRUPT, "remembered set: %#" PRIx64 " occurs twice", set->objects[i]);
        }
        v->starts[word / 64] &= ~(1ull << (word % 64)); /* nothing else asks after this */
    }
    return v->remembered_bits == set->count ||
           error_fail(v->error, EDEN_CORRUPT, "remembered set: %zu entries, but %" PRIu64 " objects have the bit",
                      set->count, v->remembered_bits);
}

static bool check_cards(struct verifier *v) {
    const eden_heap *heap = v->heap;
    for (size_t i = 0; i < heap->remembered.card_count; i++) {
        struct card card = heap->remembered.cards[i];
        if (!check_value(v, card.object, "remembered set at", (uintptr_t)&heap->remembered.cards[i], i)) {
            return false;
        }
        if (heap_is_young(heap, card.object) || !cards_apply(heap, card.object) || !cards_is_dirty(heap, card)) {
            return error_fail(v->error, EDEN_CORRUPT,
                              "remembered set: card %zu of %#" PRIx64
                              " belongs to no large old object, or is clean in the table",
                              card.first, card.object);
        }
    }
    return true;
}

/* What is unswept, and what of it lives, is what the sweep still has to find. */
static bool check_unswept(struct verifier *v) {
    const struct lazy_sweep *sweep = &v->heap->old.sweep;
    for (size_t i = 0; i < v->heap->old.segment_count; i++) {
        const struct segment *segment = &v->heap->old.segments[i];
        v->unswept += segment->swept_to != segment->limit;
        v->unswept_bytes += segment->limit - segment->swept_to;
    }
    struct tally left = {sweep->live.objects - sweep->found.objects, sweep->live.bytes - sweep->found.bytes};
    return (v->unswept == sweep->unswept && v->marked.objects == left.objects && v->marked.bytes == left.bytes) ||
           error_fail(v->error, EDEN_CORRUPT,
                      "old space: %zu segments are unswept, with %" PRIu64 " objects of %" PRIu64
                      " bytes; the counters have %zu, %" PRIu64 " and %" PRIu64,
                      v->unswept, v->marked.objects, v->marked.bytes, sweep->unswept, left.objects, left.bytes);
}

static bool check_books(struct verifier *v) {
    const eden_heap *heap = v->heap;
    const struct old_space *old = &heap->old;
    if (!free_chunks_each(&old->free, check_chunk, v) || !check_unswept(v)) {
        return false;
    }
    uint64_t free_bytes =
        v->old_free_bytes + (old->buffer_limit - old->buffer_free) + (v->unswept_bytes - v->marked.bytes);
    if (free_bytes != old->free_bytes || v->old_objects.bytes != heap_old_used(heap) ||
        v->old_objects.objects != old->objects) {
        return error_fail(v->error, EDEN_CORRUPT,
                          "old space: found %" PRIu64 " objects of %" PRIu64 " bytes, and %" PRIu64
                          " bytes free; the counters have %" PRIu64 ", %" PRIu64 " and %" PRIu64,
                          v->old_objects.objects, v->old_objects.bytes, free_bytes, old->objects, heap_old_used(heap),
                          old->free_bytes);
    }
    if (v->chunk_bytes + v->fragment_bytes != v->old_free_bytes || v->chunks != old->free.chunks) {
        return error_fail(v->error, EDEN_CORRUPT,
                          "free chunks: %" PRIu64 " of %" PRIu64 " bytes are listed, old space has %" PRIu64
                          " bytes free, the counter has %" PRIu64,
                          v->chunks, v->chunk_bytes, v->old_free_bytes - v->fragment_bytes, old->free.chunks);
    }
    return check_remembered(v) && check_cards(v);
}

static bool check_eden(const eden_heap *heap, eden_error *error) {
    return heap->mutator.limit <= heap->eden.limit ||
           error_fail(error, EDEN_CORRUPT, "allocation may go on to %#zx, and eden ends at %#zx", heap->mutator.limit,
                      heap->eden.limit);
}

bool eden_heap_verify(eden_heap *heap, eden_error *error) {
    struct verifier v = {.visit = {.heap = heap, .slots = check_root_slots},
                         .heap = heap,
                         .error = error,
                         .ok = true,
                         .marked_from = UINTPTR_MAX};
    v.base = heap->reservation;
    v.starts_bytes = (heap_top(heap) - v.base) / 64 + 8;
    v.starts = system_map(&heap->system, v.starts_bytes, "verifier");
    bool ok = check_eden(heap, error) && each_object(&v, first_pass);
    if (ok) {
        note_all_unscanned(&v);
        roots_visit(&v.visit);
        ok = v.ok && each_object(&v, second_pass) && check_books(&v);
    }
    if (v.starts != NULL) {
        system_unmap(v.starts, v.starts_bytes);
    }
    if (v.unscanned != NULL) {
        system_unmap(v.unscanned, v.starts_bytes);
    }
    return ok;
}
