/* Lifetimes: how long sampled objects live, as the collections find out (mechanism `vm`; others: mechanism.h).
 *
 * 1. A profile
 * It exists while a listener is attached to the probe batch, or, if a tool has requested it, to batch__requested. It
 * begins where a collection ends, so that it has seen the birth of each sample (sampling.c), and is freed at the first
 * collection after the listener has left. It keeps a list of the tracked objects in new space, lists of those in old
 * space (old_objects.c), and one of those born in eden since the last collection (or walks eden instead: eden_walk.c).
 *
 * A forked child has a copy of it, with births that the parent reports. The copy reports nothing, and is freed at the
 * child's first collection, at whose end a profile of the child's own begins.
 *
 * 2. Moving on
 * A collection moves each object on. The scavenger's forwarding addresses say where it went; an object without one is
 * dead. After marking, an unmarked object is dead; compaction changes the addresses. Nothing is added to objects, and
 * to the collector's own loops one comparison, where the sweep finds an object dead.
 *
 * 3. Dates
 * A death is dated to the start of the collection that found it. The object was alive at its birth, and at the last
 * full collection that it survived. That a scavenge copied it proves nothing, as a dead old object may have held it
 * (nepotism). So the true death lies between.
 *
 * 4. Invariants
 * I1. births = deaths + censored, for what is reported.
 *
 * 5. Failure
 * Memory for a list is refused: the object is left out, and counted in `lost`; its birth is not reported either. If its
 * birth was reported before, it is reported as censored. */
#include "profile/lifetimes.h"
#include "heap/class_table.h"
#include "profile/baseline/oracle.h"
#include "profile/baseline/profiler_ephemerons.h"
#include "profile/compact_records.h"
#include "profile/eden_walk.h"
#include "profile/mechanism.h"
#include "profile/sampling.h"
#include "young/scavenge.h"
#include <stdlib.h>

static uint64_t control_word(const eden_heap *heap) {
    return __atomic_load_n(&heap->info.sample_control, __ATOMIC_RELAXED);
}

/* What ephemerons take of the heap, too. */
static uint64_t held_bytes(const struct profile *profile) {
    size_t list = profile->pending.room + profile->young.room;
    return sizeof *profile + allocation_clock_held(&profile->clock) + list * sizeof(struct tracked) +
           old_objects_held(&profile->old) + profile->range_room * sizeof(struct sample_range) +
           profile->ephemerons.room * sizeof *profile->ephemerons.at +
           profile->ephemerons.count * PROFILER_EPHEMERON_BYTES;
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
    aggregator_send(&profile->out, EDEN_BATCH_PROFILE, &record, 1, sizeof record);
}

/* Whether somebody listens to a profile with this request. */
static bool is_watched(uint64_t request) {
    return eden_watched_batch() || eden_watched_alloc__sample() ||
           ((request & EDEN_CONTROL_ASKED) != 0 && eden_watched_batch__requested());
}

struct eden_anchor lifetimes_now(const eden_heap *heap) {
    return (struct eden_anchor){heap_allocated(heap), system_now_ns()};
}

/* Leaves eden to the program, and its allocations unseen. */
static void drop(struct profile *profile) {
    struct lifetimes *lifetimes = profile->lifetimes;
    allocation_clock_free(&profile->clock);
    free(profile->ranges);
    free(profile->pending.at);
    free(profile->young.at);
    old_objects_free(&profile->old);
    profiler_ephemerons_release(profile);
    free(profile);
    lifetimes->profile = NULL;
    lifetimes->observer.heap->eden_reserve = 0;
    observer_unwatch_allocation(&lifetimes->observer);
}

static const struct mechanism vm_mechanism, oracle_mechanism;

static void choose_mechanism(struct profile *profile) {
    static const char name[] = "(ephemeron of a profile)";
    static const struct mechanism *const mechanisms[EDEN_MECHANISMS] = {
        [EDEN_MECHANISM_VM] = &vm_mechanism,
        [EDEN_MECHANISM_EPHEMERON] = &ephemeron_mechanism,
        [EDEN_MECHANISM_PRETENURED] = &ephemeron_mechanism,
        [EDEN_MECHANISM_ORACLE] = &oracle_mechanism,
    };
    bool ephemerons = profile->mechanism == EDEN_MECHANISM_EPHEMERON || profile->mechanism == EDEN_MECHANISM_PRETENURED;
    if (ephemerons && !class_table_add_observer_class(profile->heap, name, PROFILER_EPHEMERON_SLOTS)) {
        profile->mechanism = EDEN_MECHANISM_VM; /* as the profile's records say */
    }
    profile->by = mechanisms[profile->mechanism];
    profile->heap->eden_reserve = profile->by == &ephemeron_mechanism ? PROFILER_EPHEMERON_BYTES : 0;
    profile->oracle.next = profile->by->before == NULL ? UINT64_MAX : profile->begun.bytes + profile->oracle.step;
}

static void begin(struct lifetimes *lifetimes, uint64_t request) {
    eden_heap *heap = lifetimes->observer.heap;
    if (heap->reservation_bytes / 8 > 1ull << WHERE_BITS) {
        return; /* places would not fit into struct tracked: max_heap beyond 512 GiB */
    }
    struct profile *profile = system_alloc(&heap->system, sizeof *profile, "profile");
    if (profile == NULL) {
        return; /* the next collection tries again */
    }
    memset(profile, 0, offsetof(struct profile, out));
    aggregator_init(&profile->out, heap, false);
    profile->heap = heap;
    profile->lifetimes = lifetimes;
    lifetimes->profile = profile;
    profile->request = request;
    profile->begun = lifetimes_now(heap);
    sampling_seed(profile);
    profile->from = heap->mutator.free;
    sampling_read_request(profile);
    choose_mechanism(profile);
    if (!allocation_clock_begin(profile, profile->from, profile->begun)) {
        drop(profile);
        return;
    }
    sampling_begin_epoch(profile, profile->begun.ns);
    observer_watch_allocation(&lifetimes->observer);
    send_state(profile, profile->begun, false);
    compact_records_begin(profile);
}

/* A collection has ended, or the heap has been made. */
static void resume(struct lifetimes *lifetimes) {
    eden_heap *heap = lifetimes->observer.heap;
    struct profile *profile = lifetimes->profile;
    uint64_t word = control_word(heap);
    if (profile != NULL) {
        struct eden_anchor now = lifetimes_now(heap);
        profile->jumps = 0;
        profile->from = heap->mutator.free;
        allocation_clock_resume(profile, profile->from, now);
        sampling_begin_epoch(profile, now.ns);
        heap_set_limit(heap);
        if (word == profile->request) {
            return;
        }
        lifetimes_end(lifetimes); /* something else is asked for */
    }
    if (is_watched(word) && (word & EDEN_CONTROL_END) == 0) {
        begin(lifetimes, word);
    }
}

void lifetimes_create(struct lifetimes *lifetimes) { resume(lifetimes); }

static struct profile *profile_of(struct observer *observer) { return ((struct lifetimes *)observer)->profile; }

/* ---- births ---- */

void lifetimes_report_birth(struct profile *profile, uint32_t site, uint64_t bytes) {
    aggregator_birth(&profile->out, site, bytes, sampling_weight_units(profile, bytes),
                     sampling_weight_bytes(profile, bytes));
}

static void fire_sample(struct profile *profile, eden_value object, uint64_t bytes, uint64_t birth) {
    if (!eden_watched_alloc__sample() || aggregator_is_copy(&profile->out)) {
        return;
    }
    uint32_t site = eden_index_of(object);
    eden_heap *heap = profile->heap;
    eden_fire_alloc__sample(heap, (const void *)(uintptr_t)object, heap_class(heap, site)->class_index, bytes,
                            (uint64_t)(sampling_weight(profile, bytes) + 0.5), site, birth);
}

/* Of an object that was sampled as it was allocated. */
static void report_sample(struct profile *profile, eden_value object, uint64_t bytes, uint64_t birth) {
    lifetimes_report_birth(profile, eden_index_of(object), bytes);
    fire_sample(profile, object, bytes, birth);
}

/* An object born old advances the allocation clock, but not eden: marks before and after it. Small ones (`pretenure`)
 * may be many: of those that are no samples and follow each other with nothing born in eden between, or where no walk
 * asks for every birth in eden, only the last jump is kept. False: no memory for a mark. */
static bool mark_jump(struct profile *profile, struct eden_anchor before, struct eden_anchor after, bool small) {
    struct allocation_clock *clock = &profile->clock;
    uintptr_t at = profile->heap->mutator.free;
    struct eden_mark *last = clock->mark_count == 0 ? NULL : &clock->marks[clock->mark_count - 1];
    if (small && profile->jumps == clock->mark_count && last != NULL && (last->at == at || !sampling_walks(profile))) {
        *last = (struct eden_mark){after, at};
        return true;
    }
    bool marked = allocation_clock_mark(profile, at, before) && allocation_clock_mark(profile, at, after);
    profile->jumps = small ? clock->mark_count : 0;
    return marked;
}

static void old_allocated(struct profile *profile, eden_value object, size_t bytes) {
    eden_heap *heap = profile->heap;
    struct eden_anchor after = lifetimes_now(heap), before = {after.bytes - bytes, after.ns};
    bool sampled = sampling_large(profile, bytes);
    if (!mark_jump(profile, before, after, !sampled && bytes <= heap->params.large_object)) {
        drop(profile); /* no birth in eden could be known from now on; a later collection begins anew */
        return;
    }
    if (sampled && profile->by->follow(profile, lifetimes_born(profile, object, before.bytes, EDEN_LIFE_BORN_OLD),
                                       object, after.ns)) {
        report_sample(profile, object, bytes, before.bytes);
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
    if (profile->by->before != NULL && reached && is_watched(profile->request)) {
        profile->by->before(profile);
    }
}

static void before_scavenge(struct observer *self) {
    struct profile *profile = profile_of(self);
    if (profile != NULL && profile->by->before != NULL && is_watched(profile->request)) {
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
    const struct allocation_clock *clock = &profile->clock;
    struct eden_anchor now = {clock_at(&clock->marks[clock->mark_count - 1], start), system_now_ns()};
    allocation_clock_mark(profile, start, now);
    if (trap == TRAP_REPORT) {
        fire_sample(profile, object, bytes, now.bytes);
    } else if (trap == TRAP_SAMPLE &&
               profile->by->follow(profile, lifetimes_born(profile, object, now.bytes, 0), object, now.ns)) {
        report_sample(profile, object, bytes, now.bytes);
    }
}

/* ---- ends ---- */

/* last: the epoch of the last collection that it survived, or of its birth. */
static struct end_of_life end_of(const struct profile *profile, const struct tracked *tracked, struct kind kind,
                                 size_t last) {
    const struct allocation_clock *clock = &profile->clock;
    uint64_t birth = tracked_birth(tracked), tenured = tracked->where >> WHERE_BITS;
    size_t born_in = allocation_clock_epoch(clock, birth);
    const struct eden_epoch *from = &clock->epochs[born_in], *to = &clock->epochs[last];
    struct eden_anchor death = clock->epochs[clock->epoch_count - 1].start;
    struct end_of_life end = {
        .record = {.site = kind.site,
                   .flags = (uint32_t)(tracked->birth >> BIRTH_BITS) | (tenured != 0 ? EDEN_LIFE_TENURED : 0),
                   .bytes = kind.bytes,
                   .birth_ns = allocation_clock_ns(clock, birth),
                   .birth_bytes = birth,
                   .death_ns = death.ns,
                   .death_bytes = death.bytes,
                   .scavenges = to->scavenges - from->scavenges,
                   .fulls = to->fulls - from->fulls,
                   .weight = sampling_weight_units(profile, kind.bytes)},
        .weight_bytes = sampling_weight_bytes(profile, kind.bytes),
    };
    if (tenured != 0) {
        end.record.tenured_ns = clock->epochs[tenured].start.ns;
        end.record.tenured_bytes = clock->epochs[tenured].start.bytes;
    }
    if (to->last_full > born_in) {
        end.record.last_ns = clock->epochs[to->last_full].start.ns;
        end.record.last_bytes = clock->epochs[to->last_full].start.bytes;
    }
    return end;
}

void lifetimes_report_end_of(struct profile *profile, const struct tracked *tracked, struct kind kind, uint32_t flags,
                             bool censored) {
    if (profile->out.has_compact) {
        uint32_t born = (uint32_t)(tracked->birth >> BIRTH_BITS), tenured = (uint32_t)(tracked->where >> WHERE_BITS);
        compact_records_add(&profile->out, &(struct eden_end){
                                               .birth_bytes = tracked_birth(tracked),
                                               .bytes = kind.bytes,
                                               .site = kind.site,
                                               .flags = flags | born | (tenured != 0 ? EDEN_LIFE_TENURED : 0) |
                                                        (censored ? EDEN_END_CENSORED : 0),
                                               .tenured = tenured,
                                           });
        return;
    }
    struct end_of_life end = end_of(profile, tracked, kind, profile->clock.epoch_count - (censored ? 1 : 2));
    end.record.flags |= flags;
    end.record.censored = censored;
    if (censored) {
        struct eden_anchor death = profile->ended.bytes != 0 ? profile->ended : lifetimes_now(profile->heap);
        end.record.death_ns = death.ns;
        end.record.death_bytes = death.bytes;
    }
    aggregator_end(&profile->out, &end);
}

void lifetimes_report_end(struct profile *profile, const struct tracked *tracked, eden_value object, uint32_t flags,
                          bool censored) {
    lifetimes_report_end_of(profile, tracked, lifetimes_kind(object), flags, censored);
}

void lifetimes_report_death(struct profile *profile, const struct tracked *tracked, struct eden_anchor death,
                            struct eden_anchor last) {
    struct kind kind = lifetimes_kind(lifetimes_place(profile, tracked));
    struct end_of_life end = end_of(profile, tracked, kind, profile->clock.epoch_count - 1);
    struct eden_life_record *record = &end.record;
    record->death_ns = death.ns;
    record->death_bytes = death.bytes;
    record->last_ns = record->last_bytes = 0;
    if (last.bytes > record->birth_bytes) {
        record->last_ns = last.ns > record->birth_ns ? last.ns : record->birth_ns; /* which is interpolated, perhaps */
        record->last_bytes = last.bytes;
    }
    aggregator_end(&profile->out, &end);
}

bool lifetimes_grow_old(struct profile *profile, struct tracked tracked) {
    tracked.where |= (uint64_t)(profile->clock.epoch_count - 1) << WHERE_BITS;
    return old_objects_add(profile, tracked);
}

/* Answers the profile, unless there is none, or it ends here. */
static struct profile *turn(struct observer *self, bool full, uint64_t start_ns) {
    struct profile *profile = profile_of(self);
    const eden_heap *heap = self->heap;
    if (profile == NULL || profile->has_advanced) {
        return profile;
    }
    struct eden_anchor start = {heap->figures.allocated_bytes, start_ns};
    if (aggregator_is_copy(&profile->out) || !is_watched(profile->request) ||
        (!full && !allocation_clock_mark(profile, heap->eden.used, start)) ||
        !allocation_clock_advance(profile, full, start)) {
        drop(profile);
        return NULL;
    }
    compact_records_advance(profile);
    return profile;
}

/* Ends of a list's objects, in runs where that can be. */
static inline void end_one(struct death_batch *batch, const struct tracked *tracked, eden_value object,
                           uint32_t flags) {
    if (batch->is_alike) {
        death_batch_add(batch, eden_index_of(object), object_bytes(object), tracked_birth(tracked),
                        tracked->where >> WHERE_BITS, flags | (uint32_t)(tracked->birth >> BIRTH_BITS));
    } else {
        lifetimes_report_end(batch->profile, tracked, object, flags, batch->is_censored);
    }
}

static struct eden_anchor latest(const struct profile *profile) {
    return profile->clock.epochs[profile->clock.epoch_count - 1].start;
}

/* A sampled object that a scavenge has kept. Where no list has room for it, it counts as lost, and as ended now: its
 * birth is reported already. */
static inline void arrive(struct profile *profile, const struct tracked *tracked, eden_value now) {
    if (!lifetimes_move_on(profile, *tracked, now)) {
        lifetimes_report_end(profile, tracked, now, 0, true);
    }
}

/* After a scavenge of two passes, an object that the first has copied may be dead in the second. */
static void arrive_all(struct death_batch *batch, struct survivor_buffer *buffer) {
    struct profile *profile = batch->profile;
    survivor_buffer_resolve(buffer);
    for (size_t i = 0; i < buffer->count; i++) {
        bool alive;
        const struct tracked *tracked = &buffer->at[i].tracked;
        eden_value now = scavenge_last_copy(profile->heap, profile->copied_to, buffer->at[i].now, &alive);
        if (alive) {
            arrive(profile, tracked, now);
        } else {
            end_one(batch, tracked, now, 0);
        }
    }
    buffer->count = 0;
}

/* In order, and `young` is filled no faster than it is read: it may be its own source. Unless there is a second pass,
 * what was copied is alive, and the copy need not be read. */
static void move_all_on(struct profile *profile, const struct tracked *from, size_t count) {
    struct death_batch *batch = &profile->cursors[0].batch;
    struct survivor_buffer *buffer = &profile->cursors[0].buffer;
    buffer->count = 0;
    death_batch_init(batch, profile, latest(profile), false);
    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(lifetimes_ahead(profile, from, count, i));
        struct tracked tracked = from[i];
        eden_value object = lifetimes_place(profile, &tracked);
        uint64_t header = eden_header(object);
        if (!profile->is_in_place && (header & (EDEN_HEADER_FORWARDED | EDEN_HEADER_IN_PLACE)) == 0) {
            end_one(batch, &tracked, object, 0);
        } else if (!profile->is_second_pass) {
            arrive(profile, &tracked, survivor_place(object, header));
        } else {
            if (survivor_buffer_is_full(buffer)) {
                arrive_all(batch, buffer);
            }
            survivor_buffer_add(buffer, tracked, survivor_place(object, header));
        }
    }
    arrive_all(batch, buffer);
    death_batch_end(batch);
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
        profile->is_second_pass = false; /* as yet */
        profile->by->second_pass(profile);
        profile->has_advanced = true;
        profile->work_ns += system_now_ns() - begun_ns;
    }
}

/* A collection's work is done: what it found goes out. */
static void finish(struct profile *profile, uint64_t begun_ns) {
    uint64_t now = system_now_ns();
    aggregator_collected(&profile->out, now);
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
    profile->is_second_pass = profile->has_advanced;
    profile->is_in_place = pass->in_place;
    profile->has_advanced = false;
    sampling_end_epoch(profile, self->heap->eden.used);
    profile->by->copied(profile);
    finish(profile, begun_ns);
}

void lifetimes_keep_marked(struct profile *profile, struct tracked_list *list, uintptr_t from) {
    /* The epoch of the scavenge right before, which had kept what was in new space or came from there; 0: none. */
    uint64_t since = profile->clock.epoch_count - 2;
    struct death_batch *batch = &profile->cursors[0].batch;
    death_batch_init(batch, profile, latest(profile), false);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        __builtin_prefetch(lifetimes_ahead(profile, list->at, list->count, i));
        const struct tracked *tracked = &list->at[i];
        eden_value object = lifetimes_place(profile, tracked);
        if (object >= from && !object_has(object, EDEN_HEADER_MARKED)) {
            uint64_t tenured = tracked->where >> WHERE_BITS;
            bool held =
                since != 0 && !profile->is_in_place && (tenured == since || heap_is_young(profile->heap, object));
            end_one(batch, tracked, object, held ? EDEN_LIFE_NEPOTISM : 0);
        } else if (kept++ != i) {
            list->at[kept - 1] = *tracked;
        }
    }
    death_batch_end(batch);
    list->count = kept;
}

static void keep_marked(void *context, struct tracked_list *list) { lifetimes_keep_marked(context, list, 0); }

static void all_marked(struct profile *profile, bool sweeps) {
    keep_marked(profile, &profile->young);
    profile->follows_sweep = sweeps;
    if (!sweeps) {
        old_objects_each(profile, keep_marked, profile);
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

static bool wants_dead(struct observer *self) { return profile_of(self) != NULL; }

static uintptr_t dead(struct observer *self, eden_value object) {
    struct profile *profile = profile_of(self);
    if (profile == NULL || !profile->follows_sweep) {
        return UINTPTR_MAX;
    }
    uint64_t begun_ns = system_now_ns();
    uintptr_t next = old_objects_swept(profile, object);
    profile->work_ns += system_now_ns() - begun_ns;
    return next;
}

static void swept(struct observer *self) {
    struct profile *profile = profile_of(self);
    if (profile != NULL) {
        profile->follows_sweep = false;
        finish(profile, system_now_ns());
    }
}

static void moved(struct observer *self, observer_now *now, void *context) {
    struct profile *profile = profile_of(self);
    if (profile != NULL) {
        uint64_t begun_ns = system_now_ns();
        old_objects_moved(profile, now, context);
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

static void censor_lives(void *context, struct tracked_list *list) {
    struct profile *profile = context;
    struct death_batch *batch = &profile->cursors[0].batch;
    death_batch_init(batch, profile, profile->ended, true);
    for (size_t i = 0; i < list->count; i++) {
        __builtin_prefetch(lifetimes_ahead(profile, list->at, list->count, i));
        end_one(batch, &list->at[i], lifetimes_place(profile, &list->at[i]), 0);
    }
    death_batch_end(batch);
}

static void censor(struct profile *profile) {
    censor_lives(profile, &profile->young);
    old_objects_each(profile, censor_lives, profile);
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
    if (is_watched(profile->request) && !aggregator_is_copy(&profile->out)) {
        struct eden_anchor now = lifetimes_now(heap);
        profile->ended = now;
        allocation_clock_mark(profile, heap->mutator.free, now);
        compact_records_end(profile);
        profile->by->censor(profile);
        aggregator_flush(&profile->out);
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
        .wants_dead = wants_dead,
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

static bool follow(struct profile *profile, struct tracked tracked, eden_value object, uint64_t ns) {
    (void)ns;
    return heap_is_young(profile->heap, object) ? lifetimes_push(profile, &profile->pending, tracked)
                                                : old_objects_add(profile, tracked);
}

static const struct mechanism vm_mechanism = {
    .follow = follow,
    .second_pass = move_young_on,
    .copied = new_scavenged,
    .marked = all_marked,
    .censor = censor,
};

static const struct mechanism oracle_mechanism = {
    .follow = follow,
    .before = oracle_pass,
    .second_pass = move_young_on,
    .copied = new_scavenged,
    .marked = all_marked,
    .censor = censor,
};
