#include "objects.h"

#include <math.h>

static eden_value made(struct scene *scene, eden_value object) {
    if (object == EDEN_NONE) {
        program_exhausted(scene->program, scene->mutator);
    }
    return object;
}

eden_value scene_new(struct scene *scene, enum site site) {
    return made(scene, eden_new(scene->mutator, scene->sites[site]));
}

eden_value scene_new_slots(struct scene *scene, enum site site, size_t count) {
    return made(scene, eden_new_slots(scene->mutator, scene->sites[site], count));
}

eden_value scene_new_bytes(struct scene *scene, enum site site, size_t count) {
    return made(scene, eden_new_raw(scene->mutator, scene->sites[site], count));
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

static eden_value number_new(struct scene *scene, double value) {
    if (eden_float_fits(value)) {
        return eden_float(value);
    }
    eden_value boxed = scene_new_bytes(scene, SITE_BOXED, 1);
    if (boxed != EDEN_NONE) {
        memcpy(eden_raw(boxed), &value, sizeof value);
    }
    return boxed;
}

static eden_value point_boxed(struct scene *scene, enum site site, double x, double y) {
    enum { X, Y, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[X] = number_new(scene, x);
    local[Y] = local[X] == EDEN_NONE ? EDEN_NONE : number_new(scene, y);
    eden_value point = local[Y] == EDEN_NONE ? EDEN_NONE : scene_new(scene, site);
    if (point != EDEN_NONE) {
        eden_slot_set(scene->mutator, point, POINT_X, local[X]);
        eden_slot_set(scene->mutator, point, POINT_Y, local[Y]);
    }
    return point;
}

eden_value point_new(struct scene *scene, enum site site, double x, double y) {
    if (!eden_float_fits(x) || !eden_float_fits(y)) {
        return point_boxed(scene, site, x, y);
    }
    eden_value point = scene_new(scene, site);
    if (point != EDEN_NONE) {
        eden_slot_set(scene->mutator, point, POINT_X, eden_float(x));
        eden_slot_set(scene->mutator, point, POINT_Y, eden_float(y));
    }
    return point;
}

eden_value point_plus(struct scene *scene, enum site site, eden_value a, eden_value b) {
    return point_new(scene, site, point_x(a) + point_x(b), point_y(a) + point_y(b));
}

eden_value point_minus(struct scene *scene, enum site site, eden_value a, eden_value b) {
    return point_new(scene, site, point_x(a) - point_x(b), point_y(a) - point_y(b));
}

eden_value point_times(struct scene *scene, enum site site, eden_value point, double factor) {
    return point_new(scene, site, point_x(point) * factor, point_y(point) * factor);
}

eden_value point_over(struct scene *scene, enum site site, eden_value point, double divisor) {
    return point_new(scene, site, point_x(point) / divisor, point_y(point) / divisor);
}

double point_length2(eden_value point) {
    double x = point_x(point), y = point_y(point);
    return x * x + y * y;
}

eden_value point_limited(struct scene *scene, enum site site, eden_value point, double most) {
    double length = sqrt(point_length2(point));
    return length > most ? point_times(scene, site, point, most / length) : point;
}

eden_value pixel_new(struct scene *scene, enum site site, int64_t x, int64_t y) {
    eden_value point = scene_new(scene, site);
    if (point != EDEN_NONE) {
        whole_set(scene->mutator, point, POINT_X, x);
        whole_set(scene->mutator, point, POINT_Y, y);
    }
    return point;
}

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

eden_value bounds_new(struct scene *scene, enum site site, struct box box) {
    eden_value bounds = scene_new(scene, site);
    if (bounds != EDEN_NONE) {
        whole_set(scene->mutator, bounds, BOUNDS_LEFT, box.left);
        whole_set(scene->mutator, bounds, BOUNDS_TOP, box.top);
        whole_set(scene->mutator, bounds, BOUNDS_RIGHT, box.right);
        whole_set(scene->mutator, bounds, BOUNDS_BOTTOM, box.bottom);
    }
    return bounds;
}

eden_value bounds_translated(struct scene *scene, enum site site, eden_value bounds, int64_t x, int64_t y) {
    struct box box = bounds_box(bounds);
    return bounds_new(scene, site, (struct box){box.left + x, box.top + y, box.right + x, box.bottom + y});
}

eden_value bounds_merged(struct scene *scene, eden_value a, eden_value b) {
    struct box m = bounds_box(a), other = bounds_box(b);
    m.left = other.left < m.left ? other.left : m.left;
    m.top = other.top < m.top ? other.top : m.top;
    m.right = other.right > m.right ? other.right : m.right;
    m.bottom = other.bottom > m.bottom ? other.bottom : m.bottom;
    return bounds_new(scene, SITE_MERGED, m);
}

/* ---- collections and strings ------------------------------------------------------------------------------------- */

eden_value collection_new(struct scene *scene, enum site site, enum site array_site, size_t capacity) {
    EDEN_FRAME(scene->mutator, array, 1);
    array[0] = scene_new_slots(scene, array_site, capacity);
    eden_value collection = array[0] == EDEN_NONE ? EDEN_NONE : scene_new(scene, site);
    if (collection != EDEN_NONE) {
        eden_slot_set(scene->mutator, collection, COLLECTION_ARRAY, array[0]);
        whole_set(scene->mutator, collection, COLLECTION_COUNT, 0);
    }
    return collection;
}

static bool collection_grow(struct scene *scene, enum site array_site, eden_value collection) {
    EDEN_FRAME(scene->mutator, local, 1);
    local[0] = collection;
    size_t count = collection_count(collection);
    eden_value larger = scene_new_slots(scene, array_site, 2 * count);
    if (larger == EDEN_NONE) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        eden_slot_set(scene->mutator, larger, i, collection_at(local[0], i));
    }
    eden_slot_set(scene->mutator, local[0], COLLECTION_ARRAY, larger);
    return true;
}

bool collection_add(struct scene *scene, enum site array_site, eden_value collection, eden_value item) {
    enum { COLLECTION, ITEM, LOCALS };
    EDEN_FRAME(scene->mutator, local, LOCALS);
    local[COLLECTION] = collection;
    local[ITEM] = item;
    size_t count = collection_count(collection);
    if (count == eden_slot_count(eden_slot(collection, COLLECTION_ARRAY)) &&
        !collection_grow(scene, array_site, collection)) {
        return false;
    }
    collection_put(scene->mutator, local[COLLECTION], count, local[ITEM]);
    whole_set(scene->mutator, local[COLLECTION], COLLECTION_COUNT, (int64_t)count + 1);
    return true;
}

eden_value digits_new(struct scene *scene, int64_t number) {
    char digits[24];
    size_t length = 0;
    do {
        length++;
        digits[sizeof digits - length] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    eden_value text = scene_new_bytes(scene, SITE_TEXT, length);
    if (text != EDEN_NONE) {
        memcpy(eden_raw(text), digits + sizeof digits - length, length);
    }
    return text;
}
