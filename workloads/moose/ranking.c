#include "query.h"

/* By number, the largest first; then by id. */
static bool ranks_before(eden_value a, eden_value b) {
    int64_t number_a = int_at(a, PAIR_KEY);
    int64_t number_b = int_at(b, PAIR_KEY);
    return number_a != number_b ? number_a > number_b
                                : entity_id(eden_slot(a, PAIR_VALUE)) < entity_id(eden_slot(b, PAIR_VALUE));
}

eden_value ranking_new(struct model *model) { return list_new(model, SITE_RANKED, 0); }

bool ranking_add(struct model *model, eden_value ranking, int64_t number, eden_value entity) {
    EDEN_FRAME(model->mutator, local, 1);
    local[0] = ranking;
    eden_value pair = pair_new(model, SITE_RANKED_PAIR, eden_int(number), entity);
    return pair != EDEN_NONE && list_add(model, SITE_RANKED, local[0], pair);
}

bool ranking_add_all(struct model *model, eden_value ranking, eden_value list, ranking_metric *metric,
                     const eden_value *root) {
    enum { RANKING, LIST, ENTITY, LOCALS };
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[RANKING] = ranking;
    local[LIST] = list;
    for (size_t i = 0; i < list_size(local[LIST]); i++) {
        local[ENTITY] = list_at(local[LIST], i);
        int64_t number = 0;
        if (!metric(model, root, local[ENTITY], &number) ||
            (number > 0 && !ranking_add(model, local[RANKING], number, local[ENTITY]))) {
            return false;
        }
    }
    return true;
}

/* Adds the row of an association to a list; both are roots. */
static bool add_row(struct model *model, const eden_value *rows, const eden_value *pair) {
    enum { ID, NAME, NUMBER, COLUMNS };
    eden_value row = array_new(model, SITE_ROW, COLUMNS);
    if (row == EDEN_NONE) {
        return false;
    }
    eden_value entity = eden_slot(*pair, PAIR_VALUE);
    eden_slot_set(model->mutator, row, ID, eden_slot(entity, ENTITY_ID));
    eden_slot_set(model->mutator, row, NAME, eden_slot(entity, ENTITY_NAME));
    eden_slot_set(model->mutator, row, NUMBER, eden_slot(*pair, PAIR_KEY));
    return list_add(model, SITE_ROWS, *rows, row);
}

bool ranking_put(struct model *model, eden_value report, const char *name, eden_value ranking) {
    enum { REPORT, SORTED, ROWS, PAIR, LOCALS };
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[REPORT] = report;
    local[SORTED] = list_sorted(model, ranking, ranks_before);
    if (local[SORTED] == EDEN_NONE || (local[ROWS] = list_new(model, SITE_ROWS, 0)) == EDEN_NONE) {
        return false;
    }
    for (size_t i = 0; i < model->top && i < eden_slot_count(local[SORTED]); i++) {
        local[PAIR] = eden_slot(local[SORTED], i);
        if (!add_row(model, &local[ROWS], &local[PAIR])) {
            return false;
        }
    }
    return report_put(model, local[REPORT], name, local[ROWS]);
}

bool ranking_put_all(struct model *model, eden_value report, const char *name, eden_value list, ranking_metric *metric,
                     const eden_value *root) {
    enum { REPORT, LIST, RANKING, LOCALS };
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[REPORT] = report;
    local[LIST] = list;
    local[RANKING] = ranking_new(model);
    return local[RANKING] != EDEN_NONE && ranking_add_all(model, local[RANKING], local[LIST], metric, root) &&
           ranking_put(model, local[REPORT], name, local[RANKING]);
}
