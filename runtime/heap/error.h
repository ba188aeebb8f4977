/* Errors that a caller can read. */
#ifndef EDEN_HEAP_ERROR_H
#define EDEN_HEAP_ERROR_H

#include "heap/object.h"

/* Fills error, which may be NULL. Always false, for `return error_fail(...)`. */
bool error_fail(eden_error *error, enum eden_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
