/* What a profile sends: rows that add up the objects which were born, or ended, alike; or a record an object. */
#ifndef EDEN_PROFILE_AGGREGATOR_H
#define EDEN_PROFILE_AGGREGATOR_H

#include "eden_allocation_clock.h"
#include "eden_batches.h"
#include "heap/heap.h"
#include <sys/types.h>

enum {
    MAX_ROWS = 512,
    ROW_INDEX = 1024,
    MAX_BUCKETS = 16384,
    BUCKET_INDEX = 32768,
    MAX_BIRTH_ROWS = 256,
    BIRTH_INDEX = 1024,
    MAX_RECORDS = 500
};
struct aggregator {
    eden_heap *heap;
    bool one_by_one;       /* records rather than rows */
    bool has_compact;      /* compact records (compact_records.c) */
    bool is_requested;     /* for the listeners of requested profiles, too */
    pid_t process;         /* whose it is: the copy in a forked child sends nothing */
    uint32_t row_kind;     /* EDEN_BATCH_DEATHS or EDEN_BATCH_CENSORED */
    uint64_t ends_sent_ns; /* when rows and buckets were last sent */
    uint32_t row_count, bucket_count, birth_count, record_count;
    uint16_t row_index[ROW_INDEX];       /* open addressing; 0: free, else place + 1 */
    uint16_t bucket_index[BUCKET_INDEX]; /* likewise */
    uint16_t birth_index[BIRTH_INDEX];
    struct eden_life_cell rows[MAX_ROWS];
    struct eden_life_bucket buckets[MAX_BUCKETS];
    struct eden_birth_cell births[MAX_BIRTH_ROWS];
    struct eden_life_record records[MAX_RECORDS];
    uint32_t end_count;
    struct eden_end ends[EDEN_ENDS_MOST];
    struct eden_walked walked;
    uint64_t walked_to; /* birth of the next object that goes there without a gap */
};

/* How one sampled object ended. */
struct end_of_life {
    struct eden_life_record record;
    uint64_t weight_bytes; /* as in struct eden_birth_cell */
};

void aggregator_init(struct aggregator *out, eden_heap *heap, bool one_by_one);
void aggregator_send(const struct aggregator *out, enum eden_batch_kind kind, const void *records, size_t count,
                     size_t record_bytes);             /* a batch */
bool aggregator_is_copy(const struct aggregator *out); /* made by a fork */
void aggregator_birth(struct aggregator *out, uint32_t site, uint64_t bytes, uint64_t weight, uint64_t weight_bytes);
void aggregator_end(struct aggregator *out, const struct end_of_life *end);
/* Many at once, which ended alike. */
void aggregator_births(struct aggregator *out, const struct eden_birth_cell *births);
void aggregator_ends(struct aggregator *out, bool censored, const struct eden_life_cell *ends);
void aggregator_collected(struct aggregator *out, uint64_t now); /* a collection has reported all; now: nanoseconds */
void aggregator_flush(struct aggregator *out);                   /* sends everything */

#endif
