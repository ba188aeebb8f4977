/* Roots: where collections start. */
#ifndef EDEN_HEAP_ROOTS_H
#define EDEN_HEAP_ROOTS_H

#include "heap/object.h"

struct root_range { /* a single slot is a range of one */
    eden_value *slots;
    size_t count;
};

struct root_visitor {
    eden_root_visitor visit;
    void *context;
};

struct roots {
    struct root_range *ranges;
    size_t count, room;
    struct root_visitor *visitors;
    size_t visitor_count, visitor_room;
};

struct eden_visit {
    eden_heap *heap;
    void (*slots)(eden_visit *visit, eden_value *slots, size_t count);
    void (*between)(eden_visit *visit); /* before each piece of an observer's roots, which come last; NULL: nothing */
};

void roots_visit(eden_visit *visit);
void roots_destroy(struct roots *roots);

#endif
