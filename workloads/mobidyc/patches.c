/* Points and patches. */
#include "space.h"

/* Nothing goes further out of the world than its size. */
static int64_t wrap(int64_t value, int64_t size) {
    return value < 0 ? value + size : value >= size ? value - size : value;
}

static int64_t shortest(int64_t distance, int64_t size) {
    return 2 * distance > size ? distance - size : 2 * distance < -size ? distance + size : distance;
}

static eden_value point_new(struct world *world, enum site site, int64_t x, int64_t y) {
    eden_value point = world_new(world, site);
    if (point != EDEN_NONE) {
        int_put(world, point, POINT_X, x);
        int_put(world, point, POINT_Y, y);
    }
    return point;
}

eden_value place_new(struct world *world, enum site site, int64_t x, int64_t y) {
    return point_new(world, site, wrap(x, PATCH * world->width), wrap(y, PATCH * world->height));
}

eden_value vector_new(struct world *world, enum site site, eden_value from, eden_value to) {
    int64_t x = int_at(to, POINT_X) - int_at(from, POINT_X);
    int64_t y = int_at(to, POINT_Y) - int_at(from, POINT_Y);
    return point_new(world, site, shortest(x, PATCH * world->width), shortest(y, PATCH * world->height));
}

static size_t patch_index(const struct world *world, int64_t column, int64_t row) {
    return (size_t)(wrap(row, world->height) * world->width + wrap(column, world->width));
}

eden_value patch_at(const struct world *world, eden_value place) {
    return eden_slot(world->roots[ROOT_PATCHES],
                     patch_index(world, int_at(place, POINT_X) / PATCH, int_at(place, POINT_Y) / PATCH));
}

eden_value patches_around(struct world *world, eden_value place) {
    int64_t column = int_at(place, POINT_X) / PATCH, row = int_at(place, POINT_Y) / PATCH;
    eden_value around = eden_new_slots(world->mutator, world->sites[SITE_AROUND], 9);
    if (around == EDEN_NONE) {
        world_exhausted(world);
        return EDEN_NONE;
    }
    eden_value patches = world->roots[ROOT_PATCHES];
    size_t filled = 0;
    eden_slot_set(world->mutator, around, filled++, eden_slot(patches, patch_index(world, column, row)));
    for (int64_t y = row - 1; y <= row + 1; y++) {
        for (int64_t x = column - 1; x <= column + 1; x++) {
            if (x != column || y != row) {
                eden_slot_set(world->mutator, around, filled++, eden_slot(patches, patch_index(world, x, y)));
            }
        }
    }
    return around;
}

static bool patch_new(struct world *world, int64_t column, int64_t row) {
    int64_t grass = random_below(&world->random, GRASS_MOST + 1);
    eden_value patch = world_new(world, SITE_PATCH);
    if (patch == EDEN_NONE) {
        return false;
    }
    size_t index = patch_index(world, column, row);
    eden_slot_set(world->mutator, world->roots[ROOT_PATCHES], index, patch);
    int_put(world, patch, PATCH_COLUMN, column);
    int_put(world, patch, PATCH_ROW, row);
    eden_value state = world_new(world, SITE_PATCH_SETUP);
    if (state == EDEN_NONE) {
        return false;
    }
    int_put(world, state, GROWN_GRASS, grass);
    eden_slot_set(world->mutator, eden_slot(world->roots[ROOT_PATCHES], index), PATCH_NEXT, state);
    return true;
}

bool patches_new(struct world *world) {
    world->roots[ROOT_PATCHES] =
        eden_new_slots(world->mutator, world->sites[SITE_PATCHES], (size_t)(world->width * world->height));
    if (world->roots[ROOT_PATCHES] == EDEN_NONE) {
        return world_exhausted(world);
    }
    for (int64_t row = 0; row < world->height; row++) {
        for (int64_t column = 0; column < world->width; column++) {
            if (!patch_new(world, column, row)) {
                return false;
            }
        }
    }
    world->ledger.grass_initial = patches_advance(world);
    return true;
}

bool patches_grow(struct world *world) {
    size_t count = eden_slot_count(world->roots[ROOT_PATCHES]);
    for (size_t i = 0; i < count; i++) {
        eden_value state = world_new(world, SITE_PATCH_GROW);
        if (state == EDEN_NONE) {
            return false;
        }
        eden_value patch = eden_slot(world->roots[ROOT_PATCHES], i);
        int64_t grass = int_at(eden_slot(patch, PATCH_NOW), GROWN_GRASS);
        int64_t room = GRASS_MOST - grass;
        int64_t growth = room < GRASS_GROWTH ? room : GRASS_GROWTH;
        int_put(world, state, GROWN_GRASS, grass + growth);
        eden_slot_set(world->mutator, patch, PATCH_NEXT, state);
        world->ledger.grass_grown += growth;
    }
    return true;
}

int64_t patches_advance(struct world *world) {
    eden_value patches = world->roots[ROOT_PATCHES];
    size_t count = eden_slot_count(patches);
    int64_t grass = 0;
    for (size_t i = 0; i < count; i++) {
        eden_value patch = eden_slot(patches, i);
        eden_value state = eden_slot(patch, PATCH_NEXT);
        eden_slot_set(world->mutator, patch, PATCH_NOW, state);
        eden_slot_set(world->mutator, patch, PATCH_NEXT, EDEN_NONE);
        grass += int_at(state, GROWN_GRASS);
    }
    return grass;
}
