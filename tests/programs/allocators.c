/* allocators [ROUNDS]: three functions allocate an object of a class of its own each, in known numbers: for the test of
 * native stacks, so it is built with frame pointers, and each function stays one.
 *
 * A round is a Trunk, two Branches and five Leaves: three are made under grow(), two under regrow(). One in a hundred
 * rounds keeps its Trunk to the end. */
#include <eden/eden.h>

#include <stdio.h>
#include <stdlib.h>

#define A_FUNCTION __attribute__((noinline, used)) /* neither inlined nor cloned: each is one symbol */

enum { KEPT = 1000, KEPT_OF = 100 };

struct garden {
    eden_mutator *mutator;
    eden_class leaf, branch, trunk, bed;
};

static A_FUNCTION eden_value make_leaf(const struct garden *garden) { return eden_new(garden->mutator, garden->leaf); }
static A_FUNCTION eden_value make_branch(const struct garden *garden) {
    return eden_new(garden->mutator, garden->branch);
}
static A_FUNCTION eden_value make_trunk(const struct garden *garden) {
    return eden_new(garden->mutator, garden->trunk);
}

static A_FUNCTION bool grow(const struct garden *garden, eden_value bed, size_t round) {
    EDEN_FRAME(garden->mutator, local, 1);
    local[0] = bed;
    eden_value trunk = make_trunk(garden);
    if (trunk != EDEN_NONE && round % KEPT_OF == 0) {
        eden_slot_set(garden->mutator, local[0], round / KEPT_OF % KEPT, trunk);
    }
    bool grown = trunk != EDEN_NONE;
    for (int i = 0; i < 2; i++) {
        grown = make_branch(garden) != EDEN_NONE && grown;
    }
    for (int i = 0; i < 3; i++) {
        grown = make_leaf(garden) != EDEN_NONE && grown;
    }
    return grown;
}

static A_FUNCTION bool regrow(const struct garden *garden) {
    bool grown = true;
    for (int i = 0; i < 2; i++) {
        grown = make_leaf(garden) != EDEN_NONE && grown;
    }
    return grown;
}

static bool run(const struct garden *garden, size_t rounds) {
    EDEN_FRAME(garden->mutator, local, 1);
    local[0] = eden_new_slots(garden->mutator, garden->bed, KEPT);
    bool good = local[0] != EDEN_NONE;
    for (size_t round = 0; good && round < rounds; round++) {
        good = grow(garden, local[0], round) && regrow(garden);
    }
    return good;
}

int main(int argc, char **argv) {
    static const eden_class_definition classes[] = {{"Leaf", EDEN_FORMAT_FIXED, 1},
                                                    {"Branch", EDEN_FORMAT_FIXED, 2},
                                                    {"Trunk", EDEN_FORMAT_FIXED, 3},
                                                    {"Bed", EDEN_FORMAT_VARIABLE, 0}};
    eden_error error = {0};
    eden_heap *heap = eden_heap_create(NULL, &error);
    struct garden garden = {.mutator = heap == NULL ? NULL : eden_mutator_attach(heap, &error)};
    bool good = garden.mutator != NULL;
    eden_class *const class[] = {&garden.leaf, &garden.branch, &garden.trunk, &garden.bed};
    for (size_t i = 0; good && i < sizeof class / sizeof *class; i++) {
        *class[i] = eden_class_define(heap, &classes[i], &error);
        good = *class[i] != 0;
    }
    good = good && run(&garden, argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000);
    if (!good) {
        fprintf(stderr, "allocators: failed: %s\n",
                garden.mutator == NULL ? error.message : eden_last_error(garden.mutator)->message);
    }
    eden_heap_destroy(heap);
    return good ? 0 : 1;
}
