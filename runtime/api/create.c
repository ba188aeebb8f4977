/* Making and ending heaps; mutators. */
#include "api/instance.h"
#include "heap/class_table.h"
#include "heap/new_space.h"
#include "heap/policy.h"
#include "heap/registry.h"
#include "heap/workers.h"
#include "young/remembered.h"
#include <stdlib.h>

const char *eden_version(void) { return EDEN_VERSION; }

static void release(struct instance *instance) {
    eden_heap *heap = &instance->heap;
    class_table_destroy(heap);
    pretenure_destroy(&instance->pretenure);
    census_destroy(&instance->census);
    mark_stack_destroy(&heap->mark_stack);
    cycle_destroy(&heap->cycle);
    lazy_sweep_cancel(heap);
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
    census_subscribe(&instance->census, heap);
    policy_create(heap);
    if (!pretenure_create(&instance->pretenure, heap, error) || !new_space_create(heap, error)) {
        return false;
    }
    if (!mark_stack_create(&heap->mark_stack, &heap->system) || !class_table_create(heap)) {
        return error_fail(error, EDEN_NO_MEMORY, "out of memory for the heap's tables");
    }
    heap->old.used_at_full = params_decide(&heap->params, EDEN_PARAM_full_gc_ratio)
                                 ? 0
                                 : heap->params.grow_headroom; /* a first segment's worth is no growth */
    policy_start(heap);
    heap->mutator.young_start = heap->info.new_start;
    heap->mutator.young_words = heap->mutator.barrier_words = heap->info.new_bytes / 8;
    heap->mutator.heap = heap;
    cycle_create(heap);
    heap_set_limit(heap);
    heap->hash_seed = 2463534242u;
    heap->alone_bytes = WORKERS_ALONE_BYTES;
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
static void report_living_heap(eden_heap *heap) {
    struct instance *instance = instance_of(heap);
    if (is_at_rest(heap)) {
        lifetimes_end(&instance->lifetimes);
    }
    events_destroy(&instance->events);
}

__attribute__((destructor)) static void report_living_heaps(void) { registry_report_all(report_living_heap); }

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

/* Is it decided for good when the heap is created? Setting the present value is no exception: policy=auto decides what
 * is not set. */
static bool is_fixed(const char *name) {
    switch (eden_param_find(name)) {
    case EDEN_PARAM_eden_size:
    case EDEN_PARAM_remembered_set:
    case EDEN_PARAM_pretenure:
        return true;
    default:
        return false;
    }
}

bool eden_heap_set(eden_heap *heap, const char *name, const char *value, eden_error *error) {
    struct params changed = heap->params;
    if (!params_set(&changed, name, value, "eden_heap_set", error)) {
        return false;
    }
    if (is_fixed(name)) {
        return error_fail(error, EDEN_BAD_PARAMETER,
                          "eden_heap_set: %s=%.100s: %s cannot change after the heap is created", name, value, name);
    }
    if (changed.max_heap < heap->new_space.bytes + heap->old.capacity) {
        return error_fail(error, EDEN_BAD_PARAMETER,
                          "eden_heap_set: max_heap=%.40s is less than the heap has mapped (%llu bytes)", value,
                          (unsigned long long)heap->new_space.bytes + heap->old.capacity);
    }
    bool is_other_policy = changed.policy != heap->params.policy;
    heap->params = changed;
    if (is_other_policy) {
        policy_set(heap);
    }
    heap_set_limit(heap);
    params_fire(heap, name);
    return true;
}

bool eden_heap_get(const eden_heap *heap, const char *name, char *text, size_t size) {
    return params_get(&heap->params, name, text, size);
}
