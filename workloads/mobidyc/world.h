/* Wolves, goats and grass.
 *
 * An individual-based model after the example "Goat and Wolf" of Re:Mobidyc (github.com/ReMobidyc/ReMobidyc). The world
 * is a torus of patches with grass. In each step the grass grows, then each goat, then each wolf does its three tasks:
 *
 *   move       It is a step older; older than its lifespan, it dies. It goes to one of the nine patches around it, by
 *              lot: the odds are as the grass there, for a wolf as the goats there. Where there is none, or the wolf is
 *              sated, all nine are alike. It respires; without energy it dies.
 *   eat        A goat takes grass. A hungry wolf catches a goat of its patch if below(CATCH_ODDS) is 0, and gains three
 *              quarters of its energy.
 *   reproduce  With enough energy it bears one young, which takes half of it, if below(breed_odds + crowd) is 0. A
 *              wolf's crowd is 8 for each other wolf around, a goat's is 0. The young has its first turn in the next
 * step.
 *
 * All numbers are integers. Energy is in units that are neither made nor lost: initial + grown = respired + lost +
 * left.
 *
 * As in Re:Mobidyc, attributes stand in a memory, a Dictionary, that a task reads as of t and writes anew for t + 1. A
 * task perceives its surroundings as arguments, a Dictionary too, and draws from a generator of its own: x becomes
 * 742938285 x modulo 2^31 - 1 (Fishman and Moore, "An exhaustive analysis of multiplicative congruential random number
 * generators with modulus 2^31 - 1", 1986). */
#ifndef WORLD_WORLD_H
#define WORLD_WORLD_H

#include "program.h"
#include "random.h"

enum species { GOAT, WOLF, SPECIES };
enum task { MOVE, EAT, REPRODUCE, TASKS };
enum { GRASS_MOST = 60, GRASS_GROWTH = 3, BITE = 16, GOAT_FULL = 200, WOLF_SATED = 400, CATCH_ODDS = 7, AROUND = 9 };

enum world_class {
    ARRAY,
    DICTIONARY,
    ASSOCIATION,
    GENERATOR,
    POINT,
    PATCH,
    GOAT_CLASS,
    WOLF_CLASS, /* as the species */
    WORLD_CLASSES
};

enum world_site {
    SITE_PATCHES,
    SITE_PATCH,
    SITE_HERD,
    SITE_GOAT,
    SITE_WOLF, /* as the species */
    SITE_PLACE,
    SITE_GENERATOR,
    SITE_AROUND,
    SITE_WEIGHTS,
    SITE_ARGUMENTS,
    SITE_ARGUMENTS_ARRAY,
    SITE_ARGUMENT,
    SITE_MEMORY,
    SITE_MEMORY_ARRAY,
    SITE_ATTRIBUTE,
    WORLD_SITES
};

/* Slots of the fixed classes. */
enum { DICTIONARY_TALLY, DICTIONARY_ARRAY, DICTIONARY_SLOTS };
enum { ASSOCIATION_KEY, ASSOCIATION_VALUE, ASSOCIATION_SLOTS };
enum { GENERATOR_STATE, GENERATOR_MULTIPLIER, GENERATOR_MODULUS, GENERATOR_SLOTS };
enum { POINT_X, POINT_Y, POINT_SLOTS };
enum { PATCH_GRASS, PATCH_GOATS /* the first */, PATCH_COUNTS /* of each species */, PATCH_SLOTS = 2 + SPECIES };
enum { ANIMAT_MEMORY /* EDEN_NONE: dead */, ANIMAT_BESIDE /* the next goat of its patch */, ANIMAT_SLOTS };

/* Keys of an animal's memory, and of a task's arguments. */
enum { KEY_ENERGY, KEY_AGE, KEY_LIFESPAN, KEY_PLACE, KEY_AROUND, KEY_WEIGHTS };

/* What lives longer than a call: slots of an EDEN_FRAME of the caller's. */
enum { ROOT_PATCHES, ROOT_HERDS /* of each species: an Array with room */, ROOTS = ROOT_HERDS + SPECIES };

struct herd {
    size_t count;
    int64_t births, deaths;
};

struct world {
    struct program *program;
    eden_mutator *mutator;
    eden_class sites[WORLD_SITES];
    eden_value *roots;
    struct random random;  /* of the start, and of the generators' seeds */
    int64_t width, height; /* in patches; at least 3, so that the nine around a place differ */
    struct herd herds[SPECIES];
    int64_t initial, grown, respired, lost; /* energy */
};

/* May collect; false, after program_fail. */
bool world_define(struct world *world);
bool world_make(struct world *world, const int64_t animats[SPECIES]);
bool world_step(struct world *world);
/* The energy of all grass and animals. `sum` becomes FNV-1a over it, place by place. Does not collect. */
int64_t world_energy(const struct world *world, uint64_t *sum);

#endif
