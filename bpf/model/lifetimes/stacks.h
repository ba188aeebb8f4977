/* Native stacks: each sequence of functions is kept once, and has a number.
 *
 * Two stacks are equal if the names of their functions and the class of the allocated objects are equal: two calls in
 * one function are one stack. */
#ifndef EDEN_LIFE_STACKS_H
#define EDEN_LIFE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct life_stack {
    uint32_t class_id;
    uint32_t depth;   /* at least 1 */
    uint32_t frame[]; /* numbers of names */
};

struct life_stacks {
    char **name; /* owned; by number */
    size_t name_count, name_room;
    struct life_stack **at; /* owned; stack number n is at[n - 1] */
    size_t count, room;
    void *name_tree, *stack_tree;
};

enum { LIFE_NO_NAME = UINT32_MAX };

/* All zero is empty. */
void life_stacks_clear(struct life_stacks *stacks);
/* The number of a name, which is kept; LIFE_NO_NAME: no memory, or too many of them. */
uint32_t life_stacks_name(struct life_stacks *stacks, const char *name);
/* The number of a stack that is kept; 0: it is not. */
uint32_t life_stacks_find(const struct life_stacks *stacks, uint32_t class_id, const uint32_t *frame, uint32_t depth);
/* The number of a stack, from 1; 0, which is the unknown one: no memory, too many stacks, or depth 0. */
uint32_t life_stacks_add(struct life_stacks *stacks, uint32_t class_id, const uint32_t *frame, uint32_t depth);
const struct life_stack *life_stacks_get(const struct life_stacks *stacks, uint32_t number); /* NULL: there is none */
/* "innermost < caller < its caller", as far as it fits; ends with " ..." where it does not. */
void life_stacks_label(const struct life_stacks *stacks, const struct life_stack *stack, char *text, size_t size);

#endif
