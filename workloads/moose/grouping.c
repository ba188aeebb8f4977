#include "query.h"

enum { REPORT, LIST, GROUPS, ENTITY, GROUP, LOCALS };

static bool key_before(eden_value a, eden_value b) { return int_at(a, PAIR_KEY) < int_at(b, PAIR_KEY); }

/* Of associations from a name to how often it occurs: the most frequent first, then by the bytes of the name. */
static bool more_frequent(eden_value a, eden_value b) {
    int64_t count_a = int_at(a, PAIR_VALUE);
    int64_t count_b = int_at(b, PAIR_VALUE);
    if (count_a != count_b) {
        return count_a > count_b;
    }
    eden_value name_a = eden_slot(a, PAIR_KEY);
    eden_value name_b = eden_slot(b, PAIR_KEY);
    size_t size_a = eden_raw_count(name_a);
    size_t size_b = eden_raw_count(name_b);
    int order = memcmp(eden_raw(name_a), eden_raw(name_b), size_a < size_b ? size_a : size_b);
    return order != 0 ? order < 0 : size_a < size_b;
}

/* Puts the first `most` of an Array of associations as rows [key, count]. A value that is a list counts its items. */
static bool put_rows(struct model *model, eden_value report, const char *name, eden_value sorted, size_t most) {
    enum { SORTED, ROWS, ROW, RESULT, SLOTS };
    EDEN_FRAME(model->mutator, local, SLOTS);
    local[SORTED] = sorted;
    local[RESULT] = report;
    local[ROWS] = list_new(model, SITE_ROWS, 0);
    if (local[ROWS] == EDEN_NONE) {
        return false;
    }
    for (size_t i = 0; i < most && i < eden_slot_count(local[SORTED]); i++) {
        local[ROW] = array_new(model, SITE_ROW, PAIR_SLOTS);
        if (local[ROW] == EDEN_NONE) {
            return false;
        }
        eden_value pair = eden_slot(local[SORTED], i);
        eden_value value = eden_slot(pair, PAIR_VALUE);
        value = eden_is_int(value) ? value : eden_int((int64_t)list_size(value));
        eden_slot_set(model->mutator, local[ROW], PAIR_KEY, eden_slot(pair, PAIR_KEY));
        eden_slot_set(model->mutator, local[ROW], PAIR_VALUE, value);
        if (!list_add(model, SITE_ROWS, local[ROWS], local[ROW])) {
            return false;
        }
    }
    return report_put(model, local[RESULT], name, local[ROWS]);
}

/* Adds the entity to the group of its key. local is the caller's frame. */
static bool group(struct model *model, eden_value *local, eden_value key) {
    eden_value pair = dictionary_find(model, local[GROUPS], key);
    if (pair == EDEN_NONE) {
        local[GROUP] = list_new(model, SITE_GROUPED_LIST, 0);
        if (local[GROUP] == EDEN_NONE ||
            dictionary_add(model, SITE_GROUPED, local[GROUPS], key, local[GROUP]) == EDEN_NONE) {
            return false;
        }
    } else {
        local[GROUP] = eden_slot(pair, PAIR_VALUE);
    }
    return list_add(model, SITE_GROUPED_LIST, local[GROUP], local[ENTITY]);
}

bool grouping_put(struct model *model, eden_value report, const char *name, eden_value list, grouping_key *key) {
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[REPORT] = report;
    local[LIST] = list;
    local[GROUPS] = hashed_new(model, SITE_GROUPED);
    if (local[GROUPS] == EDEN_NONE) {
        return false;
    }
    for (size_t i = 0; i < list_size(local[LIST]); i++) {
        local[ENTITY] = list_at(local[LIST], i);
        if (!group(model, local, eden_int(key(local[ENTITY])))) {
            return false;
        }
    }
    local[LIST] = dictionary_pairs(model, local[GROUPS]);
    if (local[LIST] == EDEN_NONE || (local[LIST] = list_sorted(model, local[LIST], key_before)) == EDEN_NONE) {
        return false;
    }
    return put_rows(model, local[REPORT], name, local[LIST], SIZE_MAX);
}

eden_value names_bag(struct model *model, eden_value list) {
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[LIST] = list;
    local[GROUPS] = hashed_new(model, SITE_BAG);
    if (local[GROUPS] == EDEN_NONE) {
        return EDEN_NONE;
    }
    for (size_t i = 0; i < list_size(local[LIST]); i++) {
        eden_value name = eden_slot(list_at(local[LIST], i), ENTITY_NAME);
        eden_value pair = dictionary_find(model, local[GROUPS], name);
        if (pair != EDEN_NONE) {
            int_at_put(model->mutator, pair, PAIR_VALUE, int_at(pair, PAIR_VALUE) + 1);
        } else if (dictionary_add(model, SITE_BAG, local[GROUPS], name, eden_int(1)) == EDEN_NONE) {
            return EDEN_NONE;
        }
    }
    return local[GROUPS];
}

bool names_put(struct model *model, eden_value report, const char *name, eden_value bag) {
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[REPORT] = report;
    local[LIST] = dictionary_pairs(model, bag);
    if (local[LIST] == EDEN_NONE || (local[LIST] = list_sorted(model, local[LIST], more_frequent)) == EDEN_NONE) {
        return false;
    }
    return put_rows(model, local[REPORT], name, local[LIST], model->top);
}
