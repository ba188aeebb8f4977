/* A data frame on the collector, and how it comes to be: rows of cells (reader.c), then typed columns (columns.c). */
#ifndef FRAME_FRAME_H
#define FRAME_FRAME_H

#include "classes.h"
#include <stdio.h>

/* What is known of a column, beside its name and its cells, which the heap holds. */
struct column {
    bool is_text;      /* some cell that is not empty is no number */
    size_t filled;     /* cells that are not empty */
    double sum;        /* number columns */
    uint64_t distinct; /* text columns */
};

/* The collector's objects that a frame is made of: slots of an EDEN_FRAME of the caller's. */
enum {
    ROOT_NAMES, /* RowTable of ByteSymbols */
    ROOT_ROWS,  /* RowTable of Arrays of ByteStrings; EDEN_NONE once the columns are built */
    ROOT_ROW,   /* the row that is being read */
    ROOT_FRAME, /* DataFrame: names, columns */
    ROOT_KEPT,  /* RowTable of Fractions that are kept alive for nothing (`keep`) */
    ROOTS
};

struct frame {
    eden_mutator *mutator;
    const struct frame_sites *sites;
    eden_value *roots;
    struct column *columns;
    size_t column_count;
    size_t column_capacity;
    size_t row_count;
    size_t keep; /* of a hundred cells, the first so many keep their first pass's Fraction alive */
    size_t cell_count, kept_count;
    char *scratch; /* longer than any cell by one byte */
    size_t scratch_size;
    char error[512]; /* why the last call failed */
};

static inline bool column_is_number(const struct column *column) { return !column->is_text && column->filled > 0; }

/* Notes why the frame could not be made. Always false. */
bool frame_fail(struct frame *frame, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, for an allocation on the collector. Always false. */
bool frame_fail_memory(struct frame *frame);

/* Reads a CSV file: names and rows, and for each column whether its cells are numbers. May collect. */
bool frame_read(struct frame *frame, FILE *file, const char *file_name);

/* Makes the columns from the rows, and their sums and distinct counts; lets the rows go. May collect. */
bool frame_build(struct frame *frame);

/* Number of different strings in a column of text. May collect. False where memory is exhausted. */
bool frame_count_distinct(struct frame *frame, eden_value column, uint64_t *distinct);

/* Prints the frame; false where that fails (frame->error). */
bool frame_print_json(struct frame *frame, FILE *out);
bool frame_print_table(struct frame *frame, FILE *out);

#endif
