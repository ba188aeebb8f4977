/* The classes of the data frame, and the places of the program that make their instances.
 *
 * Names follow Pharo's DataFrame library. Sizes follow from the shares in FiLiP's Table 4: with its header a Fraction
 * has 24 bytes, a ReadStream 32, a NumberParser 96, and a ByteString of a number of 16 or 17 digits 32. Every
 * allocation goes through a site, so that a profile separates the parser that tries a cell from the one that converts
 * it. */
#ifndef FRAME_CLASSES_H
#define FRAME_CLASSES_H

#include "program.h"

enum frame_class {
    BYTE_STRING, /* a cell */
    BYTE_SYMBOL, /* a column's name */
    ARRAY,       /* a row, a column, the frame's cells, what a collection keeps its elements in */
    READ_STREAM,
    NUMBER_PARSER,
    FRACTION,
    BOXED_FLOAT, /* a number that is no small float */
    IMAGE_OBJECT,
    IMAGE_NEWS,
    FRAME_CLASSES
};

enum frame_site {
    SITE_CELL,
    SITE_NAME,
    SITE_NAMES,
    SITE_ROW,
    SITE_ROWS,
    SITE_CELLS,
    SITE_ROW_NAMES,
    SITE_ROW_SET,
    SITE_COLUMNS,
    SITE_TYPE_COLUMN,
    SITE_TRY_COLUMN,
    SITE_NUMBERS,
    SITE_COLUMN_COPY,
    SITE_TRY_STREAM,
    SITE_TRY_PARSER,
    SITE_TRY_FRACTION,
    SITE_CONVERT_STREAM,
    SITE_CONVERT_PARSER,
    SITE_CONVERT_FRACTION,
    SITE_BOXED_FLOAT,
    SITE_IMAGE_PAGE,
    SITE_IMAGE_TABLE,
    SITE_IMAGE_OBJECT,
    SITE_IMAGE_NEWS,
    FRAME_SITES
};

/* Slots of the fixed classes. */
enum { STREAM_STRING, STREAM_POSITION, STREAM_LIMIT, STREAM_SLOTS };
enum { PARSER_STREAM, PARSER_BASE, PARSER_INTEGER_PART, PARSER_SCALE, PARSER_DIGITS, PARSER_SLOTS = 11 };
enum { FRACTION_DIGITS, FRACTION_SCALE, FRACTION_SLOTS };
enum { IMAGE_SLOTS = 6 };

/* Defines them all; `sites` has FRAME_SITES places. False after program_fail. */
bool frame_define(struct program *program, eden_heap *heap, eden_class *sites);

#endif
