/* queue [OPERATIONS [LIVE]]: a linked queue, the classic nepotism.
 *
 * Nodes (24 bytes: header, number, next) are put in at one end and taken out at the other; LIVE (default a million)
 * stay in between, OPERATIONS (default 50 million) go through. The links of nodes taken out are left in place: once one
 * dead node is old, it keeps its young successor alive, which is then tenured and dies old in its turn. A collector
 * that can't do full collections in time, or trusts its remembered set, runs out of memory with most of it dead. The
 * heap may take 128 MB (the heap's limit; EDEN_OPTIONS overrides it).
 *
 * Each node taken out must carry the next number. Prints what went through; exit status 1 if a number is wrong, the
 * heap does not verify or memory runs out. */
#include <eden/eden.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct queue {
    eden_mutator *mutator;
    eden_class node;
    int64_t put, taken;
};

enum { NUMBER, NEXT };             /* slots of a node */
enum { FRONT, BACK, FRAME_SLOTS }; /* roots */

static bool stop(const char *message) {
    fprintf(stderr, "queue: %s\n", message);
    return false;
}

static bool put(struct queue *queue, eden_value *roots) {
    eden_value node = eden_new(queue->mutator, queue->node);
    if (node == EDEN_NONE) {
        return stop(eden_last_error(queue->mutator)->message);
    }
    eden_slot_set(queue->mutator, node, NUMBER, eden_int(queue->put++));
    if (roots[BACK] == EDEN_NONE) {
        roots[FRONT] = node;
    } else {
        eden_slot_set(queue->mutator, roots[BACK], NEXT, node);
    }
    roots[BACK] = node;
    return true;
}

static bool take(struct queue *queue, eden_value *roots) {
    if (eden_slot(roots[FRONT], NUMBER) != eden_int(queue->taken++)) {
        return stop("a node carries the wrong number");
    }
    roots[FRONT] = eden_slot(roots[FRONT], NEXT); /* and its own link stays */
    return true;
}

static bool run(struct queue *queue, int64_t operations, int64_t live) {
    EDEN_FRAME(queue->mutator, roots, FRAME_SLOTS);
    for (int64_t i = 0; i < operations; i++) {
        if (!put(queue, roots) || (queue->put - queue->taken > live && !take(queue, roots))) {
            return false;
        }
    }
    eden_error error;
    return eden_heap_verify(eden_mutator_heap(queue->mutator), &error) || stop(error.message);
}

static int64_t argument(int argc, char **argv, int index, int64_t fallback) {
    if (argc <= index) {
        return fallback;
    }
    char *end;
    long long number = strtoll(argv[index], &end, 10);
    return *end != '\0' || number <= 0 ? -1 : number;
}

int main(int argc, char **argv) {
    int64_t operations = argument(argc, argv, 1, 50000000), live = argument(argc, argv, 2, 1000000);
    if (operations < 0 || live < 0 || argc > 3) {
        fprintf(stderr, "usage: queue [OPERATIONS [LIVE]], both above 0\n");
        return 1;
    }
    eden_error error;
    eden_heap *heap = eden_heap_create(&(eden_options){.name = "queue", .parameters = "max_heap=128M"}, &error);
    struct queue queue = {.mutator = heap == NULL ? NULL : eden_mutator_attach(heap, &error)};
    if (queue.mutator != NULL) {
        queue.node = eden_class_define(heap, &(eden_class_definition){"Node", EDEN_FORMAT_FIXED, 2}, &error);
    }
    if (queue.node == 0) {
        stop(error.message);
        eden_heap_destroy(heap);
        return 1;
    }
    bool ok = run(&queue, operations, live);
    if (ok) {
        printf("%" PRId64 " put, %" PRId64 " taken, in order\n", queue.put, queue.taken);
    }
    eden_heap_destroy(heap);
    return ok ? 0 : 1;
}
