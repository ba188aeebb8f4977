/* Errors that a caller can read. */
#include "heap/private.h"
#include <stdarg.h>
#include <stdio.h>

bool fail(eden_error *error, enum eden_status status, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return false;
}
