/* The only door to the system's memory: every mmap and malloc of the runtime passes here, past the memory hook.
 *
 * Address space is reserved without access (PROT_NONE), which commits to nothing, and made usable piece by piece: then
 * the system counts it, and refuses what it can never have (vm.overcommit_memory). Decommitting maps fresh PROT_NONE
 * pages over a piece: the memory goes back at once, the range stays ours.
 *
 * What becomes usable, if it is more than one, asks for huge pages (MADV_HUGEPAGE): a heap touches each of its pages,
 * and new ones at the rate at which it allocates. Where the system grants them, one fault is for 2 MB, and one entry of
 * the processor's table of addresses. They lie within what is usable, so a limit holds as it does without them. */
#include "heap/system.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

bool system_allows(const struct system *system, size_t bytes, const char *what) {
    return system->hook == NULL || system->hook(system->context, bytes, what);
}

/* At a multiple of SYSTEM_HUGE; MAP_FAILED: there is no room for that. */
static void *reserve_aligned(size_t bytes) {
    void *at = mmap(NULL, bytes + SYSTEM_HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        return at;
    }
    uintptr_t start = (uintptr_t)at, aligned = system_huge_round(start), end = start + bytes + SYSTEM_HUGE;
    if (aligned != start) {
        munmap(at, aligned - start);
    }
    if (aligned + bytes != end) {
        munmap((void *)(aligned + bytes), end - aligned - bytes);
    }
    return (void *)aligned;
}

void *system_reserve(struct system *system, size_t bytes) {
    if (!system_allows(system, bytes, "reservation")) {
        return NULL;
    }
    void *at = bytes >= SYSTEM_HUGE ? reserve_aligned(bytes) : MAP_FAILED;
    at = at == MAP_FAILED ? mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : at;
    return at == MAP_FAILED ? NULL : at;
}

void system_release(void *address, size_t bytes) { munmap(address, bytes); }

bool system_make_usable(uintptr_t address, size_t bytes) {
    if (mprotect((void *)address, bytes, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    if (bytes > SYSTEM_HUGE) {
        madvise((void *)address, bytes, MADV_HUGEPAGE); /* EINVAL: the kernel has none */
    }
    return true;
}

bool system_commit(struct system *system, uintptr_t address, size_t bytes, const char *what) {
    return system_allows(system, bytes, what) && system_make_usable(address, bytes);
}

void system_decommit(uintptr_t address, size_t bytes) {
    void *at = mmap((void *)address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (at == MAP_FAILED) {
        /* The system could not split a mapping: give back at least the pages. Locked ones have to be unlocked first. */
        munlock((void *)address, bytes);
        madvise((void *)address, bytes, MADV_DONTNEED);
        mprotect((void *)address, bytes, PROT_NONE);
    }
}

/* Linux 5.7. A failed mremap to a given place leaves a hole there, which any thread's mmap may take. So pages move
 * twice: to a place of the system's choice, where failure changes nothing, and from there, as one mapping. That can
 * fail only where the kernel has no memory of its own left; if another thread maps memory there at that very moment,
 * the heap takes it for its own. Nothing here prevents that. */
bool system_move(uintptr_t from, uintptr_t to, size_t bytes) {
    void *between = mremap((void *)from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
    if (between == MAP_FAILED ||
        mremap(between, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)to) == (void *)to) {
        return true;
    }
    munmap(between, bytes);
    return system_make_usable(to, bytes) ||
           mmap((void *)to, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
               (void *)to;
}

void *system_map(struct system *system, size_t bytes, const char *what) {
    if (!system_allows(system, bytes, what)) {
        return NULL;
    }
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

void system_unmap(void *address, size_t bytes) { munmap(address, bytes); }

void *system_alloc(struct system *system, size_t bytes, const char *what) {
    return system_allows(system, bytes, what) ? malloc(bytes) : NULL;
}

bool system_grow(struct system *system, void **array, size_t *room, size_t count, size_t element, const char *what) {
    return count < *room || system_grow_from(system, array, room, count, element, 16, what);
}

bool system_grow_from(struct system *system, void **array, size_t *room, size_t count, size_t element, size_t first,
                      const char *what) {
    if (count < *room) {
        return true;
    }
    size_t more = *room == 0 ? first : *room * 2;
    if (more > SIZE_MAX / element || !system_allows(system, more * element, what)) {
        return false;
    }
    void *grown = realloc(*array, more * element);
    if (grown == NULL) {
        return false;
    }
    *array = grown;
    *room = more;
    return true;
}

/* Writing a log ends a thread that is to be cancelled, and so may an embedder's root visitor; a collection would be
 * left half done. */
int system_hold_cancellation(void) {
    int held;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &held);
    return held;
}

void system_restore_cancellation(int held) { pthread_setcancelstate(held, &(int){0}); }

uint64_t system_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
