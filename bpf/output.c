#include "output.h"
#include "message.h"
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio_ext.h>

int output_finish(FILE *out, const char *name, int status) {
    errno = 0;
    bool failed = fflush(out) != 0;
    int error = errno;
    failed = ferror(out) || failed;
    /* An earlier write may have failed, whose reason is gone, but that a pipe has no reader shows. */
    struct pollfd pipe = {.fd = fileno(out), .events = POLLOUT};
    if (failed && error == 0 && poll(&pipe, 1, 0) == 1 && pipe.revents & POLLERR) {
        error = EPIPE;
    }
    clearerr(out);
    __fpurge(out); /* else it would be tried, and told, again */
    if (!failed || error == EPIPE) {
        return status;
    }
    errno = error;
    if (error) {
        message_print("%s: can't be written: %m", name);
    } else {
        message_print("%s: not all of it could be written; is the disk full?", name);
    }
    return status ? status : 1;
}
