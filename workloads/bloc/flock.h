/* The flock: boids that see their neighbours and steer by them. What makes objects may collect; false or EDEN_NONE
 * where memory is exhausted. */
#ifndef BOIDS_FLOCK_H
#define BOIDS_FLOCK_H

#include "objects.h"

#define SIGHT 50.0 /* pixels: how far a boid sees others */

/* Makes the boids, at random places with random velocities, in roots[ROOT_FLOCK]; they have no elements yet. */
bool flock_new(struct scene *scene);

/* A new FlockGrid of the flock's boids where they stand. */
eden_value grid_new(struct scene *scene);
/* The neighbours of a boid: an OrderedCollection of BoidNeighbours, in grid.c's order. */
eden_value grid_neighbours(struct scene *scene, eden_value boid);
/* Point: the way from one place to another, the shorter one, as the world wraps around. */
eden_value offset_new(struct scene *scene, eden_value from, eden_value to);

/* Point: what the boid adds to its velocity, by the rules in steer.c. */
eden_value steer(struct scene *scene, eden_value boid, eden_value neighbours);

/* BoidTrails: the last scene->trail positions of a boid. */
eden_value trail_new(struct scene *scene);
bool trail_add(struct scene *scene, eden_value trail, eden_value position);
void trail_clear(struct scene *scene, eden_value trail);        /* never collects */
eden_value trail_points(struct scene *scene, eden_value trail); /* Array, the oldest first */

/* The number of boids. Never collects, nor does the next. */
static inline size_t flock_size(const struct scene *scene) {
    return eden_slot_count(eden_slot(scene->roots[ROOT_FLOCK], FLOCK_BOIDS));
}
static inline eden_value flock_boid(const struct scene *scene, size_t index) {
    return eden_slot(eden_slot(scene->roots[ROOT_FLOCK], FLOCK_BOIDS), index);
}

#endif
