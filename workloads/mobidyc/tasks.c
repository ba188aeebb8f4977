/* A priority queue of tasks: a binary heap (J. W. J. Williams, "Algorithm 232: Heapsort", 1964), as Pharo's Heap.
 *
 * The tasks stand in an array such that none has a lower order than the one at (i - 1) / 2, its parent: the first comes
 * first. A new task is put at the end and changes places with its parent while that has the higher order; after the
 * first is taken, the last takes its place and changes places with the lower of its children while that is lower.
 *
 * order = time 2^40 + the animal's number: by time, then by number, and no two are equal. It is less than 2^60, what a
 * SmallInteger holds, as long as fewer than 2^40 animals have lived.
 *
 * The queue lives as long as the world and soon is old; what is put in is young: these stores are what a remembered set
 * is for. A slot that a task has left is cleared, so that it keeps nothing alive. */
#include "tasks.h"

#include "list.h"

enum { NUMBER_BITS = 40 };

bool tasks_new(struct world *world) { return list_new(world, &world->roots[ROOT_TASKS], SITE_QUEUE, SITE_QUEUE_GROW); }

static bool comes_before(eden_value a, eden_value b) { return int_at(a, TASK_ORDER) < int_at(b, TASK_ORDER); }

static void sift_up(struct world *world, eden_value array, size_t at) {
    eden_value task = eden_slot(array, at);
    while (at > 0 && comes_before(task, eden_slot(array, (at - 1) / 2))) {
        eden_slot_set(world->mutator, array, at, eden_slot(array, (at - 1) / 2));
        at = (at - 1) / 2;
    }
    eden_slot_set(world->mutator, array, at, task);
}

/* Puts the task where it belongs, from the free first place on, among the first `size`. */
static void sift_down(struct world *world, eden_value array, size_t size, eden_value task) {
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < size && comes_before(eden_slot(array, child + 1), eden_slot(array, child))) {
            child++;
        }
        if (child >= size || comes_before(task, eden_slot(array, child))) {
            break;
        }
        eden_slot_set(world->mutator, array, at, eden_slot(array, child));
        at = child;
    }
    eden_slot_set(world->mutator, array, at, task);
}

bool tasks_schedule(struct world *world, const eden_value *animat, int64_t time) {
    EDEN_FRAME(world->mutator, local, 1);
    local[0] = world_new(world, SITE_TASK);
    if (local[0] == EDEN_NONE) {
        return false;
    }
    int_put(world, local[0], TASK_ORDER, (time << NUMBER_BITS) + int_at(*animat, ANIMAT_NUMBER));
    eden_slot_set(world->mutator, local[0], TASK_ANIMAT, *animat);
    if (!list_add(world, &world->roots[ROOT_TASKS], &local[0], SITE_QUEUE_GROW)) {
        return false;
    }
    eden_value queue = world->roots[ROOT_TASKS];
    sift_up(world, eden_slot(queue, LIST_ARRAY), list_size(queue) - 1);
    return true;
}

eden_value tasks_next(struct world *world) {
    eden_value queue = world->roots[ROOT_TASKS];
    size_t size = list_size(queue);
    if (size == 0) {
        return EDEN_NONE;
    }
    eden_value array = eden_slot(queue, LIST_ARRAY);
    eden_value animat = eden_slot(eden_slot(array, 0), TASK_ANIMAT);
    eden_value last = eden_slot(array, size - 1);
    eden_slot_set(world->mutator, array, size - 1, EDEN_NONE);
    int_put(world, queue, LIST_SIZE, (int64_t)size - 1);
    if (size > 1) {
        sift_down(world, array, size - 1, last);
    }
    return animat;
}
