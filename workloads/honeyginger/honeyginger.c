/* honeyginger: a dam breaks, by smoothed-particle hydrodynamics, and the program prints what the water does.
 *
 * This is the programs' HoneyGinger of the papers on the Pharo VM's collector: particles live long, and each vector,
 * list and map that a step makes dies with the step or the next (classes.h; the model is in model.h). */
#include "program.h"
#include "sph.h"

static const char usage[] =
    "usage: honeyginger [--json] [--verify] [--columns N] [--rows N] [--steps N] [--every N] [--seed N] [--jitter N]\n"
    "\n"
    "Lets a block of water fall to the floor of a box, by smoothed-particle hydrodynamics in two dimensions, and\n"
    "prints energies, momentum, centre of mass and densities (the least and the most) of samples, and a checksum of\n"
    "all positions and velocities. The same options give the same numbers, to the last bit.\n"
    "\n"
    "  --columns N   width of the block, in particles: 1 to 1000, default 24\n"
    "  --rows N      height of the block, in particles: 1 to 100, default 36\n"
    "  --steps N     steps of 1/512 s: 0 to 1000000, default 1000\n"
    "  --every N     steps from sample to sample: 1 to 1000000, default 100; the last step is always sampled\n"
    "  --seed N      of the random places at the beginning: 1 to 2^63 - 1, default 1\n"
    "  --jitter N    how far these are from regular ones, in percent of the spacing: 0 to 100, default 10\n"
    "  --json        print one JSON object\n"
    "  --verify      check the whole heap afterwards\n"
    "  --help        this text\n"
    "\n"
    "EDEN_OPTIONS sets the collector's parameters, for example EDEN_OPTIONS=eden_size=64M.\n"
    "Exit status: 0, or 1 where memory is exhausted or the simulation unstable; 2: wrong usage.\n";

enum { COLUMNS, ROWS, STEPS, EVERY, SEED, JITTER, NUMBERS };

/* The particles' neighbors and densities are those of their positions before and after. */
static bool step(struct simulation *s, int64_t number) {
    return find_forces(s) && move(s, number) && find_neighbors(s) && find_densities(s);
}

static bool simulate(struct simulation *s) {
    if (!setup(s) || !find_neighbors(s) || !find_densities(s) || !measure(s, 0)) {
        return false;
    }
    for (int64_t number = 1; number <= s->steps; number++) {
        bool is_sampled = number % s->every == 0 || number == s->steps;
        if (!step(s, number) || (is_sampled && !measure(s, number))) {
            return false;
        }
    }
    return true;
}

static bool run(struct program *program, eden_mutator *mutator) {
    eden_class sites[SITES];
    if (!sph_sites_define(program, eden_mutator_heap(mutator), sites)) {
        return false;
    }
    EDEN_FRAME(mutator, roots, ROOTS);
    const struct program_number *numbers = program->numbers;
    struct simulation s = {
        .program = program,
        .mutator = mutator,
        .sites = sites,
        .roots = roots,
        .columns = (size_t)numbers[COLUMNS].value,
        .rows = (size_t)numbers[ROWS].value,
        .steps = numbers[STEPS].value,
        .every = numbers[EVERY].value,
        .seed = (uint64_t)numbers[SEED].value,
        .jitter = numbers[JITTER].value,
    };
    return simulate(&s) && (program->json ? print_json(&s) : print_table(&s)) && program_flush(program) &&
           program_verify(program, mutator);
}

int main(int argc, char **argv) {
    struct program_number numbers[NUMBERS] = {
        [COLUMNS] = {"columns", 1, 1000, 24}, [ROWS] = {"rows", 1, 100, 36},      [STEPS] = {"steps", 0, 1000000, 1000},
        [EVERY] = {"every", 1, 1000000, 100}, [SEED] = {"seed", 1, INT64_MAX, 1}, [JITTER] = {"jitter", 0, 100, 10},
    };
    struct program program = {
        .name = "honeyginger", .usage = usage, .numbers = numbers, .number_count = NUMBERS, .run = run};
    return program_main(&program, argc, argv);
}
