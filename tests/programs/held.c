/* held N: stands still in its N-th visit of roots until its standard input has a line; for test_now.sh, which looks
 * from outside.
 *
 * The visits of a full collection: 1 in the scavenge before it, 2 while marking. Prints "held" as it stops. Then it
 * ends its collection, makes another one, and ends. */
#include <stdio.h>
#include <stdlib.h>

#include "node_list.h"

enum { NODES = 20000, SLOTS = 4 };

struct visits {
    int left; /* to the one that is held */
    bool is_signalled;
};

static void visit(void *context, eden_visit *roots) {
    struct visits *visits = context;
    (void)roots;
    if (--visits->left == 0) {
        visits->is_signalled = signal_and_wait("held");
    }
}

int main(int argc, char **argv) {
    struct node_list list;
    struct visits visits = {0};
    bool ok = argc == 2 && node_list_begin(&list, SLOTS);
    if (!ok) {
        fputs("usage: held N\n", stderr);
        return 2;
    }
    EDEN_FRAME(list.mutator, local, 1);
    ok = node_list_grow(&list, &local[0], NODES) && eden_visitor_add(list.heap, visit, &visits);
    eden_full_collect(list.mutator);
    visits.left = atoi(argv[1]);
    eden_full_collect(list.mutator);
    eden_full_collect(list.mutator);
    return node_list_end(&list, "held", ok && visits.is_signalled);
}
