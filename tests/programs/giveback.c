/* giveback: grows, drops, idles; for test_memory.sh, which looks from outside.
 *
 * Allocates a list of a million and a half nodes of 176 bytes (about 250 MiB), prints "grown" and waits for a line;
 * then drops all but every sixteenth node, so that what lives is spread over all segments, collects, prints "dropped"
 * and waits for another. Exit status 1 if something fails. */
#include "node_list.h"

enum { NODES = 1500000, KEPT_OF = 16, SLOTS = 21 };

int main(void) {
    struct node_list list;
    bool ok = node_list_begin(&list, SLOTS);
    if (ok) {
        EDEN_FRAME(list.mutator, local, 1);
        ok = node_list_grow(&list, &local[0], NODES);
        eden_full_collect(list.mutator);
        ok = ok && signal_and_wait("grown");
        for (eden_value kept = local[0]; ok && kept != EDEN_NONE; kept = eden_slot(kept, 0)) {
            eden_value next = eden_slot(kept, 0);
            for (int i = 1; i < KEPT_OF && next != EDEN_NONE; i++) {
                next = eden_slot(next, 0);
            }
            eden_slot_set(list.mutator, kept, 0, next);
        }
        eden_full_collect(list.mutator);
        ok = ok && signal_and_wait("dropped") && eden_heap_verify(list.heap, &list.error);
    }
    return node_list_end(&list, "giveback", ok);
}
