#include "classes.h"

static bool site(eden_heap *heap, eden_class of, const char *name, eden_class *result, eden_error *error) {
    *result = eden_site_define(heap, of, name, error);
    return *result != 0;
}

bool frame_sites_define(eden_heap *heap, struct frame_sites *sites, eden_error *error) {
    enum {
        BYTE_STRING,
        BYTE_SYMBOL,
        ARRAY,
        ROW_TABLE,
        DOUBLE_ARRAY,
        TEXT_COLUMN,
        STRING_SET,
        DATA_FRAME,
        READ_STREAM,
        NUMBER_PARSER,
        FRACTION,
        CLASSES
    };
    static const eden_class_definition definitions[CLASSES] = {
        [BYTE_STRING] = {"ByteString", EDEN_FORMAT_BYTES, 0},
        [BYTE_SYMBOL] = {"ByteSymbol", EDEN_FORMAT_BYTES, 0},
        [ARRAY] = {"Array", EDEN_FORMAT_VARIABLE, 0},
        [ROW_TABLE] = {"RowTable", EDEN_FORMAT_VARIABLE, 0},
        [DOUBLE_ARRAY] = {"DoubleArray", EDEN_FORMAT_WORDS64, 0},
        [TEXT_COLUMN] = {"TextColumn", EDEN_FORMAT_VARIABLE, 0},
        [STRING_SET] = {"StringSet", EDEN_FORMAT_VARIABLE, 0},
        [DATA_FRAME] = {"DataFrame", EDEN_FORMAT_FIXED, FRAME_SLOTS},
        [READ_STREAM] = {"ReadStream", EDEN_FORMAT_FIXED, STREAM_SLOTS},
        [NUMBER_PARSER] = {"NumberParser", EDEN_FORMAT_FIXED, PARSER_SLOTS},
        [FRACTION] = {"Fraction", EDEN_FORMAT_FIXED, FRACTION_SLOTS},
    };
    eden_class class[CLASSES];
    for (size_t i = 0; i < CLASSES; i++) {
        class[i] = eden_class_define(heap, &definitions[i], error);
        if (class[i] == 0) {
            return false;
        }
    }
    return site(heap, class[BYTE_STRING], "DataFrameCsvReader>>readCell", &sites->cell, error) &&
           site(heap, class[BYTE_SYMBOL], "DataFrameCsvReader>>readColumnName", &sites->name, error) &&
           site(heap, class[ARRAY], "DataFrameCsvReader>>readRow", &sites->row, error) &&
           site(heap, class[ROW_TABLE], "DataFrameCsvReader>>growRows", &sites->table, error) &&
           site(heap, class[ARRAY], "DataFrame>>columns", &sites->columns, error) &&
           site(heap, class[DOUBLE_ARRAY], "DataFrame>>addNumberColumn", &sites->number_column, error) &&
           site(heap, class[TEXT_COLUMN], "DataFrame>>addTextColumn", &sites->text_column, error) &&
           site(heap, class[STRING_SET], "DataFrame>>growDistinct", &sites->set, error) &&
           site(heap, class[DATA_FRAME], "DataFrame class>>fromRows", &sites->frame, error) &&
           site(heap, class[READ_STREAM], "DataFrameTypeDetector>>streamOn:", &sites->detect.stream, error) &&
           site(heap, class[NUMBER_PARSER], "DataFrameTypeDetector>>parserOn:", &sites->detect.parser, error) &&
           site(heap, class[FRACTION], "DataFrameTypeDetector>>nextFraction", &sites->detect.fraction, error) &&
           site(heap, class[READ_STREAM], "DataFrameConverter>>streamOn:", &sites->convert.stream, error) &&
           site(heap, class[NUMBER_PARSER], "DataFrameConverter>>parserOn:", &sites->convert.parser, error) &&
           site(heap, class[FRACTION], "DataFrameConverter>>nextFraction", &sites->convert.fraction, error);
}
