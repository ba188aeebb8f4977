/* trees DEPTH: the Benchmarks Game's binary trees. Builds and counts short-lived trees while one of DEPTH stays alive.
 */
#include "peer.h"

enum { LEFT, RIGHT, SLOTS, MIN_DEPTH = 4 };
PEER_CLASS(tree, SLOTS);

static peer_ref make(unsigned depth) {
    if (depth == 0) {
        return PEER_NEW(tree);
    }
    PEER_FRAME(local, 2);
    local[0] = make(depth - 1);
    local[1] = make(depth - 1);
    peer_ref tree = PEER_NEW(tree);
    peer_slot_set(tree, LEFT, local[0]);
    peer_slot_set(tree, RIGHT, local[1]);
    return tree;
}

static uint32_t count(peer_ref tree) {
    peer_ref left = peer_slot(tree, LEFT);
    return left == PEER_NONE ? 1 : 1 + count(left) + count(peer_slot(tree, RIGHT));
}

static void release(peer_ref tree) {
    if (PEER_FREES && tree != PEER_NONE) {
        release(peer_slot(tree, LEFT));
        release(peer_slot(tree, RIGHT));
        peer_free(tree);
    }
}

static uint32_t make_and_count(unsigned depth) {
    peer_ref tree = make(depth);
    uint32_t nodes = count(tree);
    release(tree);
    return nodes;
}

static uint32_t run(char **arguments) {
    unsigned depth = peer_number(arguments, 0);
    PEER_DEFINE(tree);
    uint32_t checksum = make_and_count(depth + 1);
    PEER_FRAME(local, 1);
    local[0] = make(depth);
    uint32_t iterations = 1;
    for (unsigned d = 0; d < depth; d++) {
        iterations *= 2;
    }
    for (unsigned d = MIN_DEPTH; d <= depth; d += 2, iterations /= 4) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < iterations; i++) {
            sum += make_and_count(d);
        }
        checksum = peer_mix(checksum, sum);
    }
    return peer_mix(checksum, count(local[0]));
}

int main(int argc, char **argv) { return peer_main(argc, argv, 1, "trees DEPTH", run); }
