/* Placing: where each element is to be, from the root down, once all are measured.
 *
 * A linear layout puts its children one after the other from its padding on, with its spacing between them. A basic
 * layout puts a child where its constraints say, but within the parent: left is at least 0 and at most the parent's
 * width less the child's; top likewise. An element whose bounds change fires an event, which damages the place it was
 * in and the one it is in now (damage.c). Only in elements measured since they were placed last can a child have moved
 * against its parent: the others are passed over. */
#include "element.h"

/* Gives an element its bounds in its parent. */
static bool place(struct scene *scene, eden_value element, struct box box) {
    enum { ELEMENT, OLD, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[ELEMENT] = element;
    local[OLD] = eden_slot(element, ELEMENT_BOUNDS);
    if (box_same(bounds_box(local[OLD]), box)) {
        return true;
    }
    eden_value bounds = bounds_new(scene, SITE_BOUNDS, box);
    if (bounds == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, local[ELEMENT], ELEMENT_BOUNDS, bounds);
    return bounds_changed(scene, local[ELEMENT], local[OLD]);
}

static int64_t within(int64_t at, int64_t most) { return at < 0 || most < 0 ? 0 : at < most ? at : most; }

/* Where a basic layout puts a child. */
static struct box basic_box(eden_value parent, eden_value child, int64_t width, int64_t height) {
    struct box outer = bounds_box(eden_slot(parent, ELEMENT_BOUNDS));
    eden_value position = eden_slot(eden_slot(child, ELEMENT_CONSTRAINTS), CONSTRAINTS_POSITION);
    int64_t left = within(whole(position, POINT_X), outer.right - outer.left - width);
    int64_t top = within(whole(position, POINT_Y), outer.bottom - outer.top - height);
    return (struct box){left, top, left + width, top + height};
}

static bool arrange_children(struct scene *scene, eden_value element) {
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = element;
    eden_value layout = eden_slot(element, ELEMENT_LAYOUT);
    enum direction direction = (enum direction)whole(layout, LAYOUT_DIRECTION);
    int64_t spacing = whole(layout, LAYOUT_SPACING);
    int64_t x = padding(element, BOUNDS_LEFT), y = padding(element, BOUNDS_TOP);
    for (size_t i = 0; i < children_count(local[0]); i++) {
        eden_value child = child_at(local[0], i);
        eden_value extent = eden_slot(child, ELEMENT_MEASURED);
        int64_t width = whole(extent, POINT_X), height = whole(extent, POINT_Y);
        struct box box =
            direction == BASIC ? basic_box(local[0], child, width, height) : (struct box){x, y, x + width, y + height};
        if (!place(scene, child, box) || !arrange(scene, child_at(local[0], i))) {
            return false;
        }
        x += direction == HORIZONTAL ? width + spacing : 0;
        y += direction == VERTICAL ? height + spacing : 0;
    }
    return true;
}

bool arrange(struct scene *scene, eden_value element) {
    if (!element_is(element, STATE_UNPLACED)) {
        return true;
    }
    element_become(scene->mutator, element, STATE_UNPLACED, false);
    return eden_slot(element, ELEMENT_LAYOUT) == EDEN_NONE || arrange_children(scene, element);
}

bool layout_tree(struct scene *scene) {
    eden_value spec = spec_exactly(scene, WINDOW_WIDTH, WINDOW_HEIGHT);
    return spec != EDEN_NONE && measure(scene, scene->roots[ROOT_SPACE], spec) &&
           place(scene, scene->roots[ROOT_SPACE], (struct box){0, 0, WINDOW_WIDTH, WINDOW_HEIGHT}) &&
           arrange(scene, scene->roots[ROOT_SPACE]);
}
