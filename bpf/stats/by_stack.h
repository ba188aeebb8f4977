/* Lifetimes by native stack instead of by site: the groups that model/lifetimes/model.c fills where it has stacks. */
#ifndef EDEN_LIFE_BY_STACK_H
#define EDEN_LIFE_BY_STACK_H

#include "model/lifetimes/model.h"

/* Once all batches are in the model and its sites have their names: groups are named by their stacks, and births that
 * were reported by site alone join their groups. False: no memory; the model can only be cleared then. */
bool life_by_stack_reconcile(struct life_model *model);
/* Samples of the heap whose stack is not known. */
uint64_t life_by_stack_unknown(const struct life_heap *heap);

#endif
