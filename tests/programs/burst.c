/* burst: a heap that ends with millions of objects alive; for test_lifetimes_record.sh.
 *
 * Keeps a list of three million nodes, prints "grown" and waits for a line; then ends the heap, and prints "ended". A
 * listener that wants each object hears of three million in a fraction of a second. Exit status 1 if something fails.
 */
#include "node_list.h"

enum { NODES = 3000000, SLOTS = 1 };

int main(void) {
    struct node_list list;
    bool ok = node_list_begin(&list, SLOTS);
    if (ok) {
        EDEN_FRAME(list.mutator, local, 1);
        ok = node_list_grow(&list, &local[0], NODES) && signal_and_wait("grown");
    }
    int status = node_list_end(&list, "burst", ok);
    return puts("ended") != EOF ? status : 1;
}
