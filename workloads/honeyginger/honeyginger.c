/* honeyginger: a dam breaks, particle by particle, and each step is drawn (fluid.h). */
#include "fluid.h"

#include <inttypes.h>
#include <jansson.h>

static const char usage[] =
    "usage: honeyginger [OPTION...]\n"
    "\n"
    "Lets a block of water fall to the floor of a box, by smoothed-particle hydrodynamics in two dimensions, and "
    "draws\n"
    "each step. Prints the momentum, what gravity and the walls make it, the centre of mass, the pixels drawn and a\n"
    "checksum of all pictures.\n"
    "\n"
    "  --columns N          width of the block in particles, 1 to 1000 (24)\n"
    "  --rows N             height of the block in particles, 1 to 100 (40)\n"
    "  --steps N            steps of 1/512 s, 0 to 1000000 (1000)\n"
    "  --seed N             of the places at the start, 1 to 9223372036854775807 (1)\n"
    "  --keep-class NAME,...  keep the instances of these classes to the end\n"
    "  --json               in one line\n"
    "  --verify             check the whole heap afterwards\n"
    "  --help               this text\n"
    "\n"
    "EDEN_OPTIONS sets the collector's parameters, for example EDEN_OPTIONS=eden_size=64M.\n"
    "Exit status: 0, or 1 where memory is exhausted or the simulation unstable; 2: wrong usage.\n";

enum { COLUMNS, ROWS, STEPS, SEED, NUMBERS };

/* One JSON object: 17 significant digits name a double exactly. */
static bool print(const struct fluid *fluid, int64_t steps) {
    double momentum[2] = {0.0, 0.0}, centre[2] = {0.0, 0.0}, count = (double)fluid_count(fluid);
    double fall = -gravity * mass * count * time_step * (double)steps;
    for (size_t i = 0; i < fluid_count(fluid); i++) {
        for (size_t axis = POINT_X; axis < POINT_SLOTS; axis++) {
            momentum[axis] += mass * number_at(eden_slot(fluid_particle(fluid, i), PARTICLE_VELOCITY), axis);
            centre[axis] += number_at(eden_slot(fluid_particle(fluid, i), PARTICLE_POSITION), axis) / count;
        }
    }
    char checksum[17];
    snprintf(checksum, sizeof checksum, "%016" PRIx64, fluid->checksum);
    json_t *root = json_pack("{s:I, s:I, s:I, s:[f, f], s:[f, f], s:[f, f], s:s}", "particles",
                             (json_int_t)fluid_count(fluid), "steps", (json_int_t)steps, "pixels",
                             (json_int_t)fluid->pixels, "momentum", momentum[0], momentum[1], "due", fluid->impulse[0],
                             fluid->impulse[1] + fall, "centre", centre[0], centre[1], "checksum", checksum);
    size_t flags = JSON_REAL_PRECISION(17) | (fluid->program->json ? 0 : JSON_INDENT(2));
    bool ok = root != NULL && json_dumpf(root, stdout, flags) == 0 && putchar('\n') != EOF;
    json_decref(root);
    return ok || program_fail(fluid->program, "the result can't be written");
}

static bool run(struct program *program, eden_mutator *mutator) {
    const struct program_number *numbers = program->numbers;
    EDEN_FRAME(mutator, roots, ROOTS);
    struct fluid fluid = {.program = program,
                          .mutator = mutator,
                          .roots = roots,
                          .columns = (size_t)numbers[COLUMNS].value,
                          .rows = (size_t)numbers[ROWS].value,
                          .checksum = 0xCBF29CE484222325u};
    bool done = fluid_define(&fluid) && fluid_make(&fluid, (uint64_t)numbers[SEED].value);
    for (int64_t step = 0; done && step < numbers[STEPS].value; step++) {
        done = fluid_step(&fluid);
    }
    return done && print(&fluid, numbers[STEPS].value) && program_flush(program) && program_verify(program, mutator);
}

int main(int argc, char **argv) {
    struct program_number numbers[NUMBERS] = {
        [COLUMNS] = {.name = "columns", .least = 1, .most = 1000, .value = 24},
        [ROWS] = {.name = "rows", .least = 1, .most = 100, .value = 40},
        [STEPS] = {.name = "steps", .least = 0, .most = 1000000, .value = 1000},
        [SEED] = {.name = "seed", .least = 1, .most = INT64_MAX, .value = 1},
    };
    struct program program = {.name = "honeyginger",
                              .usage = usage,
                              .numbers = numbers,
                              .number_count = NUMBERS,
                              .can_keep = true,
                              .run = run};
    return program_main(&program, argc, argv);
}
