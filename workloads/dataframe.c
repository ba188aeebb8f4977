/* dataframe: loads a CSV file into a typed data frame on the collector, and prints what is in it.
 *
 * This is the programs' DataFrame of the papers on the Pharo VM's collector: for each cell it makes the objects that
 * Pharo's DataFrame makes (frame/classes.h), in two passes (frame/reader.c, frame/columns.c). */
#include "frame/frame.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

struct arguments {
    const char *file_name;
    bool json;
    bool verify;
};

static const char usage[] =
    "usage: dataframe [--json] [--verify] FILE.csv\n"
    "\n"
    "Loads a CSV file (RFC 4180; the first record names the columns) into a data frame on the collector and prints\n"
    "its columns. FILE.csv may be - for the standard input.\n"
    "\n"
    "A column is of type number if every cell that is not empty is [+-]digits[.digits][e[+-]digits]; count is the\n"
    "number of such cells, sum the sum of their values from the first row to the last. Otherwise it is of type text;\n"
    "count is the number of its cells, distinct the number of different ones.\n"
    "\n"
    "  --json     print one JSON object (a sum that is not finite is null)\n"
    "  --verify   check the whole heap afterwards\n"
    "  --help     this text\n"
    "\n"
    "EDEN_OPTIONS sets the collector's parameters, for example EDEN_OPTIONS=eden_size=64M.\n"
    "Exit status: 0, or 1 where the file is malformed or can't be read, or memory is exhausted; 2: wrong usage.\n";

/* False: stop, with the exit status in *status. */
static bool parse_arguments(int argc, char **argv, struct arguments *arguments, int *status) {
    static const struct option options[] = {{"json", no_argument, NULL, 'j'},
                                            {"verify", no_argument, NULL, 'v'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    int option = 0;
    /* One thread, here and before any heap. NOLINTNEXTLINE(concurrency-mt-unsafe) */
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (option) {
        case 'j':
            arguments->json = true;
            break;
        case 'v':
            arguments->verify = true;
            break;
        case 'h':
            *status = fputs(usage, stdout) == EOF || fflush(stdout) != 0 ? 1 : 0;
            return false;
        default:
            *status = 2;
            return false;
        }
    }
    if (optind + 1 != argc) {
        fputs(usage, stderr);
        *status = 2;
        return false;
    }
    arguments->file_name = argv[optind];
    return true;
}

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

static bool print(struct frame *frame, const struct arguments *arguments) {
    bool ok = arguments->json ? frame_print_json(frame, stdout) : frame_print_table(frame, stdout);
    if (ok && fflush(stdout) != 0) {
        return frame_fail(frame, "the result can't be written: %m");
    }
    return ok;
}

static bool verify(struct frame *frame) {
    eden_error error = {0};
    return eden_heap_verify(eden_mutator_heap(frame->mutator), &error) ||
           frame_fail(frame, "the heap is corrupt: %s", error.message);
}

static bool run(eden_mutator *mutator, const struct frame_sites *sites, const struct arguments *arguments) {
    EDEN_FRAME(mutator, roots, ROOTS);
    struct frame frame = {.mutator = mutator, .sites = sites, .roots = roots};
    bool ok = load(&frame, arguments->file_name) && print(&frame, arguments) && (!arguments->verify || verify(&frame));
    if (!ok) {
        fprintf(stderr, "dataframe: %s\n", frame.error);
    }
    free(frame.columns);
    free(frame.scratch);
    return ok;
}

int main(int argc, char **argv) {
    struct arguments arguments = {0};
    int status = 1;
    if (!parse_arguments(argc, argv, &arguments, &status)) {
        return status;
    }
    eden_error error = {0};
    struct frame_sites sites;
    eden_heap *heap = eden_heap_create(&(eden_options){.name = "dataframe"}, &error);
    eden_mutator *mutator = heap == NULL ? NULL : eden_mutator_attach(heap, &error);
    bool ready = mutator != NULL && frame_sites_define(heap, &sites, &error);
    if (!ready) {
        fprintf(stderr, "dataframe: the heap can't be made: %s\n", error.message);
    }
    bool ok = ready && run(mutator, &sites, &arguments);
    eden_heap_destroy(heap);
    return ok ? 0 : 1;
}
