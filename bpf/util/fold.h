/* Lines of text folded at words, to fit a terminal (terminal.h). */
#ifndef EDEN_FOLD_H
#define EDEN_FOLD_H

#include <stddef.h>
#include <stdio.h>

/* Prints a line, which has no newline, and one after it. What is beyond `columns` goes on below, where the last column
 * of the line's text begins, if that leaves half of the width; else as far in as the line begins. A line of notes goes
 * on with its "#". Blanks at a fold are dropped; a word that is wider than a line stays whole. 0 columns: any number
 * fits. */
void fold_line(FILE *out, const char *line, size_t length, unsigned columns);

/* Prints a paragraph: `lead`, and text in lines of at most FOLD_PARAGRAPH columns, or those of the terminal if they are
 * fewer. Further lines begin below the text. */
enum { FOLD_PARAGRAPH = 110 };
__attribute__((format(printf, 3, 4))) void fold_paragraph(FILE *out, const char *lead, const char *format, ...);

#endif
