/* A heap and a list of nodes in it, for programs that tests look at from outside. */
#ifndef EDEN_TESTS_NODE_LIST_H
#define EDEN_TESTS_NODE_LIST_H

#include <eden/eden.h>

#include <stdio.h>

struct node_list {
    eden_heap *heap;
    eden_mutator *mutator;
    eden_class node;
    eden_error error; /* of what could not be made */
};

/* False: the error says why. */
static inline bool node_list_begin(struct node_list *list, uint32_t slots) {
    list->heap = eden_heap_create(NULL, &list->error);
    list->mutator = list->heap == NULL ? NULL : eden_mutator_attach(list->heap, &list->error);
    eden_class_definition definition = {"Node", EDEN_FORMAT_FIXED, slots};
    list->node = list->mutator == NULL ? 0 : eden_class_define(list->heap, &definition, &list->error);
    return list->node != 0;
}

/* Adds nodes before those that hang on the root. False: memory is exhausted. */
static inline bool node_list_grow(const struct node_list *list, eden_value *root, int count) {
    for (int i = 0; i < count; i++) {
        eden_value fresh = eden_new(list->mutator, list->node);
        if (fresh == EDEN_NONE) {
            return false;
        }
        eden_slot_set(list->mutator, fresh, 0, *root);
        *root = fresh;
    }
    return true;
}

/* Prints a word and waits for a line. */
static inline bool signal_and_wait(const char *word) {
    char line[16];
    return puts(word) != EOF && fflush(stdout) == 0 && fgets(line, sizeof line, stdin) != NULL;
}

/* Ends the heap. The exit status, of a program that has done what it should, or says what failed. */
static inline int node_list_end(struct node_list *list, const char *program, bool ok) {
    if (!ok) {
        fprintf(stderr, "%s: failed: %s\n", program,
                list->mutator == NULL ? list->error.message : eden_last_error(list->mutator)->message);
    }
    eden_heap_destroy(list->heap);
    return ok ? 0 : 1;
}

#endif
