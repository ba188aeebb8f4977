/* Lazy sweeping of old space. */
#ifndef EDEN_HEAP_LAZY_SWEEP_H
#define EDEN_HEAP_LAZY_SWEEP_H

#include "heap/object.h"
#include "heap/space.h"

enum { LIVE_PAGE = 4096 };

struct lazy_sweep {
    size_t unswept;     /* segments that are not swept to their end */
    uintptr_t from;     /* segments that end at or below it are */
    struct tally live;  /* what lived in old space when marking ended */
    struct tally found; /* of it, what the sweep has come to */
    /* While objects are marked: a byte for each page from `base` on; 1: the header of a live object lies in it. */
    uint8_t *pages; /* NULL: nobody asks, or there is no memory for it */
    uintptr_t base;
    size_t page_count;
};

/* ---- for full collections ---- */
void lazy_sweep_prepare(eden_heap *heap); /* before marking: all is swept, and is to be unswept afterwards */
/* An object has been marked, once; pages is not NULL. Any thread. */
static inline void lazy_sweep_note(struct lazy_sweep *sweep, eden_value object) {
    size_t page = (object - sweep->base) / LIVE_PAGE;
    if (page < sweep->page_count) {
        __atomic_store_n(&sweep->pages[page], 1, __ATOMIC_RELAXED);
    }
}
/* Marking has ended; `live`: what of old space is marked. Nothing is free but segments without a live object. */
void lazy_sweep_begin(eden_heap *heap, struct tally live);
void lazy_sweep_cancel(eden_heap *heap); /* instead: old space is swept now, or slid */

/* ---- for anybody ---- */
/* Sweeps on until the time has come. True: all is swept. May return memory to the system. */
bool lazy_sweep_step(eden_heap *heap, uint64_t until_ns);
bool lazy_sweep_bytes(eden_heap *heap, size_t bytes); /* likewise, about `bytes` */
void lazy_sweep_all(eden_heap *heap);                 /* returns no memory */
/* Sweeps until a chunk of `bytes` is free. False: there is none, and all of old space, or about `most` bytes, is swept.
 */
bool lazy_sweep_find(eden_heap *heap, size_t bytes, size_t most);

#endif
