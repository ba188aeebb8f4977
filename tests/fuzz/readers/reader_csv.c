/* CSV files, as workloads/dataframe reads, sums and prints them. */
#include "dataframe/frame.h"
#include "reader.h"
#include <stdlib.h>
#include <string.h>

const unsigned reader_runs = 4000;

static void read_frame(eden_mutator *mutator, FILE *file) {
    struct program program = {.name = "reader"};
    EDEN_FRAME(mutator, roots, ROOTS);
    struct frame frame = {.program = &program, .mutator = mutator, .roots = roots, .copies = 1};
    FILE *nowhere = fopen("/dev/null", "we");
    if (nowhere && frame_define(&program, eden_mutator_heap(mutator), frame.sites) && image_make(&frame, 100000) &&
        frame_read(&frame, file, "input") && frame_build(&frame) && frame_describe(&frame)) {
        frame_print_json(&frame, nowhere);
        frame_print_table(&frame, nowhere);
    }
    if (nowhere) {
        fclose(nowhere);
    }
    free(frame.columns);
    free(frame.scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    eden_options options = {.parameters = "eden_size=64K,max_heap=16M"};
    eden_error error;
    eden_heap *heap = eden_heap_create(&options, &error);
    eden_mutator *mutator = heap ? eden_mutator_attach(heap, &error) : NULL;
    FILE *file = fdopen(reader_file(bytes, size), "rb");
    if (mutator && file) {
        read_frame(mutator, file);
        if (!eden_heap_verify(heap, &error)) {
            abort();
        }
    }
    if (file) {
        fclose(file);
    }
    eden_heap_destroy(heap);
    return 0;
}

void reader_seeds(reader_seed_fn *seed) {
    static const char *const texts[] = {
        "name,height,born\nA,1.5,1990\nB,,1991\n\"C, \"\"D\"\"\",-2e3,\n",
        "x\n1\n2\n\n3",
        "a,b\r\n1,nan\r\ninf,0x10\r\n",
        "a,b\n1\n",
        "\xef\xbb\xbf\"a\nb\",\"\"\n1e400,1e-400\n99999999999999999999999,.5\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        seed(texts[i], strlen(texts[i]));
    }
}
