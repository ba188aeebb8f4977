#include "classes.h"

static const eden_class_definition classes[FRAME_CLASSES] = {
    [BYTE_STRING] = {"ByteString", EDEN_FORMAT_BYTES, 0},
    [BYTE_SYMBOL] = {"ByteSymbol", EDEN_FORMAT_BYTES, 0},
    [ARRAY] = {"Array", EDEN_FORMAT_VARIABLE, 0},
    [READ_STREAM] = {"ReadStream", EDEN_FORMAT_FIXED, STREAM_SLOTS},
    [NUMBER_PARSER] = {"NumberParser", EDEN_FORMAT_FIXED, PARSER_SLOTS},
    [FRACTION] = {"Fraction", EDEN_FORMAT_FIXED, FRACTION_SLOTS},
    [BOXED_FLOAT] = {"BoxedFloat64", EDEN_FORMAT_WORDS64, 0},
    [IMAGE_OBJECT] = {"ImageObject", EDEN_FORMAT_FIXED, IMAGE_SLOTS},
    [IMAGE_NEWS] = {"ImageNews", EDEN_FORMAT_FIXED, 1},
};

static const struct program_site sites[FRAME_SITES] = {
    [SITE_CELL] = {BYTE_STRING, "DataFrameCsvReader>>readCell"},
    [SITE_NAME] = {BYTE_SYMBOL, "DataFrameCsvReader>>readColumnName"},
    [SITE_NAMES] = {ARRAY, "DataFrameCsvReader>>readColumnNames"},
    [SITE_ROW] = {ARRAY, "DataFrameCsvReader>>readRow"},
    [SITE_ROWS] = {ARRAY, "OrderedCollection>>growAtLast"},
    [SITE_CELLS] = {ARRAY, "DataFrameInternal class>>withRows:"},
    [SITE_ROW_NAMES] = {ARRAY, "DataFrame>>setDefaultRowNames"},
    [SITE_ROW_SET] = {ARRAY, "Set>>growTo:"},
    [SITE_COLUMNS] = {ARRAY, "DataFrame>>columns"},
    [SITE_TYPE_COLUMN] = {ARRAY, "DataFrame>>calculateDataTypes"},
    [SITE_TRY_COLUMN] = {ARRAY, "DataFrameTypeDetector>>detectTypesAndConvert:"},
    [SITE_NUMBERS] = {ARRAY, "DataFrameTypeDetector>>convertToFloat:"},
    [SITE_COLUMN_COPY] = {ARRAY, "DataSeries class>>withValues:"},
    [SITE_TRY_STREAM] = {READ_STREAM, "DataFrameTypeDetector>>canBeNumber: streamOn:"},
    [SITE_TRY_PARSER] = {NUMBER_PARSER, "DataFrameTypeDetector>>canBeNumber: parserOn:"},
    [SITE_TRY_FRACTION] = {FRACTION, "DataFrameTypeDetector>>canBeNumber: nextFraction"},
    [SITE_CONVERT_STREAM] = {READ_STREAM, "DataFrameTypeDetector>>convertToFloat: streamOn:"},
    [SITE_CONVERT_PARSER] = {NUMBER_PARSER, "DataFrameTypeDetector>>convertToFloat: parserOn:"},
    [SITE_CONVERT_FRACTION] = {FRACTION, "DataFrameTypeDetector>>convertToFloat: nextFraction"},
    [SITE_BOXED_FLOAT] = {BOXED_FLOAT, "Fraction>>asFloat"},
    [SITE_IMAGE_PAGE] = {ARRAY, "image: pages"},
    [SITE_IMAGE_TABLE] = {ARRAY, "image: table of what comes and goes"},
    [SITE_IMAGE_OBJECT] = {IMAGE_OBJECT, "image: objects"},
    [SITE_IMAGE_NEWS] = {IMAGE_NEWS, "image: what comes and goes"},
};

bool frame_define(struct program *program, eden_heap *heap, eden_class *defined) {
    eden_class ignored[FRAME_CLASSES];
    return program_define(program, heap, classes, FRAME_CLASSES, ignored, sites, FRAME_SITES, defined);
}
