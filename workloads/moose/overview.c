/* Queries of the whole model, once: how many entities of each kind, and who leads the rankings. */
#include "query.h"

static const char *const kind_names[KINDS] = {
#define KIND(constant, name, class, slots, site) name,
#include "classes.def"
};

static bool put_counts(struct model *model) {
    EDEN_FRAME(model->mutator, local, 1);
    local[0] = report_new(model);
    if (local[0] == EDEN_NONE) {
        return false;
    }
    int64_t entities = 0;
    int64_t references = 0;
    /* Before the report's own names join the symbols. */
    int64_t symbols = (int64_t)hashed_size(eden_slot(model->roots[ROOT_MODEL], MODEL_SYMBOLS));
    eden_value types = eden_slot(model->roots[ROOT_MODEL], MODEL_TYPES);
    for (size_t i = 0; i < eden_slot_count(types); i++) {
        references += (int64_t)entity_user_count(eden_slot(types, i));
    }
    for (size_t kind = 0; kind < KINDS; kind++) {
        int64_t count = (int64_t)list_size(model_group(model, (enum kind)kind));
        entities += count;
        if (!report_put(model, local[0], kind_names[kind], eden_int(count))) {
            return false;
        }
    }
    eden_value *report = &model->roots[ROOT_REPORT];
    return report_put(model, *report, "entities", eden_int(entities)) &&
           report_put(model, *report, "references", eden_int(references)) &&
           report_put(model, *report, "symbols", eden_int(symbols)) && report_put(model, *report, "counts", local[0]);
}

/* A ranking of the entities of the kinds from `first` to `last`. */
static bool put_ranking(struct model *model, const char *name, enum kind first, enum kind last,
                        ranking_metric *metric) {
    EDEN_FRAME(model->mutator, local, 1);
    local[0] = ranking_new(model);
    if (local[0] == EDEN_NONE) {
        return false;
    }
    for (size_t kind = first; kind <= last; kind++) {
        if (!ranking_add_all(model, local[0], model_group(model, (enum kind)kind), metric, NULL)) {
            return false;
        }
    }
    return ranking_put(model, model->roots[ROOT_REPORT], name, local[0]);
}

static bool put_padding(struct model *model) {
    int64_t total = 0;
    for (size_t i = 0; i < list_size(model_group(model, KIND_STRUCT)); i++) {
        int64_t padding = record_padding(model, list_at(model_group(model, KIND_STRUCT), i));
        if (padding < 0) {
            return false;
        }
        total += padding;
    }
    return report_put(model, model->roots[ROOT_REPORT], "padding", eden_int(total)) &&
           put_ranking(model, "most padding", KIND_STRUCT, KIND_STRUCT, metric_padding);
}

static bool put_names(struct model *model) {
    eden_value bag = names_bag(model, model_group(model, KIND_ATTRIBUTE));
    return bag != EDEN_NONE && names_put(model, model->roots[ROOT_REPORT], "most frequent attribute names", bag);
}

/* Structs and unions in one list. */
static bool put_cycles(struct model *model) {
    EDEN_FRAME(model->mutator, local, 1);
    local[0] = list_new(model, SITE_SELECTED, 0);
    if (local[0] == EDEN_NONE) {
        return false;
    }
    for (size_t kind = KIND_STRUCT; kind <= KIND_UNION; kind++) {
        for (size_t i = 0; i < list_size(model_group(model, (enum kind)kind)); i++) {
            if (!list_add(model, SITE_SELECTED, local[0], list_at(model_group(model, (enum kind)kind), i))) {
                return false;
            }
        }
    }
    return cycles_put(model, model->roots[ROOT_REPORT], local[0]);
}

bool overview_run(struct model *model) {
    return put_counts(model) && put_ranking(model, "largest structs", KIND_STRUCT, KIND_STRUCT, metric_size) &&
           put_ranking(model, "most attributes", KIND_STRUCT, KIND_UNION, metric_parts) &&
           put_ranking(model, "deepest nesting", KIND_STRUCT, KIND_UNION, metric_nesting) &&
           put_ranking(model, "most used types", KIND_STRUCT, KIND_ARRAY, metric_users) &&
           put_ranking(model, "most duplicate values", KIND_ENUM, KIND_ENUM, metric_duplicates) &&
           put_ranking(model, "longest typedef chains", KIND_TYPEDEF, KIND_TYPEDEF, metric_typedefs) &&
           put_padding(model) && put_names(model) &&
           grouping_put(model, model->roots[ROOT_REPORT], "functions by parameters", model_group(model, KIND_FUNCTION),
                        function_arity) &&
           put_cycles(model);
}
