/* Holes in structs: the bits that no attribute takes, the tail included.
 *
 * Attributes are taken in the order of the declaration, each as the interval of bits [offset, offset + bits) that it
 * occupies; `bits` are those of a bit field, else 8 times the size of its type. From `end` = 0,
 *
 *     padding += max(0, start - end);   end = max(end, stop)
 *
 * for each, and at last padding += max(0, 8 * size - end). A union has no holes. */
#include "entity.h"

static eden_value bit_interval(struct model *model, eden_value attribute) {
    EDEN_FRAME(model->mutator, local, 1);
    local[0] = attribute;
    eden_value interval = object_new(model, SITE_INTERVAL);
    if (interval != EDEN_NONE) {
        int64_t start = int_at(local[0], ATTRIBUTE_OFFSET);
        int_at_put(model->mutator, interval, INTERVAL_START, start);
        int_at_put(model->mutator, interval, INTERVAL_STOP, start + attribute_bits(local[0]));
    }
    return interval;
}

/* Negative: the heap is exhausted. *record is a root. */
static int64_t padding_of(struct model *model, const eden_value *record) {
    int64_t padding = 0;
    int64_t end = 0;
    for (size_t i = 0; i < type_part_count(*record); i++) {
        eden_value interval = bit_interval(model, type_part(*record, i));
        if (interval == EDEN_NONE) {
            return -1;
        }
        int64_t start = int_at(interval, INTERVAL_START);
        int64_t stop = int_at(interval, INTERVAL_STOP);
        padding += start > end ? start - end : 0;
        end = stop > end ? stop : end;
    }
    int64_t bits = 8 * int_at(*record, TYPE_SIZE);
    return padding + (bits > end ? bits - end : 0);
}

int64_t record_padding(struct model *model, eden_value record) {
    if (entity_kind(record) == KIND_UNION) {
        return 0;
    }
    EDEN_FRAME(model->mutator, local, 1);
    local[0] = record;
    eden_value state = record_state(model, local[0]);
    if (state == EDEN_NONE) {
        return -1;
    }
    if (eden_slot(state, STATE_PADDING) != EDEN_NONE) {
        return int_at(state, STATE_PADDING);
    }
    int64_t padding = padding_of(model, &local[0]);
    if (padding >= 0) {
        int_at_put(model->mutator, eden_slot(local[0], RECORD_STATE), STATE_PADDING, padding);
    }
    return padding;
}
