/* Fields of CSV after RFC 4180. The caller adds the "\r\n" of a line. */
#ifndef EDEN_CSV_H
#define EDEN_CSV_H

#include <stdio.h>

/* Prints a text from outside as one field: in text.h's form, and in quotes where it must be. A spreadsheet takes a
 * field that begins with = + - or @ for a formula, which can start programs; so that character is written out as well.
 */
void csv_field(FILE *out, const char *text);

#endif
