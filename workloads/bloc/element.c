/* Elements: their making, and the three walks of a frame over them.
 *
 * A boid has a square of a size by its elevation, and stands at its position. A label has the size of its text. Space
 * and panel have as much of their parent as they are asked to have; the panel's labels stand below each other. */
#include "scene.h"

enum { SPEC_EXACT, SPEC_AT_MOST };
enum { PANEL_WIDTH = 200, CHARACTER_WIDTH = 7, LINE_HEIGHT = 14, SPACING = 4 };

static eden_value element_new(struct scene *scene, size_t children, int64_t elevation) {
    eden_mutator *m = scene->mutator;
    EDEN_FRAME(m, local, 1);
    local[0] = scene_new(scene, SITE_ELEMENT);
    if (local[0] == EDEN_NONE) {
        return EDEN_NONE;
    }
    number_at_put(scene, local[0], ELEMENT_ELEVATION, elevation);
    if (children > 0) {
        eden_value array = scene_kept(scene, eden_new_slots(m, scene->sites[SITE_CHILDREN], children));
        if (array == EDEN_NONE) {
            return EDEN_NONE;
        }
        eden_slot_set(m, local[0], ELEMENT_CHILDREN, array);
    }
    return local[0];
}

/* Gives `parent`, in a root, its child at `index`. */
static bool add_leaf(struct scene *scene, const eden_value *parent, size_t index, int64_t elevation) {
    eden_value leaf = element_new(scene, 0, elevation);
    if (leaf != EDEN_NONE) {
        eden_slot_set(scene->mutator, eden_slot(*parent, ELEMENT_CHILDREN), index, leaf);
    }
    return leaf != EDEN_NONE;
}

static bool place_boid(struct scene *scene, size_t index) {
    enum { SPEED = 3 * UNIT };
    const int64_t at[] = {random_below(&scene->random, WORLD_WIDTH), random_below(&scene->random, WORLD_HEIGHT)};
    const int64_t by[] = {random_within(&scene->random, SPEED), random_within(&scene->random, SPEED)};
    eden_value position = scene_new_numbers(scene, SITE_POSITION, POINT_SLOTS, at);
    if (position == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, scene_child(scene->roots[ROOT_SPACE], index), ELEMENT_POSITION, position);
    eden_value velocity = scene_new_numbers(scene, SITE_VECTOR, POINT_SLOTS, by);
    if (velocity == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, scene_child(scene->roots[ROOT_SPACE], index), ELEMENT_VELOCITY, velocity);
    eden_value path = scene_kept(scene, eden_new_slots(scene->mutator, scene->sites[SITE_PATH], PATH));
    if (path != EDEN_NONE) {
        eden_slot_set(scene->mutator, scene_child(scene->roots[ROOT_SPACE], index), ELEMENT_PATH, path);
    }
    return path != EDEN_NONE;
}

bool scene_make(struct scene *scene) {
    eden_value *roots = scene->roots;
    if ((roots[ROOT_SPACE] = element_new(scene, scene->boids + 1, 0)) == EDEN_NONE ||
        (roots[ROOT_PANEL] = element_new(scene, LABELS, ELEVATIONS - 1)) == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, eden_slot(roots[ROOT_SPACE], ELEMENT_CHILDREN), scene->boids, roots[ROOT_PANEL]);
    for (size_t i = 0; i < LABELS; i++) {
        if (!add_leaf(scene, &roots[ROOT_PANEL], i, 0)) {
            return false;
        }
    }
    for (size_t i = 0; i < scene->boids; i++) {
        if (!add_leaf(scene, &roots[ROOT_SPACE], i, 1) || !place_boid(scene, i)) {
            return false;
        }
    }
    return true;
}

/* ---- children by elevation --------------------------------------------------------------------------------------- */

/* Moves the children to `sorted`, the lowest first, those of one elevation in their order: a counting sort. */
static void sort(struct scene *scene, eden_value children, eden_value sorted) {
    size_t places[ELEVATIONS + 1] = {0};
    size_t count = eden_slot_count(children);
    for (size_t i = 0; i < count; i++) {
        places[number_at(eden_slot(children, i), ELEMENT_ELEVATION) + 1]++;
    }
    for (size_t i = 0; i < ELEVATIONS; i++) {
        places[i + 1] += places[i];
    }
    for (size_t i = 0; i < count; i++) {
        eden_value child = eden_slot(children, i);
        eden_slot_set(scene->mutator, sorted, places[number_at(child, ELEMENT_ELEVATION)]++, child);
    }
}

/* A new BlChildrenSortedByElevation, of a leaf's children too. EDEN_NONE after program_fail. May collect. */
static eden_value children_sorted(struct scene *scene, eden_value element) {
    eden_mutator *m = scene->mutator;
    EDEN_FRAME(m, local, 2);
    local[0] = element;
    local[1] = scene_new(scene, SITE_SORTED);
    if (local[1] == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_slot_set(m, local[1], SORTED_OWNER, local[0]);
    number_at_put(scene, local[1], SORTED_COUNT, 0);
    if (eden_slot(local[0], ELEMENT_CHILDREN) == EDEN_NONE) {
        return local[1];
    }
    size_t count = eden_slot_count(eden_slot(local[0], ELEMENT_CHILDREN));
    eden_value array = scene_kept(scene, eden_new_slots(m, scene->sites[SITE_SORTED_ARRAY], count));
    if (array == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_slot_set(m, local[1], SORTED_ARRAY, array);
    sort(scene, eden_slot(local[0], ELEMENT_CHILDREN), array);
    number_at_put(scene, local[1], SORTED_COUNT, (int64_t)count);
    eden_slot_set(m, local[1], SORTED_LOWEST, eden_slot(eden_slot(array, 0), ELEMENT_ELEVATION));
    eden_slot_set(m, local[1], SORTED_HIGHEST, eden_slot(eden_slot(array, count - 1), ELEMENT_ELEVATION));
    return local[1];
}

static size_t sorted_count(eden_value sorted) { return (size_t)number_at(sorted, SORTED_COUNT); }
static eden_value sorted_child(eden_value sorted, size_t index) {
    return eden_slot(eden_slot(sorted, SORTED_ARRAY), index);
}

/* ---- measuring --------------------------------------------------------------------------------------------------- */

static eden_value spec_new(struct scene *scene, eden_value element, int64_t width, int64_t height) {
    bool is_leaf = eden_slot(element, ELEMENT_CHILDREN) == EDEN_NONE;
    const int64_t numbers[] = {is_leaf ? SPEC_AT_MOST : SPEC_EXACT, width, is_leaf ? SPEC_AT_MOST : SPEC_EXACT, height};
    return scene_new_numbers(scene, SITE_SPEC, SPEC_SLOTS, numbers);
}

static int64_t at_most(int64_t wanted, int64_t most) { return wanted < most ? wanted : most; }

/* The size that the element has under this spec. */
static void measured(eden_value element, eden_value spec, int64_t *extent) {
    extent[0] = number_at(spec, SPEC_WIDTH);
    extent[1] = number_at(spec, SPEC_HEIGHT);
    if (number_at(spec, SPEC_WIDTH_MODE) == SPEC_EXACT) {
        return;
    }
    eden_value text = eden_slot(element, ELEMENT_TEXT);
    int64_t side = 6 + 2 * number_at(element, ELEMENT_ELEVATION);
    extent[0] = at_most(text == EDEN_NONE ? side : CHARACTER_WIDTH * (int64_t)eden_raw_count(text), extent[0]);
    extent[1] = at_most(text == EDEN_NONE ? side : LINE_HEIGHT, extent[1]);
}

static bool measure(struct scene *scene, eden_value element, eden_value spec) {
    enum { THIS, SPEC_OF_THIS, CHILDREN, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[THIS] = element;
    local[SPEC_OF_THIS] = spec;
    local[CHILDREN] = children_sorted(scene, local[THIS]);
    if (local[CHILDREN] == EDEN_NONE) {
        return false;
    }
    for (size_t i = 0; i < sorted_count(local[CHILDREN]); i++) {
        eden_value child = sorted_child(local[CHILDREN], i);
        bool is_panel = child == scene->roots[ROOT_PANEL];
        eden_value child_spec =
            spec_new(scene, child, is_panel ? PANEL_WIDTH : number_at(local[SPEC_OF_THIS], SPEC_WIDTH),
                     number_at(local[SPEC_OF_THIS], SPEC_HEIGHT));
        if (child_spec == EDEN_NONE || !measure(scene, sorted_child(local[CHILDREN], i), child_spec)) {
            return false;
        }
    }
    int64_t numbers[POINT_SLOTS];
    measured(local[THIS], local[SPEC_OF_THIS], numbers);
    eden_value extent = scene_new_numbers(scene, SITE_EXTENT, POINT_SLOTS, numbers);
    if (extent != EDEN_NONE) {
        eden_slot_set(scene->mutator, local[THIS], ELEMENT_EXTENT, extent);
    }
    return extent != EDEN_NONE;
}

bool scene_measure(struct scene *scene) {
    eden_value spec = spec_new(scene, scene->roots[ROOT_SPACE], WIDTH, HEIGHT);
    return spec != EDEN_NONE && measure(scene, scene->roots[ROOT_SPACE], spec);
}

/* ---- layout ------------------------------------------------------------------------------------------------------ */

/* Sends an event that the bounds have changed; all listeners have seen it when this returns. */
static bool fire_changed(struct scene *scene, eden_value element, eden_value old) {
    eden_mutator *m = scene->mutator;
    EDEN_FRAME(m, local, 2);
    local[0] = element;
    local[1] = old;
    eden_value event = scene_new(scene, SITE_EVENT);
    if (event == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, event, EVENT_SOURCE, local[0]);
    eden_slot_set(m, event, EVENT_OLD, local[1]);
    eden_slot_set(m, event, EVENT_NEW, eden_slot(local[0], ELEMENT_BOUNDS));
    number_at_put(scene, event, EVENT_FRAME, (int64_t)scene->frame);
    scene->moved++;
    return true;
}

static bool bounds_same(eden_value a, eden_value b) {
    size_t same = 0;
    while (a != EDEN_NONE && same < BOUNDS_SLOTS && eden_slot(a, same) == eden_slot(b, same)) {
        same++;
    }
    return same == BOUNDS_SLOTS;
}

static bool place(struct scene *scene, eden_value element, int64_t left, int64_t top) {
    EDEN_FRAME(scene->mutator, local, 2);
    local[0] = element;
    eden_value extent = eden_slot(element, ELEMENT_EXTENT);
    const int64_t numbers[] = {left, top, left + number_at(extent, POINT_X), top + number_at(extent, POINT_Y)};
    eden_value bounds = scene_new_numbers(scene, SITE_BOUNDS, BOUNDS_SLOTS, numbers);
    if (bounds == EDEN_NONE) {
        return false;
    }
    local[1] = eden_slot(local[0], ELEMENT_BOUNDS);
    eden_slot_set(scene->mutator, local[0], ELEMENT_BOUNDS, bounds);
    return bounds_same(local[1], bounds) || fire_changed(scene, local[0], local[1]);
}

static bool lay_out(struct scene *scene, eden_value element, int64_t left, int64_t top) {
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = element;
    if (!place(scene, local[0], left, top) || (local[0] = children_sorted(scene, local[0])) == EDEN_NONE) {
        return false;
    }
    int64_t below = SPACING;
    for (size_t i = 0; i < sorted_count(local[0]); i++) {
        eden_value child = sorted_child(local[0], i);
        eden_value position = eden_slot(child, ELEMENT_POSITION);
        bool is_free = position != EDEN_NONE;
        int64_t x = is_free ? number_at(position, POINT_X) / UNIT : SPACING;
        int64_t y = is_free ? number_at(position, POINT_Y) / UNIT : below;
        below += is_free ? 0 : number_at(eden_slot(child, ELEMENT_EXTENT), POINT_Y) + SPACING;
        if (!lay_out(scene, child, x, y)) {
            return false;
        }
    }
    return true;
}

bool scene_layout(struct scene *scene) { return lay_out(scene, scene->roots[ROOT_SPACE], 0, 0); }

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

/* A step of FNV-1a, with a word where that has a byte. */
static void mix(struct scene *scene, uint64_t word) { scene->checksum = (scene->checksum ^ word) * 0x100000001B3u; }

/* What reaches the screen: place, size, elevation, text, and a line to where a boid's path begins. */
static void draw_self(struct scene *scene, eden_value element, eden_value matrix) {
    eden_value extent = eden_slot(element, ELEMENT_EXTENT);
    eden_value text = eden_slot(element, ELEMENT_TEXT);
    mix(scene, (uint64_t)number_at(matrix, MATRIX_X));
    mix(scene, (uint64_t)number_at(matrix, MATRIX_Y));
    mix(scene, (uint64_t)number_at(extent, POINT_X));
    mix(scene, (uint64_t)number_at(extent, POINT_Y));
    mix(scene, (uint64_t)number_at(element, ELEMENT_ELEVATION));
    for (size_t i = 0; text != EDEN_NONE && i < eden_raw_count(text); i++) {
        mix(scene, ((const unsigned char *)eden_raw(text))[i]);
    }
    eden_value path = eden_slot(element, ELEMENT_PATH);
    eden_value oldest = path == EDEN_NONE ? EDEN_NONE : eden_slot(path, (scene->frame + 1) % PATH);
    if (oldest != EDEN_NONE) {
        mix(scene, (uint64_t)number_at(oldest, POINT_X));
        mix(scene, (uint64_t)number_at(oldest, POINT_Y));
    }
    scene->drawn++;
}

/* Draws an element whose parent stands at x, y. */
static bool draw(struct scene *scene, eden_value element, int64_t x, int64_t y) {
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = element;
    eden_value bounds = eden_slot(element, ELEMENT_BOUNDS);
    x += number_at(bounds, BOUNDS_LEFT);
    y += number_at(bounds, BOUNDS_TOP);
    const int64_t numbers[] = {1, 0, 0, 1, x, y};
    eden_value matrix = scene_new_numbers(scene, SITE_TRANSFORMATION, MATRIX_SLOTS, numbers);
    if (matrix == EDEN_NONE) {
        return false;
    }
    draw_self(scene, local[0], matrix);
    local[0] = children_sorted(scene, local[0]);
    if (local[0] == EDEN_NONE) {
        return false;
    }
    for (size_t i = 0; i < sorted_count(local[0]); i++) {
        if (!draw(scene, sorted_child(local[0], i), x, y)) {
            return false;
        }
    }
    return true;
}

bool scene_draw(struct scene *scene) { return draw(scene, scene->roots[ROOT_SPACE], 0, 0); }
