/* Walking eden: births and early deaths of an epoch, where most of its objects are samples.
 *
 * When all is copied eden still holds what was allocated there since the last collection, in order of birth: the dead
 * as they were, the others as corpses with forwarding addresses. So one walk finds every birth, its time by its place
 * (byte_clock.c), and every death within the epoch. Survivors join the profile's lists.
 *
 * Most are dead, and must cost next to nothing: they are told in runs (life_runs.c). What is left is waiting: only an
 * object's header tells where the next one is. But at each anchor an object is known to begin. So two parts, from
 * anchor to anchor, are walked at the same time, and two such chains take hardly longer than one: a quarter to a third
 * of the walk was spared. Each has a lane of its own; of the later part's, the survivors wait until the earlier part is
 * through, so that all join the lists in order of birth.
 *
 * The same walk, with nothing copied, tells what is alive, or not yet found dead, when a profile ends. */
#include "profile/life_moves.h"
#include "profile/lifetimes.h"

/* Bytes between what is walked and what is asked for of eden, which is larger than the caches near the processor. Of a
 * stretch that is hardly longer, all is asked for while the one before is walked. */
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
    struct lane *lanes;
    void (*parts)(struct walk *walk, struct part *parts, size_t count);
    struct eden_birth_cell births[TALLIES]; /* that no run tells; one tally a site, as a run's */
};

static void tell_births(struct walk *walk, struct eden_birth_cell *births) {
    if (births->count != 0) {
        births->weight = sampling_weight_units(walk->profile, 0) * births->count;
        births->weight_bytes = (uint64_t)(walk->lanes[0].run.weight * (double)births->bytes + 0.5);
        outbox_births(&walk->profile->out, births);
        *births = (struct eden_birth_cell){0};
    }
}

static void count_birth(struct walk *walk, uint32_t site, size_t bytes) {
    struct eden_birth_cell *births = &walk->births[site % TALLIES];
    if (births->site != site) {
        tell_births(walk, births);
        births->site = site;
    }
    births->count++;
    births->bytes += bytes;
}

static void death(struct walk *walk, struct lane *lane, const struct life *life, eden_value object) {
    struct outbox *out = &walk->profile->out;
    uint64_t birth = life_birth(life);
    uint32_t site = eden_index_of(object);
    size_t bytes = object_bytes(object);
    if (!out->one_by_one) {
        run_add(&lane->run, site, bytes, birth, 0, 0);
        return;
    }
    count_birth(walk, site, bytes);
    if (out->short_forms) {
        short_tell_walked(out, birth, site, bytes, walk->censored);
    } else {
        lifetimes_tell_end(walk->profile, life, object, 0, walk->censored);
    }
}

/* All that were gathered: what they are stands in their copies. */
static void arrive(struct walk *walk, struct lane *lane) {
    struct profile *profile = walk->profile;
    if (profile->settled) {
        moves_settle(&lane->moves);
    }
    for (size_t i = 0; i < lane->moves.count; i++) {
        const struct life_move *move = &lane->moves.at[i];
        eden_value now = move->now;
        bool alive = true;
        if (profile->settled) {
            now = scavenge_last_copy(profile->heap, profile->copied_to, now, &alive);
        }
        uint64_t header = eden_header(now);
        if (!alive) {
            death(walk, lane, &move->life, now);
        } else if (lifetimes_move_on(profile, move->life, now)) {
            count_birth(walk, (uint32_t)(header & EDEN_HEADER_CLASS_MASK), object_bytes_by(header, now));
        } /* else no birth is told: it is lost */
    }
    lane->moves.count = 0;
}

/* The object at an address that is a sample. Its size. */
static size_t walk_one(struct walk *walk, struct lane *lane, uintptr_t at, uint64_t birth) {
    eden_value object = object_at(at);
    uint64_t header = eden_header(object);
    struct life life = lifetimes_born(walk->profile, object, birth + at, 0);
    size_t bytes = object_bytes(object);
    if ((header & walk->unusual) == 0) {
        death(walk, lane, &life, object);
    } else {
        if (moves_are_full(&lane->moves)) {
            arrive(walk, lane);
        }
        moves_add(&lane->moves, life, moved_to(object, header));
    }
    return bytes;
}

static void walk_some(struct walk *walk, struct part *parts, size_t count) {
    bool nth = walk->profile->sampling == EDEN_SAMPLE_NTH;
    for (const struct part *part = parts; part < parts + count; part++) {
        for (uintptr_t at = part->at; at < part->limit;) {
            bool sampled = !nth || sampling_next(walk->profile);
            at += sampled ? walk_one(walk, walk->lanes, at, part->birth) : object_bytes(object_at(at));
        }
    }
}

/* ---- where every object is a sample and only cells are wanted ---- */

/* What most objects take: a load, three tests and three additions. False: nothing was done, for the object is large, or
 * the first of its site, or survived and there is no room. Nothing is called, so that all stays in registers. */
static inline bool step(const struct profile *profile, struct lane *lane, uint64_t unusual, uintptr_t ahead,
                        struct part *part) {
    uintptr_t at = part->at;
    __builtin_prefetch((const void *)(at + ahead));
    uint64_t header = *(const uint64_t *)at; /* or overflow word: told by a jump, lest loads wait for loads */
    size_t slots = (size_t)(header >> EDEN_HEADER_SLOTS_SHIFT), bytes = 8 + 8 * slots;
    if (__builtin_expect(slots == EDEN_SLOTS_OVERFLOW, 0)) {
        return false;
    }
    if ((header & unusual) == 0) {
        uint32_t site = (uint32_t)(header & EDEN_HEADER_CLASS_MASK);
        struct site_tally *tally = run_tally(&lane->run, site);
        if (__builtin_expect(tally->site != site, 0)) {
            return false;
        }
        tally_count(tally, bytes, part->birth + at);
    } else if (__builtin_expect(moves_are_full(&lane->moves), 0)) {
        return false;
    } else {
        moves_add(&lane->moves, lifetimes_born(profile, at, part->birth + at, 0), moved_to(at, header));
    }
    part->at = at + bytes;
    return true;
}

/* What step() leaves. */
static void step_anyway(struct walk *walk, struct lane *lane, struct part *part) {
    part->at += walk_one(walk, lane, part->at, part->birth);
}

/* Up to where the lane's run reaches. */
static uintptr_t run_limit(struct lane *lane, const struct part *part) {
    struct life_run *run = &lane->run;
    uint64_t birth = part->birth + part->at;
    if (birth - run->from >= run->span) {
        run_turn(run, birth, 0, 0);
    }
    uint64_t left = run->from + run->span - part->birth;
    return left < part->limit ? left : part->limit;
}

static void walk_rest(struct walk *walk, struct lane *lane, struct part *part) {
    const uint64_t unusual = walk->unusual;
    const uintptr_t ahead = walk->ahead;
    while (part->at < part->limit) {
        uintptr_t limit = run_limit(lane, part);
        struct part now = *part; /* in registers */
        bool done = true;
        while (now.at < limit && (done = step(walk->profile, lane, unusual, ahead, &now))) {
        }
        *part = now;
        if (!done) {
            step_anyway(walk, lane, part);
        }
    }
    arrive(walk, lane);
}

/* Until one of them ends, or the later one has no room. */
static void walk_both(struct walk *walk, struct part *earlier, struct part *later) {
    struct lane *one = &walk->lanes[0], *other = &walk->lanes[1];
    const struct profile *profile = walk->profile;
    const uint64_t unusual = walk->unusual;
    const uintptr_t ahead = walk->ahead;
    while (earlier->at < earlier->limit && later->at < later->limit && !moves_are_full(&other->moves)) {
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
        if (!other_done && !moves_are_full(&other->moves)) {
            step_anyway(walk, other, later);
        }
    }
}

static void walk_all(struct walk *walk, struct part *parts, size_t count) {
    if (count == 2) {
        walk_both(walk, &parts[0], &parts[1]);
    }
    for (size_t i = 0; i < count; i++) {
        walk_rest(walk, &walk->lanes[i], &parts[i]);
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
                short_tell_walked(&walk->profile->out, part->birth + at, site, bytes, walk->censored);
            } else {
                bytes = walk_one(walk, walk->lanes, at, part->birth);
            }
            at += bytes;
        }
    }
}

/* ---- ---- */

static void walk_stretch(struct walk *walk, uintptr_t at, uintptr_t end) {
    const struct byte_clock *clock = &walk->profile->clock;
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

/* Of a short stretch each line was a miss: too few for the processor to see where they lead. */
static void ask_for(const struct stretch *stretch) {
    uintptr_t to = stretch->to - stretch->from < WALK_AHEAD ? stretch->to : stretch->from + WALK_AHEAD;
    for (uintptr_t at = stretch->from; at < to; at += LINE) {
        __builtin_prefetch((const void *)at);
    }
}

void eden_walk(struct profile *profile, struct eden_anchor end, bool censored) {
    struct walk walk;
    memset(walk.births, 0, sizeof walk.births);
    walk.profile = profile;
    walk.censored = censored;
    walk.unusual = censored ? 0 : EDEN_HEADER_FORWARDED | EDEN_HEADER_KEPT;
    walk.mark = 0;
    walk.lanes = profile->lanes;
    walk.parts = profile->sampling == EDEN_SAMPLE_NTH ? walk_some
                 : !profile->out.one_by_one           ? walk_all
                 : profile->out.short_forms           ? walk_all_briefly
                                                      : walk_some;
    for (size_t i = 0; i < LANES; i++) {
        run_init(&walk.lanes[i].run, profile, end, censored);
        walk.lanes[i].run.births = true;
        walk.lanes[i].moves.count = 0;
    }
    bool all = profile->sampling == EDEN_SAMPLE_OBJECTS && profile->rate == 1;
    if (all || profile->sampling == EDEN_SAMPLE_NTH) {
        walk_stretch(&walk, profile->from, censored ? profile->heap->mutator.free : profile->heap->eden.used);
    }
    for (size_t i = 0; i < profile->stretch_count; i++) {
        if (i + 1 < profile->stretch_count) {
            ask_for(&profile->stretches[i + 1]);
        }
        walk_stretch(&walk, profile->stretches[i].from, profile->stretches[i].to);
    }
    arrive(&walk, walk.lanes);
    for (size_t i = 0; i < LANES; i++) {
        run_end(&walk.lanes[i].run);
    }
    for (size_t i = 0; i < TALLIES; i++) {
        tell_births(&walk, &walk.births[i]);
    }
}
