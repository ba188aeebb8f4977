#include "query.h"

/* All are of one type, whether they need the model or not. */

bool metric_size(struct model *model, const eden_value *root, eden_value entity, int64_t *number) {
    (void)model;
    (void)root;
    *number = int_at(entity, TYPE_SIZE);
    return true;
}

bool metric_parts(struct model *model, const eden_value *root, eden_value entity, int64_t *number) {
    (void)model;
    (void)root;
    *number = (int64_t)type_part_count(entity);
    return true;
}

bool metric_nesting(struct model *model, const eden_value *root, eden_value entity, int64_t *number) {
    (void)model;
    (void)root;
    *number = int_at(entity, TYPE_NESTING);
    return true;
}

bool metric_users(struct model *model, const eden_value *root, eden_value entity, int64_t *number) {
    (void)model;
    (void)root;
    *number = (int64_t)entity_user_count(entity);
    return true;
}

bool metric_padding(struct model *model, const eden_value *root, eden_value entity, int64_t *number) {
    (void)root;
    *number = record_padding(model, entity);
    return *number >= 0;
}

bool metric_duplicates(struct model *model, const eden_value *root, eden_value entity, int64_t *number) {
    (void)root;
    enum { ENUM, VALUES, LOCALS };
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[ENUM] = entity;
    local[VALUES] = hashed_new(model, SITE_VALUES);
    if (local[VALUES] == EDEN_NONE) {
        return false;
    }
    for (size_t i = 0; i < type_part_count(local[ENUM]); i++) {
        eden_value value = eden_slot(type_part(local[ENUM], i), ENUM_VALUE);
        if (!set_add(model, SITE_VALUES, local[VALUES], value, NULL)) {
            return false;
        }
    }
    *number = (int64_t)(type_part_count(local[ENUM]) - hashed_size(local[VALUES]));
    return true;
}

bool metric_typedefs(struct model *model, const eden_value *root, eden_value entity, int64_t *number) {
    (void)model;
    (void)root;
    int64_t count = 0;
    for (eden_value type = entity; kind_is_alias(entity_kind(type)); type = entity_target(type)) {
        count += entity_kind(type) == KIND_TYPEDEF ? 1 : 0;
    }
    *number = count;
    return true;
}

int64_t function_arity(eden_value function) { return (int64_t)type_part_count(entity_target(function)); }

bool metric_arity(struct model *model, const eden_value *root, eden_value entity, int64_t *number) {
    (void)model;
    (void)root;
    *number = function_arity(entity);
    return true;
}

int64_t record_attribute_count(eden_value record) { return (int64_t)type_part_count(record); }
