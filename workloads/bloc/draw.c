/* Drawing: the list of what a back end would have to paint, and its checksum.
 *
 * The tree is walked from the back to the front: an element, then its children in their order. One that has no area or
 * does not meet the damage region is passed over with all that is in it. The others give, in this order, a FILL if they
 * have a background and a TEXT or POLYLINE if they have such content.
 *
 * For each frame scene->checksum takes in (checksum.h) the number of rectangles of the region and of each left, top,
 * right, bottom; then for each command kind (1, 2, 3), left, top, right, bottom, in the window, and: of a FILL its
 * colour; of a TEXT the number of its bytes, and each; of a POLYLINE the number of its points, and the doubles x and y
 * of each, in the flock's world. */
#include "checksum.h"
#include "element.h"
#include "flock.h"

enum kind { FILL = 1, TEXT = 2, POLYLINE = 3 };

/* ---- the list ---------------------------------------------------------------------------------------------------- */

/* Adds a command. */
static bool add_command(struct scene *scene, enum kind kind, eden_value bounds, eden_value colour, eden_value content) {
    enum { BOUNDS, CONTENT, LOCALS };
    eden_mutator *m = scene->mutator;
    EDEN_FRAME(m, local, LOCALS);
    local[BOUNDS] = bounds;
    local[CONTENT] = content;
    eden_value command = scene_new(scene, SITE_COMMAND);
    if (command == EDEN_NONE) {
        return false;
    }
    scene->commands++;
    whole_set(m, command, COMMAND_KIND, kind);
    eden_slot_set(m, command, COMMAND_BOUNDS, local[BOUNDS]);
    eden_slot_set(m, command, COMMAND_COLOUR, colour);
    eden_slot_set(m, command, COMMAND_CONTENT, local[CONTENT]);
    return collection_add(scene, SITE_COMMANDS_ARRAY, scene->roots[ROOT_COMMANDS], command);
}

/* The commands of one element, whose bounds in the window are given. */
static bool draw_own(struct scene *scene, eden_value element, eden_value bounds) {
    enum { ELEMENT, BOUNDS, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[ELEMENT] = element;
    local[BOUNDS] = bounds;
    eden_value colour = eden_slot(element, ELEMENT_BACKGROUND);
    if (colour != EDEN_NONE && !add_command(scene, FILL, bounds, colour, EDEN_NONE)) {
        return false;
    }
    eden_value content = eden_slot(local[ELEMENT], ELEMENT_CONTENT);
    if (element_is(local[ELEMENT], STATE_TEXT)) {
        return add_command(scene, TEXT, local[BOUNDS], EDEN_NONE, content);
    }
    if (element_is(local[ELEMENT], STATE_TRAIL)) {
        content = trail_points(scene, content);
        return content != EDEN_NONE && add_command(scene, POLYLINE, local[BOUNDS], EDEN_NONE, content);
    }
    return true;
}

/* Draws an element that stands at `origin`, a Point in the window, plus its own left and top. */
static bool draw(struct scene *scene, eden_value element, eden_value origin) {
    enum { ELEMENT, ORIGIN, BOUNDS, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[ELEMENT] = element;
    local[BOUNDS] = bounds_translated(scene, SITE_DRAWN_BOUNDS, eden_slot(element, ELEMENT_BOUNDS),
                                      whole(origin, POINT_X), whole(origin, POINT_Y));
    if (local[BOUNDS] == EDEN_NONE) {
        return false;
    }
    struct box box = bounds_box(local[BOUNDS]);
    if (box_area(box) == 0 || !region_meets(scene, box)) {
        return true;
    }
    if (!draw_own(scene, local[ELEMENT], local[BOUNDS])) {
        return false;
    }
    if (children_count(local[ELEMENT]) == 0) {
        return true;
    }
    local[ORIGIN] = pixel_new(scene, SITE_ORIGIN, box.left, box.top);
    bool ok = local[ORIGIN] != EDEN_NONE;
    for (size_t i = 0; ok && i < children_count(local[ELEMENT]); i++) {
        ok = draw(scene, child_at(local[ELEMENT], i), local[ORIGIN]);
    }
    return ok;
}

/* ---- the checksum; nothing here collects ------------------------------------------------------------------------- */

static void take_in(struct scene *scene, uint64_t word) { checksum_word(&scene->checksum, word); }

static void take_box(struct scene *scene, struct box box) {
    take_in(scene, (uint64_t)box.left);
    take_in(scene, (uint64_t)box.top);
    take_in(scene, (uint64_t)box.right);
    take_in(scene, (uint64_t)box.bottom);
}

static void take_text(struct scene *scene, eden_value text) {
    const unsigned char *bytes = eden_raw(text);
    size_t count = eden_raw_count(text);
    take_in(scene, count);
    for (size_t i = 0; i < count; i++) {
        take_in(scene, bytes[i]);
    }
}

static void take_points(struct scene *scene, eden_value points) {
    size_t count = eden_slot_count(points);
    take_in(scene, count);
    for (size_t i = 0; i < count; i++) {
        checksum_double(&scene->checksum, point_x(eden_slot(points, i)));
        checksum_double(&scene->checksum, point_y(eden_slot(points, i)));
    }
}

static void take_command(struct scene *scene, eden_value command) {
    enum kind kind = (enum kind)whole(command, COMMAND_KIND);
    take_in(scene, kind);
    take_box(scene, bounds_box(eden_slot(command, COMMAND_BOUNDS)));
    switch (kind) {
    case FILL:
        take_in(scene, (uint64_t)whole(command, COMMAND_COLOUR));
        break;
    case TEXT:
        take_text(scene, eden_slot(command, COMMAND_CONTENT));
        break;
    case POLYLINE:
        take_points(scene, eden_slot(command, COMMAND_CONTENT));
        break;
    }
}

static void take_frame(struct scene *scene) {
    eden_value region = scene->roots[ROOT_REGION], commands = scene->roots[ROOT_COMMANDS];
    take_in(scene, collection_count(region));
    for (size_t i = 0; i < collection_count(region); i++) {
        take_box(scene, bounds_box(collection_at(region, i)));
    }
    for (size_t i = 0; i < collection_count(commands); i++) {
        take_command(scene, collection_at(commands, i));
    }
}

bool draw_tree(struct scene *scene) {
    scene->roots[ROOT_COMMANDS] = collection_new(scene, SITE_COMMANDS, SITE_COMMANDS_ARRAY, 64);
    if (scene->roots[ROOT_COMMANDS] == EDEN_NONE) {
        return false;
    }
    eden_value origin = pixel_new(scene, SITE_ORIGIN, 0, 0);
    if (origin == EDEN_NONE || !draw(scene, scene->roots[ROOT_SPACE], origin)) {
        return false;
    }
    take_frame(scene);
    return true;
}
