/* Walking eden: births and early deaths of an epoch, where most of its objects are samples.
 *
 * When all is copied eden still holds what was allocated there since the last collection, in order of birth: the dead
 * as they were, the others as corpses with forwarding addresses. So one walk finds every birth, its time by its place
 * (byte_clock.c), and every death within the epoch. Survivors join the profile's lists.
 *
 * Most are dead, and must cost next to nothing: they are told in runs (life_runs.c).
 *
 * The same walk, with nothing copied, tells what is alive, or not yet found dead, when a profile ends. */
#include "life_moves.h"
#include "lifetimes.h"
#include "private.h"

/* Bytes between what is walked and what is asked for of eden, which is larger than the caches near the processor. */
enum { WALK_AHEAD = 1024 };

struct walk {
    struct profile *profile;
    bool censored;
    size_t mark; /* the last one that is not behind */
    struct life_run run;
    struct life_moves moves;
    struct eden_birth_cell births[TALLIES]; /* that the run does not tell; one tally a site, as a run's */
};

static void tell_births(struct walk *walk, struct eden_birth_cell *births) {
    if (births->count != 0) {
        births->weight = sampling_weight_units(walk->profile, 0) * births->count;
        births->weight_bytes = (uint64_t)(walk->run.weight * (double)births->bytes + 0.5);
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

static void death(struct walk *walk, const struct life *life, eden_value object) {
    struct outbox *out = &walk->profile->out;
    uint64_t birth = life_birth(life);
    uint32_t site = eden_index_of(object);
    size_t bytes = object_bytes(object);
    if (!out->one_by_one) {
        run_add(&walk->run, site, bytes, birth, 0, 0);
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
static void arrive(struct walk *walk) {
    struct profile *profile = walk->profile;
    if (profile->settled) {
        moves_settle(&walk->moves);
    }
    for (size_t i = 0; i < walk->moves.count; i++) {
        const struct life_move *move = &walk->moves.at[i];
        eden_value now = move->now;
        bool alive = true;
        if (profile->settled) {
            now = last_copy(profile->heap, profile->copied_to, now, &alive);
        }
        uint64_t header = eden_header(now);
        if (!alive) {
            death(walk, &move->life, now);
        } else if (lifetimes_move_on(profile, move->life, now)) {
            count_birth(walk, (uint32_t)(header & EDEN_HEADER_CLASS_MASK), object_bytes_by(header, now));
        } /* else no birth is told: it is lost */
    }
    walk->moves.count = 0;
}

/* The object at an address that is a sample. Its size. */
static size_t walk_one(struct walk *walk, uintptr_t at, uint64_t birth) {
    eden_value object = object_at(at);
    uint64_t header = eden_header(object);
    struct life life = lifetimes_born(walk->profile, object, birth + at, 0);
    size_t bytes = object_bytes(object);
    if (walk->censored || (header & (EDEN_HEADER_FORWARDED | EDEN_HEADER_KEPT)) == 0) {
        death(walk, &life, object);
    } else {
        bool copied = (header & EDEN_HEADER_FORWARDED) != 0;
        if (moves_add(&walk->moves, life, copied ? forwarded_to(header) : object)) {
            arrive(walk);
        }
    }
    return bytes;
}

/* From one anchor to the next: `birth` is that of an object at address 0. */
static void walk_some(struct walk *walk, uintptr_t at, uintptr_t limit, uint64_t birth) {
    bool nth = walk->profile->sampling == EDEN_SAMPLE_NTH;
    while (at < limit) {
        if (!nth || sampling_next(walk->profile)) {
            at += walk_one(walk, at, birth);
        } else {
            at += object_bytes(object_at(at));
        }
    }
}

/* The same where every object of the stretch is a sample and only cells are wanted: what most objects take is a load,
 * two tests and three additions. What is told of others may turn the run, so it is looked at again after them. */
static void walk_all(struct walk *walk, uintptr_t at, uintptr_t limit, uint64_t birth) {
    const uint64_t unusual = walk->censored ? 0 : EDEN_HEADER_FORWARDED | EDEN_HEADER_KEPT;
    struct life_run *run = &walk->run;
    while (at < limit) {
        if (birth + at - run->from >= run->span) {
            run_turn(run, birth + at, 0, 0);
        }
        uint64_t left = run->from + run->span - birth;
        uintptr_t until = left < limit ? left : limit;
        while (at < until) {
            __builtin_prefetch((const void *)(at + WALK_AHEAD));
            uint64_t header = *(const uint64_t *)at; /* or overflow word: told by a jump, lest loads wait for loads */
            size_t slots = (size_t)(header >> EDEN_HEADER_SLOTS_SHIFT), bytes = 8 + 8 * slots;
            if (__builtin_expect(slots == EDEN_SLOTS_OVERFLOW, 0)) {
                at += walk_one(walk, at, birth);
                break;
            }
            if ((header & unusual) == 0) {
                run_count(run, (uint32_t)(header & EDEN_HEADER_CLASS_MASK), bytes, birth + at);
                at += bytes;
                continue;
            }
            eden_value now = (header & EDEN_HEADER_FORWARDED) != 0 ? forwarded_to(header) : at;
            bool full = moves_add(&walk->moves, lifetimes_born(walk->profile, at, birth + at, 0), now);
            at += bytes;
            if (full) {
                arrive(walk);
                break;
            }
        }
    }
}

/* And where short forms of records are. */
static void walk_all_briefly(struct walk *walk, uintptr_t at, uintptr_t limit, uint64_t birth) {
    const uint64_t unusual = walk->censored ? 0 : EDEN_HEADER_FORWARDED | EDEN_HEADER_KEPT;
    while (at < limit) {
        uint64_t header = *(const uint64_t *)at;
        size_t slots = (size_t)(header >> EDEN_HEADER_SLOTS_SHIFT), bytes = 8 + 8 * slots;
        if (__builtin_expect((header & unusual) == 0 && slots != EDEN_SLOTS_OVERFLOW, 1)) {
            uint32_t site = (uint32_t)(header & EDEN_HEADER_CLASS_MASK);
            count_birth(walk, site, bytes);
            short_tell_walked(&walk->profile->out, birth + at, site, bytes, walk->censored);
        } else {
            bytes = walk_one(walk, at, birth);
        }
        at += bytes;
    }
}

static void walk_stretch(struct walk *walk, uintptr_t at, uintptr_t end) {
    const struct profile *profile = walk->profile;
    const struct byte_clock *clock = &profile->clock;
    const struct outbox *out = &profile->out;
    void (*walk_part)(struct walk * walk, uintptr_t at, uintptr_t limit, uint64_t birth) =
        profile->sampling == EDEN_SAMPLE_NTH ? walk_some
        : !out->one_by_one                   ? walk_all
        : out->short_forms                   ? walk_all_briefly
                                             : walk_some;
    while (at < end) {
        while (walk->mark + 1 < clock->mark_count && clock->marks[walk->mark + 1].at <= at) {
            walk->mark++;
        }
        const struct eden_mark *mark = &clock->marks[walk->mark];
        bool last = walk->mark + 1 == clock->mark_count || mark[1].at > end;
        uintptr_t limit = last ? end : mark[1].at;
        walk_part(walk, at, limit, mark->time.bytes - mark->at);
        at = limit;
    }
}

void eden_walk(struct profile *profile, struct eden_anchor end, bool censored) {
    struct walk walk;
    memset(walk.births, 0, sizeof walk.births);
    walk.moves.count = 0;
    walk.profile = profile;
    walk.censored = censored;
    walk.mark = 0;
    run_init(&walk.run, profile, end, censored);
    walk.run.births = true;
    bool all = profile->sampling == EDEN_SAMPLE_OBJECTS && profile->rate == 1;
    if (all || profile->sampling == EDEN_SAMPLE_NTH) {
        walk_stretch(&walk, profile->from, censored ? profile->heap->mutator.free : profile->heap->eden.used);
    }
    for (size_t i = 0; i < profile->stretch_count; i++) {
        walk_stretch(&walk, profile->stretches[i].from, profile->stretches[i].to);
    }
    arrive(&walk);
    run_end(&walk.run);
    for (size_t i = 0; i < TALLIES; i++) {
        tell_births(&walk, &walk.births[i]);
    }
}
