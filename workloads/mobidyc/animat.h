/* Animals: how they come into the world, and their turns. */
#ifndef AGENTS_ANIMAT_H
#define AGENTS_ANIMAT_H

#include "world.h"

/* What an animal is made with. */
struct animat_birth {
    enum site site, state_site;
    size_t buffer; /* ANIMAT_NOW or ANIMAT_NEXT: where its first state goes */
    int64_t lifespan, age, energy;
};

/* All may collect and, where memory is exhausted, return false or EDEN_NONE after program_fail. Pointers are to roots.
 */

eden_value animat_new(struct world *world, const struct animat_birth *birth, const eden_value *place);
/* *animat has its turn (model.h, 2a to 2e). */
bool animat_act(struct world *world, const eden_value *animat);

/* Does not collect. */
int64_t random_lifespan(struct world *world, enum species species);

/* A turn on its way. */
enum { TURN_ANIMAT, TURN_PLACE /* where it stands now */, TURN_PREY, TURN_SCRATCH, TURN_LOCALS };
struct turn {
    enum species species;
    int64_t age, energy;
    eden_value *local; /* roots: TURN_LOCALS */
};

/* How a species moves: local[TURN_PLACE] becomes where it goes. And how it eats: the energy that it takes in, which is
 * gone from where it was; does not collect. */
bool goat_move(struct world *world, struct turn *turn);
int64_t goat_eat(struct world *world, const struct turn *turn);
bool wolf_move(struct world *world, struct turn *turn);
int64_t wolf_eat(struct world *world, const struct turn *turn);

/* The animal dies of `cause`, when it has so much energy. Does not collect. */
void animat_die(struct world *world, enum species species, eden_value animat, enum death cause, int64_t energy);

#endif
