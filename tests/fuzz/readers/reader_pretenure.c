/* The file that `pretenure` names, read as a heap is made. */
#include "heap/heap.h"
#include "reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const unsigned reader_runs = 4000;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    int fd = reader_file(bytes, size);
    char parameters[64];
    snprintf(parameters, sizeof parameters, "eden_size=64K,pretenure=/proc/self/fd/%d", fd);
    eden_options options = {.parameters = parameters};
    eden_error error;
    eden_heap *heap = eden_heap_create(&options, &error);
    if (heap) {
        eden_class_definition definition = {.name = "Point", .format = EDEN_FORMAT_FIXED, .fixed_slots = 2};
        eden_class point = eden_class_define(heap, &definition, &error);
        eden_site_define(heap, point, "at \\ the\nend", &error);
    }
    eden_heap_destroy(heap);
    close(fd);
    return 0;
}

void reader_seeds(reader_seed_fn *seed) {
    static const char *const texts[] = {
        "class Point\nsite at \\\\ the\\nend\n",
        "# nothing\n\nclass a b c\\r\\n\nclass \nsite\n",
        "class Point\nclass Point\nsite Point",
        "klass Point\nclass x\\y\nclass \\",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        seed(texts[i], strlen(texts[i]));
    }
}
