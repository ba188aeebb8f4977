/* Walking eden: births and early deaths of an epoch, where most of its objects are samples.
 *
 * 1. Algorithm
 * When all is copied, eden still holds what was allocated there since the last collection, in order of birth: the dead
 * as they were, the others with forwarding addresses. So one walk finds every birth, its time by its place
 * (allocation_clock.c), and every death within the epoch. Survivors join the profile's lists. The same walk, with
 * nothing copied, reports what is alive, or not yet found dead, when a profile ends.
 *
 * 2. Cost
 * Most objects are dead, and must cost next to nothing: they are reported in batches (death_batch.c). What is left is
 * waiting for memory, as only an object's header says where the next one is. But an object is known to begin at each
 * anchor. So two parts, from anchor to anchor, are walked at the same time, which takes hardly longer than one: that
 * spares a quarter to a third of the walk. Each part has a cursor of its own. The survivors of the later part wait
 * until the earlier part is done, so that all join the lists in order of birth. */
#include "profile/eden_walk.h"
#include "profile/compact_records.h"
#include "profile/sampling.h"
#include "young/scavenge.h"

/* Bytes between what is walked and what is prefetched of eden, which is larger than the caches near the processor. A
 * range that is hardly longer is prefetched whole while the one before is walked. */
enum { WALK_AHEAD = 1024, LINE = 64 };

/* A part of eden without an anchor within. */
struct part {
    uintptr_t at, limit;
    uint64_t birth; /* of an object at address 0 */
};

struct walk {
    struct profile *profile;
    bool censored;
    uint64_t unusual; /* bits of a header: what is not simply dead */
    uintptr_t ahead;  /* WALK_AHEAD, or 0: what lies so far ahead is not walked */
    size_t mark;      /* the last one that is not behind */
    struct cursor *cursors;
    void (*parts)(struct walk *walk, struct part *parts, size_t count);
    struct eden_birth_cell *births; /* the profile's */
};

static void report_births(struct walk *walk, struct eden_birth_cell *births) {
    if (births->count != 0) {
        births->weight = sampling_weight_units(walk->profile, 0) * births->count;
        births->weight_bytes = (uint64_t)(walk->cursors[0].batch.weight * (double)births->bytes + 0.5);
        aggregator_births(&walk->profile->out, births);
        *births = (struct eden_birth_cell){0};
    }
}

static void count_birth(struct walk *walk, uint32_t site, size_t bytes) {
    struct eden_birth_cell *births = &walk->births[site % TALLIES];
    if (births->site != site) {
        report_births(walk, births);
        births->site = site;
    }
    births->count++;
    births->bytes += bytes;
}

static void death(struct walk *walk, struct cursor *cursor, const struct tracked *tracked, eden_value object) {
    struct aggregator *out = &walk->profile->out;
    uint64_t birth = tracked_birth(tracked);
    uint32_t site = eden_index_of(object);
    size_t bytes = object_bytes(object);
    if (!out->one_by_one) {
        death_batch_add(&cursor->batch, site, bytes, birth, 0, 0);
        return;
    }
    count_birth(walk, site, bytes);
    if (out->has_compact) {
        compact_records_add_walked(out, birth, site, bytes, walk->censored);
    } else {
        lifetimes_report_end(walk->profile, tracked, object, 0, walk->censored);
    }
}

/* All that were gathered: what they are stands in their copies. */
static void arrive(struct walk *walk, struct cursor *cursor) {
    struct profile *profile = walk->profile;
    if (profile->is_second_pass) {
        survivor_buffer_resolve(&cursor->buffer);
    }
    for (size_t i = 0; i < cursor->buffer.count; i++) {
        const struct survivor *move = &cursor->buffer.at[i];
        eden_value now = move->now;
        bool alive = true;
        if (profile->is_second_pass) {
            now = scavenge_last_copy(profile->heap, profile->copied_to, now, &alive);
        }
        uint64_t header = eden_header(now);
        if (!alive) {
            death(walk, cursor, &move->tracked, now);
        } else if (lifetimes_move_on(profile, move->tracked, now)) {
            count_birth(walk, (uint32_t)(header & EDEN_HEADER_CLASS_MASK), object_bytes_by(header, now));
        } /* else no birth is reported: it is lost */
    }
    cursor->buffer.count = 0;
}

/* The object at an address that is a sample. Its size. */
static size_t walk_one(struct walk *walk, struct cursor *cursor, uintptr_t at, uint64_t birth) {
    eden_value object = object_at(at);
    uint64_t header = eden_header(object);
    struct tracked tracked = lifetimes_born(walk->profile, object, birth + at, 0);
    size_t bytes = object_bytes(object);
    if ((header & walk->unusual) == 0) {
        death(walk, cursor, &tracked, object);
    } else {
        if (survivor_buffer_is_full(&cursor->buffer)) {
            arrive(walk, cursor);
        }
        survivor_buffer_add(&cursor->buffer, tracked, survivor_place(object, header));
    }
    return bytes;
}

static void walk_some(struct walk *walk, struct part *parts, size_t count) {
    bool nth = walk->profile->sampling == EDEN_SAMPLE_NTH;
    for (const struct part *part = parts; part < parts + count; part++) {
        for (uintptr_t at = part->at; at < part->limit;) {
            bool sampled = !nth || sampling_next(walk->profile);
            at += sampled ? walk_one(walk, walk->cursors, at, part->birth) : object_bytes(object_at(at));
        }
    }
}

/* ---- where every object is a sample and only cells are wanted ---- */

/* What most objects take: a load, three tests and three additions. False: nothing was done, for the object is large, or
 * the first of its site, or survived and there is no room. Nothing is called, so that all stays in registers. */
static inline bool step(const struct profile *profile, struct cursor *cursor, uint64_t unusual, uintptr_t ahead,
                        struct part *part) {
    uintptr_t at = part->at;
    __builtin_prefetch((const void *)(at + ahead));
    uint64_t header = *(const uint64_t *)at; /* or overflow word: found by a jump, lest loads wait for loads */
    size_t slots = (size_t)(header >> EDEN_HEADER_SLOTS_SHIFT), bytes = 8 + 8 * slots;
    if (__builtin_expect(slots == EDEN_SLOTS_OVERFLOW, 0)) {
        return false;
    }
    if ((header & unusual) == 0) {
        uint32_t site = (uint32_t)(header & EDEN_HEADER_CLASS_MASK);
        struct site_tally *tally = death_batch_tally(&cursor->batch, site);
        if (__builtin_expect(tally->site != site, 0)) {
            return false;
        }
        site_tally_count(tally, bytes, part->birth + at);
    } else if (__builtin_expect(survivor_buffer_is_full(&cursor->buffer), 0)) {
        return false;
    } else {
        survivor_buffer_add(&cursor->buffer, lifetimes_born(profile, at, part->birth + at, 0),
                            survivor_place(at, header));
    }
    part->at = at + bytes;
    return true;
}

/* What step() leaves. */
static void step_anyway(struct walk *walk, struct cursor *cursor, struct part *part) {
    part->at += walk_one(walk, cursor, part->at, part->birth);
}

/* Up to where the cursor's batch reaches. */
static uintptr_t run_limit(struct cursor *cursor, const struct part *part) {
    struct death_batch *batch = &cursor->batch;
    uint64_t birth = part->birth + part->at;
    if (birth - batch->from >= batch->span) {
        death_batch_advance(batch, birth, 0, 0);
    }
    uint64_t left = batch->from + batch->span - part->birth;
    return left < part->limit ? left : part->limit;
}

static void walk_rest(struct walk *walk, struct cursor *cursor, struct part *part) {
    const uint64_t unusual = walk->unusual;
    const uintptr_t ahead = walk->ahead;
    while (part->at < part->limit) {
        uintptr_t limit = run_limit(cursor, part);
        struct part now = *part; /* in registers */
        bool done = true;
        while (now.at < limit && (done = step(walk->profile, cursor, unusual, ahead, &now))) {
        }
        *part = now;
        if (!done) {
            step_anyway(walk, cursor, part);
        }
    }
    arrive(walk, cursor);
}

/* Until one of them ends, or the later one has no room. */
static void walk_both(struct walk *walk, struct part *earlier, struct part *later) {
    struct cursor *one = &walk->cursors[0], *other = &walk->cursors[1];
    const struct profile *profile = walk->profile;
    const uint64_t unusual = walk->unusual;
    const uintptr_t ahead = walk->ahead;
    while (earlier->at < earlier->limit && later->at < later->limit && !survivor_buffer_is_full(&other->buffer)) {
        uintptr_t limit = run_limit(one, earlier), other_limit = run_limit(other, later);
        struct part a = *earlier, b = *later; /* likewise */
        bool done = true, other_done = true;
        while (a.at < limit && b.at < other_limit && (done = step(profile, one, unusual, ahead, &a)) &&
               (other_done = step(profile, other, unusual, ahead, &b))) {
        }
        *earlier = a;
        *later = b;
        if (!done) {
            step_anyway(walk, one, earlier);
        }
        if (!other_done && !survivor_buffer_is_full(&other->buffer)) {
            step_anyway(walk, other, later);
        }
    }
}

static void walk_all(struct walk *walk, struct part *parts, size_t count) {
    if (count == 2) {
        walk_both(walk, &parts[0], &parts[1]);
    }
    for (size_t i = 0; i < count; i++) {
        walk_rest(walk, &walk->cursors[i], &parts[i]);
    }
}

/* ---- where short forms of records are ---- */

static void walk_all_briefly(struct walk *walk, struct part *parts, size_t count) {
    for (const struct part *part = parts; part < parts + count; part++) {
        for (uintptr_t at = part->at; at < part->limit;) {
            uint64_t header = *(const uint64_t *)at;
            size_t slots = (size_t)(header >> EDEN_HEADER_SLOTS_SHIFT), bytes = 8 + 8 * slots;
            if (__builtin_expect((header & walk->unusual) == 0 && slots != EDEN_SLOTS_OVERFLOW, 1)) {
                uint32_t site = (uint32_t)(header & EDEN_HEADER_CLASS_MASK);
                count_birth(walk, site, bytes);
                compact_records_add_walked(&walk->profile->out, part->birth + at, site, bytes, walk->censored);
            } else {
                bytes = walk_one(walk, walk->cursors, at, part->birth);
            }
            at += bytes;
        }
    }
}

/* ---- ---- */

static void walk_range(struct walk *walk, uintptr_t at, uintptr_t end) {
    const struct allocation_clock *clock = &walk->profile->clock;
    struct part parts[2];
    size_t count = 0;
    walk->ahead = end - at > 4ull * WALK_AHEAD ? WALK_AHEAD : 0;
    while (at < end) {
        while (walk->mark + 1 < clock->mark_count && clock->marks[walk->mark + 1].at <= at) {
            walk->mark++;
        }
        const struct eden_mark *mark = &clock->marks[walk->mark];
        bool last = walk->mark + 1 == clock->mark_count || mark[1].at > end;
        uintptr_t limit = last ? end : mark[1].at;
        parts[count++] = (struct part){at, limit, mark->time.bytes - mark->at};
        if (count == 2 || limit == end) {
            walk->parts(walk, parts, count);
            count = 0;
        }
        at = limit;
    }
}

/* Each line of a short range was a miss: too few for the processor to see where they lead. */
static void prefetch_range(const struct sample_range *range) {
    uintptr_t to = range->to - range->from < WALK_AHEAD ? range->to : range->from + WALK_AHEAD;
    for (uintptr_t at = range->from; at < to; at += LINE) {
        __builtin_prefetch((const void *)at);
    }
}

void eden_walk(struct profile *profile, struct eden_anchor end, bool censored) {
    struct walk walk;
    memset(profile->births, 0, sizeof profile->births);
    walk.births = profile->births;
    walk.profile = profile;
    walk.censored = censored;
    walk.unusual = censored ? 0 : profile->is_in_place ? UINT64_MAX : EDEN_HEADER_FORWARDED | EDEN_HEADER_IN_PLACE;
    walk.mark = 0;
    walk.cursors = profile->cursors;
    walk.parts = profile->sampling == EDEN_SAMPLE_NTH ? walk_some
                 : !profile->out.one_by_one           ? walk_all
                 : profile->out.has_compact           ? walk_all_briefly
                                                      : walk_some;
    for (size_t i = 0; i < CURSORS; i++) {
        death_batch_init(&walk.cursors[i].batch, profile, end, censored);
        walk.cursors[i].batch.has_births = true;
        walk.cursors[i].buffer.count = 0;
    }
    bool all = profile->sampling == EDEN_SAMPLE_OBJECTS && profile->rate == 1;
    if (all || profile->sampling == EDEN_SAMPLE_NTH) {
        walk_range(&walk, profile->from, censored ? profile->heap->mutator.free : profile->heap->eden.used);
    }
    for (size_t i = 0; i < profile->range_count; i++) {
        if (i + 1 < profile->range_count) {
            prefetch_range(&profile->ranges[i + 1]);
        }
        walk_range(&walk, profile->ranges[i].from, profile->ranges[i].to);
    }
    arrive(&walk, walk.cursors);
    for (size_t i = 0; i < CURSORS; i++) {
        death_batch_end(&walk.cursors[i].batch);
    }
    for (size_t i = 0; i < TALLIES; i++) {
        report_births(&walk, &walk.births[i]);
    }
}
