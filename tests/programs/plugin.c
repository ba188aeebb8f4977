/* A library that holds libeden, and a heap: plugins.c loads it. */
#include "plugin.h"
#include "node_list.h"
#include <stdlib.h>

static struct node_list list;

static void stop(const char *message) {
    fprintf(stderr, "plugin: %s\n", message);
    exit(1);
}

void plugin_begin(const char *name) {
    const eden_options options = {.name = name, .parameters = "eden_size=64K"};
    const eden_class_definition node = {"Node", EDEN_FORMAT_FIXED, 2};
    list.heap = eden_heap_create(&options, &list.error);
    list.mutator = list.heap ? eden_mutator_attach(list.heap, &list.error) : NULL;
    list.node = list.mutator ? eden_class_define(list.heap, &node, &list.error) : 0;
    if (list.node == 0) {
        stop(list.error.message);
    }
}

/* Nodes in lists of a hundred, so that some survive; with a full collection if the number is even. */
void plugin_work(int nodes) {
    EDEN_FRAME(list.mutator, local, 1);
    for (int i = 0; i < nodes; i += 100) {
        local[0] = EDEN_NONE;
        if (!node_list_grow(&list, &local[0], 100)) {
            stop(eden_last_error(list.mutator)->message);
        }
    }
    if (nodes % 2 == 0) {
        eden_full_collect(list.mutator);
    }
}

void plugin_end(void) { eden_heap_destroy(list.heap); }
