/* Roots: how the program registers the references it holds. Three ways, all precise; nothing else keeps an object
 * alive.
 *
 * A root slot holds a value at each call that may collect: a reference, an immediate or EDEN_NONE. A reference is
 * updated when its object moves. The memory of slots is the caller's. */
#ifndef EDEN_ROOTS_H
#define EDEN_ROOTS_H

#include "object.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1. frames, for C code: a shadow stack in step with the C stack ---------------------------------------------- */

/* One frame: count roots at slots. Programs declare it with EDEN_FRAME. */
struct eden_frame {
    struct eden_frame *previous;
    eden_mutator *mutator;
    eden_value *slots;
    size_t count;
};

/* Opens a frame: EDEN_FRAME and eden.hpp call it. Frames are closed in the reverse order. Can't fail, does not collect.
 * gcc 12 and later can't see that eden_frame_leave takes the frame's address back, and warn of a dangling pointer. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif
EDEN_INLINE void eden_frame_enter(eden_mutator *mutator, struct eden_frame *frame, eden_value *slots, size_t count) {
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

/* Closes the newest frame. Can't fail, does not collect. */
EDEN_INLINE void eden_frame_leave(struct eden_frame *frame) {
    EDEN_CHECK_LEAVE(frame);
    frame->mutator->frames = frame->previous;
}

/* Returns the newest frame, for eden_frames_restore: call it before setjmp. NULL: no frame is open. Can't fail, does
 * not collect. */
static inline struct eden_frame *eden_frames_save(const eden_mutator *mutator) { return mutator->frames; }
/* Closes the frames opened since eden_frames_save: call it when longjmp has come back to setjmp. The block in which
 * eden_frames_save was called must not have been left. Can't fail, does not collect. */
static inline void eden_frames_restore(eden_mutator *mutator, struct eden_frame *saved) {
    EDEN_CHECK_RESTORE(mutator, saved);
    mutator->frames = saved;
}

/* EDEN_FRAME(mutator, local, 3); declares `eden_value local[3]`, all EDEN_NONE, which are roots until the enclosing
 * block is left: by its end, return, break, goto or a C++ exception, but not by longjmp (eden_frames_save). Use it in
 * functions that return before the heap is destroyed or the mutator detached. Can't fail, does not collect. A macro,
 * because a function can't declare its caller's locals. */
#define EDEN_FRAME(mutator, local, count)                                                                              \
    eden_value local[count];                                                                                           \
    struct eden_frame local##_frame __attribute__((cleanup(eden_frame_leave)));                                        \
    eden_frame_enter(mutator, &local##_frame, local, count)

/* ---- 2. global roots: slots that live long ----------------------------------------------------------------------- */

/* Makes *slot a root until it is removed or the heap destroyed. False: memory is refused. Does not collect. */
EDEN_API bool eden_root_add(eden_heap *heap, eden_value *slot);
/* Removes a root, once if it was added more than once. False: slot is not a root. Does not collect. */
EDEN_API bool eden_root_remove(eden_heap *heap, eden_value *slot);

/* Makes count slots in a row roots, such as an interpreter's stack. To move them, remove the range and add the new one:
 * after a removal the next addition does not fail. False: memory is refused. Does not collect. */
EDEN_API bool eden_root_range_add(eden_heap *heap, eden_value *slots, size_t count);
/* Removes a range that was added with the same slots and count. False: there is none. Does not collect. */
EDEN_API bool eden_root_range_remove(eden_heap *heap, eden_value *slots, size_t count);

/* ---- 3. a visitor, for an interpreter that keeps its own stack --------------------------------------------------- */

/* A collection's walk over the roots; valid during the visitor's call. */
typedef struct eden_visit eden_visit;

/* Called at each collection, perhaps several times, each time to pass all its slots to eden_visit_slots. Objects are
 * half moved: a visitor must not read or store into objects, allocate, collect, or add or remove roots and visitors. */
typedef void (*eden_root_visitor)(void *context, eden_visit *visit);

/* Adds a visitor; the context is the caller's. False: memory is refused. Does not collect. */
EDEN_API bool eden_visitor_add(eden_heap *heap, eden_root_visitor visitor, void *context);
/* Removes a visitor, once if it was added more than once with this context. False: there is none. Does not collect. */
EDEN_API bool eden_visitor_remove(eden_heap *heap, eden_root_visitor visitor, void *context);
/* Within a visitor: makes count slots roots of this collection, and updates them. Can't fail. */
EDEN_API void eden_visit_slots(eden_visit *visit, eden_value *slots, size_t count);

#ifdef __cplusplus
}
#endif
#endif
