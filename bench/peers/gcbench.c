/* gcbench DEPTH: GCBench (Ellis, Kovac, Boehm 1997). Builds short-lived trees of several depths, top down and bottom
 * up, while a tree of DEPTH and an array of numbers stay alive. */
#include "peer.h"

enum { LEFT, RIGHT, I, J, SLOTS, MIN_DEPTH = 4, ARRAY = 500000 };
PEER_CLASS(node, SLOTS);

static void populate(peer_ref node, unsigned depth) {
    if (depth == 0) {
        return;
    }
    PEER_FRAME(local, 1);
    local[0] = node;
    peer_ref left = PEER_NEW(node);
    peer_slot_set(local[0], LEFT, left);
    peer_ref right = PEER_NEW(node);
    peer_slot_set(local[0], RIGHT, right);
    populate(peer_slot(local[0], LEFT), depth - 1);
    populate(peer_slot(local[0], RIGHT), depth - 1);
}

static peer_ref make(unsigned depth) {
    if (depth == 0) {
        return PEER_NEW(node);
    }
    PEER_FRAME(local, 2);
    local[0] = make(depth - 1);
    local[1] = make(depth - 1);
    peer_ref node = PEER_NEW(node);
    peer_slot_set(node, LEFT, local[0]);
    peer_slot_set(node, RIGHT, local[1]);
    return node;
}

static void release(peer_ref node) {
    if (PEER_FREES && node != PEER_NONE) {
        release(peer_slot(node, LEFT));
        release(peer_slot(node, RIGHT));
        peer_free(node);
    }
}

static uint32_t count(peer_ref node) {
    return node == PEER_NONE ? 0 : 1 + count(peer_slot(node, LEFT)) + count(peer_slot(node, RIGHT));
}

static uint32_t leftmost(peer_ref node) {
    uint32_t depth = 0;
    for (; node != PEER_NONE; node = peer_slot(node, LEFT)) {
        depth++;
    }
    return depth;
}

static uint32_t size(unsigned depth) { return (2u << depth) - 1; }

static uint32_t construct(unsigned depth, uint32_t iterations, uint32_t checksum) {
    PEER_FRAME(local, 1);
    for (uint32_t i = 0; i < iterations; i++) {
        local[0] = PEER_NEW(node);
        populate(local[0], depth);
        checksum = peer_mix(checksum, leftmost(local[0]));
        release(local[0]);
    }
    for (uint32_t i = 0; i < iterations; i++) {
        local[0] = make(depth);
        checksum = peer_mix(checksum, leftmost(local[0]));
        release(local[0]);
    }
    return checksum;
}

static uint32_t run(char **arguments) {
    unsigned depth = peer_number(arguments, 0);
    PEER_DEFINE(node);
    PEER_FRAME(local, 2);
    peer_ref stretch = make(depth + 2);
    uint32_t checksum = leftmost(stretch);
    release(stretch);
    local[0] = PEER_NEW(node);
    populate(local[0], depth);
    local[1] = peer_bytes(ARRAY * sizeof(double));
    double *numbers = (double *)(void *)peer_data(local[1]);
    for (size_t i = 0; i < ARRAY; i++) {
        numbers[i] = i == 0 || i >= ARRAY / 2 ? 0 : 1.0 / (double)i;
    }
    for (unsigned d = MIN_DEPTH; d <= depth; d += 2) {
        checksum = construct(d, 2 * size(depth + 2) / size(d), checksum);
    }
    numbers = (double *)(void *)peer_data(local[1]);
    return peer_mix(peer_mix(checksum, count(local[0])), (int64_t)(1 / numbers[1000] + 0.5));
}

int main(int argc, char **argv) { return peer_main(argc, argv, 1, "gcbench DEPTH", run); }
