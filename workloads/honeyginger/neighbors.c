/* Who is near whom: a map from partitions, squares of side h, to the particles in them, made anew at each step.
 *
 * Both the neighbors of a particle (closer than h) and their order (model.h) follow from positions alone. The search
 * looks at the partitions of the square from x - h to x + h; it misses no neighbor, because rounding keeps order: if
 * dx computed is below h, then so is what x - h computed is a bound of. */
#include "collection.h"
#include "model.h"
#include "point.h"

#include <math.h>

/* The partition that a place is in, as a point of integers. May collect. */
static bool index_point_at(struct simulation *s, eden_value map, eden_value place, eden_value *result) {
    return point_over(s, SITE_INDEX_POINT, place, float_value(eden_slot(map, MAP_STEP)), result) &&
           point_floor(s, SITE_INDEX_POINT, *result, result);
}

/* The key of a partition; 0 where the point is none of the map's. */
static int64_t index_in(eden_value point, eden_value size) {
    int64_t x = index_x(point), y = index_y(point);
    bool inside = x >= 0 && x < index_x(size) && y >= 0 && y < index_y(size);
    return inside ? x * index_y(size) + y + 1 : 0;
}

/* An empty map of the box. May collect. */
static bool map_new(struct simulation *s, eden_value *map) {
    enum { SIZE, PARTITIONS, LOCALS };
    eden_mutator *m = s->mutator;
    EDEN_FRAME(m, local, LOCALS);
    if (!point_new(s, SITE_MAP_SIZE, s->width / support, s->height / support, &local[SIZE]) ||
        !point_floor(s, SITE_MAP_SIZE, local[SIZE], &local[SIZE]) ||
        !index_point_new(s, SITE_MAP_SIZE, index_x(local[SIZE]) + 1, index_y(local[SIZE]) + 1, &local[SIZE]) ||
        !dictionary_new(s, SITE_MAP_PARTITIONS, &local[PARTITIONS])) {
        return false;
    }
    *map = eden_new(m, s->sites[SITE_MAP]);
    if (*map == EDEN_NONE) {
        return program_exhausted(s->program, m);
    }
    eden_slot_set(m, *map, MAP_STEP, eden_float(support));
    eden_slot_set(m, *map, MAP_SIZE, local[SIZE]);
    eden_slot_set(m, *map, MAP_PARTITIONS, local[PARTITIONS]);
    return true;
}

/* map and particle are roots. May collect. */
static bool map_add(struct simulation *s, const eden_value *map, const eden_value *particle) {
    enum { INDEX, PARTITION, PARTITIONS, LOCALS };
    EDEN_FRAME(s->mutator, local, LOCALS);
    if (!index_point_at(s, *map, eden_slot(*particle, PARTICLE_POSITION), &local[INDEX])) {
        return false;
    }
    int64_t key = index_in(local[INDEX], eden_slot(*map, MAP_SIZE));
    local[PARTITIONS] = eden_slot(*map, MAP_PARTITIONS);
    local[PARTITION] = dictionary_at(local[PARTITIONS], key);
    if (local[PARTITION] == EDEN_NONE && (!list_new(s, SITE_PARTITION, &local[PARTITION]) ||
                                          !dictionary_put(s, &local[PARTITIONS], key, &local[PARTITION]))) {
        return false;
    }
    return list_add(s, &local[PARTITION], particle);
}

/* What a search holds; MAP to NEIGHBORS do not change while it lasts. */
enum { MAP, PARTICLE, NEIGHBORS, FROM, TO, INDEX, PARTITION, OTHER, DISTANCE, FOUND, SEARCH };

/* Adds the neighbors that are in the partition. May collect. */
static bool search_partition(struct simulation *s, eden_value *local) {
    eden_value position = eden_slot(local[PARTICLE], PARTICLE_POSITION);
    double x = point_x(position), y = point_y(position);
    for (size_t i = 0; i < list_size(local[PARTITION]); i++) {
        local[OTHER] = list_at(local[PARTITION], i);
        eden_value place = eden_slot(local[OTHER], PARTICLE_POSITION);
        double dx = x - point_x(place), dy = y - point_y(place);
        double square = dx * dx + dy * dy;
        if (square < support * support &&
            !(float_new(s, sqrt(square), &local[DISTANCE]) &&
              association_new(s, SITE_NEIGHBOR, &local[OTHER], &local[DISTANCE], &local[FOUND]) &&
              list_add(s, &local[NEIGHBORS], &local[FOUND]))) {
            return false;
        }
    }
    return true;
}

/* The corners of the partitions to look at: FROM and TO become points of integers. May collect. */
static bool search_range(struct simulation *s, eden_value *local) {
    eden_value *radius = &local[INDEX];
    return point_new(s, SITE_RANGE, support, support, radius) &&
           point_minus(s, SITE_RANGE, eden_slot(local[PARTICLE], PARTICLE_POSITION), *radius, &local[FROM]) &&
           point_plus(s, SITE_RANGE, eden_slot(local[PARTICLE], PARTICLE_POSITION), *radius, &local[TO]) &&
           index_point_at(s, local[MAP], local[FROM], &local[FROM]) &&
           index_point_at(s, local[MAP], local[TO], &local[TO]);
}

static bool search(struct simulation *s, eden_value *local) {
    if (!list_new(s, SITE_NEIGHBORS, &local[NEIGHBORS]) || !search_range(s, local)) {
        return false;
    }
    for (int64_t x = index_x(local[FROM]); x <= index_x(local[TO]); x++) {
        for (int64_t y = index_y(local[FROM]); y <= index_y(local[TO]); y++) {
            if (!index_point_new(s, SITE_CORNER, x, y, &local[INDEX])) {
                return false;
            }
            int64_t key = index_in(local[INDEX], eden_slot(local[MAP], MAP_SIZE));
            local[PARTITION] = key == 0 ? EDEN_NONE : dictionary_at(eden_slot(local[MAP], MAP_PARTITIONS), key);
            if (local[PARTITION] != EDEN_NONE && !search_partition(s, local)) {
                return false;
            }
        }
    }
    eden_slot_set(s->mutator, local[PARTICLE], PARTICLE_NEIGHBORS, local[NEIGHBORS]);
    return true;
}

bool find_neighbors(struct simulation *s) {
    EDEN_FRAME(s->mutator, local, SEARCH);
    if (!map_new(s, &local[MAP])) {
        return false;
    }
    for (size_t i = 0; i < particle_count(s); i++) {
        local[PARTICLE] = particle_at(s, i);
        if (!map_add(s, &local[MAP], &local[PARTICLE])) {
            return false;
        }
    }
    for (size_t i = 0; i < particle_count(s); i++) {
        local[PARTICLE] = particle_at(s, i);
        if (!search(s, local)) {
            return false;
        }
    }
    return true;
}
