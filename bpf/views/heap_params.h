/* What is read of a living heap, as text: its parameters in force, and its classes. */
#ifndef EDEN_HEAP_PARAMS_H
#define EDEN_HEAP_PARAMS_H

#include "attach/heapinfo.h"
#include <stdio.h>

/* NULL: they were not read. */
void heap_params_print(FILE *out, const struct heap_params *params);

/* A line for a class, or for a site of one. */
void heap_class_print(FILE *out, uint32_t index, uint32_t class_index, const char *name);

#endif
