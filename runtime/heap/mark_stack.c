#include "heap/mark_stack.h"
#include <string.h>

enum { ENTRIES = 256 * 1024 };

bool mark_stack_create(struct mark_stack *stack, struct system *system) {
    stack->entries = system_map(system, ENTRIES * sizeof *stack->entries, "mark stack");
    stack->room = stack->mapped = ENTRIES;
    stack->most = 0;
    stack->system = system;
    return stack->entries != NULL;
}

void mark_stack_destroy(struct mark_stack *stack) {
    if (stack->entries != NULL) {
        system_unmap(stack->entries, stack->mapped * sizeof *stack->entries);
    }
}

void mark_stack_may_grow(struct mark_stack *stack, uint64_t bytes) { stack->most = bytes / 4 / sizeof *stack->entries; }

void mark_stack_settle(struct mark_stack *stack) {
    stack->most = 0;
    if (stack->count == 0 && stack->room == stack->mapped && stack->mapped > ENTRIES) {
        system_unmap(stack->entries + ENTRIES, (stack->mapped - ENTRIES) * sizeof *stack->entries);
        stack->room = stack->mapped = ENTRIES;
    }
}

static bool grow(struct mark_stack *stack) {
    if (stack->room != stack->mapped || stack->mapped > stack->most / 2) {
        return false;
    }
    size_t bytes = stack->mapped * sizeof *stack->entries;
    uint64_t *grown = system_map(stack->system, 2 * bytes, "mark stack");
    if (grown == NULL) {
        stack->most = 0; /* once is enough */
        return false;
    }
    memcpy(grown, stack->entries, bytes);
    system_unmap(stack->entries, bytes);
    stack->entries = grown;
    stack->room = stack->mapped *= 2;
    return true;
}

void mark_stack_push(struct mark_stack *stack, eden_value object) {
    if (stack->count == stack->room && !grow(stack)) {
        /* Other threads of the collection may read the header meanwhile. */
        __atomic_store_n(eden_words_(object), eden_header(object) | EDEN_HEADER_GREY, __ATOMIC_RELAXED);
        stack->overflowed = true;
        stack->highest = object > stack->highest ? object : stack->highest;
        return;
    }
    stack->entries[stack->count++] = object;
}
