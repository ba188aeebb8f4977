/* The classes of the simulator and the places of the program that make their instances.
 *
 * Names follow Re:Mobidyc where it has the thing (RMDInteractionSpace, the names of tasks), and Pharo's collections.
 * As there, an agent is a lasting identity whose attributes stand in a memory of two buffers: a state read at t and a
 * state written for t + 1, here an object each. Energy, age and coordinates are SmallIntegers: they make no objects. */
#ifndef AGENTS_CLASSES_H
#define AGENTS_CLASSES_H

#include "model.h"
#include "program.h"

/* Slots of the FIXED classes. */
enum { POINT_X, POINT_Y, POINT_SLOTS };
enum {
    LIST_ARRAY,
    LIST_SIZE,
    LIST_SLOTS
}; /* OrderedCollection, Heap: elements stand in the first slots of the array */
enum { PATCH_COLUMN, PATCH_ROW, PATCH_NOW, PATCH_NEXT, PATCH_SLOTS };
enum { GROWN_GRASS, GROWN_SLOTS };                          /* RMDPatchState */
enum { STATE_PLACE, STATE_ENERGY, STATE_AGE, STATE_SLOTS }; /* RMDAnimatState */
/* Goat, Wolf. ANIMAT_DEATH: EDEN_NONE while alive. ANIMAT_NEXT: EDEN_NONE until its turn. */
enum { ANIMAT_NUMBER, ANIMAT_LIFESPAN, ANIMAT_NOW, ANIMAT_NEXT, ANIMAT_DEATH, ANIMAT_SLOTS };
enum { TASK_ORDER, TASK_ANIMAT, TASK_SLOTS }; /* RMDTask */
enum { CENSUS_GRASS, CENSUS_ANIMATS, CENSUS_SLOTS = CENSUS_ANIMATS + SPECIES };

/* The places that allocate; for species s, SITE_SETUP + s and SITE_BORN + s. */
enum site {
#define SITE(constant, class, name) constant,
#include "classes.def"
    SITES
};

/* Defines them all. False, after program_fail, where the heap refuses one. */
bool classes_define(struct program *program, eden_heap *heap, eden_class sites[SITES]);

#endif
