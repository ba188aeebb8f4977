/* dataframe: loads a CSV file into a typed data frame on the collector, and prints what is in it.
 *
 * This is the programs' DataFrame of the papers on the Pharo VM's collector: for each cell it makes the objects that
 * Pharo's DataFrame makes (classes.h), in two passes (reader.c, columns.c). */
#include "frame.h"
#include "program.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: dataframe [--json] [--verify] [--keep N] FILE.csv\n"
    "\n"
    "Loads a CSV file (RFC 4180; the first record names the columns) into a data frame on the collector and prints\n"
    "its columns. FILE.csv may be - for the standard input.\n"
    "\n"
    "A column is of type number if every cell that is not empty is [+-]digits[.digits][e[+-]digits]; count is the\n"
    "number of such cells, sum the sum of their values from the first row to the last. Otherwise it is of type text;\n"
    "count is the number of its cells, distinct the number of different ones.\n"
    "\n"
    "  --json     print one JSON object (a sum that is not finite is null)\n"
    "  --keep N   keep alive to the end what N of a hundred cells were parsed to at first (0): a leak, to look for\n"
    "  --verify   check the whole heap afterwards\n"
    "  --help     this text\n"
    "\n"
    "EDEN_OPTIONS sets the collector's parameters, for example EDEN_OPTIONS=eden_size=64M.\n"
    "Exit status: 0, or 1 where the file is malformed or can't be read, or memory is exhausted; 2: wrong usage.\n";

static bool load(struct frame *frame, const char *file_name) {
    bool is_input = strcmp(file_name, "-") == 0;
    FILE *file = is_input ? stdin : fopen(file_name, "rbe");
    if (file == NULL) {
        return frame_fail(frame, "%s: can't be opened: %m", file_name);
    }
    bool ok = frame_read(frame, file, is_input ? "standard input" : file_name);
    if (!is_input) {
        fclose(file);
    }
    return ok && frame_build(frame);
}

static bool work(struct program *program, struct frame *frame) {
    if (!load(frame, program->operands[0]) ||
        !(program->json ? frame_print_json(frame, stdout) : frame_print_table(frame, stdout))) {
        return program_fail(program, "%s", frame->error);
    }
    return program_flush(program) && program_verify(program, frame->mutator);
}

static bool run(struct program *program, eden_mutator *mutator) {
    eden_error error = {0};
    struct frame_sites sites;
    if (!frame_sites_define(eden_mutator_heap(mutator), &sites, &error)) {
        return program_fail(program, "the heap can't be made: %s", error.message);
    }
    EDEN_FRAME(mutator, roots, ROOTS);
    struct frame frame = {.mutator = mutator, .sites = &sites, .roots = roots};
    frame.keep = (size_t)program->numbers[0].value;
    bool ok = work(program, &frame);
    free(frame.columns);
    free(frame.scratch);
    return ok;
}

int main(int argc, char **argv) {
    struct program_number keep = {.name = "keep", .least = 0, .most = 100};
    struct program program = {.name = "dataframe",
                              .usage = usage,
                              .numbers = &keep,
                              .number_count = 1,
                              .operand_least = 1,
                              .operand_most = 1,
                              .run = run};
    return program_main(&program, argc, argv);
}
