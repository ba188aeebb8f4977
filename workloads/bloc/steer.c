/* How a boid steers: the three rules of C. W. Reynolds, "Flocks, herds and schools: a distributed behavioral model",
 * SIGGRAPH 1987, a pace to keep, without which averages of velocities would bring a flock to rest, and flight from the
 * pointer.
 *
 * With the boid's velocity v, its neighbours in the order of grid.c, the offset d to each and its velocity u, all of
 * them Points, sums from 0@0 in that order and dd = d.x*d.x + d.y*d.y:
 *
 *   alignment    ((sum of u) / count - v) * ALIGNMENT                          steer as the others do
 *   cohesion     ((sum of d) / count) * COHESION                               towards where they are
 *   separation   (0@0 - d1/dd1 - d2/dd2 - ...) * SEPARATION, of those with     away from the nearest
 *                TOUCH <= dd < SEPARATION_SIGHT squared
 *   pace         v * ((CRUISE / |v| - 1) * PACE), if v.x*v.x + v.y*v.y is      neither dawdle nor rush
 *                TOUCH or more; otherwise 0@0
 *   flight       (d / dd) * -FLIGHT, d the offset to where the stage saw       away from the pointer
 *                the pointer last, if it has not left since and
 *                TOUCH <= dd < FLIGHT_SIGHT squared; otherwise 0@0
 *
 * The acceleration is (((alignment + cohesion) + separation) + pace) + flight, at most FORCE_LIMIT long; a boid without
 * neighbours has 0@0 for the first four. Each operation on Points makes a new one. */
#include "flock.h"

#include <math.h>

#define ALIGNMENT 0.0625
#define COHESION 0.001
#define SEPARATION 2.0
#define SEPARATION_SIGHT 18.0
#define CRUISE 2.5 /* pixels a frame */
#define PACE 0.0625
#define FLIGHT 16.0
#define FLIGHT_SIGHT 90.0
#define TOUCH 1e-6 /* square pixels; below that the direction is undefined */
#define FORCE_LIMIT 0.25

enum sum { SUM_VELOCITIES, SUM_OFFSETS };

/* The sum of the neighbours' velocities, or of the offsets to them. */
static eden_value sum(struct scene *scene, enum site site, eden_value neighbours, enum sum of) {
    enum { NEIGHBOURS, SUM, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[NEIGHBOURS] = neighbours;
    local[SUM] = point_new(scene, site, 0.0, 0.0);
    size_t count = collection_count(local[NEIGHBOURS]);
    for (size_t i = 0; i < count && local[SUM] != EDEN_NONE; i++) {
        eden_value neighbour = collection_at(local[NEIGHBOURS], i);
        eden_value term = of == SUM_OFFSETS ? eden_slot(neighbour, NEIGHBOUR_OFFSET)
                                            : eden_slot(eden_slot(neighbour, NEIGHBOUR_BOID), BOID_VELOCITY);
        local[SUM] = point_plus(scene, site, local[SUM], term);
    }
    return local[SUM];
}

static eden_value alignment(struct scene *scene, eden_value boid, eden_value neighbours) {
    enum site site = SITE_ALIGNMENT;
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = boid;
    double count = (double)collection_count(neighbours);
    eden_value point = sum(scene, site, neighbours, SUM_VELOCITIES);
    point = point == EDEN_NONE ? point : point_over(scene, site, point, count);
    point = point == EDEN_NONE ? point : point_minus(scene, site, point, eden_slot(local[0], BOID_VELOCITY));
    return point == EDEN_NONE ? point : point_times(scene, site, point, ALIGNMENT);
}

static eden_value cohesion(struct scene *scene, eden_value neighbours) {
    enum site site = SITE_COHESION;
    double count = (double)collection_count(neighbours);
    eden_value point = sum(scene, site, neighbours, SUM_OFFSETS);
    point = point == EDEN_NONE ? point : point_over(scene, site, point, count);
    return point == EDEN_NONE ? point : point_times(scene, site, point, COHESION);
}

static eden_value separation(struct scene *scene, eden_value neighbours) {
    enum { NEIGHBOURS, SUM, LOCALS };
    enum site site = SITE_SEPARATION;
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[NEIGHBOURS] = neighbours;
    local[SUM] = point_new(scene, site, 0.0, 0.0);
    size_t count = collection_count(local[NEIGHBOURS]);
    for (size_t i = 0; i < count && local[SUM] != EDEN_NONE; i++) {
        eden_value neighbour = collection_at(local[NEIGHBOURS], i);
        eden_value offset = eden_slot(neighbour, NEIGHBOUR_OFFSET);
        double distance2 = point_length2(offset);
        if (distance2 >= TOUCH && distance2 < SEPARATION_SIGHT * SEPARATION_SIGHT) {
            eden_value push = point_over(scene, site, offset, distance2);
            local[SUM] = push == EDEN_NONE ? push : point_minus(scene, site, local[SUM], push);
        }
    }
    return local[SUM] == EDEN_NONE ? EDEN_NONE : point_times(scene, site, local[SUM], SEPARATION);
}

static eden_value pace(struct scene *scene, eden_value boid) {
    eden_value velocity = eden_slot(boid, BOID_VELOCITY);
    double length2 = point_length2(velocity);
    return length2 < TOUCH ? point_new(scene, SITE_PACE, 0.0, 0.0)
                           : point_times(scene, SITE_PACE, velocity, (CRUISE / sqrt(length2) - 1.0) * PACE);
}

/* The pointer stands in whole coordinates, which doubles hold exactly. */
static eden_value flight(struct scene *scene, eden_value boid) {
    enum site site = SITE_FLEE;
    eden_value pointer = eden_slot(scene->roots[ROOT_FLOCK], FLOCK_POINTER);
    if (pointer == EDEN_NONE) {
        return point_new(scene, site, 0.0, 0.0);
    }
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = boid;
    eden_value point = point_new(scene, site, (double)whole(pointer, POINT_X), (double)whole(pointer, POINT_Y));
    point = point == EDEN_NONE ? point : offset_new(scene, eden_slot(local[0], BOID_POSITION), point);
    if (point == EDEN_NONE) {
        return point;
    }
    double distance2 = point_length2(point);
    if (distance2 < TOUCH || distance2 >= FLIGHT_SIGHT * FLIGHT_SIGHT) {
        return point_new(scene, site, 0.0, 0.0);
    }
    point = point_over(scene, site, point, distance2);
    return point == EDEN_NONE ? point : point_times(scene, site, point, -FLIGHT);
}

/* What depends on neighbours, 0@0 where there are no neighbours. */
static eden_value flocking(struct scene *scene, eden_value boid, eden_value neighbours) {
    enum { BOID, NEIGHBOURS, SUM, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    if (collection_count(neighbours) == 0) {
        return point_new(scene, SITE_ACCELERATION, 0.0, 0.0);
    }
    local[BOID] = boid;
    local[NEIGHBOURS] = neighbours;
    local[SUM] = alignment(scene, boid, neighbours);
    if (local[SUM] == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_value term = cohesion(scene, local[NEIGHBOURS]);
    local[SUM] = term == EDEN_NONE ? term : point_plus(scene, SITE_ACCELERATION, local[SUM], term);
    if (local[SUM] == EDEN_NONE) {
        return EDEN_NONE;
    }
    term = separation(scene, local[NEIGHBOURS]);
    local[SUM] = term == EDEN_NONE ? term : point_plus(scene, SITE_ACCELERATION, local[SUM], term);
    if (local[SUM] == EDEN_NONE) {
        return EDEN_NONE;
    }
    term = pace(scene, local[BOID]);
    return term == EDEN_NONE ? term : point_plus(scene, SITE_ACCELERATION, local[SUM], term);
}

eden_value steer(struct scene *scene, eden_value boid, eden_value neighbours) {
    enum { BOID, SUM, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[BOID] = boid;
    local[SUM] = flocking(scene, boid, neighbours);
    if (local[SUM] == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_value point = flight(scene, local[BOID]);
    point = point == EDEN_NONE ? point : point_plus(scene, SITE_ACCELERATION, local[SUM], point);
    return point == EDEN_NONE ? point : point_limited(scene, SITE_ACCELERATION, point, FORCE_LIMIT);
}
