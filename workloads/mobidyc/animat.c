/* What all animals do alike: age, respire, starve, reproduce (model.h).
 *
 * The state at t is read and never written; the state for t + 1 is made once, at the end of the turn. In between, what
 * changes stands in a struct turn. */
#include "animat.h"

#include "list.h"
#include "space.h"

#include <math.h>

struct behaviour {
    bool (*move)(struct world *world, struct turn *turn);
    int64_t (*eat)(struct world *world, const struct turn *turn);
};
static const struct behaviour behaviours[SPECIES] = {[GOAT] = {goat_move, goat_eat}, [WOLF] = {wolf_move, wolf_eat}};

int64_t random_lifespan(struct world *world, enum species species) {
    const struct rules *rules = &model_rules[species];
    return rules->life_least + random_below(&world->random, rules->life_spread);
}

static eden_value state_new(struct world *world, enum site site, const eden_value *place, int64_t age, int64_t energy) {
    eden_value state = world_new(world, site);
    if (state != EDEN_NONE) {
        eden_slot_set(world->mutator, state, STATE_PLACE, *place);
        int_put(world, state, STATE_AGE, age);
        int_put(world, state, STATE_ENERGY, energy);
    }
    return state;
}

eden_value animat_new(struct world *world, const struct animat_birth *birth, const eden_value *place) {
    EDEN_FRAME(world->mutator, local, 1);
    local[0] = world_new(world, birth->site);
    if (local[0] == EDEN_NONE) {
        return EDEN_NONE;
    }
    int_put(world, local[0], ANIMAT_NUMBER, ++world->numbered);
    int_put(world, local[0], ANIMAT_LIFESPAN, birth->lifespan);
    eden_value state = state_new(world, birth->state_site, place, birth->age, birth->energy);
    if (state == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_slot_set(world->mutator, local[0], birth->buffer, state);
    return local[0];
}

void animat_die(struct world *world, enum species species, eden_value animat, enum death cause, int64_t energy) {
    int_put(world, animat, ANIMAT_DEATH, cause);
    world->ledger.of[species].deaths[cause]++;
    world->ledger.of[species].lost[cause] += energy;
}

/* The root of a square below 2^53 is a double that is exact, and any other root is not rounded up to a whole number. */
static int64_t whole_root(int64_t n) { return (int64_t)sqrt((double)n); }

/* What the move and a step of life cost. from: the place at t, a root. */
static bool respire(struct world *world, struct turn *turn, const eden_value *from) {
    const struct rules *rules = &model_rules[turn->species];
    eden_value move = vector_new(world, SITE_VECTOR_MOVE, *from, turn->local[TURN_PLACE]);
    if (move == EDEN_NONE) {
        return false;
    }
    int64_t cost = rules->respire + rules->effort * whole_root(vector_squared(move)) / PATCH;
    int64_t paid = cost < turn->energy ? cost : turn->energy;
    turn->energy -= paid;
    world->ledger.of[turn->species].respired += paid;
    return true;
}

static bool reproduce(struct world *world, struct turn *turn) {
    const struct rules *rules = &model_rules[turn->species];
    if (turn->energy < rules->breed_energy || random_below(&world->random, rules->breed_odds) != 0) {
        return true;
    }
    struct animat_birth birth = {.site = SITE_BORN + turn->species,
                                 .state_site = SITE_STATE_BORN,
                                 .buffer = ANIMAT_NEXT,
                                 .lifespan = random_lifespan(world, turn->species),
                                 .energy = turn->energy / 2};
    turn->local[TURN_SCRATCH] = animat_new(world, &birth, &turn->local[TURN_PLACE]);
    if (turn->local[TURN_SCRATCH] == EDEN_NONE) {
        return false;
    }
    turn->energy -= birth.energy;
    world->ledger.of[turn->species].births++;
    world->ledger.of[turn->species].given += birth.energy;
    return list_add(world, &world->roots[ROOT_YOUNG + turn->species], &turn->local[TURN_SCRATCH], SITE_YOUNG_GROW);
}

/* By its class, which the site implies. */
static enum species species_of(const struct world *world, eden_value animat) {
    uint32_t site = eden_index_of(animat);
    bool is_goat = site == eden_class_index(world->sites[SITE_SETUP + GOAT]) ||
                   site == eden_class_index(world->sites[SITE_BORN + GOAT]);
    return is_goat ? GOAT : WOLF;
}

bool animat_act(struct world *world, const eden_value *animat) {
    EDEN_FRAME(world->mutator, local, TURN_LOCALS);
    enum species species = species_of(world, *animat);
    eden_value now = eden_slot(*animat, ANIMAT_NOW);
    struct turn turn = {
        .species = species, .age = int_at(now, STATE_AGE) + 1, .energy = int_at(now, STATE_ENERGY), .local = local};
    local[TURN_ANIMAT] = *animat;
    local[TURN_PLACE] = eden_slot(now, STATE_PLACE);
    if (turn.age > int_at(*animat, ANIMAT_LIFESPAN)) {
        animat_die(world, species, *animat, OF_AGE, turn.energy);
        return true;
    }
    if (!behaviours[species].move(world, &turn)) {
        return false;
    }
    local[TURN_SCRATCH] = eden_slot(eden_slot(local[TURN_ANIMAT], ANIMAT_NOW), STATE_PLACE);
    if (!respire(world, &turn, &local[TURN_SCRATCH])) {
        return false;
    }
    if (turn.energy == 0) {
        animat_die(world, species, *animat, OF_HUNGER, 0);
        return true;
    }
    int64_t intake = behaviours[species].eat(world, &turn);
    turn.energy += intake;
    world->ledger.of[species].intake += intake;
    if (!reproduce(world, &turn)) {
        return false;
    }
    eden_value next = state_new(world, SITE_STATE_NEXT, &local[TURN_PLACE], turn.age, turn.energy);
    if (next == EDEN_NONE) {
        return false;
    }
    eden_slot_set(world->mutator, *animat, ANIMAT_NEXT, next);
    return true;
}
