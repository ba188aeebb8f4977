/* Merge sort from the bottom up (as in Knuth, The Art of Computer Programming 3, 1973, 5.2.4), between two Arrays: runs
 * of 1, 2, 4, ... items are merged from one into the other, which then change places. Stable. Comparisons do not
 * collect, so that once both Arrays are there nothing moves. */
#include "collection.h"

/* Merges from[left, middle) and from[middle, right) into to[left, right). */
static void merge(eden_mutator *m, eden_value from, eden_value to, size_t left, size_t middle, size_t right,
                  list_precedes *precedes) {
    size_t a = left;
    size_t b = middle;
    for (size_t at = left; at < right; at++) {
        bool takes_b = b < right && (a >= middle || precedes(eden_slot(from, b), eden_slot(from, a)));
        eden_slot_set(m, to, at, eden_slot(from, takes_b ? b++ : a++));
    }
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Returns that of the two Arrays in which the sorted items are. Does not collect. */
static eden_value merge_sort(eden_mutator *m, eden_value from, eden_value to, size_t size, list_precedes *precedes) {
    for (size_t run = 1; run < size; run *= 2) {
        for (size_t left = 0; left < size; left += 2 * run) {
            merge(m, from, to, left, least(left + run, size), least(left + 2 * run, size), precedes);
        }
        eden_value swap = from;
        from = to;
        to = swap;
    }
    return from;
}

eden_value list_sorted(struct model *model, eden_value list, list_precedes *precedes) {
    enum { LIST, ARRAY, LOCALS };
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[LIST] = list;
    size_t size = list_size(list);
    local[ARRAY] = array_new(model, SITE_SORTED, size);
    if (local[ARRAY] == EDEN_NONE) {
        return EDEN_NONE;
    }
    for (size_t i = 0; i < size; i++) {
        eden_slot_set(model->mutator, local[ARRAY], i, list_at(local[LIST], i));
    }
    eden_value scratch = array_new(model, SITE_SCRATCH, size);
    return scratch == EDEN_NONE ? EDEN_NONE : merge_sort(model->mutator, local[ARRAY], scratch, size, precedes);
}
