/* Collection hooks: functions of the program that are called after each collection.
 *
 * The heap is at rest when they run: figures are those of this collection, references lead to where objects are now,
 * weak slots are cleared, the queue of mourners is complete. A full collection begins with a scavenge, and both call
 * the hooks; so a hook may run between the two, and must neither allocate nor collect. While hooks run,
 * mutator->limit stays at free: each allocation takes the slow path, which refuses it (hooks_refuse). Without hooks
 * this costs a collection one comparison, and an allocation nothing.
 *
 * Invariant: the list changes only while no hook runs. */
#include "api/instance.h"
#include <stdlib.h>

bool eden_collection_hook_add(eden_heap *heap, eden_collection_hook hook, void *context) {
    struct hooks *hooks = &instance_of(heap)->hooks;
    if (hooks_refuse(heap, "eden_collection_hook_add") ||
        !system_grow(&heap->system, (void **)&hooks->entries, &hooks->room, hooks->count, sizeof *hooks->entries,
                     "collection hooks")) {
        return false;
    }
    hooks->entries[hooks->count++] = (struct collection_hook){hook, context};
    return true;
}

bool eden_collection_hook_remove(eden_heap *heap, eden_collection_hook hook, void *context) {
    struct hooks *hooks = &instance_of(heap)->hooks;
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

static void run(struct hooks *hooks, enum eden_collection_kind kind) {
    if (hooks->count == 0) {
        return;
    }
    hooks->is_running = true;
    observer_watch_allocation(&hooks->observer);
    for (size_t i = 0; i < hooks->count; i++) {
        hooks->entries[i].call(hooks->entries[i].context, &hooks->observer.heap->mutator, kind);
    }
    observer_unwatch_allocation(&hooks->observer);
    hooks->is_running = false;
}

static void after_scavenge(struct observer *self) { run((struct hooks *)self, EDEN_COLLECTION_SCAVENGE); }
static void after_full(struct observer *self) { run((struct hooks *)self, EDEN_COLLECTION_FULL); }

static uintptr_t limit(struct observer *self, uintptr_t most) {
    uintptr_t free = self->heap->mutator.free;
    return free < most ? free : most;
}

void hooks_subscribe(struct hooks *hooks, eden_heap *heap) {
    static const struct observer_calls calls = {
        .after_scavenge = after_scavenge, .after_full = after_full, .limit = limit};
    observer_subscribe(&hooks->observer, heap, &calls);
}

void hooks_destroy(struct hooks *hooks) { free(hooks->entries); }

bool hooks_refuse(eden_heap *heap, const char *call) {
    if (!instance_of(heap)->hooks.is_running) {
        return false;
    }
    check_hook(heap, call);
    error_fail(&heap->last_error, EDEN_BAD_ARGUMENT,
               "%s: not allowed in a collection hook, which must neither allocate nor collect", call);
    return true;
}
