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

enum site {
    SITE_PATCHES,     /* Array of all patches, row by row */
    SITE_PATCH,       /* RMDPatch */
    SITE_PATCH_SETUP, /* RMDPatchState */
    SITE_PATCH_GROW,  /* RMDPatchState */
    SITE_AROUND,      /* Array of nine patches */
    SITE_SETUP,       /* Goat, Wolf */
    SITE_BORN = SITE_SETUP + SPECIES,
    SITE_PLACE_SETUP = SITE_BORN + SPECIES, /* Point */
    SITE_PLACE_GRASS,                       /* Point: where a goat goes */
    SITE_PLACE_STRAY,                       /* Point: where a wolf goes */
    SITE_VECTOR_MOVE,                       /* Point: from the old place to the new */
    SITE_VECTOR_CHASE,                      /* Point: from a wolf to a goat */
    SITE_STATE_SETUP,                       /* RMDAnimatState */
    SITE_STATE_NEXT,                        /* RMDAnimatState: after the turn */
    SITE_STATE_BORN,                        /* RMDAnimatState: of a young */
    SITE_TASK,                              /* RMDTask */
    SITE_QUEUE,                             /* Heap of tasks */
    SITE_QUEUE_GROW,                        /* its Array */
    SITE_SPACE,                             /* Array: for each patch EDEN_NONE or the goats there */
    SITE_CELL,                              /* OrderedCollection of the goats of a patch */
    SITE_CELL_GROW,                         /* its Array */
    SITE_ANIMATS,                           /* OrderedCollection of a species */
    SITE_ANIMATS_GROW,                      /* its Array */
    SITE_YOUNG,                             /* OrderedCollection of the young of a step */
    SITE_YOUNG_GROW,                        /* its Array */
    SITE_CENSUS,                            /* RMDCensus: the numbers of a step */
    SITE_CHRONICLE,                         /* OrderedCollection of them */
    SITE_CHRONICLE_GROW,                    /* its Array */
    SITES
};

/* Defines them all. False, after program_fail, where the heap refuses one. */
bool classes_define(struct program *program, eden_heap *heap, eden_class sites[SITES]);

#endif
