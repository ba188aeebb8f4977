/* The registry: every heap of the process, for tools that attach late, and for the report at exit.
 *
 * The list itself is in eden_heap_info.next, so that it can be walked from outside; the registry beside the
 * heap__create semaphore has its head. Entries change under the lock, each by one store, so a reader from outside sees
 * a list, if perhaps an old one.
 *
 * A heap that is out of the list is its remover's: the thread's that ends it, or the report's. Where both want it, the
 * thread waits for the report, and only then releases its memory.
 *
 * A forked child has the list as it was, and one thread: who held a lock is not there to release it. The child's locks
 * begin as free ones, for the list is whole between any two stores. The parent's fork() waits for no report, which may
 * last. */
#include "heap/registry.h"
#include "heap/heap.h"

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER; /* held while a heap is reported; before the other */

static void free_locks(void) {
    registry_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    report_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* Of this copy of the library: when dlclose() removes it, the C library forgets the handler. */
__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, free_locks); }

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
    if (!found) {
        pthread_mutex_lock(&report_lock);
        pthread_mutex_unlock(&report_lock);
    }
    return found;
}

static eden_heap *take_first(void) {
    pthread_mutex_lock(&registry_lock);
    eden_heap *heap = heap_at(eden_registry.first);
    if (heap != NULL) {
        __atomic_store_n(&eden_registry.first, heap->info.next, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&registry_lock);
    return heap;
}

void registry_report_all(void (*report)(eden_heap *heap)) {
    pthread_mutex_lock(&report_lock);
    for (eden_heap *heap = take_first(); heap != NULL; heap = take_first()) {
        report(heap);
    }
    pthread_mutex_unlock(&report_lock);
}
