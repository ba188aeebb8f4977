/* Native stacks and the names of their functions: each stored once, and numbered.
 *
 * 1. Invariants
 * I1. At most MOST_NAMES names and MOST_STACKS stacks: a process may generate functions without end. What is beyond has
 *     number 0, the unknown stack.
 * I2. Numbers count from 1 in order of arrival and never change. */
#include "model/lifetimes/stacks.h"
#include "util/array.h"
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 1 << 18, MOST_STACKS = 1 << 18 };

struct name {
    uint32_t number;
    char text[];
};

struct numbered {
    struct life_stack *stack;
    uint32_t number;
};

static int by_text(const void *a, const void *b) {
    return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

static int by_frames(const void *a, const void *b) {
    const struct life_stack *x = ((const struct numbered *)a)->stack, *y = ((const struct numbered *)b)->stack;
    if (x->class_id != y->class_id) {
        return x->class_id < y->class_id ? -1 : 1;
    }
    if (x->depth != y->depth) {
        return x->depth < y->depth ? -1 : 1;
    }
    return memcmp(x->frame, y->frame, x->depth * sizeof *x->frame);
}

void life_stacks_clear(struct life_stacks *stacks) {
    tdestroy(stacks->name_tree, free); /* the names themselves are in its nodes */
    tdestroy(stacks->stack_tree, free);
    for (size_t i = 0; i < stacks->count; i++) {
        free(stacks->at[i]);
    }
    free(stacks->name);
    free(stacks->at);
    *stacks = (struct life_stacks){0};
}

uint32_t life_stacks_name(struct life_stacks *stacks, const char *name) {
    size_t length = strlen(name);
    struct name *node = malloc(sizeof *node + length + 1);
    if (!node) {
        return LIFE_NO_NAME;
    }
    memcpy(node->text, name, length + 1);
    struct name *const *found = tfind(node, &stacks->name_tree, by_text);
    if (found) {
        free(node);
        return (*found)->number;
    }
    node->number = (uint32_t)stacks->name_count;
    if (stacks->name_count == MOST_NAMES ||
        !array_grow(&stacks->name, &stacks->name_room, stacks->name_count, sizeof *stacks->name) ||
        !tsearch(node, &stacks->name_tree, by_text)) {
        free(node);
        return LIFE_NO_NAME;
    }
    stacks->name[stacks->name_count++] = node->text;
    return node->number;
}

static uint32_t keep(struct life_stacks *stacks, struct life_stack *stack) {
    struct numbered *node = malloc(sizeof *node);
    if (!node || stacks->count == MOST_STACKS ||
        !array_grow(&stacks->at, &stacks->room, stacks->count, sizeof(void *))) {
        free(node);
        return 0;
    }
    *node = (struct numbered){stack, (uint32_t)stacks->count + 1};
    if (!tsearch(node, &stacks->stack_tree, by_frames)) {
        free(node);
        return 0;
    }
    stacks->at[stacks->count++] = stack;
    return node->number;
}

/* NULL: no memory, or depth 0. */
static struct life_stack *make(uint32_t class_id, const uint32_t *frame, uint32_t depth) {
    struct life_stack *stack = depth ? malloc(sizeof *stack + depth * sizeof *frame) : NULL;
    if (stack) {
        stack->class_id = class_id;
        stack->depth = depth;
        memcpy(stack->frame, frame, depth * sizeof *frame);
    }
    return stack;
}

static uint32_t find(const struct life_stacks *stacks, struct life_stack *stack) {
    const struct numbered key = {stack, 0};
    struct numbered *const *found = tfind(&key, &stacks->stack_tree, by_frames);
    return found ? (*found)->number : 0;
}

uint32_t life_stacks_find(const struct life_stacks *stacks, uint32_t class_id, const uint32_t *frame, uint32_t depth) {
    struct life_stack *stack = make(class_id, frame, depth);
    uint32_t number = stack ? find(stacks, stack) : 0;
    free(stack);
    return number;
}

uint32_t life_stacks_add(struct life_stacks *stacks, uint32_t class_id, const uint32_t *frame, uint32_t depth) {
    struct life_stack *stack = make(class_id, frame, depth);
    uint32_t found = stack ? find(stacks, stack) : 0, number = found || !stack ? found : keep(stacks, stack);
    if (found || number == 0) {
        free(stack);
    }
    return number;
}

const struct life_stack *life_stacks_get(const struct life_stacks *stacks, uint32_t number) {
    return stacks && number != 0 && number <= stacks->count ? stacks->at[number - 1] : NULL;
}

void life_stacks_label(const struct life_stacks *stacks, const struct life_stack *stack, char *text, size_t size) {
    static const char cut[] = " ...";
    size_t length = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < stack->depth; i++) {
        const char *between = i != 0 ? " < " : "", *name = stacks->name[stack->frame[i]];
        size_t needs = strlen(between) + strlen(name), left = size - length;
        bool last = i + 1 == stack->depth;
        if (needs + (last ? 0 : sizeof cut - 1) >= left) {
            /* What of the first name fits, or that there is more. */
            snprintf(text + length, left, "%s", i == 0 ? name : cut);
            return;
        }
        length += (size_t)snprintf(text + length, left, "%s%s", between, name);
    }
}
