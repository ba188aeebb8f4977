/* Cycles: marking ahead of a full collection, in steps (pause_goal). */
#ifndef EDEN_HEAP_CYCLE_H
#define EDEN_HEAP_CYCLE_H

#include "heap/mark_stack.h"
#include "heap/observer.h"
#include "heap/space.h"

enum cycle_state {
    CYCLE_NONE,
    CYCLE_MARKS,  /* the next scavenge marks more */
    CYCLE_MARKED, /* all that was found is marked: the next scavenge is the last before the full collection */
    CYCLE_ENDS    /* a full collection is to follow */
};

struct cycle {
    enum cycle_state state;
    bool has_revisited;      /* roots and new space have been looked through a second time */
    bool rescans;            /* the last stop is to scan all marked objects again */
    struct mark_stack stack; /* marked old objects to scan; as in old/mark.c. Mapped when the first cycle begins */
    eden_value *left;        /* marked ephemerons and weak objects: the last stop scans them */
    size_t left_count, left_room;
    struct tally marked;   /* since a phase has reported it */
    struct tally reported; /* of this cycle */
    uint64_t steps;        /* likewise */
    uint64_t bytes_a_step; /* of late; 0: none has run */
    uint64_t eden_bytes;   /* the part of eden that half of the goal suffices to copy; 0: not known */
    uintptr_t eden_limit;  /* the program allocates in eden up to here; UINTPTR_MAX: up to eden's end */
    uint64_t unfinished;   /* cycles that a full collection ended before all was marked */
    /* For tests: */
    uint64_t step_objects; /* the number that a step scans, whatever the clock says; 0: by the clock */
    bool is_forced;        /* a cycle begins whenever none runs */
};

static inline bool cycle_is_running(const struct cycle *cycle) { return cycle->state != CYCLE_NONE; }

/* These three only in a cycle. Marks an object, if it is old and not marked, and sees to it that it is scanned. v: any
 * value. */
void cycle_shade(eden_heap *heap, eden_value v);
/* Slots `from` to `to` of an old object have been written, or nobody else will look at them again: marks what they
 * refer to, if the object is marked. */
void cycle_rescan(eden_heap *heap, eden_value object, size_t from, size_t to);
/* An object has been allocated in old space, or tenured; what it refers to is marked apart (cycle_rescan). */
void cycle_born(eden_heap *heap, eden_value object);
/* All that is remembered will be forgotten, though it may refer to what becomes old unmarked (young/promote.c). */
void cycle_forgets_all(eden_heap *heap);

/* A new heap, with parameters and spaces. */
void cycle_create(eden_heap *heap);
/* At the end of a scavenge: sweeps for a while (lazy_sweep.c), begins a cycle, marks for a while, or sees that it is
 * time for the full collection. */
void cycle_step(eden_heap *heap, const struct scavenge_pass *pass);
/* The full collection has come, and marks the rest: what is to be scanned goes to the heap's mark stack. Returns what
 * no phase has reported. */
struct tally cycle_take(eden_heap *heap);
/* Instead: forgets all marks, so that the full collection keeps nothing that is dead. */
void cycle_abandon(eden_heap *heap);
void cycle_destroy(struct cycle *cycle);

#endif
