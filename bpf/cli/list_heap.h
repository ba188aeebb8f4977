/* One heap in `edenscope list`: its row or its JSON, with its parameters and classes where they are wanted. */
#ifndef EDEN_LIST_HEAP_H
#define EDEN_LIST_HEAP_H

#include "attach/inspect/inspect.h"
#include <jansson.h>

struct list_heap {
    struct inspect *inspect;
    struct target *target;
    int pid;
    const char *user, *command;
    bool has_params, has_classes; /* wanted */
    size_t classes, most_classes; /* how many are shown so far, of all heaps, and may be */
    size_t unread;                /* added to: heaps whose parameters, or some of whose classes, were not read */
};

void list_heap_heading(void);
void list_heap_print(struct list_heap *list, const struct heapinfo *heap);
/* The row of a process that shows none. */
void list_heap_print_none(const struct list_heap *list, const char *why);
/* A new reference. */
json_t *list_heap_to_json(struct list_heap *list, const struct heapinfo *heap);

#endif
