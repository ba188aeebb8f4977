/* The end of an output. */
#ifndef EDEN_OUTPUT_H
#define EDEN_OUTPUT_H

#include <stdio.h>

/* Writes out what is buffered. Returns status, or 1 where that is 0 and something could not be written, and says what.
 * A reader that has closed its end of a pipe has seen enough, which is no failure. */
int output_finish(FILE *out, const char *name, int status);

#endif
