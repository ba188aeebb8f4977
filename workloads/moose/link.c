/* The second pass over the BTF: who refers to whom. Each reference is an association, held by its source and by its
 * target's list of incoming references. What a reference may lead to is checked, so that the queries need not: a
 * function has a function type, and all else that has a type has one. */
#include "import.h"

static bool any_type(enum kind kind) { return kind_is_type(kind); }
static bool function_type(enum kind kind) { return kind == KIND_FUNCTION_TYPE; }
static bool anything(enum kind kind) { return kind < KINDS; }

static eden_value type_at(struct model *model, uint32_t id) {
    return eden_slot(eden_slot(model->roots[ROOT_MODEL], MODEL_TYPES), id);
}

/* A new association from `source` to type `id`, which the target's list has. `type` is what the file is read at. May
 * collect. */
static eden_value refer(struct model *model, uint32_t type, eden_value source, uint32_t id,
                        bool (*is_allowed)(enum kind)) {
    enum { SOURCE, REFERENCE, LOCALS };
    if (id >= eden_slot_count(eden_slot(model->roots[ROOT_MODEL], MODEL_TYPES)) ||
        !is_allowed(entity_kind(type_at(model, id)))) {
        import_fail(model, type, "refers to one that is not there, or not of a kind it may be of");
        return EDEN_NONE;
    }
    eden_mutator *m = model->mutator;
    EDEN_FRAME(m, local, LOCALS);
    local[SOURCE] = source;
    local[REFERENCE] = object_new(model, SITE_REFERENCE);
    if (local[REFERENCE] == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_slot_set(m, local[REFERENCE], REFERENCE_SOURCE, local[SOURCE]);
    eden_slot_set(m, local[REFERENCE], REFERENCE_TARGET, type_at(model, id));
    if (eden_slot(type_at(model, id), ENTITY_INCOMING) == EDEN_NONE) {
        eden_value incoming = list_new(model, SITE_INCOMING, 1);
        if (incoming == EDEN_NONE) {
            return EDEN_NONE;
        }
        eden_slot_set(m, type_at(model, id), ENTITY_INCOMING, incoming);
    }
    eden_value incoming = eden_slot(type_at(model, id), ENTITY_INCOMING);
    return list_add(model, SITE_INCOMING, incoming, local[REFERENCE]) ? local[REFERENCE] : EDEN_NONE;
}

/* The reference that an entity has one of. */
static bool refer_one(struct model *model, uint32_t type, eden_value source, uint32_t id,
                      bool (*is_allowed)(enum kind)) {
    EDEN_FRAME(model->mutator, local, 1);
    local[0] = source;
    eden_value reference = refer(model, type, source, id, is_allowed);
    if (reference == EDEN_NONE) {
        return false;
    }
    eden_slot_set(model->mutator, local[0], ENTITY_REFERENCE, reference);
    return true;
}

static bool link_parts(struct model *model, const struct btf_type *type, uint32_t id) {
    for (size_t i = 0; i < btf_vlen(type); i++) {
        uint32_t part_type = btf_is_composite(type) ? btf_members(type)[i].type : btf_params(type)[i].type;
        if (!refer_one(model, id, type_part(type_at(model, id), i), part_type, any_type)) {
            return false;
        }
    }
    return true;
}

static bool link_section(struct model *model, const struct btf_type *type, uint32_t id) {
    EDEN_FRAME(model->mutator, local, 1);
    local[0] = list_new(model, SITE_PARTS, 0);
    if (local[0] == EDEN_NONE) {
        return false;
    }
    eden_slot_set(model->mutator, type_at(model, id), SECTION_PARTS, local[0]);
    for (size_t i = 0; i < btf_vlen(type); i++) {
        eden_value reference = refer(model, id, type_at(model, id), btf_var_secinfos(type)[i].type, anything);
        if (reference == EDEN_NONE || !list_add(model, SITE_PARTS, local[0], reference)) {
            return false;
        }
    }
    return true;
}

static bool link_type(struct model *model, const struct btf *btf, uint32_t id) {
    const struct btf_type *type = btf__type_by_id(btf, id);
    eden_value source = type_at(model, id);
    switch (btf_kind(type)) {
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
        return link_parts(model, type, id);
    case BTF_KIND_FUNC_PROTO:
        return refer_one(model, id, source, type->type, any_type) && link_parts(model, type, id);
    case BTF_KIND_ARRAY:
        return refer_one(model, id, source, btf_array(type)->type, any_type);
    case BTF_KIND_FUNC:
        return refer_one(model, id, source, type->type, function_type);
    case BTF_KIND_DECL_TAG:
        return refer_one(model, id, source, type->type, anything);
    case BTF_KIND_DATASEC:
        return link_section(model, type, id);
    case BTF_KIND_INT:
    case BTF_KIND_FLOAT:
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64:
    case BTF_KIND_FWD:
        return true;
    default: /* pointers, aliases, variables */
        return refer_one(model, id, source, type->type, any_type);
    }
}

bool model_link(struct model *model, const struct btf *btf) {
    for (uint32_t id = 1; id < btf__type_cnt(btf); id++) {
        if (!link_type(model, btf, id)) {
            return false;
        }
    }
    return true;
}
