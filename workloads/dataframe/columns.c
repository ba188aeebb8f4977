/* From rows of cells to typed columns: the second pass.
 *
 * Every cell is parsed again, and its value is written to its column: a double into a raw array, or a reference to the
 * cell's string. A column of more than the heap's `large_object` bytes is born old, so that the text columns are what
 * a remembered set has to cope with. An empty cell of a number column is NaN, which no text parses to. */
#include "frame.h"
#include "number.h"

#include <math.h>

enum { CELL, COLUMN, LOCALS };

static eden_value cell_at(const struct frame *frame, size_t row, size_t column) {
    return eden_slot(eden_slot(frame->roots[ROOT_ROWS], row), column);
}

static bool fill_numbers(struct frame *frame, size_t index, eden_value *local) {
    eden_mutator *m = frame->mutator;
    local[COLUMN] = eden_new_raw(m, frame->sites->number_column, frame->row_count);
    if (local[COLUMN] == EDEN_NONE) {
        return frame_fail_memory(frame);
    }
    for (size_t row = 0; row < frame->row_count; row++) {
        local[CELL] = cell_at(frame, row, index);
        eden_value fraction = number_parse(m, &frame->sites->convert, local[CELL]);
        if (fraction == EDEN_NONE) {
            return frame_fail_memory(frame);
        }
        double *values = eden_raw(local[COLUMN]);
        values[row] =
            number_kind(fraction) == NUMBER_NONE ? (double)NAN : number_value(fraction, local[CELL], frame->scratch);
    }
    return true;
}

static bool fill_text(struct frame *frame, size_t index, eden_value *local) {
    eden_mutator *m = frame->mutator;
    local[COLUMN] = eden_new_slots(m, frame->sites->text_column, frame->row_count);
    if (local[COLUMN] == EDEN_NONE) {
        return frame_fail_memory(frame);
    }
    for (size_t row = 0; row < frame->row_count; row++) {
        local[CELL] = cell_at(frame, row, index);
        if (number_parse(m, &frame->sites->convert, local[CELL]) == EDEN_NONE) {
            return frame_fail_memory(frame);
        }
        eden_slot_set(m, local[COLUMN], row, local[CELL]);
    }
    return true;
}

/* Plain additions from the first row to the last: the result is the same on every machine. */
static double column_sum(eden_value column) {
    const double *values = eden_raw(column);
    size_t count = eden_raw_count(column);
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        sum = isnan(values[i]) ? sum : sum + values[i];
    }
    return sum;
}

static bool build_column(struct frame *frame, size_t index) {
    struct column *column = &frame->columns[index];
    EDEN_FRAME(frame->mutator, local, LOCALS);
    if (!(column_is_number(column) ? fill_numbers(frame, index, local) : fill_text(frame, index, local))) {
        return false;
    }
    eden_slot_set(frame->mutator, eden_slot(frame->roots[ROOT_FRAME], FRAME_COLUMNS), index, local[COLUMN]);
    if (column_is_number(column)) {
        column->sum = column_sum(local[COLUMN]);
        return true;
    }
    return frame_count_distinct(frame, local[COLUMN], &column->distinct);
}

bool frame_build(struct frame *frame) {
    eden_mutator *m = frame->mutator;
    frame->roots[ROOT_FRAME] = eden_new(m, frame->sites->frame);
    if (frame->roots[ROOT_FRAME] == EDEN_NONE) {
        return frame_fail_memory(frame);
    }
    eden_slot_set(m, frame->roots[ROOT_FRAME], FRAME_NAMES, frame->roots[ROOT_NAMES]);
    eden_value columns = eden_new_slots(m, frame->sites->columns, frame->column_count);
    if (columns == EDEN_NONE) {
        return frame_fail_memory(frame);
    }
    eden_slot_set(m, frame->roots[ROOT_FRAME], FRAME_COLUMNS, columns);
    for (size_t i = 0; i < frame->column_count; i++) {
        if (!build_column(frame, i)) {
            return false;
        }
    }
    frame->roots[ROOT_ROWS] = EDEN_NONE;
    return true;
}
