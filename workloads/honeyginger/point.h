/* Floats and HG2dPoints: numbers as Pharo keeps them.
 *
 * A Float is a small float where its exponent allows that (about 1e-38 to 1e38, and 0), which loses nothing, and a
 * BoxedFloat64 otherwise. A point is two slots of Floats, or of integers where it is an index. Every result is a new
 * object.
 *
 * Functions that make one may collect. They read their arguments first: only what is needed afterwards must stand in a
 * root, and so must *result if anything is allocated before it is used. */
#ifndef SPH_POINT_H
#define SPH_POINT_H

#include "sph.h"

bool float_new(struct simulation *s, double d, eden_value *result);
bool point_new(struct simulation *s, enum sph_site site, double x, double y, eden_value *result);

static inline double float_value(eden_value v) {
    if (eden_is_float(v)) {
        return eden_float_value(v);
    }
    double d;
    memcpy(&d, eden_raw(v), sizeof d);
    return d;
}

static inline double point_x(eden_value point) { return float_value(eden_slot(point, POINT_X)); }
static inline double point_y(eden_value point) { return float_value(eden_slot(point, POINT_Y)); }

static inline bool point_plus(struct simulation *s, enum sph_site site, eden_value a, eden_value b,
                              eden_value *result) {
    return point_new(s, site, point_x(a) + point_x(b), point_y(a) + point_y(b), result);
}
static inline bool point_minus(struct simulation *s, enum sph_site site, eden_value a, eden_value b,
                               eden_value *result) {
    return point_new(s, site, point_x(a) - point_x(b), point_y(a) - point_y(b), result);
}
static inline bool point_times(struct simulation *s, enum sph_site site, eden_value point, double factor,
                               eden_value *result) {
    return point_new(s, site, point_x(point) * factor, point_y(point) * factor, result);
}
static inline bool point_over(struct simulation *s, enum sph_site site, eden_value point, double divisor,
                              eden_value *result) {
    return point_new(s, site, point_x(point) / divisor, point_y(point) / divisor, result);
}

/* Points of integers. */
bool index_point_new(struct simulation *s, enum sph_site site, int64_t x, int64_t y, eden_value *result);
static inline int64_t index_x(eden_value point) { return eden_int_value(eden_slot(point, POINT_X)); }
static inline int64_t index_y(eden_value point) { return eden_int_value(eden_slot(point, POINT_Y)); }
/* The largest integers that are not larger. Both must be within 2^53. */
bool point_floor(struct simulation *s, enum sph_site site, eden_value point, eden_value *result);

#endif
