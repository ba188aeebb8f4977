/* Which goats are where: Re:Mobidyc's interaction space.
 *
 * One cell a patch, with the goats that stand there at t in the order of their list; made anew each step, since nearly
 * all have moved. Whoever is within REACH, one patch's side, of a place is in one of the nine patches around it; of
 * those the nearest is the one with the least square of the distance, then with the least number. */
#include "space.h"

#include "list.h"

static eden_value place_of(eden_value animat) { return eden_slot(eden_slot(animat, ANIMAT_NOW), STATE_PLACE); }

static size_t cell_index(const struct world *world, eden_value patch) {
    return (size_t)(int_at(patch, PATCH_ROW) * world->width + int_at(patch, PATCH_COLUMN));
}

static bool space_add(struct world *world, const eden_value *goat) {
    EDEN_FRAME(world->mutator, local, 1);
    size_t index = cell_index(world, patch_at(world, place_of(*goat)));
    local[0] = eden_slot(world->roots[ROOT_SPACE], index);
    if (local[0] == EDEN_NONE) {
        if (!list_new(world, &local[0], SITE_CELL, SITE_CELL_GROW)) {
            return false;
        }
        eden_slot_set(world->mutator, world->roots[ROOT_SPACE], index, local[0]);
    }
    return list_add(world, &local[0], goat, SITE_CELL_GROW);
}

bool space_new(struct world *world) {
    EDEN_FRAME(world->mutator, local, 1);
    world->roots[ROOT_SPACE] =
        eden_new_slots(world->mutator, world->sites[SITE_SPACE], (size_t)(world->width * world->height));
    if (world->roots[ROOT_SPACE] == EDEN_NONE) {
        return world_exhausted(world);
    }
    size_t count = list_size(world->roots[ROOT_ANIMATS + GOAT]);
    for (size_t i = 0; i < count; i++) {
        local[0] = list_at(world->roots[ROOT_ANIMATS + GOAT], i);
        if (!space_add(world, &local[0])) {
            return false;
        }
    }
    return true;
}

struct search {
    const eden_value *place;
    eden_value *nearest;
    int64_t squared; /* of its distance */
};

static bool is_nearer(const struct search *search, eden_value goat, int64_t squared) {
    if (*search->nearest == EDEN_NONE) {
        return squared <= (int64_t)REACH * REACH;
    }
    return squared < search->squared ||
           (squared == search->squared && int_at(goat, ANIMAT_NUMBER) < int_at(*search->nearest, ANIMAT_NUMBER));
}

/* Looks at the goats of a cell, a root. */
static bool search_cell(struct world *world, struct search *search, const eden_value *cell) {
    size_t count = *cell == EDEN_NONE ? 0 : list_size(*cell);
    for (size_t i = 0; i < count; i++) {
        if (!animat_is_alive(list_at(*cell, i))) {
            continue;
        }
        eden_value vector = vector_new(world, SITE_VECTOR_CHASE, *search->place, place_of(list_at(*cell, i)));
        if (vector == EDEN_NONE) {
            return false;
        }
        eden_value goat = list_at(*cell, i);
        int64_t squared = vector_squared(vector);
        if (is_nearer(search, goat, squared)) {
            search->squared = squared;
            *search->nearest = goat;
        }
    }
    return true;
}

bool space_nearest(struct world *world, const eden_value *place, eden_value *nearest) {
    enum { AROUND, CELL, LOCALS };
    EDEN_FRAME(world->mutator, local, LOCALS);
    struct search search = {place, nearest, 0};
    *nearest = EDEN_NONE;
    local[AROUND] = patches_around(world, *place);
    if (local[AROUND] == EDEN_NONE) {
        return false;
    }
    for (size_t i = 0; i < eden_slot_count(local[AROUND]); i++) {
        local[CELL] = eden_slot(world->roots[ROOT_SPACE], cell_index(world, eden_slot(local[AROUND], i)));
        if (!search_cell(world, &search, &local[CELL])) {
            return false;
        }
    }
    return true;
}
