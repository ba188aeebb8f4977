/* held N [CLASSES]: stands still in its N-th visit of roots until its standard input has a line, with as many classes
 * besides its own; for test_now.sh, which looks from outside.
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
    bool ok = (argc == 2 || argc == 3) && node_list_begin(&list, SLOTS);
    if (!ok) {
        fputs("usage: held N [CLASSES]\n", stderr);
        return 2;
    }
    for (int i = 0; ok && argc == 3 && i < atoi(argv[2]); i++) {
        char name[16];
        snprintf(name, sizeof name, "Class%d", i);
        ok = eden_class_define(list.heap, &(eden_class_definition){name, EDEN_FORMAT_FIXED, 1}, &list.error) != 0;
    }
    EDEN_FRAME(list.mutator, local, 1);
    ok = node_list_grow(&list, &local[0], NODES) && eden_visitor_add(list.heap, visit, &visits);
    eden_full_collect(list.mutator);
    visits.left = atoi(argv[1]);
    eden_full_collect(list.mutator);
    eden_full_collect(list.mutator);
    return node_list_end(&list, "held", ok && visits.is_signalled);
}
