/* The registry: every heap of the process, for tools that attach late, and for the report at exit.
 *
 * The list itself is in eden_heap_info.next, so that it can be walked from outside; the registry beside the
 * heap__create semaphore has its head. Entries change under the lock, each by one store, so a reader from outside sees
 * a list, if perhaps an old one. At exit, a destructor reports the heaps still alive. */
#include "heap/private.h"

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;

static eden_heap *heap_at(uint64_t address) { return (eden_heap *)(uintptr_t)address; }

void registry_add(eden_heap *heap) {
    pthread_mutex_lock(&registry_lock);
    heap->info.heap_id = eden_registry.next_id++;
    heap->info.next = eden_registry.first;
    __atomic_store_n(&eden_registry.first, (uintptr_t)heap, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&registry_lock);
}

bool registry_remove(eden_heap *heap) {
    bool found = false;
    pthread_mutex_lock(&registry_lock);
    for (uint64_t *link = &eden_registry.first; *link != 0; link = &heap_at(*link)->info.next) {
        if (heap_at(*link) == heap) {
            __atomic_store_n(link, heap->info.next, __ATOMIC_RELEASE);
            found = true;
            break;
        }
    }
    pthread_mutex_unlock(&registry_lock);
    return found;
}

/* The process may exit while another thread runs the mutator, or within a collection (from a root visitor, or a memory
 * hook): then a profile must be left as it is, without its last records. */
static bool is_at_rest(const eden_heap *heap) {
    return !heap->collecting && (!heap->attached || pthread_equal(heap->thread, pthread_self()));
}

/* Heaps that the program never destroyed: their last counts, EDEN_STATS and heap__destroy. Their memory is left alone:
 * other destructors may still use it. */
__attribute__((destructor)) static void report_living_heaps(void) {
    while (eden_registry.first != 0) {
        eden_heap *heap = heap_at(eden_registry.first);
        registry_remove(heap);
        if (is_at_rest(heap)) {
            lifetimes_end(heap);
        }
        event_heap_destroy(heap);
        stats_write(heap);
        log_close(heap);
    }
}
