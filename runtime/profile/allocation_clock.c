/* The allocation clock: time by what a heap has allocated, and what that is in nanoseconds.
 *
 * 1. Births
 * An object's birth is the number of bytes allocated in its heap before it. No two objects have the same, no clock is
 * read for it, and the address of an object in eden gives it.
 *
 * 2. Anchors
 * Nanoseconds follow from anchors, places where both clocks were read: between two of them they are interpolated.
 * Anchors are set where a collection starts and ends, where a sample traps, at each large object (which advances this
 * clock, but not eden), and each 64 KiB where eden is walked instead. So a sample that trapped has its birth to the
 * nanosecond, and others to a few microseconds of a running program. Two anchors have the same bytes and different
 * nanoseconds where a collection stopped the program: an object born there was born after it.
 *
 * 3. Epochs
 * Collections cut the clock into epochs. Those between an object's birth and its death are the collections that it
 * survived.
 *
 * 4. Cost
 * Of an epoch that is over at most KEPT anchors are kept: a profile grows by a few hundred bytes a collection, whatever
 * was allocated. */
#include "profile/allocation_clock.h"
#include "profile/lifetimes.h"
#include <stdlib.h>

enum { KEPT = 16 };

bool allocation_clock_mark(struct profile *profile, uintptr_t at, struct eden_anchor time) {
    struct allocation_clock *clock = &profile->clock;
    if (!system_grow(&profile->heap->system, (void **)&clock->marks, &clock->mark_room, clock->mark_count,
                     sizeof *clock->marks, "profile")) {
        return false;
    }
    clock->marks[clock->mark_count++] = (struct eden_mark){time, at};
    return true;
}

static bool add_epoch(struct profile *profile, struct eden_epoch epoch) {
    struct allocation_clock *clock = &profile->clock;
    if (!system_grow(&profile->heap->system, (void **)&clock->epochs, &clock->epoch_room, clock->epoch_count,
                     sizeof *clock->epochs, "profile")) {
        return false;
    }
    clock->epochs[clock->epoch_count++] = epoch;
    return true;
}

static void add_anchor(struct profile *profile, struct eden_anchor anchor) {
    struct allocation_clock *clock = &profile->clock;
    if (system_grow(&profile->heap->system, (void **)&clock->anchors, &clock->anchor_room, clock->anchor_count,
                    sizeof *clock->anchors, "profile")) {
        clock->anchors[clock->anchor_count++] = anchor; /* else interpolation spans more */
    }
}

bool allocation_clock_begin(struct profile *profile, uintptr_t at, struct eden_anchor now) {
    return add_epoch(profile, (struct eden_epoch){.start = now}) && allocation_clock_mark(profile, at, now);
}

bool allocation_clock_advance(struct profile *profile, bool full, struct eden_anchor start) {
    struct allocation_clock *clock = &profile->clock;
    struct eden_epoch epoch = clock->epochs[clock->epoch_count - 1];
    epoch.start = start;
    epoch.scavenges += !full;
    epoch.fulls += full;
    epoch.number = (uint32_t)clock->epoch_count;
    epoch.last_full = full ? (uint32_t)clock->epoch_count : epoch.last_full;
    size_t step = clock->mark_count / KEPT + 1;
    for (size_t i = 0; i < clock->mark_count; i += step) {
        add_anchor(profile, clock->marks[i].time);
    }
    add_anchor(profile, start);
    return add_epoch(profile, epoch);
}

void allocation_clock_resume(struct profile *profile, uintptr_t at, struct eden_anchor now) {
    profile->clock.mark_count = 0;
    allocation_clock_mark(profile, at, now);
}

void allocation_clock_free(struct allocation_clock *clock) {
    free(clock->epochs);
    free(clock->anchors);
    free(clock->marks);
}

size_t allocation_clock_held(const struct allocation_clock *clock) {
    return clock->epoch_room * sizeof *clock->epochs + clock->anchor_room * sizeof *clock->anchors +
           clock->mark_room * sizeof *clock->marks;
}

bool allocation_clock_around(const struct allocation_clock *clock, uint64_t bytes, struct eden_anchor *before,
                             struct eden_anchor *after) {
    size_t i =
        clock->mark_count == 0 ? 0 : eden_anchors_until(clock->marks, clock->mark_count, sizeof *clock->marks, bytes);
    if (i != 0) {
        *before = clock->marks[i - 1].time;
        *after = i == clock->mark_count ? *before : clock->marks[i].time;
        return i != clock->mark_count;
    }
    i = eden_anchors_until(clock->anchors, clock->anchor_count, sizeof *clock->anchors, bytes);
    *before = i == 0 ? clock->epochs[0].start : clock->anchors[i - 1];
    *after = i == clock->anchor_count ? *before : clock->anchors[i];
    return i != clock->anchor_count;
}

size_t allocation_clock_epoch(const struct allocation_clock *clock, uint64_t bytes) {
    return eden_epoch_of(clock->epochs, clock->epoch_count, bytes);
}

uint64_t allocation_clock_ns(const struct allocation_clock *clock, uint64_t bytes) {
    struct eden_anchor before, after;
    allocation_clock_around(clock, bytes, &before, &after);
    return eden_birth_ns(before, after, clock->epochs, clock->epoch_count, bytes);
}
