/* The system's memory and clock. */
#ifndef EDEN_HEAP_SYSTEM_H
#define EDEN_HEAP_SYSTEM_H

#include "heap/object.h"

struct system {
    eden_memory_hook hook; /* asked before each request; `what` names its purpose */
    void *context;
};

/* Address space only; NULL: refused. What is large begins at a multiple of SYSTEM_HUGE, where there is room for that.
 */
void *system_reserve(struct system *system, size_t bytes);
void system_release(void *address, size_t bytes);                                /* gives a reservation back */
bool system_allows(const struct system *system, size_t bytes, const char *what); /* what the hook says */
bool system_make_usable(uintptr_t address, size_t bytes); /* a part of a reservation; false: refused */
bool system_commit(struct system *system, uintptr_t address, size_t bytes, const char *what); /* both */
void system_decommit(uintptr_t address, size_t bytes); /* returns the memory, keeps the range */
/* Moves pages from one usable part to another. Where the system refuses, they stay, or are lost; both parts are usable.
 * False: `to` no longer is. */
bool system_move(uintptr_t from, uintptr_t to, size_t bytes);
void *system_map(struct system *system, size_t bytes, const char *what); /* zeroed pages; NULL: refused */
void system_unmap(void *address, size_t bytes);
/* An array grown to hold one more; false, and the array as it was, where memory is refused. */
bool system_grow(struct system *system, void **array, size_t *room, size_t count, size_t element, const char *what);
/* Likewise; an array without memory begins with room for `first`. */
bool system_grow_from(struct system *system, void **array, size_t *room, size_t count, size_t element, size_t first,
                      const char *what);
void *system_alloc(struct system *system, size_t bytes, const char *what); /* malloc; free with free() */
/* pthread_cancel() has no effect from the first on until the second gets what it returned. */
int system_hold_cancellation(void);
void system_restore_cancellation(int held);
uint64_t system_now_ns(void); /* CLOCK_MONOTONIC */
static inline size_t system_page_round(size_t bytes) { return (bytes + 4095) & ~(size_t)4095; }
/* A huge page, and what one entry of a page table maps. */
enum { SYSTEM_HUGE = 2 << 20 };
static inline size_t system_huge_round(size_t bytes) { return (bytes + SYSTEM_HUGE - 1) / SYSTEM_HUGE * SYSTEM_HUGE; }

#endif
