/* From rows of cells to a data frame, in the order of Pharo's library.
 *
 * With n rows and m columns: (1) one Array of n * m cells, filled row by row. (2) The names of the rows, an Array of n.
 * (3) The types of the columns: m Arrays of n, copies of the columns, which are dropped. (4) m Arrays of n once more,
 * kept while, column by column, each cell is tried as a number, until the first that is none; if all are numbers, each
 * is parsed again into a new Array of n, which is then stored into the cells. (5) The names of the rows again: an Array
 * of n, a Set of n that grows by doubling, an Array of n. (6) The types of the columns again.
 *
 * By the memory in FiLiP's Table 4 its program made more large Arrays than that; `copies` are these. (The paper does
 * not give the library's version.)
 *
 * All these Arrays are born old once they have `large_object` bytes. Those of cells refer to young objects only while
 * some of the last rows are young: numbers are immediate. An empty cell is EDEN_NONE, and stays it. */
#include "frame.h"
#include "number.h"

static eden_value new_array(struct frame *frame, enum frame_site site, size_t slots) {
    return frame_new(frame, eden_new_slots(frame->mutator, frame->sites[site], slots));
}

static bool fill_cells(struct frame *frame) {
    frame->roots[ROOT_CELLS] = new_array(frame, SITE_CELLS, frame->row_count * frame->column_count);
    if (frame->roots[ROOT_CELLS] == EDEN_NONE) {
        return false;
    }
    for (size_t row = 0; row < frame->row_count; row++) {
        eden_slots_copy(frame->mutator, frame->roots[ROOT_CELLS], row * frame->column_count,
                        eden_slot(frame->roots[ROOT_ROWS], row), 0, frame->column_count);
    }
    return true;
}

static bool name_rows(struct frame *frame) {
    frame->roots[ROOT_ROW_NAMES] = new_array(frame, SITE_ROW_NAMES, frame->row_count);
    if (frame->roots[ROOT_ROW_NAMES] == EDEN_NONE) {
        return false;
    }
    for (size_t row = 0; row < frame->row_count; row++) {
        eden_slot_set(frame->mutator, frame->roots[ROOT_ROW_NAMES], row, eden_int((int64_t)row + 1));
    }
    return true;
}

/* Adds a name of a row; the set of names is an Array with open addressing by the name, at most half full. */
static void set_add(eden_mutator *m, eden_value set, eden_value name) {
    size_t size = eden_slot_count(set);
    size_t at = (size_t)eden_int_value(name) % size;
    while (eden_slot(set, at) != EDEN_NONE && eden_slot(set, at) != name) {
        at = (at + 1) % size;
    }
    eden_slot_set(m, set, at, name);
}

/* Are all names of rows different? They are; but the library asks. */
static bool check_row_names(struct frame *frame) {
    enum { FIRST_SIZE = 32 };
    eden_mutator *m = frame->mutator;
    EDEN_FRAME(m, local, 1);
    local[0] = new_array(frame, SITE_ROW_SET, FIRST_SIZE);
    for (size_t row = 0; local[0] != EDEN_NONE && row < frame->row_count; row++) {
        size_t size = eden_slot_count(local[0]);
        if (row == size / 2) {
            eden_value larger = new_array(frame, SITE_ROW_SET, size * 2);
            for (size_t i = 0; larger != EDEN_NONE && i < size; i++) {
                eden_value name = eden_slot(local[0], i);
                if (name != EDEN_NONE) {
                    set_add(m, larger, name);
                }
            }
            local[0] = larger;
            if (larger == EDEN_NONE) {
                break;
            }
        }
        set_add(m, local[0], eden_slot(frame->roots[ROOT_ROW_NAMES], row));
    }
    return local[0] != EDEN_NONE;
}

/* *columns, a root, becomes an Array of copies of all columns. */
static bool copy_columns(struct frame *frame, enum frame_site site, eden_value *columns) {
    *columns = new_array(frame, SITE_COLUMNS, frame->column_count);
    for (size_t i = 0; *columns != EDEN_NONE && i < frame->column_count; i++) {
        eden_value column = new_array(frame, site, frame->row_count);
        if (column == EDEN_NONE) {
            return false;
        }
        for (size_t row = 0; row < frame->row_count; row++) {
            eden_slot_set(frame->mutator, column, row, frame_cell(frame, row, i));
        }
        eden_slot_set(frame->mutator, *columns, i, column);
    }
    return *columns != EDEN_NONE;
}

static bool find_types(struct frame *frame) {
    EDEN_FRAME(frame->mutator, local, 1);
    return copy_columns(frame, SITE_TYPE_COLUMN, &local[0]);
}

/* Is each cell of this column that is not empty a number? *is_number says so; false: memory is exhausted. */
static bool try_column(struct frame *frame, const eden_value *column, struct column *found) {
    static const struct parse_sites sites = {SITE_TRY_STREAM, SITE_TRY_PARSER, SITE_TRY_FRACTION};
    found->filled = 0;
    for (size_t row = 0; row < frame->row_count; row++) {
        if (!image_live(frame)) {
            return false;
        }
        eden_value cell = eden_slot(*column, row);
        if (cell == EDEN_NONE) {
            continue;
        }
        switch (number_parse(frame, &sites, cell)) {
        case NUMBER_FAILED:
            return false;
        case NUMBER_NONE:
            return true;
        case NUMBER_PARSED:
            found->filled++;
        }
    }
    found->is_number = found->filled > 0;
    return true;
}

/* *column, a root, becomes a copy of itself. */
static bool copy_column(struct frame *frame, eden_value *column) {
    eden_value copy = new_array(frame, SITE_COLUMN_COPY, frame->row_count);
    if (copy != EDEN_NONE) {
        eden_slots_copy(frame->mutator, copy, 0, *column, 0, frame->row_count);
        *column = copy;
    }
    return copy != EDEN_NONE;
}

/* Parses each cell of column `index` again, into a new Array, which then replaces the cells. */
static bool convert_column(struct frame *frame, size_t index, const eden_value *column) {
    static const struct parse_sites sites = {SITE_CONVERT_STREAM, SITE_CONVERT_PARSER, SITE_CONVERT_FRACTION};
    enum { NUMBERS, CELL, LOCALS };
    eden_mutator *m = frame->mutator;
    EDEN_FRAME(m, local, LOCALS);
    local[NUMBERS] = new_array(frame, SITE_NUMBERS, frame->row_count);
    if (local[NUMBERS] == EDEN_NONE) {
        return false;
    }
    for (size_t row = 0; row < frame->row_count; row++) {
        if (!image_live(frame)) {
            return false;
        }
        local[CELL] = eden_slot(*column, row);
        if (local[CELL] == EDEN_NONE) {
            continue;
        }
        if (number_parse(frame, &sites, local[CELL]) != NUMBER_PARSED) {
            return false;
        }
        eden_value number = number_new(frame, local[CELL]);
        if (number == EDEN_NONE) {
            return false;
        }
        eden_slot_set(m, local[NUMBERS], row, number);
    }
    for (size_t i = 0; i < frame->copies; i++) {
        if (!copy_column(frame, &local[NUMBERS])) {
            return false;
        }
    }
    for (size_t row = 0; row < frame->row_count; row++) {
        eden_slot_set(m, frame->roots[ROOT_CELLS], row * frame->column_count + index, eden_slot(local[NUMBERS], row));
    }
    return true;
}

static bool convert_columns(struct frame *frame) {
    enum { COLUMNS, COLUMN, LOCALS };
    EDEN_FRAME(frame->mutator, local, LOCALS);
    if (!copy_columns(frame, SITE_TRY_COLUMN, &local[COLUMNS])) {
        return false;
    }
    for (size_t i = 0; i < frame->column_count; i++) {
        local[COLUMN] = eden_slot(local[COLUMNS], i);
        if (!try_column(frame, &local[COLUMN], &frame->columns[i]) ||
            (frame->columns[i].is_number && !convert_column(frame, i, &local[COLUMN]))) {
            return false;
        }
    }
    return true;
}

bool frame_build(struct frame *frame) {
    return fill_cells(frame) && name_rows(frame) && find_types(frame) && convert_columns(frame) && name_rows(frame) &&
           check_row_names(frame) && name_rows(frame) && find_types(frame);
}
