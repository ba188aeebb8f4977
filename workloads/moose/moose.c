/* moose: a model of software on the collector, imported from BTF and queried.
 *
 * This is the programs' Moose of the papers on the Pharo VM's collector: an importer makes the entities and
 * associations of FAMIX (classes.h, import.c, link.c), which stay; queries of the whole
 * (overview.c), and of one subject after the other (session.c), make collections that go, but for what
 * entities keep of it. */
#include "import.h"
#include "query.h"

static const char usage[] =
    "usage: moose [--seed N] [--queries N] [--top N] [--json] [--verify] [FILE]\n"
    "\n"
    "Imports the types and functions that FILE describes into a model on the collector, and queries it: who are the\n"
    "largest, most used, most deeply nested; and around records drawn at random, who needs whom. FILE has BTF, raw or "
    "in\n"
    "an ELF object; the default is that of the running kernel, /sys/kernel/btf/vmlinux. Sizes are in bytes, padding "
    "in\n"
    "bits.\n"
    "\n"
    "  --seed N      of the random numbers, at least 1 (default 1)\n"
    "  --queries N   rounds of queries (default 100)\n"
    "  --top N       how many entries of a ranking are shown (default 5)\n"
    "  --json        print one JSON object\n"
    "  --verify      check the whole heap afterwards\n"
    "  --help        this text\n"
    "\n"
    "EDEN_OPTIONS sets the collector's parameters, for example EDEN_OPTIONS=eden_size=64M.\n"
    "Exit status: 0, or 1 where FILE has no BTF or can't be read, or memory is exhausted; 2: wrong usage.\n";

enum { SEED, QUERIES, TOP, NUMBERS };

static bool import(struct model *model) {
    struct btf *btf = source_open(model->program, model->file);
    bool ok = btf != NULL && model_import(model, btf);
    btf__free(btf);
    return ok;
}

static bool run(struct program *program, eden_mutator *mutator) {
    EDEN_FRAME(mutator, roots, ROOTS);
    struct model model = {.program = program,
                          .mutator = mutator,
                          .roots = roots,
                          .file = program->operand_count > 0 ? program->operands[0] : "/sys/kernel/btf/vmlinux",
                          .top = (size_t)program->numbers[TOP].value};
    if (!model_define(&model) || !import(&model)) {
        return false;
    }
    roots[ROOT_REPORT] = report_new(&model);
    return roots[ROOT_REPORT] != EDEN_NONE && overview_run(&model) &&
           session_run(&model, (uint64_t)program->numbers[SEED].value, (size_t)program->numbers[QUERIES].value) &&
           print_report(&model, program->json) && program_flush(program) && program_verify(program, mutator);
}

int main(int argc, char **argv) {
    struct program_number numbers[NUMBERS] = {
        [SEED] = {.name = "seed", .least = 1, .most = INT64_MAX, .value = 1},
        [QUERIES] = {.name = "queries", .least = 0, .most = 1000000, .value = 100},
        [TOP] = {.name = "top", .least = 0, .most = 1000000, .value = 5},
    };
    struct program program = {
        .name = "moose", .usage = usage, .numbers = numbers, .number_count = NUMBERS, .operand_most = 1, .run = run};
    return program_main(&program, argc, argv);
}
