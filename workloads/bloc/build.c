/* The tree, made once:
 *
 *   space        vertical, the window
 *     header     horizontal: texts of the frame's number and the hits
 *     body       horizontal
 *       panel    vertical: the histogram, rows of a bar and a text
 *       stage    basic: the trails, then the boids in front of them
 *         boid   horizontal: a dot and a text
 *
 * A boid handles the pointer's moves, so that the stage does not hear of them, and its coming and going; the stage
 * handles moves and the pointer's leaving it. */
#include "element.h"
#include "flock.h"

enum { ROWS = 8, NO_LAYOUT = -1, NO_COLOUR = -1 };

static bool layout_new(struct scene *scene, size_t root, enum site site, enum direction direction, int64_t spacing) {
    eden_value layout = scene_new(scene, site);
    if (layout != EDEN_NONE) {
        whole_set(scene->mutator, layout, LAYOUT_DIRECTION, direction);
        whole_set(scene->mutator, layout, LAYOUT_SPACING, spacing);
        scene->roots[root] = layout;
    }
    return layout != EDEN_NONE;
}

static eden_value text_new(struct scene *scene, eden_value parent) {
    static const struct element_plan text = {.state = STATE_TEXT,
                                             .width_kind = FIT_CONTENT,
                                             .height_kind = FIT_CONTENT,
                                             .layout = NO_LAYOUT,
                                             .colour = NO_COLOUR};
    return element_new(scene, parent, &text);
}

/* ---- handlers ---------------------------------------------------------------------------------------------------- */

struct handler_plan {
    enum event event;
    enum action action;
};

/* Gives an element its handlers, whose actions are about `receiver`. */
static bool handle(struct scene *scene, eden_value element, eden_value receiver, const struct handler_plan *plans,
                   size_t count) {
    enum { ELEMENT, RECEIVER, HANDLERS, LOCALS };
    eden_mutator *m = scene->mutator;
    EDEN_FRAME(m, local, LOCALS);
    local[ELEMENT] = element;
    local[RECEIVER] = receiver;
    local[HANDLERS] = scene_new_slots(scene, SITE_HANDLERS, count);
    if (local[HANDLERS] == EDEN_NONE) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        eden_value handler = scene_new(scene, SITE_HANDLER);
        if (handler == EDEN_NONE) {
            return false;
        }
        whole_set(m, handler, HANDLER_EVENT, plans[i].event);
        whole_set(m, handler, HANDLER_ACTION, plans[i].action);
        eden_slot_set(m, handler, HANDLER_RECEIVER, local[RECEIVER]);
        eden_slot_set(m, local[HANDLERS], i, handler);
    }
    eden_slot_set(m, local[ELEMENT], ELEMENT_HANDLERS, local[HANDLERS]);
    return true;
}

/* ---- the parts --------------------------------------------------------------------------------------------------- */

static bool build_header(struct scene *scene) {
    static const struct element_plan header = {.padding = 8,
                                               .width_kind = MATCH_PARENT,
                                               .height_kind = EXACTLY,
                                               .height = HEADER_HEIGHT,
                                               .layout = ROOT_HORIZONTAL,
                                               .colour = COLOUR_PANEL};
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = element_new(scene, scene->roots[ROOT_SPACE], &header);
    if (local[0] == EDEN_NONE) {
        return false;
    }
    scene->roots[ROOT_FRAME_LABEL] = text_new(scene, local[0]);
    if (scene->roots[ROOT_FRAME_LABEL] == EDEN_NONE) {
        return false;
    }
    scene->roots[ROOT_HITS_LABEL] = text_new(scene, local[0]);
    return scene->roots[ROOT_HITS_LABEL] != EDEN_NONE;
}

static bool build_row(struct scene *scene) {
    static const struct element_plan row = {.padding = 1,
                                            .width_kind = MATCH_PARENT,
                                            .height_kind = FIT_CONTENT,
                                            .layout = ROOT_HORIZONTAL,
                                            .colour = NO_COLOUR};
    static const struct element_plan bar = {
        .width_kind = EXACTLY, .height_kind = EXACTLY, .height = 8, .layout = NO_LAYOUT, .colour = COLOUR_BAR};
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = element_new(scene, scene->roots[ROOT_PANEL], &row);
    return local[0] != EDEN_NONE && element_new(scene, local[0], &bar) != EDEN_NONE &&
           text_new(scene, local[0]) != EDEN_NONE;
}

static bool build_body(struct scene *scene) {
    static const struct element_plan body = {
        .width_kind = MATCH_PARENT, .height_kind = MATCH_PARENT, .layout = ROOT_HORIZONTAL_TIGHT, .colour = NO_COLOUR};
    static const struct element_plan panel = {.padding = 8,
                                              .width_kind = EXACTLY,
                                              .width = PANEL_WIDTH,
                                              .height_kind = MATCH_PARENT,
                                              .layout = ROOT_VERTICAL,
                                              .colour = COLOUR_PANEL};
    static const struct element_plan stage = {
        .width_kind = MATCH_PARENT, .height_kind = MATCH_PARENT, .layout = ROOT_BASIC, .colour = NO_COLOUR};
    static const struct handler_plan handlers[] = {{EVENT_MOVE, ACTION_FOLLOW}, {EVENT_LEAVE, ACTION_FORGET}};
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = element_new(scene, scene->roots[ROOT_SPACE], &body);
    if (local[0] == EDEN_NONE) {
        return false;
    }
    scene->roots[ROOT_PANEL] = element_new(scene, local[0], &panel);
    bool ok = scene->roots[ROOT_PANEL] != EDEN_NONE;
    for (int i = 0; i < ROWS && ok; i++) {
        ok = build_row(scene);
    }
    if (!ok) {
        return false;
    }
    scene->roots[ROOT_STAGE] = element_new(scene, local[0], &stage);
    return scene->roots[ROOT_STAGE] != EDEN_NONE &&
           handle(scene, scene->roots[ROOT_STAGE], scene->roots[ROOT_FLOCK], handlers, 2);
}

static bool build_trail(struct scene *scene, eden_value boid) {
    static const struct element_plan plan = {.state = (enum state)(STATE_TRAIL | STATE_UNTOUCHED),
                                             .width_kind = FIT_CONTENT,
                                             .height_kind = FIT_CONTENT,
                                             .layout = NO_LAYOUT,
                                             .colour = NO_COLOUR};
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = boid;
    eden_value element = element_new(scene, scene->roots[ROOT_STAGE], &plan);
    if (element == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, local[0], BOID_TRAIL_ELEMENT, element);
    eden_value trail = trail_new(scene);
    if (trail == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, eden_slot(local[0], BOID_TRAIL_ELEMENT), ELEMENT_CONTENT, trail);
    return trail_add(scene, trail, eden_slot(local[0], BOID_POSITION));
}

static bool build_boid(struct scene *scene, eden_value boid) {
    enum { BOID, ELEMENT, LOCALS };
    static const struct element_plan plan = {.padding = 2,
                                             .width_kind = FIT_CONTENT,
                                             .height_kind = FIT_CONTENT,
                                             .layout = ROOT_HORIZONTAL,
                                             .colour = COLOUR_BOID};
    static const struct element_plan dot = {.width_kind = EXACTLY,
                                            .width = 6,
                                            .height_kind = EXACTLY,
                                            .height = 6,
                                            .layout = NO_LAYOUT,
                                            .colour = COLOUR_DOT};
    static const struct handler_plan handlers[] = {
        {EVENT_MOVE, ACTION_HIT}, {EVENT_ENTER, ACTION_STARTLE}, {EVENT_LEAVE, ACTION_CALM}};
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[BOID] = boid;
    local[ELEMENT] = element_new(scene, scene->roots[ROOT_STAGE], &plan);
    if (local[ELEMENT] == EDEN_NONE || element_new(scene, local[ELEMENT], &dot) == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, local[BOID], BOID_ELEMENT, local[ELEMENT]);
    eden_value label = text_new(scene, local[ELEMENT]);
    if (label == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, local[BOID], BOID_LABEL, label);
    return handle(scene, local[ELEMENT], local[BOID], handlers, 3);
}

bool scene_build(struct scene *scene) {
    static const struct element_plan space = {
        .width_kind = MATCH_PARENT, .height_kind = MATCH_PARENT, .layout = ROOT_VERTICAL_TIGHT, .colour = NO_COLOUR};
    if (!flock_new(scene) || !layout_new(scene, ROOT_HORIZONTAL, SITE_LINEAR_LAYOUT, HORIZONTAL, 2) ||
        !layout_new(scene, ROOT_VERTICAL, SITE_LINEAR_LAYOUT, VERTICAL, 2) ||
        !layout_new(scene, ROOT_HORIZONTAL_TIGHT, SITE_LINEAR_LAYOUT, HORIZONTAL, 0) ||
        !layout_new(scene, ROOT_VERTICAL_TIGHT, SITE_LINEAR_LAYOUT, VERTICAL, 0) ||
        !layout_new(scene, ROOT_BASIC, SITE_BASIC_LAYOUT, BASIC, 0)) {
        return false;
    }
    scene->roots[ROOT_SPACE] = element_new(scene, EDEN_NONE, &space);
    bool ok = scene->roots[ROOT_SPACE] != EDEN_NONE && build_header(scene) && build_body(scene);
    for (size_t i = 0; i < flock_size(scene) && ok; i++) {
        ok = build_trail(scene, flock_boid(scene, i));
    }
    for (size_t i = 0; i < flock_size(scene) && ok; i++) {
        ok = build_boid(scene, flock_boid(scene, i));
    }
    return ok && pointer_begin(scene);
}
