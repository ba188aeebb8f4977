/* A dam break by smoothed-particle hydrodynamics: the parts of the simulation, each in the file of its name.
 *
 * Functions that answer bool answer false after program_fail or program_exhausted. */
#ifndef SPH_SPH_H
#define SPH_SPH_H

#include "classes.h"

/* The collector's objects that live as long as the simulation: slots of an EDEN_FRAME of the caller's. */
enum {
    ROOT_PARTICLES, /* Array of HGParticles */
    ROOT_SAMPLES,   /* OrderedCollection of HGSamples */
    ROOT_IMPULSE,   /* HG2dPoint: what the walls have given to the particles, in N s */
    ROOTS
};

struct simulation {
    struct program *program;
    eden_mutator *mutator;
    const eden_class *sites; /* by enum sph_site */
    eden_value *roots;

    size_t columns, rows; /* of the block of water, in particles */
    int64_t steps;
    int64_t every;        /* steps from sample to sample */
    uint64_t seed;        /* not 0 */
    int64_t jitter;       /* percent of the spacing */
    double width, height; /* of the box, in m */
};

/* setup.c: the box and the particles in it, at rest. May collect. */
bool setup(struct simulation *s);

/* neighbors.c: each particle learns its neighbors. May collect. */
bool find_neighbors(struct simulation *s);

/* fluid.c: density and pressure of each particle, from its neighbors; then the force on each. May collect. */
bool find_densities(struct simulation *s);
bool find_forces(struct simulation *s);

/* motion.c: a step in time, by the forces found. May collect. */
bool move(struct simulation *s, int64_t step);

/* measure.c: adds a sample of the whole. Densities must have been found. May collect. */
bool measure(struct simulation *s, int64_t step);
/* FNV-1a over positions and velocities: the particles in order, x, y, vx, vy of each as 8 bytes, lowest first. */
uint64_t checksum(const struct simulation *s);

/* print.c */
bool print_json(const struct simulation *s);
bool print_table(const struct simulation *s);

static inline size_t particle_count(const struct simulation *s) { return s->columns * s->rows; }
static inline eden_value particle_at(const struct simulation *s, size_t index) {
    return eden_slot(s->roots[ROOT_PARTICLES], index);
}

#endif
