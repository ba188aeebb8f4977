#include "heap/mark_stack.h"

enum { ENTRIES = 256 * 1024 };

bool mark_stack_create(struct mark_stack *stack, struct system *system) {
    stack->entries = system_map(system, ENTRIES * sizeof *stack->entries, "mark stack");
    stack->room = ENTRIES;
    return stack->entries != NULL;
}

void mark_stack_destroy(struct mark_stack *stack) {
    if (stack->entries != NULL) {
        system_unmap(stack->entries, ENTRIES * sizeof *stack->entries);
    }
}

void mark_stack_push(struct mark_stack *stack, eden_value object) {
    if (stack->count == stack->room) {
        object_set(object, EDEN_HEADER_GREY);
        stack->overflowed = true;
        stack->highest = object > stack->highest ? object : stack->highest;
        return;
    }
    stack->entries[stack->count++] = object;
}
