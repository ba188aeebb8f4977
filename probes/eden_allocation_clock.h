/* The allocation clock, for the runtime, which dates births with it, and for readers of its records (EDEN_BATCH_EPOCHS
 * and later), which repeat that.
 *
 * An object's birth is the number of bytes allocated in its heap before it. Collections cut that clock into epochs;
 * between anchors, places where both clocks were read, nanoseconds are interpolated. See
 * runtime/profile/allocation_clock.c.
 */
#ifndef EDEN_ALLOCATION_CLOCK_H
#define EDEN_ALLOCATION_CLOCK_H

#include <stddef.h>
#include <stdint.h>

struct eden_anchor {
    uint64_t bytes, ns;
};

/* An anchor of the epoch that runs: an object at address `at` of eden was, or will be, born at this time. */
struct eden_mark {
    struct eden_anchor time;
    uint64_t at;
};

/* What lies between two collections. Number 0 is the profile's beginning. */
struct eden_epoch {
    struct eden_anchor start;  /* of the collection that began it, that is before the collection's work */
    uint32_t scavenges, fulls; /* collections since the profile began, this one included */
    uint32_t last_full;        /* the latest full collection's epoch, itself included; 0: none */
    uint32_t number;
};

/* How many records are not after `bytes`. Records are `stride` apart, in order; each begins with an anchor. */
static inline size_t eden_anchors_until(const void *first, size_t count, size_t stride, uint64_t bytes) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct eden_anchor *anchor = (const struct eden_anchor *)((const char *)first + middle * stride);
        if (anchor->bytes <= bytes) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The last epoch that had begun before an object was born there. */
static inline size_t eden_epoch_of(const struct eden_epoch *epochs, size_t count, uint64_t bytes) {
    size_t i = eden_anchors_until(epochs, count, sizeof *epochs, bytes);
    return i == 0 ? 0 : i - 1;
}

/* Between two anchors. An epoch's births come before the next one's start, even where anchors are missing. */
static inline uint64_t eden_birth_ns(struct eden_anchor before, struct eden_anchor after,
                                     const struct eden_epoch *epochs, size_t count, uint64_t bytes) {
    uint64_t ns = before.ns;
    if (after.bytes > before.bytes && after.ns > before.ns && bytes >= before.bytes && bytes <= after.bytes) {
        double share = (double)(bytes - before.bytes) / (double)(after.bytes - before.bytes);
        ns += (uint64_t)(share * (double)(after.ns - before.ns));
    }
    size_t epoch = eden_epoch_of(epochs, count, bytes);
    uint64_t limit = epoch + 1 < count ? epochs[epoch + 1].start.ns : UINT64_MAX;
    return ns < limit ? ns : limit;
}

#endif
