/* mobidyc: wolves, goats and grass, animal by animal (world.h). */
#include "world.h"

#include <inttypes.h>
#include <jansson.h>

static const char usage[] =
    "usage: mobidyc [OPTION...]\n"
    "\n"
    "Simulates wolves, goats and grass, animal by animal, on a torus of patches. Prints how many there were, were "
    "born\n"
    "and died, where the energy went, and a checksum of all that is left.\n"
    "\n"
    "  --width N    patches from west to east, 3 to 2048 (132)\n"
    "  --height N   patches from north to south, 3 to 2048 (132)\n"
    "  --goats N    goats at the start, 0 to 1000000 (5000)\n"
    "  --wolves N   wolves at the start, 0 to 1000000 (500)\n"
    "  --steps N    steps, 0 to 1000000 (280)\n"
    "  --seed N     of the random numbers, 1 to 9223372036854775807 (1)\n"
    "  --keep-class NAME,...  keep the instances of these classes to the end\n"
    "  --json       in one line\n"
    "  --verify     check the whole heap afterwards\n"
    "  --help       this text\n"
    "\n"
    "EDEN_OPTIONS sets the collector's parameters, for example EDEN_OPTIONS=eden_size=64M.\n"
    "Exit status: 0, or 1 where memory is exhausted or the result can't be written; 2: wrong usage.\n";

enum { WIDTH, HEIGHT, GOATS, WOLVES, STEPS, SEED, NUMBERS };

static json_t *herd_json(const struct herd *herd) {
    return json_pack("{s:I, s:I, s:I}", "births", (json_int_t)herd->births, "deaths", (json_int_t)herd->deaths, "last",
                     (json_int_t)herd->count);
}

/* One JSON object. */
static bool print(const struct world *world) {
    uint64_t sum = 0xCBF29CE484222325u;
    int64_t left = world_energy(world, &sum);
    char checksum[17];
    snprintf(checksum, sizeof checksum, "%016" PRIx64, sum);
    /* json_pack gives NULL, and lets the parts go, where one of them is NULL. */
    json_t *root = json_pack("{s:o, s:o, s:{s:I, s:I, s:I, s:I, s:I}, s:s}", "goats", herd_json(&world->herds[GOAT]),
                             "wolves", herd_json(&world->herds[WOLF]), "energy", "initial", (json_int_t)world->initial,
                             "grown", (json_int_t)world->grown, "respired", (json_int_t)world->respired, "lost",
                             (json_int_t)world->lost, "left", (json_int_t)left, "checksum", checksum);
    size_t flags = world->program->json ? 0 : JSON_INDENT(2);
    bool ok = root != NULL && json_dumpf(root, stdout, flags) == 0 && putchar('\n') != EOF;
    json_decref(root);
    return ok || program_fail(world->program, "the result can't be written");
}

static bool run(struct program *program, eden_mutator *mutator) {
    const struct program_number *numbers = program->numbers;
    EDEN_FRAME(mutator, roots, ROOTS);
    struct world world = {.program = program,
                          .mutator = mutator,
                          .roots = roots,
                          .random = random_start((uint64_t)numbers[SEED].value),
                          .width = numbers[WIDTH].value,
                          .height = numbers[HEIGHT].value};
    const int64_t animats[SPECIES] = {[GOAT] = numbers[GOATS].value, [WOLF] = numbers[WOLVES].value};
    bool done = world_define(&world) && world_make(&world, animats);
    for (int64_t step = 0; done && step < numbers[STEPS].value; step++) {
        done = world_step(&world);
    }
    return done && print(&world) && program_flush(program) && program_verify(program, mutator);
}

int main(int argc, char **argv) {
    struct program_number numbers[NUMBERS] = {
        [WIDTH] = {.name = "width", .least = 3, .most = 2048, .value = 132},
        [HEIGHT] = {.name = "height", .least = 3, .most = 2048, .value = 132},
        [GOATS] = {.name = "goats", .least = 0, .most = 1000000, .value = 5000},
        [WOLVES] = {.name = "wolves", .least = 0, .most = 1000000, .value = 500},
        [STEPS] = {.name = "steps", .least = 0, .most = 1000000, .value = 280},
        [SEED] = {.name = "seed", .least = 1, .most = INT64_MAX, .value = 1},
    };
    struct program program = {
        .name = "mobidyc", .usage = usage, .numbers = numbers, .number_count = NUMBERS, .can_keep = true, .run = run};
    return program_main(&program, argc, argv);
}
