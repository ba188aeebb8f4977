/* The class table: classes and sites by their index. */
#ifndef EDEN_HEAP_CLASS_TABLE_H
#define EDEN_HEAP_CLASS_TABLE_H

#include "heap/object.h"

struct class_definition {
    const char *name;
    uint32_t of; /* the class of a site; 0: a class */
    enum eden_format format;
    uint32_t fixed_slots;
    bool is_born_old;
};

bool class_table_create(eden_heap *heap);
void class_table_destroy(eden_heap *heap);
/* Takes the next index; 0, and the error: there is none, or no memory. */
uint32_t class_table_add(eden_heap *heap, const struct class_definition *definition, eden_error *error);
/* Defines heap->observer_class, at the far end of the table, once; false: the program's classes reach there, or no
 * memory. The name is static. */
bool class_table_add_observer_class(eden_heap *heap, const char *name, uint32_t fixed_slots);
/* The value of a class or site, as the program has it and allocation takes it. */
eden_class class_table_value(const eden_heap *heap, uint32_t index);

#endif
