/* Tables for people, row by row. In a pipe or a file each row is a line, and every cell whole. On a terminal a table
 * fits its width: first the widest texts are cut, and end with "…"; if that is not enough, none is, and rows go on in
 * further lines, as the heading does. Numbers are never cut. */
#ifndef EDEN_SHEET_H
#define EDEN_SHEET_H

#include "util/style.h"
#include <stddef.h>
#include <stdio.h>

enum { SHEET_COLUMNS = 40 };

/* SHEET_NUMBER ends where its column does, the others begin there. Only a SHEET_TEXT is ever cut; SHEET_WORDS are
 * folded at words, by which a line of them alone fits. */
enum sheet_kind { SHEET_NUMBER, SHEET_TEXT, SHEET_WORDS };

struct sheet_column {
    const char *heading;
    enum sheet_kind kind;
    unsigned width; /* at least; a wider cell moves those after it */
    unsigned gap;   /* blanks before it */
};

struct sheet {
    FILE *out;
    const char *mark; /* what the heading begins with, and each row with as many blanks: "#", or nothing */
    const struct sheet_column *columns;
    size_t count; /* at most SHEET_COLUMNS */
};

#define SHEET(out, mark, columns)                                                                                      \
    (struct sheet) { out, mark, columns, sizeof(columns) / sizeof *(columns) }

struct sheet_cell {
    const char *form; /* text.h */
    enum style style;
};

void sheet_heading(const struct sheet *sheet);
void sheet_row(const struct sheet *sheet, const struct sheet_cell *cells);

#endif
