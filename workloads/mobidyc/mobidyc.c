/* mobidyc: wolves, goats and grass, on the collector.
 *
 * This is the programs' Re:Mobidyc of the papers on the Pharo VM's collector: each step makes a new state of every
 * patch and animal, from which the next is made (model.h: the model; classes.h: the objects). */
#include "print.h"
#include "program.h"
#include "simulation.h"

static const char usage[] =
    "usage: mobidyc [OPTION...]\n"
    "\n"
    "Simulates wolves, goats and grass, animal by animal, on a torus of patches, and prints how many there were, how\n"
    "many were born and died of what, and where the energy went.\n"
    "\n"
    "  --width N    patches from west to east, 3 to 2048 (176)\n"
    "  --height N   patches from north to south, 3 to 2048 (176)\n"
    "  --goats N    goats at the start, 0 to 1000000 (8000)\n"
    "  --wolves N   wolves at the start, 0 to 1000000 (800)\n"
    "  --steps N    steps, 0 to 1000000 (280)\n"
    "  --seed N     of the random numbers, 1 to 9223372036854775807 (1): the same seed, the same result\n"
    "  --json       print one JSON object\n"
    "  --verify     check the whole heap afterwards\n"
    "  --help       this text\n"
    "\n"
    "A swing is a change from above the mean of all steps to below it, or back.\n"
    "EDEN_OPTIONS sets the collector's parameters, for example EDEN_OPTIONS=eden_size=64M.\n"
    "Exit status: 0, or 1 where memory is exhausted or the result can't be written; 2: wrong usage.\n";

enum { WIDTH, HEIGHT, GOATS, WOLVES, STEPS, SEED, NUMBERS };

static bool run(struct program *program, eden_mutator *mutator) {
    const struct program_number *numbers = program->numbers;
    EDEN_FRAME(mutator, roots, ROOTS);
    struct world world = {.program = program,
                          .mutator = mutator,
                          .roots = roots,
                          .width = numbers[WIDTH].value,
                          .height = numbers[HEIGHT].value};
    random_seed(&world.random, numbers[SEED].value);
    const int64_t animats[SPECIES] = {[GOAT] = numbers[GOATS].value, [WOLF] = numbers[WOLVES].value};
    if (!classes_define(program, eden_mutator_heap(mutator), world.sites) || !simulation_new(&world, animats) ||
        !simulation_run(&world, numbers[STEPS].value)) {
        return false;
    }
    if (!program->json) {
        print_table(&world);
    } else if (!print_json(&world)) {
        return false;
    }
    return program_flush(program) && program_verify(program, mutator);
}

int main(int argc, char **argv) {
    struct program_number numbers[NUMBERS] = {
        [WIDTH] = {"width", 3, 2048, 176},     [HEIGHT] = {"height", 3, 2048, 176},
        [GOATS] = {"goats", 0, 1000000, 8000}, [WOLVES] = {"wolves", 0, 1000000, 800},
        [STEPS] = {"steps", 0, 1000000, 280},  [SEED] = {"seed", 1, INT64_MAX, 1},
    };
    struct program program = {
        .name = "mobidyc", .usage = usage, .numbers = numbers, .number_count = NUMBERS, .run = run};
    return program_main(&program, argc, argv);
}
