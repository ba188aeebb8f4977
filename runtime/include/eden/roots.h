/* Roots: how the collector learns what the program holds. Three ways, all precise; nothing else keeps an object alive.
 *
 * Every root slot is updated when its object moves. */
#ifndef EDEN_ROOTS_H
#define EDEN_ROOTS_H

#include "object.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1. frames, for C code: a shadow stack in step with the C stack ---------------------------------------------- */

struct eden_frame {
    struct eden_frame *previous;
    eden_mutator *mutator;
    eden_value *slots;
    size_t count;
};

/* gcc 12 and later can't see that eden_frame_leave takes the frame's address back, and warn of a dangling pointer. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif
static inline void eden_frame_enter(eden_mutator *mutator, struct eden_frame *frame, eden_value *slots, size_t count) {
    EDEN_CHECK_ENTER(mutator);
    for (size_t i = 0; i < count; i++) {
        slots[i] = EDEN_NONE;
    }
    frame->previous = mutator->frames;
    frame->mutator = mutator;
    frame->slots = slots;
    frame->count = count;
    mutator->frames = frame;
}
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic pop
#endif

static inline void eden_frame_leave(struct eden_frame *frame) {
    EDEN_CHECK_LEAVE(frame);
    frame->mutator->frames = frame->previous;
}

/* Before setjmp, and after a longjmp has come back to it: closes the frames that it has skipped. saved: from
 * eden_frames_save in a function that has not returned since. */
static inline struct eden_frame *eden_frames_save(const eden_mutator *mutator) { return mutator->frames; }
static inline void eden_frames_restore(eden_mutator *mutator, struct eden_frame *saved) {
    EDEN_CHECK_RESTORE(mutator, saved);
    mutator->frames = saved;
}

/* EDEN_FRAME(mutator, local, 3); declares `eden_value local[3]`, all EDEN_NONE, which the collector sees and updates
 * until the enclosing block is left, by whatever way but longjmp (a program that uses longjmp saves mutator->frames
 * with its jmp_buf and puts it back). A block should be left before the heap is destroyed; leaving it later does no
 * harm. A macro, because a function cannot declare its caller's locals. */
#define EDEN_FRAME(mutator, local, count)                                                                              \
    eden_value local[count];                                                                                           \
    struct eden_frame local##_frame __attribute__((cleanup(eden_frame_leave)));                                        \
    eden_frame_enter(mutator, &local##_frame, local, count)

/* ---- 2. global roots: single slots that live long ---------------------------------------------------------------- */

/* Makes *slot a root until removed or the heap is destroyed. False where memory is refused. Does not collect. */
EDEN_API bool eden_root_add(eden_heap *heap, eden_value *slot);
/* False where slot is not a root. Does not collect. */
EDEN_API bool eden_root_remove(eden_heap *heap, eden_value *slot);

/* The same for count slots in a row, such as an interpreter's stack: each must hold a value, EDEN_NONE if no other. A
 * range that moves (realloc) is removed and added anew: after a removal the next addition does not fail. */
EDEN_API bool eden_root_range_add(eden_heap *heap, eden_value *slots, size_t count);
EDEN_API bool eden_root_range_remove(eden_heap *heap, eden_value *slots, size_t count);

/* ---- 3. a visitor, for an interpreter that keeps its own stack --------------------------------------------------- */

typedef struct eden_visit eden_visit;

/* Called at each collection, perhaps several times; calls eden_visit_slots for every slot that holds a reference. Must
 * not allocate, store into objects, follow references, or add or remove roots and visitors. */
typedef void (*eden_root_visitor)(void *context, eden_visit *visit);

EDEN_API bool eden_visitor_add(eden_heap *heap, eden_root_visitor visitor, void *context);
EDEN_API bool eden_visitor_remove(eden_heap *heap, eden_root_visitor visitor, void *context);
EDEN_API void eden_visit_slots(eden_visit *visit, eden_value *slots, size_t count);

#ifdef __cplusplus
}
#endif
#endif
