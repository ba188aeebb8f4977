/* What the kernel program of lifetimes (lifetimes.bpf.c) writes and the source (source_life.c) reads. As kernel.h:
 * nobody else's business. A heap is named by its place in the map of heaps, struct heap_entry.number. */
#ifndef EDEN_LIFE_KERNEL_H
#define EDEN_LIFE_KERNEL_H

#include "eden_batches.h"
#include "kernel/kernel.h"

/* A kind of the tool's own, above the runtime's: struct life_stack_record. */
enum { LIFE_BATCH_STACK = 1 << 30 };

enum {
    LIFE_STACK_MOST = 127,           /* functions of a stack: the kernel's default limit */
    LIFE_MOST_RECORDS = 1 << 14,     /* of a batch: the runtime sends hundreds */
    LIFE_LEAST_RECORD = 8,           /* bytes of a record */
    LIFE_MOST_BATCH_BYTES = 1 << 16, /* of records; what is longer comes as several batches */
};

enum life_outcome { LIFE_DIED, LIFE_CENSORED, LIFE_OUTCOMES };

/* Objects that ended alike, added up. */
struct life_sums {
    uint64_t count, bytes, weight, weight_bytes;
    uint64_t ns_sum, bytes_sum, weight_us, weight_kib;
    uint64_t tenured_ns_sum, tenured_bytes_sum;
    uint64_t scavenges, fulls; /* survived, summed up */
};
enum { LIFE_SUMS_WORDS = sizeof(struct life_sums) / sizeof(uint64_t) };

static inline struct life_sums life_sums_of_cell(const struct eden_life_cell *cell) {
    return (struct life_sums){
        .count = cell->count,
        .bytes = cell->bytes,
        .weight = cell->weight,
        .weight_bytes = cell->weight_bytes,
        .ns_sum = cell->ns_sum,
        .bytes_sum = cell->bytes_sum,
        .weight_us = cell->weight_us,
        .weight_kib = cell->weight_kib,
        .tenured_ns_sum = cell->tenured_ns_sum,
        .tenured_bytes_sum = cell->tenured_bytes_sum,
        .scavenges = (uint64_t)cell->scavenges * cell->count + cell->scavenges_sum,
        .fulls = (uint64_t)cell->fulls * cell->count + cell->fulls_sum,
    };
}

enum {
    LIFE_SUMS = 1 << 17,    /* sites that were seen, with each outcome and set of flags apart */
    LIFE_BUCKETS = 1 << 19, /* filled buckets of all histograms */
    /* Room in the ring buffer is taken in four sizes, each of its own use: states and the like; a struct eden_walked,
     * the most frequent one if objects are reported one by one; a batch of struct eden_end, which come by the million
     * when a heap with millions of objects ends; and the longest batches. */
    LIFE_SMALL_BYTES = 1 << 10,
    LIFE_MIDDLE_BYTES = sizeof(struct eden_walked),
    LIFE_ENDS_BYTES = EDEN_ENDS_MOST * sizeof(struct eden_end),
};

/* A heap that is asked for something else ends its profile and begins another: only the last one counts. So sums are of
 * one profile each, the heap's number with the profile's in the bits above. */
enum { LIFE_HEAP_BITS = 12, LIFE_PROFILE_BITS = 32 - LIFE_HEAP_BITS };
_Static_assert(KERNEL_HEAPS <= 1 << LIFE_HEAP_BITS, "a heap's number fits");

static inline uint32_t life_profile_of(uint32_t heap, uint64_t profile) {
    return heap | (uint32_t)(profile << LIFE_HEAP_BITS);
}

struct life_profile {
    struct eden_profile_record last; /* the last record that came; time_ns 0: none has */
    uint64_t number;                 /* of profiles of this heap, from 1 */
    uint64_t is_partial;             /* the beginning of the last one was not observed: births are missing */
};

/* struct life_sums by these. */
struct life_sums_key {
    uint32_t profile, site; /* life_profile_of */
    uint32_t outcome;       /* enum life_outcome, or LIFE_BORN */
    uint32_t flags;
};
enum { LIFE_BORN = LIFE_OUTCOMES };

struct life_bucket_key {
    uint32_t profile, site;
    uint16_t outcome, clock, bucket, reserved;
};
struct life_bucket_sums {
    uint64_t count, weight, weight_bytes;
};

/* Heads a batch, or a part of one, in the ring buffer; count * record_bytes of what follows are of use. */
struct life_chunk {
    uint64_t time_ns;
    uint32_t heap;
    uint32_t kind; /* enum eden_batch_kind, as the process said it */
    uint32_t count, record_bytes;
};
struct life_large_chunk {
    struct life_chunk head;
    uint8_t records[LIFE_MOST_BATCH_BYTES];
};
struct life_ends_chunk {
    struct life_chunk head;
    uint8_t records[LIFE_ENDS_BYTES];
};
struct life_middle_chunk {
    struct life_chunk head;
    uint8_t records[LIFE_MIDDLE_BYTES];
};
struct life_small_chunk {
    struct life_chunk head;
    uint8_t records[LIFE_SMALL_BYTES];
};

/* The stack on which an object was sampled, innermost function first. Its head's kind is LIFE_BATCH_STACK, which no
 * process can say: a batch that it calls so is lost. */
struct life_stack_chunk {
    struct life_chunk head;
    uint64_t birth_bytes, bytes; /* of the object */
    uint32_t site, class_id;
    uint64_t depth; /* 0: it could not be taken */
    uint64_t address[LIFE_STACK_MOST];
};

#endif
