/* Errors that a caller can read. */
#include "heap/error.h"
#include "heap/heap.h"
#include <stdarg.h>
#include <stdio.h>

bool error_fail(eden_error *error, enum eden_status status, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return false;
}

const eden_error *eden_last_error(const eden_mutator *mutator) { return &mutator->heap->last_error; }

void eden_error_clear(eden_mutator *mutator) { mutator->heap->last_error = (eden_error){EDEN_OK, ""}; }
