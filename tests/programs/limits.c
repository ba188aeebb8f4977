/* limits [--listen] ROUNDS: a program of every kind of object, for test_limits.sh to run with too little memory.
 *
 * A table holds lists of nodes with texts of many sizes, some of them large, and each node a weak reference to the one
 * before; some nodes are pinned for a while, some are keys of ephemerons. Each text carries its node's number and is
 * checked when its node is dropped. --listen: lifetimes are sampled as EDEN_SAMPLING says, as if a tool were attached.
 *
 * Prints a sum over all numbers, which is the same however often the heap was collected. Exit status 1, with the
 * library's message, where memory is exhausted; 3 where an object is not what it was. */
#include "eden_probes.h"
#include <eden/eden.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LISTS = 4000, LONGEST = 30, PINS = 16, HOLD_EVERY = 512, LARGE = 100000 };
enum { NEXT, TEXT, WEAK, NODE_SLOTS };
enum { TABLE, NEW, MADE, PINNED, EPHEMERONS, ROOTS };

struct program {
    eden_heap *heap;
    eden_mutator *mutator;
    eden_class node, table, text, ephemeron, weak;
    uint64_t random, sum;
    uint32_t length[LISTS];
};

static int stop(const char *message, int status) {
    fprintf(stderr, "limits: %s\n", message);
    return status;
}

static uint64_t next_random(struct program *p) { /* xorshift64 (Marsaglia 2003) */
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return p->random;
}

static bool make_text(struct program *p, eden_value *roots, uint64_t number) {
    uint64_t random = next_random(p);
    size_t bytes = sizeof number + (random % 512 == 0 ? LARGE + random % LARGE : random % 300);
    eden_value text = eden_new_raw(p->mutator, p->text, bytes);
    if (text != EDEN_NONE) {
        memset(eden_raw(text), (int)(number & 127), bytes);
        memcpy(eden_raw(text), &number, sizeof number);
    }
    roots[MADE] = text;
    return text != EDEN_NONE;
}

/* A node at the head of a list, in roots[NEW]. */
static bool make_node(struct program *p, eden_value *roots, size_t list, uint64_t number) {
    if (!make_text(p, roots, number)) {
        return false;
    }
    roots[NEW] = eden_new(p->mutator, p->node);
    if (roots[NEW] == EDEN_NONE) {
        return false;
    }
    eden_slot_set(p->mutator, roots[NEW], TEXT, roots[MADE]);
    eden_slot_set(p->mutator, roots[NEW], NEXT, eden_slot(roots[TABLE], list));
    roots[MADE] = eden_new_slots(p->mutator, p->weak, 1);
    if (roots[MADE] == EDEN_NONE) {
        return false;
    }
    eden_slot_set(p->mutator, roots[MADE], 0, eden_slot(roots[NEW], NEXT));
    eden_slot_set(p->mutator, roots[NEW], WEAK, roots[MADE]);
    eden_slot_set(p->mutator, roots[TABLE], list, roots[NEW]);
    p->length[list]++;
    return true;
}

/* The newest node becomes an ephemeron's key, and stays in place for a while. */
static bool hold(struct program *p, eden_value *roots, uint64_t number) {
    size_t place = number / HOLD_EVERY % PINS;
    if (eden_slot(roots[PINNED], place) != EDEN_NONE) {
        eden_unpin(p->mutator, eden_slot(roots[PINNED], place));
    }
    eden_slot_set(p->mutator, roots[PINNED], place, EDEN_NONE);
    roots[NEW] = eden_pin(p->mutator, roots[NEW]);
    if (roots[NEW] == EDEN_NONE) {
        return false;
    }
    eden_slot_set(p->mutator, roots[PINNED], place, roots[NEW]);
    roots[MADE] = eden_new(p->mutator, p->ephemeron);
    if (roots[MADE] == EDEN_NONE) {
        return false;
    }
    eden_slot_set(p->mutator, roots[MADE], 0, roots[NEW]);
    eden_slot_set(p->mutator, roots[EPHEMERONS], number / HOLD_EVERY % LISTS, roots[MADE]);
    while (eden_mourn_next(p->mutator) != EDEN_NONE) {
    }
    return true;
}

/* Drops a list; false where one of its nodes is not what it was. */
static bool drop(struct program *p, const eden_value *roots, size_t list) {
    uint64_t after = UINT64_MAX;
    for (eden_value node = eden_slot(roots[TABLE], list); node != EDEN_NONE; node = eden_slot(node, NEXT)) {
        uint64_t number;
        eden_value text = eden_slot(node, TEXT);
        size_t bytes = eden_raw_count(text);
        const unsigned char *at = eden_raw(text);
        memcpy(&number, at, sizeof number);
        if (number >= after || (bytes > sizeof number && at[bytes - 1] != (number & 127)) ||
            eden_slot(eden_slot(node, WEAK), 0) != eden_slot(node, NEXT)) {
            return false;
        }
        after = number;
        p->sum += number * number;
    }
    eden_slot_set(p->mutator, roots[TABLE], list, EDEN_NONE);
    p->length[list] = 0;
    return true;
}

static int run(struct program *p, uint64_t rounds) {
    EDEN_FRAME(p->mutator, roots, ROOTS);
    static const size_t sizes[] = {[TABLE] = LISTS, [PINNED] = PINS, [EPHEMERONS] = LISTS};
    for (size_t i = 0; i < ROOTS; i++) {
        if (i != NEW && i != MADE) {
            roots[i] = eden_new_slots(p->mutator, p->table, sizes[i]);
            if (roots[i] == EDEN_NONE) {
                return stop(eden_last_error(p->mutator)->message, 1);
            }
        }
    }
    for (uint64_t number = 0; number < rounds; number++) {
        size_t list = next_random(p) % LISTS;
        if (!make_node(p, roots, list, number) || (number % HOLD_EVERY == 0 && !hold(p, roots, number))) {
            return stop(eden_last_error(p->mutator)->message, 1);
        }
        if (p->length[list] == LONGEST && !drop(p, roots, list)) {
            return stop("a node is not what it was", 3);
        }
    }
    for (size_t list = 0; list < LISTS; list++) {
        if (!drop(p, roots, list)) {
            return stop("a node is not what it was", 3);
        }
    }
    printf("sum %" PRIu64 "\n", p->sum);
    return 0;
}

static bool start(struct program *p, eden_error *error) {
    p->heap = eden_heap_create(&(eden_options){.name = "limits", .parameters = "large_object=64K"}, error);
    p->mutator = p->heap == NULL ? NULL : eden_mutator_attach(p->heap, error);
    if (p->mutator == NULL) {
        return false;
    }
    struct {
        eden_class *class;
        eden_class_definition definition;
    } classes[] = {
        {&p->node, {"Node", EDEN_FORMAT_FIXED, NODE_SLOTS}}, {&p->table, {"Table", EDEN_FORMAT_VARIABLE, 0}},
        {&p->text, {"Text", EDEN_FORMAT_BYTES, 0}},          {&p->ephemeron, {"Ephemeron", EDEN_FORMAT_EPHEMERON, 1}},
        {&p->weak, {"Weak", EDEN_FORMAT_WEAK, 0}},
    };
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        *classes[i].class = eden_class_define(p->heap, &classes[i].definition, error);
        if (*classes[i].class == 0) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv) {
    struct program p = {.random = 2463534242u};
    eden_error error = {EDEN_OK, ""};
    int operand = 1;
    if (argc > operand && strcmp(argv[operand], "--listen") == 0) {
        eden_batch_semaphore++;
        operand++;
    }
    uint64_t rounds = argc == operand + 1 ? strtoull(argv[operand], NULL, 10) : 0;
    if (rounds == 0) {
        return stop("usage: limits [--listen] ROUNDS", 2);
    }
    int status = start(&p, &error) ? run(&p, rounds) : stop(error.message, 1);
    eden_heap_destroy(p.heap);
    return status;
}
