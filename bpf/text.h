/* Text from a traced process: bytes that may be anything, made fit for a form of output. */
#ifndef EDEN_TEXT_H
#define EDEN_TEXT_H

#include <stddef.h>

/* Copies text, up to its NUL or `most` bytes, to `to`, whose `size` bytes include the NUL; each byte that is no part of
 * a UTF-8 character becomes '?'. What does not fit is cut. Returns the length. */
size_t text_to_utf8(char *to, size_t size, const char *text, size_t most);

/* The same, and control characters and each byte of `unwanted` become '?' too: a name within one line. */
size_t text_to_line(char *to, size_t size, const char *text, size_t most, const char *unwanted);

#endif
