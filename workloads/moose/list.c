#include "collection.h"

enum { LIST, ITEM, LOCALS };
enum { FIRST_CAPACITY = 4 };

eden_value list_new(struct model *model, enum site site, size_t capacity) {
    EDEN_FRAME(model->mutator, local, 1);
    local[LIST] = object_new(model, site);
    if (local[LIST] == EDEN_NONE) {
        return EDEN_NONE;
    }
    int_at_put(model->mutator, local[LIST], LIST_SIZE, 0);
    eden_value array = array_new(model, site + 1, capacity == 0 ? FIRST_CAPACITY : capacity);
    if (array == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_slot_set(model->mutator, local[LIST], LIST_ARRAY, array);
    return local[LIST];
}

/* Twice the capacity. */
static bool grow(struct model *model, enum site site, const eden_value *list) {
    size_t size = list_size(*list);
    eden_value larger = array_new(model, site + 1, 2 * size);
    if (larger == EDEN_NONE) {
        return false;
    }
    eden_value array = eden_slot(*list, LIST_ARRAY);
    for (size_t i = 0; i < size; i++) {
        eden_slot_set(model->mutator, larger, i, eden_slot(array, i));
    }
    eden_slot_set(model->mutator, *list, LIST_ARRAY, larger);
    return true;
}

static void append(struct model *model, eden_value list, eden_value item) {
    size_t size = list_size(list);
    eden_slot_set(model->mutator, eden_slot(list, LIST_ARRAY), size, item);
    int_at_put(model->mutator, list, LIST_SIZE, (int64_t)size + 1);
}

bool list_add(struct model *model, enum site site, eden_value list, eden_value item) {
    if (list_size(list) < eden_slot_count(eden_slot(list, LIST_ARRAY))) {
        append(model, list, item);
        return true;
    }
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[LIST] = list;
    local[ITEM] = item;
    if (!grow(model, site, &local[LIST])) {
        return false;
    }
    append(model, local[LIST], local[ITEM]);
    return true;
}

eden_value list_remove_last(struct model *model, eden_value list) {
    size_t last = list_size(list) - 1;
    eden_value item = list_at(list, last);
    eden_slot_set(model->mutator, eden_slot(list, LIST_ARRAY), last, EDEN_NONE);
    int_at_put(model->mutator, list, LIST_SIZE, (int64_t)last);
    return item;
}
