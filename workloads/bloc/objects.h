/* Points, bounds and collections. What makes one may collect and answers EDEN_NONE where memory is exhausted; the
 * arguments are read before that, so they need not stand in a root for its sake. */
#ifndef BOIDS_OBJECTS_H
#define BOIDS_OBJECTS_H

#include "scene.h"

/* A double is an immediate where that holds it exactly (magnitudes from about 1e-38 to 1e38, and zeros), else a
 * BoxedFloat64; no bit is ever lost. */
static inline double number_value(eden_value number) {
    if (eden_is_float(number)) {
        return eden_float_value(number);
    }
    double value;
    memcpy(&value, eden_raw(number), sizeof value);
    return value;
}

/* Points of doubles. */
static inline double point_x(eden_value point) { return number_value(eden_slot(point, POINT_X)); }
static inline double point_y(eden_value point) { return number_value(eden_slot(point, POINT_Y)); }
eden_value point_new(struct scene *scene, enum site site, double x, double y);
eden_value point_plus(struct scene *scene, enum site site, eden_value a, eden_value b);
eden_value point_minus(struct scene *scene, enum site site, eden_value a, eden_value b);
eden_value point_times(struct scene *scene, enum site site, eden_value point, double factor);
eden_value point_over(struct scene *scene, enum site site, eden_value point, double divisor);
/* The point itself, or, if it is farther than `most` from 0@0, one in its direction that is not: p * (most / |p|). */
eden_value point_limited(struct scene *scene, enum site site, eden_value point, double most);
double point_length2(eden_value point); /* x*x + y*y */

/* A whole number in a slot. */
static inline int64_t whole(eden_value object, size_t index) { return eden_int_value(eden_slot(object, index)); }
static inline void whole_set(eden_mutator *mutator, eden_value object, size_t index, int64_t value) {
    eden_slot_set(mutator, object, index, eden_int(value));
}

/* A Point of whole numbers. */
eden_value pixel_new(struct scene *scene, enum site site, int64_t x, int64_t y);

/* BlBounds: whole numbers; right and bottom are the first that lie outside. */
struct box {
    int64_t left, top, right, bottom;
};
static inline struct box bounds_box(eden_value bounds) {
    return (struct box){whole(bounds, BOUNDS_LEFT), whole(bounds, BOUNDS_TOP), whole(bounds, BOUNDS_RIGHT),
                        whole(bounds, BOUNDS_BOTTOM)};
}
static inline int64_t box_area(struct box b) { return (b.right - b.left) * (b.bottom - b.top); }
static inline bool box_same(struct box a, struct box b) {
    return a.left == b.left && a.top == b.top && a.right == b.right && a.bottom == b.bottom;
}
static inline bool box_meets(struct box a, struct box b) {
    return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
static inline bool box_within(struct box inner, struct box outer) {
    return inner.left >= outer.left && inner.top >= outer.top && inner.right <= outer.right &&
           inner.bottom <= outer.bottom;
}
eden_value bounds_new(struct scene *scene, enum site site, struct box box);
eden_value bounds_translated(struct scene *scene, enum site site, eden_value bounds, int64_t x, int64_t y);
/* The smallest bounds that hold both. */
eden_value bounds_merged(struct scene *scene, eden_value a, eden_value b);

/* OrderedCollections: an Array that is replaced by one of twice the size when it is full. */
static inline size_t collection_count(eden_value collection) { return (size_t)whole(collection, COLLECTION_COUNT); }
static inline eden_value collection_at(eden_value collection, size_t index) {
    return eden_slot(eden_slot(collection, COLLECTION_ARRAY), index);
}
static inline void collection_put(eden_mutator *mutator, eden_value collection, size_t index, eden_value item) {
    eden_slot_set(mutator, eden_slot(collection, COLLECTION_ARRAY), index, item);
}
eden_value collection_new(struct scene *scene, enum site site, enum site array_site, size_t capacity);
bool collection_add(struct scene *scene, enum site array_site, eden_value collection, eden_value item);

/* The digits of a number that is not negative. */
eden_value digits_new(struct scene *scene, int64_t number);

#endif
