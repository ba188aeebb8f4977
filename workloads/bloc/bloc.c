/* bloc: animated elements in a tree of layouts, on the collector.
 *
 * This is the programs' Bloc of the papers on the Pharo VM's collector: a scene in the manner of Pharo's graphical
 * framework, whose elements a flock of boids moves (scene.h lists the steps of a frame). It makes the objects
 * that such a framework makes: elements, constraints and handlers that live as long as the scene; Points, bounds,
 * measurement specs, events and draw commands that die with their frame; and trails, whose Points live for some frames.
 */
#include "checksum.h"
#include "flock.h"

#include <jansson.h>

enum number { BOIDS, FRAMES, TRAIL, MOVES, DRAG, SEED, NUMBERS };

static const char usage[] =
    "usage: bloc [OPTION]...\n"
    "\n"
    "Animates a flock of boids in a tree of graphical elements, and prints what came of it: a checksum of all that "
    "was\n"
    "drawn, the pixels damaged, the pointer's hits, the elements measured, and the flock's centre and mean velocity.\n"
    "\n"
    "  --boids N    boids, 1 to 20000 (1000)\n"
    "  --frames N   frames after the first, 0 to 10000000 (400)\n"
    "  --trail N    positions that a boid's trail keeps, 1 to 10000 (64)\n"
    "  --moves N    moves of the pointer a frame, 0 to 10000 (8)\n"
    "  --drag N     per cent of its velocity that a boid loses a frame, 0 to 99 (0)\n"
    "  --seed N     of the random numbers, 1 to 1000000000 (1)\n"
    "  --json       print one JSON object\n"
    "  --verify     check the scene after each frame, and the whole heap at the end\n"
    "  --help       this text\n"
    "\n"
    "The same options give the same answer. EDEN_OPTIONS sets the collector's parameters, for example\n"
    "EDEN_OPTIONS=eden_size=64M. Exit status: 0, or 1 where memory is exhausted; 2: wrong usage.\n";

/* Of the flock at the end: means, from plain sums in the boids' order; and the checksum, in that order, of each one's
 * x, y and velocity, as means hide in which bit a boid differs. */
struct summary {
    double x, y, velocity_x, velocity_y;
    uint64_t flock;
};

static struct summary summarize(const struct scene *scene) {
    struct summary m = {.flock = CHECKSUM_START};
    for (size_t i = 0; i < flock_size(scene); i++) {
        eden_value position = eden_slot(flock_boid(scene, i), BOID_POSITION);
        eden_value velocity = eden_slot(flock_boid(scene, i), BOID_VELOCITY);
        checksum_double(&m.flock, point_x(position));
        checksum_double(&m.flock, point_y(position));
        checksum_double(&m.flock, point_x(velocity));
        checksum_double(&m.flock, point_y(velocity));
        m.x += point_x(position);
        m.y += point_y(position);
        m.velocity_x += point_x(velocity);
        m.velocity_y += point_y(velocity);
    }
    double count = (double)flock_size(scene);
    return (struct summary){m.x / count, m.y / count, m.velocity_x / count, m.velocity_y / count, m.flock};
}

static bool print_json(const struct scene *scene, const struct summary *m) {
    char checksum[17], flock[17];
    snprintf(checksum, sizeof checksum, "%016llx", (unsigned long long)scene->checksum);
    snprintf(flock, sizeof flock, "%016llx", (unsigned long long)m->flock);
    json_t *root = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:[f, f], s:[f, f]}", "checksum", checksum, "flock", flock,
        "commands", (json_int_t)scene->commands, "damage", (json_int_t)scene->damage, "hits", (json_int_t)scene->hits,
        "enters", (json_int_t)scene->enters, "measured", (json_int_t)scene->measured, "elements",
        (json_int_t)scene->elements, "centre", m->x, m->y, "velocity", m->velocity_x, m->velocity_y);
    /* 17 significant digits name a double exactly. */
    bool ok = root != NULL && json_dumpf(root, stdout, JSON_REAL_PRECISION(17)) == 0 && fputc('\n', stdout) != EOF;
    json_decref(root);
    return ok || program_fail(scene->program, "the result can't be written");
}

static void print_table(const struct scene *scene, const struct summary *m) {
    printf("checksum of what was drawn  %016llx\n", (unsigned long long)scene->checksum);
    printf("draw commands               %lld\n", (long long)scene->commands);
    printf("damage, in pixels           %lld\n", (long long)scene->damage);
    printf("hits of boids               %lld\n", (long long)scene->hits);
    printf("boids startled              %lld\n", (long long)scene->enters);
    printf("elements                    %lld\n", (long long)scene->elements);
    printf("  measured                  %lld\n", (long long)scene->measured);
    printf("checksum of the flock       %016llx\n", (unsigned long long)m->flock);
    printf("centre of the flock         %.17g, %.17g\n", m->x, m->y);
    printf("mean velocity               %.17g, %.17g\n", m->velocity_x, m->velocity_y);
}

/* In frame 0 the scene is shown as it was made. */
static bool animate_frame(struct scene *scene, int64_t frame) {
    return damage_begin(scene) && (frame == 0 || (pointer_events(scene) && flock_step(scene))) &&
           show_flock(scene, frame) && layout_tree(scene) && damage_region(scene) && draw_tree(scene) &&
           (!scene->program->verify || scene_check(scene));
}

static bool run(struct program *program, eden_mutator *mutator) {
    EDEN_FRAME(mutator, roots, ROOTS);
    struct scene scene = {.program = program,
                          .mutator = mutator,
                          .roots = roots,
                          .random = random_start((uint64_t)program->numbers[SEED].value),
                          .boids = program->numbers[BOIDS].value,
                          .trail = program->numbers[TRAIL].value,
                          .moves = program->numbers[MOVES].value,
                          .drag = program->numbers[DRAG].value,
                          .checksum = CHECKSUM_START};
    bool ok = classes_define(program, eden_mutator_heap(mutator), scene.sites) && scene_build(&scene);
    for (int64_t frame = 0; frame <= program->numbers[FRAMES].value && ok; frame++) {
        ok = animate_frame(&scene, frame);
    }
    if (!ok) {
        return false;
    }
    struct summary summary = summarize(&scene);
    if (!program->json) {
        print_table(&scene, &summary);
    } else if (!print_json(&scene, &summary)) {
        return false;
    }
    return program_flush(program) && program_verify(program, mutator);
}

int main(int argc, char **argv) {
    struct program_number numbers[NUMBERS] = {
        [BOIDS] = {"boids", 1, 20000, 1000}, [FRAMES] = {"frames", 0, 10000000, 400},
        [TRAIL] = {"trail", 1, 10000, 64},   [MOVES] = {"moves", 0, 10000, 8},
        [DRAG] = {"drag", 0, 99, 0},         [SEED] = {"seed", 1, 1000000000, 1}};
    struct program program = {.name = "bloc", .usage = usage, .numbers = numbers, .number_count = NUMBERS, .run = run};
    return program_main(&program, argc, argv);
}
