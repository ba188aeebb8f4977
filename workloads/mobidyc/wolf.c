/* Wolves chase the nearest goat and prey on it, or stray. */
#include "animat.h"
#include "space.h"

static int64_t random_step(struct world *world) { return random_below(&world->random, 2 * STRAY + 1) - STRAY; }

static bool stray(struct world *world, struct turn *turn) {
    int64_t x = int_at(turn->local[TURN_PLACE], POINT_X) + random_step(world);
    int64_t y = int_at(turn->local[TURN_PLACE], POINT_Y) + random_step(world);
    turn->local[TURN_PLACE] = place_new(world, SITE_PLACE_STRAY, x, y);
    return turn->local[TURN_PLACE] != EDEN_NONE;
}

bool wolf_move(struct world *world, struct turn *turn) {
    if (turn->energy < WOLF_SATED && !space_nearest(world, &turn->local[TURN_PLACE], &turn->local[TURN_PREY])) {
        return false;
    }
    if (turn->local[TURN_PREY] == EDEN_NONE) {
        return stray(world, turn);
    }
    turn->local[TURN_PLACE] = eden_slot(eden_slot(turn->local[TURN_PREY], ANIMAT_NOW), STATE_PLACE);
    return true;
}

int64_t wolf_eat(struct world *world, const struct turn *turn) {
    eden_value prey = turn->local[TURN_PREY];
    if (prey == EDEN_NONE || random_below(&world->random, CATCH_ODDS) != 0) {
        return 0;
    }
    eden_value next = eden_slot(prey, ANIMAT_NEXT);
    int64_t energy = int_at(next == EDEN_NONE ? eden_slot(prey, ANIMAT_NOW) : next, STATE_ENERGY);
    int64_t intake = energy * 3 / 4;
    animat_die(world, GOAT, prey, BY_WOLF, energy);
    world->ledger.wasted += energy - intake;
    return intake;
}
