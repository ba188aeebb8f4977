#include "util/failure.h"
#include "util/message.h"
#include <stdarg.h>
#include <stdio.h>

bool failure_set(struct failure *why, int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    why->status = status;
    vsnprintf(why->message, sizeof why->message, format, arguments);
    va_end(arguments);
    return false;
}

int failure_report(const struct failure *why) {
    message_failure(why->message);
    return why->status;
}
