/* A batch as the probe handed it over, with whose it is; and streams of batches, which may hold more than memory does:
 * a recording's (recording.h) or a spool's (life_spool.h). */
#ifndef EDEN_LIFE_BATCH_H
#define EDEN_LIFE_BATCH_H

#include "kernel/life_kernel.h"
#include "util/failure.h"
#include <stdbool.h>

struct life_batch {
    uint64_t time_ns; /* CLOCK_MONOTONIC, when it was sent */
    struct process_key process;
    uint64_t address, id, serial; /* of the heap, as in struct heap_ref */
    uint32_t kind;                /* enum eden_batch_kind, or one of a newer runtime */
    uint32_t count, record_bytes;
    const void *records; /* count * record_bytes; nothing is known of what is in them */
};

/* The site of a sampled object, before its end is reported. */
struct life_stack_record {
    uint64_t birth_bytes, bytes; /* as in struct eden_life_record; no two objects of a heap have the same birth */
    uint32_t site, class_id;
    uint32_t stack; /* its number (model/lifetimes/stacks.h); 0: unknown */
    uint32_t reserved;
};

/* False: enough for now. */
typedef bool life_batch_fn(void *context, const struct life_batch *batch);

/* Goes through all batches of `from` in the order in which they came, or until on_batch returns false, which is no
 * failure. False and why where they can't be read. */
typedef bool life_batches(void *from, life_batch_fn *on_batch, void *context, struct failure *why);

#endif
