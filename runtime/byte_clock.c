/* The byte clock: time told by what a heap has allocated, and what that is in nanoseconds.
 *
 * An object's birth is the number of bytes allocated in its heap before it: no two objects have the same, it needs no
 * clock to be read, and of an object in eden its address tells it. Nanoseconds follow from anchors, places where both
 * clocks were read: between two of them they are interpolated. Anchors are set where a collection starts and ends,
 * where a sample traps, at each large object (which advances the byte clock, but not eden), and where eden is walked
 * instead of trapping every 64 KiB. So a sample that trapped has its birth to the nanosecond, and others to a few
 * microseconds of a program that runs.
 *
 * Collections cut the byte clock into epochs. Those between an object's birth and its death are the collections that it
 * survived. Of an epoch that is over at most KEPT anchors are kept: a profile grows by a few hundred bytes a
 * collection, whatever was allocated.
 *
 * Two anchors have the same bytes and different nanoseconds where a collection stopped the program: an object born
 * there was born after it. */
#include "lifetimes.h"
#include "private.h"
#include <stdlib.h>

enum { KEPT = 16 };

bool clock_mark(struct profile *profile, uintptr_t at, struct anchor time) {
    struct byte_clock *clock = &profile->clock;
    if (!system_grow(&profile->heap->system, (void **)&clock->marks, &clock->mark_room, clock->mark_count,
                     sizeof *clock->marks, "profile")) {
        return false;
    }
    clock->marks[clock->mark_count++] = (struct mark){at, time};
    return true;
}

static bool add_epoch(struct profile *profile, struct epoch epoch) {
    struct byte_clock *clock = &profile->clock;
    if (!system_grow(&profile->heap->system, (void **)&clock->epochs, &clock->epoch_room, clock->epoch_count,
                     sizeof *clock->epochs, "profile")) {
        return false;
    }
    clock->epochs[clock->epoch_count++] = epoch;
    return true;
}

static void add_anchor(struct profile *profile, struct anchor anchor) {
    struct byte_clock *clock = &profile->clock;
    if (system_grow(&profile->heap->system, (void **)&clock->anchors, &clock->anchor_room, clock->anchor_count,
                    sizeof *clock->anchors, "profile")) {
        clock->anchors[clock->anchor_count++] = anchor; /* else interpolation spans more */
    }
}

bool clock_begin(struct profile *profile, uintptr_t at, struct anchor now) {
    return add_epoch(profile, (struct epoch){.start = now}) && clock_mark(profile, at, now);
}

bool clock_turn(struct profile *profile, bool full, struct anchor start) {
    struct byte_clock *clock = &profile->clock;
    struct epoch epoch = clock->epochs[clock->epoch_count - 1];
    epoch.start = start;
    epoch.scavenges += !full;
    epoch.fulls += full;
    epoch.last_full = full ? (uint32_t)clock->epoch_count : epoch.last_full;
    size_t step = clock->mark_count / KEPT + 1;
    for (size_t i = 0; i < clock->mark_count; i += step) {
        add_anchor(profile, clock->marks[i].time);
    }
    add_anchor(profile, start);
    return add_epoch(profile, epoch);
}

void clock_resume(struct profile *profile, uintptr_t at, struct anchor now) {
    profile->clock.mark_count = 0;
    clock_mark(profile, at, now);
}

void clock_free(struct byte_clock *clock) {
    free(clock->epochs);
    free(clock->anchors);
    free(clock->marks);
}

size_t clock_held(const struct byte_clock *clock) {
    return clock->epoch_room * sizeof *clock->epochs + clock->anchor_room * sizeof *clock->anchors +
           clock->mark_room * sizeof *clock->marks;
}

/* The number of anchors, `stride` bytes apart, that are not after `bytes`. */
static size_t count_until(const struct anchor *first, size_t count, size_t stride, uint64_t bytes) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct anchor *anchor = (const struct anchor *)((const char *)first + middle * stride);
        if (anchor->bytes <= bytes) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool clock_around(const struct byte_clock *clock, uint64_t bytes, struct anchor *before, struct anchor *after) {
    size_t i =
        clock->mark_count == 0 ? 0 : count_until(&clock->marks[0].time, clock->mark_count, sizeof *clock->marks, bytes);
    if (i != 0) {
        *before = clock->marks[i - 1].time;
        *after = i == clock->mark_count ? *before : clock->marks[i].time;
        return i != clock->mark_count;
    }
    i = count_until(clock->anchors, clock->anchor_count, sizeof *clock->anchors, bytes);
    *before = i == 0 ? clock->epochs[0].start : clock->anchors[i - 1];
    *after = i == clock->anchor_count ? *before : clock->anchors[i];
    return i != clock->anchor_count;
}

size_t clock_epoch(const struct byte_clock *clock, uint64_t bytes) {
    size_t i = count_until(&clock->epochs[0].start, clock->epoch_count, sizeof *clock->epochs, bytes);
    return i == 0 ? 0 : i - 1;
}

uint64_t clock_ns(const struct byte_clock *clock, uint64_t bytes) {
    struct anchor before, after;
    uint64_t ns, limit = UINT64_MAX;
    bool bounded = clock_around(clock, bytes, &before, &after);
    if (bounded && after.bytes > before.bytes && after.ns > before.ns) {
        double share = (double)(bytes - before.bytes) / (double)(after.bytes - before.bytes);
        ns = before.ns + (uint64_t)(share * (double)(after.ns - before.ns));
    } else {
        ns = before.ns;
    }
    size_t epoch = clock_epoch(clock, bytes); /* anchors may be missing where memory was refused; epochs never are */
    if (epoch + 1 < clock->epoch_count) {
        limit = clock->epochs[epoch + 1].start.ns;
    }
    return ns < limit ? ns : limit;
}
