/* Text from strangers (a traced process, a file's name, a recording, an argument) in the form in which a terminal may
 * show it.
 *
 * What moves the cursor, hides or reorders text, or shows nothing, is written out: \x1b is a byte, \u{202e} a
 * character, \\ a backslash. So the form is unambiguous, and what it was can be had back from it, byte for byte. All
 * other text stays as it is. The form is printable UTF-8 within one line, at most four times as long as the text. */
#ifndef EDEN_TEXT_H
#define EDEN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    TEXT_GROWTH = 4, /* bytes of the form, at most, for a byte of text */
    TEXT_PIECE = 16, /* room for the form of a character, NUL included */
};

/* Returns the length of the UTF-8 sequence that text begins with, and its code point; 0 where there is none, as at the
 * end of the text. */
size_t text_decode(const char *text, int32_t *point);

/* Writes the form of the first character of text, which is not empty, to `piece`; each character of `unwanted` (not a
 * backslash) is written out, too. is_first: nothing stands before it. Returns how many bytes of text it took. */
size_t text_piece(char piece[TEXT_PIECE], const char *text, bool is_first, const char *unwanted);

/* Writes the form of text to `to`, whose `size` bytes include the NUL. What does not fit is cut, between two
 * characters. Returns `to`. */
char *text_escape(char *to, size_t size, const char *text, const char *unwanted);

/* The same for a table: with blanks behind it up to `least` columns, and cut after `most`. */
char *text_column(char *to, size_t size, const char *text, const char *unwanted, unsigned least, unsigned most);

/* Copies a form; what does not fit is cut, between two characters. */
char *text_copy(char *to, size_t size, const char *form);

/* How many columns of a terminal a form, or its first `length` bytes, take. */
unsigned text_columns(const char *form, size_t length);

/* How many bytes of a form, or of its first `length` ones, fit in `most` columns, cut between two characters; *columns:
 * what they take. */
size_t text_fitting(const char *form, size_t length, unsigned most, unsigned *columns);

/* Prints the form of a text of any length. */
void text_print(FILE *out, const char *text);

#endif
