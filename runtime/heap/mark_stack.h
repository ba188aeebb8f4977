/* A bounded stack of objects to scan. What does not fit is marked grey instead, and found by walking the heap. Marking
 * lets it grow meanwhile, with the heap: walking costs as much as marking.
 *
 * Large objects are scanned a piece at a time: the object goes back on the stack below an integer that says where to go
 * on, so that an array of ten million references needs two entries. */
#ifndef EDEN_HEAP_MARK_STACK_H
#define EDEN_HEAP_MARK_STACK_H

#include "heap/object.h"
#include "heap/system.h"

struct mark_stack {
    uint64_t *entries;
    size_t count, room;
    size_t mapped, most; /* entries; room is less where a test has lowered it */
    struct system *system;
    bool overflowed;
    eden_value highest; /* of the grey objects; EDEN_NONE: none */
};

/* The system outlives the stack. False: no memory. */
bool mark_stack_create(struct mark_stack *stack, struct system *system);
void mark_stack_destroy(struct mark_stack *stack);
void mark_stack_push(struct mark_stack *stack, eden_value object);
/* Lets the stack grow to a quarter of this number of bytes, if there is memory. */
void mark_stack_may_grow(struct mark_stack *stack, uint64_t bytes);
/* Ends that. An empty stack gives back what it has grown by. */
void mark_stack_settle(struct mark_stack *stack);

/* Takes the last object. *from: its first reference that is to be scanned. The stack is not empty. */
static inline eden_value mark_stack_take(struct mark_stack *stack, size_t *from) {
    uint64_t entry = stack->entries[--stack->count];
    *from = 0;
    if (eden_is_int(entry)) {
        *from = (size_t)eden_int_value(entry);
        entry = stack->entries[--stack->count];
    }
    return entry;
}

/* Where the piece ends that begins with reference `from` of `count`. What follows it goes back on the stack; without
 * room there, the piece is all of it. */
static inline size_t mark_stack_piece(struct mark_stack *stack, eden_value object, size_t from, size_t count) {
    enum { PIECE = 64 };
    if (count - from <= PIECE || stack->room - stack->count < 2) {
        return count;
    }
    stack->entries[stack->count++] = object;
    stack->entries[stack->count++] = eden_int((int64_t)(from + PIECE));
    return from + PIECE;
}

#endif
