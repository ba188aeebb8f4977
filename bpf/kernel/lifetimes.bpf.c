/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Lifetimes in the kernel: what a heap says of its sampled objects, by the batch probe, is added up here, or copied.
 *
 * A program of its own, attached by a link of its own: while that link is there the heaps sample, which costs them
 * something, so it is made only where lifetimes are asked for.
 *
 *     batch -> cells ---> sums by heap, site, outcome and flags
 *         `-> buckets -> a histogram for each of the four clocks
 *     batch ----------> ring buffer, as it is, where records are asked for
 *
 * Cells and buckets are of all objects that ended within a second or so, some thousand in all, so what one of them
 * costs here (a hash lookup, and up to a dozen atomic additions) is not felt. The address, count and record size are
 * the process's word: records are read one by one, as many bytes as both sides know, at most LIFE_MOST_RECORDS of a
 * batch; what can't be read, makes no sense or finds no room is counted in `lost`, by objects, or by records where
 * these can't be read.
 *
 * bpf_loop (Linux 5.17) runs over the records: a loop that the verifier must follow could not be that long. */
#include "kernel/hit.bpf.h"
#include "kernel/life_kernel.h"

const volatile bool send_records = false; /* copy batches, rather than add them up */
const volatile uint32_t records_bytes = 4096;

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, 1); /* the tool makes them larger where lifetimes are wanted */
    __type(key, struct life_sums_key);
    __type(value, struct life_sums);
} life_sums SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, 1);
    __type(key, struct life_bucket_key);
    __type(value, struct life_bucket_sums);
} life_buckets SEC(".maps");

/* The last one of each heap. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, KERNEL_HEAPS);
    __type(key, uint32_t);
    __type(value, struct life_profile);
} life_profiles SEC(".maps");

struct life_records_map life_records SEC(".maps");

/* In no stack: it has 512 bytes. */
static const struct life_sums no_sums;
static const struct life_bucket_sums no_bucket_sums;

/* 32 bits for all that bounds a read: the compiler would check a wider number in one register and use another. */
struct batch {
    uint64_t records;
    uint32_t count, record_bytes;
    uint32_t heap, kind;
    uint32_t profile; /* life_profile_of */
};

static __always_inline struct life_sums *find_sums(const struct life_sums_key *key) {
    struct life_sums *sums = bpf_map_lookup_elem(&life_sums, key);
    if (!sums) {
        bpf_map_update_elem(&life_sums, key, &no_sums, BPF_NOEXIST); /* another thread may be first */
        sums = bpf_map_lookup_elem(&life_sums, key);
    }
    return sums;
}

static __always_inline void count_in_bucket(const struct life_bucket_key *key, uint64_t count, uint64_t weight,
                                            uint64_t weight_bytes) {
    struct life_bucket_sums *sums = bpf_map_lookup_elem(&life_buckets, key);
    if (!sums) {
        bpf_map_update_elem(&life_buckets, key, &no_bucket_sums, BPF_NOEXIST);
        sums = bpf_map_lookup_elem(&life_buckets, key);
    }
    if (!sums) {
        lose_many(LOST_BUCKETS, count);
        return;
    }
    add(&sums->count, count);
    add(&sums->weight, weight);
    add(&sums->weight_bytes, weight_bytes);
}

static __always_inline void count_cell(const struct life_bucket_key *key, const struct eden_life_cell *cell) {
    count_in_bucket(key, cell->count, cell->weight, cell->weight_bytes);
}

/* As many bytes of record number i as both sides know; the rest stays as it is. */
static __always_inline bool read_record(const struct batch *batch, uint32_t i, void *to, uint32_t most) {
    uint32_t bytes = batch->record_bytes;
    barrier_var(bytes); /* or the compiler compares a copy of it: then Linux 6.1 finds no limit */
    if (bytes > most) {
        bytes = most;
    }
    const void *from = (const void *)(batch->records + (uint64_t)i * batch->record_bytes);
    if (bpf_probe_read_user(to, bytes, from) != 0) {
        lose(LOST_UNREADABLE);
        return false;
    }
    return true;
}

static long add_births(uint32_t i, struct batch *batch) {
    struct eden_birth_cell cell = {};
    if (!read_record(batch, i, &cell, sizeof cell)) {
        return 1;
    }
    struct life_sums_key key = {.profile = batch->profile, .site = cell.site, .outcome = LIFE_BORN};
    struct life_sums *sums = cell.site < EDEN_CLASS_LIMIT ? find_sums(&key) : 0;
    if (!sums) {
        lose_many(LOST_LIVES, cell.count);
        return 0;
    }
    add(&sums->count, cell.count);
    add(&sums->bytes, cell.bytes);
    add(&sums->weight, cell.weight);
    add(&sums->weight_bytes, cell.weight_bytes);
    return 0;
}

static __always_inline void add_to_sums(struct life_sums *sums, const struct eden_life_cell *cell) {
    const struct life_sums more = life_sums_of_cell(cell);
#pragma unroll
    for (int i = 0; i < LIFE_SUMS_WORDS; i++) {
        add((uint64_t *)sums + i, ((const uint64_t *)&more)[i]);
    }
}

static long add_ends(uint32_t i, struct batch *batch) {
    struct eden_life_cell cell = {};
    if (!read_record(batch, i, &cell, sizeof cell)) {
        return 1;
    }
    uint16_t outcome = batch->kind == EDEN_BATCH_CENSORED ? LIFE_CENSORED : LIFE_DIED;
    struct life_sums_key key = {.profile = batch->profile, .site = cell.site, .outcome = outcome, .flags = cell.flags};
    bool apart = eden_buckets_are_apart(&cell);
    bool bucketed = cell.ns_bucket < HISTOGRAM_BUCKETS && cell.bytes_bucket < HISTOGRAM_BUCKETS;
    bool sound = cell.site < EDEN_CLASS_LIMIT && cell.flags < EDEN_LIFE_FLAGS && (apart || bucketed);
    struct life_sums *sums = sound ? find_sums(&key) : 0;
    if (!sums) {
        lose_many(sound ? LOST_LIVES : LOST_UNREADABLE, cell.count);
        return 0;
    }
    add_to_sums(sums, &cell);
    if (apart) {
        return 0;
    }
    struct life_bucket_key at = {.profile = batch->profile, .site = cell.site, .outcome = outcome};
    at.clock = EDEN_LIFE_NS;
    at.bucket = cell.ns_bucket;
    count_cell(&at, &cell);
    at.clock = EDEN_LIFE_BYTES;
    at.bucket = cell.bytes_bucket;
    count_cell(&at, &cell);
    at.clock = EDEN_LIFE_SCAVENGES;
    at.bucket = histogram_bucket(cell.scavenges);
    count_cell(&at, &cell);
    at.clock = EDEN_LIFE_FULLS;
    at.bucket = histogram_bucket(cell.fulls);
    count_cell(&at, &cell);
    return 0;
}

static long add_buckets(uint32_t i, struct batch *batch) {
    struct eden_life_bucket bucket = {};
    if (!read_record(batch, i, &bucket, sizeof bucket)) {
        return 1;
    }
    if (bucket.site >= EDEN_CLASS_LIMIT || bucket.clock >= EDEN_LIFE_CLOCKS || bucket.bucket >= HISTOGRAM_BUCKETS) {
        lose(LOST_UNREADABLE);
        return 0;
    }
    struct life_bucket_key key = {.profile = batch->profile, .site = bucket.site};
    key.outcome = bucket.censored ? LIFE_CENSORED : LIFE_DIED;
    key.clock = bucket.clock;
    key.bucket = bucket.bucket;
    count_in_bucket(&key, bucket.count, bucket.weight, bucket.weight_bytes);
    return 0;
}

/* ---- copying ---------------------------------------------------------------------------------------------------- */

/* A part of a batch. */
struct part {
    uint32_t first, count, bytes;
};

static __always_inline bool fill(struct life_chunk *head, void *records, uint32_t room, const struct batch *batch,
                                 const struct part *part) {
    head->time_ns = bpf_ktime_get_ns();
    head->heap = batch->heap;
    head->kind = batch->kind;
    head->count = part->count;
    head->record_bytes = batch->record_bytes;
    uint32_t bytes = part->bytes;
    const void *from = (const void *)(batch->records + (uint64_t)part->first * batch->record_bytes);
    return bytes <= room && bpf_probe_read_user(records, bytes, from) == 0;
}

static __always_inline void hand_over(void *chunk, bool filled, const struct part *part) {
    if (!filled) {
        lose_many(LOST_UNREADABLE, part->count);
        bpf_ringbuf_discard(chunk, BPF_RB_NO_WAKEUP);
        return;
    }
    bool full = bpf_ringbuf_query(&life_records, BPF_RB_AVAIL_DATA) > records_bytes / 4;
    bpf_ringbuf_submit(chunk, full ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

static long send_part(uint32_t i, struct batch *batch) {
    uint32_t each = LIFE_MOST_BATCH_BYTES / batch->record_bytes;
    struct part part = {.first = i * each};
    if (part.first >= batch->count) {
        return 1;
    }
    part.count = batch->count - part.first < each ? batch->count - part.first : each;
    part.bytes = part.count * batch->record_bytes;
    if (part.bytes <= LIFE_SMALL_BYTES) {
        struct life_small_chunk *small = bpf_ringbuf_reserve(&life_records, sizeof *small, 0);
        if (small) {
            hand_over(small, fill(&small->head, small->records, sizeof small->records, batch, &part), &part);
            return 0;
        }
    } else if (part.bytes <= LIFE_MIDDLE_BYTES) {
        struct life_middle_chunk *middle = bpf_ringbuf_reserve(&life_records, sizeof *middle, 0);
        if (middle) {
            hand_over(middle, fill(&middle->head, middle->records, sizeof middle->records, batch, &part), &part);
            return 0;
        }
    } else if (part.bytes <= LIFE_ENDS_BYTES) {
        struct life_ends_chunk *ends = bpf_ringbuf_reserve(&life_records, sizeof *ends, 0);
        if (ends) {
            hand_over(ends, fill(&ends->head, ends->records, sizeof ends->records, batch, &part), &part);
            return 0;
        }
    } else {
        struct life_large_chunk *large = bpf_ringbuf_reserve(&life_records, sizeof *large, 0);
        if (large) {
            hand_over(large, fill(&large->head, large->records, sizeof large->records, batch, &part), &part);
            return 0;
        }
    }
    lose_many(LOST_RECORDS, part.count);
    return 0;
}

/* ---- the probe -------------------------------------------------------------------------------------------------- */

static __always_inline void take_profile(const struct batch *batch, struct life_profile *profile) {
    struct eden_profile_record record = {};
    if (read_record(batch, 0, &record, sizeof record)) {
        if (profile->last.time_ns == 0 || profile->last.begun_ns != record.begun_ns) {
            profile->number++;
            profile->is_partial = record.time_ns > record.begun_ns;
        }
        profile->last = record;
    }
}

static __always_inline void add_batch(struct batch *batch) {
    switch (batch->kind) {
    case EDEN_BATCH_PROFILE:
        break; /* has been */
    case EDEN_BATCH_BIRTHS:
        bpf_loop(batch->count, add_births, batch, 0);
        break;
    case EDEN_BATCH_DEATHS:
    case EDEN_BATCH_CENSORED:
        bpf_loop(batch->count, add_ends, batch, 0);
        break;
    case EDEN_BATCH_BUCKETS:
        bpf_loop(batch->count, add_buckets, batch, 0);
        break;
    default: /* EDEN_BATCH_OBJECTS: somebody else has asked for them */
        lose_many(LOST_UNREADABLE, batch->count);
    }
}

SEC("uprobe")
int on_batch(struct pt_regs *ctx) {
    uint64_t cookie = bpf_get_attach_cookie(ctx);
    uint32_t index = (uint32_t)cookie, tid;
    struct heap_key key = {};
    bool is_observed = current_program(&key, &tid);
    if ((by_descent && !is_observed) || is_taken(ctx, (uint32_t)(cookie >> 32))) {
        return 0;
    }
    struct probe_spec *spec = bpf_map_lookup_elem(&specs, &index);
    if (!spec || !EDEN_HAS(spec->args, batch, record_bytes)) {
        lose(LOST_STRAYS);
        return 0;
    }
    take(ctx, (uint32_t)(cookie >> 32));
    struct batch batch = {};
    uint64_t count, record_bytes;
    {
        uint64_t regs[16];
        copy_registers(regs, ctx);
        key.address = fetch(&EDEN_ARG(spec->arg, batch, heap), regs);
        batch.kind = fetch(&EDEN_ARG(spec->arg, batch, batch_kind), regs);
        batch.records = fetch(&EDEN_ARG(spec->arg, batch, records), regs);
        count = fetch(&EDEN_ARG(spec->arg, batch, record_count), regs);
        record_bytes = fetch(&EDEN_ARG(spec->arg, batch, record_bytes), regs);
    }
    struct heap_entry *heap = find_entry(&key, index);
    if (!heap) {
        lose(LOST_STRAYS);
        return 0;
    }
    batch.heap = heap->number;
    if (batch.kind == LIFE_BATCH_STACK) {
        lose_many(LOST_UNREADABLE, count);
        return 0;
    }
    uint64_t taken = count < LIFE_MOST_RECORDS ? count : LIFE_MOST_RECORDS;
    bool sound = record_bytes >= LIFE_LEAST_RECORD && record_bytes <= LIFE_MOST_BATCH_BYTES;
    lose_many(LOST_UNREADABLE, sound ? count - taken : count);
    if (!sound) {
        return 0;
    }
    batch.count = taken;
    batch.record_bytes = record_bytes;
    struct life_profile *profile = bpf_map_lookup_elem(&life_profiles, &batch.heap);
    if (!profile) {
        lose(LOST_STRAYS);
        return 0;
    }
    if (batch.kind == EDEN_BATCH_PROFILE) {
        take_profile(&batch, profile);
    }
    batch.profile = life_profile_of(batch.heap, profile->number);
    if (profile->is_partial) {
        return 0;
    }
    if (send_records) {
        bpf_loop(batch.count, send_part, &batch, 0);
    } else {
        add_batch(&batch);
    }
    return 0;
}
