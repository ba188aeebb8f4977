/* What a large old array costs each scavenge: 10 million slots, 1,000 young objects stored into it between scavenges.
 *
 *     remembered [SLOTS [STORES]]    (default 10000000 1000)
 *
 * remembered_set=object scans the array whole at every scavenge, card only the cards stored into. The stores go to the
 * same random places each time, or to new ones; then what stood in the places of last time is cleared first, so that
 * twice as many cards have been stored into. For comparison the same stores go into old arrays of 64 slots, which both
 * sets remember alike.
 *
 * Printed: the median time of a scavenge; what of it is the remembered phase, taken as the difference to a scavenge of
 * the same objects held by an array that is young itself; the ratios of the two sets; and how many times slower the
 * scavenge is for the one large array than for small ones (the tuning paper saw 52). */
#include <eden/eden.h>

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 51, MIDDLE = ROUNDS / 2, SMALL = 64 };
enum holder { LARGE, SMALL_ONES, YOUNG };

struct measured {
    double scavenge_us;
    uint64_t remembered; /* objects and cards remembered after a scavenge */
};

struct bench {
    eden_heap *heap;
    eden_mutator *m;
    eden_class array, pair;
    enum holder holder;
    bool fresh; /* new places each time */
    size_t slots, stores;
};

static void die(const char *message) {
    fprintf(stderr, "remembered: %s\n", message);
    _Exit(1);
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The array that slot i of the whole stands in, and its index there. */
static eden_value holder_of(const struct bench *b, eden_value holder, size_t *i) {
    if (b->holder != SMALL_ONES) {
        return holder;
    }
    eden_value small = eden_slot(holder, *i / SMALL);
    *i %= SMALL;
    return small;
}

static void store(const struct bench *b, eden_value holder, size_t i, eden_value v) {
    eden_value in = holder_of(b, holder, &i);
    eden_slot_set(b->m, in, i, v);
}

static void make_holder(struct bench *b, eden_value *holder) {
    eden_error error;
    if (b->holder != SMALL_ONES) {
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

/* The stores between two scavenges. */
static void round_of_stores(const struct bench *b, const eden_value *holder, size_t *places, uint64_t *random) {
    for (size_t i = 0; b->fresh && i < b->stores; i++) {
        store(b, *holder, places[i], EDEN_NONE);
        places[i] = next_random(random) % b->slots;
    }
    for (size_t i = 0; i < b->stores; i++) {
        eden_value pair = eden_new(b->m, b->pair);
        eden_slot_set(b->m, pair, 0, eden_int((int64_t)i));
        store(b, *holder, places[i], pair);
    }
}

static struct measured measure(enum holder holder, bool fresh, const char *remembered_set, size_t slots,
                               size_t stores) {
    eden_error error = {EDEN_OK, ""};
    char parameters[128];
    snprintf(parameters, sizeof parameters, "eden_size=16M,full_gc_ratio=inf,remembered_set=%s", remembered_set);
    struct bench b = {.holder = holder, .fresh = fresh, .stores = stores, .slots = slots};
    b.heap = eden_heap_create(&(eden_options){.name = "remembered", .parameters = parameters}, &error);
    b.m = b.heap == NULL ? NULL : eden_mutator_attach(b.heap, &error);
    size_t *places = calloc(stores, sizeof *places);
    if (b.m == NULL || places == NULL) {
        die(b.m == NULL ? error.message : "no memory");
    }
    b.array = eden_class_define(b.heap, &(eden_class_definition){"Array", EDEN_FORMAT_VARIABLE, 0}, &error);
    b.pair = eden_class_define(b.heap, &(eden_class_definition){"Pair", EDEN_FORMAT_FIXED, 2}, &error);
    uint64_t ns[ROUNDS], random = 88172645463325252u;
    for (size_t i = 0; i < stores; i++) {
        places[i] = holder == YOUNG ? i : next_random(&random) % slots;
    }
    eden_figures before, after = {0};
    {
        EDEN_FRAME(b.m, local, 1);
        make_holder(&b, &local[0]);
        for (size_t round = 0; round < ROUNDS; round++) {
            round_of_stores(&b, &local[0], places, &random);
            eden_heap_figures(b.heap, &before);
            eden_scavenge(b.m);
            eden_heap_figures(b.heap, &after);
            ns[round] = after.scavenge_ns - before.scavenge_ns;
        }
    }
    free(places);
    eden_heap_destroy(b.heap);
    qsort(ns, ROUNDS, sizeof ns[0], compare);
    return (struct measured){(double)ns[MIDDLE] / 1e3, after.remembered_now};
}

/* One table, for the same places or new ones each time. none: a scavenge without the remembered phase's work. */
static void compare_sets(bool fresh, double none, size_t slots, size_t stores) {
    double us[2][2];
    printf("\n%zu stores, %s places each time\n", stores, fresh ? "new" : "the same");
    printf("  stored into         set         scavenge   remembered phase   remembered after\n");
    for (int card = 0; card <= 1; card++) {
        for (enum holder holder = LARGE; holder <= SMALL_ONES; holder++) {
            struct measured m = measure(holder, fresh, card == 1 ? "card" : "object", slots, stores);
            us[card][holder] = m.scavenge_us;
            printf("  %-16s    %-6s  %9.1f us       %9.1f us   %16llu\n",
                   holder == LARGE ? "one old array" : "old arrays of 64", card == 1 ? "card" : "object", m.scavenge_us,
                   m.scavenge_us - none, (unsigned long long)m.remembered);
        }
    }
    double object = us[0][LARGE] - none, card = us[1][LARGE] - none;
    printf("  one old array, object to card: remembered phase %.0f times, scavenge %.0f times\n",
           object / (card > 0.1 ? card : 0.1), us[0][LARGE] / us[1][LARGE]);
    printf("  one old array to small ones (the papers' slowdown): object %.1f times, card %.1f times\n",
           us[0][LARGE] / us[0][SMALL_ONES], us[1][LARGE] / us[1][SMALL_ONES]);
}

int main(int argc, char **argv) {
    size_t slots = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
    size_t stores = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    if (slots < 100000 || stores == 0 || stores > 50000) {
        fprintf(stderr, "usage: remembered [SLOTS [STORES]]   (SLOTS at least 100000, STORES at most 50000)\n");
        return 2;
    }
    double none = measure(YOUNG, false, "object", stores, stores).scavenge_us;
    printf("an old array of %zu slots; medians of %d scavenges; without remembered objects one takes %.1f us\n", slots,
           ROUNDS, none);
    compare_sets(false, none, slots, stores);
    compare_sets(true, none, slots, stores);
    return 0;
}
