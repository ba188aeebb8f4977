/* The trail of a boid: its last positions, in a ring. They live for as many frames as it has places: neither as short
 * as the other Points of a frame nor as long as the tree. */
#include "flock.h"

eden_value trail_new(struct scene *scene) {
    EDEN_FRAME(scene->mutator, points, 1);
    points[0] = scene_new_slots(scene, SITE_TRAIL_POINTS, (size_t)scene->trail);
    eden_value trail = points[0] == EDEN_NONE ? EDEN_NONE : scene_new(scene, SITE_TRAIL);
    if (trail != EDEN_NONE) {
        eden_slot_set(scene->mutator, trail, TRAIL_POINTS, points[0]);
        whole_set(scene->mutator, trail, TRAIL_NEXT, 0);
        whole_set(scene->mutator, trail, TRAIL_COUNT, 0);
    }
    return trail;
}

/* Position `index` of the trail, 0 the oldest. */
static eden_value trail_at(eden_value trail, int64_t index) {
    eden_value points = eden_slot(trail, TRAIL_POINTS);
    int64_t places = (int64_t)eden_slot_count(points);
    int64_t oldest = whole(trail, TRAIL_NEXT) - whole(trail, TRAIL_COUNT) + places;
    return eden_slot(points, (size_t)((oldest + index) % places));
}

/* The pixels that the points stand in. */
static struct box trail_box(eden_value trail) {
    struct box box = {WORLD_WIDTH, WORLD_HEIGHT, 0, 0};
    for (int64_t i = 0; i < whole(trail, TRAIL_COUNT); i++) {
        eden_value point = trail_at(trail, i);
        int64_t x = (int64_t)point_x(point), y = (int64_t)point_y(point);
        box.left = x < box.left ? x : box.left;
        box.top = y < box.top ? y : box.top;
        box.right = x >= box.right ? x + 1 : box.right;
        box.bottom = y >= box.bottom ? y + 1 : box.bottom;
    }
    return box;
}

bool trail_add(struct scene *scene, eden_value trail, eden_value position) {
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = trail;
    eden_value points = eden_slot(trail, TRAIL_POINTS);
    int64_t next = whole(trail, TRAIL_NEXT), count = whole(trail, TRAIL_COUNT);
    int64_t places = (int64_t)eden_slot_count(points);
    eden_slot_set(scene->mutator, points, (size_t)next, position);
    whole_set(scene->mutator, trail, TRAIL_NEXT, (next + 1) % places);
    whole_set(scene->mutator, trail, TRAIL_COUNT, count < places ? count + 1 : places);
    eden_value bounds = bounds_new(scene, SITE_TRAIL_BOUNDS, trail_box(trail));
    if (bounds == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, local[0], TRAIL_BOUNDS, bounds);
    return true;
}

/* The ring lets go of the points, too, so that they die. */
void trail_clear(struct scene *scene, eden_value trail) {
    eden_value points = eden_slot(trail, TRAIL_POINTS);
    for (size_t i = 0; i < eden_slot_count(points); i++) {
        eden_slot_set(scene->mutator, points, i, EDEN_NONE);
    }
    whole_set(scene->mutator, trail, TRAIL_COUNT, 0);
}

eden_value trail_points(struct scene *scene, eden_value trail) {
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = trail;
    int64_t count = whole(trail, TRAIL_COUNT);
    eden_value points = scene_new_slots(scene, SITE_COMMAND_POINTS, (size_t)count);
    for (int64_t i = 0; i < count && points != EDEN_NONE; i++) {
        eden_slot_set(scene->mutator, points, (size_t)i, trail_at(local[0], i));
    }
    return points;
}
