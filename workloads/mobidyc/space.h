/* Where things are: points and vectors on the torus, patches and their grass, which goats are where. */
#ifndef AGENTS_SPACE_H
#define AGENTS_SPACE_H

#include "world.h"

/* Unless it says otherwise, what is here may collect and, where memory is exhausted, returns false or EDEN_NONE after
 * program_fail. What is given by value need not be a root: it is not used after the allocation. */

/* A Point; the coordinates are brought into the world. */
eden_value place_new(struct world *world, enum site site, int64_t x, int64_t y);
/* The shortest vector between two places: a Point. */
eden_value vector_new(struct world *world, enum site site, eden_value from, eden_value to);
/* The square of its length. Does not collect. */
static inline int64_t vector_squared(eden_value vector) {
    int64_t x = int_at(vector, POINT_X), y = int_at(vector, POINT_Y);
    return x * x + y * y;
}

/* Makes the patches, with grass at random. */
bool patches_new(struct world *world);
/* Each patch gets its state for t + 1. */
bool patches_grow(struct world *world);
/* t + 1 becomes t. The grass of all patches. Does not collect. */
int64_t patches_advance(struct world *world);
/* The patch of a place. Does not collect. */
eden_value patch_at(const struct world *world, eden_value place);
/* An Array of the nine patches around a place: its own, then row by row. */
eden_value patches_around(struct world *world, eden_value place);

/* ROOT_SPACE becomes the goats of each patch, by their places at t. */
bool space_new(struct world *world);
/* *nearest, a root, becomes the nearest living goat within REACH of *place, a root, or EDEN_NONE. */
bool space_nearest(struct world *world, const eden_value *place, eden_value *nearest);

#endif
