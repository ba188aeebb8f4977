/* A fluid of particles, and its picture.
 *
 * Smoothed-particle hydrodynamics in two dimensions after Müller, Charypar and Gross, "Particle-Based Fluid Simulation
 * for Interactive Applications" (2003). A quantity at a place is the sum of what the particles within the support h
 * contribute, weighted by a kernel of the distance r:
 *
 *   density    rho_i = sum of m 4 / (pi h^8) (h^2 - r^2)^3, i itself included
 *   pressure   p_i = k (rho_i - rho_0), at least 0; force m^2 (p_i + p_j) / (2 rho_i rho_j) 30 / (pi h^5) (h - r)^2,
 *              along the unit vector from j to i
 *   viscosity  force mu m^2 / (rho_i rho_j) 40 / (pi h^5) (h - r) (v_j - v_i)
 *
 * and gravity. What j does to i is to the last bit the opposite of what i does to j: only gravity and walls change the
 * momentum. Time: v += dt F / m, then x += dt v. A wall throws back what is beyond it, damped. All numbers are doubles,
 * summed from left to right without fused multiply-add: the same seed gives the same bits everywhere.
 *
 * Classes are those of Pharo's HoneyGinger (github.com/tomooda/HoneyGinger) and of Pharo's graphics. Each vector is a
 * new point, each pair of neighbors a contact; a step's objects die with the step. */
#ifndef FLUID_FLUID_H
#define FLUID_FLUID_H

#include "program.h"

/* Powers of two where there is a choice: quotients by them are exact. */
static const double spacing = 1.0 / 32;    /* m, of the particles at the beginning */
static const double support = 1.0 / 16;    /* m: h; a cell's side */
static const double time_step = 1.0 / 512; /* s: dt */
static const double gravity = 9.81;        /* m/s^2, towards y = 0 */
static const double mass = 1000.0 / 1024;  /* kg: of a square of water, of rho_0 = 1000 kg/m^2 */

enum fluid_class {
    ARRAY,
    POINT, /* a vector of the simulation */
    PARTICLE,
    CONTACT,
    SCREEN_POINT,
    RECTANGLE,
    FORM,
    BITMAP,
    FLUID_CLASSES
};

enum fluid_site {
    SITE_PARTICLES,
    SITE_PARTICLE,
    SITE_START,
    SITE_MAP,
    SITE_CELL,
    SITE_INDEX,
    SITE_CORNER,
    SITE_DIRECTION,
    SITE_CONTACT,
    SITE_PRESSURE,
    SITE_VISCOSITY,
    SITE_GRAVITY,
    SITE_ACCELERATED,
    SITE_MOVED,
    SITE_TILE,
    SITE_TILE_BITS,
    SITE_TILE_OFFSET,
    SITE_BOUNDS,
    SITE_BOUNDS_CORNER,
    FLUID_SITES
};

/* Slots of the fixed classes. */
enum { POINT_X, POINT_Y, POINT_SLOTS };
enum {
    PARTICLE_POSITION,
    PARTICLE_VELOCITY,
    PARTICLE_FORCE,
    PARTICLE_DENSITY,
    PARTICLE_PRESSURE,
    PARTICLE_CONTACTS, /* the first */
    PARTICLE_SLOTS
};
enum {
    CONTACT_PARTICLE,
    CONTACT_OTHER,
    CONTACT_DIRECTION, /* the unit vector from the other to the particle; 0 where they are in the same place */
    CONTACT_POLY6,     /* the kernels at this distance: for the density, */
    CONTACT_SPIKY,     /* the pressure */
    CONTACT_LAPLACIAN, /* and the viscosity */
    CONTACT_NEXT,
    CONTACT_SLOTS
};
enum { RECTANGLE_ORIGIN, RECTANGLE_CORNER, RECTANGLE_SLOTS };
enum { FORM_BITS, FORM_WIDTH, FORM_HEIGHT, FORM_DEPTH, FORM_OFFSET, FORM_SLOTS };

/* What lives longer than a call: slots of an EDEN_FRAME of the caller's. */
enum {
    ROOT_PARTICLES, /* Array of all particles */
    ROOT_MAP,       /* Array, for each cell EDEN_NONE or an Array: how many particles, and these */
    ROOTS
};

struct fluid {
    struct program *program;
    eden_mutator *mutator;
    eden_class sites[FLUID_SITES];
    eden_value *roots;
    size_t columns, rows; /* of the block of water, in particles; the box is four times as wide and twice as high */
    double impulse[2];    /* what the walls have given to the particles, in N s */
    uint64_t pixels;      /* drawn so far */
    uint64_t checksum;    /* of all tiles drawn so far */
};

/* Unless it says otherwise, what is here may collect; false or EDEN_NONE after program_fail. */

bool fluid_define(struct fluid *fluid);
/* The block of water, at rest. Each particle is off its regular place by at most a twentieth of the spacing. */
bool fluid_make(struct fluid *fluid, uint64_t seed);
/* Draws the fluid, then moves it by dt. */
bool fluid_step(struct fluid *fluid);
/* draw.c: draws the particles, from the map. */
bool fluid_draw(struct fluid *fluid);

/* Passes a new object on to --keep-class. */
static inline eden_value fluid_new(struct fluid *fluid, eden_value object) {
    object = program_kept(fluid->program, fluid->mutator, object);
    if (object == EDEN_NONE) {
        program_exhausted(fluid->program, fluid->mutator);
    }
    return object;
}

/* The number as an immediate: what is too small for one becomes 0, and what is too large the largest power of ten. None
 * of these collects. */
static inline eden_value number(double d) {
    return eden_float(eden_float_fits(d) ? d : d < 1.0 && d > -1.0 ? 0.0 : 1e38);
}
static inline double number_at(eden_value object, size_t slot) { return eden_float_value(eden_slot(object, slot)); }
static inline double point_x(eden_value point) { return number_at(point, POINT_X); }
static inline double point_y(eden_value point) { return number_at(point, POINT_Y); }

static inline size_t fluid_cells_wide(const struct fluid *fluid) { return 2 * fluid->columns + 1; }
static inline size_t fluid_cells_high(const struct fluid *fluid) { return fluid->rows + 1; }
static inline size_t fluid_count(const struct fluid *fluid) { return fluid->columns * fluid->rows; }
static inline eden_value fluid_particle(const struct fluid *fluid, size_t index) {
    return eden_slot(fluid->roots[ROOT_PARTICLES], index);
}

/* A point of two immediates. */
static inline eden_value fluid_pair(struct fluid *fluid, enum fluid_site site, eden_value x, eden_value y) {
    eden_value point = fluid_new(fluid, eden_new(fluid->mutator, fluid->sites[site]));
    if (point != EDEN_NONE) {
        eden_slot_set(fluid->mutator, point, POINT_X, x);
        eden_slot_set(fluid->mutator, point, POINT_Y, y);
    }
    return point;
}

#endif
