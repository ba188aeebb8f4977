/* stack: an interpreter's own stack as a range of roots, vectors that grow by a bulk copy, and class tests.
 *
 * The program reads words: a number is pushed, `list` gathers all of the stack into a vector, `size` replaces a vector
 * by its length, `+` adds two numbers. */
#include <eden/eden.h>

#include <stdio.h>
#include <stdlib.h>

struct machine {
    eden_heap *heap;
    eden_mutator *m;
    eden_class vector;       /* any number of references */
    eden_class list, growth; /* sites: where the program allocates vectors */
    eden_value *stack;
    size_t depth, room;
};

/* The stack is a root as a whole; its unused slots hold EDEN_NONE. When it moves, its old place is no root any more. */
static bool push(struct machine *machine, eden_value value) {
    if (machine->depth == machine->room) {
        size_t room = machine->room * 2 + 4;
        eden_value *stack = calloc(room, sizeof *stack);
        if (stack == NULL || !eden_root_range_add(machine->heap, stack, room)) {
            free(stack);
            return false;
        }
        if (machine->depth != 0) {
            memcpy(stack, machine->stack, machine->depth * sizeof *stack);
            eden_root_range_remove(machine->heap, machine->stack, machine->room);
        }
        free(machine->stack);
        machine->stack = stack;
        machine->room = room;
    }
    machine->stack[machine->depth++] = value;
    return true;
}

static eden_value pop(struct machine *machine) {
    eden_value value = machine->stack[--machine->depth];
    machine->stack[machine->depth] = EDEN_NONE; /* so that it keeps nothing alive */
    return value;
}

/* A vector of twice the length, with the same elements first; EDEN_NONE: no memory. */
static eden_value grow(struct machine *machine, const eden_value *vector) {
    size_t count = eden_slot_count(*vector);
    eden_value grown = eden_new_slots(machine->m, machine->growth, count * 2);
    if (grown != EDEN_NONE) {
        eden_slots_copy(machine->m, grown, 0, *vector, 0, count); /* with the write barrier: it may be born old */
    }
    return grown;
}

/* All of the stack as one vector on it, whose length is a power of two. */
static bool gather(struct machine *machine) {
    EDEN_FRAME(machine->m, local, 1);
    local[0] = eden_new_slots(machine->m, machine->list, 1);
    while (local[0] != EDEN_NONE && eden_slot_count(local[0]) < machine->depth) {
        local[0] = grow(machine, &local[0]);
    }
    if (local[0] == EDEN_NONE) {
        return false;
    }
    eden_slots_set(machine->m, local[0], 0, machine->stack, machine->depth);
    while (machine->depth != 0) {
        pop(machine);
    }
    return push(machine, local[0]);
}

static bool execute(struct machine *machine, const char *word) {
    if (strcmp(word, "list") == 0) {
        return gather(machine);
    }
    if (strcmp(word, "size") == 0) {
        /* Of the class, at whatever site it was allocated. */
        if (machine->depth < 1 || !eden_is_a(machine->m, machine->stack[machine->depth - 1], machine->vector)) {
            return false;
        }
        return push(machine, eden_int((int64_t)eden_slot_count(pop(machine))));
    }
    if (strcmp(word, "+") == 0) {
        if (machine->depth < 2 || !eden_is_int(machine->stack[machine->depth - 1]) ||
            !eden_is_int(machine->stack[machine->depth - 2])) {
            return false;
        }
        int64_t sum = eden_int_value(pop(machine)) + eden_int_value(pop(machine));
        return push(machine, eden_int(sum));
    }
    return push(machine, eden_int(strtol(word, NULL, 10)));
}

static bool start(struct machine *machine, eden_error *error) {
    machine->heap = eden_heap_create(&(eden_options){.name = "stack"}, error);
    machine->m = machine->heap == NULL ? NULL : eden_mutator_attach(machine->heap, error);
    if (machine->m == NULL) {
        return false;
    }
    const eden_class_definition vector = {"Vector", EDEN_FORMAT_VARIABLE, 0};
    machine->vector = eden_class_define(machine->heap, &vector, error);
    machine->list = machine->vector == 0 ? 0 : eden_site_define(machine->heap, machine->vector, "list", error);
    machine->growth = machine->list == 0 ? 0 : eden_site_define(machine->heap, machine->vector, "grow", error);
    return machine->growth != 0;
}

int main(void) {
    eden_error error;
    struct machine machine = {.depth = 0};
    if (!start(&machine, &error)) {
        fprintf(stderr, "stack: %s\n", error.message);
        return 1;
    }
    char word[64];
    while (scanf("%63s", word) == 1) {
        if (!execute(&machine, word)) {
            printf("%s: not possible\n", word);
        }
    }
    eden_full_collect(machine.m);
    for (size_t i = 0; i < machine.depth; i++) {
        eden_value value = machine.stack[i];
        eden_is_int(value) ? printf("%d\n", (int)eden_int_value(value))
                           : printf("a vector of %zu\n", eden_slot_count(value));
    }
    eden_heap_destroy(machine.heap);
    free(machine.stack);
    return 0;
}
