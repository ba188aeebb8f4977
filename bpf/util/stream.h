/* Standard output and standard error, where a signal ends the waiting for who reads them. */
#ifndef EDEN_STREAM_H
#define EDEN_STREAM_H

#include <stdbool.h>
#include <stdio.h>

/* A stream that writes to the descriptor (1 or 2), which stays open. While a reader does not read, it waits; once a
 * signal has been counted (interrupt.h), only until nothing was read for a second. Then it gives up: that write fails,
 * and so do all later ones. NULL: no memory. */
FILE *stream_open(int fd, int buffering);
/* Whether lines are folded to the width of the terminal (fold.h). What is left of a line is written out first. */
void stream_fold(int fd, bool folds);
/* -1: it is no such stream. */
int stream_descriptor(const FILE *out);
/* Standard output writes to where standard error does from now on, for a command that is started has the file of
 * standard output. False: all stays as it is, for standard error was closed, or no descriptor is free. */
bool stream_leave_output(void);
/* In a forked child: standard output is what it was before that. */
void stream_return_output(void);
bool stream_has_given_up(int fd);
int stream_error(int fd); /* why the last write that failed did; 0: none has, or it gave up */

#endif
