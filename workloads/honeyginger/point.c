#include "point.h"

static bool float_box(struct simulation *s, double d, eden_value *result) {
    eden_value box = eden_new_raw(s->mutator, s->sites[SITE_FLOAT], 1);
    if (box == EDEN_NONE) {
        return program_exhausted(s->program, s->mutator);
    }
    memcpy(eden_raw(box), &d, sizeof d);
    *result = box;
    return true;
}

bool float_new(struct simulation *s, double d, eden_value *result) {
    if (!eden_float_fits(d)) {
        return float_box(s, d, result);
    }
    *result = eden_float(d);
    return true;
}

/* Does not look into x and y, which must be immediates or stand in roots. */
static bool point_of(struct simulation *s, enum sph_site site, const eden_value *x, const eden_value *y,
                     eden_value *result) {
    eden_value point = eden_new(s->mutator, s->sites[site]);
    if (point == EDEN_NONE) {
        return program_exhausted(s->program, s->mutator);
    }
    eden_slot_set(s->mutator, point, POINT_X, *x);
    eden_slot_set(s->mutator, point, POINT_Y, *y);
    *result = point;
    return true;
}

static bool point_of_boxes(struct simulation *s, enum sph_site site, double x, double y, eden_value *result) {
    enum { X, Y, LOCALS };
    EDEN_FRAME(s->mutator, local, LOCALS);
    return float_new(s, x, &local[X]) && float_new(s, y, &local[Y]) && point_of(s, site, &local[X], &local[Y], result);
}

bool point_new(struct simulation *s, enum sph_site site, double x, double y, eden_value *result) {
    if (!eden_float_fits(x) || !eden_float_fits(y)) {
        return point_of_boxes(s, site, x, y, result);
    }
    eden_value small_x = eden_float(x), small_y = eden_float(y);
    return point_of(s, site, &small_x, &small_y, result);
}

bool index_point_new(struct simulation *s, enum sph_site site, int64_t x, int64_t y, eden_value *result) {
    eden_value small_x = eden_int(x), small_y = eden_int(y);
    return point_of(s, site, &small_x, &small_y, result);
}

static int64_t floor_of(double d) {
    int64_t towards_zero = (int64_t)d;
    return (double)towards_zero > d ? towards_zero - 1 : towards_zero;
}

bool point_floor(struct simulation *s, enum sph_site site, eden_value point, eden_value *result) {
    return index_point_new(s, site, floor_of(point_x(point)), floor_of(point_y(point)), result);
}
