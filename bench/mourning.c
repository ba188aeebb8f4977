/* mourning [COUNT]: ephemerons whose keys die at once, for bench/watching.py.
 *
 * Each is fired by the next scavenge, and taken from the queue of mourners: as fast as this program can, which is the
 * highest rate of such events. COUNT (default 2,000,000) of them; prints how many were fired. */
#include <eden/eden.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 1000 };

static bool run(eden_mutator *m, eden_class array, eden_class key, eden_class ephemeron, size_t count) {
    EDEN_FRAME(m, local, 3); /* the batch's ephemerons, a key, an ephemeron */
    local[0] = eden_new_slots(m, array, BATCH);
    bool good = local[0] != EDEN_NONE;
    for (size_t i = 0; good && i < count; i++) {
        local[1] = eden_new(m, key);
        local[2] = eden_new(m, ephemeron);
        good = local[1] != EDEN_NONE && local[2] != EDEN_NONE;
        if (good) {
            eden_slot_set(m, local[2], 0, local[1]);
            eden_slot_set(m, local[0], i % BATCH, local[2]);
        }
        while (eden_mourn_count(m) != 0) {
            eden_mourn_next(m);
        }
    }
    return good;
}

int main(int argc, char **argv) {
    const size_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
    eden_error error = {EDEN_OK, ""};
    eden_heap *heap = eden_heap_create(&(eden_options){.name = "mourning"}, &error);
    eden_mutator *m = heap ? eden_mutator_attach(heap, &error) : NULL;
    if (!m) {
        fprintf(stderr, "mourning: %s\n", error.message);
        return 1;
    }
    eden_class array = eden_class_define(heap, &(eden_class_definition){"Array", EDEN_FORMAT_VARIABLE, 0}, &error);
    eden_class key = eden_class_define(heap, &(eden_class_definition){"Key", EDEN_FORMAT_FIXED, 1}, &error);
    eden_class ephemeron =
        eden_class_define(heap, &(eden_class_definition){"Ephemeron", EDEN_FORMAT_EPHEMERON, 2}, &error);
    if (!run(m, array, key, ephemeron, count)) {
        fprintf(stderr, "mourning: no memory\n");
        return 1;
    }
    eden_figures figures;
    eden_heap_figures(heap, &figures);
    printf("%" PRIu64 "\n", figures.mourned);
    eden_heap_destroy(heap);
    return 0;
}
