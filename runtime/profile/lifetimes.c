/* Lifetimes: how long sampled objects live, as the collections find out (mechanism `vm`; others: life_mechanism.h).
 *
 * A profile exists while somebody listens to the batch probe. It begins where a collection ends, so that what is
 * sampled (sampling.c) was born under its eyes, and is gone, memory and all, at the first collection after the listener
 * left. It keeps a list of the sampled objects that are alive in new space, lists of those in old space (life_old.c),
 * and one of those born in eden since the last collection (or walks eden instead). A collection moves each on: the
 * scavenger's forwarding addresses say where an object went, and who has none is dead; after marking, who is not marked
 * is dead; compaction changes the addresses. Nothing is added to objects, and to the collector's own loops one
 * comparison, where the sweep finds an object dead.
 *
 * A death is dated to the start of the collection that found it. The object was alive at its birth, and at the last
 * full collection that it survived; that a scavenge copied it proves nothing, as a dead old object may have held it
 * (nepotism). So the true death lies between.
 *
 * What can go wrong: memory for a list is refused: the object is left out, and counted in `lost`; no birth is told
 * either, so births = deaths + censored holds for what is told. */
#include "heap/class_table.h"
#include "profile/life_mechanism.h"
#include "profile/life_moves.h"
#include <stdlib.h>

static uint64_t mailbox(const eden_heap *heap) { return __atomic_load_n(&heap->info.sample_mailbox, __ATOMIC_RELAXED); }

/* What ephemerons take of the heap, too. */
static uint64_t held_bytes(const struct profile *profile) {
    size_t lives = profile->pending.room + profile->young.room;
    return sizeof *profile + clock_held(&profile->clock) + lives * sizeof(struct life) + old_lives_held(&profile->old) +
           profile->stretch_room * sizeof(struct stretch) + profile->own.room * sizeof *profile->own.at +
           profile->own.count * OWN_EPHEMERON_BYTES;
}

static void send_state(struct profile *profile, struct eden_anchor now, bool ended) {
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
        .mechanism = profile->mechanism,
        .step = profile->mechanism == EDEN_MECHANISM_ORACLE ? (uint32_t)__builtin_ctzll(profile->oracle.step) : 0,
        .passes = profile->oracle.passes,
        .work_ns = profile->work_ns,
        .held_bytes = held_bytes(profile),
    };
    eden_fire_batch(profile->heap, EDEN_BATCH_PROFILE, &record, 1, sizeof record);
}

static bool is_watched(void) { return eden_watched_batch() || eden_watched_alloc__sample(); }

struct eden_anchor lifetimes_now(const eden_heap *heap) {
    return (struct eden_anchor){heap_allocated(heap), system_now_ns()};
}

/* Leaves eden to the program, and its allocations unseen. */
static void drop(struct profile *profile) {
    struct lifetimes *lifetimes = profile->lifetimes;
    clock_free(&profile->clock);
    free(profile->stretches);
    free(profile->pending.at);
    free(profile->young.at);
    old_lives_free(&profile->old);
    own_ephemerons_release(profile);
    free(profile);
    lifetimes->profile = NULL;
    lifetimes->observer.heap->eden_reserve = 0;
    observer_unwatch_allocation(&lifetimes->observer);
}

static void choose_mechanism(struct profile *profile) {
    static const char name[] = "(ephemeron of a profile)";
    static const struct life_mechanism *const mechanisms[EDEN_MECHANISMS] = {
        [EDEN_MECHANISM_VM] = &vm_mechanism,
        [EDEN_MECHANISM_EPHEMERON] = &ephemeron_mechanism,
        [EDEN_MECHANISM_PRETENURED] = &ephemeron_mechanism,
        [EDEN_MECHANISM_ORACLE] = &oracle_mechanism,
    };
    bool ephemerons = profile->mechanism == EDEN_MECHANISM_EPHEMERON || profile->mechanism == EDEN_MECHANISM_PRETENURED;
    if (ephemerons && !class_table_add_observer_class(profile->heap, name, OWN_EPHEMERON_SLOTS)) {
        profile->mechanism = EDEN_MECHANISM_VM; /* as the profile's records say */
    }
    profile->by = mechanisms[profile->mechanism];
    profile->heap->eden_reserve = profile->by == &ephemeron_mechanism ? OWN_EPHEMERON_BYTES : 0;
    profile->oracle.next = profile->by->before == NULL ? UINT64_MAX : profile->begun.bytes + profile->oracle.step;
}

static void begin(struct lifetimes *lifetimes, uint64_t mail) {
    eden_heap *heap = lifetimes->observer.heap;
    if (heap->reservation_bytes / 8 > 1ull << WHERE_BITS) {
        return; /* places would not fit into struct life: max_heap beyond 512 GiB */
    }
    struct profile *profile = system_alloc(&heap->system, sizeof *profile, "profile");
    if (profile == NULL) {
        return; /* the next collection tries again */
    }
    memset(profile, 0, offsetof(struct profile, out));
    outbox_init(&profile->out, heap, false);
    profile->heap = heap;
    profile->lifetimes = lifetimes;
    lifetimes->profile = profile;
    profile->mail = mail;
    profile->begun = lifetimes_now(heap);
    sampling_seed(profile);
    profile->from = heap->mutator.free;
    sampling_read_mailbox(profile);
    choose_mechanism(profile);
    if (!clock_begin(profile, profile->from, profile->begun)) {
        drop(profile);
        return;
    }
    sampling_begin_epoch(profile, profile->begun.ns);
    observer_watch_allocation(&lifetimes->observer);
    send_state(profile, profile->begun, false);
    short_begin(profile);
}

/* A collection has ended, or the heap has been made. */
static void resume(struct lifetimes *lifetimes) {
    eden_heap *heap = lifetimes->observer.heap;
    struct profile *profile = lifetimes->profile;
    uint64_t mail = mailbox(heap);
    if (profile != NULL) {
        struct eden_anchor now = lifetimes_now(heap);
        profile->jumps = 0;
        profile->from = heap->mutator.free;
        clock_resume(profile, profile->from, now);
        sampling_begin_epoch(profile, now.ns);
        heap_set_limit(heap);
        if (mail == profile->mail) {
            return;
        }
        lifetimes_end(lifetimes); /* something else is asked for */
    }
    if (is_watched() && (mail & EDEN_MAILBOX_END) == 0) {
        begin(lifetimes, mail);
    }
}

void lifetimes_create(struct lifetimes *lifetimes) { resume(lifetimes); }

static struct profile *profile_of(struct observer *observer) { return ((struct lifetimes *)observer)->profile; }

/* ---- births ---- */

void lifetimes_tell_birth(struct profile *profile, uint32_t site, uint64_t bytes) {
    outbox_birth(&profile->out, site, bytes, sampling_weight_units(profile, bytes),
                 sampling_weight_bytes(profile, bytes));
}

static void fire_sample(struct profile *profile, eden_value object, uint64_t bytes, uint64_t birth) {
    uint32_t site = eden_index_of(object);
    eden_heap *heap = profile->heap;
    eden_fire_alloc__sample(heap, (const void *)(uintptr_t)object, heap_class(heap, site)->class_index, bytes,
                            (uint64_t)(sampling_weight(profile, bytes) + 0.5), site, birth);
}

/* Of an object that was sampled as it was allocated. */
static void tell_sample(struct profile *profile, eden_value object, uint64_t bytes, uint64_t birth) {
    lifetimes_tell_birth(profile, eden_index_of(object), bytes);
    fire_sample(profile, object, bytes, birth);
}

/* An object born old advances the byte clock, but not eden: marks before and after it. Small ones (`pretenure`) may be
 * many: of those that are no samples and follow each other with nothing born in eden between, or where no walk asks for
 * every birth in eden, only the last jump is kept. False: no memory for a mark. */
static bool mark_jump(struct profile *profile, struct eden_anchor before, struct eden_anchor after, bool small) {
    struct byte_clock *clock = &profile->clock;
    uintptr_t at = profile->heap->mutator.free;
    struct eden_mark *last = clock->mark_count == 0 ? NULL : &clock->marks[clock->mark_count - 1];
    if (small && profile->jumps == clock->mark_count && last != NULL && (last->at == at || !sampling_walks(profile))) {
        *last = (struct eden_mark){after, at};
        return true;
    }
    bool marked = clock_mark(profile, at, before) && clock_mark(profile, at, after);
    profile->jumps = small ? clock->mark_count : 0;
    return marked;
}

static void old_allocated(struct profile *profile, eden_value object, size_t bytes) {
    eden_heap *heap = profile->heap;
    struct eden_anchor after = lifetimes_now(heap), before = {after.bytes - bytes, after.ns};
    bool sampled = sampling_large(profile, bytes);
    if (!mark_jump(profile, before, after, !sampled && bytes <= heap->params.large_object)) {
        drop(profile); /* no birth in eden could be told from now on; a later collection begins anew */
        return;
    }
    if (sampled && profile->by->follow(profile, lifetimes_born(profile, object, before.bytes, EDEN_LIFE_BORN_OLD),
                                       object, after.ns)) {
        tell_sample(profile, object, bytes, before.bytes);
    }
}

static uint64_t clock_at(const struct eden_mark *mark, uintptr_t at) { return mark->time.bytes + (at - mark->at); }

/* ---- what collections and allocation ask ---- */

/* Before an object is there that might be in no root yet. May pass over the heap. */
static void allocating(struct observer *self, uint64_t header, size_t slots) {
    (void)header;
    struct profile *profile = profile_of(self);
    uint64_t now = heap_allocated(self->heap);
    bool reached = now >= profile->oracle.next || slots >= (profile->oracle.next - now) / 8;
    if (profile->by->before != NULL && reached && is_watched()) {
        profile->by->before(profile);
    }
}

static void before_scavenge(struct observer *self) {
    struct profile *profile = profile_of(self);
    if (profile != NULL && profile->by->before != NULL && is_watched()) {
        profile->by->before(profile);
    }
}

static uintptr_t limit(struct observer *self, uintptr_t most) {
    const struct profile *profile = profile_of(self);
    const eden_heap *heap = self->heap;
    uintptr_t end = heap->eden.limit - heap->eden_reserve, free = heap->mutator.free;
    end = end < most ? end : most;
    end = profile->next_trap < end ? profile->next_trap : end;
    uint64_t now = heap_allocated(heap);
    uint64_t left = profile->oracle.next > now ? profile->oracle.next - now : 0;
    return end > free && left < end - free ? free + left : end;
}

static void visit_roots(struct observer *self, eden_visit *visit) {
    struct profile *profile = profile_of(self);
    if (profile != NULL && profile->by->visit != NULL) {
        profile->by->visit(profile, visit);
    }
}

static void reached(struct observer *self, bool full, observer_now *now, void *context) {
    struct profile *profile = profile_of(self);
    if (profile != NULL && profile->by->keys != NULL) {
        profile->by->keys(profile, full, now, context);
    }
}

static void allocated(struct observer *self, eden_value object) {
    struct profile *profile = profile_of(self);
    const eden_heap *heap = self->heap;
    uintptr_t start = object_start(object);
    size_t bytes = object_bytes(object);
    if (start - heap->eden.start >= heap->eden.limit - heap->eden.start) {
        old_allocated(profile, object, bytes);
        return;
    }
    if (start + bytes <= profile->next_trap) {
        return;
    }
    enum trap trap = sampling_trap(profile, start, bytes);
    if (trap == TRAP_NOTHING) {
        return;
    }
    const struct byte_clock *clock = &profile->clock;
    struct eden_anchor now = {clock_at(&clock->marks[clock->mark_count - 1], start), system_now_ns()};
    clock_mark(profile, start, now);
    if (trap == TRAP_TELL) {
        fire_sample(profile, object, bytes, now.bytes);
    } else if (trap == TRAP_SAMPLE &&
               profile->by->follow(profile, lifetimes_born(profile, object, now.bytes, 0), object, now.ns)) {
        tell_sample(profile, object, bytes, now.bytes);
    }
}

/* ---- ends ---- */

/* last: the epoch of the last collection that it survived, or of its birth. */
static struct end_of_life end_of(const struct profile *profile, const struct life *life, struct kind kind,
                                 size_t last) {
    const struct byte_clock *clock = &profile->clock;
    uint64_t birth = life_birth(life), tenured = life->where >> WHERE_BITS;
    size_t born_in = clock_epoch(clock, birth);
    const struct eden_epoch *from = &clock->epochs[born_in], *to = &clock->epochs[last];
    struct end_of_life end = {
        .site = kind.site,
        .flags = (uint32_t)(life->birth >> BIRTH_BITS) | (tenured != 0 ? EDEN_LIFE_TENURED : 0),
        .bytes = kind.bytes,
        .birth = {birth, clock_ns(clock, birth)},
        .death = clock->epochs[clock->epoch_count - 1].start,
        .scavenges = to->scavenges - from->scavenges,
        .fulls = to->fulls - from->fulls,
        .weight = sampling_weight_units(profile, kind.bytes),
        .weight_bytes = sampling_weight_bytes(profile, kind.bytes),
    };
    if (tenured != 0) {
        end.tenured = clock->epochs[tenured].start;
    }
    if (to->last_full > born_in) {
        end.last = clock->epochs[to->last_full].start;
    }
    return end;
}

void lifetimes_tell_end_of(struct profile *profile, const struct life *life, struct kind kind, uint32_t flags,
                           bool censored) {
    if (profile->out.short_forms) {
        uint32_t born = (uint32_t)(life->birth >> BIRTH_BITS), tenured = (uint32_t)(life->where >> WHERE_BITS);
        short_tell_end(&profile->out, &(struct eden_end){
                                          .birth_bytes = life_birth(life),
                                          .bytes = kind.bytes,
                                          .site = kind.site,
                                          .flags = flags | born | (tenured != 0 ? EDEN_LIFE_TENURED : 0) |
                                                   (censored ? EDEN_END_CENSORED : 0),
                                          .tenured = tenured,
                                      });
        return;
    }
    struct end_of_life end = end_of(profile, life, kind, profile->clock.epoch_count - (censored ? 1 : 2));
    end.flags |= flags;
    end.censored = censored;
    if (censored) {
        end.death = profile->ended.bytes != 0 ? profile->ended : lifetimes_now(profile->heap);
    }
    outbox_end(&profile->out, &end);
}

void lifetimes_tell_end(struct profile *profile, const struct life *life, eden_value object, uint32_t flags,
                        bool censored) {
    lifetimes_tell_end_of(profile, life, lifetimes_kind(object), flags, censored);
}

void lifetimes_tell_death(struct profile *profile, const struct life *life, struct eden_anchor death,
                          struct eden_anchor last) {
    struct kind kind = lifetimes_kind(lifetimes_place(profile, life));
    struct end_of_life end = end_of(profile, life, kind, profile->clock.epoch_count - 1);
    end.death = death;
    end.last = (struct eden_anchor){0, 0};
    if (last.bytes > end.birth.bytes) {
        end.last = last;
        end.last.ns = last.ns > end.birth.ns ? last.ns : end.birth.ns; /* which is interpolated, perhaps */
    }
    outbox_end(&profile->out, &end);
}

bool lifetimes_grow_old(struct profile *profile, struct life life) {
    life.where |= (uint64_t)(profile->clock.epoch_count - 1) << WHERE_BITS;
    return old_lives_add(profile, life);
}

/* Answers the profile, unless there is none, or it ends here. */
static struct profile *turn(struct observer *self, bool full, uint64_t start_ns) {
    struct profile *profile = profile_of(self);
    const eden_heap *heap = self->heap;
    if (profile == NULL || profile->turned) {
        return profile;
    }
    struct eden_anchor start = {heap->figures.allocated_bytes, start_ns};
    if (!is_watched() || (!full && !clock_mark(profile, heap->eden.used, start)) || !clock_turn(profile, full, start)) {
        drop(profile);
        return NULL;
    }
    short_turn(profile);
    return profile;
}

/* Ends of a list's objects, in runs where that can be. */
static inline void end_one(struct life_run *run, const struct life *life, eden_value object, uint32_t flags) {
    if (run->alike) {
        run_add(run, eden_index_of(object), object_bytes(object), life_birth(life), life->where >> WHERE_BITS,
                flags | (uint32_t)(life->birth >> BIRTH_BITS));
    } else {
        lifetimes_tell_end(run->profile, life, object, flags, run->censored);
    }
}

static struct eden_anchor latest(const struct profile *profile) {
    return profile->clock.epochs[profile->clock.epoch_count - 1].start;
}

/* One that a scavenge has kept. If it finds no place in a list, it has been born: it counts as lost, and as ended now.
 */
static inline void arrive(struct profile *profile, const struct life *life, eden_value now) {
    if (!lifetimes_move_on(profile, *life, now)) {
        lifetimes_tell_end(profile, life, now, 0, true);
    }
}

/* After a scavenge of two rounds, who was copied in the first may have been found dead in the second. */
static void arrive_all(struct life_run *run, struct life_moves *moves) {
    struct profile *profile = run->profile;
    moves_settle(moves);
    for (size_t i = 0; i < moves->count; i++) {
        bool alive;
        const struct life *life = &moves->at[i].life;
        eden_value now = scavenge_last_copy(profile->heap, profile->copied_to, moves->at[i].now, &alive);
        if (alive) {
            arrive(profile, life, now);
        } else {
            end_one(run, life, now, 0);
        }
    }
    moves->count = 0;
}

/* In order, and `young` is filled no faster than it is read: it may be its own source. But for a second round, who was
 * copied is alive, and the copy need not be looked at. */
static void move_all_on(struct profile *profile, const struct life *from, size_t count) {
    struct life_run *run = &profile->lanes[0].run;
    struct life_moves *moves = &profile->lanes[0].moves;
    moves->count = 0;
    run_init(run, profile, latest(profile), false);
    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(lives_ahead(profile, from, count, i));
        struct life life = from[i];
        eden_value object = lifetimes_place(profile, &life);
        uint64_t header = eden_header(object);
        if ((header & (EDEN_HEADER_FORWARDED | EDEN_HEADER_KEPT)) == 0) {
            end_one(run, &life, object, 0);
        } else if (!profile->settled) {
            arrive(profile, &life, moved_to(object, header));
        } else {
            if (moves_are_full(moves)) {
                arrive_all(run, moves);
            }
            moves_add(moves, life, moved_to(object, header));
        }
    }
    arrive_all(run, moves);
    run_end(run);
}

static void move_young_on(struct profile *profile) {
    size_t count = profile->young.count;
    profile->young.count = 0;
    move_all_on(profile, profile->young.at, count);
}

static void new_scavenged(struct profile *profile) {
    move_young_on(profile);
    move_all_on(profile, profile->pending.at, profile->pending.count);
    profile->pending.count = 0;
    if (sampling_walks(profile)) {
        eden_walk(profile, latest(profile), false);
    }
}

static void second_pass(struct observer *self, const struct scavenge_pass *pass) {
    struct profile *profile = turn(self, false, pass->start_ns);
    if (profile != NULL) {
        uint64_t begun_ns = system_now_ns();
        profile->copied_to = pass->to;
        profile->settled = false; /* as yet */
        profile->by->settling(profile);
        profile->turned = true;
        profile->work_ns += system_now_ns() - begun_ns;
    }
}

/* A collection's work is done: what it found goes out. */
static void finish(struct profile *profile, uint64_t begun_ns) {
    uint64_t now = system_now_ns();
    outbox_collected(&profile->out, now);
    profile->work_ns += system_now_ns() - begun_ns;
    send_state(profile, latest(profile), false);
}

static void copied(struct observer *self, const struct scavenge_pass *pass) {
    struct profile *profile = turn(self, false, pass->start_ns);
    if (profile == NULL) {
        return;
    }
    uint64_t begun_ns = system_now_ns();
    profile->copied_to = pass->to;
    profile->settled = profile->turned;
    profile->turned = false;
    sampling_end_epoch(profile, self->heap->eden.used);
    profile->by->scavenged(profile);
    finish(profile, begun_ns);
}

void lifetimes_keep_marked(struct profile *profile, struct lives *lives, uintptr_t from) {
    /* The epoch of the scavenge right before, which had kept what was in new space or came from there; 0: none. */
    uint64_t since = profile->clock.epoch_count - 2;
    struct life_run run;
    run_init(&run, profile, latest(profile), false);
    size_t kept = 0;
    for (size_t i = 0; i < lives->count; i++) {
        __builtin_prefetch(lives_ahead(profile, lives->at, lives->count, i));
        const struct life *life = &lives->at[i];
        eden_value object = lifetimes_place(profile, life);
        if (object >= from && !object_has(object, EDEN_HEADER_MARKED)) {
            uint64_t tenured = life->where >> WHERE_BITS;
            bool held = since != 0 && (tenured == since || heap_is_young(profile->heap, object));
            end_one(&run, life, object, held ? EDEN_LIFE_NEPOTISM : 0);
        } else if (kept++ != i) {
            lives->at[kept - 1] = *life;
        }
    }
    run_end(&run);
    lives->count = kept;
}

static void keep_marked(void *context, struct lives *lives) { lifetimes_keep_marked(context, lives, 0); }

static void all_marked(struct profile *profile, bool sweeps) {
    keep_marked(profile, &profile->young);
    profile->sweeps_told = sweeps;
    if (!sweeps) {
        old_lives_each(profile, keep_marked, profile);
    }
}

static void marked(struct observer *self, const struct full_pass *pass) {
    struct profile *profile = turn(self, true, pass->start_ns);
    if (profile != NULL) {
        uint64_t begun_ns = system_now_ns();
        profile->by->marked(profile, pass->sweeps);
        profile->work_ns += system_now_ns() - begun_ns;
    }
}

static uintptr_t dead(struct observer *self, eden_value object) {
    struct profile *profile = profile_of(self);
    if (profile == NULL || !profile->sweeps_told) {
        return UINTPTR_MAX;
    }
    uint64_t begun_ns = system_now_ns();
    uintptr_t told = old_lives_swept(profile, object);
    profile->work_ns += system_now_ns() - begun_ns;
    return told;
}

static void swept(struct observer *self) {
    struct profile *profile = profile_of(self);
    if (profile != NULL) {
        profile->sweeps_told = false;
        finish(profile, system_now_ns());
    }
}

static void moved(struct observer *self, observer_now *now, void *context) {
    struct profile *profile = profile_of(self);
    if (profile != NULL) {
        uint64_t begun_ns = system_now_ns();
        old_lives_moved(profile, now, context);
        profile->work_ns += system_now_ns() - begun_ns;
    }
}

/* Of the figures, which have this collection now: events have subscribed before. */
static void scavenge_end(struct observer *self, const struct scavenge_pass *pass) {
    (void)pass;
    resume((struct lifetimes *)self);
}

static void full_end(struct observer *self, const struct full_pass *pass) {
    (void)pass;
    resume((struct lifetimes *)self);
}

/* ---- the end ---- */

static void censor_lives(void *context, struct lives *lives) {
    struct profile *profile = context;
    struct life_run run;
    run_init(&run, profile, profile->ended, true);
    for (size_t i = 0; i < lives->count; i++) {
        __builtin_prefetch(lives_ahead(profile, lives->at, lives->count, i));
        end_one(&run, &lives->at[i], lifetimes_place(profile, &lives->at[i]), 0);
    }
    run_end(&run);
}

static void censor(struct profile *profile) {
    censor_lives(profile, &profile->young);
    old_lives_each(profile, censor_lives, profile);
    censor_lives(profile, &profile->pending);
    if (sampling_walks(profile)) {
        sampling_end_epoch(profile, profile->heap->mutator.free);
        eden_walk(profile, profile->ended, true);
    }
}

void lifetimes_end(struct lifetimes *lifetimes) {
    const eden_heap *heap = lifetimes->observer.heap;
    struct profile *profile = lifetimes->profile;
    if (profile == NULL) {
        return;
    }
    if (is_watched()) {
        struct eden_anchor now = lifetimes_now(heap);
        profile->ended = now;
        clock_mark(profile, heap->mutator.free, now);
        short_end(profile);
        profile->by->censor(profile);
        outbox_flush(&profile->out);
        send_state(profile, now, true);
    }
    drop(profile);
}

void lifetimes_subscribe(struct lifetimes *lifetimes, eden_heap *heap) {
    static const struct observer_calls calls = {
        .before_scavenge = before_scavenge,
        .second_pass = second_pass,
        .copied = copied,
        .scavenge_end = scavenge_end,
        .marked = marked,
        .dead = dead,
        .moved = moved,
        .swept = swept,
        .full_end = full_end,
        .visit_roots = visit_roots,
        .reached = reached,
        .allocating = allocating,
        .allocated = allocated,
        .limit = limit,
    };
    observer_subscribe(&lifetimes->observer, heap, &calls);
    sampling_from_environment(lifetimes);
}

/* ---- the mechanisms that move objects on by the lists above ---- */

static bool follow(struct profile *profile, struct life life, eden_value object, uint64_t ns) {
    (void)ns;
    return heap_is_young(profile->heap, object) ? lives_push(profile, &profile->pending, life)
                                                : old_lives_add(profile, life);
}

const struct life_mechanism vm_mechanism = {
    .follow = follow,
    .settling = move_young_on,
    .scavenged = new_scavenged,
    .marked = all_marked,
    .censor = censor,
};

const struct life_mechanism oracle_mechanism = {
    .follow = follow,
    .before = oracle_pass,
    .settling = move_young_on,
    .scavenged = new_scavenged,
    .marked = all_marked,
    .censor = censor,
};
