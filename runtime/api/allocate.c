/* Allocation's slow paths: what happens when the inline bump has no room.
 *
 * Young: scavenge, then the full collection that old space's growth may ask for. If there is still no room (the
 * scavenge had to keep objects in place because nothing could be promoted), a full collection makes room in old space,
 * a second scavenge empties new space into it; failing that the object is born old; failing that the allocation fails.
 *
 * Old (objects larger than large_object, or than half of eden): a free chunk; else, as far as policy=auto lets old
 * space grow, a new segment; else a full collection, before memory is asked of the system; else a new segment; else, if
 * enough is free but in pieces, a full collection that slides old space together; else failure.
 *
 * Born old by `pretenure`: pretenure.c; where old space has no room for them, they are young like others.
 *
 * With stress=n every n-th allocation collects first, each 16th time in full; mutator->limit stays at free then, so
 * that all allocations come here, and the inline path knows nothing of it.
 *
 * Too much: after each full collection here policy_gives_up judges whether collections still are worth their work
 * (eden_policy.h, section 6). If not, the allocation fails, whether it would find room or not, and the error names the
 * classes that grew.
 *
 * Failure is EDEN_NONE, with the reason in eden_last_error: never the end of the process. */
#include "api/instance.h"
#include "heap/policy.h"
#include "old/full.h"
#include "young/scavenge.h"
#include <stdio.h>

enum { STRESS_FULL = 16 };

enum { CLASS_TEXT = 160 };

/* "class 'Pair'", or "class 'Pair' at site 'cons'". */
static const char *class_text(const eden_heap *heap, uint32_t index, char text[CLASS_TEXT]) {
    const struct eden_class_info *info = heap_class(heap, index), *class = heap_class(heap, info->class_index);
    const char *name = class->name == 0 ? "?" : (const char *)(uintptr_t) class->name;
    if (info == class || info->name == 0) {
        snprintf(text, CLASS_TEXT, "class '%.60s'", name);
    } else {
        snprintf(text, CLASS_TEXT, "class '%.60s' at site '%.60s'", name, (const char *)(uintptr_t)info->name);
    }
    return text;
}

static eden_value fail_overhead(eden_heap *heap, uint64_t header, size_t bytes) {
    uint32_t index = (uint32_t)(header & EDEN_HEADER_CLASS_MASK);
    char limit[40] = "what the system allows", grown[sizeof heap->last_error.message], called[CLASS_TEXT];
    if (heap->params.max_heap != EDEN_NO_LIMIT) {
        snprintf(limit, sizeof limit, "max_heap=%llu", (unsigned long long)heap->params.max_heap);
    }
    census_growth(&instance_of(heap)->census, grown, sizeof grown);
    error_fail(&heap->last_error, EDEN_NO_MEMORY,
               "out of memory for an object of %zu bytes of %s: %u full collections left less than %u%% of %s "
               "free, for over %g%% of the work; %s",
               bytes, class_text(heap, index, called), EDEN_POLICY_ROW, 100 / EDEN_POLICY_FREE, limit,
               100 * heap->params.overhead_limit, grown);
    events_alloc_failed(heap, index, bytes, EDEN_FAILURE_OVERHEAD);
    return EDEN_NONE;
}

static eden_value fail_allocation(eden_heap *heap, uint64_t header, size_t bytes) {
    uint32_t index = (uint32_t)(header & EDEN_HEADER_CLASS_MASK);
    char limit[40] = "the system", called[CLASS_TEXT];
    const uint64_t kept = heap->new_space.bytes + policy_kept_free(heap); /* as old_space_grow() has refused it */
    if (heap->params.max_heap != EDEN_NO_LIMIT &&
        kept + heap->old.capacity + system_page_round(bytes) > heap->params.max_heap) {
        snprintf(limit, sizeof limit, "max_heap=%llu", (unsigned long long)heap->params.max_heap);
    }
    error_fail(&heap->last_error, EDEN_NO_MEMORY,
               "out of memory for an object of %zu bytes of %s: old space has %llu of %llu bytes in use, "
               "%llu free in one piece, and %s allows no growth",
               bytes, class_text(heap, index, called), (unsigned long long)heap_old_used(heap),
               (unsigned long long)heap->old.capacity, (unsigned long long)old_space_largest_free(heap), limit);
    events_alloc_failed(heap, index, bytes, EDEN_FAILURE_MEMORY);
    return EDEN_NONE;
}

/* Makes an object of fresh memory: header, overflow word, cleared references. */
static eden_value format_object(eden_heap *heap, uintptr_t start, uint64_t header, size_t slots) {
    eden_value object = start;
    if (slots >= EDEN_SLOTS_OVERFLOW) {
        *(uint64_t *)start = (uint64_t)EDEN_SLOTS_OVERFLOW << EDEN_HEADER_SLOTS_SHIFT | slots;
        object += 8;
        *eden_words_(object) = header | (uint64_t)EDEN_SLOTS_OVERFLOW << EDEN_HEADER_SLOTS_SHIFT;
    } else {
        *eden_words_(object) = header | (uint64_t)slots << EDEN_HEADER_SLOTS_SHIFT;
    }
    memset(eden_words_(object) + 1, 0, 8 * heap_reference_slots(heap, object));
    if (slots != 0 && eden_format_bits(object) >= EDEN_FORMAT_WORDS32) {
        eden_words_(object)[slots] = 0; /* the unused bytes of the last word */
    }
    return object;
}

static eden_value format_old(eden_heap *heap, uintptr_t start, uint64_t header, size_t slots) {
    eden_value object = format_object(heap, start, header, slots);
    if (cycle_is_running(&heap->cycle)) {
        cycle_born(heap, object);
    }
    return object;
}

/* In the memory that eden has and does without. 0: there is not enough of it. */
static eden_value allocate_from_eden(eden_heap *heap, size_t bytes) {
    if (heap->mutator.free != heap->eden.start) { /* nothing is old, so there was no full collection */
        scavenge(heap, EDEN_SCAVENGE_EDEN);
    }
    return policy_gives_eden(heap, bytes) && old_space_grow(heap, bytes) ? old_space_allocate(heap, bytes) : 0;
}

static eden_value allocate_old(eden_heap *heap, uint64_t header, size_t slots, size_t bytes) {
    eden_value start = old_space_allocate(heap, bytes);
    bool in_cycle = cycle_is_running(&heap->cycle); /* then the first full collection keeps what has died in it */
    if (start == 0 && policy_lets_grow(heap, bytes) && old_space_grow(heap, bytes)) {
        start = old_space_allocate(heap, bytes);
    }
    if (start == 0) {
        start = old_space_allocate_swept(heap, bytes);
    }
    if (start == 0 && heap_old_used(heap) != 0) {
        full_collect(heap, EDEN_FULL_ALLOCATION, bytes);
        if (policy_gives_up(heap)) {
            return fail_overhead(heap, header, bytes);
        }
        start = old_space_allocate_swept(heap, bytes);
    }
    if (start == 0 && old_space_grow(heap, bytes)) {
        start = old_space_allocate(heap, bytes);
    }
    if (start == 0 && in_cycle) {
        full_collect(heap, EDEN_FULL_LIMIT, bytes);
        start = heap_old_room(heap, bytes);
    }
    uint64_t left = heap->old.capacity - heap_old_used(heap);
    bool in_pieces = left >= bytes && left > heap->old.capacity / 16; /* less is not worth a collection */
    if (start == 0 && in_pieces && heap->params.compactor != EDEN_COMPACTOR_NONE) {
        full_collect_sliding(heap, bytes);
        start = old_space_allocate(heap, bytes);
    }
    if (start == 0 && policy_could_give(heap, bytes)) {
        start = allocate_from_eden(heap, bytes);
    }
    if (start == 0) {
        return fail_allocation(heap, header, bytes);
    }
    heap->delta.allocated += bytes;
    heap->old.objects++;
    policy_old_changed(heap);
    return format_old(heap, start, header, slots);
}

static eden_value bump(eden_heap *heap, uint64_t header, size_t slots, size_t bytes) {
    eden_mutator *mutator = &heap->mutator;
    if (heap->eden.limit - mutator->free < bytes + heap->eden_reserve || mutator->free >= heap->cycle.eden_limit) {
        return EDEN_NONE;
    }
    uintptr_t start = mutator->free;
    mutator->free += bytes;
    OBSERVE_ALLOCATION(heap, taken, start, bytes);
    return format_object(heap, start, header, slots);
}

static void stress(eden_heap *heap) {
    uint64_t every = (uint64_t)heap->params.stress;
    uint64_t count = ++heap->stress_allocations;
    if (count % (every * STRESS_FULL) == 0) {
        full_collect(heap, EDEN_FULL_REQUEST, 0);
    } else if (count % every == 0) {
        scavenge(heap, EDEN_SCAVENGE_REQUEST);
    }
}

static eden_value allocate(eden_heap *heap, uint64_t header, size_t slots, bool born_old) {
    if (slots > heap->reservation_bytes / 8) {
        return fail_allocation(heap, header, slots > SIZE_MAX / 8 - 2 ? SIZE_MAX : slots * 8 + 16);
    }
    size_t bytes = slots * 8 + (slots >= EDEN_SLOTS_OVERFLOW ? 16 : 8);
    if (bytes > heap->params.large_object || bytes > heap->params.eden_size / 2) {
        eden_value object = allocate_old(heap, header, slots, bytes);
        if (object != EDEN_NONE) {
            events_large(heap, object, bytes);
        }
        return object;
    }
    uintptr_t start = born_old ? pretenure_room(&instance_of(heap)->pretenure, heap, bytes) : 0;
    if (start != 0) {
        heap->old.objects++;
        events_born_old(heap, bytes);
        return format_old(heap, start, header, slots);
    }
    eden_value object = bump(heap, header, slots, bytes);
    if (object == EDEN_NONE) {
        scavenge(heap, EDEN_SCAVENGE_EDEN);
        full_collect_if_grown(heap);
        if (policy_gives_up(heap)) {
            return fail_overhead(heap, header, bytes);
        }
        object = bump(heap, header, slots, bytes);
    }
    if (object == EDEN_NONE) {
        full_collect(heap, EDEN_FULL_LIMIT, bytes);
        if (policy_gives_up(heap)) {
            return fail_overhead(heap, header, bytes);
        }
        scavenge(heap, EDEN_SCAVENGE_EDEN);
        object = bump(heap, header, slots, bytes);
    }
    return object != EDEN_NONE ? object : allocate_old(heap, header, slots, bytes);
}

eden_value eden_allocate_slow(eden_mutator *mutator, uint64_t header, size_t slots) {
    eden_heap *heap = mutator->heap;
    if (instance_refuses(heap, "allocation")) {
        return EDEN_NONE;
    }
    bool born_old = pretenure_reveal(heap, &header, &slots);
    OBSERVE_ALLOCATION(heap, allocating, header, slots);
    if (heap->params.stress > 0) {
        stress(heap);
    }
    eden_value object = allocate(heap, header, slots, born_old);
    if (object != EDEN_NONE) {
        OBSERVE_ALLOCATION(heap, made, object);
        OBSERVE_ALLOCATION(heap, allocated, object);
    }
    heap_set_limit(heap);
    return object;
}

uint32_t eden_identity_hash(eden_mutator *mutator, eden_value object) {
    eden_heap *heap = mutator->heap;
    check_object_of(heap, object, "eden_identity_hash");
    uint64_t hash = eden_header(object) >> EDEN_HEADER_HASH_SHIFT & EDEN_HEADER_HASH_MASK;
    while (hash == 0) {
        /* xorshift32 (Marsaglia 2003); the seed is never 0. */
        heap->hash_seed ^= heap->hash_seed << 13;
        heap->hash_seed ^= heap->hash_seed >> 17;
        heap->hash_seed ^= heap->hash_seed << 5;
        hash = heap->hash_seed & EDEN_HEADER_HASH_MASK;
        object_set(object, hash << EDEN_HEADER_HASH_SHIFT);
    }
    return (uint32_t)hash;
}
