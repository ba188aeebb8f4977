/* micro: micro-benchmarks for the tuning paper's figures. Each is a pattern of allocation, so simple that what a
 * parameter does to it can be predicted; each checks its own result. `large` is after the paper's artificial
 * benchmark (Figure 5), of whose objects its text has no kind; it does not name the programs of its Figures 2, 3, 4
 * and 6. */
#include "micro.h"

#include <inttypes.h>
#include <string.h>

static const char usage[] =
    "usage: micro PATTERN [--objects N] [--live N] [--size BYTES] [--one-in N] [--seed N] [--json] [--verify]\n"
    "\n"
    "Allocates in one of these patterns, and checks that each object that is alive at the end is what was stored:\n"
    "\n"
    "  survivors   short-lived objects; one in so many is put into a random place of a table, until another replaces "
    "it\n"
    "  growth      a list that only grows\n"
    "  large       large Arrays, the last ones of which are kept\n"
    "\n"
    "  --objects N     objects allocated: default 4000000, 2000000, 100\n"
    "  --live N        objects kept: places of the table, the last large ones; default 20000, -, 100\n"
    "  --size BYTES    bytes an object has, its header included, a multiple of 8: default 64, 64, 25165824\n"
    "  --one-in N      survivors: one object in so many is kept for a while, default 10\n"
    "  --seed N        of the random places, default 1\n"
    "  --json          print one JSON object\n"
    "  --verify        check the whole heap afterwards\n"
    "  --help          this text\n"
    "\n"
    "EDEN_OPTIONS sets the collector's parameters, for example EDEN_OPTIONS=eden_size=64M.\n"
    "Exit status: 0, or 1 where memory is exhausted or an object is wrong; 2: wrong usage.\n";

static const struct micro_pattern patterns[] = {
    {"survivors", 4000000, 20000, 64, micro_survivors},
    {"growth", 2000000, 0, 64, micro_growth},
    {"large", 100, 100, 24 << 20, micro_large},
};
enum { PATTERNS = sizeof patterns / sizeof patterns[0] };
enum { OBJECTS, LIVE, SIZE, ONE_IN, SEED, NUMBERS };

bool micro_class(struct micro *micro, const char *name, enum eden_format format, uint32_t slots, eden_class *defined) {
    eden_error error = {0};
    *defined =
        eden_class_define(eden_mutator_heap(micro->mutator), &(eden_class_definition){name, format, slots}, &error);
    return *defined != 0 || program_fail(micro->program, "the heap can't be made: %s", error.message);
}

void micro_count(struct micro *micro, uint64_t number) {
    micro->alive++;
    micro->checksum = (micro->checksum ^ number) * 0x100000001b3u; /* FNV-1a, by words */
}

static const struct micro_pattern *find(const char *name) {
    for (size_t i = 0; i < PATTERNS; i++) {
        if (strcmp(patterns[i].name, name) == 0) {
            return &patterns[i];
        }
    }
    return NULL;
}

/* What was not given is the pattern's. */
static size_t value(const struct program *program, size_t number, size_t otherwise) {
    return program->numbers[number].value < 0 ? otherwise : (size_t)program->numbers[number].value;
}

static void print(const struct micro *micro, const struct micro_pattern *pattern) {
    printf(micro->program->json ? "{\"pattern\": \"%s\", \"objects\": %zu, \"alive\": %" PRIu64
                                  ", \"checksum\": %" PRIu64 "}\n"
                                : "%s: %zu objects, %" PRIu64 " alive at the end, checksum %" PRIu64 "\n",
           pattern->name, micro->objects, micro->alive, micro->checksum);
}

static bool run(struct program *program, eden_mutator *mutator) {
    const struct micro_pattern *pattern = find(program->operands[0]);
    if (pattern == NULL) {
        return program_fail(program, "%s: not one of the patterns survivors, growth, large", program->operands[0]);
    }
    struct micro micro = {
        .program = program,
        .mutator = mutator,
        .objects = value(program, OBJECTS, pattern->objects),
        .live = value(program, LIVE, pattern->live),
        .size = value(program, SIZE, pattern->size) / 8 * 8,
        .one_in = (size_t)program->numbers[ONE_IN].value,
        .seed = (uint64_t)program->numbers[SEED].value,
    };
    if (!pattern->run(&micro)) {
        return false;
    }
    print(&micro, pattern);
    return program_flush(program);
}

int main(int argc, char **argv) {
    struct program_number numbers[NUMBERS] = {
        [OBJECTS] = {.name = "objects", .least = 1, .most = 1000000000000, .value = -1},
        [LIVE] = {.name = "live", .least = 1, .most = 1000000000, .value = -1},
        [SIZE] = {.name = "size", .least = MICRO_LEAST, .most = 1 << 30, .value = -1},
        [ONE_IN] = {.name = "one-in", .least = 1, .most = 1000000000, .value = 10},
        [SEED] = {.name = "seed", .least = 1, .most = INT64_MAX, .value = 1},
    };
    struct program program = {.name = "micro",
                              .usage = usage,
                              .numbers = numbers,
                              .number_count = NUMBERS,
                              .operand_least = 1,
                              .operand_most = 1,
                              .run = run};
    return program_main(&program, argc, argv);
}
