/* Batches of deaths: ends of many objects, reported at the cost of a few additions each.
 *
 * 1. Algorithm
 * Given the collection that found it, a death follows from the birth: the buckets of both lifetimes, the collections
 * survived. Lists and eden are in order of birth, and lifetimes shrink steadily along it, so a range of births has all
 * of that in common. Within one batch the objects of a site are only counted, and their sizes and births added up. That
 * gives the exact sum of their lifetimes on the allocation clock, and of the interpolated ones in nanoseconds. A batch
 * ends at an anchor (allocation_clock.c), where a bucket or an epoch does, and where an object was tenured in another
 * collection than those before. Then what was counted goes into rows (aggregator.c).
 *
 * 2. Limits
 * Batches are used where all samples have one weight. The weight of a sampling by bytes depends on the object's size,
 * and such samples are few. */
#include "profile/death_batch.h"
#include "eden_histogram.h"
#include "profile/sampling.h"

void death_batch_init(struct death_batch *batch, struct profile *profile, struct eden_anchor end, bool censored) {
    memset(batch, 0, offsetof(struct death_batch, used));
    batch->profile = profile;
    batch->end = end;
    batch->is_censored = censored;
    batch->is_alike = !profile->out.one_by_one && sampling_is_even(profile);
    batch->weight = sampling_weight(profile, 0);
    for (size_t i = 0; i < TALLIES; i++) {
        batch->tallies[i] = (struct site_tally){.site = NO_SITE};
    }
}

static void flush(struct death_batch *batch, struct site_tally *tally) {
    uint64_t offsets = tally->births - batch->from * tally->count; /* of their births, from the run's first */
    double ns = batch->ns * tally->count - batch->ns_a_byte * (double)offsets;
    uint64_t ns_sum = ns > 0 ? (uint64_t)ns : 0, bytes_sum = batch->bytes * tally->count - offsets;
    struct eden_life_cell cell = batch->like;
    cell.site = tally->site;
    cell.count = tally->count;
    cell.bytes = tally->bytes;
    cell.ns_sum = ns_sum;
    cell.bytes_sum = bytes_sum;
    cell.tenured_ns_sum = batch->tenured_ns * tally->count;
    cell.tenured_bytes_sum = batch->tenured_bytes * tally->count;
    cell.weight = sampling_weight_units(batch->profile, 0) * tally->count;
    cell.weight_bytes = (uint64_t)(batch->weight * (double)tally->bytes + 0.5);
    cell.weight_us = (uint64_t)(batch->weight * (double)ns_sum / 1e3 + 0.5);
    cell.weight_kib = (uint64_t)(batch->weight * (double)bytes_sum / 1024 + 0.5);
    aggregator_ends(&batch->profile->out, batch->is_censored, &cell);
    if (batch->has_births) {
        aggregator_births(&batch->profile->out,
                          &(struct eden_birth_cell){cell.site, cell.count, cell.bytes, cell.weight, cell.weight_bytes});
    }
    *tally = (struct site_tally){.site = NO_SITE};
}

void death_batch_end(struct death_batch *batch) {
    for (uint32_t i = 0; i < batch->used_count; i++) {
        flush(batch, &batch->tallies[batch->used[i]]);
    }
    batch->used_count = 0;
    batch->span = 0;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint16_t up_to_16_bits(uint32_t n) { return n < UINT16_MAX ? (uint16_t)n : UINT16_MAX; }

static void begin(struct death_batch *batch, uint64_t birth, uint64_t tenured, uint32_t flags) {
    const struct allocation_clock *clock = &batch->profile->clock;
    struct eden_anchor before, after;
    bool bounded = allocation_clock_around(clock, birth, &before, &after);
    bool slopes = bounded && after.ns > before.ns && after.bytes > before.bytes;
    batch->ns_a_byte = slopes ? (double)(after.ns - before.ns) / (double)(after.bytes - before.bytes) : 0;
    batch->from = birth;
    batch->ns = (double)(batch->end.ns - before.ns) - batch->ns_a_byte * (double)(birth - before.bytes);
    batch->bytes = batch->end.bytes - birth;
    size_t last = clock->epoch_count - (batch->is_censored ? 1 : 2), born_in = allocation_clock_epoch(clock, birth);
    const struct eden_epoch *from = &clock->epochs[born_in], *to = &clock->epochs[last];
    batch->like = (struct eden_life_cell){
        .ns_bucket = (uint16_t)histogram_bucket(batch->ns > 0 ? (uint64_t)batch->ns : 0),
        .bytes_bucket = (uint16_t)histogram_bucket(batch->bytes),
        .scavenges = up_to_16_bits(to->scavenges - from->scavenges),
        .fulls = up_to_16_bits(to->fulls - from->fulls),
        .flags = flags | (tenured != 0 ? EDEN_LIFE_TENURED : 0),
    };
    batch->tenured = tenured;
    batch->flags = flags;
    batch->tenured_ns = tenured != 0 ? batch->end.ns - clock->epochs[tenured].start.ns : 0;
    batch->tenured_bytes = tenured != 0 ? batch->end.bytes - clock->epochs[tenured].start.bytes : 0;
    uint64_t until = bounded ? after.bytes : UINT64_MAX;
    until = least(until, birth + (batch->bytes - histogram_lower(batch->like.bytes_bucket)) + 1);
    if (batch->ns_a_byte > 0) {
        double ns_left = batch->ns - (double)histogram_lower(batch->like.ns_bucket);
        until = least(until, birth + (uint64_t)(ns_left / batch->ns_a_byte) + 1);
    }
    if (born_in + 1 < clock->epoch_count) {
        until = least(until, clock->epochs[born_in + 1].start.bytes);
    }
    batch->span = until > birth ? until - birth : 1;
}

void death_batch_advance(struct death_batch *batch, uint64_t birth, uint64_t tenured, uint32_t flags) {
    death_batch_end(batch);
    begin(batch, birth, tenured, flags);
}

void death_batch_take_tally(struct death_batch *batch, struct site_tally *tally, uint32_t site) {
    if (tally->site != NO_SITE) {
        flush(batch, tally); /* its place in `used` stays */
    } else {
        batch->used[batch->used_count++] = (uint16_t)(site % TALLIES);
    }
    tally->site = site;
}
