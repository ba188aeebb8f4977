/* What is in the columns: sums of numbers, and how many different texts there are, by a hash table beside the heap. No
 * object moves meanwhile, for nothing is allocated on the collector. */
#include "frame.h"
#include "number.h"

#include <stdlib.h>

/* FNV-1a, 64 bits. */
static uint64_t hash_bytes(const unsigned char *bytes, size_t size) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    }
    return hash ^ hash >> 32;
}

static bool same_bytes(eden_value a, eden_value b) {
    size_t size = eden_raw_count(a);
    return size == eden_raw_count(b) && memcmp(eden_raw(a), eden_raw(b), size) == 0;
}

/* Open addressing with linear steps; at most half full. */
static uint64_t count_distinct(const struct frame *frame, size_t column, eden_value *table, size_t size) {
    uint64_t distinct = 0;
    bool has_empty = false;
    for (size_t row = 0; row < frame->row_count; row++) {
        eden_value cell = frame_cell(frame, row, column);
        if (cell == EDEN_NONE) {
            has_empty = true;
            continue;
        }
        size_t at = (size_t)hash_bytes(eden_raw(cell), eden_raw_count(cell)) & (size - 1);
        while (table[at] != EDEN_NONE && !same_bytes(table[at], cell)) {
            at = (at + 1) & (size - 1);
        }
        distinct += table[at] == EDEN_NONE;
        table[at] = cell;
    }
    return distinct + has_empty;
}

/* Plain additions from the first row to the last: the result is the same on every machine. */
static double sum_column(const struct frame *frame, size_t column) {
    double sum = 0.0;
    for (size_t row = 0; row < frame->row_count; row++) {
        eden_value cell = frame_cell(frame, row, column);
        sum = cell == EDEN_NONE ? sum : sum + number_value(cell);
    }
    return sum;
}

bool frame_describe(struct frame *frame) {
    size_t size = 16;
    while (size / 2 < frame->row_count) {
        size *= 2;
    }
    for (size_t i = 0; i < frame->column_count; i++) {
        if (frame->columns[i].is_number) {
            frame->columns[i].sum = sum_column(frame, i);
            continue;
        }
        eden_value *table = calloc(size, sizeof *table);
        if (table == NULL) {
            return program_fail(frame->program, "no memory to count the texts of column %zu", i + 1);
        }
        frame->columns[i].distinct = count_distinct(frame, i, table, size);
        free(table);
    }
    return true;
}
