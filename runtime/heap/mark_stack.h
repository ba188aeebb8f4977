/* A bounded stack of objects to scan. What does not fit is marked grey instead, and found by walking the heap. */
#ifndef EDEN_HEAP_MARK_STACK_H
#define EDEN_HEAP_MARK_STACK_H

#include "heap/object.h"
#include "heap/system.h"

struct mark_stack {
    uint64_t *entries;
    size_t count, room;
    bool overflowed;
    eden_value highest; /* of the grey objects; EDEN_NONE: none */
};

bool mark_stack_create(struct mark_stack *stack, struct system *system);
void mark_stack_destroy(struct mark_stack *stack);
void mark_stack_push(struct mark_stack *stack, eden_value object);

#endif
