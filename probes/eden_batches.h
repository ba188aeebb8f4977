/* Records of the probes batch and batch__requested: lifetimes of sampled objects.
 *
 * A profile runs from the end of the collection at which a listener was first seen (or the heap's creation) until the
 * listener is gone or the heap is destroyed. A listener of batch__requested is one to heaps with a request only
 * (EDEN_CONTROL_ASKED). In a forked child, the copy of a profile reports nothing, and another one begins at the end of
 * the child's first collection. In a profile every sampled object is born once and then either dies, which some
 * collection finds out, or is alive at the end (censored). Each collection sends what it found, in batches; sums may
 * wait for a later batch, at most a second while there are collections; births are sent first.
 *
 * Two clocks: nanoseconds (CLOCK_MONOTONIC), and bytes allocated in the heap since its creation. A lifetime ends with
 * the start of the collection that found the object dead: an upper bound, with the collection before as the lower one.
 *
 * Fields are only appended; record_bytes gives a reader their size. */
#ifndef EDEN_BATCHES_H
#define EDEN_BATCHES_H

#include "eden_enums.h"
#include <stdint.h>

#define EDEN_SAMPLE_DEFAULT_BYTES (512ull * 1024)

/* The control word of a heap's header (sample_control): 0, or what the next profile is to do. The sampling in the
 * lowest 4 bits, then flags, then 47 bits of rate. What cannot be is ignored. Its first value is that of the
 * environment variable EDEN_SAMPLING, a number, so that a tool which starts a program can say it before there is a
 * heap. */
#define EDEN_CONTROL_ASKED 0x10ull   /* set in each valid request */
#define EDEN_CONTROL_OBJECTS 0x20ull /* send EDEN_BATCH_OBJECTS instead of cells */
/* The profile is to end at the next collection, and report what is alive then, and none is to begin before another
 * request: for a listener that is about to leave. */
#define EDEN_CONTROL_END 0x40ull
/* With OBJECTS: in their short forms, which leave to the reader what follows from the clock
 * (eden_allocation_clock.h). Mechanism vm alone has them. */
#define EDEN_CONTROL_SHORT 0x80ull
#define EDEN_CONTROL_MECHANISM_SHIFT 8 /* 2 bits: enum eden_mechanism */
#define EDEN_CONTROL_STEP_SHIFT 10     /* 6 bits: the oracle passes every 2^n bytes allocated; 0: EDEN_ORACLE_STEP */
#define EDEN_CONTROL_RATE_SHIFT 16     /* 47 bits */
/* Requests nothing: makes a request differ from an equal one that was left in the word, whose profile has begun. */
#define EDEN_CONTROL_TURN (1ull << 63)

#define EDEN_ORACLE_STEP 16 /* 64 KiB */

/* Weights are how many objects a sample stands for, in units of 1 / EDEN_WEIGHT_ONE: a kernel program has no fractions.
 */
#define EDEN_WEIGHT_ONE 1024u

/* How a profile stands. Sent when it begins, at each collection and when it ends. */
struct eden_profile_record {
    uint64_t seq;             /* of the collection; the last one's where the profile ends outside of one */
    uint64_t time_ns;         /* when the collection started, or now */
    uint64_t allocated_bytes; /* the heap's, at that time */
    uint64_t begun_ns;        /* the profile's beginning on both clocks */
    uint64_t begun_bytes;
    uint64_t rate;
    uint32_t sampling;   /* enum eden_sampling */
    uint32_t ended;      /* 1: the profile is over */
    uint64_t lost;       /* sampled objects without memory to follow them, so far; a range of them counts as one */
    uint32_t mechanism;  /* enum eden_mechanism */
    uint32_t step;       /* of the oracle: log2 of the bytes between passes */
    uint64_t passes;     /* the oracle's, so far */
    uint64_t work_ns;    /* spent by the profile within collections and passes, so far */
    uint64_t held_bytes; /* what the profile holds of the process's memory, now */
};

/* Births of a class or site since the last collection. */
struct eden_birth_cell {
    uint32_t site;
    uint32_t count;
    uint64_t bytes;
    uint64_t weight;       /* sum over the objects of 1 / probability of having been sampled, times EDEN_WEIGHT_ONE */
    uint64_t weight_bytes; /* the same times their sizes, in bytes: not times EDEN_WEIGHT_ONE */
};

enum {
    EDEN_LIFE_TENURED = 1,
    EDEN_LIFE_BORN_OLD = 2,
    /* Dead by marking, right after a scavenge that had kept it in new space or tenured it: only a dead old object can
     * have held it. */
    EDEN_LIFE_NEPOTISM = 4,
    EDEN_LIFE_FLAGS = 8
};

/* Objects of one class or site that ended alike. Cells of libeden add up lifetimes of any length: their buckets are
 * EDEN_BUCKETS_APART, and the histograms come as struct eden_life_bucket. In those of other runtimes all lifetimes may
 * be in the buckets that the cell names, and as many collections survived. */
#define EDEN_BUCKETS_APART UINT16_MAX
struct eden_life_cell {
    uint32_t site;
    uint32_t count;
    uint16_t ns_bucket, bytes_bucket; /* of the lifetime (eden_histogram.h) */
    uint16_t scavenges, fulls;        /* survived; 65535: that many or more */
    uint32_t flags;                   /* EDEN_LIFE_... */
    uint32_t reserved;
    uint64_t bytes;
    uint64_t ns_sum, bytes_sum;                 /* of lifetimes */
    uint64_t tenured_ns_sum, tenured_bytes_sum; /* of what of them was spent in old space */
    uint64_t weight, weight_bytes;              /* as in struct eden_birth_cell */
    /* Lifetimes summed up as often as the weights say, not times EDEN_WEIGHT_ONE: in microseconds, in KiB allocated. */
    uint64_t weight_us, weight_kib;
    uint64_t scavenges_sum, fulls_sum; /* survived; of cells without buckets, whose scavenges and fulls are 0 */
};

static inline int eden_buckets_are_apart(const struct eden_life_cell *cell) {
    return cell->ns_bucket == EDEN_BUCKETS_APART && cell->bytes_bucket == EDEN_BUCKETS_APART;
}

/* Objects of one class or site whose lifetimes, by one of the clocks, fall into one bucket (eden_histogram.h). */
struct eden_life_bucket {
    uint32_t site;
    uint32_t count;
    uint16_t clock; /* enum eden_life_clock */
    uint16_t bucket;
    uint32_t censored;             /* 1: they are alive at the profile's end; 0: dead */
    uint64_t weight, weight_bytes; /* as in struct eden_birth_cell */
};

/* One object. */
struct eden_life_record {
    uint32_t site;
    uint32_t flags;
    uint64_t bytes;
    uint64_t birth_ns, birth_bytes;     /* no two objects of a heap are born at the same byte */
    uint64_t tenured_ns, tenured_bytes; /* when it was tenured; 0: it was not */
    uint64_t death_ns, death_bytes;     /* start of the collection that found it dead; of censored ones, the end */
    uint64_t last_ns, last_bytes;       /* it was alive at the start of this collection; 0: none has seen it alive */
    uint32_t scavenges, fulls;          /* survived */
    uint32_t censored;
    uint32_t reserved;
    uint64_t weight; /* times EDEN_WEIGHT_ONE */
};

/* One object, briefly. It died at the start of the latest epoch, or, censored, was alive at the last anchor. */
enum {
    EDEN_END_CENSORED = 0x100, /* among the flags */
    EDEN_ENDS_MOST = 500,      /* that libeden puts into a batch */
};
struct eden_end {
    uint64_t birth_bytes;
    uint64_t bytes;
    uint32_t site;
    uint32_t flags;   /* EDEN_LIFE_..., EDEN_END_CENSORED */
    uint32_t tenured; /* number of the epoch; 0: it was not */
    uint32_t reserved;
};

/* Objects that were born one after the other and died, in eden, before the latest epoch. A word an object: its site in
 * the lower EDEN_WORD_SITE_BITS, its size in granules of 8 bytes above; size 0: the next word has it. Site 0: nothing
 * died here, which may be large. */
enum { EDEN_WALKED_WORDS = 1020, EDEN_WORD_SITE_BITS = 22 };
struct eden_walked {
    uint64_t birth_bytes; /* of the first */
    uint32_t words;
    uint32_t censored; /* 1: they were alive at the last anchor, or their death had not been found */
    uint32_t word[EDEN_WALKED_WORDS];
};

#endif
