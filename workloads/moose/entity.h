/* Entities, and the ways from one to others. Nothing here but what says so collects. */
#ifndef MODEL_ENTITY_H
#define MODEL_ENTITY_H

#include "collection.h"

static inline enum kind entity_kind(eden_value entity) { return (enum kind)int_at(entity, ENTITY_KIND); }
static inline int64_t entity_id(eden_value entity) { return int_at(entity, ENTITY_ID); }
/* The entity it refers to. It must refer to one. */
static inline eden_value entity_target(eden_value entity) {
    return eden_slot(eden_slot(entity, ENTITY_REFERENCE), REFERENCE_TARGET);
}

/* The other direction: how many refer to it, and which; not of parts, to which nothing refers. */
static inline size_t entity_user_count(eden_value entity) { return list_size(eden_slot(entity, ENTITY_INCOMING)); }
static inline eden_value entity_source(eden_value entity, size_t index) {
    return eden_slot(list_at(eden_slot(entity, ENTITY_INCOMING), index), REFERENCE_SOURCE);
}

static inline bool kind_is_type(enum kind kind) { return kind <= KIND_ARRAY; }
static inline bool kind_is_record(enum kind kind) { return kind <= KIND_UNION; }
/* Another name or a qualifier of the type it refers to. */
static inline bool kind_is_alias(enum kind kind) { return kind >= KIND_TYPEDEF && kind <= KIND_TYPE_TAG; }
static inline bool is_record(eden_value entity) { return kind_is_record(entity_kind(entity)); }

/* All entities of a kind, a MooseGroup, in the order of the BTF. */
static inline eden_value model_group(const struct model *model, enum kind kind) {
    return eden_slot(eden_slot(model->roots[ROOT_MODEL], MODEL_GROUPS), kind);
}

/* A record, enum or function type: its attributes, values or parameters. */
static inline size_t type_part_count(eden_value type) { return list_size(eden_slot(type, TYPE_PARTS)); }
static inline eden_value type_part(eden_value type, size_t index) {
    return list_at(eden_slot(type, TYPE_PARTS), index);
}

/* The type that a type is another name for: without typedefs, qualifiers and tags. */
eden_value type_stripped(eden_value type);
/* The record that a type is, or points to, or is an array of; EDEN_NONE: none. */
eden_value type_record(eden_value type);
/* The bits that an attribute takes. */
int64_t attribute_bits(eden_value attribute);

/* Structs and unions. What these answer is kept in the record. All may collect. */

/* Records that the record's attributes are, point to, or are arrays of: a MooseGroup, in the order of attributes. */
eden_value record_providers(struct model *model, eden_value record);
/* The other direction: records that have such an attribute. */
eden_value record_clients(struct model *model, eden_value record);
/* Unused bits of a struct, 0 for a union (padding.c). Negative: the heap is exhausted. */
int64_t record_padding(struct model *model, eden_value record);
/* The record's MooseEntityState. EDEN_NONE: the heap is exhausted. */
eden_value record_state(struct model *model, eden_value record);

/* From a type to what refers to it through other names: the type and all its aliases, a list (site SITE_ALIASES). May
 * collect. */
eden_value type_aliases(struct model *model, eden_value type);

#endif
