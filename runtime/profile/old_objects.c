/* The tracked objects of old space: a list for each MiB of it, by where they are.
 *
 * 1. Purpose
 * They may be as many as old space has objects, and reading each one's mark, in an order that is not that of addresses,
 * took more of a full collection than sweeping. But what grows old mostly stays, and what dies lies together. So the
 * sweep, which sees every dead object anyway, calls for a region's list when it comes to the first one there, and lists
 * of regions where nothing has died are not read at all. Where old space is slid together nothing is swept, and all
 * lists are read.
 *
 * 2. Invariants
 * I1. An object is in the list of the region that its header lies in.
 * I2. Within a list objects are in the order in which they were added, so those of one collection in order of birth
 *     (death_batch.c), but for what compaction has moved there.
 * I3. The sweep clears marks and overwrites the dead below the object that it has come to. Nothing below that, of a
 *     region not called for yet, is dead. */
#include "profile/old_objects.h"
#include "profile/lifetimes.h"
#include <stdlib.h>

enum { REGION_SHIFT = 20 };

static size_t region_of(const eden_heap *heap, eden_value object) { return (object - heap->old.start) >> REGION_SHIFT; }

/* NULL: no memory for one so far up. */
static struct tracked_list *region_at(struct profile *profile, size_t region) {
    struct old_objects *old = &profile->old;
    while (old->region_count <= region) {
        if (!system_grow(&profile->heap->system, (void **)&old->regions, &old->region_room, old->region_count,
                         sizeof *old->regions, "profile")) {
            return NULL;
        }
        old->regions[old->region_count++] = (struct tracked_list){0};
    }
    return &old->regions[region];
}

bool old_objects_add(struct profile *profile, struct tracked tracked) {
    struct tracked_list *list = region_at(profile, region_of(profile->heap, lifetimes_place(profile, &tracked)));
    if (list == NULL) {
        profile->lost++;
        return false;
    }
    return lifetimes_push(profile, list, tracked);
}

void old_objects_free(struct old_objects *old) {
    for (size_t i = 0; i < old->region_count; i++) {
        free(old->regions[i].at);
    }
    free(old->regions);
}

size_t old_objects_held(const struct old_objects *old) {
    size_t room = 0;
    for (size_t i = 0; i < old->region_count; i++) {
        room += old->regions[i].room;
    }
    return old->region_room * sizeof *old->regions + room * sizeof(struct tracked);
}

void old_objects_each(struct profile *profile, void (*each)(void *context, struct tracked_list *list), void *context) {
    for (size_t i = 0; i < profile->old.region_count; i++) {
        each(context, &profile->old.regions[i]);
    }
}

uintptr_t old_objects_swept(struct profile *profile, eden_value dead) {
    size_t region = region_of(profile->heap, dead);
    if (region < profile->old.region_count) {
        lifetimes_keep_marked(profile, &profile->old.regions[region], dead);
    }
    return profile->heap->old.start + ((region + 1) << REGION_SHIFT);
}

/* It has moved to another region. */
static void change(struct profile *profile, const struct tracked *tracked, eden_value before, eden_value object) {
    if (!old_objects_add(profile, *tracked)) {
        /* It has been born: it counts as lost, and as ended now. It is where it is, unless it has been copied. */
        bool copied = object_has(before, EDEN_HEADER_FORWARDED);
        lifetimes_report_end(profile, tracked, copied ? object : before, 0, true);
    }
}

/* In order of addresses: what comes to a region that is still to be read is not moved again, for sliding moves objects
 * down only, and an evacuated one has no forwarding address. */
void old_objects_moved(struct profile *profile, eden_value (*now)(void *context, eden_value object), void *context) {
    for (size_t region = 0; region < profile->old.region_count; region++) {
        size_t kept = 0;
        for (size_t i = 0; i < profile->old.regions[region].count; i++) {
            const struct tracked_list *list = &profile->old.regions[region];
            __builtin_prefetch(lifetimes_ahead(profile, list->at, list->count, i));
            struct tracked tracked = list->at[i];
            eden_value before = lifetimes_place(profile, &tracked), object = now(context, before);
            uint64_t tenured = tracked.where >> WHERE_BITS << WHERE_BITS;
            tracked.where = tenured | lifetimes_place_bits(profile, object);
            if (region_of(profile->heap, object) == region) {
                profile->old.regions[region].at[kept++] = tracked;
            } else {
                change(profile, &tracked, before, object);
            }
        }
        profile->old.regions[region].count = kept;
    }
}
