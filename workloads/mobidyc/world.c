/* The world and its steps. */
#include "world.h"

/* ---- objects: what makes one may collect, and returns false or EDEN_NONE after program_fail -----------------------
 */

/* Passes a new object on to --keep-class. */
static eden_value kept(struct world *world, eden_value object) {
    object = program_kept(world->program, world->mutator, object);
    if (object == EDEN_NONE) {
        program_exhausted(world->program, world->mutator);
    }
    return object;
}
static eden_value make(struct world *world, enum world_site site) {
    return kept(world, eden_new(world->mutator, world->sites[site]));
}
static eden_value make_array(struct world *world, enum world_site site, size_t slots) {
    return kept(world, eden_new_slots(world->mutator, world->sites[site], slots));
}

static int64_t int_at(eden_value object, size_t slot) { return eden_int_value(eden_slot(object, slot)); }
static void int_put(struct world *world, eden_value object, size_t slot, int64_t value) {
    eden_slot_set(world->mutator, object, slot, eden_int(value));
}

static eden_value place_make(struct world *world, int64_t x, int64_t y) {
    eden_value place = make(world, SITE_PLACE);
    if (place != EDEN_NONE) {
        int_put(world, place, POINT_X, x);
        int_put(world, place, POINT_Y, y);
    }
    return place;
}

/* *dictionary, a root, becomes an empty Dictionary: Associations by open addressing. It never holds more than four. */
static bool dictionary_make(struct world *world, eden_value *dictionary, enum world_site site,
                            enum world_site array_site) {
    enum { ROOM = 16 };
    *dictionary = make(world, site);
    eden_value array = *dictionary == EDEN_NONE ? EDEN_NONE : make_array(world, array_site, ROOM);
    if (array == EDEN_NONE) {
        return false;
    }
    int_put(world, *dictionary, DICTIONARY_TALLY, 0);
    eden_slot_set(world->mutator, *dictionary, DICTIONARY_ARRAY, array);
    return true;
}

/* Adds a key that is new. The value is an immediate, or that of a root. */
static bool dictionary_put(struct world *world, const eden_value *dictionary, enum world_site site, int64_t key,
                           const eden_value *value) {
    eden_value association = make(world, site);
    if (association == EDEN_NONE) {
        return false;
    }
    int_put(world, association, ASSOCIATION_KEY, key);
    eden_slot_set(world->mutator, association, ASSOCIATION_VALUE, *value);
    eden_value array = eden_slot(*dictionary, DICTIONARY_ARRAY);
    size_t at = (size_t)key % eden_slot_count(array);
    while (eden_slot(array, at) != EDEN_NONE) {
        at = (at + 1) % eden_slot_count(array);
    }
    eden_slot_set(world->mutator, array, at, association);
    int_put(world, *dictionary, DICTIONARY_TALLY, int_at(*dictionary, DICTIONARY_TALLY) + 1);
    return true;
}

/* The value of a key that is there. */
static eden_value dictionary_at(eden_value dictionary, int64_t key) {
    eden_value array = eden_slot(dictionary, DICTIONARY_ARRAY);
    size_t at = (size_t)key % eden_slot_count(array);
    while (int_at(eden_slot(array, at), ASSOCIATION_KEY) != key) {
        at = (at + 1) % eden_slot_count(array);
    }
    return eden_slot(eden_slot(array, at), ASSOCIATION_VALUE);
}

static eden_value generator_make(struct world *world) {
    enum { MULTIPLIER = 742938285, MODULUS = 2147483647 };
    eden_value generator = make(world, SITE_GENERATOR);
    if (generator != EDEN_NONE) {
        int_put(world, generator, GENERATOR_STATE, 1 + random_below(&world->random, MODULUS - 1));
        int_put(world, generator, GENERATOR_MULTIPLIER, MULTIPLIER);
        int_put(world, generator, GENERATOR_MODULUS, MODULUS);
    }
    return generator;
}

/* A number from 0 to n - 1. Does not collect. */
static int64_t below(struct world *world, eden_value generator, int64_t n) {
    int64_t modulus = int_at(generator, GENERATOR_MODULUS);
    int64_t state = int_at(generator, GENERATOR_STATE) * int_at(generator, GENERATOR_MULTIPLIER) % modulus;
    int_put(world, generator, GENERATOR_STATE, state);
    return (state - 1) * n / (modulus - 1);
}

/* ---- animals ------------------------------------------------------------------------------------------------------
 */

static const struct rules {
    int64_t life_least, life_spread, start_least, start_spread, respire, breed_energy, breed_odds, crowd;
} rules[SPECIES] = {
    [GOAT] = {60, 60, 40, 80, 5, 120, 6, 0},
    [WOLF] = {80, 80, 100, 200, 7, 320, 8, 8},
};

/* What a task has: slots of a frame. */
enum { ANIMAT, PLACE, GENERATOR_OF_TASK, ARGUMENTS, PATCHES, WEIGHTS, MEMORY, LOCALS };

/* The attributes of ANIMAT that are numbers, while a task changes them. */
struct state {
    int64_t energy, age, lifespan;
};

static eden_value patch_at(const struct world *world, int64_t x, int64_t y) {
    x = (x + world->width) % world->width, y = (y + world->height) % world->height;
    return eden_slot(world->roots[ROOT_PATCHES], (size_t)(y * world->width + x));
}
static eden_value patch_of(const struct world *world, eden_value place) {
    return patch_at(world, int_at(place, POINT_X), int_at(place, POINT_Y));
}

/* ANIMAT comes to stand at PLACE. */
static void arrive(struct world *world, const eden_value *local, enum species species) {
    eden_value patch = patch_of(world, local[PLACE]);
    int_put(world, patch, PATCH_COUNTS + species, int_at(patch, PATCH_COUNTS + species) + 1);
    if (species == GOAT) {
        eden_slot_set(world->mutator, local[ANIMAT], ANIMAT_BESIDE, eden_slot(patch, PATCH_GOATS));
        eden_slot_set(world->mutator, patch, PATCH_GOATS, local[ANIMAT]);
    }
}

static void leave(struct world *world, enum species species, eden_value animat, eden_value patch) {
    int_put(world, patch, PATCH_COUNTS + species, int_at(patch, PATCH_COUNTS + species) - 1);
    if (species == GOAT) {
        eden_value before = patch;
        size_t slot = PATCH_GOATS;
        while (eden_slot(before, slot) != animat) {
            before = eden_slot(before, slot);
            slot = ANIMAT_BESIDE;
        }
        eden_slot_set(world->mutator, before, slot, eden_slot(animat, ANIMAT_BESIDE));
    }
}

static void die(struct world *world, enum species species, eden_value animat, eden_value patch, int64_t lost) {
    leave(world, species, animat, patch);
    eden_slot_set(world->mutator, animat, ANIMAT_MEMORY, EDEN_NONE);
    world->herds[species].deaths++;
    world->lost += lost;
}

/* ANIMAT gets a new memory: of PLACE, and of the numbers. */
static bool remember(struct world *world, eden_value *local, const struct state *state) {
    const eden_value numbers[] = {[KEY_ENERGY] = eden_int(state->energy),
                                  [KEY_AGE] = eden_int(state->age),
                                  [KEY_LIFESPAN] = eden_int(state->lifespan)};
    if (!dictionary_make(world, &local[MEMORY], SITE_MEMORY, SITE_MEMORY_ARRAY)) {
        return false;
    }
    for (int64_t key = KEY_ENERGY; key <= KEY_PLACE; key++) {
        const eden_value *value = key == KEY_PLACE ? &local[PLACE] : &numbers[key];
        if (!dictionary_put(world, &local[MEMORY], SITE_ATTRIBUTE, key, value)) {
            return false;
        }
    }
    eden_slot_set(world->mutator, local[ANIMAT], ANIMAT_MEMORY, local[MEMORY]);
    return true;
}

/* ANIMAT becomes a new animal at PLACE, the last of its herd. */
static bool animat_make(struct world *world, eden_value *local, enum species species, const struct state *state) {
    eden_value *herd = &world->roots[ROOT_HERDS + species];
    size_t count = world->herds[species].count;
    if (count == eden_slot_count(*herd)) {
        eden_value larger = make_array(world, SITE_HERD, 2 * count);
        if (larger == EDEN_NONE) {
            return false;
        }
        eden_slots_copy(world->mutator, larger, 0, *herd, 0, count);
        *herd = larger;
    }
    local[ANIMAT] = make(world, SITE_GOAT + species);
    if (local[ANIMAT] == EDEN_NONE || !remember(world, local, state)) {
        return false;
    }
    eden_slot_set(world->mutator, *herd, count, local[ANIMAT]);
    world->herds[species].count++;
    arrive(world, local, species);
    return true;
}

/* ---- tasks --------------------------------------------------------------------------------------------------------
 */

/* What is in a patch that matters to a task: food, or others of its species. */
static int64_t weight(eden_value patch, enum species species, enum task task) {
    size_t slot = task == REPRODUCE ? PATCH_COUNTS + species : species == GOAT ? PATCH_GRASS : PATCH_COUNTS + GOAT;
    return int_at(patch, slot);
}

/* ARGUMENTS: the nine patches around PLACE, its own first, and their weights. */
static bool perceive(struct world *world, eden_value *local, enum species species, enum task task) {
    local[PATCHES] = make_array(world, SITE_AROUND, AROUND);
    local[WEIGHTS] = local[PATCHES] == EDEN_NONE ? EDEN_NONE : make_array(world, SITE_WEIGHTS, AROUND);
    if (local[WEIGHTS] == EDEN_NONE) {
        return false;
    }
    int64_t x = int_at(local[PLACE], POINT_X), y = int_at(local[PLACE], POINT_Y);
    for (int64_t i = 0; i < AROUND; i++) { /* 0, 1, -1 each way */
        eden_value patch = patch_at(world, x + (i % 3 + 1) % 3 - 1, y + (i / 3 + 1) % 3 - 1);
        eden_slot_set(world->mutator, local[PATCHES], (size_t)i, patch);
        int_put(world, local[WEIGHTS], (size_t)i, weight(patch, species, task));
    }
    return dictionary_make(world, &local[ARGUMENTS], SITE_ARGUMENTS, SITE_ARGUMENTS_ARRAY) &&
           dictionary_put(world, &local[ARGUMENTS], SITE_ARGUMENT, KEY_AROUND, &local[PATCHES]) &&
           dictionary_put(world, &local[ARGUMENTS], SITE_ARGUMENT, KEY_WEIGHTS, &local[WEIGHTS]);
}

static int64_t total_weight(const eden_value *local) {
    eden_value weights = dictionary_at(local[ARGUMENTS], KEY_WEIGHTS);
    int64_t total = 0;
    for (size_t i = 0; i < AROUND; i++) {
        total += int_at(weights, i);
    }
    return total;
}

static int64_t choose(struct world *world, const eden_value *local, bool is_alike) {
    eden_value weights = dictionary_at(local[ARGUMENTS], KEY_WEIGHTS);
    int64_t total = total_weight(local);
    if (is_alike || total == 0) {
        return below(world, local[GENERATOR_OF_TASK], AROUND);
    }
    int64_t lot = below(world, local[GENERATOR_OF_TASK], total);
    size_t chosen = 0;
    while (lot >= int_at(weights, chosen)) {
        lot -= int_at(weights, chosen++);
    }
    return (int64_t)chosen;
}

/* Each task changes *state, and PLACE; if ANIMAT dies it says so in *is_dead. */
static bool move(struct world *world, eden_value *local, enum species species, struct state *state, bool *is_dead) {
    eden_value around = dictionary_at(local[ARGUMENTS], KEY_AROUND);
    int64_t paid = state->energy < rules[species].respire ? state->energy : rules[species].respire;
    *is_dead = ++state->age > state->lifespan || paid == state->energy;
    world->respired += paid;
    state->energy -= paid;
    if (*is_dead) {
        die(world, species, local[ANIMAT], eden_slot(around, 0), state->energy);
        return true;
    }
    leave(world, species, local[ANIMAT], eden_slot(around, 0));
    int64_t way = choose(world, local, species == WOLF && state->energy >= WOLF_SATED);
    int64_t x = int_at(local[PLACE], POINT_X) + (way % 3 + 1) % 3 - 1 + world->width;
    int64_t y = int_at(local[PLACE], POINT_Y) + (way / 3 + 1) % 3 - 1 + world->height;
    local[PLACE] = place_make(world, x % world->width, y % world->height);
    if (local[PLACE] != EDEN_NONE) {
        arrive(world, local, species);
    }
    return local[PLACE] != EDEN_NONE;
}

static void eat(struct world *world, const eden_value *local, enum species species, struct state *state) {
    eden_value patch = eden_slot(dictionary_at(local[ARGUMENTS], KEY_AROUND), 0);
    int64_t food = int_at(dictionary_at(local[ARGUMENTS], KEY_WEIGHTS), 0);
    if (species == GOAT) {
        int64_t appetite = state->energy > GOAT_FULL ? 0 : GOAT_FULL - state->energy;
        int64_t bite = appetite < BITE ? appetite : BITE;
        int64_t intake = food < bite ? food : bite;
        int_put(world, patch, PATCH_GRASS, food - intake);
        state->energy += intake;
    } else if (food > 0 && state->energy < WOLF_SATED && below(world, local[GENERATOR_OF_TASK], CATCH_ODDS) == 0) {
        eden_value goat = eden_slot(patch, PATCH_GOATS);
        int64_t energy = eden_int_value(dictionary_at(eden_slot(goat, ANIMAT_MEMORY), KEY_ENERGY));
        die(world, GOAT, goat, patch, energy - energy * 3 / 4);
        state->energy += energy * 3 / 4;
    }
}

static bool reproduce(struct world *world, eden_value *local, enum species species, struct state *state) {
    const struct rules *r = &rules[species];
    int64_t odds = r->breed_odds + r->crowd * (total_weight(local) - 1);
    if (state->energy < r->breed_energy || below(world, local[GENERATOR_OF_TASK], odds) != 0) {
        return true;
    }
    struct state young = {.energy = state->energy / 2};
    young.lifespan = r->life_least + below(world, local[GENERATOR_OF_TASK], r->life_spread);
    state->energy -= young.energy;
    world->herds[species].births++;
    EDEN_FRAME(world->mutator, born, LOCALS);
    born[PLACE] = local[PLACE];
    return animat_make(world, born, species, &young);
}

static bool take_task(struct world *world, eden_value *local, enum species species, enum task task) {
    eden_value memory = eden_slot(local[ANIMAT], ANIMAT_MEMORY);
    struct state state = {eden_int_value(dictionary_at(memory, KEY_ENERGY)),
                          eden_int_value(dictionary_at(memory, KEY_AGE)),
                          eden_int_value(dictionary_at(memory, KEY_LIFESPAN))};
    bool is_dead = false;
    local[PLACE] = dictionary_at(memory, KEY_PLACE);
    local[GENERATOR_OF_TASK] = generator_make(world);
    if (local[GENERATOR_OF_TASK] == EDEN_NONE || !perceive(world, local, species, task) ||
        (task == MOVE && !move(world, local, species, &state, &is_dead)) ||
        (task == REPRODUCE && !reproduce(world, local, species, &state))) {
        return false;
    }
    if (task == EAT) {
        eat(world, local, species, &state);
    }
    return is_dead || remember(world, local, &state);
}

/* ---- the world ----------------------------------------------------------------------------------------------------
 */

static bool add_first(struct world *world, enum species species) {
    const struct rules *r = &rules[species];
    EDEN_FRAME(world->mutator, local, LOCALS);
    int64_t x = random_below(&world->random, world->width), y = random_below(&world->random, world->height);
    struct state state = {.lifespan = r->life_least + random_below(&world->random, r->life_spread)};
    state.age = random_below(&world->random, state.lifespan);
    state.energy = r->start_least + random_below(&world->random, r->start_spread);
    local[PLACE] = place_make(world, x, y);
    return local[PLACE] != EDEN_NONE && animat_make(world, local, species, &state);
}

static bool make_patches(struct world *world) {
    size_t count = (size_t)(world->width * world->height);
    world->roots[ROOT_PATCHES] = make_array(world, SITE_PATCHES, count);
    for (size_t i = 0; world->roots[ROOT_PATCHES] != EDEN_NONE && i < count; i++) {
        eden_value patch = make(world, SITE_PATCH);
        if (patch == EDEN_NONE) {
            return false;
        }
        int_put(world, patch, PATCH_GRASS, random_below(&world->random, GRASS_MOST + 1));
        int_put(world, patch, PATCH_COUNTS + GOAT, 0);
        int_put(world, patch, PATCH_COUNTS + WOLF, 0);
        eden_slot_set(world->mutator, world->roots[ROOT_PATCHES], i, patch);
    }
    return world->roots[ROOT_PATCHES] != EDEN_NONE;
}

bool world_make(struct world *world, const int64_t animats[SPECIES]) {
    if (!make_patches(world)) {
        return false;
    }
    for (size_t s = 0; s < SPECIES; s++) {
        world->roots[ROOT_HERDS + s] = make_array(world, SITE_HERD, 16);
        if (world->roots[ROOT_HERDS + s] == EDEN_NONE) {
            return false;
        }
        for (int64_t i = 0; i < animats[s]; i++) {
            if (!add_first(world, (enum species)s)) {
                return false;
            }
        }
    }
    uint64_t ignored = 0;
    world->initial = world_energy(world, &ignored);
    return true;
}

static void grow(struct world *world) {
    for (size_t i = 0; i < eden_slot_count(world->roots[ROOT_PATCHES]); i++) {
        eden_value patch = eden_slot(world->roots[ROOT_PATCHES], i);
        int64_t room = GRASS_MOST - int_at(patch, PATCH_GRASS);
        int64_t growth = room < GRASS_GROWTH ? room : GRASS_GROWTH;
        int_put(world, patch, PATCH_GRASS, int_at(patch, PATCH_GRASS) + growth);
        world->grown += growth;
    }
}

/* The dead leave their herd, whose order is kept. */
static void bury(struct world *world, enum species species) {
    struct herd *herd = &world->herds[species];
    eden_value array = world->roots[ROOT_HERDS + species];
    size_t alive = 0;
    for (size_t i = 0; i < herd->count; i++) {
        eden_value animat = eden_slot(array, i);
        eden_slot_set(world->mutator, array, i, EDEN_NONE);
        if (eden_slot(animat, ANIMAT_MEMORY) != EDEN_NONE) {
            eden_slot_set(world->mutator, array, alive++, animat);
        }
    }
    herd->count = alive;
}

bool world_step(struct world *world) {
    EDEN_FRAME(world->mutator, local, LOCALS);
    grow(world);
    for (size_t s = 0; s < SPECIES; s++) {
        size_t count = world->herds[s].count;
        for (size_t i = 0; i < count * TASKS; i++) {
            local[ANIMAT] = eden_slot(world->roots[ROOT_HERDS + s], i / TASKS);
            if (eden_slot(local[ANIMAT], ANIMAT_MEMORY) != EDEN_NONE &&
                !take_task(world, local, (enum species)s, (enum task)(i % TASKS))) {
                return false;
            }
        }
    }
    for (size_t s = 0; s < SPECIES; s++) {
        bury(world, (enum species)s);
    }
    return true;
}

static void add_to(uint64_t *sum, int64_t number) { *sum = (*sum ^ (uint64_t)number) * 0x100000001B3u; }

int64_t world_energy(const struct world *world, uint64_t *sum) {
    int64_t energy = 0;
    for (size_t i = 0; i < eden_slot_count(world->roots[ROOT_PATCHES]); i++) {
        int64_t grass = int_at(eden_slot(world->roots[ROOT_PATCHES], i), PATCH_GRASS);
        add_to(sum, grass);
        energy += grass;
    }
    for (size_t s = 0; s < SPECIES; s++) {
        for (size_t i = 0; i < world->herds[s].count; i++) {
            eden_value memory = eden_slot(eden_slot(world->roots[ROOT_HERDS + s], i), ANIMAT_MEMORY);
            eden_value place = dictionary_at(memory, KEY_PLACE);
            add_to(sum, int_at(place, POINT_Y) * world->width + int_at(place, POINT_X));
            add_to(sum, eden_int_value(dictionary_at(memory, KEY_ENERGY)));
            energy += eden_int_value(dictionary_at(memory, KEY_ENERGY));
        }
    }
    return energy;
}
