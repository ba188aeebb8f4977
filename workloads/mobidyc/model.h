/* The model: wolves, goats and grass. What mobidyc computes, in full.
 *
 * Idea. An individual-based model after the example "Goat and Wolf" of Re:Mobidyc (github.com/ReMobidyc/ReMobidyc,
 * RMDSimulationModel class>>goatAndWolf, 2023): patches grow grass; goats respire, starve, walk for grass, eat and
 * reproduce; wolves respire, starve, chase the nearest goat, prey on it and reproduce. Numbers and age are ours.
 * Each of the three lives on the one before, so numbers rise and fall after each other.
 *
 * Numbers. All are integers; / rounds towards zero and is only used on numbers that are not negative. Energy is in
 * units of which nothing is made or lost unseen (ledger.h). A place is a point in 1/PATCH of a patch's side; the world
 * is a torus of width x height patches: x is taken modulo PATCH width, y modulo PATCH height. The vector from a to b is
 * b - a, where a coordinate beyond half the world (2 d > size or 2 d < -size) has the size subtracted or added.
 * below(n) draws a number in [0, n) (random.h). Every draw below is made in the order of the text.
 *
 * At the start (step 0), draw for each patch, row by row, its grass, below(GRASS_MOST + 1). Then for each goat, then
 * for each wolf: x, below(PATCH width); y, below(PATCH height); lifespan, life_least + below(life_spread); age,
 * below(lifespan); energy, start_least + below(start_spread). Animals are numbered from 1 in the order in which they
 * come into the world, goats and wolves together.
 *
 * A step makes the state of the world at t + 1 from that at t:
 *
 *  1. Each patch has min(GRASS_MOST, grass + GRASS_GROWTH) grass at t + 1, less what is eaten in this step.
 *  2. A time within the step, below(TURN_TIMES), is drawn for each goat, then each wolf, in the order of their lists.
 *     By rising time, the lower number first where times are equal, each animal that is still alive has its turn:
 *      a. It is one step older. If older than its lifespan, it dies of age.
 *      b. It moves.
 *         A goat looks at the nine patches around its place, first its own, then the others row by row (from y - 1 and
 *         x - 1), and walks to one of them, by lot: below(G), where G is the grass of all nine at t, falls to the first
 *         patch if it is less than the grass there, else that is taken off and the next is tried. If G is 0 it stays
 *         in its own patch, without a draw. There, x and y are the patch's corner plus below(PATCH) each.
 *         A wolf with less than WOLF_SATED energy chases the nearest goat alive within REACH (by the places of goats at
 *         t; of several that are nearest, the one of the lowest number) and comes to stand where that goat stood. If
 *         there is none, or its energy is more, it strays by below(2 STRAY + 1) - STRAY in x, then in y.
 *      c. It respires respire + effort d / PATCH, where d is the length of its move, rounded down, or all its energy
 *         if it has less. If none is left it dies of hunger.
 *      d. It eats. A goat takes min(BITE, the grass left for t + 1, GOAT_FULL - energy) from the patch where it is now,
 *         and nothing if its energy is above GOAT_FULL. A wolf that chased a goat catches it if below(CATCH_ODDS) is 0;
 *         the goat dies, and 3/4 of the energy it has at that moment (after its turn if it had it) pass to the wolf.
 *      e. If its energy is at least breed_energy and below(breed_odds) is 0, it bears one young at its place, of age 0,
 *         which takes half its energy (rounded down) and draws a lifespan as at the start.
 *     A young has no turn before the next step, and is not seen in this one.
 *  3. The dead leave the lists of goats and wolves, whose order is kept; the young are put at the end, in order of
 *     birth. The grass and the numbers of goats and wolves are noted.
 *
 * Invariants. For each species, first + births - deaths = last. For the energy: ledger.h. */
#ifndef AGENTS_MODEL_H
#define AGENTS_MODEL_H

#include <stdint.h>

enum species { GOAT, WOLF, SPECIES };
enum death { OF_HUNGER, OF_AGE, BY_WOLF, DEATHS };

enum {
    PATCH = 256,
    GRASS_MOST = 60,
    GRASS_GROWTH = 3,
    BITE = 16,
    GOAT_FULL = 200,
    WOLF_SATED = 400,
    REACH = PATCH,     /* not more: what is nearer is in one of the nine patches around */
    STRAY = 2 * PATCH, /* less than the least world, of 3 patches */
    CATCH_ODDS = 4,
    TURN_TIMES = 1 << 20,
};

struct rules {
    int64_t life_least, life_spread;
    int64_t start_least, start_spread;
    int64_t respire, effort;
    int64_t breed_energy, breed_odds;
};

static const struct rules model_rules[SPECIES] = {
    [GOAT] = {.life_least = 60,
              .life_spread = 60,
              .start_least = 40,
              .start_spread = 80,
              .respire = 4,
              .effort = 1,
              .breed_energy = 120,
              .breed_odds = 6},
    [WOLF] = {.life_least = 80,
              .life_spread = 80,
              .start_least = 100,
              .start_spread = 200,
              .respire = 5,
              .effort = 2,
              .breed_energy = 320,
              .breed_odds = 8},
};

#endif
