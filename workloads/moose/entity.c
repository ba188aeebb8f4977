#include "entity.h"

eden_value type_stripped(eden_value type) {
    while (kind_is_alias(entity_kind(type))) {
        type = entity_target(type);
    }
    return type;
}

eden_value type_record(eden_value type) {
    for (;;) {
        enum kind kind = entity_kind(type);
        if (kind_is_record(kind)) {
            return type;
        }
        if (!kind_is_alias(kind) && kind != KIND_POINTER && kind != KIND_ARRAY) {
            return EDEN_NONE;
        }
        type = entity_target(type);
    }
}

int64_t attribute_bits(eden_value attribute) {
    int64_t bits = int_at(attribute, ATTRIBUTE_BITS);
    return bits > 0 ? bits : 8 * int_at(entity_target(attribute), TYPE_SIZE);
}

eden_value record_state(struct model *model, eden_value record) {
    eden_value state = eden_slot(record, RECORD_STATE);
    if (state != EDEN_NONE) {
        return state;
    }
    EDEN_FRAME(model->mutator, local, 1);
    local[0] = record;
    state = object_new(model, SITE_STATE);
    if (state != EDEN_NONE) {
        eden_slot_set(model->mutator, local[0], RECORD_STATE, state);
    }
    return state;
}

/* Adds a record to a list unless the set says that it is there. set and list are roots. */
static bool add_once(struct model *model, enum site set_site, const eden_value *set, enum site list_site,
                     const eden_value *list, eden_value record) {
    bool added = false;
    EDEN_FRAME(model->mutator, local, 1);
    local[0] = record;
    return set_add(model, set_site, *set, local[0], &added) && (!added || list_add(model, list_site, *list, local[0]));
}

enum { RECORD, SET, RESULT, QUEUE, LOCALS };

/* Keeps a result in the record's state. */
static eden_value keep(struct model *model, const eden_value *local, size_t slot) {
    eden_value state = record_state(model, local[RECORD]);
    if (state == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_slot_set(model->mutator, state, slot, local[RESULT]);
    return local[RESULT];
}

/* What was kept, or EDEN_NONE. */
static eden_value kept(eden_value record, size_t slot) {
    eden_value state = eden_slot(record, RECORD_STATE);
    return state == EDEN_NONE ? EDEN_NONE : eden_slot(state, slot);
}

eden_value record_providers(struct model *model, eden_value record) {
    eden_value known = kept(record, STATE_PROVIDERS);
    if (known != EDEN_NONE) {
        return known;
    }
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[RECORD] = record;
    local[SET] = hashed_new(model, SITE_PROVIDER_SET);
    if (local[SET] == EDEN_NONE || (local[RESULT] = list_new(model, SITE_PROVIDERS, 0)) == EDEN_NONE) {
        return EDEN_NONE;
    }
    for (size_t i = 0; i < type_part_count(local[RECORD]); i++) {
        eden_value provider = type_record(entity_target(type_part(local[RECORD], i)));
        if (provider != EDEN_NONE &&
            !add_once(model, SITE_PROVIDER_SET, &local[SET], SITE_PROVIDERS, &local[RESULT], provider)) {
            return EDEN_NONE;
        }
    }
    return keep(model, local, STATE_PROVIDERS);
}

/* Goes through what refers to the type: aliases, arrays and pointers, which have one target each and so are met but
 * once, join the queue; owners of attributes are clients. */
static bool add_clients(struct model *model, eden_value *local, eden_value type) {
    EDEN_FRAME(model->mutator, current, 1);
    current[0] = type;
    for (size_t i = 0; i < entity_user_count(current[0]); i++) {
        eden_value source = entity_source(current[0], i);
        enum kind kind = entity_kind(source);
        bool ok = true;
        if (kind_is_alias(kind) || kind == KIND_ARRAY || kind == KIND_POINTER) {
            ok = list_add(model, SITE_ALIASES, local[QUEUE], source);
        } else if (kind == KIND_ATTRIBUTE) {
            ok = add_once(model, SITE_CLIENT_SET, &local[SET], SITE_CLIENTS, &local[RESULT],
                          eden_slot(source, PART_OWNER));
        }
        if (!ok) {
            return false;
        }
    }
    return true;
}

eden_value record_clients(struct model *model, eden_value record) {
    eden_value known = kept(record, STATE_CLIENTS);
    if (known != EDEN_NONE) {
        return known;
    }
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[RECORD] = record;
    if ((local[SET] = hashed_new(model, SITE_CLIENT_SET)) == EDEN_NONE ||
        (local[RESULT] = list_new(model, SITE_CLIENTS, 0)) == EDEN_NONE ||
        (local[QUEUE] = list_new(model, SITE_ALIASES, 0)) == EDEN_NONE ||
        !list_add(model, SITE_ALIASES, local[QUEUE], local[RECORD])) {
        return EDEN_NONE;
    }
    for (size_t i = 0; i < list_size(local[QUEUE]); i++) {
        if (!add_clients(model, local, list_at(local[QUEUE], i))) {
            return EDEN_NONE;
        }
    }
    return keep(model, local, STATE_CLIENTS);
}

eden_value type_aliases(struct model *model, eden_value type) {
    enum { TYPE, ALIASES, SLOTS };
    EDEN_FRAME(model->mutator, local, SLOTS);
    local[TYPE] = type;
    local[ALIASES] = list_new(model, SITE_ALIASES, 0);
    if (local[ALIASES] == EDEN_NONE || !list_add(model, SITE_ALIASES, local[ALIASES], local[TYPE])) {
        return EDEN_NONE;
    }
    for (size_t i = 0; i < list_size(local[ALIASES]); i++) {
        local[TYPE] = list_at(local[ALIASES], i);
        for (size_t at = 0; at < entity_user_count(local[TYPE]); at++) {
            eden_value source = entity_source(local[TYPE], at);
            if (kind_is_alias(entity_kind(source)) && !list_add(model, SITE_ALIASES, local[ALIASES], source)) {
                return EDEN_NONE;
            }
        }
    }
    return local[ALIASES];
}
