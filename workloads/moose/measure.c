/* Sizes and nesting of all types; and the proof that following types comes to an end.
 *
 *     size(array) = length * size(element)     size(alias) = size(target)     size(pointer) = the file's
 *     nesting(record) = 1 + the greatest nesting of its attributes' types, 0 where it has none
 *     nesting(alias or array) = nesting(target)        nesting(anything else) = 0
 *
 * The sizes of records, enums and primitives are in the file; functions, forwards and void have 0. A depth-first
 * traversal with a stack of visits on the heap completes every type once. A type that is reached while its own visit is
 * on the stack contains itself. Pointers end this traversal, but not the chains that type_record follows (aliases,
 * arrays and pointers): those are walked here once, each walk with a mark of its own, up to a type that has a mark; if
 * it is the walk's own, the chain is a ring. */
#include "import.h"

enum { IN_PROGRESS = -1 };

static bool is_wrapper(enum kind kind) { return kind_is_alias(kind) || kind == KIND_ARRAY; }

static bool check_chains(struct model *model) {
    eden_value words = words_new(model, SITE_MARKS, eden_slot_count(eden_slot(model->roots[ROOT_MODEL], MODEL_TYPES)));
    if (words == EDEN_NONE) {
        return false;
    }
    eden_value types = eden_slot(model->roots[ROOT_MODEL], MODEL_TYPES); /* nothing collects from here on */
    uint32_t *marks = eden_raw(words);
    for (uint32_t start = 1; start < eden_slot_count(types); start++) {
        eden_value type = eden_slot(types, start);
        while ((is_wrapper(entity_kind(type)) || entity_kind(type) == KIND_POINTER) && marks[entity_id(type)] == 0) {
            marks[entity_id(type)] = start;
            type = entity_target(type);
        }
        if (marks[entity_id(type)] == start) {
            return import_fail(model, start, "leads in a circle");
        }
    }
    return true;
}

/* The stack of types whose visits are not over. */
static bool enter(struct model *model, const eden_value *stack, eden_value type) {
    enum { TYPE, VISIT, LOCALS };
    eden_mutator *m = model->mutator;
    EDEN_FRAME(m, local, LOCALS);
    local[TYPE] = type;
    local[VISIT] = object_new(model, SITE_VISIT);
    if (local[VISIT] == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, local[VISIT], VISIT_TYPE, local[TYPE]);
    int_at_put(m, local[VISIT], VISIT_NEXT, 0);
    int_at_put(m, local[VISIT], VISIT_NESTING, 0);
    int_at_put(m, local[TYPE], TYPE_NESTING, IN_PROGRESS);
    return list_add(model, SITE_VISITS, *stack, local[VISIT]);
}

/* The types that a type holds by value, one after the other; EDEN_NONE when there are no more. */
static eden_value held_type(eden_value type, size_t index) {
    if (is_record(type)) {
        return index < type_part_count(type) ? entity_target(type_part(type, index)) : EDEN_NONE;
    }
    return index == 0 && is_wrapper(entity_kind(type)) ? entity_target(type) : EDEN_NONE;
}

/* Completes a type all of whose held types are complete; `nesting` is the greatest among them. */
static bool complete(struct model *model, eden_value type, int64_t nesting) {
    int64_t size = int_at(type, TYPE_SIZE);
    if (is_wrapper(entity_kind(type))) {
        int64_t length = entity_kind(type) == KIND_ARRAY ? int_at(type, ARRAY_LENGTH) : 1;
        /* In bits, too, it is to be a small integer. */
        if (__builtin_mul_overflow(int_at(entity_target(type), TYPE_SIZE), length, &size) || size > EDEN_INT_MAX / 64) {
            return import_fail(model, entity_id(type), "is too large");
        }
    }
    int_at_put(model->mutator, type, TYPE_SIZE, size);
    int_at_put(model->mutator, type, TYPE_NESTING, is_record(type) ? nesting + 1 : nesting);
    return true;
}

/* Continues the last visit: enters the next held type that is not complete, or completes its own. */
static bool step(struct model *model, const eden_value *stack) {
    eden_mutator *m = model->mutator;
    eden_value visit = list_at(*stack, list_size(*stack) - 1);
    eden_value type = eden_slot(visit, VISIT_TYPE);
    int64_t nesting = int_at(visit, VISIT_NESTING);
    size_t next = (size_t)int_at(visit, VISIT_NEXT);
    for (eden_value held = held_type(type, next); held != EDEN_NONE; held = held_type(type, ++next)) {
        if (eden_slot(held, TYPE_NESTING) == EDEN_NONE) {
            int_at_put(m, visit, VISIT_NEXT, (int64_t)next);
            int_at_put(m, visit, VISIT_NESTING, nesting);
            return enter(model, stack, held);
        }
        int64_t held_nesting = int_at(held, TYPE_NESTING);
        if (held_nesting == IN_PROGRESS) {
            return import_fail(model, entity_id(type), "contains itself");
        }
        nesting = held_nesting > nesting ? held_nesting : nesting;
    }
    (void)list_remove_last(model, *stack);
    return complete(model, type, nesting);
}

/* What the file says, 0 where it says nothing. */
static int64_t reported_size(const struct btf *btf, const struct btf_type *type) {
    switch (btf_kind(type)) {
    case BTF_KIND_INT:
    case BTF_KIND_FLOAT:
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64:
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
        return type->size;
    case BTF_KIND_PTR: {
        size_t size = btf__pointer_size(btf);
        return size == 0 ? 8 : (int64_t)size; /* not in the file: that of machines with BTF */
    }
    default:
        return 0;
    }
}

bool model_measure(struct model *model, const struct btf *btf) {
    enum { STACK, LOCALS };
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[STACK] = list_new(model, SITE_VISITS, 0);
    if (local[STACK] == EDEN_NONE || !check_chains(model)) {
        return false;
    }
    uint32_t count = btf__type_cnt(btf);
    for (uint32_t id = 0; id < count; id++) {
        eden_value type = eden_slot(eden_slot(model->roots[ROOT_MODEL], MODEL_TYPES), id);
        if (kind_is_type(entity_kind(type))) {
            int_at_put(model->mutator, type, TYPE_SIZE, id == 0 ? 0 : reported_size(btf, btf__type_by_id(btf, id)));
        }
    }
    for (uint32_t id = 0; id < count; id++) {
        eden_value type = eden_slot(eden_slot(model->roots[ROOT_MODEL], MODEL_TYPES), id);
        if (!kind_is_type(entity_kind(type)) || eden_slot(type, TYPE_NESTING) != EDEN_NONE) {
            continue;
        }
        if (!enter(model, &local[STACK], type)) {
            return false;
        }
        while (list_size(local[STACK]) > 0) {
            if (!step(model, &local[STACK])) {
                return false;
            }
        }
    }
    return true;
}
