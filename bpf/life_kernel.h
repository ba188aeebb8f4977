/* What the kernel program of lifetimes (lifetimes.bpf.c) writes and the source (source_life.c) reads. As kernel.h:
 * nobody else's business. A heap is named by its place in the map of heaps, struct heap_entry.number. */
#ifndef EDEN_LIFE_KERNEL_H
#define EDEN_LIFE_KERNEL_H

#include "kernel.h"
#include "life_model.h"

enum {
    LIFE_SUMS = 1 << 17,         /* sites that were seen, with each outcome and set of flags apart */
    LIFE_BUCKETS = 1 << 19,      /* filled buckets of all histograms */
    LIFE_MOST_RECORDS = 1 << 14, /* of a batch: the runtime sends hundreds */
    LIFE_CHUNK_BYTES = 16 << 10, /* of records: longer batches are split */
    LIFE_SMALL_BYTES = 1 << 10,
};

/* struct life_sums by these. */
struct life_sums_key {
    uint32_t heap, site;
    uint32_t outcome; /* enum life_outcome, or LIFE_BORN */
    uint32_t flags;
};
enum { LIFE_BORN = LIFE_OUTCOMES };

struct life_bucket_key {
    uint32_t heap, site;
    uint16_t outcome, clock, bucket, reserved;
};
struct life_bucket_sums {
    uint64_t count, weight, weight_bytes;
};

/* Heads a batch, or a part of one, in the ring buffer; count * record_bytes of what follows are of use. */
struct life_chunk {
    uint32_t heap;
    uint32_t kind; /* enum eden_batch_kind, as the process said it */
    uint32_t count, record_bytes;
};
struct life_large_chunk {
    struct life_chunk head;
    uint8_t records[LIFE_CHUNK_BYTES];
};
struct life_small_chunk {
    struct life_chunk head;
    uint8_t records[LIFE_SMALL_BYTES];
};

#endif
