/* What the elements show of the flock, after its step.
 *
 * Boid by boid, in their order: its label shows how many neighbours it saw; its element stands with its dot's middle on
 * the boid's pixel (the whole parts of its coordinates), so at that less BOID_MIDDLE; its trail's element stands where
 * the trail's bounds are. Then the histogram of speeds: class k of CLASSES counts the boids whose speed times
 * CLASSES / SPEED_LIMIT has the whole part k (the last class: also all above); row by row the bar becomes
 * BAR_WIDTH * count / boids long, in whole numbers, and its label shows the count. Then the header: the frame's number,
 * and the hits so far.
 *
 * A text that is what it was changes nothing. Otherwise it asks for layout and is damaged where it stands; so is a
 * trail whose bounds remain the same (one whose bounds change will be damaged when it is placed). */
#include "element.h"
#include "flock.h"

#include <math.h>

enum { BOID_MIDDLE = 5, CLASSES = 8, BAR_WIDTH = 120 };

static bool show_number(struct scene *scene, eden_value element, int64_t number) {
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = element;
    eden_value text = digits_new(scene, number);
    if (text == EDEN_NONE) {
        return false;
    }
    eden_value shown = eden_slot(local[0], ELEMENT_CONTENT);
    size_t size = eden_raw_count(text);
    if (eden_raw_count(shown) == size && memcmp(eden_raw(shown), eden_raw(text), size) == 0) {
        return true;
    }
    eden_slot_set(scene->mutator, local[0], ELEMENT_CONTENT, text);
    request_layout(scene->mutator, local[0]);
    return invalidate(scene, local[0]);
}

/* Where the element stands is a matter of its parent's layout. */
static bool relocate(struct scene *scene, eden_value element, int64_t x, int64_t y) {
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = element;
    eden_value position = eden_slot(eden_slot(element, ELEMENT_CONSTRAINTS), CONSTRAINTS_POSITION);
    if (whole(position, POINT_X) == x && whole(position, POINT_Y) == y) {
        return true;
    }
    position = pixel_new(scene, SITE_RELOCATE, x, y);
    if (position == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, eden_slot(local[0], ELEMENT_CONSTRAINTS), CONSTRAINTS_POSITION, position);
    request_layout(scene->mutator, eden_slot(local[0], ELEMENT_PARENT));
    return true;
}

static bool show_trail(struct scene *scene, eden_value element) {
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = element;
    struct box box = bounds_box(eden_slot(eden_slot(element, ELEMENT_CONTENT), TRAIL_BOUNDS));
    request_layout(scene->mutator, element);
    return relocate(scene, element, box.left, box.top) &&
           (!box_same(box, bounds_box(eden_slot(local[0], ELEMENT_BOUNDS))) || invalidate(scene, local[0]));
}

static bool show_boid(struct scene *scene, eden_value boid) {
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = boid;
    if (!show_number(scene, eden_slot(boid, BOID_LABEL), whole(boid, BOID_NEIGHBOURS))) {
        return false;
    }
    eden_value position = eden_slot(local[0], BOID_POSITION);
    int64_t x = (int64_t)point_x(position), y = (int64_t)point_y(position);
    return relocate(scene, eden_slot(local[0], BOID_ELEMENT), x - BOID_MIDDLE, y - BOID_MIDDLE) &&
           show_trail(scene, eden_slot(local[0], BOID_TRAIL_ELEMENT));
}

static bool show_class(struct scene *scene, eden_value row, int64_t count) {
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = row;
    eden_value bar = child_at(row, 0);
    eden_value constraints = eden_slot(bar, ELEMENT_CONSTRAINTS);
    int64_t width = BAR_WIDTH * count / scene->boids;
    if (whole(constraints, CONSTRAINTS_WIDTH) != width) {
        whole_set(scene->mutator, constraints, CONSTRAINTS_WIDTH, width);
        request_layout(scene->mutator, bar);
    }
    return show_number(scene, child_at(local[0], 1), count);
}

static bool show_histogram(struct scene *scene) {
    int64_t counts[CLASSES] = {0};
    for (size_t i = 0; i < flock_size(scene); i++) {
        double speed = sqrt(point_length2(eden_slot(flock_boid(scene, i), BOID_VELOCITY)));
        int64_t class = (int64_t)(speed * CLASSES / SPEED_LIMIT);
        counts[class < CLASSES ? class : CLASSES - 1]++;
    }
    bool ok = true;
    for (size_t i = 0; i < children_count(scene->roots[ROOT_PANEL]) && ok; i++) {
        ok = show_class(scene, child_at(scene->roots[ROOT_PANEL], i), counts[i]);
    }
    return ok;
}

bool show_flock(struct scene *scene, int64_t frame) {
    bool ok = true;
    for (size_t i = 0; i < flock_size(scene) && ok; i++) {
        ok = show_boid(scene, flock_boid(scene, i));
    }
    return ok && show_histogram(scene) && show_number(scene, scene->roots[ROOT_FRAME_LABEL], frame) &&
           show_number(scene, scene->roots[ROOT_HITS_LABEL], scene->hits);
}
