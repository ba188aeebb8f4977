/* Work queues: what one thread of a collection has left to do, and what others may take of it.
 *
 * 1. Structure
 * A queue has two parts. `own` is a ring that its thread alone uses: it takes the newest entry and moves the oldest to
 * the other part. `shared` is the deque of Chase and Lev with a fixed number of places: the owner puts and takes
 * entries at the bottom, thieves take the oldest at the top, each with a compare-and-swap. So an entry that nobody
 * steals mostly costs no atomic instruction, and an old entry, which has most below it, is what is stolen.
 *
 * 2. Invariants
 * I1. top <= bottom, but while the owner takes the last entry; top never falls.
 * I2. The place of index i is written again only when top > i: a thief that reads it later fails to advance top.
 * I3. The owner alone writes bottom and adds entries. So a queue that its owner has found empty stays empty until the
 *     owner puts something in.
 *
 * 3. Orders
 * The deque is that of Le et al. with sequentially consistent accesses instead of fences, which the thread sanitizer
 * does not know. What the owner has written before it puts an entry is visible to the thief (release of bottom, acquire
 * by the thief).
 *
 * 4. References
 * D. Chase and Y. Lev, "Dynamic Circular Work-Stealing Deque", SPAA 2005. N. M. Le et al., "Correct and Efficient
 * Work-Stealing for Weak Memory Models", PPoPP 2013. */
#ifndef EDEN_HEAP_WORK_QUEUE_H
#define EDEN_HEAP_WORK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* KEPT: the owner keeps this many for itself; LOW: with fewer entries the shared part is filled again, with at most
 * MOVED at a time. */
enum { WORK_OWN = 32 * 1024, WORK_SHARED = 256, WORK_KEPT = 4, WORK_LOW = 4, WORK_MOVED = 64 };

/* What thieves write, what they read, and what they never touch lie in lines of their own. */
struct work_queue {
    int64_t top __attribute__((aligned(64)));
    int64_t bottom __attribute__((aligned(64)));
    uint64_t shared[WORK_SHARED];
    uint64_t own[WORK_OWN];
    size_t first, end, room; /* of own: entries from first to end, modulo WORK_OWN; at most room of them */
};

/* An entry is an object's address and the number of a piece of it: large objects are scanned a piece at a time. */
enum { WORK_ADDRESS_BITS = 45, WORK_PIECE_BITS = 64 - WORK_ADDRESS_BITS };

static inline uint64_t work_entry(uint64_t object, size_t piece) {
    return object >> 3 | (uint64_t)piece << WORK_ADDRESS_BITS;
}
static inline uint64_t work_object(uint64_t entry) { return (entry & ((1ull << WORK_ADDRESS_BITS) - 1)) << 3; }
static inline size_t work_piece(uint64_t entry) { return (size_t)(entry >> WORK_ADDRESS_BITS); }

/* A piece of an object with `count` references has 2 to the power of this; `least`, unless there are too many pieces
 * for their number. */
static inline unsigned work_piece_shift(size_t count, unsigned least) {
    unsigned shift = least;
    while (count >> shift >= (size_t)1 << WORK_PIECE_BITS) {
        shift++;
    }
    return shift;
}

/* False: there is no room. */
static inline bool work_put(struct work_queue *queue, uint64_t entry) {
    if (queue->end - queue->first >= queue->room) {
        return false;
    }
    queue->own[queue->end++ % WORK_OWN] = entry;
    return true;
}

/* Moves the oldest entries where thieves find them. */
static inline void work_share(struct work_queue *queue) {
    size_t most = (queue->end - queue->first) / 2;
    int64_t bottom = queue->bottom; /* no other thread writes it */
    for (size_t i = 0; i < most && i < WORK_MOVED; i++) {
        __atomic_store_n(&queue->shared[(uint64_t)bottom++ % WORK_SHARED], queue->own[queue->first++ % WORK_OWN],
                         __ATOMIC_RELAXED);
    }
    __atomic_store_n(&queue->bottom, bottom, __ATOMIC_RELEASE);
}

static inline bool work_take_shared(struct work_queue *queue, uint64_t *entry) {
    int64_t bottom = queue->bottom - 1;
    __atomic_store_n(&queue->bottom, bottom, __ATOMIC_SEQ_CST);
    int64_t top = __atomic_load_n(&queue->top, __ATOMIC_SEQ_CST);
    bool taken = top <= bottom;
    if (taken) {
        *entry = __atomic_load_n(&queue->shared[(uint64_t)bottom % WORK_SHARED], __ATOMIC_RELAXED);
        if (top < bottom) {
            return true;
        }
        /* The last one: a thief may have it. */
        taken = __atomic_compare_exchange_n(&queue->top, &top, top + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&queue->bottom, bottom + 1, __ATOMIC_RELAXED);
    return taken;
}

static inline int64_t work_shared(const struct work_queue *queue) {
    int64_t top = __atomic_load_n(&queue->top, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&queue->bottom, __ATOMIC_SEQ_CST) - top;
}

/* By the owner: the newest entry. False: it has none. */
static inline bool work_take(struct work_queue *queue, uint64_t *entry) {
    size_t count = queue->end - queue->first;
    if (count > WORK_KEPT && queue->bottom - __atomic_load_n(&queue->top, __ATOMIC_RELAXED) < WORK_LOW) {
        work_share(queue);
    }
    if (queue->end != queue->first) {
        *entry = queue->own[--queue->end % WORK_OWN];
        return true;
    }
    return queue->bottom != __atomic_load_n(&queue->top, __ATOMIC_RELAXED) && work_take_shared(queue, entry);
}

/* By another thread: the oldest of the shared entries. False: there is none, or somebody else was faster. */
static inline bool work_steal(struct work_queue *queue, uint64_t *entry) {
    int64_t top = __atomic_load_n(&queue->top, __ATOMIC_SEQ_CST);
    if (top >= __atomic_load_n(&queue->bottom, __ATOMIC_SEQ_CST)) {
        return false;
    }
    *entry = __atomic_load_n(&queue->shared[(uint64_t)top % WORK_SHARED], __ATOMIC_RELAXED);
    return __atomic_compare_exchange_n(&queue->top, &top, top + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

#endif
