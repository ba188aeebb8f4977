/* steady [--rounds N]: does the same work over and over, and prints the time of each round: for bench/letgo.py, and for
 * the test that nothing of a profile stays.
 *
 * A round is the first steps of honeyginger's dam break, from the same beginning, on one heap. After each it prints the
 * process's CPU time in nanoseconds since the one before, and the bytes that it has of malloc, and empties its buffer.
 */
#include "honeyginger/sph.h"
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

static bool work(struct simulation *s) {
    bool done = setup(s) && find_neighbors(s) && find_densities(s);
    for (int64_t number = 1; done && number <= s->steps; number++) {
        done = find_forces(s) && move(s, number) && find_neighbors(s) && find_densities(s);
    }
    return done;
}

static bool run(struct program *program, eden_mutator *mutator) {
    eden_class sites[SITES];
    if (!sph_sites_define(program, eden_mutator_heap(mutator), sites)) {
        return false;
    }
    EDEN_FRAME(mutator, roots, ROOTS);
    struct simulation s = {.program = program,
                           .mutator = mutator,
                           .sites = sites,
                           .roots = roots,
                           .columns = 24,
                           .rows = 12,
                           .steps = 20,
                           .every = 1,
                           .seed = 1};
    bool good = true;
    uint64_t before = cpu_ns();
    for (int64_t round = 0; good && round < program->numbers[ROUNDS].value; round++) {
        good = work(&s);
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
    struct program_number numbers[NUMBERS] = {[ROUNDS] = {"rounds", 1, 1000000000, 1000000000}};
    struct program program = {
        .name = "steady", .usage = usage, .numbers = numbers, .number_count = NUMBERS, .run = run};
    return program_main(&program, argc, argv);
}
