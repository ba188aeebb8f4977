/* Lifetimes: how long sampled objects live, as the collections find out.
 *
 * A profile exists while somebody listens to the batch probe. It begins where a collection ends, so that what is
 * sampled (sampling.c) was born under its eyes, and is gone, memory and all, at the first collection after the listener
 * left. It keeps a list of the sampled objects that are alive in new space, one of those in old space, and one of those
 * born in eden since the last collection (or walks eden instead). A collection moves each on: the scavenger's
 * forwarding addresses say where an object went, and who has none is dead; after marking, who is not marked is dead;
 * compaction changes the addresses. Nothing is added to objects, and nothing to the collector's own loops.
 *
 * A death is dated to the start of the collection that found it. The object was alive at its birth, and at the last
 * full collection that it survived; that a scavenge copied it proves nothing, as a dead old object may have held it
 * (nepotism). So the true death lies between.
 *
 * What can go wrong: memory for a list is refused: the object is left out, and counted in `lost`; no birth is told
 * either, so births = deaths + censored holds for what is told. */
#include "lifetimes.h"
#include "private.h"
#include <stdlib.h>

static eden_value place(const struct profile *profile, const struct life *life) {
    return profile->heap->reservation + (life->where & ((1ull << WHERE_BITS) - 1)) * 8;
}

static uint64_t place_bits(const struct profile *profile, eden_value object) {
    return (object - profile->heap->reservation) / 8;
}

static uint64_t birth_bytes(const struct life *life) { return (life->birth & ((1ull << BIRTH_BITS) - 1)) * 8; }

static bool push(struct profile *profile, struct lives *lives, struct life life) {
    if (!system_grow(&profile->heap->system, (void **)&lives->at, &lives->room, lives->count, sizeof *lives->at,
                     "profile")) {
        profile->lost++;
        return false;
    }
    lives->at[lives->count++] = life;
    return true;
}

static void send_state(struct profile *profile, struct anchor now, bool ended) {
    struct eden_profile_record record = {
        .seq = profile->heap->info.seq + (ended ? 0 : 1),
        .time_ns = now.ns,
        .allocated_bytes = now.bytes,
        .begun_ns = profile->begun.ns,
        .begun_bytes = profile->begun.bytes,
        .rate = profile->rate,
        .sampling = profile->sampling,
        .ended = ended,
        .lost = profile->lost,
    };
    eden_fire_batch(profile->heap, EDEN_BATCH_PROFILE, &record, 1, sizeof record);
}

static bool is_watched(void) { return eden_watched_batch() || eden_watched_alloc__sample(); }

static struct anchor clock_now(const eden_heap *heap) {
    return (struct anchor){heap->figures.allocated_bytes + allocated_since(heap), now_ns()};
}

static void drop(struct profile *profile) {
    eden_heap *heap = profile->heap;
    clock_free(&profile->clock);
    free(profile->stretches);
    free(profile->pending.at);
    free(profile->young.at);
    free(profile->old.at);
    free(profile);
    heap->profile = NULL;
    heap_set_limit(heap);
}

static void begin(eden_heap *heap) {
    struct profile *profile = system_alloc(&heap->system, sizeof *profile, "profile");
    if (profile == NULL) {
        return; /* the next collection tries again */
    }
    memset(profile, 0, offsetof(struct profile, out));
    outbox_init(&profile->out, heap, false);
    profile->heap = heap;
    heap->profile = profile;
    profile->begun = clock_now(heap);
    profile->random = profile->begun.ns | 1;
    profile->from = heap->mutator.free;
    sampling_read_mailbox(profile);
    if (!clock_begin(profile, profile->from, profile->begun)) {
        drop(profile);
        return;
    }
    sampling_begin_epoch(profile, profile->begun.ns);
    heap_set_limit(heap);
    send_state(profile, profile->begun, false);
}

void lifetimes_resume(eden_heap *heap) {
    struct profile *profile = heap->profile;
    if (profile == NULL) {
        if (is_watched()) {
            begin(heap);
        }
        return;
    }
    struct anchor now = clock_now(heap);
    profile->jumps = 0;
    profile->from = heap->mutator.free;
    clock_resume(profile, profile->from, now);
    sampling_begin_epoch(profile, now.ns);
    heap_set_limit(heap);
}

/* ---- births ---- */

struct life lifetimes_born(const struct profile *profile, eden_value object, uint64_t bytes, uint64_t flags) {
    return (struct life){place_bits(profile, object), bytes / 8 | flags << BIRTH_BITS};
}

static void tell_birth(struct profile *profile, uint32_t site, uint64_t bytes) {
    outbox_birth(&profile->out, site, bytes, sampling_weight_units(profile, bytes),
                 sampling_weight_bytes(profile, bytes));
}

/* Of an object that was sampled as it was allocated. */
static void tell_sample(struct profile *profile, eden_value object, uint64_t bytes, uint64_t birth) {
    uint32_t site = eden_index_of(object);
    eden_heap *heap = profile->heap;
    tell_birth(profile, site, bytes);
    eden_fire_alloc__sample(heap, (const void *)(uintptr_t)object, heap_class(heap, site)->class_index, bytes,
                            (uint64_t)(sampling_weight(profile, bytes) + 0.5), site, birth);
}

/* An object born old advances the byte clock, but not eden: marks before and after it. Small ones (`pretenure`) may be
 * many: of those that are no samples and follow each other with nothing born in eden between, or where no walk asks for
 * every birth in eden, only the last jump is kept. */
static void mark_jump(struct profile *profile, struct anchor before, struct anchor after, bool small) {
    struct byte_clock *clock = &profile->clock;
    uintptr_t at = profile->heap->mutator.free;
    struct mark *last = clock->mark_count == 0 ? NULL : &clock->marks[clock->mark_count - 1];
    if (small && profile->jumps == clock->mark_count && last != NULL && (last->at == at || !sampling_walks(profile))) {
        *last = (struct mark){at, after};
        return;
    }
    clock_mark(profile, at, before);
    clock_mark(profile, at, after);
    profile->jumps = small ? clock->mark_count : 0;
}

static void old_allocated(struct profile *profile, eden_value object, size_t bytes) {
    eden_heap *heap = profile->heap;
    struct anchor after = clock_now(heap), before = {after.bytes - bytes, after.ns};
    bool sampled = sampling_large(profile, bytes);
    mark_jump(profile, before, after, !sampled && bytes <= heap->params.large_object);
    if (sampled && push(profile, &profile->old, lifetimes_born(profile, object, before.bytes, EDEN_LIFE_BORN_OLD))) {
        tell_sample(profile, object, bytes, before.bytes);
    }
}

static uint64_t clock_at(const struct mark *mark, uintptr_t at) { return mark->time.bytes + (at - mark->at); }

void lifetimes_allocated(eden_heap *heap, eden_value object) {
    struct profile *profile = heap->profile;
    uintptr_t start = object_start(object);
    size_t bytes = object_bytes(object);
    if (start - heap->eden.start >= heap->eden.limit - heap->eden.start) {
        old_allocated(profile, object, bytes);
        return;
    }
    if (start + bytes <= profile->next_trap) {
        return;
    }
    uint64_t now = now_ns();
    const struct byte_clock *clock = &profile->clock;
    uint64_t at = clock_at(&clock->marks[clock->mark_count - 1], start);
    bool sampled = sampling_trap(profile, start, bytes, now);
    if (sampled || sampling_walks(profile)) {
        clock_mark(profile, start, (struct anchor){at, now});
    }
    if (sampled && push(profile, &profile->pending, lifetimes_born(profile, object, at, 0))) {
        tell_sample(profile, object, bytes, at);
    }
}

/* ---- ends ---- */

void lifetimes_tell_end(struct profile *profile, const struct life *life, eden_value object, bool censored) {
    const struct byte_clock *clock = &profile->clock;
    size_t last = clock->epoch_count - (censored ? 1 : 2); /* the last collection that it survived, or its birth's */
    uint64_t birth = birth_bytes(life), tenured = life->where >> WHERE_BITS, bytes = object_bytes(object);
    size_t born_in = clock_epoch(clock, birth);
    const struct epoch *from = &clock->epochs[born_in], *to = &clock->epochs[last];
    struct end_of_life end = {
        .site = eden_index_of(object),
        .flags = (uint32_t)(life->birth >> BIRTH_BITS) | (tenured != 0 ? EDEN_LIFE_TENURED : 0),
        .bytes = bytes,
        .birth = {birth, clock_ns(clock, birth)},
        .death = clock->epochs[clock->epoch_count - 1].start,
        .scavenges = to->scavenges - from->scavenges,
        .fulls = to->fulls - from->fulls,
        .censored = censored,
        .weight = sampling_weight_units(profile, bytes),
        .weight_bytes = sampling_weight_bytes(profile, bytes),
    };
    if (tenured != 0) {
        end.tenured = clock->epochs[tenured].start;
    }
    if (to->last_full > born_in) {
        end.last = clock->epochs[to->last_full].start;
    }
    if (censored) {
        end.death = profile->ended.bytes != 0 ? profile->ended : clock_now(profile->heap);
    }
    outbox_end(&profile->out, &end);
}

/* Where an object of new space is after copying; its old header stands unless it has moved, perhaps twice. */
eden_value lifetimes_after_scavenge(eden_value object) {
    bool moved = false;
    while (header_has(object, EDEN_HEADER_FORWARDED)) {
        object = eden_header(object) & ~EDEN_HEADER_FORWARDED;
        moved = true;
    }
    return moved || header_has(object, EDEN_HEADER_KEPT) ? object : EDEN_NONE;
}

bool lifetimes_move_on(struct profile *profile, struct life life, eden_value now) {
    life.where = place_bits(profile, now);
    if (heap_is_young(profile->heap, now)) {
        return push(profile, &profile->young, life);
    }
    life.where |= (uint64_t)(profile->clock.epoch_count - 1) << WHERE_BITS;
    return push(profile, &profile->old, life);
}

static bool turn(eden_heap *heap, bool full, uint64_t start_ns) {
    struct profile *profile = heap->profile;
    if (profile == NULL || profile->turned) {
        return profile != NULL;
    }
    struct anchor start = {heap->figures.allocated_bytes, start_ns};
    if (!is_watched() || (!full && !clock_mark(profile, heap->eden.used, start)) || !clock_turn(profile, full, start)) {
        drop(profile);
        return false;
    }
    return true;
}

/* Those that find no place in the new lists have been born: they count as lost, and as ended now. */
static void move_all_on(struct profile *profile, struct lives *lives) {
    struct lives before = *lives;
    *lives = (struct lives){NULL, 0, 0};
    for (size_t i = 0; i < before.count; i++) {
        eden_value from = place(profile, &before.at[i]), now = lifetimes_after_scavenge(from);
        if (now == EDEN_NONE) {
            lifetimes_tell_end(profile, &before.at[i], from, false);
        } else if (!lifetimes_move_on(profile, before.at[i], now)) {
            lifetimes_tell_end(profile, &before.at[i], now, true);
        }
    }
    free(before.at);
}

void lifetimes_settling(eden_heap *heap, uint64_t start_ns) {
    if (turn(heap, false, start_ns)) {
        move_all_on(heap->profile, &heap->profile->young);
        heap->profile->turned = true;
    }
}

void lifetimes_scavenged(eden_heap *heap, uint64_t start_ns) {
    if (!turn(heap, false, start_ns)) {
        return;
    }
    struct profile *profile = heap->profile;
    profile->turned = false;
    sampling_end_epoch(profile, heap->eden.used);
    move_all_on(profile, &profile->young);
    move_all_on(profile, &profile->pending);
    if (sampling_walks(profile)) {
        eden_walk(profile, profile->clock.epochs[profile->clock.epoch_count - 1].start, false);
    }
    outbox_flush(&profile->out);
    send_state(profile, profile->clock.epochs[profile->clock.epoch_count - 1].start, false);
}

static void keep_marked(struct profile *profile, struct lives *lives) {
    size_t kept = 0;
    for (size_t i = 0; i < lives->count; i++) {
        eden_value object = place(profile, &lives->at[i]);
        if (header_has(object, EDEN_HEADER_MARKED)) {
            lives->at[kept++] = lives->at[i];
        } else {
            lifetimes_tell_end(profile, &lives->at[i], object, false);
        }
    }
    lives->count = kept;
}

void lifetimes_marked(eden_heap *heap, uint64_t start_ns) {
    if (!turn(heap, true, start_ns)) {
        return;
    }
    struct profile *profile = heap->profile;
    keep_marked(profile, &profile->young);
    keep_marked(profile, &profile->old);
    outbox_flush(&profile->out);
    send_state(profile, profile->clock.epochs[profile->clock.epoch_count - 1].start, false);
}

void lifetimes_moved(eden_heap *heap, eden_value (*now)(void *context, eden_value object), void *context) {
    struct profile *profile = heap->profile;
    for (size_t i = 0; profile != NULL && i < profile->old.count; i++) {
        struct life *life = &profile->old.at[i];
        uint64_t tenured = life->where >> WHERE_BITS << WHERE_BITS;
        life->where = tenured | place_bits(profile, now(context, place(profile, life)));
    }
}

/* ---- the end ---- */

static void censor(struct profile *profile, const struct lives *lives) {
    for (size_t i = 0; i < lives->count; i++) {
        lifetimes_tell_end(profile, &lives->at[i], place(profile, &lives->at[i]), true);
    }
}

void lifetimes_end(eden_heap *heap) {
    struct profile *profile = heap->profile;
    if (profile == NULL) {
        return;
    }
    if (is_watched()) {
        struct anchor now = clock_now(heap);
        profile->ended = now;
        clock_mark(profile, heap->mutator.free, now);
        censor(profile, &profile->young);
        censor(profile, &profile->old);
        censor(profile, &profile->pending);
        if (sampling_walks(profile)) {
            sampling_end_epoch(profile, heap->mutator.free);
            eden_walk(profile, now, true);
        }
        outbox_flush(&profile->out);
        send_state(profile, now, true);
    }
    drop(profile);
}
