/* bloc: an animated scene of graphical elements on the collector.
 *
 * It is after the Bloc of FiLiP, a user interface in Pharo, whose benchmark draws a flock of boids for ten seconds. By
 * default the heap's eden has 512 KB: the 600 frames of ten seconds allocate 10 MB, and would not fill an ordinary one.
 */
#include "scene.h"

#include <time.h>

static const char usage[] =
    "usage: bloc [--boids N] [--frames N] [--pace N] [--seed N] [--keep-class NAME,...] [--json] [--verify]\n"
    "\n"
    "Draws a flock of boids, frame by frame, and prints how many elements were drawn, how many the layout moved, and "
    "a\n"
    "checksum of all that was drawn.\n"
    "\n"
    "  --boids N          boids, 1 to 10000 (30)\n"
    "  --frames N         frames, 0 to 100000000 (600)\n"
    "  --pace N           frames a second, 1 to 100000; 0: no limit (0)\n"
    "  --seed N           of the random numbers, 1 to 1000000000 (1)\n"
    "  --keep-class NAME  keep alive to the end all instances of these classes, separated by commas: a leak\n"
    "  --json             print one JSON object\n"
    "  --verify           check the whole heap afterwards\n"
    "  --help             this text\n"
    "\n"
    "The pace does not change what is drawn. With --pace 60 the 600 frames take ten seconds. EDEN_OPTIONS\n"
    "sets the collector's parameters; by default its eden has 512 KB. Exit status: 0; 1: memory is exhausted; 2:\n"
    "wrong usage.\n";

enum { NUMBER_BOIDS, NUMBER_FRAMES, NUMBER_PACE, NUMBER_SEED, NUMBERS };

/* Sleeps until a frame is due. */
static void await_frame(eden_mutator *mutator, const struct timespec *start, size_t frame, uint64_t pace) {
    uint64_t ns = (uint64_t)start->tv_nsec + frame % pace * 1000000000 / pace;
    struct timespec due = {.tv_sec = start->tv_sec + (time_t)(frame / pace + ns / 1000000000),
                           .tv_nsec = (long)(ns % 1000000000)};
    eden_blocking_enter(mutator);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) != 0) {
    }
    eden_blocking_leave(mutator);
}

static bool animate(struct scene *scene) {
    size_t frames = (size_t)scene->program->numbers[NUMBER_FRAMES].value;
    uint64_t pace = (uint64_t)scene->program->numbers[NUMBER_PACE].value;
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (; scene->frame < frames; scene->frame++) {
        if (pace != 0) {
            await_frame(scene->mutator, &start, scene->frame, pace);
        }
        if (!flock_step(scene) || !flock_label(scene) || !scene_measure(scene) || !scene_layout(scene) ||
            !scene_draw(scene)) {
            return false;
        }
    }
    return true;
}

static bool run(struct program *program, eden_mutator *mutator) {
    EDEN_FRAME(mutator, roots, ROOTS);
    struct scene scene = {.program = program,
                          .mutator = mutator,
                          .roots = roots,
                          .random = random_start((uint64_t)program->numbers[NUMBER_SEED].value),
                          .boids = (size_t)program->numbers[NUMBER_BOIDS].value,
                          .checksum = 0xCBF29CE484222325u};
    if (!bloc_define(program, eden_mutator_heap(mutator), scene.sites) || !scene_make(&scene) || !animate(&scene)) {
        return false;
    }
    printf(program->json ? "{\"drawn\": %llu, \"moved\": %llu, \"checksum\": \"%016llx\"}\n"
                         : "elements drawn  %llu\nelements moved  %llu\nchecksum        %016llx\n",
           (unsigned long long)scene.drawn, (unsigned long long)scene.moved, (unsigned long long)scene.checksum);
    return program_flush(program) && program_verify(program, mutator);
}

int main(int argc, char **argv) {
    struct program_number numbers[NUMBERS] = {
        [NUMBER_BOIDS] = {.name = "boids", .least = 1, .most = 10000, .value = 30},
        [NUMBER_FRAMES] = {.name = "frames", .least = 0, .most = 100000000, .value = 600},
        [NUMBER_PACE] = {.name = "pace", .least = 0, .most = 100000, .value = 0},
        [NUMBER_SEED] = {.name = "seed", .least = 1, .most = 1000000000, .value = 1},
    };
    struct program program = {.name = "bloc",
                              .usage = usage,
                              .numbers = numbers,
                              .number_count = NUMBERS,
                              .can_keep = true,
                              .parameters = "eden_size=512K",
                              .run = run};
    return program_main(&program, argc, argv);
}
