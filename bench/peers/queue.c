/* queue LIVE OPERATIONS left|cleared: a linked FIFO queue of LIVE elements. Each operation puts an element and takes
 * the oldest, whose link is left (a dead object then refers to a live one) or cleared. */
#include "peer.h"

enum { NEXT, VALUE, SLOTS };
PEER_CLASS(node, SLOTS);

static uint32_t run(char **arguments) {
    uint32_t live = peer_number(arguments, 0), operations = peer_number(arguments, 1), checksum = 0;
    bool cleared = strcmp(arguments[2], "cleared") == 0;
    PEER_DEFINE(node);
    enum { HEAD, TAIL };
    PEER_FRAME(local, 2);
    for (uint32_t i = 0; i < operations; i++) {
        peer_ref node = PEER_NEW(node);
        peer_int_set(node, VALUE, i);
        if (i == 0) {
            local[HEAD] = node;
        } else {
            peer_slot_set(local[TAIL], NEXT, node);
        }
        local[TAIL] = node;
        if (i >= live) {
            peer_ref taken = local[HEAD];
            local[HEAD] = peer_slot(taken, NEXT);
            checksum = peer_mix(checksum, peer_int(taken, VALUE));
            if (cleared) {
                peer_slot_set(taken, NEXT, PEER_NONE);
            }
            peer_free(taken);
        }
    }
    for (peer_ref node = local[HEAD]; node != PEER_NONE; node = peer_slot(node, NEXT)) {
        checksum = peer_mix(checksum, peer_int(node, VALUE));
    }
    return checksum;
}

int main(int argc, char **argv) { return peer_main(argc, argv, 3, "queue LIVE OPERATIONS left|cleared", run); }
