/* The tracked objects of old space. */
#ifndef EDEN_PROFILE_OLD_OBJECTS_H
#define EDEN_PROFILE_OLD_OBJECTS_H

#include "heap/observer.h"
#include "profile/tracked.h"

struct old_objects {
    struct tracked_list *regions;
    size_t region_count, region_room;
};

struct profile;
bool old_objects_add(struct profile *profile, struct tracked tracked); /* false: no memory; it is counted as lost */
void old_objects_free(struct old_objects *old);
size_t old_objects_held(const struct old_objects *old); /* bytes */
/* Calls each for the list of each region, which it may shorten. */
void old_objects_each(struct profile *profile, void (*each)(void *context, struct tracked_list *list), void *context);
/* As an observer's `dead`. */
uintptr_t old_objects_swept(struct profile *profile, eden_value dead);
void old_objects_moved(struct profile *profile, observer_now *now, void *context);

#endif
