/* Time of one full collection with many ephemerons in a chain of keys: the value of each is the key of the next. They
 * are in an array in the order of the chain, against it, or in random order; the first key is alive, or dead.
 *
 *     ephemerons [COUNT]    (default 277777)
 *
 * Prints one line a case: the median of ROUNDS heaps. A collector that looks again at all that wait, until nothing
 * changes, takes the square of the count in the reverse order. */
#include <eden/eden.h>

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 7, MIDDLE = ROUNDS / 2 };
enum order { FORWARD, REVERSE, RANDOM, ORDERS };
static const char *const order_names[] = {"forward", "reverse", "random"};

static void *need(void *pointer, const char *what) {
    if (pointer == NULL) {
        fprintf(stderr, "ephemerons: no memory for %s\n", what);
        _Exit(1);
    }
    return pointer;
}

static void make_order(enum order order, size_t *places, size_t count) {
    uint32_t random = 1;
    for (size_t i = 0; i < count; i++) {
        places[i] = order == REVERSE ? count - 1 - i : i;
    }
    for (size_t i = count; order == RANDOM && i-- > 1;) {
        random = random * 1664525u + 1013904223u;
        size_t other = (random >> 3) % (i + 1), place = places[i];
        places[i] = places[other];
        places[other] = place;
    }
}

/* Nanoseconds of marking, compaction and all else of one full collection after a scavenge, of objects that are old. */
static uint64_t collect(const size_t *places, size_t count, bool alive) {
    eden_error error = {EDEN_OK, ""};
    eden_options options = {.name = "ephemerons", .parameters = "policy=fixed,eden_size=64M,full_gc_ratio=inf"};
    eden_heap *heap = need(eden_heap_create(&options, &error), error.message);
    eden_mutator *m = eden_mutator_attach(heap, &error);
    eden_class array = eden_class_define(heap, &(eden_class_definition){"Array", EDEN_FORMAT_VARIABLE, 0}, &error);
    eden_class key = eden_class_define(heap, &(eden_class_definition){"Key", EDEN_FORMAT_FIXED, 1}, &error);
    eden_class ephemeron =
        eden_class_define(heap, &(eden_class_definition){"Ephemeron", EDEN_FORMAT_EPHEMERON, 2}, &error);
    eden_figures before, after;
    {
        EDEN_FRAME(m, local, 3); /* the array, the first key, the last value */
        local[0] = eden_new_slots(m, array, count);
        local[1] = local[2] = eden_new(m, key);
        for (size_t i = 0; i < count; i++) {
            eden_value object = eden_new(m, ephemeron);
            eden_slot_set(m, local[0], places[i], object);
            eden_slot_set(m, object, 0, local[2]);
            local[2] = eden_new(m, key);
            eden_slot_set(m, eden_slot(local[0], places[i]), 1, local[2]);
        }
        local[2] = EDEN_NONE;
        eden_heap_set(heap, "tenure_fill", "0", &error);
        eden_heap_set(heap, "tenure_proportion", "1", &error);
        eden_scavenge(m); /* with the first key alive, so that none is mourned yet */
        eden_scavenge(m);
        if (!alive) {
            local[1] = EDEN_NONE;
        }
        eden_heap_figures(heap, &before);
        eden_full_collect(m);
        eden_heap_figures(heap, &after);
    }
    if (after.mourned - before.mourned != (alive ? 0 : count) || before.mourned != 0) {
        fprintf(stderr, "ephemerons: %llu were mourned, not %zu\n", (unsigned long long)after.mourned,
                alive ? 0 : count);
        _Exit(1);
    }
    eden_heap_destroy(heap);
    return after.gc_ns - before.gc_ns;
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    size_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 277777;
    if (count == 0) {
        fprintf(stderr, "usage: ephemerons [COUNT]\n");
        return 2;
    }
    size_t *places = need(malloc(count * sizeof *places), "the order");
    printf("one full collection with %zu ephemerons in a chain, medians of %d\n", count, ROUNDS);
    for (enum order order = FORWARD; order < ORDERS; order++) {
        make_order(order, places, count);
        for (int alive = 1; alive >= 0; alive--) {
            uint64_t ns[ROUNDS];
            for (size_t i = 0; i < ROUNDS; i++) {
                ns[i] = collect(places, count, alive == 1);
            }
            qsort(ns, ROUNDS, sizeof ns[0], compare);
            printf("  %-8s first key %-6s %7.2f ms  (%.2f to %.2f)\n", order_names[order],
                   alive == 1 ? "alive," : "dead,", (double)ns[MIDDLE] / 1e6, (double)ns[0] / 1e6,
                   (double)ns[ROUNDS - 1] / 1e6);
        }
    }
    free(places);
    return 0;
}
