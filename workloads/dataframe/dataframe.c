/* dataframe: loads a CSV file into a typed data frame on the collector, and prints what is in it.
 *
 * It is after the DataFrame of the papers on the Pharo VM: it makes the objects that Pharo's library makes, in its
 * order, in an image of objects that were there before (image.c, reader.c, build.c). */
#include "frame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "usage: dataframe [--json] [--verify] [--image MB] [--copies N] [--progress 1]\n"
    "                 [--keep-class NAME,...] FILE.csv\n"
    "\n"
    "Loads a CSV file (RFC 4180; the first record names the columns) into a data frame on the collector and prints\n"
    "its columns. FILE.csv may be - for the standard input.\n"
    "\n"
    "A column is of type number if every cell that is not empty is [+-]digits[.digits][e[+-]digits]; count is the\n"
    "number of such cells, sum the sum of their values from the first row to the last. Otherwise it is of type text;\n"
    "count is the number of its cells, distinct the number of different ones.\n"
    "\n"
    "  --json             print one JSON object (a sum that is not finite is null)\n"
    "  --image MB         old objects to begin with, in millions of bytes (60)\n"
    "  --copies N         how many copies are made of a column of numbers besides (0): 3 make up the memory of large\n"
    "                     Arrays that FiLiP measured, 0 the full collections that the other papers counted\n"
    "  --progress 1       print a line of JSON on standard error when the image is made, when the file is read, and "
    "when\n"
    "                     the frame is built: the time on the clock of EDEN_LOG, of the processor, and bytes "
    "allocated\n"
    "  --keep-class NAME  keep alive to the end all instances of these classes, separated by commas: a leak\n"
    "  --verify           check the whole heap afterwards\n"
    "  --help             this text\n"
    "\n"
    "EDEN_OPTIONS sets the collector's parameters, for example EDEN_OPTIONS=eden_size=64M.\n"
    "Exit status: 0, or 1 where the file is malformed or can't be read, or memory is exhausted; 2: wrong usage.\n";

enum { NUMBER_IMAGE, NUMBER_COPIES, NUMBER_PROGRESS, NUMBERS };

static uint64_t now_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void show_progress(const struct frame *frame, const char *done) {
    if (frame->program->numbers[NUMBER_PROGRESS].value == 0) {
        return;
    }
    eden_figures figures;
    eden_heap_figures(eden_mutator_heap(frame->mutator), &figures);
    fprintf(stderr,
            "{\"done\": \"%s\", \"time_ns\": %" PRIu64 ", \"processor_ns\": %" PRIu64 ", \"allocated_bytes\": %" PRIu64
            "}\n",
            done, now_ns(CLOCK_MONOTONIC), now_ns(CLOCK_PROCESS_CPUTIME_ID), figures.allocated_bytes);
}

static bool read_file(struct frame *frame, const char *file_name) {
    bool is_input = strcmp(file_name, "-") == 0;
    FILE *file = is_input ? stdin : fopen(file_name, "rbe");
    if (file == NULL) {
        return program_fail(frame->program, "%s: can't be opened: %m", file_name);
    }
    bool ok = frame_read(frame, file, is_input ? "standard input" : file_name);
    if (!is_input) {
        fclose(file);
    }
    return ok;
}

static bool load(struct frame *frame) {
    struct program *program = frame->program;
    if (!image_make(frame, (size_t)program->numbers[NUMBER_IMAGE].value * 1000)) {
        return false;
    }
    show_progress(frame, "image");
    if (!read_file(frame, program->operands[0])) {
        return false;
    }
    show_progress(frame, "read");
    if (!frame_build(frame)) {
        return false;
    }
    show_progress(frame, "build");
    return frame_describe(frame);
}

static bool run(struct program *program, eden_mutator *mutator) {
    EDEN_FRAME(mutator, roots, ROOTS);
    struct frame frame = {.program = program, .mutator = mutator, .roots = roots};
    frame.copies = (size_t)program->numbers[NUMBER_COPIES].value;
    bool ok = frame_define(program, eden_mutator_heap(mutator), frame.sites) && load(&frame) &&
              (program->json ? frame_print_json(&frame, stdout) : frame_print_table(&frame, stdout)) &&
              program_flush(program) && program_verify(program, mutator);
    free(frame.columns);
    free(frame.scratch);
    return ok;
}

int main(int argc, char **argv) {
    struct program_number numbers[NUMBERS] = {
        [NUMBER_IMAGE] = {.name = "image", .least = 0, .most = 1000000000, .value = 60000, .is_fraction = true},
        [NUMBER_COPIES] = {.name = "copies", .least = 0, .most = 100},
        [NUMBER_PROGRESS] = {.name = "progress", .least = 0, .most = 1},
    };
    struct program program = {.name = "dataframe",
                              .usage = usage,
                              .numbers = numbers,
                              .number_count = NUMBERS,
                              .operand_least = 1,
                              .operand_most = 1,
                              .can_keep = true,
                              .run = run};
    return program_main(&program, argc, argv);
}
