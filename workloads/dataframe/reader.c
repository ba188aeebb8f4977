/* From a CSV file to rows of cells.
 *
 * libcsv splits the bytes (RFC 4180, strictly); its callbacks make the objects: a ByteString for each cell but the
 * empty ones, an Array for each row, and the list of rows, whose Array doubles from 10 on. No number is parsed yet.
 *
 * Empty lines are no records, as for other CSV readers. A row must have as many cells as the header: a row that does
 * not is more often a stray quote or comma than a row with cells left out, and padding it would move values into
 * columns that are not theirs without a word. */
#include "frame.h"

#include <csv.h>
#include <stdlib.h>

enum { BLOCK = 1 << 16 };

struct reader {
    struct frame *frame;
    const char *file_name;
    size_t records; /* complete ones, the header included */
    size_t cells;   /* of the record that is being read */
    bool failed;
};

bool list_append(struct frame *frame, enum frame_site site, eden_value *root, size_t count, const eden_value *item) {
    enum { FIRST_SIZE = 10 };
    size_t size = *root == EDEN_NONE ? 0 : eden_slot_count(*root);
    if (count == size) {
        eden_value larger =
            frame_new(frame, eden_new_slots(frame->mutator, frame->sites[site], size == 0 ? FIRST_SIZE : size * 2));
        if (larger == EDEN_NONE) {
            return false;
        }
        if (count > 0) {
            eden_slots_copy(frame->mutator, larger, 0, *root, 0, count);
        }
        *root = larger;
    }
    eden_slot_set(frame->mutator, *root, count, *item);
    return true;
}

/* EDEN_NONE after program_fail. */
static eden_value bytes_new(struct frame *frame, enum frame_site site, const void *bytes, size_t size) {
    eden_value string = eden_new_raw(frame->mutator, frame->sites[site], size);
    if (string != EDEN_NONE && size > 0) {
        memcpy(eden_raw(string), bytes, size);
    }
    return frame_new(frame, string);
}

static bool scratch_reserve(struct frame *frame, size_t size) {
    if (size < frame->scratch_size) {
        return true;
    }
    size_t wanted = size * 2 + 64;
    char *scratch = realloc(frame->scratch, wanted);
    if (scratch == NULL) {
        return program_fail(frame->program, "no memory for a cell of %zu bytes", size);
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
            return program_fail(frame->program, "no memory for %zu columns", capacity);
        }
        frame->columns = columns;
        frame->column_capacity = capacity;
    }
    EDEN_FRAME(frame->mutator, local, 1);
    local[0] = bytes_new(frame, SITE_NAME, bytes, size);
    if (local[0] == EDEN_NONE ||
        !list_append(frame, SITE_NAMES, &frame->roots[ROOT_NAMES], frame->column_count, &local[0])) {
        return false;
    }
    frame->columns[frame->column_count++] = (struct column){0};
    return true;
}

static bool add_cell(struct reader *reader, const void *bytes, size_t size) {
    struct frame *frame = reader->frame;
    if (reader->cells >= frame->column_count) {
        return true; /* too many: the end of the record has the number */
    }
    if (reader->cells == 0) {
        frame->roots[ROOT_ROW] =
            frame_new(frame, eden_new_slots(frame->mutator, frame->sites[SITE_ROW], frame->column_count));
        if (frame->roots[ROOT_ROW] == EDEN_NONE) {
            return false;
        }
    }
    if (size == 0) {
        return true;
    }
    eden_value cell = bytes_new(frame, SITE_CELL, bytes, size);
    if (cell == EDEN_NONE) {
        return false;
    }
    eden_slot_set(frame->mutator, frame->roots[ROOT_ROW], reader->cells, cell);
    return scratch_reserve(frame, size) && image_live(frame);
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
        return program_fail(
            frame->program,
            "%s: record %zu (the header is record 1) has %zu fields where the header has %zu: give every "
            "record as many fields as the header, and put fields that hold commas or newlines in quotes",
            reader->file_name, reader->records + 1, reader->cells, frame->column_count);
    }
    if (!list_append(frame, SITE_ROWS, &frame->roots[ROOT_ROWS], frame->row_count, &frame->roots[ROOT_ROW])) {
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
        return program_fail(
            frame->program,
            "%s: record %zu (the header is record 1) is malformed near field %zu: a quote stands in a field that does "
            "not start with one, or a quoted field does not end; put the whole field in quotes and double "
            "the quotes in it",
            reader->file_name, record, reader->cells + 1);
    }
    return program_fail(frame->program, "%s: record %zu: no memory for a field: %s", reader->file_name, record,
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
            return program_fail(reader->frame->program, "%s: can't be read: %m", reader->file_name);
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
        return program_fail(frame->program, "%s: no memory to read it", file_name);
    }
    csv_set_space_func(&parser, no_space);
    bool ok = read_blocks(&reader, &parser, file, block);
    csv_free(&parser);
    free(block);
    if (ok && reader.records == 0) {
        return program_fail(frame->program, "%s: is empty: the first record must name the columns", file_name);
    }
    return ok;
}
