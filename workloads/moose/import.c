/* The first pass over the BTF: an entity for each type, function, variable, section and tag, and for each part of one
 * (attribute, enum value, parameter), with its name, which the symbol table makes one object for all that share it.
 * What entities refer to is not known before all are there: the second pass (link.c).
 *
 * Type 0 is void, which no BTF lists. */
#include "import.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>

bool import_fail(struct model *model, int64_t id, const char *what) {
    return program_fail(model->program, "%s: the BTF is malformed: type %lld %s", model->file, (long long)id, what);
}

eden_value symbol_intern(struct model *model, const char *name) {
    enum { STRING, SYMBOL, LOCALS };
    size_t size = strlen(name);
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[STRING] = bytes_new(model, SITE_NAME, name, size);
    if (local[STRING] == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_value found = set_find(model, eden_slot(model->roots[ROOT_MODEL], MODEL_SYMBOLS), local[STRING]);
    if (found != EDEN_NONE) {
        return found;
    }
    local[SYMBOL] = bytes_new(model, SITE_SYMBOL, name, size);
    if (local[SYMBOL] == EDEN_NONE ||
        !set_add(model, SITE_SYMBOLS, eden_slot(model->roots[ROOT_MODEL], MODEL_SYMBOLS), local[SYMBOL], NULL)) {
        return EDEN_NONE;
    }
    return local[SYMBOL];
}

/* KINDS: a kind that this program does not know. */
static enum kind kind_of(const struct btf_type *type) {
    static const enum kind kinds[] = {
        [BTF_KIND_UNKN] = KINDS,
        [BTF_KIND_INT] = KIND_PRIMITIVE,
        [BTF_KIND_PTR] = KIND_POINTER,
        [BTF_KIND_ARRAY] = KIND_ARRAY,
        [BTF_KIND_STRUCT] = KIND_STRUCT,
        [BTF_KIND_UNION] = KIND_UNION,
        [BTF_KIND_ENUM] = KIND_ENUM,
        [BTF_KIND_FWD] = KIND_FORWARD,
        [BTF_KIND_TYPEDEF] = KIND_TYPEDEF,
        [BTF_KIND_VOLATILE] = KIND_VOLATILE,
        [BTF_KIND_CONST] = KIND_CONST,
        [BTF_KIND_RESTRICT] = KIND_RESTRICT,
        [BTF_KIND_FUNC] = KIND_FUNCTION,
        [BTF_KIND_FUNC_PROTO] = KIND_FUNCTION_TYPE,
        [BTF_KIND_VAR] = KIND_VARIABLE,
        [BTF_KIND_DATASEC] = KIND_SECTION,
        [BTF_KIND_FLOAT] = KIND_PRIMITIVE,
        [BTF_KIND_DECL_TAG] = KIND_TAG,
        [BTF_KIND_TYPE_TAG] = KIND_TYPE_TAG,
        [BTF_KIND_ENUM64] = KIND_ENUM,
    };
    size_t kind = btf_kind(type);
    return kind < sizeof kinds / sizeof kinds[0] ? kinds[kind] : KINDS;
}

/* A new entity of a kind and name, which its group has. name may be NULL: the file has none there. May collect. */
static eden_value entity_new(struct model *model, enum kind kind, int64_t type, int64_t id, const char *name) {
    enum { ENTITY, NAME, LOCALS };
    if (name == NULL) {
        import_fail(model, type, "has a name that is not in the file");
        return EDEN_NONE;
    }
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[NAME] = symbol_intern(model, name);
    if (local[NAME] == EDEN_NONE) {
        return EDEN_NONE;
    }
    local[ENTITY] = object_new(model, (enum site)kind);
    if (local[ENTITY] == EDEN_NONE) {
        return EDEN_NONE;
    }
    int_at_put(model->mutator, local[ENTITY], ENTITY_KIND, kind);
    int_at_put(model->mutator, local[ENTITY], ENTITY_ID, id);
    eden_slot_set(model->mutator, local[ENTITY], ENTITY_NAME, local[NAME]);
    return list_add(model, SITE_GROUP, model_group(model, kind), local[ENTITY]) ? local[ENTITY] : EDEN_NONE;
}

/* An Integer: where it has more than 61 bits, its two's complement in 8 bytes, with the sign given by the class. May
 * collect. */
static eden_value integer_new(struct model *model, int64_t value, bool is_signed) {
    if (eden_int_fits(value) && (is_signed || value >= 0)) {
        return eden_int(value);
    }
    return bytes_new(model, is_signed && value < 0 ? SITE_NEGATIVE : SITE_POSITIVE, &value, sizeof value);
}

static eden_value enum_value(struct model *model, const struct btf_type *type, size_t index) {
    bool is_signed = btf_kflag(type);
    if (btf_kind(type) == BTF_KIND_ENUM64) {
        return integer_new(model, (int64_t)btf_enum64_value(btf_enum64(type) + index), is_signed);
    }
    int32_t value = btf_enum(type)[index].val;
    return eden_int(is_signed ? value : (int64_t)(uint32_t)value);
}

static uint32_t part_name(const struct btf_type *type, size_t index) {
    switch (btf_kind(type)) {
    case BTF_KIND_ENUM:
        return btf_enum(type)[index].name_off;
    case BTF_KIND_ENUM64:
        return btf_enum64(type)[index].name_off;
    case BTF_KIND_FUNC_PROTO:
        return btf_params(type)[index].name_off;
    default:
        return btf_members(type)[index].name_off;
    }
}

/* What an enum value or an attribute knows beside its name. *part is a root. */
static bool fill_part(struct model *model, const struct btf_type *type, size_t index, const eden_value *part) {
    eden_mutator *m = model->mutator;
    if (btf_is_any_enum(type)) {
        eden_value value = enum_value(model, type, index);
        if (value == EDEN_NONE) {
            return false;
        }
        eden_slot_set(m, *part, ENUM_VALUE, value);
    } else if (btf_is_composite(type)) {
        int_at_put(m, *part, ATTRIBUTE_OFFSET, btf_member_bit_offset(type, (uint32_t)index));
        int_at_put(m, *part, ATTRIBUTE_BITS, btf_member_bitfield_size(type, (uint32_t)index));
    }
    return true;
}

/* The parts of a record, enum or function type, added one by one. *owner is a root. */
static bool import_parts(struct model *model, const struct btf *btf, const struct btf_type *type,
                         const eden_value *owner) {
    enum { PART, LOCALS };
    if (btf_vlen(type) == 0) {
        return true;
    }
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[PART] = list_new(model, SITE_PARTS, 0);
    if (local[PART] == EDEN_NONE) {
        return false;
    }
    eden_slot_set(model->mutator, *owner, TYPE_PARTS, local[PART]);
    enum kind kind = btf_is_any_enum(type) ? KIND_ENUM_VALUE : btf_is_composite(type) ? KIND_ATTRIBUTE : KIND_PARAMETER;
    for (size_t i = 0; i < btf_vlen(type); i++) {
        local[PART] =
            entity_new(model, kind, entity_id(*owner), (int64_t)i, btf__name_by_offset(btf, part_name(type, i)));
        if (local[PART] == EDEN_NONE || !fill_part(model, type, i, &local[PART])) {
            return false;
        }
        eden_slot_set(model->mutator, local[PART], PART_OWNER, *owner);
        if (!list_add(model, SITE_PARTS, eden_slot(*owner, TYPE_PARTS), local[PART])) {
            return false;
        }
    }
    return true;
}

static bool import_type(struct model *model, const struct btf *btf, uint32_t id) {
    enum { TYPE, LOCALS };
    const struct btf_type *type = btf__type_by_id(btf, id);
    enum kind kind = kind_of(type);
    if (id == 0) {
        kind = KIND_PRIMITIVE;
    } else if (kind == KINDS) {
        return import_fail(model, id, "is of a kind that this program does not know");
    }
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[TYPE] = entity_new(model, kind, id, id, id == 0 ? "void" : btf__name_by_offset(btf, type->name_off));
    if (local[TYPE] == EDEN_NONE) {
        return false;
    }
    eden_slot_set(model->mutator, eden_slot(model->roots[ROOT_MODEL], MODEL_TYPES), id, local[TYPE]);
    if (kind_is_record(kind) || kind == KIND_ENUM || kind == KIND_FUNCTION_TYPE) {
        return import_parts(model, btf, type, &local[TYPE]);
    }
    if (kind == KIND_ARRAY) {
        int_at_put(model->mutator, local[TYPE], ARRAY_LENGTH, btf_array(type)->nelems);
    }
    return true;
}

/* A model without entities. */
static bool start(struct model *model, size_t type_count) {
    eden_mutator *m = model->mutator;
    enum { PART, LOCALS };
    EDEN_FRAME(m, local, LOCALS);
    model->roots[ROOT_MODEL] = object_new(model, SITE_MODEL);
    if (model->roots[ROOT_MODEL] == EDEN_NONE || (local[PART] = hashed_new(model, SITE_SYMBOLS)) == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, model->roots[ROOT_MODEL], MODEL_SYMBOLS, local[PART]);
    local[PART] = array_new(model, SITE_TYPES, type_count);
    if (local[PART] == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, model->roots[ROOT_MODEL], MODEL_TYPES, local[PART]);
    local[PART] = array_new(model, SITE_GROUPS, KINDS);
    if (local[PART] == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, model->roots[ROOT_MODEL], MODEL_GROUPS, local[PART]);
    for (size_t kind = 0; kind < KINDS; kind++) {
        local[PART] = list_new(model, SITE_GROUP, 0);
        if (local[PART] == EDEN_NONE) {
            return false;
        }
        eden_slot_set(m, eden_slot(model->roots[ROOT_MODEL], MODEL_GROUPS), kind, local[PART]);
    }
    return true;
}

bool model_import(struct model *model, const struct btf *btf) {
    uint32_t count = btf__type_cnt(btf);
    if (!start(model, count)) {
        return false;
    }
    for (uint32_t id = 0; id < count; id++) {
        if (!import_type(model, btf, id)) {
            return false;
        }
    }
    return model_link(model, btf) && model_measure(model, btf);
}

/* ---- the file, by libbpf -------------------------------------------------------------------------------------------
 */

static int print_nothing(enum libbpf_print_level level, const char *format, va_list arguments) {
    (void)level;
    (void)format;
    (void)arguments;
    return 0;
}

/* libbpf returns one number for "no such section" and "no such file": whether the file can be read is checked here. */
static bool is_readable(struct program *program, const char *name) {
    FILE *file = fopen(name, "rbe");
    if (file == NULL) {
        return program_fail(program, "%s: can't be opened: %m", name);
    }
    int first = fgetc(file);
    bool failed = ferror(file) != 0;
    bool ok = failed      ? program_fail(program, "%s: can't be read: %m", name)
              : first < 0 ? program_fail(program, "%s: is empty", name)
                          : true;
    fclose(file);
    return ok;
}

struct btf *source_open(struct program *program, const char *file) {
    if (!is_readable(program, file)) {
        return NULL;
    }
    libbpf_print_fn_t before = libbpf_set_print(print_nothing);
    struct btf *btf = btf__parse(file, NULL);
    int error = errno;
    libbpf_set_print(before);
    if (btf != NULL) {
        return btf;
    }
    if (error == ENOENT || error == ENODATA) {
        program_fail(program, "%s: has no BTF: compile it with -g, for a target that has BTF (clang -target bpf)",
                     file);
    } else if (error == LIBBPF_ERRNO__FORMAT) {
        program_fail(program, "%s: is neither BTF nor an ELF object", file);
    } else {
        char reason[128] = "";
        libbpf_strerror(error, reason, sizeof reason);
        program_fail(program, "%s: the BTF is malformed or cut short: %s", file, reason);
    }
    return NULL;
}
