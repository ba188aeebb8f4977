#include "element.h"

void request_layout(eden_mutator *mutator, eden_value element) {
    /* What a dirty element stands in is dirty already. */
    for (; element != EDEN_NONE && !element_is(element, STATE_DIRTY); element = eden_slot(element, ELEMENT_PARENT)) {
        element_become(mutator, element, STATE_DIRTY, true);
    }
}

static eden_value constraints_new(struct scene *scene, const struct element_plan *plan) {
    eden_mutator *m = scene->mutator;
    EDEN_FRAME(m, local, 1);
    local[0] = scene_new(scene, SITE_CONSTRAINTS);
    eden_value position = local[0] == EDEN_NONE ? EDEN_NONE : pixel_new(scene, SITE_RELOCATE, 0, 0);
    if (position == EDEN_NONE) {
        return EDEN_NONE;
    }
    whole_set(m, local[0], CONSTRAINTS_WIDTH_KIND, plan->width_kind);
    whole_set(m, local[0], CONSTRAINTS_WIDTH, plan->width);
    whole_set(m, local[0], CONSTRAINTS_HEIGHT_KIND, plan->height_kind);
    whole_set(m, local[0], CONSTRAINTS_HEIGHT, plan->height);
    eden_slot_set(m, local[0], CONSTRAINTS_POSITION, position);
    return local[0];
}

static bool set_made(eden_mutator *m, eden_value object, size_t index, eden_value made) {
    if (made != EDEN_NONE) {
        eden_slot_set(m, object, index, made);
    }
    return made != EDEN_NONE;
}

/* Fills in what an element has of its own. `element` is a root slot, which moves with it. */
static bool equip(struct scene *scene, const eden_value *element, const struct element_plan *plan) {
    eden_mutator *m = scene->mutator;
    eden_value made = constraints_new(scene, plan);
    if (!set_made(m, *element, ELEMENT_CONSTRAINTS, made)) {
        return false;
    }
    made = bounds_new(scene, SITE_INSETS, (struct box){plan->padding, plan->padding, plan->padding, plan->padding});
    if (!set_made(m, *element, ELEMENT_PADDING, made)) {
        return false;
    }
    made = bounds_new(scene, SITE_FIRST_BOUNDS, (struct box){0, 0, 0, 0});
    if (!set_made(m, *element, ELEMENT_BOUNDS, made)) {
        return false;
    }
    if ((plan->state & STATE_TEXT) != 0) {
        made = digits_new(scene, 0);
        if (!set_made(m, *element, ELEMENT_CONTENT, made)) {
            return false;
        }
    }
    if (plan->layout < 0) {
        return true;
    }
    eden_slot_set(m, *element, ELEMENT_LAYOUT, scene->roots[plan->layout]);
    made = collection_new(scene, SITE_CHILDREN, SITE_CHILDREN_ARRAY, 2);
    return set_made(m, *element, ELEMENT_CHILDREN, made);
}

eden_value element_new(struct scene *scene, eden_value parent, const struct element_plan *plan) {
    enum { PARENT, ELEMENT, LOCALS };
    eden_mutator *m = scene->mutator;
    EDEN_FRAME(m, local, LOCALS);
    local[PARENT] = parent;
    enum site site = (plan->state & STATE_TEXT) != 0    ? SITE_TEXT_ELEMENT
                     : (plan->state & STATE_TRAIL) != 0 ? SITE_TRAIL_ELEMENT
                                                        : SITE_ELEMENT;
    local[ELEMENT] = scene_new(scene, site);
    if (local[ELEMENT] == EDEN_NONE) {
        return EDEN_NONE;
    }
    whole_set(m, local[ELEMENT], ELEMENT_STATE, (int64_t)plan->state | STATE_DIRTY);
    eden_slot_set(m, local[ELEMENT], ELEMENT_BACKGROUND, plan->colour < 0 ? EDEN_NONE : eden_int(plan->colour));
    if (!equip(scene, &local[ELEMENT], plan)) {
        return EDEN_NONE;
    }
    scene->elements++;
    if (local[PARENT] != EDEN_NONE) {
        eden_slot_set(m, local[ELEMENT], ELEMENT_PARENT, local[PARENT]);
        eden_value children = eden_slot(local[PARENT], ELEMENT_CHILDREN);
        if (!collection_add(scene, SITE_CHILDREN_ARRAY, children, local[ELEMENT])) {
            return EDEN_NONE;
        }
    }
    return local[ELEMENT];
}
