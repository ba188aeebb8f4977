/* Standard output and standard error, where a signal ends the waiting for who reads them. */
#ifndef EDEN_STREAM_H
#define EDEN_STREAM_H

#include <stdbool.h>
#include <stdio.h>

/* A stream that writes to the descriptor (1 or 2), which stays open. While a reader does not read, it waits; once a
 * signal has been counted (interrupt.h), only until nothing was read for a second. Then it gives up: that write fails,
 * and so do all later ones. NULL: no memory. */
FILE *stream_open(int fd, int buffering);
bool stream_has_given_up(int fd);

#endif
