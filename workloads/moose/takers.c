/* Functions by what they take, in the two directions that the model knows.
 *
 * record_takers goes backwards along incoming references: from the record to its aliases (typedefs, qualifiers), to
 * pointers to any of these, to the pointers' aliases, to parameters of such a type, to the function type that owns the
 * parameter, and to the functions of this type. functions_about goes forwards, from every function to the records of
 * its parameters. */
#include "query.h"

enum { SET, TAKERS, OUTER, INNER, TYPE, POINTER, LOCALS };

/* Functions of the function type that owns the parameter. local is the caller's frame. */
static bool add_functions(struct model *model, const eden_value *local, eden_value parameter) {
    enum { OWNER, FUNCTION, SLOTS };
    EDEN_FRAME(model->mutator, own, SLOTS);
    own[OWNER] = eden_slot(parameter, PART_OWNER);
    for (size_t i = 0; i < entity_user_count(own[OWNER]); i++) {
        own[FUNCTION] = entity_source(own[OWNER], i);
        bool added = false;
        if (entity_kind(own[FUNCTION]) != KIND_FUNCTION) {
            continue;
        }
        if (!set_add(model, SITE_TAKER_SET, local[SET], own[FUNCTION], &added) ||
            (added && !list_add(model, SITE_TAKERS, local[TAKERS], own[FUNCTION]))) {
            return false;
        }
    }
    return true;
}

/* Functions with a parameter of the type local[POINTER] or an alias of it. */
static bool add_pointer(struct model *model, eden_value *local) {
    local[INNER] = type_aliases(model, local[POINTER]);
    if (local[INNER] == EDEN_NONE) {
        return false;
    }
    for (size_t i = 0; i < list_size(local[INNER]); i++) {
        local[POINTER] = list_at(local[INNER], i);
        for (size_t at = 0; at < entity_user_count(local[POINTER]); at++) {
            eden_value source = entity_source(local[POINTER], at);
            if (entity_kind(source) == KIND_PARAMETER && !add_functions(model, local, source)) {
                return false;
            }
        }
    }
    return true;
}

eden_value record_takers(struct model *model, eden_value record) {
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[TYPE] = record;
    if ((local[SET] = hashed_new(model, SITE_TAKER_SET)) == EDEN_NONE ||
        (local[TAKERS] = list_new(model, SITE_TAKERS, 0)) == EDEN_NONE ||
        (local[OUTER] = type_aliases(model, local[TYPE])) == EDEN_NONE) {
        return EDEN_NONE;
    }
    for (size_t i = 0; i < list_size(local[OUTER]); i++) {
        local[TYPE] = list_at(local[OUTER], i);
        for (size_t at = 0; at < entity_user_count(local[TYPE]); at++) {
            local[POINTER] = entity_source(local[TYPE], at);
            if (entity_kind(local[POINTER]) == KIND_POINTER && !add_pointer(model, local)) {
                return EDEN_NONE;
            }
        }
    }
    return local[TAKERS];
}

/* The record of each parameter, EDEN_NONE where it has none. May collect. */
static eden_value parameter_types(struct model *model, eden_value function) {
    EDEN_FRAME(model->mutator, local, 1);
    local[0] = entity_target(function);
    eden_value types = array_new(model, SITE_PARAMETER_TYPES, type_part_count(local[0]));
    if (types == EDEN_NONE) {
        return EDEN_NONE;
    }
    for (size_t i = 0; i < type_part_count(local[0]); i++) {
        eden_slot_set(model->mutator, types, i, type_record(entity_target(type_part(local[0], i))));
    }
    return types;
}

static bool any_in(struct model *model, eden_value array, eden_value set) {
    for (size_t i = 0; i < eden_slot_count(array); i++) {
        eden_value item = eden_slot(array, i);
        if (item != EDEN_NONE && set_find(model, set, item) != EDEN_NONE) {
            return true;
        }
    }
    return false;
}

eden_value functions_about(struct model *model, eden_value set) {
    enum { RECORDS, RESULT, FUNCTIONS, FUNCTION, SLOTS };
    EDEN_FRAME(model->mutator, local, SLOTS);
    local[RECORDS] = set;
    local[FUNCTIONS] = model_group(model, KIND_FUNCTION);
    local[RESULT] = list_new(model, SITE_SELECTED, 0);
    if (local[RESULT] == EDEN_NONE) {
        return EDEN_NONE;
    }
    for (size_t i = 0; i < list_size(local[FUNCTIONS]); i++) {
        local[FUNCTION] = list_at(local[FUNCTIONS], i);
        eden_value types = parameter_types(model, local[FUNCTION]);
        if (types == EDEN_NONE) {
            return EDEN_NONE;
        }
        if (any_in(model, types, local[RECORDS]) && !list_add(model, SITE_SELECTED, local[RESULT], local[FUNCTION])) {
            return EDEN_NONE;
        }
    }
    return local[RESULT];
}
