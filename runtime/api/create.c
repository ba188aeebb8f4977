/* Making and ending heaps; mutators; the shape of new space.
 *
 * New space, from the lowest address: two survivor semispaces of 1/7 each, eden of 5/7. Survivors lie below eden so
 * that a lower address means older (tenure.c). */
#include "api/instance.h"
#include "heap/class_table.h"
#include "heap/registry.h"
#include "young/remembered.h"
#include <stdlib.h>
#include <sys/resource.h>

/* What is reserved, not used: room for old space to grow in. Less where the process may not have so much. */
static const uint64_t OLD_RESERVE = 1ull << 38, OLD_RESERVE_LEAST = 1ull << 24;

const char *eden_version(void) { return EDEN_VERSION; }

/* At most half of what the process may still map. */
static uint64_t reserve_wanted(const eden_heap *heap, uint64_t new_bytes) {
    uint64_t wanted = OLD_RESERVE;
    if (heap->params.max_heap != EDEN_NO_LIMIT && heap->params.max_heap > wanted) {
        wanted = system_page_round(heap->params.max_heap);
    }
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && wanted > limit.rlim_cur / 2) {
        wanted = limit.rlim_cur / 2 & ~4095ull;
    }
    return wanted > OLD_RESERVE_LEAST ? wanted + new_bytes : OLD_RESERVE_LEAST + new_bytes;
}

/* Address space for new and old space, and for the card table of so much. */
static bool reserve(eden_heap *heap, uint64_t bytes, size_t new_bytes) {
    void *at = system_reserve(&heap->system, bytes);
    if (at == NULL) {
        return false;
    }
    heap->reservation = (uintptr_t)at;
    heap->reservation_bytes = bytes;
    heap->old.start = heap->reservation + new_bytes;
    heap->old.limit = heap->reservation + bytes;
    if (old_space_reserve_cards(heap)) {
        return true;
    }
    system_release(at, bytes);
    heap->reservation = 0;
    return false;
}

static bool create_spaces(eden_heap *heap, eden_error *error) {
    size_t eden_bytes = system_page_round(heap->params.eden_size);
    size_t semi_bytes = system_page_round(eden_bytes / 5);
    size_t new_bytes = eden_bytes + 2 * semi_bytes;
    if (heap->params.max_heap != EDEN_NO_LIMIT && heap->params.max_heap < new_bytes) {
        return error_fail(
            error, EDEN_BAD_PARAMETER,
            "max_heap=%llu: less than new space, which takes %zu bytes (7/5 of eden_size); raise max_heap or "
            "lower eden_size",
            (unsigned long long)heap->params.max_heap, new_bytes);
    }
    uint64_t bytes = reserve_wanted(heap, new_bytes);
    bool reserved = reserve(heap, bytes, new_bytes);
    while (!reserved && bytes / 2 >= OLD_RESERVE_LEAST + new_bytes) {
        bytes = bytes / 2 & ~4095ull;
        reserved = reserve(heap, bytes, new_bytes);
    }
    if (!reserved) {
        return error_fail(error, EDEN_NO_MEMORY, "cannot reserve %llu bytes of address space (ulimit -v?)",
                          (unsigned long long)bytes);
    }
    uintptr_t at = heap->reservation;
    if (!system_commit(&heap->system, at, new_bytes, "new space")) {
        return error_fail(error, EDEN_NO_MEMORY, "no memory: cannot map %zu bytes for new space (eden_size)",
                          new_bytes);
    }
    heap->semi[0] = (struct space){at, at, at + semi_bytes};
    at += semi_bytes;
    heap->semi[1] = (struct space){at, at, at + semi_bytes};
    at += semi_bytes;
    heap->eden = (struct space){at, at, at + heap->params.eden_size / 8 * 8};
    heap->old.used_at_full = heap->params.grow_headroom; /* a first segment's worth is no growth */
    heap->info.new_start = heap->reservation;
    heap->info.new_bytes = new_bytes;
    return true;
}

static void release(struct instance *instance) {
    eden_heap *heap = &instance->heap;
    class_table_destroy(heap);
    pretenure_destroy(&instance->pretenure);
    mark_stack_destroy(&heap->mark_stack);
    if (heap->reservation != 0) {
        check_destroy(&instance->check);
        system_release((void *)heap->reservation, heap->reservation_bytes);
    }
    old_space_destroy(&heap->old);
    remembered_destroy(&heap->remembered);
    ephemerons_destroy(heap);
    free(heap->deferred.objects);
    roots_destroy(&heap->roots);
    hooks_destroy(&instance->hooks);
    system_unmap(instance, system_page_round(sizeof *instance));
}

static bool create(struct instance *instance, const eden_options *options, eden_error *error) {
    eden_heap *heap = &instance->heap;
    params_defaults(&heap->params);
    if (!params_parse(&heap->params, options->parameters, "parameters of the program", error) ||
        !params_parse(&heap->params, secure_getenv("EDEN_OPTIONS"), "EDEN_OPTIONS", error)) {
        return false;
    }
    events_subscribe(&instance->events, heap);
    if (!pretenure_create(&instance->pretenure, heap, error) || !create_spaces(heap, error)) {
        return false;
    }
    if (!mark_stack_create(&heap->mark_stack, &heap->system) || !class_table_create(heap)) {
        return error_fail(error, EDEN_NO_MEMORY, "out of memory for the heap's tables");
    }
    heap->mutator.free = heap->delta.allocated_from = heap->eden.start;
    heap->mutator.young_start = heap->info.new_start;
    heap->mutator.young_words = heap->info.new_bytes / 8;
    heap->mutator.heap = heap;
    heap_set_limit(heap);
    heap->hash_seed = 2463534242u;
    struct eden_heap_info *info = &heap->info;
    info->magic = EDEN_HEAP_MAGIC;
    info->version = EDEN_ABI_VERSION;
    info->bytes = sizeof *info;
    info->created_ns = system_now_ns();
    info->figure_count = EDEN_FIGURE_COUNT;
    strncpy(info->name, options->name == NULL ? "eden" : options->name, sizeof info->name - 1);
    lifetimes_subscribe(&instance->lifetimes, heap);
    check_subscribe(&instance->check, heap);
    hooks_subscribe(&instance->hooks, heap);
    return true;
}

eden_heap *eden_heap_create(const eden_options *options, eden_error *error) {
    static const eden_options defaults;
    options = options == NULL ? &defaults : options;
    struct system system = {options->memory_hook, options->memory_hook_context};
    struct instance *instance = system_map(&system, system_page_round(sizeof *instance), "heap");
    if (instance == NULL) {
        error_fail(error, EDEN_NO_MEMORY, "out of memory for a heap");
        return NULL;
    }
    eden_heap *heap = &instance->heap;
    heap->system = system;
    if (!create(instance, options, error)) {
        release(instance);
        return NULL;
    }
    registry_add(heap);
    events_create(&instance->events);
    lifetimes_create(&instance->lifetimes);
    return heap;
}

bool instance_refuses(eden_heap *heap, const char *call) {
    if (heap->broken_invariant != NULL) {
        error_fail(&heap->last_error, EDEN_CORRUPT, "%s: heap '%s' is corrupt: %s", call, heap->info.name,
                   heap->broken_invariant);
        return true;
    }
    return hooks_refuse(heap, call);
}

/* Frames whose blocks are not left yet lose their mutator: each leads to itself then, where eden_frame_leave changes
 * nothing of the heap, which may be gone. Frames that a longjmp has skipped lie below this function's own, or say
 * another mutator: what they were in may hold anything. */
static void close_frames(eden_mutator *mutator, const char *call) {
    uintptr_t below = (uintptr_t)__builtin_frame_address(0);
    check_frames(mutator->heap, call);
    if (!pthread_equal(mutator->heap->thread, pthread_self())) {
        mutator->frames = NULL; /* they would be on another stack */
    }
    for (struct eden_frame *frame = mutator->frames; frame != NULL;) {
        struct eden_frame *previous = frame->previous;
        if ((uintptr_t)frame <= below || frame->mutator != mutator) {
            break;
        }
        frame->mutator = (eden_mutator *)((char *)&frame->previous - offsetof(struct eden_mutator, frames));
        frame = previous;
    }
    mutator->frames = NULL;
}

void eden_heap_destroy(eden_heap *heap) {
    if (heap == NULL || hooks_refuse(heap, "eden_heap_destroy")) {
        return;
    }
    close_frames(&heap->mutator, "eden_heap_destroy");
    struct instance *instance = instance_of(heap);
    if (registry_remove(heap)) {
        lifetimes_end(&instance->lifetimes);
        events_destroy(&instance->events);
    }
    release(instance);
}

/* The process may exit while another thread runs the mutator, or within a collection (from a root visitor, or a memory
 * hook): then a profile must be left as it is, without its last records. */
static bool is_at_rest(const eden_heap *heap) {
    return !heap->is_collecting && (!heap->is_attached || pthread_equal(heap->thread, pthread_self()));
}

/* Heaps that the program never destroyed: their last counts, EDEN_STATS and heap__destroy. Their memory is left alone:
 * other destructors may still use it. */
__attribute__((destructor)) static void report_living_heaps(void) {
    for (eden_heap *heap = registry_first(); heap != NULL; heap = registry_first()) {
        struct instance *instance = instance_of(heap);
        registry_remove(heap);
        if (is_at_rest(heap)) {
            lifetimes_end(&instance->lifetimes);
        }
        events_destroy(&instance->events);
    }
}

eden_mutator *eden_mutator_attach(eden_heap *heap, eden_error *error) {
    if (heap->is_attached) {
        error_fail(error, EDEN_BUSY, "heap '%s' has a mutator already; this version supports one per heap",
                   heap->info.name);
        return NULL;
    }
    heap->is_attached = true;
    heap->thread = pthread_self();
    return &heap->mutator;
}

void eden_mutator_detach(eden_mutator *mutator) {
    close_frames(mutator, "eden_mutator_detach");
    mutator->heap->is_attached = false;
}

eden_heap *eden_mutator_heap(const eden_mutator *mutator) { return mutator->heap; }

bool eden_heap_set(eden_heap *heap, const char *name, const char *value, eden_error *error) {
    struct params changed = heap->params;
    if (!params_set(&changed, name, value, "eden_heap_set", error)) {
        return false;
    }
    if (changed.eden_size != heap->params.eden_size) {
        return error_fail(error, EDEN_BAD_PARAMETER,
                          "eden_heap_set: eden_size cannot change after the heap is created");
    }
    if (changed.remembered_set != heap->params.remembered_set) {
        return error_fail(error, EDEN_BAD_PARAMETER,
                          "eden_heap_set: remembered_set cannot change after the heap is created");
    }
    if (changed.pretenure.choice != heap->params.pretenure.choice ||
        strcmp(changed.pretenure.path, heap->params.pretenure.path) != 0) {
        return error_fail(
            error, EDEN_BAD_PARAMETER,
            "eden_heap_set: pretenure=%.100s: cannot change after the heap is created (none, auto or a file)", value);
    }
    if (changed.max_heap < heap->info.new_bytes + heap->old.capacity) {
        return error_fail(error, EDEN_BAD_PARAMETER,
                          "eden_heap_set: max_heap=%.40s is less than the heap has mapped (%llu bytes)", value,
                          (unsigned long long)heap->info.new_bytes + heap->old.capacity);
    }
    heap->params = changed;
    heap_set_limit(heap);
    params_fire(heap, name);
    return true;
}

bool eden_heap_get(const eden_heap *heap, const char *name, char *text, size_t size) {
    return params_get(&heap->params, name, text, size);
}
