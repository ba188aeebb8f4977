/* moose: imports a company's software into a model on the collector, and queries the model.
 *
 * It is after the Moose of FiLiP, which imports a company's software of 13,521 classes and 48,087 methods. The paper
 * gives no more of it: this program makes up text of that size (source.c), and imports the text. */
#include "model.h"

static const char usage[] =
    "usage: moose [--classes N] [--seed N] [--keep-class NAME,...] [--json] [--verify]\n"
    "\n"
    "Makes up the source text of a company's software, imports it into a model of classes, attributes, methods and "
    "the\n"
    "associations between them, queries the model, and prints its size and a checksum of all answers.\n"
    "\n"
    "  --classes N        classes, 1 to 1000000 (13521); methods in proportion (48087)\n"
    "  --seed N           of the random numbers, 1 to 1000000000 (1)\n"
    "  --keep-class NAME  keep alive to the end all instances of these classes, separated by commas: a leak\n"
    "  --json             print one JSON object\n"
    "  --verify           check the whole heap afterwards\n"
    "  --help             this text\n"
    "\n"
    "EDEN_OPTIONS sets the collector's parameters, for example EDEN_OPTIONS=eden_size=64M.\n"
    "Exit status: 0; 1: memory is exhausted; 2: wrong usage.\n";

enum { NUMBER_CLASSES, NUMBER_SEED, NUMBERS };

static bool run(struct program *program, eden_mutator *mutator) {
    EDEN_FRAME(mutator, roots, ROOTS);
    struct model model = {.program = program,
                          .mutator = mutator,
                          .roots = roots,
                          .source = source_make((size_t)program->numbers[NUMBER_CLASSES].value,
                                                (uint64_t)program->numbers[NUMBER_SEED].value),
                          .checksum = 0xCBF29CE484222325u};
    if (!moose_define(program, eden_mutator_heap(mutator), model.sites) || !model_declare(&model) ||
        !model_import(&model) || !model_query(&model)) {
        return false;
    }
    printf(program->json
               ? "{\"classes\": %zu, \"attributes\": %zu, \"methods\": %zu, \"associations\": %llu, \"checksum\": "
                 "\"%016llx\"}\n"
               : "classes       %zu\nattributes    %zu\nmethods       %zu\nassociations  %llu\nchecksum      %016llx\n",
           model.source.classes, model.source.attributes, model.source.methods, (unsigned long long)model.associations,
           (unsigned long long)model.checksum);
    return program_flush(program) && program_verify(program, mutator);
}

int main(int argc, char **argv) {
    struct program_number numbers[NUMBERS] = {
        [NUMBER_CLASSES] = {.name = "classes", .least = 1, .most = 1000000, .value = PAPER_CLASSES},
        [NUMBER_SEED] = {.name = "seed", .least = 1, .most = 1000000000, .value = 1},
    };
    struct program program = {
        .name = "moose", .usage = usage, .numbers = numbers, .number_count = NUMBERS, .can_keep = true, .run = run};
    return program_main(&program, argc, argv);
}
