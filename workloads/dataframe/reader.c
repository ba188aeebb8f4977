/* From a CSV file to rows of cells.
 *
 * libcsv splits the bytes (RFC 4180, strictly); its callbacks make the objects: a ByteString for each cell, an Array
 * for each row, kept in a table that doubles when it is full. While a cell is read it is also parsed as a number, the
 * first of the two passes: a column is a number column if all its cells but the empty ones parse.
 *
 * Empty lines are no records, as for other CSV readers. A row must have as many cells as the header: a row that has
 * not is more often a stray quote or comma than a row with cells left out, and padding it would move values into
 * columns that are not theirs without a word. */
#include "frame.h"
#include "number.h"

#include <csv.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

enum { BLOCK = 1 << 16, FIRST_ROWS = 64 };

struct reader {
    struct frame *frame;
    const char *file_name;
    size_t records; /* complete ones, the header included */
    size_t cells;   /* of the record that is being read */
    bool failed;
};

bool frame_fail(struct frame *frame, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(frame->error, sizeof frame->error, format, arguments);
    va_end(arguments);
    return false;
}

bool frame_fail_memory(struct frame *frame) {
    return frame_fail(frame, "the heap is exhausted: %s", eden_last_error(frame->mutator)->message);
}

/* Appends `item`, which must be in a root: `*root` is the list's table, `count` its length. */
static bool list_append(struct frame *frame, eden_value *root, size_t count, const eden_value *item) {
    size_t capacity = *root == EDEN_NONE ? 0 : eden_slot_count(*root);
    if (count == capacity) {
        eden_value table =
            eden_new_slots(frame->mutator, frame->sites->table, capacity == 0 ? FIRST_ROWS : capacity * 2);
        if (table == EDEN_NONE) {
            return frame_fail_memory(frame);
        }
        for (size_t i = 0; i < count; i++) {
            eden_slot_set(frame->mutator, table, i, eden_slot(*root, i));
        }
        *root = table;
    }
    eden_slot_set(frame->mutator, *root, count, *item);
    return true;
}

static eden_value bytes_new(struct frame *frame, eden_class site, const void *bytes, size_t size) {
    eden_value string = eden_new_raw(frame->mutator, site, size);
    if (string != EDEN_NONE && size > 0) {
        memcpy(eden_raw(string), bytes, size);
    }
    return string;
}

static bool scratch_reserve(struct frame *frame, size_t size) {
    if (size < frame->scratch_size) {
        return true;
    }
    size_t wanted = size * 2 + 64;
    char *scratch = realloc(frame->scratch, wanted);
    if (scratch == NULL) {
        return frame_fail(frame, "no memory for a cell of %zu bytes", size);
    }
    frame->scratch = scratch;
    frame->scratch_size = wanted;
    return true;
}

static bool add_name(struct reader *reader, const void *bytes, size_t size) {
    struct frame *frame = reader->frame;
    if (frame->column_count == frame->column_capacity) {
        size_t capacity = frame->column_capacity == 0 ? 16 : frame->column_capacity * 2;
        struct column *columns = realloc(frame->columns, capacity * sizeof *columns);
        if (columns == NULL) {
            return frame_fail(frame, "no memory for %zu columns", capacity);
        }
        frame->columns = columns;
        frame->column_capacity = capacity;
    }
    EDEN_FRAME(frame->mutator, local, 1);
    local[0] = bytes_new(frame, frame->sites->name, bytes, size);
    if (local[0] == EDEN_NONE) {
        return frame_fail_memory(frame);
    }
    if (!list_append(frame, &frame->roots[ROOT_NAMES], frame->column_count, &local[0])) {
        return false;
    }
    frame->columns[frame->column_count++] = (struct column){0};
    return true;
}

/* Keeps a leak's worth of Fractions, as a program might that caches what it parsed. */
static bool keep_some(struct frame *frame, const eden_value *fraction) {
    if (frame->cell_count++ % 100 >= frame->keep) {
        return true;
    }
    return list_append(frame, &frame->roots[ROOT_KEPT], frame->kept_count++, fraction);
}

static bool add_cell(struct reader *reader, const void *bytes, size_t size) {
    struct frame *frame = reader->frame;
    if (reader->cells >= frame->column_count) {
        return true; /* too many: the end of the record has the number */
    }
    if (reader->cells == 0) {
        frame->roots[ROOT_ROW] = eden_new_slots(frame->mutator, frame->sites->row, frame->column_count);
        if (frame->roots[ROOT_ROW] == EDEN_NONE) {
            return frame_fail_memory(frame);
        }
    }
    EDEN_FRAME(frame->mutator, local, 2);
    local[0] = bytes_new(frame, frame->sites->cell, bytes, size);
    if (local[0] == EDEN_NONE) {
        return frame_fail_memory(frame);
    }
    eden_slot_set(frame->mutator, frame->roots[ROOT_ROW], reader->cells, local[0]);
    local[1] = number_parse(frame->mutator, &frame->sites->detect, local[0]);
    if (local[1] == EDEN_NONE) {
        return frame_fail_memory(frame);
    }
    struct column *column = &frame->columns[reader->cells];
    if (size > 0) {
        column->filled++;
        column->is_text = column->is_text || number_kind(local[1]) == NUMBER_NONE;
    }
    return keep_some(frame, &local[1]) && scratch_reserve(frame, size);
}

static void on_cell(void *bytes, size_t size, void *context) {
    struct reader *reader = context;
    if (reader->failed) {
        return;
    }
    bool is_header = reader->records == 0;
    reader->failed = !(is_header ? add_name(reader, bytes, size) : add_cell(reader, bytes, size));
    reader->cells++;
}

static bool end_row(struct reader *reader) {
    struct frame *frame = reader->frame;
    if (reader->cells != frame->column_count) {
        return frame_fail(frame,
                          "%s: record %zu (the header is record 1) has %zu fields where the header has %zu: give every "
                          "record as many fields as the header, and put fields that hold commas or newlines in quotes",
                          reader->file_name, reader->records + 1, reader->cells, frame->column_count);
    }
    if (!list_append(frame, &frame->roots[ROOT_ROWS], frame->row_count, &frame->roots[ROOT_ROW])) {
        return false;
    }
    frame->roots[ROOT_ROW] = EDEN_NONE;
    frame->row_count++;
    return true;
}

static void on_record(int terminator, void *context) {
    (void)terminator;
    struct reader *reader = context;
    if (reader->failed) {
        return;
    }
    reader->failed = reader->records > 0 && !end_row(reader);
    reader->records++;
    reader->cells = 0;
}

/* RFC 4180: spaces are part of a field. */
static int no_space(unsigned char c) {
    (void)c;
    return 0;
}

static bool fail_csv(struct reader *reader, int error) {
    struct frame *frame = reader->frame;
    size_t record = reader->records + 1;
    if (error == CSV_EPARSE) {
        return frame_fail(
            frame,
            "%s: record %zu (the header is record 1) is malformed near field %zu: a quote stands in a field that does "
            "not start with one, or a quoted field does not end; put the whole field in quotes and double "
            "the quotes in it",
            reader->file_name, record, reader->cells + 1);
    }
    return frame_fail(frame, "%s: record %zu: no memory for a field: %s", reader->file_name, record,
                      csv_strerror(error));
}

static size_t skip_mark(const unsigned char *block, size_t size) {
    static const unsigned char mark[] = {0xEF, 0xBB, 0xBF}; /* UTF-8's byte order mark */
    return size >= sizeof mark && memcmp(block, mark, sizeof mark) == 0 ? sizeof mark : 0;
}

static bool read_blocks(struct reader *reader, struct csv_parser *parser, FILE *file, unsigned char *block) {
    for (bool is_first = true;; is_first = false) {
        size_t size = fread(block, 1, BLOCK, file);
        if (ferror(file)) {
            return frame_fail(reader->frame, "%s: can't be read: %m", reader->file_name);
        }
        if (size == 0) {
            break;
        }
        size_t skip = is_first ? skip_mark(block, size) : 0;
        size_t done = csv_parse(parser, block + skip, size - skip, on_cell, on_record, reader);
        if (reader->failed) {
            return false;
        }
        if (done != size - skip) {
            return fail_csv(reader, csv_error(parser));
        }
    }
    if (csv_fini(parser, on_cell, on_record, reader) != 0) {
        return fail_csv(reader, csv_error(parser));
    }
    return !reader->failed;
}

bool frame_read(struct frame *frame, FILE *file, const char *file_name) {
    struct reader reader = {.frame = frame, .file_name = file_name};
    struct csv_parser parser;
    unsigned char *block = malloc(BLOCK);
    if (block == NULL || !scratch_reserve(frame, 0) || csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0) {
        free(block);
        return frame_fail(frame, "%s: no memory to read it", file_name);
    }
    csv_set_space_func(&parser, no_space);
    bool ok = read_blocks(&reader, &parser, file, block);
    csv_free(&parser);
    free(block);
    if (ok && reader.records == 0) {
        return frame_fail(frame, "%s: is empty: the first record must name the columns", file_name);
    }
    return ok;
}
