/* full.headroom: columns of 18 MB are made, one after the other, beside an index of small objects.
 *
 * No free chunk holds a column, so each starts a full collection, which marks the index and frees nothing; then just
 * the column's memory is asked of the system, as grow_headroom is less, and the next column finds no chunk again. Cure:
 * grow_headroom=512M (all columns in one segment, one full collection).
 *
 * The near miss makes the same columns with that headroom. */
#include "all.h"
#include "parts.h"

enum { COLUMNS = 24, COLUMN_WORDS = 18 * 1024 * 1024 / 8, STRIDE = 4096, INDEXED = 50000 };
enum { ROOT_INDEX, ROOT_FRAME, ROOTS };

/* Its first word of each stretch is written and read; the rest is room to grow. */
static uint64_t column_word(int column, size_t i) { return (uint64_t)column << 32 | i; }

static void fill(eden_value words, int column) {
    uint64_t *raw = eden_raw(words);
    for (size_t i = 0; i < COLUMN_WORDS; i += STRIDE) {
        raw[i] = column_word(column, i);
    }
}

static bool check(struct run *run, eden_value words, int column) {
    const uint64_t *raw = eden_raw(words);
    for (size_t i = 0; i < COLUMN_WORDS; i += STRIDE) {
        if (raw[i] != column_word(column, i)) {
            return program_fail(run->program, "column %d is not what was written", column);
        }
    }
    return true;
}

static bool make_columns(struct run *run) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct request parsing = {
        .site = part_site(run, CLASS_TEXT, "Column>>parse:"), .texts = 8000, .bytes = 120, .readings = 15};
    eden_class frame = part_site(run, CLASS_ARRAY, "DataFrame class>>new:");
    eden_class column = part_site(run, CLASS_WORDS, "Column class>>new:");
    if (parsing.site == 0 || frame == 0 || column == 0 || !index_build(run, &roots[ROOT_INDEX], INDEXED, 40) ||
        !table_new(run, &roots[ROOT_FRAME], frame, COLUMNS)) {
        return false;
    }
    for (int i = 0; i < COLUMNS; i++) {
        eden_value words = eden_new_raw(run->mutator, column, COLUMN_WORDS);
        if (words == EDEN_NONE) {
            return program_exhausted(run->program, run->mutator);
        }
        eden_slot_set(run->mutator, roots[ROOT_FRAME], (size_t)i, words);
        fill(words, i);
        if (!request_serve(run, &parsing)) {
            return false;
        }
    }
    for (int i = 0; i < COLUMNS; i++) {
        if (!check(run, eden_slot(roots[ROOT_FRAME], (size_t)i), i)) {
            return false;
        }
    }
    return index_check(run, roots[ROOT_INDEX]) && program_verify(run->program, run->mutator);
}

const struct pattern full_headroom = {"full.headroom", "makes large columns, each larger than the headroom",
                                      "tenure_criterion=site", "heap.grows", make_columns};
const struct pattern full_headroom_near = {"full.headroom-near", "the same columns, with headroom for all of them",
                                           "tenure_criterion=site,grow_headroom=512M", NULL, make_columns};
