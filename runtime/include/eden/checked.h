/* The checks of the checked build: in a program compiled with -DEDEN_CHECKED and linked with a library built with
 * CHECKED=1, eden_slot, eden_slot_set, eden_raw, the counts and eden_is_a verify that the object is alive and the slot
 * its own, eden_int that the integer fits, eden_new, eden_new_slots and eden_new_raw that they are the call for the
 * format of the class, and frames that they are closed in order. A mistake is reported on standard error and the
 * process aborted. In any other program the macros below expand to nothing.
 *
 * A program compiled with EDEN_CHECKED does not link with an ordinary library, which does not define these functions.
 * An ordinary program links with a checked library, which verifies its collections and allocations. */
#ifndef EDEN_CHECKED_H
#define EDEN_CHECKED_H

#include "heap.h"

#ifdef EDEN_CHECKED
#ifdef __cplusplus
extern "C" {
#endif
/* Called by the inline functions, never by programs. Each aborts on a mistake; none collects. */
EDEN_API void eden_check_new(const eden_mutator *mutator, eden_class of, const char *call);
EDEN_API void eden_check_load(eden_value object, size_t index);
EDEN_API void eden_check_store(eden_mutator *mutator, eden_value object, size_t index, eden_value value);
EDEN_API void eden_check_raw(eden_value object);
EDEN_API void eden_check_object(eden_value object, const char *call);
struct eden_frame;
EDEN_API void eden_check_enter(eden_mutator *mutator);
EDEN_API void eden_check_leave(const struct eden_frame *frame);
EDEN_API void eden_check_restore(eden_mutator *mutator, const struct eden_frame *saved);
EDEN_API void eden_check_is_a(const eden_mutator *mutator, eden_value value, eden_class of);
#ifdef __cplusplus
}
#endif
#endif

/* Not in the collector itself, which reads objects while they move. */
#if defined(EDEN_CHECKED) && !defined(EDEN_INSIDE)
#define EDEN_CHECK_NEW(mutator, of, call) eden_check_new(mutator, of, call)
#define EDEN_CHECK_LOAD(object, index) eden_check_load(object, index)
#define EDEN_CHECK_STORE(mutator, object, index, value) eden_check_store(mutator, object, index, value)
#define EDEN_CHECK_RAW(object) eden_check_raw(object)
#define EDEN_CHECK_OBJECT(object, call) eden_check_object(object, call)
#define EDEN_CHECK_ENTER(mutator) eden_check_enter(mutator)
#define EDEN_CHECK_LEAVE(frame) eden_check_leave(frame)
#define EDEN_CHECK_RESTORE(mutator, saved) eden_check_restore(mutator, saved)
#define EDEN_CHECK_IS_A(mutator, value, of) eden_check_is_a(mutator, value, of)
#else
#define EDEN_CHECK_NEW(mutator, of, call) ((void)0)
#define EDEN_CHECK_LOAD(object, index) ((void)0)
#define EDEN_CHECK_STORE(mutator, object, index, value) ((void)0)
#define EDEN_CHECK_RAW(object) ((void)0)
#define EDEN_CHECK_OBJECT(object, call) ((void)0)
#define EDEN_CHECK_ENTER(mutator) ((void)0)
#define EDEN_CHECK_LEAVE(frame) ((void)0)
#define EDEN_CHECK_RESTORE(mutator, saved) ((void)0)
#define EDEN_CHECK_IS_A(mutator, value, of) ((void)0)
#endif

#endif
