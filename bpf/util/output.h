/* The beginning and the end of an output. */
#ifndef EDEN_OUTPUT_H
#define EDEN_OUTPUT_H

#include "util/failure.h"
#include <stdio.h>
#include <sys/types.h>

/* From now on a signal ends the waiting for who reads standard output (stream.h). */
void output_open_standard(void);

/* Writes out what is buffered. Returns status, or 1 where that is 0 and something could not be written, and says what.
 * A reader that has closed its end of a pipe has seen enough, which is no failure. */
int output_finish(FILE *out, const char *name, int status);

/* An output that grows by pieces. A piece, of at most OUTPUT_PIECE bytes, is in the file whole or not at all, and the
 * first takes the place of what the file held before. What can't be written there goes where it would go without -o: it
 * is never lost. It stays where it is once it has begun. */
enum { OUTPUT_PIECE = 1 << 20 };
struct output {
    FILE *out; /* to print to: gathered until output_flush, or standard output itself */
    const char *path;
    FILE *file; /* what -o names; owned; NULL: standard output */
    char *text; /* what is gathered; owned */
    size_t size, room;
    off_t before; /* bytes that a regular file held, and that the first piece replaces */
    bool is_left; /* standard output is a command's: `stdout` leads to standard error */
    bool failed;  /* writing to the file did */
    int error;    /* why; EPIPE: its reader has seen enough */
};

/* path: what -o names, a regular file that is the caller's to write to, a pipe that has a reader, a terminal or a
 * device; NULL: standard output, or standard error where standard output is left to a command that is started
 * (is_left). Never blocks. False and why: nothing is to be ended. */
bool output_begin(struct output *output, const char *path, bool is_left, struct failure *why);
/* Writes out what was printed since the last time; nothing: then what the file held stays. */
void output_flush(struct output *output);
/* Whether it is a pipe whose reader has seen enough. */
bool output_is_unread(const struct output *output);
/* Ends it, without a flush. Returns status, or 1 where that is 0 and something could not be written. */
int output_end(struct output *output, int status);

#endif
