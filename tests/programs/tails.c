/* tails: a full collection that returns the free ends of many segments, for test_checked.sh.
 *
 * Segments of 16 MiB are filled with texts of a MiB. Then only the first of each segment lives, and the policy keeps
 * less mapped than the rest takes. The heap is verified; in the checked build, around each collection too. Prints how
 * many segments have given back their ends; exit status 1 if something fails. */
#include <eden/eden.h>

#include <stdio.h>

enum { SEGMENTS = 8, OF_SEGMENT = 16, TEXTS = SEGMENTS * OF_SEGMENT, TEXT_BYTES = (1 << 20) - 64 };

static bool fill(eden_mutator *mutator, eden_class text, eden_value *texts) {
    for (size_t i = 0; i < TEXTS; i++) {
        texts[i] = eden_new_raw(mutator, text, TEXT_BYTES);
        if (texts[i] == EDEN_NONE) {
            return false;
        }
    }
    return true;
}

int main(void) {
    eden_error error = {EDEN_OK, ""};
    const eden_options options = {.name = "tails", .parameters = "policy=auto,compactor=none,grow_headroom=16M"};
    const eden_class_definition definition = {"Text", EDEN_FORMAT_BYTES, 0};
    eden_heap *heap = eden_heap_create(&options, &error);
    eden_mutator *mutator = heap == NULL ? NULL : eden_mutator_attach(heap, &error);
    bool ok = mutator != NULL;
    eden_figures figures = {0};
    if (ok) {
        EDEN_FRAME(mutator, texts, TEXTS);
        eden_class text = eden_class_define(heap, &definition, &error);
        ok = text != 0 && fill(mutator, text, texts);
        for (size_t i = 0; i < TEXTS; i++) {
            texts[i] = i % OF_SEGMENT == 0 ? texts[i] : EDEN_NONE;
        }
        eden_full_collect(mutator);
        ok = ok && eden_heap_verify(heap, &error);
        eden_heap_figures(heap, &figures);
    }
    eden_heap_destroy(heap);
    printf("%llu\n", (unsigned long long)figures.segments_unmapped);
    return ok && figures.segments_unmapped > 3 ? 0 : 1;
}
