/* alloc BYTES COUNT: allocates COUNT objects of 16, 32 or 64 bytes, header included, which die immediately. */
#include "peer.h"

PEER_CLASS(small, (16 - PEER_HEADER) / 8);
PEER_CLASS(middle, (32 - PEER_HEADER) / 8);
PEER_CLASS(large, (64 - PEER_HEADER) / 8);

#define ALLOCATE(class)                                                                                                \
    for (uint32_t i = 0; i < count; i++) {                                                                             \
        peer_ref object = PEER_NEW(class);                                                                             \
        peer_int_set(object, 0, i);                                                                                    \
        PEER_OPAQUE(object);                                                                                           \
        checksum += (uint32_t)peer_int(object, 0);                                                                     \
        peer_free(object);                                                                                             \
    }

static uint32_t run(char **arguments) {
    uint32_t bytes = peer_number(arguments, 0), count = peer_number(arguments, 1), checksum = 0;
    PEER_DEFINE(small);
    PEER_DEFINE(middle);
    PEER_DEFINE(large);
    if (bytes == 16) {
        ALLOCATE(small)
    } else if (bytes == 32) {
        ALLOCATE(middle)
    } else {
        ALLOCATE(large)
    }
    return checksum;
}

int main(int argc, char **argv) { return peer_main(argc, argv, 2, "alloc 16|32|64 COUNT", run); }
