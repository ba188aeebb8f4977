/* All that is known of one heap, as text: its figures, what it does now, and the table of its phases. */
#ifndef EDEN_HEAP_TABLE_H
#define EDEN_HEAP_TABLE_H

#include "model/model.h"
#include <stdio.h>

/* The heap is one of the model. */
void heap_table_print(FILE *out, const struct process_model *process, const struct heap_model *heap,
                      const struct model *model);

#endif
