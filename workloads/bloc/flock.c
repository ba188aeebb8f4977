/* The flock's step.
 *
 * All boids look at the flock as it stands and choose their accelerations (steer.c); then all move, in their order:
 *
 *   velocity   v + acceleration; times (100 - drag) / 100 if there is drag; at most SPEED_LIMIT long
 *   position   p + velocity, wrapped: a coordinate below 0 gets the world's size added, then one at or above the
 *              world's size has it taken away
 *
 * A boid that wraps begins its trail anew, as a line across the whole stage is nobody's way. */
#include "flock.h"

static bool boid_new(struct scene *scene, size_t index) {
    enum { BOID, LOCALS };
    eden_mutator *m = scene->mutator;
    EDEN_FRAME(m, local, LOCALS);
    local[BOID] = scene_new(scene, SITE_BOID);
    if (local[BOID] == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, eden_slot(scene->roots[ROOT_FLOCK], FLOCK_BOIDS), index, local[BOID]);
    whole_set(m, local[BOID], BOID_NEIGHBOURS, 0);
    double x = random_uniform(&scene->random) * WORLD_WIDTH;
    double y = random_uniform(&scene->random) * WORLD_HEIGHT;
    eden_value point = point_new(scene, SITE_BOID_START, x, y);
    if (point == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, local[BOID], BOID_POSITION, point);
    x = random_uniform(&scene->random) * SPEED_LIMIT - SPEED_LIMIT / 2;
    y = random_uniform(&scene->random) * SPEED_LIMIT - SPEED_LIMIT / 2;
    point = point_new(scene, SITE_BOID_START, x, y);
    if (point == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, local[BOID], BOID_VELOCITY, point);
    return true;
}

bool flock_new(struct scene *scene) {
    eden_value flock = scene_new(scene, SITE_FLOCK);
    if (flock == EDEN_NONE) {
        return false;
    }
    scene->roots[ROOT_FLOCK] = flock;
    eden_value boids = scene_new_slots(scene, SITE_FLOCK_BOIDS, (size_t)scene->boids);
    if (boids == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, scene->roots[ROOT_FLOCK], FLOCK_BOIDS, boids);
    bool ok = true;
    for (size_t i = 0; i < flock_size(scene) && ok; i++) {
        ok = boid_new(scene, i);
    }
    return ok;
}

/* Array of the boids' accelerations; notes the number of each one's neighbours. */
static eden_value accelerations(struct scene *scene) {
    enum { ACCELERATIONS, BOID, LOCALS };
    eden_mutator *m = scene->mutator;
    EDEN_FRAME(m, local, LOCALS);
    local[ACCELERATIONS] = scene_new_slots(scene, SITE_ACCELERATIONS, flock_size(scene));
    if (local[ACCELERATIONS] == EDEN_NONE) {
        return EDEN_NONE;
    }
    for (size_t i = 0; i < flock_size(scene); i++) {
        local[BOID] = flock_boid(scene, i);
        eden_value neighbours = grid_neighbours(scene, local[BOID]);
        if (neighbours == EDEN_NONE) {
            return EDEN_NONE;
        }
        whole_set(m, local[BOID], BOID_NEIGHBOURS, (int64_t)collection_count(neighbours));
        eden_value acceleration = steer(scene, local[BOID], neighbours);
        if (acceleration == EDEN_NONE) {
            return EDEN_NONE;
        }
        eden_slot_set(m, local[ACCELERATIONS], i, acceleration);
    }
    return local[ACCELERATIONS];
}

static bool accelerate(struct scene *scene, eden_value boid, eden_value acceleration) {
    enum site site = SITE_VELOCITY;
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = boid;
    eden_value point = point_plus(scene, site, eden_slot(boid, BOID_VELOCITY), acceleration);
    if (point != EDEN_NONE && scene->drag > 0) {
        point = point_times(scene, site, point, (double)(100 - scene->drag) / 100.0);
    }
    point = point == EDEN_NONE ? point : point_limited(scene, site, point, SPEED_LIMIT);
    if (point != EDEN_NONE) {
        eden_slot_set(scene->mutator, local[0], BOID_VELOCITY, point);
    }
    return point != EDEN_NONE;
}

static double wrapped(double coordinate, double size) {
    coordinate = coordinate < 0 ? coordinate + size : coordinate;
    return coordinate >= size ? coordinate - size : coordinate;
}

static bool move(struct scene *scene, eden_value boid) {
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = boid;
    eden_value position = eden_slot(boid, BOID_POSITION), velocity = eden_slot(boid, BOID_VELOCITY);
    double to_x = point_x(position) + point_x(velocity), to_y = point_y(position) + point_y(velocity);
    double x = wrapped(to_x, WORLD_WIDTH), y = wrapped(to_y, WORLD_HEIGHT);
    position = point_new(scene, SITE_POSITION, x, y);
    if (position == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, local[0], BOID_POSITION, position);
    eden_value trail = eden_slot(eden_slot(local[0], BOID_TRAIL_ELEMENT), ELEMENT_CONTENT);
    if (x != to_x || y != to_y) {
        trail_clear(scene, trail);
    }
    return trail_add(scene, trail, position);
}

bool flock_step(struct scene *scene) {
    EDEN_FRAME(scene->mutator, local, 1);
    eden_value grid = grid_new(scene);
    if (grid == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, scene->roots[ROOT_FLOCK], FLOCK_GRID, grid);
    local[0] = accelerations(scene);
    bool ok = local[0] != EDEN_NONE;
    for (size_t i = 0; i < flock_size(scene) && ok; i++) {
        ok = accelerate(scene, flock_boid(scene, i), eden_slot(local[0], i)) && move(scene, flock_boid(scene, i));
    }
    /* Where the boids stood; the next step makes its own. */
    eden_slot_set(scene->mutator, scene->roots[ROOT_FLOCK], FLOCK_GRID, EDEN_NONE);
    return ok;
}
