/* Deaths by ephemerons, plain or pretenured, as FiLiP finds them: each sampled object is the key of an ephemeron of its
 * own, allocated right after it, and has died when that is mourned.
 *
 * 1. Algorithm
 * The ephemeron is an object of the heap, of a class that the program does not know (heap->observer_class), and the
 * collector treats it as any other: it is copied, tenured, scanned, remembered. Its slots are the key, the birth, and
 * when the key was tenured. The profile holds all ephemerons as roots. Where a collection does not reach the key, the
 * ephemeron is left until all else is done, the program's own mourning included. Then a key that has been reached since
 * is brought up to date, and each of the others is dead. An ephemeron of the program keeps its key, mourned, for the
 * program to see; these keep neither it nor what it refers to, so nothing lives longer, or is mourned differently, than
 * without a profile. The list of ephemerons is their queue: a dead-key record (site and size) takes the place of the
 * key, the profile reports the death in the same collection, and drops the ephemeron. All of this takes no memory, and
 * cannot fail.
 *
 * 2. Cost to the program
 * The memory of ephemerons is heap load, as in FiLiP. It fills eden (so there are more scavenges), is copied and
 * tenured, and counts in `survived_bytes`, `tenured_bytes`, `old_used` and, remembered, in `remembered`. But the
 * program does not allocate it: the allocation clock and `allocated_bytes` leave it out, so births are the same with
 * each mechanism, and identify objects. Every sample takes the slow path, at 100% every allocation.
 *
 * 3. Room
 * No allocation of an ephemeron collects. A plain one finds room because every allocation in eden leaves room for it
 * (heap->eden_reserve); where its key was born old and eden is full, it is born old too. A pretenured one takes a free
 * chunk, or has old space grow; where max_heap forbids it, it is born in eden. So only what is born old may find room
 * nowhere: such an object is left out, and counted in `lost`.
 *
 * 4. What pretenuring does to the lifetimes measured
 * Nothing follows from the place of the ephemeron alone. An old one with a young key is in the remembered set, so the
 * scavenge that does not reach the key finds it, and reports the death then, not at the next full collection; and as it
 * is a root it neither dies first nor keeps its key. A key in old space is found dead by a full collection, wherever
 * its ephemeron is. What changes is when collections run. Plain ephemerons make eden smaller for the program: scavenges
 * come after fewer of the program's bytes, so deaths in new space are dated more finely. But more objects are alive at
 * each, survivors overflow sooner and are tenured, and those that die soon after seem to live until the next full
 * collection. Pretenured ones leave eden to the program, are never copied, and cost an entry in the remembered set each
 * until their key is old or dead. But the dead ones stay in old space, whose growth starts full collections sooner.
 * Three classes of test_life_mechanisms, mean lifetimes in KiB: exactly 8.0, 8.7 and 1087; vm 63, 63 and 1306 (244
 * collections); plain 32, 32 and 1164 (463); pretenured 63, 63 and 1137 (348).
 *
 * 5. Visiting
 * They are visited after all other roots, when what those reach has been scanned, and in pieces. So most keys that live
 * have been found, and are not inspected twice, and the mark stack, which they would fill at once, holds a piece.
 *
 * 6. Invariants
 * I1. Ephemerons whose key is old come first in the list, so that a scavenge reads the others only.
 *
 * 7. References
 * S. Jordan Montaño et al., "Evaluating Finalization-Based Object Lifetime Profiling" (FiLiP), ISMM 2024. */
#include "profile/baseline/profiler_ephemerons.h"
#include "young/remembered.h"
#include <stdlib.h>

enum { PIECE = 4096 };

static eden_value slot(eden_value ephemeron, int index) { return eden_words_(ephemeron)[1 + index]; }
static void put(eden_value ephemeron, int index, eden_value v) { eden_words_(ephemeron)[1 + index] = v; }

static void make_ordinary(eden_value ephemeron) {
    object_clear(ephemeron, 31ull << EDEN_HEADER_FORMAT_SHIFT);
    object_set(ephemeron, (uint64_t)EDEN_FORMAT_FIXED << EDEN_HEADER_FORMAT_SHIFT);
}

/* In place of a key that has died. */
static eden_value dead_key_record(eden_value key) {
    return eden_int((int64_t)(object_bytes(key) / 8 * EDEN_CLASS_LIMIT + eden_index_of(key)));
}

static bool is_mourned(eden_value ephemeron) { return eden_format_bits(ephemeron) == EDEN_FORMAT_FIXED; }

static eden_value make(eden_heap *heap, uintptr_t start, struct tracked tracked, eden_value key) {
    eden_value ephemeron = start;
    *eden_words_(ephemeron) = heap->observer_class | (uint64_t)EDEN_FORMAT_EPHEMERON << EDEN_HEADER_FORMAT_SHIFT |
                              (uint64_t)PROFILER_EPHEMERON_SLOTS << EDEN_HEADER_SLOTS_SHIFT;
    put(ephemeron, PROFILER_KEY, key);
    put(ephemeron, PROFILER_BIRTH, eden_int((int64_t)tracked.birth));
    put(ephemeron, PROFILER_TENURED, eden_int(0));
    OBSERVE_ALLOCATION(heap, made, ephemeron);
    if (!heap_is_young(heap, ephemeron) && heap_is_young(heap, key)) {
        remembered_add(heap, ephemeron, EDEN_REMEMBER_STORE);
    }
    return ephemeron;
}

/* Room in eden, which the allocation clock leaves out: so an anchor stands behind it. 0: none. */
static uintptr_t young_room(struct profile *profile, uint64_t ns) {
    eden_heap *heap = profile->heap;
    uintptr_t start = heap->mutator.free, end = start + PROFILER_EPHEMERON_BYTES;
    struct eden_anchor now = {heap_allocated(heap), ns};
    if (heap->eden.limit - start < PROFILER_EPHEMERON_BYTES || !allocation_clock_mark(profile, end, now)) {
        return 0;
    }
    heap->mutator.free = end;
    heap->delta.allocated_from += PROFILER_EPHEMERON_BYTES;
    if (profile->next_trap <= UINTPTR_MAX - PROFILER_EPHEMERON_BYTES) {
        profile->next_trap += PROFILER_EPHEMERON_BYTES;
    }
    OBSERVE_ALLOCATION(heap, taken, start, PROFILER_EPHEMERON_BYTES);
    return start;
}

static bool follow(struct profile *profile, struct tracked tracked, eden_value object, uint64_t ns) {
    eden_heap *heap = profile->heap;
    struct profiler_ephemerons *own = &profile->ephemerons;
    bool listed = system_grow(&heap->system, (void **)&own->at, &own->room, own->count, sizeof *own->at, "profile");
    bool young = profile->mechanism == EDEN_MECHANISM_EPHEMERON;
    uintptr_t start = listed && young ? young_room(profile, ns) : 0;
    if (listed && start == 0) {
        start = heap_old_room(heap, PROFILER_EPHEMERON_BYTES);
        heap->old.objects += start != 0;
    }
    if (listed && start == 0 && !young) {
        start = young_room(profile, ns);
    }
    if (start == 0) {
        profile->lost++;
        return false;
    }
    own->at[own->count++] = make(heap, start, tracked, object);
    if (!heap_is_young(heap, object)) {
        eden_value first_young = own->at[own->old_count];
        own->at[own->old_count++] = own->at[own->count - 1];
        own->at[own->count - 1] = first_young;
    }
    return true;
}

static struct tracked life_of(eden_value ephemeron) {
    uint64_t tenured = (uint64_t)eden_int_value(slot(ephemeron, PROFILER_TENURED));
    return (struct tracked){tenured << WHERE_BITS, (uint64_t)eden_int_value(slot(ephemeron, PROFILER_BIRTH))};
}

static void report_death(struct profile *profile, eden_value ephemeron, uint32_t flags) {
    struct tracked tracked = life_of(ephemeron);
    uint64_t was = (uint64_t)eden_int_value(slot(ephemeron, PROFILER_KEY));
    struct kind kind = {(uint32_t)(was % EDEN_CLASS_LIMIT), was / EDEN_CLASS_LIMIT * 8};
    lifetimes_report_end_of(profile, &tracked, kind, flags, false);
}

static void keys(struct profile *profile, bool full, eden_value (*now)(void *context, eden_value v), void *context) {
    for (size_t i = full ? 0 : profile->ephemerons.old_count; i < profile->ephemerons.count; i++) {
        eden_value ephemeron = profile->ephemerons.at[i], key = slot(ephemeron, PROFILER_KEY);
        eden_value alive = now(context, key);
        if (alive == EDEN_NONE) {
            make_ordinary(ephemeron);
            put(ephemeron, PROFILER_KEY, dead_key_record(key));
        } else {
            put(ephemeron, PROFILER_KEY, alive);
        }
    }
}

static void after_scavenge(struct profile *profile) {
    struct profiler_ephemerons *own = &profile->ephemerons;
    for (size_t i = own->old_count; i < own->count;) {
        eden_value ephemeron = own->at[i];
        if (is_mourned(ephemeron)) {
            report_death(profile, ephemeron, 0);
            own->at[i] = own->at[--own->count];
        } else if (heap_is_old(profile->heap, slot(ephemeron, PROFILER_KEY))) {
            put(ephemeron, PROFILER_TENURED, eden_int((int64_t)(profile->clock.epoch_count - 1)));
            own->at[i++] = own->at[own->old_count];
            own->at[own->old_count++] = ephemeron;
        } else {
            i++;
        }
    }
}

/* What the scavenge just before has kept, or tenured, and is dead now: by nepotism. */
static uint32_t nepotism(const struct profile *profile, size_t i) {
    uint64_t tenured = life_of(profile->ephemerons.at[i]).where >> WHERE_BITS,
             scavenged_in = profile->clock.epoch_count - 2;
    bool kept_just_now = i >= profile->ephemerons.old_count || tenured == scavenged_in;
    return scavenged_in != 0 && !profile->is_in_place && kept_just_now ? EDEN_LIFE_NEPOTISM : 0;
}

static void after_marking(struct profile *profile, bool sweeps) {
    (void)sweeps;
    struct profiler_ephemerons *own = &profile->ephemerons;
    size_t old_count = 0, kept = 0;
    for (size_t i = 0; i < own->count; i++) {
        eden_value ephemeron = own->at[i];
        if (is_mourned(ephemeron)) {
            report_death(profile, ephemeron, nepotism(profile, i));
        } else {
            old_count += i < own->old_count;
            own->at[kept++] = ephemeron;
        }
    }
    own->old_count = old_count;
    own->count = kept;
}

static void visit(struct profile *profile, eden_visit *visitor) {
    for (size_t i = 0; i < profile->ephemerons.count; i += PIECE) {
        if (visitor->between != NULL) {
            visitor->between(visitor);
        }
        visitor->slots(visitor, profile->ephemerons.at + i,
                       profile->ephemerons.count - i < PIECE ? profile->ephemerons.count - i : PIECE);
    }
}

static void censor(struct profile *profile) {
    for (size_t i = 0; i < profile->ephemerons.count; i++) {
        eden_value key = slot(profile->ephemerons.at[i], PROFILER_KEY);
        struct tracked tracked = life_of(profile->ephemerons.at[i]);
        lifetimes_report_end(profile, &tracked, key, 0, true);
    }
}

void profiler_ephemerons_release(struct profile *profile) {
    for (size_t i = 0; i < profile->ephemerons.count; i++) {
        make_ordinary(profile->ephemerons.at[i]);
        put(profile->ephemerons.at[i], PROFILER_KEY, EDEN_NONE);
    }
    free(profile->ephemerons.at);
}

const struct mechanism ephemeron_mechanism = {
    .follow = follow,
    .keys = keys,
    .second_pass = after_scavenge,
    .copied = after_scavenge,
    .marked = after_marking,
    .visit = visit,
    .censor = censor,
};
