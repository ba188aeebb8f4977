/* giveback: grows, drops, idles; for test_memory.sh, which looks from outside.
 *
 * Allocates a list of a million and a half nodes of 176 bytes (about 250 MiB), prints "grown" and waits for a line;
 * then drops all but every sixteenth node, so that what lives is spread over all segments, collects, prints "dropped"
 * and waits for another. Exit status 1 if something fails. */
#include <eden/eden.h>

#include <stdio.h>

enum { NODES = 1500000, KEPT_OF = 16, SLOTS = 21 };

static bool tell_and_wait(const char *word) {
    char line[16];
    return puts(word) != EOF && fflush(stdout) == 0 && fgets(line, sizeof line, stdin) != NULL;
}

int main(void) {
    eden_error error;
    eden_heap *heap = eden_heap_create(NULL, &error);
    eden_mutator *mutator = heap == NULL ? NULL : eden_mutator_attach(heap, &error);
    eden_class_definition definition = {"Node", EDEN_FORMAT_FIXED, SLOTS};
    eden_class node = mutator == NULL ? 0 : eden_class_define(heap, &definition, &error);
    bool ok = node != 0;
    if (ok) {
        EDEN_FRAME(mutator, local, 1);
        for (int i = 0; ok && i < NODES; i++) {
            eden_value fresh = eden_new(mutator, node);
            ok = fresh != EDEN_NONE;
            if (ok) {
                eden_slot_set(mutator, fresh, 0, local[0]);
                local[0] = fresh;
            }
        }
        eden_full_collect(mutator);
        ok = ok && tell_and_wait("grown");
        for (eden_value kept = local[0]; ok && kept != EDEN_NONE; kept = eden_slot(kept, 0)) {
            eden_value next = eden_slot(kept, 0);
            for (int i = 1; i < KEPT_OF && next != EDEN_NONE; i++) {
                next = eden_slot(next, 0);
            }
            eden_slot_set(mutator, kept, 0, next);
        }
        eden_full_collect(mutator);
        ok = ok && tell_and_wait("dropped") && eden_heap_verify(heap, &error);
    }
    if (!ok) {
        fprintf(stderr, "giveback: failed: %s\n", mutator == NULL ? error.message : eden_last_error(mutator)->message);
    }
    eden_heap_destroy(heap);
    return ok ? 0 : 1;
}
