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
        /* Other threads of the collection may read the header meanwhile. */
        __atomic_store_n(eden_words_(object), eden_header(object) | EDEN_HEADER_GREY, __ATOMIC_RELAXED);
        stack->overflowed = true;
        stack->highest = object > stack->highest ? object : stack->highest;
        return;
    }
    stack->entries[stack->count++] = object;
}
