/* Collections that the program asks for. */
#include "api/instance.h"
#include "old/full.h"
#include "young/scavenge.h"

void eden_full_collect(eden_mutator *mutator) {
    check_call(mutator->heap, "eden_full_collect");
    if (!instance_refuses(mutator->heap, "eden_full_collect")) {
        full_collect(mutator->heap, EDEN_FULL_REQUEST, 0);
    }
}

void eden_scavenge(eden_mutator *mutator) {
    check_call(mutator->heap, "eden_scavenge");
    if (!instance_refuses(mutator->heap, "eden_scavenge")) {
        scavenge(mutator->heap, EDEN_SCAVENGE_REQUEST);
        full_collect_if_grown(mutator->heap);
    }
}
