/* Who sees whom: a grid of cells over the world, made anew each frame.
 *
 * The world is WORLD_WIDTH by WORLD_HEIGHT and wraps around. It is cut into floor(width / SIGHT) columns and
 * floor(height / SIGHT) rows of equal cells, none narrower than SIGHT, so that whoever is nearer than SIGHT is in a
 * boid's own cell or one of the eight around it (J. L. Bentley and J. H. Friedman, "Data structures for range
 * searching", ACM Computing Surveys 11(4), 1979: the cell method). A place's column is the whole part of
 * x * columns / width, its row likewise.
 *
 * Boid j is a neighbour of boid i != j if its cell is one of those nine (modulo columns and rows) and dx*dx + dy*dy <
 * SIGHT*SIGHT, where dx = xj - xi, less width if that is above width/2, plus width if it is below -width/2; dy
 * likewise. As sums of doubles depend on it, the order counts: neighbours come by row from the one above to the one
 * below, in a row by column from left to right, in a cell by the boids' numbers. */
#include "flock.h"

enum { COLUMNS = (int)(WORLD_WIDTH / SIGHT), ROWS = (int)(WORLD_HEIGHT / SIGHT) };
_Static_assert(COLUMNS >= 3 && ROWS >= 3, "no cell may be seen twice");

static int64_t column_of(eden_value position) { return (int64_t)(point_x(position) * COLUMNS / WORLD_WIDTH); }
static int64_t row_of(eden_value position) { return (int64_t)(point_y(position) * ROWS / WORLD_HEIGHT); }

static double shorter_way(double distance, double size) {
    return distance > size / 2 ? distance - size : distance < -size / 2 ? distance + size : distance;
}

eden_value offset_new(struct scene *scene, eden_value from, eden_value to) {
    return point_new(scene, SITE_OFFSET, shorter_way(point_x(to) - point_x(from), WORLD_WIDTH),
                     shorter_way(point_y(to) - point_y(from), WORLD_HEIGHT));
}

static bool grid_add(struct scene *scene, eden_value grid, eden_value boid) {
    enum { GRID, BOID, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[GRID] = grid;
    local[BOID] = boid;
    eden_value position = eden_slot(boid, BOID_POSITION);
    size_t at = (size_t)(row_of(position) * COLUMNS + column_of(position));
    eden_value cell = eden_slot(eden_slot(grid, GRID_CELLS), at);
    if (cell == EDEN_NONE) {
        cell = collection_new(scene, SITE_GRID_CELL, SITE_GRID_CELL_ARRAY, 4);
        if (cell == EDEN_NONE) {
            return false;
        }
        eden_slot_set(scene->mutator, eden_slot(local[GRID], GRID_CELLS), at, cell);
    }
    return collection_add(scene, SITE_GRID_CELL_ARRAY, cell, local[BOID]);
}

eden_value grid_new(struct scene *scene) {
    EDEN_FRAME(scene->mutator, grid, 1);
    grid[0] = scene_new(scene, SITE_GRID);
    eden_value cells =
        grid[0] == EDEN_NONE ? EDEN_NONE : scene_new_slots(scene, SITE_GRID_CELLS, (size_t)COLUMNS * ROWS);
    if (cells == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_slot_set(scene->mutator, grid[0], GRID_CELLS, cells);
    for (size_t i = 0; i < flock_size(scene); i++) {
        if (!grid_add(scene, grid[0], flock_boid(scene, i))) {
            return EDEN_NONE;
        }
    }
    return grid[0];
}

/* Adds `other` to the neighbours of `boid` if it is near enough. */
static bool consider(struct scene *scene, eden_value neighbours, eden_value boid, eden_value other) {
    enum { NEIGHBOURS, OTHER, OFFSET, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[NEIGHBOURS] = neighbours;
    local[OTHER] = other;
    local[OFFSET] = offset_new(scene, eden_slot(boid, BOID_POSITION), eden_slot(other, BOID_POSITION));
    if (local[OFFSET] == EDEN_NONE) {
        return false;
    }
    double distance2 = point_length2(local[OFFSET]);
    if (distance2 >= SIGHT * SIGHT) {
        return true;
    }
    eden_value neighbour = scene_new(scene, SITE_NEIGHBOUR);
    if (neighbour == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, neighbour, NEIGHBOUR_BOID, local[OTHER]);
    eden_slot_set(scene->mutator, neighbour, NEIGHBOUR_OFFSET, local[OFFSET]);
    return collection_add(scene, SITE_NEIGHBOURS_ARRAY, local[NEIGHBOURS], neighbour);
}

static eden_value cell_near(const struct scene *scene, eden_value boid, int64_t down, int64_t right) {
    eden_value position = eden_slot(boid, BOID_POSITION);
    int64_t row = (row_of(position) + down + ROWS) % ROWS;
    int64_t column = (column_of(position) + right + COLUMNS) % COLUMNS;
    eden_value grid = eden_slot(scene->roots[ROOT_FLOCK], FLOCK_GRID);
    return eden_slot(eden_slot(grid, GRID_CELLS), (size_t)(row * COLUMNS + column));
}

eden_value grid_neighbours(struct scene *scene, eden_value boid) {
    enum { NEIGHBOURS, BOID, CELL, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[BOID] = boid;
    local[NEIGHBOURS] = collection_new(scene, SITE_NEIGHBOURS, SITE_NEIGHBOURS_ARRAY, 8);
    if (local[NEIGHBOURS] == EDEN_NONE) {
        return EDEN_NONE;
    }
    for (int64_t at = 0; at < 9; at++) {
        local[CELL] = cell_near(scene, local[BOID], at / 3 - 1, at % 3 - 1);
        size_t count = local[CELL] == EDEN_NONE ? 0 : collection_count(local[CELL]);
        for (size_t i = 0; i < count; i++) {
            eden_value other = collection_at(local[CELL], i);
            if (other != local[BOID] && !consider(scene, local[NEIGHBOURS], local[BOID], other)) {
                return EDEN_NONE;
            }
        }
    }
    return local[NEIGHBOURS];
}
