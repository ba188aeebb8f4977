/* Measuring: how large each element is to be, from the root down.
 *
 * A parent gives a child, for width and for height, a measurement spec: exactly so large, at most so large, or
 * unspecified; the child answers its extent. (Bloc's way, which took it from Android's View.onMeasure.) All numbers
 * are whole. For each direction:
 *
 *   spec of a child, `room` being its parent's spec less the parent's padding and, along a linear layout, less what
 *   the children before it and the spacing took (never below 0):
 *     EXACTLY n      exactly n
 *     MATCH_PARENT   the room's mode and size
 *     FIT_CONTENT    at most the room's size; unspecified where the room is
 *   In a basic layout the room is the parent's spec less its padding for MATCH_PARENT, and unspecified for FIT_CONTENT.
 *
 *   content: a text is 5 pixels a digit wide and 8 high; a trail as large as its bounds; a linear layout as long as
 *   its children with its spacing between them and as wide as the widest; any other element 0; the padding is added
 *   extent: exactly n: n; at most n: the smaller of n and the content; unspecified: the content
 *
 * An element is measured anew only if it is dirty (element.h) or its spec is not the one of last time; scene->measured
 * counts that. What is measured anew has its children placed anew, too (arrange.c). */
#include "element.h"

enum { DIGIT_WIDTH = 5, DIGIT_HEIGHT = 8 };

static eden_value spec_new(struct scene *scene, enum site site, enum mode mode, int64_t size) {
    eden_value spec = scene_new(scene, site);
    if (spec != EDEN_NONE) {
        whole_set(scene->mutator, spec, SPEC_MODE, mode);
        whole_set(scene->mutator, spec, SPEC_SIZE, size);
    }
    return spec;
}

/* A new spec for what is left of one. */
static eden_value spec_minus(struct scene *scene, eden_value spec, int64_t taken) {
    int64_t left = whole(spec, SPEC_SIZE) - taken;
    return spec_new(scene, SITE_SPEC_SHRUNK, (enum mode)whole(spec, SPEC_MODE), left > 0 ? left : 0);
}

static eden_value spec_for(struct scene *scene, enum resizer kind, int64_t exact, eden_value room, bool fit_freely) {
    enum mode mode = (enum mode)whole(room, SPEC_MODE);
    int64_t size = whole(room, SPEC_SIZE);
    switch (kind) {
    case EXACTLY:
        return spec_new(scene, SITE_SPEC, MODE_EXACT, exact);
    case MATCH_PARENT:
        return spec_new(scene, SITE_SPEC, mode, size);
    case FIT_CONTENT:
        break;
    }
    return fit_freely || mode == MODE_UNSPECIFIED ? spec_new(scene, SITE_SPEC, MODE_UNSPECIFIED, 0)
                                                  : spec_new(scene, SITE_SPEC, MODE_AT_MOST, size);
}

/* Makes an extent's spec of two, which are root slots. */
static eden_value extent_spec_new(struct scene *scene, const eden_value *width, const eden_value *height) {
    eden_value spec = *width == EDEN_NONE || *height == EDEN_NONE ? EDEN_NONE : scene_new(scene, SITE_EXTENT_SPEC);
    if (spec != EDEN_NONE) {
        eden_slot_set(scene->mutator, spec, EXTENT_SPEC_WIDTH, *width);
        eden_slot_set(scene->mutator, spec, EXTENT_SPEC_HEIGHT, *height);
    }
    return spec;
}

eden_value spec_exactly(struct scene *scene, int64_t width, int64_t height) {
    enum { WIDTH, HEIGHT, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[WIDTH] = spec_new(scene, SITE_SPEC, MODE_EXACT, width);
    local[HEIGHT] = local[WIDTH] == EDEN_NONE ? EDEN_NONE : spec_new(scene, SITE_SPEC, MODE_EXACT, height);
    return extent_spec_new(scene, &local[WIDTH], &local[HEIGHT]);
}

/* The spec of a child in an element that has `spec`, of which taken_x and taken_y are used up. */
static eden_value child_spec(struct scene *scene, eden_value child, eden_value spec, int64_t taken_x, int64_t taken_y,
                             bool fit_freely) {
    enum { CONSTRAINTS, SPEC, WIDTH, HEIGHT, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[CONSTRAINTS] = eden_slot(child, ELEMENT_CONSTRAINTS);
    local[SPEC] = spec;
    eden_value room = spec_minus(scene, eden_slot(spec, EXTENT_SPEC_WIDTH), taken_x);
    if (room == EDEN_NONE) {
        return EDEN_NONE;
    }
    local[WIDTH] = spec_for(scene, (enum resizer)whole(local[CONSTRAINTS], CONSTRAINTS_WIDTH_KIND),
                            whole(local[CONSTRAINTS], CONSTRAINTS_WIDTH), room, fit_freely);
    room =
        local[WIDTH] == EDEN_NONE ? EDEN_NONE : spec_minus(scene, eden_slot(local[SPEC], EXTENT_SPEC_HEIGHT), taken_y);
    if (room == EDEN_NONE) {
        return EDEN_NONE;
    }
    local[HEIGHT] = spec_for(scene, (enum resizer)whole(local[CONSTRAINTS], CONSTRAINTS_HEIGHT_KIND),
                             whole(local[CONSTRAINTS], CONSTRAINTS_HEIGHT), room, fit_freely);
    return extent_spec_new(scene, &local[WIDTH], &local[HEIGHT]);
}

static int64_t padding_across(eden_value element) {
    return padding(element, BOUNDS_LEFT) + padding(element, BOUNDS_RIGHT);
}
static int64_t padding_down(eden_value element) {
    return padding(element, BOUNDS_TOP) + padding(element, BOUNDS_BOTTOM);
}

struct size {
    int64_t width, height;
};

/* Measures the children; *content becomes what a linear layout needs for them, without padding. */
static bool measure_children(struct scene *scene, eden_value element, eden_value spec, struct size *content) {
    enum { ELEMENT, SPEC, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[ELEMENT] = element;
    local[SPEC] = spec;
    eden_value layout = eden_slot(element, ELEMENT_LAYOUT);
    enum direction direction = (enum direction)whole(layout, LAYOUT_DIRECTION);
    int64_t spacing = whole(layout, LAYOUT_SPACING);
    int64_t along = 0, across = 0;
    for (size_t i = 0; i < children_count(local[ELEMENT]); i++) {
        along += i > 0 && direction != BASIC ? spacing : 0;
        int64_t taken_x = padding_across(local[ELEMENT]) + (direction == HORIZONTAL ? along : 0);
        int64_t taken_y = padding_down(local[ELEMENT]) + (direction == VERTICAL ? along : 0);
        eden_value child = child_at(local[ELEMENT], i);
        eden_value its = child_spec(scene, child, local[SPEC], taken_x, taken_y, direction == BASIC);
        if (its == EDEN_NONE || !measure(scene, child_at(local[ELEMENT], i), its)) {
            return false;
        }
        eden_value extent = eden_slot(child_at(local[ELEMENT], i), ELEMENT_MEASURED);
        int64_t width = whole(extent, POINT_X), height = whole(extent, POINT_Y);
        int64_t wide = direction == HORIZONTAL ? height : width;
        along += direction == HORIZONTAL ? width : direction == VERTICAL ? height : 0;
        across = direction != BASIC && wide > across ? wide : across;
    }
    *content = direction == HORIZONTAL ? (struct size){along, across} : (struct size){across, along};
    return true;
}

static struct size content_of_leaf(eden_value element) {
    eden_value content = eden_slot(element, ELEMENT_CONTENT);
    if (element_is(element, STATE_TEXT)) {
        return (struct size){DIGIT_WIDTH * (int64_t)eden_raw_count(content), DIGIT_HEIGHT};
    }
    if (element_is(element, STATE_TRAIL)) {
        struct box box = bounds_box(eden_slot(content, TRAIL_BOUNDS));
        return (struct size){box.right - box.left, box.bottom - box.top};
    }
    return (struct size){0, 0};
}

static int64_t resolved(eden_value spec, int64_t content) {
    int64_t size = whole(spec, SPEC_SIZE);
    switch ((enum mode)whole(spec, SPEC_MODE)) {
    case MODE_EXACT:
        return size;
    case MODE_AT_MOST:
        return content < size ? content : size;
    case MODE_UNSPECIFIED:
        break;
    }
    return content;
}

static bool spec_same(eden_value a, eden_value b) {
    return whole(a, SPEC_MODE) == whole(b, SPEC_MODE) && whole(a, SPEC_SIZE) == whole(b, SPEC_SIZE);
}

static bool is_measured(eden_value element, eden_value spec) {
    eden_value last = eden_slot(element, ELEMENT_SPEC);
    return !element_is(element, STATE_DIRTY) && last != EDEN_NONE &&
           spec_same(eden_slot(last, EXTENT_SPEC_WIDTH), eden_slot(spec, EXTENT_SPEC_WIDTH)) &&
           spec_same(eden_slot(last, EXTENT_SPEC_HEIGHT), eden_slot(spec, EXTENT_SPEC_HEIGHT));
}

bool measure(struct scene *scene, eden_value element, eden_value spec) {
    enum { ELEMENT, SPEC, LOCALS };
    eden_mutator *m = scene->mutator;
    if (is_measured(element, spec)) {
        return true;
    }
    EDEN_FRAME(m, local, LOCALS);
    local[ELEMENT] = element;
    local[SPEC] = spec;
    scene->measured++;
    struct size content = content_of_leaf(element);
    if (eden_slot(element, ELEMENT_LAYOUT) != EDEN_NONE && !measure_children(scene, element, spec, &content)) {
        return false;
    }
    int64_t width = resolved(eden_slot(local[SPEC], EXTENT_SPEC_WIDTH), content.width + padding_across(local[ELEMENT]));
    int64_t height =
        resolved(eden_slot(local[SPEC], EXTENT_SPEC_HEIGHT), content.height + padding_down(local[ELEMENT]));
    eden_value extent = pixel_new(scene, SITE_MEASURED, width, height);
    if (extent == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, local[ELEMENT], ELEMENT_MEASURED, extent);
    eden_slot_set(m, local[ELEMENT], ELEMENT_SPEC, local[SPEC]);
    element_become(m, local[ELEMENT], STATE_DIRTY, false);
    element_become(m, local[ELEMENT], STATE_UNPLACED, true);
    return true;
}
