/* The world of a simulation, and what the objects of its parts are made with. */
#ifndef AGENTS_WORLD_H
#define AGENTS_WORLD_H

#include "classes.h"
#include "ledger.h"
#include "random.h"

/* The collector's objects that a world is made of: slots of an EDEN_FRAME of the caller's. */
enum {
    ROOT_PATCHES,
    ROOT_TASKS, /* Heap; empty between steps */
    ROOT_SPACE, /* the goats of each patch at t */
    ROOT_CHRONICLE,
    ROOT_ANIMATS,                        /* for each species: those alive at t */
    ROOT_YOUNG = ROOT_ANIMATS + SPECIES, /* for each species: those born in this step */
    ROOTS = ROOT_YOUNG + SPECIES
};

struct world {
    struct program *program;
    eden_mutator *mutator;
    eden_class sites[SITES];
    eden_value *roots;
    struct random random;
    struct ledger ledger;
    int64_t width, height; /* in patches; at least 3, so that the nine around a place differ */
    int64_t numbered;      /* animals so far */
};

/* For a failed allocation. Always false. */
static inline bool world_exhausted(struct world *world) { return program_exhausted(world->program, world->mutator); }

static inline int64_t int_at(eden_value object, size_t slot) { return eden_int_value(eden_slot(object, slot)); }
static inline void int_put(struct world *world, eden_value object, size_t slot, int64_t value) {
    eden_slot_set(world->mutator, object, slot, eden_int(value));
}

static inline bool animat_is_alive(eden_value animat) { return eden_slot(animat, ANIMAT_DEATH) == EDEN_NONE; }

/* A new instance of a FIXED class. May collect. EDEN_NONE, after program_fail, where memory is exhausted. */
static inline eden_value world_new(struct world *world, enum site site) {
    eden_value object = eden_new(world->mutator, world->sites[site]);
    if (object == EDEN_NONE) {
        world_exhausted(world);
    }
    return object;
}

#endif
