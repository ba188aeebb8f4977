/* A frame as JSON or as a table. Names may hold any bytes; what is printed is UTF-8: each maximal part of an ill-formed
 * sequence becomes one U+FFFD, as the Unicode Standard (3.9) recommends. */
#include "frame.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* Length of the well-formed UTF-8 sequence at the start of text; if there is none, 0 and in *skip the length of the
 * ill-formed part. */
static size_t utf8_length(const unsigned char *text, size_t size, size_t *skip) {
    unsigned char first = text[0];
    size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    /* The second byte alone excludes overlong forms, surrogates and what lies beyond U+10FFFF. */
    unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    *skip = 1;
    for (size_t i = 1; i < length; i++) {
        if (i >= size || text[i] < low || text[i] > high) {
            return 0;
        }
        *skip = i + 1;
        low = 0x80;
        high = 0xBF;
    }
    return length;
}

/* The name as UTF-8, its length in *length; the caller frees it. NULL where memory is refused. */
static char *clean_name(eden_value name, size_t *length) {
    static const char replacement[] = "\xEF\xBF\xBD";
    const unsigned char *bytes = eden_raw(name);
    size_t size = eden_raw_count(name);
    char *text = malloc(size * 3 + 1);
    if (text == NULL) {
        return NULL;
    }
    size_t used = 0;
    for (size_t i = 0; i < size;) {
        size_t skip = 0;
        size_t valid = utf8_length(bytes + i, size - i, &skip);
        if (valid > 0) {
            memcpy(text + used, bytes + i, valid);
        } else {
            memcpy(text + used, replacement, 3);
        }
        used += valid > 0 ? valid : 3;
        i += valid > 0 ? valid : skip;
    }
    text[used] = '\0';
    *length = used;
    return text;
}

static eden_value name_at(const struct frame *frame, size_t index) {
    return eden_slot(frame->roots[ROOT_NAMES], index);
}

/* The object of one column. NULL where memory is refused. JSON has no infinity: a sum that is not finite is null. */
static json_t *column_json(const struct frame *frame, size_t index) {
    const struct column *column = &frame->columns[index];
    size_t length = 0;
    char *text = clean_name(name_at(frame, index), &length);
    if (text == NULL) {
        return NULL;
    }
    json_t *name = json_stringn(text, length);
    free(text);
    if (column->is_number) {
        return json_pack("{s:o, s:s, s:I, s:o}", "name", name, "type", "number", "count", (json_int_t)column->filled,
                         "sum", isfinite(column->sum) ? json_real(column->sum) : json_null());
    }
    return json_pack("{s:o, s:s, s:I, s:I}", "name", name, "type", "text", "count", (json_int_t)frame->row_count,
                     "distinct", (json_int_t)column->distinct);
}

bool frame_print_json(struct frame *frame, FILE *out) {
    json_t *columns = json_array();
    for (size_t i = 0; i < frame->column_count; i++) {
        if (json_array_append_new(columns, column_json(frame, i)) != 0) {
            json_decref(columns);
            return program_fail(frame->program, "no memory to print column %zu", i + 1);
        }
    }
    json_t *root = json_pack("{s:I, s:o}", "rows", (json_int_t)frame->row_count, "columns", columns);
    /* 17 significant digits name a double exactly. */
    bool ok = root != NULL && json_dumpf(root, out, JSON_REAL_PRECISION(17)) == 0 && fputc('\n', out) != EOF;
    json_decref(root);
    return ok || program_fail(frame->program, "the result can't be written");
}

bool frame_print_table(struct frame *frame, FILE *out) {
    fprintf(out, "%zu rows, %zu columns\n\n", frame->row_count, frame->column_count);
    fprintf(out, "%-6s  %12s  %24s  %s\n", "type", "count", "sum or distinct values", "name");
    for (size_t i = 0; i < frame->column_count; i++) {
        const struct column *column = &frame->columns[i];
        size_t length = 0;
        char *name = clean_name(name_at(frame, i), &length);
        if (name == NULL) {
            return program_fail(frame->program, "no memory to print column %zu", i + 1);
        }
        for (size_t at = 0; at < length; at++) {
            unsigned char c = (unsigned char)name[at];
            name[at] = c < 0x20 || c == 0x7F ? ' ' : name[at]; /* a newline would break the table */
        }
        if (column->is_number) {
            fprintf(out, "%-6s  %12zu  %24.17g  %s\n", "number", column->filled, column->sum, name);
        } else {
            fprintf(out, "%-6s  %12zu  %24llu  %s\n", "text", frame->row_count, (unsigned long long)column->distinct,
                    name);
        }
        free(name);
    }
    return !ferror(out) || program_fail(frame->program, "the result can't be written");
}
