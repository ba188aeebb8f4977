/* The classes of the model, what their slots hold, and the places of the program that make their instances.
 *
 * Entities are those of FAMIX, the meta-model of Moose, as far as C has them: each type, function, variable, section
 * and tag of the BTF is one, and so is each attribute, enum value and parameter. That one refers to another is an
 * association, known at both ends: the source's slot ENTITY_REFERENCE and the target's list ENTITY_INCOMING. Names are
 * symbols: equal names are one object.
 *
 * Roots, everywhere in this folder: a function that may collect roots its arguments itself; a caller keeps in a frame
 * of its own what it needs afterwards, and no eden_value in a C variable across such a call. A function that fails has
 * noted why (program_fail) and returns false or EDEN_NONE. */
#ifndef MODEL_CLASSES_H
#define MODEL_CLASSES_H

#include "program.h"

/* What an entity is; ranges of them mean something (entity.h). Each has a class and a site of the same number. */
enum kind {
#define KIND(constant, name, class, slots, site) constant,
#include "classes.def"
    KINDS
};

/* Slots of every entity. */
enum { ENTITY_KIND, ENTITY_ID, ENTITY_NAME, ENTITY_SLOTS };
/* Entities that the BTF numbers, from then on: */
enum { ENTITY_INCOMING = ENTITY_SLOTS, ENTITY_REFERENCE, ROOT_ENTITY_SLOTS };
/* Types: their size in bytes; how deeply they nest (measure.c). Then what only some have. */
enum { TYPE_SIZE = ROOT_ENTITY_SLOTS, TYPE_NESTING, TYPE_SLOTS };
enum { TYPE_PARTS = TYPE_SLOTS, OWNER_SLOTS };     /* enums: values; function types: parameters */
enum { RECORD_STATE = OWNER_SLOTS, RECORD_SLOTS }; /* structs and unions, whose parts are attributes */
enum { ARRAY_LENGTH = TYPE_SLOTS, ARRAY_SLOTS };
enum { SECTION_PARTS = ROOT_ENTITY_SLOTS, SECTION_SLOTS }; /* associations to its variables */
/* Parts of a type; ENTITY_ID is their place, from 0, ENTITY_REFERENCE the association to their type. */
enum { PART_OWNER = ENTITY_SLOTS, PARAMETER_SLOTS = ROOT_ENTITY_SLOTS };
enum { ATTRIBUTE_OFFSET = PARAMETER_SLOTS, ATTRIBUTE_BITS, ATTRIBUTE_SLOTS }; /* in bits; 0 bits: no bit field */
enum { ENUM_VALUE = ENTITY_REFERENCE, ENUM_VALUE_SLOTS };

enum { REFERENCE_SOURCE, REFERENCE_TARGET, REFERENCE_SLOTS };
/* What has been asked of a record before: records it refers to, records that refer to it, unused bits. */
enum { STATE_PROVIDERS, STATE_CLIENTS, STATE_PADDING, STATE_SLOTS };
enum { MODEL_SYMBOLS, MODEL_TYPES, MODEL_GROUPS, MODEL_SLOTS };
enum { LIST_ARRAY, LIST_SIZE, LIST_SLOTS };
enum { HASHED_ARRAY, HASHED_TALLY, HASHED_SLOTS };
enum { PAIR_KEY, PAIR_VALUE, PAIR_SLOTS };
enum { INTERVAL_START, INTERVAL_STOP, INTERVAL_SLOTS };
enum { VISIT_TYPE, VISIT_NEXT, VISIT_NESTING, VISIT_SLOTS };
enum { NODE_RECORD, NODE_INDEX, NODE_LOW, NODE_STACKED, NODE_NEXT, NODE_SLOTS };

enum class {
    LAST_KIND = KINDS - 1,
#define CLASS(constant, name, format, slots) constant,
#include "classes.def"
    CLASSES
};

enum site {
    LAST_KIND_SITE = KINDS - 1,
#define SITE(constant, class, name) constant,
#include "classes.def"
    SITES
};

struct model {
    struct program *program;
    eden_mutator *mutator;
    eden_value *roots; /* of the caller's frame: ROOT_MODEL, ROOT_REPORT */
    const char *file;
    size_t top; /* how many an answer lists at most */
    eden_class classes[CLASSES];
    eden_class sites[SITES];
};

enum { ROOT_MODEL, ROOT_REPORT, ROOTS };

/* Defines classes and sites. */
bool model_define(struct model *model);

/* ---- allocation: each may collect; EDEN_NONE where the heap is exhausted, which is noted ------------------------- */
eden_value object_new(struct model *model, enum site site);
/* An Array of EDEN_NONE. */
eden_value array_new(struct model *model, enum site site, size_t size);
eden_value bytes_new(struct model *model, enum site site, const void *bytes, size_t size);
/* A WordArray of zeros. */
eden_value words_new(struct model *model, enum site site, size_t count);
/* An Association; key and value may be references. */
eden_value pair_new(struct model *model, enum site site, eden_value key, eden_value value);

static inline bool is_a(const struct model *model, eden_value object, size_t class) {
    return eden_is_object(object) && eden_class_of(eden_mutator_heap(model->mutator), object) == model->classes[class];
}
/* An integer that a slot holds. */
static inline int64_t int_at(eden_value object, size_t slot) { return eden_int_value(eden_slot(object, slot)); }
static inline void int_at_put(eden_mutator *m, eden_value object, size_t slot, int64_t value) {
    eden_slot_set(m, object, slot, eden_int(value));
}

#endif
