/* Scavenges with a large old array that young objects are stored into; remembered.py runs it and reads EDEN_LOG.
 *
 *     remembered SET HOLDER PLACES SLOTS STORES ROUNDS
 *
 * SET: remembered_set, object or card. HOLDER: `large`, one array of SLOTS, or `small`, as many slots in arrays of 64,
 * which both sets remember alike. PLACES, where each round stores STORES young objects before it scavenges: `same`, the
 * same random slots each time; `new`, other ones each time; `next`, those that follow the last. With `new` and `next`
 * the slots of last time are cleared first, so that up to twice as many cards have been stored into.
 *
 * The last ROUNDS scavenges of the log are those of the rounds. */
#include <eden/eden.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 64 };

struct bench {
    eden_heap *heap;
    eden_mutator *m;
    eden_class array, pair;
    bool large;
    const char *pattern;
    size_t slots, stores;
    size_t *places;
    uint64_t random;
};

static void die(const char *message) {
    fprintf(stderr, "remembered: %s\n", message);
    _Exit(1);
}

static void store(const struct bench *b, eden_value holder, size_t i, eden_value v) {
    if (b->large) {
        eden_slot_set(b->m, holder, i, v);
    } else {
        eden_slot_set(b->m, eden_slot(holder, i / SMALL), i % SMALL, v);
    }
}

static void make_holder(struct bench *b, eden_value *holder) {
    eden_error error;
    if (b->large) {
        *holder = eden_new_slots(b->m, b->array, b->slots);
        return;
    }
    *holder = eden_new_slots(b->m, b->array, (b->slots + SMALL - 1) / SMALL);
    for (size_t i = 0; i < (b->slots + SMALL - 1) / SMALL; i++) {
        eden_value small = eden_new_slots(b->m, b->array, SMALL);
        eden_slot_set(b->m, *holder, i, small);
    }
    /* All of them old. */
    if (!eden_heap_set(b->heap, "tenure_fill", "0", &error) ||
        !eden_heap_set(b->heap, "tenure_proportion", "1", &error)) {
        die(error.message);
    }
    eden_scavenge(b->m);
    eden_scavenge(b->m);
    eden_heap_set(b->heap, "tenure_fill", "0.9", &error);
    eden_scavenge(b->m);
}

static uint64_t next_random(uint64_t *state) { /* xorshift64 (Marsaglia 2003) */
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void choose_places(struct bench *b, size_t round) {
    for (size_t i = 0; i < b->stores; i++) {
        b->places[i] =
            strcmp(b->pattern, "next") == 0 ? (round * b->stores + i) % b->slots : next_random(&b->random) % b->slots;
    }
}

/* The stores between two scavenges. */
static void round_of_stores(struct bench *b, const eden_value *holder, size_t round) {
    if (strcmp(b->pattern, "same") != 0) {
        for (size_t i = 0; round > 0 && i < b->stores; i++) {
            store(b, *holder, b->places[i], EDEN_NONE);
        }
        choose_places(b, round);
    } else if (round == 0) {
        choose_places(b, round);
    }
    for (size_t i = 0; i < b->stores; i++) {
        eden_value pair = eden_new(b->m, b->pair);
        eden_slot_set(b->m, pair, 0, eden_int((int64_t)i));
        store(b, *holder, b->places[i], pair);
    }
}

int main(int argc, char **argv) {
    if (argc != 7) {
        fprintf(stderr,
                "usage: remembered SET HOLDER PLACES SLOTS STORES ROUNDS   (remembered.py knows what to say)\n");
        return 2;
    }
    eden_error error = {EDEN_OK, ""};
    char parameters[128];
    snprintf(parameters, sizeof parameters, "policy=fixed,eden_size=16M,full_gc_ratio=inf,remembered_set=%s", argv[1]);
    struct bench b = {.large = strcmp(argv[2], "large") == 0,
                      .pattern = argv[3],
                      .slots = strtoull(argv[4], NULL, 10),
                      .stores = strtoull(argv[5], NULL, 10),
                      .random = 88172645463325252u};
    b.heap = eden_heap_create(&(eden_options){.name = "remembered", .parameters = parameters}, &error);
    b.m = b.heap == NULL ? NULL : eden_mutator_attach(b.heap, &error);
    b.places = calloc(b.stores, sizeof *b.places);
    if (b.m == NULL || b.places == NULL) {
        die(b.m == NULL ? error.message : "no memory");
    }
    b.array = eden_class_define(b.heap, &(eden_class_definition){"Array", EDEN_FORMAT_VARIABLE, 0}, &error);
    b.pair = eden_class_define(b.heap, &(eden_class_definition){"Pair", EDEN_FORMAT_FIXED, 2}, &error);
    {
        EDEN_FRAME(b.m, local, 1);
        make_holder(&b, &local[0]);
        for (size_t round = 0; round < strtoull(argv[6], NULL, 10); round++) {
            round_of_stores(&b, &local[0], round);
            eden_scavenge(b.m);
        }
    }
    free(b.places);
    eden_heap_destroy(b.heap);
    return 0;
}
