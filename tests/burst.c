/* burst: a heap that ends with millions of objects alive; for test_lifetimes_record.sh.
 *
 * Keeps a list of three million nodes, prints "grown" and waits for a line; then ends the heap, and prints "ended". A
 * listener that wants each object hears of three million in a fraction of a second. Exit status 1 if something fails.
 */
#include <eden/eden.h>

#include <stdio.h>

enum { NODES = 3000000, SLOTS = 1 };

int main(void) {
    eden_error error;
    char line[16];
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
    }
    if (!ok) {
        fprintf(stderr, "burst: failed: %s\n", mutator == NULL ? error.message : eden_last_error(mutator)->message);
    }
    ok = ok && puts("grown") != EOF && fflush(stdout) == 0 && fgets(line, sizeof line, stdin) != NULL;
    eden_heap_destroy(heap);
    return ok && puts("ended") != EOF ? 0 : 1;
}
