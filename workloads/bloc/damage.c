/* Damage: what of the window has to be drawn again.
 *
 * During a frame the bounds that change are collected, in the window's coordinates, in the order of the changes: an
 * element that looks otherwise adds its bounds; one whose bounds change adds the old and the new ones, or, where that
 * covers no more pixels than both (areas added), the smallest that hold both. Bounds of no area are left out. Old and
 * new bounds are both taken in the parent as it stands now: a parent that moved has damaged all that was in it.
 *
 * At the end of the frame they are merged, in that order, into a region of at most REGION_MOST rectangles: the
 * rectangle that grows least when it takes the new bounds in (the first of equals) does so, unless that growth is more
 * than the new bounds' own area and there is room for one more rectangle. Growth is the area of the smallest bounds
 * that hold both, less the rectangle's area. So every changed bounds lie in one rectangle of the region; rectangles
 * may overlap, and scene->damage adds up their areas. */
#include "element.h"

enum { REGION_MOST = 8 };

bool damage_begin(struct scene *scene) {
    scene->roots[ROOT_CHANGED] = collection_new(scene, SITE_CHANGED, SITE_CHANGED_ARRAY, 64);
    return scene->roots[ROOT_CHANGED] != EDEN_NONE;
}

/* New bounds: those of something in `element`'s parent, in the window. */
static eden_value in_window(struct scene *scene, eden_value element, eden_value bounds) {
    enum { PARENT, BOUNDS, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[BOUNDS] = bounds;
    local[PARENT] = eden_slot(element, ELEMENT_PARENT);
    while (local[PARENT] != EDEN_NONE && local[BOUNDS] != EDEN_NONE) {
        struct box outer = bounds_box(eden_slot(local[PARENT], ELEMENT_BOUNDS));
        local[BOUNDS] = bounds_translated(scene, SITE_TRANSLATED, local[BOUNDS], outer.left, outer.top);
        local[PARENT] = eden_slot(local[PARENT], ELEMENT_PARENT);
    }
    return local[BOUNDS];
}

static bool change(struct scene *scene, eden_value bounds) {
    return box_area(bounds_box(bounds)) == 0 ||
           collection_add(scene, SITE_CHANGED_ARRAY, scene->roots[ROOT_CHANGED], bounds);
}

bool invalidate(struct scene *scene, eden_value element) {
    eden_value bounds = in_window(scene, element, eden_slot(element, ELEMENT_BOUNDS));
    return bounds != EDEN_NONE && change(scene, bounds);
}

/* What the space does when it hears of changed bounds. */
static bool space_hears(struct scene *scene, eden_value event) {
    enum { EVENT, OLD, NEW, BOTH, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[EVENT] = event;
    local[OLD] = in_window(scene, eden_slot(event, CHANGE_SOURCE), eden_slot(event, CHANGE_OLD));
    if (local[OLD] == EDEN_NONE) {
        return false;
    }
    local[NEW] = in_window(scene, eden_slot(local[EVENT], CHANGE_SOURCE), eden_slot(local[EVENT], CHANGE_NEW));
    if (local[NEW] == EDEN_NONE) {
        return false;
    }
    int64_t old_area = box_area(bounds_box(local[OLD])), new_area = box_area(bounds_box(local[NEW]));
    if (old_area == 0 || new_area == 0) {
        return change(scene, local[OLD]) && change(scene, local[NEW]);
    }
    local[BOTH] = bounds_merged(scene, local[OLD], local[NEW]);
    if (local[BOTH] == EDEN_NONE) {
        return false;
    }
    return box_area(bounds_box(local[BOTH])) <= old_area + new_area
               ? change(scene, local[BOTH])
               : change(scene, local[OLD]) && change(scene, local[NEW]);
}

bool bounds_changed(struct scene *scene, eden_value element, eden_value old) {
    enum { ELEMENT, OLD, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[ELEMENT] = element;
    local[OLD] = old;
    eden_value event = scene_new(scene, SITE_BOUNDS_CHANGED);
    if (event == EDEN_NONE) {
        return false;
    }
    eden_slot_set(scene->mutator, event, CHANGE_SOURCE, local[ELEMENT]);
    eden_slot_set(scene->mutator, event, CHANGE_OLD, local[OLD]);
    eden_slot_set(scene->mutator, event, CHANGE_NEW, eden_slot(local[ELEMENT], ELEMENT_BOUNDS));
    return space_hears(scene, event);
}

static bool region_add(struct scene *scene, eden_value bounds) {
    enum { BOUNDS, BEST, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[BOUNDS] = bounds;
    size_t count = collection_count(scene->roots[ROOT_REGION]), best = 0;
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        eden_value rectangle = collection_at(scene->roots[ROOT_REGION], i);
        int64_t area = box_area(bounds_box(rectangle));
        eden_value merged = bounds_merged(scene, rectangle, local[BOUNDS]);
        if (merged == EDEN_NONE) {
            return false;
        }
        int64_t growth = box_area(bounds_box(merged)) - area;
        if (growth < least) {
            least = growth;
            best = i;
            local[BEST] = merged;
        }
    }
    if (count == 0 || (count < REGION_MOST && least > box_area(bounds_box(local[BOUNDS])))) {
        return collection_add(scene, SITE_REGION_ARRAY, scene->roots[ROOT_REGION], local[BOUNDS]);
    }
    collection_put(scene->mutator, scene->roots[ROOT_REGION], best, local[BEST]);
    return true;
}

bool damage_region(struct scene *scene) {
    scene->roots[ROOT_REGION] = collection_new(scene, SITE_REGION, SITE_REGION_ARRAY, REGION_MOST);
    bool ok = scene->roots[ROOT_REGION] != EDEN_NONE;
    for (size_t i = 0; ok && i < collection_count(scene->roots[ROOT_CHANGED]); i++) {
        ok = region_add(scene, collection_at(scene->roots[ROOT_CHANGED], i));
    }
    for (size_t i = 0; ok && i < collection_count(scene->roots[ROOT_REGION]); i++) {
        scene->damage += box_area(bounds_box(collection_at(scene->roots[ROOT_REGION], i)));
    }
    return ok;
}

bool region_meets(const struct scene *scene, struct box box) {
    bool meets = false;
    for (size_t i = 0; i < collection_count(scene->roots[ROOT_REGION]) && !meets; i++) {
        meets = box_meets(box, bounds_box(collection_at(scene->roots[ROOT_REGION], i)));
    }
    return meets;
}
