/* The beginning and the end of an output. */
#ifndef EDEN_OUTPUT_H
#define EDEN_OUTPUT_H

#include "failure.h"
#include <stdio.h>

/* Opens what -o names, to append: a regular file of a trusted owner (owner.h), a pipe that has a reader, a terminal or
 * a device. Never blocks. NULL and why otherwise. */
FILE *output_open(const char *path, struct failure *why);

/* Writes out what is buffered. Returns status, or 1 where that is 0 and something could not be written, and says what.
 * A reader that has closed its end of a pipe has seen enough, which is no failure. */
int output_finish(FILE *out, const char *name, int status);

#endif
