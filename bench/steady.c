/* steady [--rounds N]: does the same work over and over, and prints the time of each round: for bench/letgo.py, and for
 * the test that nothing of a profile stays.
 *
 * A round is the first steps of honeyginger's dam break, from the same beginning, on one heap. After each it prints the
 * process's CPU time in nanoseconds since the one before, and the bytes that it has of malloc, and empties its buffer.
 */
#include "honeyginger/fluid.h"
#include "program.h"
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS, NUMBERS };

static uint64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool work(struct fluid *fluid) {
    enum { STEPS = 20, SEED = 1 };
    bool done = fluid_make(fluid, SEED);
    for (int step = 0; done && step < STEPS; step++) {
        done = fluid_step(fluid);
    }
    return done;
}

static bool run(struct program *program, eden_mutator *mutator) {
    EDEN_FRAME(mutator, roots, ROOTS);
    struct fluid fluid = {.program = program, .mutator = mutator, .roots = roots, .columns = 24, .rows = 12};
    if (!fluid_define(&fluid)) {
        return false;
    }
    bool good = true;
    uint64_t before = cpu_ns();
    for (int64_t round = 0; good && round < program->numbers[ROUNDS].value; round++) {
        good = work(&fluid);
        uint64_t now = cpu_ns();
        struct mallinfo2 held = mallinfo2();
        printf("%" PRIu64 " %zu\n", now - before, held.uordblks + held.hblkhd);
        good = good && fflush(stdout) == 0;
        before = now;
    }
    return good;
}

int main(int argc, char **argv) {
    static const char usage[] = "usage: steady [--rounds N]\n";
    struct program_number numbers[NUMBERS] = {
        [ROUNDS] = {.name = "rounds", .least = 1, .most = 1000000000, .value = 1000000000}};
    struct program program = {
        .name = "steady", .usage = usage, .numbers = numbers, .number_count = NUMBERS, .run = run};
    return program_main(&program, argc, argv);
}
