/* Growth: every object lives to the end.
 *
 * A list, each new node before the last: a node refers to an older one, so the remembered set stays empty, and what
 * full collections cost and how many there are is growth alone. A node has its number, counted down along the list. */
#include "micro.h"

enum { NEXT, NODE_SLOTS };

static bool check(struct micro *micro, eden_class node, eden_value head) {
    uint64_t number = micro->objects;
    for (; head != EDEN_NONE; head = eden_slot(head, NEXT)) {
        if (*(const uint64_t *)eden_raw_after(node, head) != number) {
            return program_fail(micro->program, "node %llu has another number", (unsigned long long)number);
        }
        micro_count(micro, number--);
    }
    return number == 0 || program_fail(micro->program, "the list ends %llu nodes early", (unsigned long long)number);
}

bool micro_growth(struct micro *micro) {
    eden_class node;
    if (!micro_class(micro, "Node", EDEN_FORMAT_COMPOUND, NODE_SLOTS, &node)) {
        return false;
    }
    size_t raw = micro->size - (1 + NODE_SLOTS) * sizeof(uint64_t);
    EDEN_FRAME(micro->mutator, head, 1);
    for (uint64_t number = 1; number <= micro->objects; number++) {
        eden_value object = eden_new_raw(micro->mutator, node, raw);
        if (object == EDEN_NONE) {
            return program_exhausted(micro->program, micro->mutator);
        }
        *(uint64_t *)eden_raw_after(node, object) = number;
        eden_slot_set(micro->mutator, object, NEXT, head[0]);
        head[0] = object;
    }
    return check(micro, node, head[0]) && program_verify(micro->program, micro->mutator);
}
