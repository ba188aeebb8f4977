/* Whose turn it is: the tasks of a step in the order of their times. */
#ifndef AGENTS_TASKS_H
#define AGENTS_TASKS_H

#include "world.h"

/* ROOT_TASKS becomes an empty queue. May collect. False, after program_fail, where memory is exhausted. */
bool tasks_new(struct world *world);

/* Gives *animat, a root, a turn at a time within the step, less than TURN_TIMES. May collect. False as above. */
bool tasks_schedule(struct world *world, const eden_value *animat, int64_t time);

/* Takes the next task: its animal, EDEN_NONE where there is none. Does not collect. */
eden_value tasks_next(struct world *world);

#endif
