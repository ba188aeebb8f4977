/* Walking eden: births and early deaths of an epoch, where most of its objects are samples.
 *
 * When all is copied eden still holds what was allocated there since the last collection, in order of birth: the dead
 * as they were, the others as corpses with forwarding addresses. So one walk finds every birth, its time by its place
 * (byte_clock.c), and every death within the epoch. Survivors join the profile's lists.
 *
 * Most are dead, and must cost next to nothing. Lifetimes shrink steadily along the walk, so a run of addresses has
 * lifetimes in the same two buckets; within it objects of a site are only counted and their offsets added up, which
 * gives the exact sum of their lifetimes on the byte clock, and of the interpolated ones in nanoseconds. A run ends at
 * an anchor or where a bucket does: then what was counted goes into cells (life_cells.c).
 *
 * The same walk, with nothing copied, tells what is alive, or not yet found dead, when a profile ends. */
#include "eden_histogram.h"
#include "lifetimes.h"
#include "private.h"

enum { TALLIES = 256 };

struct site_tally {
    uint32_t site, count;
    uint64_t bytes;
    uint64_t offsets; /* of their addresses, from the run's start */
};

struct walk {
    struct profile *profile;
    struct anchor end; /* of the lifetimes */
    bool censored;
    size_t mark, stretch;
    uintptr_t from, until; /* the run */
    double ns, ns_a_byte;  /* the lifetime at its start, and what a byte further takes from it */
    uint64_t bytes;
    uint16_t ns_bucket, bytes_bucket;
    uint32_t used_count;
    uint16_t used[TALLIES];
    struct site_tally tallies[TALLIES];
};

static void flush(struct walk *walk, struct site_tally *tally) {
    struct outbox *out = &walk->profile->out;
    uint64_t weight = sampling_weight_units(walk->profile, 0) * tally->count;
    uint64_t weight_bytes = (uint64_t)(sampling_weight(walk->profile, 0) * (double)tally->bytes + 0.5);
    double ns = walk->ns * tally->count - walk->ns_a_byte * (double)tally->offsets;
    uint64_t ns_sum = ns > 0 ? (uint64_t)ns : 0, bytes_sum = walk->bytes * tally->count - tally->offsets;
    double each = sampling_weight(walk->profile, 0);
    outbox_births(out, &(struct eden_birth_cell){tally->site, tally->count, tally->bytes, weight, weight_bytes});
    outbox_ends(out, walk->censored,
                &(struct eden_life_cell){
                    .site = tally->site,
                    .count = tally->count,
                    .ns_bucket = walk->ns_bucket,
                    .bytes_bucket = walk->bytes_bucket,
                    .bytes = tally->bytes,
                    .ns_sum = ns_sum,
                    .bytes_sum = bytes_sum,
                    .weight = weight,
                    .weight_bytes = weight_bytes,
                    .weight_us = (uint64_t)(each * (double)ns_sum / 1e3 + 0.5),
                    .weight_kib = (uint64_t)(each * (double)bytes_sum / 1024 + 0.5),
                });
    *tally = (struct site_tally){0};
}

static void end_run(struct walk *walk) {
    for (uint32_t i = 0; i < walk->used_count; i++) {
        if (walk->tallies[walk->used[i]].count != 0) {
            flush(walk, &walk->tallies[walk->used[i]]);
        }
    }
    walk->used_count = 0;
}

static uintptr_t least(uintptr_t a, uintptr_t b) { return a < b ? a : b; }

static void begin_run(struct walk *walk, uintptr_t at) {
    const struct byte_clock *clock = &walk->profile->clock;
    while (walk->mark + 1 < clock->mark_count && clock->marks[walk->mark + 1].at <= at) {
        walk->mark++;
    }
    const struct mark *mark = &clock->marks[walk->mark];
    bool last = walk->mark + 1 == clock->mark_count;
    walk->ns_a_byte = last || mark[1].time.ns <= mark->time.ns
                          ? 0
                          : (double)(mark[1].time.ns - mark->time.ns) / (double)(mark[1].at - mark->at);
    walk->from = at;
    walk->until = last ? UINTPTR_MAX : mark[1].at;
    walk->ns = (double)(walk->end.ns - mark->time.ns) - walk->ns_a_byte * (double)(at - mark->at);
    walk->bytes = walk->end.bytes - (mark->time.bytes + (at - mark->at));
    walk->ns_bucket = (uint16_t)histogram_bucket(walk->ns > 0 ? (uint64_t)walk->ns : 0);
    walk->bytes_bucket = (uint16_t)histogram_bucket(walk->bytes);
    walk->until = least(walk->until, at + (walk->bytes - histogram_lower(walk->bytes_bucket)) + 1);
    double ns_left = walk->ns - (double)histogram_lower(walk->ns_bucket);
    if (walk->ns_a_byte > 0) {
        walk->until = least(walk->until, at + (uintptr_t)(ns_left / walk->ns_a_byte) + 1);
    }
}

static void count_end(struct walk *walk, uint32_t site, uintptr_t at, size_t bytes) {
    if (at >= walk->until) {
        end_run(walk);
        begin_run(walk, at);
    }
    struct site_tally *tally = &walk->tallies[site % TALLIES];
    if (tally->count == 0) {
        walk->used[walk->used_count++] = (uint16_t)(site % TALLIES);
        tally->site = site;
    } else if (tally->site != site) {
        flush(walk, tally);
        tally->site = site; /* its place in `used` stays */
    }
    tally->count++;
    tally->bytes += bytes;
    tally->offsets += at - walk->from;
}

static bool in_stretch(struct walk *walk, uintptr_t at) {
    const struct profile *profile = walk->profile;
    while (walk->stretch < profile->stretch_count && profile->stretches[walk->stretch].to <= at) {
        walk->stretch++;
    }
    return walk->stretch < profile->stretch_count && profile->stretches[walk->stretch].from <= at;
}

static struct life life_at(struct walk *walk, uintptr_t at) {
    const struct byte_clock *clock = &walk->profile->clock;
    size_t i = walk->mark;
    while (i + 1 < clock->mark_count && clock->marks[i + 1].at <= at) {
        i++;
    }
    return lifetimes_born(walk->profile, object_at(at), clock->marks[i].time.bytes + (at - clock->marks[i].at), 0);
}

static void one_sample(struct walk *walk, uintptr_t at, eden_value object, eden_value now, size_t bytes) {
    struct profile *profile = walk->profile;
    uint32_t site = eden_index_of(now == EDEN_NONE ? object : now);
    bool ended = walk->censored || now == EDEN_NONE;
    if (ended && !profile->out.one_by_one) {
        count_end(walk, site, at, bytes);
        return;
    }
    struct life life = life_at(walk, at);
    if (ended) {
        lifetimes_tell_end(profile, &life, object, walk->censored);
    } else if (!lifetimes_move_on(profile, life, now)) {
        return; /* no birth is told: it is lost */
    }
    outbox_birth(&profile->out, site, bytes, sampling_weight_units(profile, bytes),
                 sampling_weight_bytes(profile, bytes));
}

void eden_walk(struct profile *profile, struct anchor end, bool censored) {
    struct walk walk;
    memset(&walk, 0, sizeof walk);
    walk.profile = profile;
    walk.end = end;
    walk.censored = censored;
    const eden_heap *heap = profile->heap;
    uintptr_t limit = censored ? heap->mutator.free : heap->eden.used;
    begin_run(&walk, profile->from);
    for (uintptr_t at = profile->from; at < limit;) {
        eden_value object = object_at(at);
        eden_value now = censored ? EDEN_NONE : lifetimes_after_scavenge(object);
        size_t bytes = object_bytes(now == EDEN_NONE ? object : now);
        if (in_stretch(&walk, at) && sampling_next(profile)) {
            one_sample(&walk, at, object, now, bytes);
        }
        at += bytes;
    }
    end_run(&walk);
}
