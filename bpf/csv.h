/* Fields of CSV after RFC 4180. Lines end with "\r\n", which whoever prints them adds. */
#ifndef EDEN_CSV_H
#define EDEN_CSV_H

#include <stdio.h>

/* Prints one field, quoted where it must be. Bytes are passed on as they are. */
void csv_field(FILE *out, const char *text);

#endif
