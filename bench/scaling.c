/* Collections of heaps of many sizes; scaling.py runs it and reads EDEN_LOG.
 *
 *     scaling scavenge BYTES ROUNDS     each round BYTES of new objects are alive, and scavenged
 *     scaling full BYTES ROUNDS         BYTES of old objects are alive, and collected in full in each round
 *     scaling change BYTES SECONDS      BYTES are alive, and are replaced, block by block, at random
 *
 * What is alive is a table of blocks, each a binary tree of 1,023 nodes of 32 bytes, made depth first. `change` prints
 * when it began to replace them, CLOCK_MONOTONIC in ns, and how many nodes it has made since. */
#include "random.h"
#include <eden/eden.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEPTH = 9, NODE_BYTES = 32, BLOCK_BYTES = ((2 << DEPTH) - 1) * NODE_BYTES, ROW = 512 };

struct bench {
    eden_heap *heap;
    eden_mutator *m;
    eden_class node, array;
    size_t blocks;
    struct random random;
};

static void die(const char *message) {
    fprintf(stderr, "scaling: %s\n", message);
    _Exit(1);
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static eden_value need(const struct bench *b, eden_value value) {
    if (value == EDEN_NONE) {
        die(eden_last_error(b->m)->message);
    }
    return value;
}

static eden_value tree(const struct bench *b, int depth) {
    EDEN_FRAME(b->m, local, 1);
    local[0] = need(b, eden_new(b->m, b->node));
    eden_slot_set(b->m, local[0], 2, eden_int(depth));
    for (size_t side = 0; depth > 0 && side < 2; side++) {
        const eden_value below = tree(b, depth - 1);
        eden_slot_set(b->m, local[0], side, below);
    }
    return local[0];
}

/* The table is rows of ROW blocks. */
static void put(const struct bench *b, const eden_value *table, size_t i) {
    EDEN_FRAME(b->m, local, 1);
    if (eden_slot(*table, i / ROW) == EDEN_NONE) {
        local[0] = need(b, eden_new_slots(b->m, b->array, ROW));
        eden_slot_set(b->m, *table, i / ROW, local[0]);
    }
    local[0] = tree(b, DEPTH);
    eden_slot_set(b->m, eden_slot(*table, i / ROW), i % ROW, local[0]);
}

static void fill(const struct bench *b, eden_value *table) {
    *table = EDEN_NONE;
    *table = need(b, eden_new_slots(b->m, b->array, b->blocks / ROW + 1));
    for (size_t i = 0; i < b->blocks; i++) {
        put(b, table, i);
    }
}

static void change(struct bench *b, const eden_value *table, uint64_t seconds) {
    const uint64_t begin = now_ns();
    uint64_t made = 0;
    while (now_ns() - begin < seconds * 1000000000u) {
        put(b, table, (size_t)random_below(&b->random, (int64_t)b->blocks));
        made += BLOCK_BYTES / NODE_BYTES;
    }
    printf("%" PRIu64 " %" PRIu64 "\n", begin, made);
}

static bool work(struct bench *b, const char *kind, uint64_t times) {
    EDEN_FRAME(b->m, local, 1);
    const bool is_full = strcmp(kind, "full") == 0, changes = strcmp(kind, "change") == 0;
    if (is_full || changes) {
        fill(b, &local[0]);
    }
    if (changes) {
        change(b, &local[0], times);
    }
    for (uint64_t i = 0; i < times && !changes; i++) {
        if (is_full) {
            eden_full_collect(b->m);
        } else {
            fill(b, &local[0]);
            eden_scavenge(b->m);
        }
    }
    return is_full || changes || strcmp(kind, "scavenge") == 0;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: scaling scavenge|full|change BYTES ROUNDS|SECONDS   (scaling.py knows what to say)\n");
        return 2;
    }
    eden_error error = {EDEN_OK, ""};
    struct bench b = {.blocks = strtoull(argv[2], NULL, 10) / BLOCK_BYTES + 1, .random = random_start(1)};
    b.heap = eden_heap_create(&(eden_options){.name = "scaling"}, &error);
    b.m = b.heap == NULL ? NULL : eden_mutator_attach(b.heap, &error);
    if (b.m == NULL) {
        die(error.message);
    }
    b.node = eden_class_define(b.heap, &(eden_class_definition){"Node", EDEN_FORMAT_FIXED, 3}, &error);
    b.array = eden_class_define(b.heap, &(eden_class_definition){"Array", EDEN_FORMAT_VARIABLE, 0}, &error);
    const bool known = work(&b, argv[1], strtoull(argv[3], NULL, 10));
    eden_heap_destroy(b.heap);
    return known ? 0 : 2;
}
