/* mobidyc: wolves, goats and grass, on the collector.
 *
 * This is the programs' Re:Mobidyc of the papers on the Pharo VM's collector: each step makes a new state of every
 * patch and animal, from which the next is made (model.h: the model; classes.h: the objects). */
#include "chronicle.h"
#include "program.h"
#include "simulation.h"

#include <jansson.h>

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

/* ---- the result, on standard output; nothing here collects ---------------------------------------------------------
 */

static json_t *course_json(const struct world *world, size_t slot) {
    struct course c = chronicle_course(world, slot);
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "first", (json_int_t)c.first, "last", (json_int_t)c.last, "min",
                     (json_int_t)c.least, "max", (json_int_t)c.most, "sum", (json_int_t)c.sum, "swings",
                     (json_int_t)c.swings);
}

static json_t *deaths_json(const int64_t deaths[DEATHS]) {
    return json_pack("{s:I, s:I, s:I}", "hunger", (json_int_t)deaths[OF_HUNGER], "age", (json_int_t)deaths[OF_AGE],
                     "wolf", (json_int_t)deaths[BY_WOLF]);
}

static json_t *species_json(const struct world *world, enum species species) {
    const struct species_ledger *ledger = &world->ledger.of[species];
    json_t *energy =
        json_pack("{s:I, s:I, s:I, s:o, s:I, s:I}", "initial", (json_int_t)ledger->initial, "intake",
                  (json_int_t)ledger->intake, "respired", (json_int_t)ledger->respired, "lost",
                  deaths_json(ledger->lost), "given", (json_int_t)ledger->given, "left", (json_int_t)ledger->left);
    return json_pack("{s:o, s:I, s:o, s:o}", "population", course_json(world, CENSUS_ANIMATS + species), "births",
                     (json_int_t)ledger->births, "deaths", deaths_json(ledger->deaths), "energy", energy);
}

/* One JSON object. False, after program_fail, where there is no memory for it or it can't be written. */
static bool print_json(struct world *world) {
    const struct ledger *ledger = &world->ledger;
    /* json_pack gives NULL, and lets the parts go, where one of them is NULL. */
    json_t *grass = json_pack("{s:o, s:I, s:I, s:I, s:I}", "amount", course_json(world, CENSUS_GRASS), "initial",
                              (json_int_t)ledger->grass_initial, "grown", (json_int_t)ledger->grass_grown, "eaten",
                              (json_int_t)ledger->of[GOAT].intake, "left", (json_int_t)ledger->grass_left);
    json_t *root = json_pack("{s:o, s:o, s:o, s:I}", "grass", grass, "goats", species_json(world, GOAT), "wolves",
                             species_json(world, WOLF), "wasted", (json_int_t)ledger->wasted);
    if (root == NULL) {
        return program_fail(world->program, "no memory to print the result");
    }
    bool ok = json_dumpf(root, stdout, 0) == 0 && putchar('\n') != EOF;
    json_decref(root);
    return ok || program_fail(world->program, "the result can't be written");
}

static void print_course(const struct world *world, const char *name, size_t slot) {
    struct course c = chronicle_course(world, slot);
    printf("%-7s %12lld %12lld %12lld %12lld %8lld\n", name, (long long)c.first, (long long)c.last, (long long)c.least,
           (long long)c.most, (long long)c.swings);
}

static void print_species(const struct world *world, const char *name, enum species species) {
    const struct species_ledger *ledger = &world->ledger.of[species];
    printf("%-7s %12lld %12lld %12lld %12lld %12lld %12lld\n", name, (long long)ledger->births,
           (long long)ledger->deaths[OF_HUNGER], (long long)ledger->deaths[OF_AGE], (long long)ledger->deaths[BY_WOLF],
           (long long)ledger->intake, (long long)ledger->respired);
}

static void print_table(const struct world *world) {
    printf("%-7s %12s %12s %12s %12s %8s\n", "", "first", "last", "least", "most", "swings");
    print_course(world, "grass", CENSUS_GRASS);
    print_course(world, "goats", CENSUS_ANIMATS + GOAT);
    print_course(world, "wolves", CENSUS_ANIMATS + WOLF);
    printf("\n%-7s %12s %12s %12s %12s %12s %12s\n", "", "births", "hunger", "age", "wolf", "intake", "respired");
    print_species(world, "goats", GOAT);
    print_species(world, "wolves", WOLF);
}

/* ---- the program --------------------------------------------------------------------------------------------------
 */

static bool run(struct program *program, eden_mutator *mutator) {
    const struct program_number *numbers = program->numbers;
    EDEN_FRAME(mutator, roots, ROOTS);
    struct world world = {.program = program,
                          .mutator = mutator,
                          .roots = roots,
                          .width = numbers[WIDTH].value,
                          .height = numbers[HEIGHT].value};
    world.random = random_start((uint64_t)numbers[SEED].value);
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
