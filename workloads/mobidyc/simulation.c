/* The steps of the simulation (model.h). */
#include "simulation.h"

#include "animat.h"
#include "chronicle.h"
#include "list.h"
#include "space.h"
#include "tasks.h"

static bool add_first(struct world *world, enum species species) {
    enum { PLACE, ANIMAT, LOCALS };
    EDEN_FRAME(world->mutator, local, LOCALS);
    const struct rules *rules = &model_rules[species];
    int64_t x = random_below(&world->random, PATCH * world->width);
    int64_t y = random_below(&world->random, PATCH * world->height);
    struct animat_birth birth = {.site = SITE_SETUP + species, .state_site = SITE_STATE_SETUP, .buffer = ANIMAT_NOW};
    birth.lifespan = random_lifespan(world, species);
    birth.age = random_below(&world->random, birth.lifespan);
    birth.energy = rules->start_least + random_below(&world->random, rules->start_spread);
    world->ledger.of[species].initial += birth.energy;
    local[PLACE] = place_new(world, SITE_PLACE_SETUP, x, y);
    if (local[PLACE] == EDEN_NONE) {
        return false;
    }
    local[ANIMAT] = animat_new(world, &birth, &local[PLACE]);
    return local[ANIMAT] != EDEN_NONE &&
           list_add(world, &world->roots[ROOT_ANIMATS + species], &local[ANIMAT], SITE_ANIMATS_GROW);
}

bool simulation_new(struct world *world, const int64_t animats[SPECIES]) {
    if (!tasks_new(world) || !chronicle_new(world) || !patches_new(world)) {
        return false;
    }
    for (size_t s = 0; s < SPECIES; s++) {
        if (!list_new(world, &world->roots[ROOT_ANIMATS + s], SITE_ANIMATS, SITE_ANIMATS_GROW)) {
            return false;
        }
        for (int64_t i = 0; i < animats[s]; i++) {
            if (!add_first(world, (enum species)s)) {
                return false;
            }
        }
    }
    world->ledger.grass_left = world->ledger.grass_initial;
    return chronicle_note(world, world->ledger.grass_left);
}

static bool schedule_all(struct world *world) {
    EDEN_FRAME(world->mutator, local, 1);
    for (size_t s = 0; s < SPECIES; s++) {
        size_t count = list_size(world->roots[ROOT_ANIMATS + s]);
        for (size_t i = 0; i < count; i++) {
            local[0] = list_at(world->roots[ROOT_ANIMATS + s], i);
            if (!tasks_schedule(world, &local[0], random_below(&world->random, TURN_TIMES))) {
                return false;
            }
        }
    }
    return true;
}

static bool take_turns(struct world *world) {
    EDEN_FRAME(world->mutator, local, 1);
    for (size_t s = 0; s < SPECIES; s++) {
        if (!list_new(world, &world->roots[ROOT_YOUNG + s], SITE_YOUNG, SITE_YOUNG_GROW)) {
            return false;
        }
    }
    while ((local[0] = tasks_next(world)) != EDEN_NONE) {
        if (animat_is_alive(local[0]) && !animat_act(world, &local[0])) {
            return false;
        }
    }
    return true;
}

/* The living become the animals at t + 1, in order. */
static bool keep(struct world *world, size_t from, eden_value *to) {
    EDEN_FRAME(world->mutator, local, 1);
    size_t count = list_size(world->roots[from]);
    for (size_t i = 0; i < count; i++) {
        local[0] = list_at(world->roots[from], i);
        if (!animat_is_alive(local[0])) {
            continue;
        }
        eden_slot_set(world->mutator, local[0], ANIMAT_NOW, eden_slot(local[0], ANIMAT_NEXT));
        eden_slot_set(world->mutator, local[0], ANIMAT_NEXT, EDEN_NONE);
        if (!list_add(world, to, &local[0], SITE_ANIMATS_GROW)) {
            return false;
        }
    }
    return true;
}

static bool advance(struct world *world) {
    EDEN_FRAME(world->mutator, local, 1);
    for (size_t s = 0; s < SPECIES; s++) {
        if (!list_new(world, &local[0], SITE_ANIMATS, SITE_ANIMATS_GROW) || !keep(world, ROOT_ANIMATS + s, &local[0]) ||
            !keep(world, ROOT_YOUNG + s, &local[0])) {
            return false;
        }
        world->roots[ROOT_ANIMATS + s] = local[0];
        world->roots[ROOT_YOUNG + s] = EDEN_NONE;
    }
    world->roots[ROOT_SPACE] = EDEN_NONE;
    world->ledger.grass_left = patches_advance(world);
    return chronicle_note(world, world->ledger.grass_left);
}

static void count_what_is_left(struct world *world) {
    for (size_t s = 0; s < SPECIES; s++) {
        eden_value animats = world->roots[ROOT_ANIMATS + s];
        size_t count = list_size(animats);
        for (size_t i = 0; i < count; i++) {
            world->ledger.of[s].left += int_at(eden_slot(list_at(animats, i), ANIMAT_NOW), STATE_ENERGY);
        }
    }
}

bool simulation_run(struct world *world, int64_t steps) {
    for (int64_t step = 0; step < steps; step++) {
        if (!patches_grow(world) || !space_new(world) || !schedule_all(world) || !take_turns(world) ||
            !advance(world)) {
            return false;
        }
    }
    count_what_is_left(world);
    return true;
}
