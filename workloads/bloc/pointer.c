/* The pointer: where it goes, what it is over, and who hears of that.
 *
 * It starts in the middle of the window; each move changes x, then y, by a random whole number from -REACH to REACH,
 * and keeps it within the window. A move finds its path: from the root down, among an element's children from the
 * front to the back, the first that the pointer sees and that holds it. Then are fired
 *
 *   a leave event at each element of the last path that is not on the new one, from the deepest up
 *   an enter event at each element of the new path that was not on the last, from the root down
 *   a move event at the deepest, then at what it stands in, up to the root, until a handler consumes it
 *
 * What the handlers do: a boid that is hit counts and consumes the move; one that the pointer comes over is startled:
 * its element takes another colour and it turns around (its velocity times -1); when the pointer leaves it, it takes
 * its colour back. The stage gives the flock the pointer's position, in its own coordinates, and, when it leaves, that
 * it is gone. */
#include "element.h"

enum { REACH = 40 };

bool pointer_begin(struct scene *scene) {
    scene->roots[ROOT_POINTER] = pixel_new(scene, SITE_POINTER, WINDOW_WIDTH / 2, WINDOW_HEIGHT / 2);
    if (scene->roots[ROOT_POINTER] == EDEN_NONE) {
        return false;
    }
    scene->roots[ROOT_HOVERED] = collection_new(scene, SITE_PATH, SITE_PATH_ARRAY, 4);
    return scene->roots[ROOT_HOVERED] != EDEN_NONE &&
           collection_add(scene, SITE_PATH_ARRAY, scene->roots[ROOT_HOVERED], scene->roots[ROOT_SPACE]);
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

/* A point less the origin of an element's bounds: in the element's coordinates, if it was in its parent's. */
static eden_value into(struct scene *scene, eden_value element, eden_value point) {
    struct box box = bounds_box(eden_slot(element, ELEMENT_BOUNDS));
    return pixel_new(scene, SITE_LOCAL_POINT, whole(point, POINT_X) - box.left, whole(point, POINT_Y) - box.top);
}

/* The child that a point in the element's coordinates is over; EDEN_NONE: none. Never collects. */
static eden_value child_under(eden_value element, eden_value point) {
    int64_t x = whole(point, POINT_X), y = whole(point, POINT_Y);
    for (size_t i = children_count(element); i > 0; i--) {
        eden_value child = child_at(element, i - 1);
        struct box box = bounds_box(eden_slot(child, ELEMENT_BOUNDS));
        if (!element_is(child, STATE_UNTOUCHED) && x >= box.left && x < box.right && y >= box.top && y < box.bottom) {
            return child;
        }
    }
    return EDEN_NONE;
}

/* New OrderedCollection: the elements under the pointer, from the root down. */
static eden_value path_new(struct scene *scene) {
    enum { PATH, ELEMENT, POINT, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[PATH] = collection_new(scene, SITE_PATH, SITE_PATH_ARRAY, 4);
    if (local[PATH] == EDEN_NONE) {
        return EDEN_NONE;
    }
    local[ELEMENT] = scene->roots[ROOT_SPACE];
    local[POINT] = scene->roots[ROOT_POINTER];
    while (local[ELEMENT] != EDEN_NONE) {
        if (!collection_add(scene, SITE_PATH_ARRAY, local[PATH], local[ELEMENT])) {
            return EDEN_NONE;
        }
        local[POINT] = into(scene, local[ELEMENT], local[POINT]);
        if (local[POINT] == EDEN_NONE) {
            return EDEN_NONE;
        }
        local[ELEMENT] = child_under(local[ELEMENT], local[POINT]);
    }
    return local[PATH];
}

/* ---- what handlers do -------------------------------------------------------------------------------------------- */

static bool recolour(struct scene *scene, eden_value boid, enum colour colour) {
    eden_value element = eden_slot(boid, BOID_ELEMENT);
    whole_set(scene->mutator, element, ELEMENT_BACKGROUND, colour);
    return invalidate(scene, element);
}

static bool startle(struct scene *scene, eden_value boid) {
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = boid;
    scene->enters++;
    eden_value turned = point_times(scene, SITE_TURNED, eden_slot(boid, BOID_VELOCITY), -1.0);
    if (turned == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, local[0], BOID_VELOCITY, turned);
    return recolour(scene, local[0], COLOUR_HOVERED);
}

/* Gives the flock the pointer's position. */
static bool follow(struct scene *scene, eden_value flock, eden_value event) {
    enum { FLOCK, ELEMENT, POINT, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[FLOCK] = flock;
    local[POINT] = eden_slot(event, MOUSE_POSITION);
    local[ELEMENT] = eden_slot(event, MOUSE_CURRENT);
    while (local[ELEMENT] != EDEN_NONE && local[POINT] != EDEN_NONE) {
        local[POINT] = into(scene, local[ELEMENT], local[POINT]);
        local[ELEMENT] = eden_slot(local[ELEMENT], ELEMENT_PARENT);
    }
    eden_slot_set(scene->mutator, local[FLOCK], FLOCK_POINTER, local[POINT]);
    return local[POINT] != EDEN_NONE;
}

static bool act(struct scene *scene, eden_value handler, eden_value event) {
    eden_value receiver = eden_slot(handler, HANDLER_RECEIVER);
    switch ((enum action)whole(handler, HANDLER_ACTION)) {
    case ACTION_HIT:
        scene->hits++;
        eden_slot_set(scene->mutator, event, MOUSE_CONSUMED, eden_int(1));
        return true;
    case ACTION_STARTLE:
        return startle(scene, receiver);
    case ACTION_CALM:
        return recolour(scene, receiver, COLOUR_BOID);
    case ACTION_FOLLOW:
        return follow(scene, receiver, event);
    case ACTION_FORGET:
        eden_slot_set(scene->mutator, receiver, FLOCK_POINTER, EDEN_NONE);
        return true;
    }
    return true;
}

/* ---- dispatching ------------------------------------------------------------------------------------------------- */

/* An event of one kind at an element: its handlers of that kind. `event` is a root slot. */
static bool handled(struct scene *scene, eden_value element, enum event kind, const eden_value *event) {
    EDEN_FRAME(scene->mutator, handlers, 1);
    handlers[0] = eden_slot(element, ELEMENT_HANDLERS);
    eden_slot_set(scene->mutator, *event, MOUSE_CURRENT, element);
    size_t count = handlers[0] == EDEN_NONE ? 0 : eden_slot_count(handlers[0]);
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) {
        eden_value handler = eden_slot(handlers[0], i);
        ok = whole(handler, HANDLER_EVENT) != (int64_t)kind || act(scene, handler, *event);
    }
    return ok;
}

static eden_value event_new(struct scene *scene, enum site site) {
    eden_value event = scene_new(scene, site);
    if (event != EDEN_NONE) {
        eden_slot_set(scene->mutator, event, MOUSE_POSITION, scene->roots[ROOT_POINTER]);
        whole_set(scene->mutator, event, MOUSE_CONSUMED, 0);
    }
    return event;
}

/* An enter or leave event, which is for one element alone. */
static bool fire_at(struct scene *scene, enum site site, enum event kind, eden_value element) {
    enum { ELEMENT, EVENT, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[ELEMENT] = element;
    local[EVENT] = event_new(scene, site);
    return local[EVENT] != EDEN_NONE && handled(scene, local[ELEMENT], kind, &local[EVENT]);
}

static bool fire_move(struct scene *scene) {
    EDEN_FRAME(scene->mutator, event, 1);
    event[0] = event_new(scene, SITE_MOUSE_MOVE);
    bool ok = event[0] != EDEN_NONE;
    for (size_t i = collection_count(scene->roots[ROOT_HOVERED]); ok && i > 0 && whole(event[0], MOUSE_CONSUMED) == 0;
         i--) {
        ok = handled(scene, collection_at(scene->roots[ROOT_HOVERED], i - 1), EVENT_MOVE, &event[0]);
    }
    return ok;
}

/* The pointer has come to stand where it is. */
static bool pointer_moved(struct scene *scene) {
    EDEN_FRAME(scene->mutator, last, 1);
    last[0] = scene->roots[ROOT_HOVERED];
    eden_value path = path_new(scene);
    if (path == EDEN_NONE) {
        return false;
    }
    scene->roots[ROOT_HOVERED] = path;
    size_t before = collection_count(last[0]), now = collection_count(path), common = 0;
    while (common < before && common < now && collection_at(last[0], common) == collection_at(path, common)) {
        common++;
    }
    bool ok = true;
    for (size_t i = before; i > common && ok; i--) {
        ok = fire_at(scene, SITE_MOUSE_LEAVE, EVENT_LEAVE, collection_at(last[0], i - 1));
    }
    for (size_t i = common; i < now && ok; i++) {
        ok = fire_at(scene, SITE_MOUSE_ENTER, EVENT_ENTER, collection_at(scene->roots[ROOT_HOVERED], i));
    }
    return ok && fire_move(scene);
}

static int64_t kept(int64_t at, int64_t size) { return at < 0 ? 0 : at < size ? at : size - 1; }

bool pointer_events(struct scene *scene) {
    for (int64_t i = 0; i < scene->moves; i++) {
        eden_value pointer = scene->roots[ROOT_POINTER];
        int64_t x = kept(whole(pointer, POINT_X) + random_within(&scene->random, REACH), WINDOW_WIDTH);
        int64_t y = kept(whole(pointer, POINT_Y) + random_within(&scene->random, REACH), WINDOW_HEIGHT);
        pointer = pixel_new(scene, SITE_POINTER, x, y);
        if (pointer == EDEN_NONE) {
            return false;
        }
        scene->roots[ROOT_POINTER] = pointer;
        if (!pointer_moved(scene)) {
            return false;
        }
    }
    return true;
}
