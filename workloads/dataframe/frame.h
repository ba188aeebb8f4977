/* A data frame on the collector: an image of old objects (image.c), rows of cells (reader.c), and from them the frame
 * (build.c). */
#ifndef FRAME_FRAME_H
#define FRAME_FRAME_H

#include "classes.h"
#include <stdio.h>

/* What is known of a column, beside its name and its cells, which the heap holds. */
struct column {
    bool is_number;    /* it has cells that are not empty, and all of them are numbers */
    size_t filled;     /* cells that are not empty */
    double sum;        /* number columns */
    uint64_t distinct; /* text columns */
};

/* What lives to the end: slots of an EDEN_FRAME of the caller's. */
enum {
    ROOT_IMAGE,      /* Array of pages: Arrays of ImageObjects */
    ROOT_IMAGE_NEWS, /* Array of ImageNews; EDEN_NONE: there is no image */
    ROOT_NAMES,      /* Array of ByteSymbols */
    ROOT_ROWS,       /* Array, too long, of Arrays of ByteStrings; an empty cell is EDEN_NONE */
    ROOT_ROW,        /* the row that is being read */
    ROOT_CELLS,      /* Array of all cells, row by row */
    ROOT_ROW_NAMES,  /* Array of integers */
    ROOTS
};

struct frame {
    struct program *program;
    eden_mutator *mutator;
    eden_class sites[FRAME_SITES];
    eden_value *roots;
    size_t copies;      /* of a column of numbers, besides */
    size_t image_news;  /* how many young objects have come into the image, so far */
    size_t image_cells; /* how often image_live was called */
    struct column *columns;
    size_t column_count;
    size_t column_capacity;
    size_t row_count;
    char *scratch; /* longer than any cell by one byte */
    size_t scratch_size;
};

/* Reference to what stands in the cells' Array. */
static inline eden_value frame_cell(const struct frame *frame, size_t row, size_t column) {
    return eden_slot(frame->roots[ROOT_CELLS], row * frame->column_count + column);
}

/* Passes a new object on to --keep-class. EDEN_NONE, after program_fail, where memory is exhausted. May collect. */
static inline eden_value frame_new(struct frame *frame, eden_value object) {
    object = program_kept(frame->program, frame->mutator, object);
    if (object == EDEN_NONE) {
        program_exhausted(frame->program, frame->mutator);
    }
    return object;
}

/* These five return false after program_fail, and may collect. */

/* A program does not begin with an empty heap: makes `bytes` of old objects, and some young ones. */
bool image_make(struct frame *frame, size_t bytes);
/* The image's young objects come and go: called for each cell that is read or parsed. */
bool image_live(struct frame *frame);

/* Appends `item`, which must be in a root: the list of `count` elements is that in *root, an Array with room. */
bool list_append(struct frame *frame, enum frame_site site, eden_value *root, size_t count, const eden_value *item);
/* Reads a CSV file: names and rows. */
bool frame_read(struct frame *frame, FILE *file, const char *file_name);
/* Makes the frame from the rows, which live on. */
bool frame_build(struct frame *frame);

/* Sums and distinct counts of the columns. False after program_fail; does not collect. */
bool frame_describe(struct frame *frame);
/* Prints the frame. False after program_fail. */
bool frame_print_json(struct frame *frame, FILE *out);
bool frame_print_table(struct frame *frame, FILE *out);

#endif
