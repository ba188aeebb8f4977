/* The parameters in force in a heap, as text. */
#ifndef EDEN_HEAP_PARAMS_H
#define EDEN_HEAP_PARAMS_H

#include "attach/heapinfo.h"
#include <stdio.h>

/* NULL: they were not read. */
void heap_params_print(FILE *out, const struct heap_params *params);

#endif
