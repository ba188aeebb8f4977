/* The classes of the simulation and the places of the program that make their instances.
 *
 * Classes and methods are those of Pharo's HoneyGinger (github.com/tomooda/HoneyGinger) where it has them. What it does
 * in blocks over the partitions of its particle map, this program does with collections: a Dictionary of partitions and
 * a list of neighbors for each particle, so that pressure and viscosity need no search of their own. HGSample is ours.
 */
#ifndef SPH_CLASSES_H
#define SPH_CLASSES_H

#include "program.h"

/* Slots of the FIXED classes. */
enum { POINT_X, POINT_Y, POINT_SLOTS };
enum {
    PARTICLE_POSITION,
    PARTICLE_VELOCITY,
    PARTICLE_FORCE,
    PARTICLE_MASS,
    PARTICLE_DENSITY,
    PARTICLE_PRESSURE,
    PARTICLE_NEIGHBORS, /* OrderedCollection of Associations: particle -> distance */
    PARTICLE_SLOTS
};
enum { MAP_STEP, MAP_SIZE, MAP_PARTITIONS, MAP_SLOTS };
enum { ASSOCIATION_KEY, ASSOCIATION_VALUE, ASSOCIATION_SLOTS };
enum { DICTIONARY_TALLY, DICTIONARY_ARRAY, DICTIONARY_SLOTS };
enum { LIST_ARRAY, LIST_SIZE, LIST_SLOTS };
enum {
    SAMPLE_STEP,
    SAMPLE_KINETIC,
    SAMPLE_POTENTIAL,
    SAMPLE_MOMENTUM,
    SAMPLE_CENTRE,
    SAMPLE_IMPULSE, /* of the walls on the particles, since the beginning */
    SAMPLE_DENSITY_LEAST,
    SAMPLE_DENSITY_MOST,
    SAMPLE_SLOTS
};

enum sph_site {
#define SITE(constant, class, name) constant,
#include "classes.def"
    SITES
};

/* Defines them all. False, after program_fail: the heap refuses one. */
bool sph_sites_define(struct program *program, eden_heap *heap, eden_class sites[SITES]);

#endif
