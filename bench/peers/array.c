/* array SLOTS STORES DEAD: stores new objects at random places of an array. Allocates DEAD objects beside each, which
 * die immediately. */
#include "peer.h"

enum { NEXT, VALUE, CELL_SLOTS };
PEER_CLASS(cell, CELL_SLOTS);

static peer_ref make(uint32_t value) {
    peer_ref cell = PEER_NEW(cell);
    peer_int_set(cell, VALUE, value);
    return cell;
}

static uint32_t run(char **arguments) {
    uint32_t slots = peer_number(arguments, 0), stores = peer_number(arguments, 1), dead = peer_number(arguments, 2);
    PEER_DEFINE(cell);
    PEER_FRAME(local, 1);
    local[0] = peer_array(slots);
    uint32_t checksum = 0;
    for (uint32_t i = 0; i < stores; i++) {
        peer_ref cell = make(i);
        uint32_t place = peer_random(slots);
        if (PEER_FREES && peer_slot(local[0], place) != PEER_NONE) {
            peer_free(peer_slot(local[0], place));
        }
        peer_slot_set(local[0], place, cell);
        for (uint32_t j = 0; j < dead; j++) {
            peer_ref garbage = make(j);
            PEER_OPAQUE(garbage);
            checksum += (uint32_t)peer_int(garbage, VALUE);
            peer_free(garbage);
        }
    }
    for (uint32_t i = 0; i < slots; i++) {
        peer_ref cell = peer_slot(local[0], i);
        checksum = peer_mix(checksum, cell == PEER_NONE ? 0 : peer_int(cell, VALUE));
    }
    return checksum;
}

int main(int argc, char **argv) { return peer_main(argc, argv, 3, "array SLOTS STORES DEAD", run); }
