/* The classes of the data frame and the places of the program that make their instances.
 *
 * Every allocation goes through a site, so that a profile separates the parser of the first pass from that of the
 * second. Names follow Pharo's DataFrame, whose object mix this is: for each cell 2 NumberParser, 2 Fraction, 2
 * ReadStream and 1 ByteString, for each row 1 Array. */
#ifndef FRAME_CLASSES_H
#define FRAME_CLASSES_H

#include "eden/eden.h"

/* Slots of the FIXED classes. */
enum { STREAM_STRING, STREAM_POSITION, STREAM_SLOTS };
enum { PARSER_STREAM, PARSER_MANTISSA, PARSER_SCALE, PARSER_STATE, PARSER_SLOTS };
enum { FRACTION_NUMERATOR, FRACTION_DENOMINATOR, FRACTION_KIND, FRACTION_SLOTS };
enum { FRAME_NAMES, FRAME_COLUMNS, FRAME_SLOTS };

/* Where one pass over the cells allocates. */
struct parse_sites {
    eden_class stream;
    eden_class parser;
    eden_class fraction;
};

struct frame_sites {
    eden_class cell;          /* ByteString: the bytes of a cell */
    eden_class name;          /* ByteSymbol: the bytes of a column's name */
    eden_class row;           /* Array: the cells of a row */
    eden_class table;         /* RowTable: what the growing lists of names and rows stand in */
    eden_class columns;       /* Array: the frame's columns */
    eden_class number_column; /* DoubleArray: raw doubles */
    eden_class text_column;   /* TextColumn: references to cells */
    eden_class set;           /* StringSet: a hash table of cells */
    eden_class frame;         /* DataFrame: names and columns */
    struct parse_sites detect;
    struct parse_sites convert;
};

/* Defines them all. False, with the reason in error, where the heap refuses one. */
bool frame_sites_define(eden_heap *heap, struct frame_sites *sites, eden_error *error);

#endif
