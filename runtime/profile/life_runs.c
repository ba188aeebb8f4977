/* Runs: ends of many objects, told at the cost of a few additions each.
 *
 * What a death says of an object (both lifetimes' buckets, the collections survived) follows from its birth, once the
 * collection that found it is given. Lists and eden are in order of birth, and lifetimes shrink steadily along it, so a
 * run of births has all of that in common: within one, the objects of a site are only counted, and their sizes and
 * births added up. That gives the exact sum of their lifetimes on the byte clock, and of the
 * interpolated ones in nanoseconds. A run ends at an anchor (byte_clock.c), where a bucket or an epoch does, and where
 * an object was tenured in another collection than those before: then what was counted goes into cells (life_cells.c).
 *
 * Only where all samples have one weight: that of a sampling by bytes depends on the object's size, and such samples
 * are few. */
#include "eden_histogram.h"
#include "profile/lifetimes.h"

void run_init(struct life_run *run, struct profile *profile, struct eden_anchor end, bool censored) {
    memset(run, 0, offsetof(struct life_run, used));
    run->profile = profile;
    run->end = end;
    run->censored = censored;
    run->alike = !profile->out.one_by_one && sampling_is_even(profile);
    run->weight = sampling_weight(profile, 0);
    for (size_t i = 0; i < TALLIES; i++) {
        run->tallies[i] = (struct site_tally){.site = NO_SITE};
    }
}

static void flush(struct life_run *run, struct site_tally *tally) {
    uint64_t offsets = tally->births - run->from * tally->count; /* of their births, from the run's first */
    double ns = run->ns * tally->count - run->ns_a_byte * (double)offsets;
    uint64_t ns_sum = ns > 0 ? (uint64_t)ns : 0, bytes_sum = run->bytes * tally->count - offsets;
    struct eden_life_cell cell = run->like;
    cell.site = tally->site;
    cell.count = tally->count;
    cell.bytes = tally->bytes;
    cell.ns_sum = ns_sum;
    cell.bytes_sum = bytes_sum;
    cell.tenured_ns_sum = run->tenured_ns * tally->count;
    cell.tenured_bytes_sum = run->tenured_bytes * tally->count;
    cell.weight = sampling_weight_units(run->profile, 0) * tally->count;
    cell.weight_bytes = (uint64_t)(run->weight * (double)tally->bytes + 0.5);
    cell.weight_us = (uint64_t)(run->weight * (double)ns_sum / 1e3 + 0.5);
    cell.weight_kib = (uint64_t)(run->weight * (double)bytes_sum / 1024 + 0.5);
    outbox_ends(&run->profile->out, run->censored, &cell);
    if (run->births) {
        outbox_births(&run->profile->out,
                      &(struct eden_birth_cell){cell.site, cell.count, cell.bytes, cell.weight, cell.weight_bytes});
    }
    *tally = (struct site_tally){.site = NO_SITE};
}

void run_end(struct life_run *run) {
    for (uint32_t i = 0; i < run->used_count; i++) {
        flush(run, &run->tallies[run->used[i]]);
    }
    run->used_count = 0;
    run->span = 0;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint16_t up_to_16_bits(uint32_t n) { return n < UINT16_MAX ? (uint16_t)n : UINT16_MAX; }

static void begin(struct life_run *run, uint64_t birth, uint64_t tenured, uint32_t flags) {
    const struct byte_clock *clock = &run->profile->clock;
    struct eden_anchor before, after;
    bool bounded = clock_around(clock, birth, &before, &after);
    bool slopes = bounded && after.ns > before.ns && after.bytes > before.bytes;
    run->ns_a_byte = slopes ? (double)(after.ns - before.ns) / (double)(after.bytes - before.bytes) : 0;
    run->from = birth;
    run->ns = (double)(run->end.ns - before.ns) - run->ns_a_byte * (double)(birth - before.bytes);
    run->bytes = run->end.bytes - birth;
    size_t last = clock->epoch_count - (run->censored ? 1 : 2), born_in = clock_epoch(clock, birth);
    const struct eden_epoch *from = &clock->epochs[born_in], *to = &clock->epochs[last];
    run->like = (struct eden_life_cell){
        .ns_bucket = (uint16_t)histogram_bucket(run->ns > 0 ? (uint64_t)run->ns : 0),
        .bytes_bucket = (uint16_t)histogram_bucket(run->bytes),
        .scavenges = up_to_16_bits(to->scavenges - from->scavenges),
        .fulls = up_to_16_bits(to->fulls - from->fulls),
        .flags = flags | (tenured != 0 ? EDEN_LIFE_TENURED : 0),
    };
    run->tenured = tenured;
    run->flags = flags;
    run->tenured_ns = tenured != 0 ? run->end.ns - clock->epochs[tenured].start.ns : 0;
    run->tenured_bytes = tenured != 0 ? run->end.bytes - clock->epochs[tenured].start.bytes : 0;
    uint64_t until = bounded ? after.bytes : UINT64_MAX;
    until = least(until, birth + (run->bytes - histogram_lower(run->like.bytes_bucket)) + 1);
    if (run->ns_a_byte > 0) {
        double ns_left = run->ns - (double)histogram_lower(run->like.ns_bucket);
        until = least(until, birth + (uint64_t)(ns_left / run->ns_a_byte) + 1);
    }
    if (born_in + 1 < clock->epoch_count) {
        until = least(until, clock->epochs[born_in + 1].start.bytes);
    }
    run->span = until > birth ? until - birth : 1;
}

void run_turn(struct life_run *run, uint64_t birth, uint64_t tenured, uint32_t flags) {
    run_end(run);
    begin(run, birth, tenured, flags);
}

void run_take_tally(struct life_run *run, struct site_tally *tally, uint32_t site) {
    if (tally->site != NO_SITE) {
        flush(run, tally); /* its place in `used` stays */
    } else {
        run->used[run->used_count++] = (uint16_t)(site % TALLIES);
    }
    tally->site = site;
}
