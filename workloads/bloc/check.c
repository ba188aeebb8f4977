/* What must hold after each frame, looked at when --verify is given. Nothing here collects.
 *
 * The tree has as many elements as were made; each child lies within its parent, and is its parent's; the stage is the
 * flock's world; each boid is in that world and no faster than the limit (one rounding aside: the limit is met by a
 * product); each changed bounds lie within one rectangle of the damage region. */
#include "element.h"
#include "flock.h"

#include <math.h>

/* Its own size, as bounds in its own coordinates. */
static struct box inside(eden_value element) {
    struct box box = bounds_box(eden_slot(element, ELEMENT_BOUNDS));
    return (struct box){0, 0, box.right - box.left, box.bottom - box.top};
}

/* Adds the elements from this one down to *count. */
static bool check_element(struct scene *scene, eden_value element, int64_t *count) {
    bool ok = true;
    ++*count;
    for (size_t i = 0; i < children_count(element) && ok; i++) {
        eden_value child = child_at(element, i);
        ok = eden_slot(child, ELEMENT_PARENT) == element &&
             box_within(bounds_box(eden_slot(child, ELEMENT_BOUNDS)), inside(element));
        ok = ok ? check_element(scene, child, count)
                : program_fail(scene->program, "an element does not lie within its parent");
    }
    return ok;
}

static bool check_boid(struct scene *scene, eden_value boid) {
    eden_value position = eden_slot(boid, BOID_POSITION);
    double x = point_x(position), y = point_y(position);
    double speed = sqrt(point_length2(eden_slot(boid, BOID_VELOCITY)));
    if (!(x >= 0 && x < WORLD_WIDTH && y >= 0 && y < WORLD_HEIGHT)) {
        return program_fail(scene->program, "a boid is out of its world: %.17g, %.17g", x, y);
    }
    return speed <= SPEED_LIMIT * (1 + 0x1p-50) || program_fail(scene->program, "a boid is too fast: %.17g", speed);
}

static bool check_damage(struct scene *scene) {
    eden_value changed = scene->roots[ROOT_CHANGED], region = scene->roots[ROOT_REGION];
    for (size_t i = 0; i < collection_count(changed); i++) {
        bool covered = false;
        for (size_t j = 0; j < collection_count(region) && !covered; j++) {
            covered = box_within(bounds_box(collection_at(changed, i)), bounds_box(collection_at(region, j)));
        }
        if (!covered) {
            return program_fail(scene->program, "the damage region does not cover what changed");
        }
    }
    return true;
}

bool scene_check(struct scene *scene) {
    int64_t count = 0;
    if (!check_element(scene, scene->roots[ROOT_SPACE], &count)) {
        return false;
    }
    if (count != scene->elements) {
        return program_fail(scene->program, "%lld elements were made, %lld are in the tree", (long long)scene->elements,
                            (long long)count);
    }
    if (!box_same(inside(scene->roots[ROOT_STAGE]), (struct box){0, 0, WORLD_WIDTH, WORLD_HEIGHT})) {
        return program_fail(scene->program, "the stage is not as large as the flock's world");
    }
    bool ok = true;
    for (size_t i = 0; i < flock_size(scene) && ok; i++) {
        ok = check_boid(scene, flock_boid(scene, i));
    }
    return ok && check_damage(scene);
}
