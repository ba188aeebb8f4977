#include "list.h"

enum { FIRST_CAPACITY = 10 }; /* as in Pharo */

static eden_value array_new(struct world *world, enum site site, size_t capacity) {
    eden_value array = eden_new_slots(world->mutator, world->sites[site], capacity);
    if (array == EDEN_NONE) {
        world_exhausted(world);
    }
    return array;
}

bool list_new(struct world *world, eden_value *list, enum site site, enum site array_site) {
    *list = world_new(world, site);
    if (*list == EDEN_NONE) {
        return false;
    }
    int_put(world, *list, LIST_SIZE, 0);
    eden_value array = array_new(world, array_site, FIRST_CAPACITY);
    if (array == EDEN_NONE) {
        return false;
    }
    eden_slot_set(world->mutator, *list, LIST_ARRAY, array);
    return true;
}

bool list_add(struct world *world, const eden_value *list, const eden_value *item, enum site array_site) {
    size_t size = list_size(*list);
    size_t capacity = eden_slot_count(eden_slot(*list, LIST_ARRAY));
    if (size == capacity) {
        eden_value larger = array_new(world, array_site, 2 * capacity);
        if (larger == EDEN_NONE) {
            return false;
        }
        eden_value array = eden_slot(*list, LIST_ARRAY);
        for (size_t i = 0; i < size; i++) {
            eden_slot_set(world->mutator, larger, i, eden_slot(array, i));
        }
        eden_slot_set(world->mutator, *list, LIST_ARRAY, larger);
    }
    eden_slot_set(world->mutator, eden_slot(*list, LIST_ARRAY), size, *item);
    int_put(world, *list, LIST_SIZE, (int64_t)size + 1);
    return true;
}
