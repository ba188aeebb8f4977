/* Goats walk to where grass is, and eat it. */
#include "animat.h"
#include "space.h"

static int64_t grass_of(eden_value patch, size_t buffer) { return int_at(eden_slot(patch, buffer), GROWN_GRASS); }

/* One of the patches, by lot: the odds are as the grass there. The first where there is none. */
static eden_value choose(struct world *world, eden_value patches) {
    size_t count = eden_slot_count(patches);
    int64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        total += grass_of(eden_slot(patches, i), PATCH_NOW);
    }
    int64_t lot = total == 0 ? 0 : random_below(&world->random, total);
    size_t chosen = 0;
    while (total > 0 && lot >= grass_of(eden_slot(patches, chosen), PATCH_NOW)) {
        lot -= grass_of(eden_slot(patches, chosen++), PATCH_NOW);
    }
    return eden_slot(patches, chosen);
}

bool goat_move(struct world *world, struct turn *turn) {
    eden_value around = patches_around(world, turn->local[TURN_PLACE]);
    if (around == EDEN_NONE) {
        return false;
    }
    eden_value patch = choose(world, around);
    int64_t x = PATCH * int_at(patch, PATCH_COLUMN) + random_below(&world->random, PATCH);
    int64_t y = PATCH * int_at(patch, PATCH_ROW) + random_below(&world->random, PATCH);
    turn->local[TURN_PLACE] = place_new(world, SITE_PLACE_GRASS, x, y);
    return turn->local[TURN_PLACE] != EDEN_NONE;
}

int64_t goat_eat(struct world *world, const struct turn *turn) {
    eden_value state = eden_slot(patch_at(world, turn->local[TURN_PLACE]), PATCH_NEXT);
    int64_t grass = int_at(state, GROWN_GRASS);
    int64_t appetite = turn->energy > GOAT_FULL ? 0 : GOAT_FULL - turn->energy;
    int64_t bite = appetite < BITE ? appetite : BITE;
    int64_t intake = grass < bite ? grass : bite;
    int_put(world, state, GROWN_GRASS, grass - intake);
    return intake;
}
