/* Collection hooks: functions of the program that are called after each collection.
 *
 * The heap is at rest when they run: figures are those of this collection, references lead to where objects are now,
 * weak slots are cleared, the queue of mourners is complete. A full collection begins with a scavenge, and both call
 * the hooks; so a hook may run between the two, and must neither allocate nor collect. While hooks run,
 * mutator->limit stays at free: each allocation takes the slow path, which refuses it (hooks_refuse). Without hooks
 * this costs a collection one comparison, and an allocation nothing.
 *
 * Invariant: the list changes only while no hook runs. */
#include "heap/private.h"

bool eden_collection_hook_add(eden_heap *heap, eden_collection_hook hook, void *context) {
    struct hooks *hooks = &heap->hooks;
    if (hooks_refuse(heap, "eden_collection_hook_add") ||
        !system_grow(&heap->system, (void **)&hooks->entries, &hooks->room, hooks->count, sizeof *hooks->entries,
                     "collection hooks")) {
        return false;
    }
    hooks->entries[hooks->count++] = (struct collection_hook){hook, context};
    return true;
}

bool eden_collection_hook_remove(eden_heap *heap, eden_collection_hook hook, void *context) {
    struct hooks *hooks = &heap->hooks;
    if (hooks_refuse(heap, "eden_collection_hook_remove")) {
        return false;
    }
    for (size_t i = hooks->count; i-- > 0;) {
        if (hooks->entries[i].call == hook && hooks->entries[i].context == context) {
            hooks->count--;
            memmove(hooks->entries + i, hooks->entries + i + 1, (hooks->count - i) * sizeof *hooks->entries);
            return true;
        }
    }
    return false;
}

void hooks_call(eden_heap *heap, enum eden_collection_kind kind) {
    struct hooks *hooks = &heap->hooks;
    if (hooks->count == 0) {
        return;
    }
    hooks->is_running = true;
    heap_set_limit(heap);
    for (size_t i = 0; i < hooks->count; i++) {
        hooks->entries[i].call(hooks->entries[i].context, &heap->mutator, kind);
    }
    hooks->is_running = false;
    heap_set_limit(heap);
}

bool hooks_refuse(eden_heap *heap, const char *call) {
    if (!heap->hooks.is_running) {
        return false;
    }
    check_hook(heap, call);
    fail(&heap->last_error, EDEN_BAD_ARGUMENT,
         "%s: not allowed in a collection hook, which must neither allocate nor collect", call);
    return true;
}
