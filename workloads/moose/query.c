/* Queries, once all is imported: of each method the different targets of each statement and their full names, its depth
 * in the hierarchy, and how many associations lead to it. */
#include "model.h"

#include <string.h>

enum { SET_ROOM = 16 };

/* Adds an entity to a Set, unless it is there. Does not collect. */
static void set_add(struct model *model, eden_value set, eden_value entity) {
    eden_value array = eden_slot(set, SET_ARRAY);
    size_t at = number_at(entity, ENTITY_ID) % SET_ROOM;
    while (eden_slot(array, at) != EDEN_NONE && eden_slot(array, at) != entity) {
        at = (at + 1) % SET_ROOM;
    }
    if (eden_slot(array, at) == EDEN_NONE) {
        eden_slot_set(model->mutator, array, at, entity);
        number_at_put(model, set, SET_TALLY, number_at(set, SET_TALLY) + 1);
    }
}

static eden_value set_new(struct model *model) {
    EDEN_FRAME(model->mutator, local, 1);
    local[0] = model_new(model, SITE_TARGETS);
    eden_value array = local[0] == EDEN_NONE ? EDEN_NONE : model_new_array(model, SITE_TARGETS_ARRAY, SET_ROOM);
    if (array == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_slot_set(model->mutator, local[0], SET_ARRAY, array);
    number_at_put(model, local[0], SET_TALLY, 0);
    return local[0];
}

/* "Class.name", written on a stream. */
static eden_value full_name(struct model *model, eden_value entity) {
    enum { OWNER_NAME, NAME, STREAM, LOCALS };
    eden_mutator *m = model->mutator;
    EDEN_FRAME(m, local, LOCALS);
    eden_value owner = eden_slot(entity, ENTITY_OWNER);
    local[NAME] = eden_slot(entity, ENTITY_NAME);
    local[OWNER_NAME] = eden_slot(owner == EDEN_NONE ? entity : owner, ENTITY_NAME);
    size_t first = eden_raw_count(local[OWNER_NAME]), second = eden_raw_count(local[NAME]);
    local[STREAM] = model_new(model, SITE_STREAM);
    eden_value text =
        local[STREAM] == EDEN_NONE ? EDEN_NONE : model_new_text(model, SITE_FULL_NAME, first + 1 + second);
    if (text == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_slot_set(m, local[STREAM], STREAM_COLLECTION, text);
    number_at_put(model, local[STREAM], STREAM_POSITION, first + 1 + second);
    uint32_t *letters = eden_raw(text);
    memcpy(letters, eden_raw(local[OWNER_NAME]), first * sizeof *letters);
    letters[first] = '.';
    memcpy(letters + first + 1, eden_raw(local[NAME]), second * sizeof *letters);
    return text;
}

/* Adds full name -> target to a list, and what a block that collects it is made of. */
static bool collect(struct model *model, const eden_value *list, eden_value association) {
    enum { THIS, NAME, LOCALS };
    eden_mutator *m = model->mutator;
    EDEN_FRAME(m, local, LOCALS);
    local[THIS] = association;
    eden_value block = model_new(model, SITE_RESULT_BLOCK);
    if (block == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, block, CLOSURE_COPIED, local[THIS]);
    local[NAME] = full_name(model, eden_slot(local[THIS], ASSOCIATION_TARGET));
    eden_value pair = local[NAME] == EDEN_NONE ? EDEN_NONE : model_new(model, SITE_RESULT_PAIR);
    if (pair == EDEN_NONE) {
        return false;
    }
    eden_slot_set(m, pair, PAIR_KEY, local[NAME]);
    eden_slot_set(m, pair, PAIR_VALUE, eden_slot(local[THIS], ASSOCIATION_TARGET));
    list_add(model, *list, pair);
    eden_value anchor = eden_slot(local[THIS], ASSOCIATION_ANCHOR);
    eden_value extent =
        interval_new(model, SITE_EXTENT, number_at(anchor, ANCHOR_START), number_at(anchor, ANCHOR_STOP));
    if (extent != EDEN_NONE) {
        model_mix(model, number_at(extent, INTERVAL_STOP) - number_at(extent, INTERVAL_START));
    }
    return extent != EDEN_NONE;
}

/* The answers of a statement: each name, and how many targets are different. */
static void mix_statement(struct model *model, eden_value list, eden_value set) {
    for (size_t i = 0; i < list_size(list); i++) {
        eden_value name = eden_slot(list_at(list, i), PAIR_KEY);
        const uint32_t *letters = eden_raw(name);
        for (size_t at = 0; at < eden_raw_count(name); at++) {
            model_mix(model, letters[at]);
        }
    }
    model_mix(model, number_at(set, SET_TALLY));
}

/* Queries a statement, whose associations begin at *at. */
static bool query_statement(struct model *model, eden_value method, size_t *at) {
    enum { OUTGOING, TARGETS, RESULT, LOCALS };
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[OUTGOING] = eden_slot(method, ENTITY_OUTGOING);
    if ((local[TARGETS] = set_new(model)) == EDEN_NONE ||
        (local[RESULT] = list_new(model, SITE_RESULT, SITE_RESULT_ARRAY)) == EDEN_NONE) {
        return false;
    }
    size_t statement = number_at(eden_slot(local[OUTGOING], *at), ASSOCIATION_STATEMENT);
    for (; *at < eden_slot_count(local[OUTGOING]); (*at)++) {
        eden_value association = eden_slot(local[OUTGOING], *at);
        if (number_at(association, ASSOCIATION_STATEMENT) != statement) {
            break;
        }
        set_add(model, local[TARGETS], eden_slot(association, ASSOCIATION_TARGET));
        if (!collect(model, &local[RESULT], association)) {
            return false;
        }
    }
    mix_statement(model, local[RESULT], local[TARGETS]);
    return true;
}

/* Lists a class and its superclasses. */
static bool query_hierarchy(struct model *model, eden_value class) {
    enum { CLASS, SUPERCLASSES, LOCALS };
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[CLASS] = class;
    local[SUPERCLASSES] = model_new(model, SITE_HIERARCHY);
    if (local[SUPERCLASSES] == EDEN_NONE) {
        return false;
    }
    while (local[CLASS] != EDEN_NONE) {
        if (linked_add(model, SITE_HIERARCHY_LINK, &local[SUPERCLASSES], local[CLASS]) == EDEN_NONE) {
            return false;
        }
        local[CLASS] = eden_slot(local[CLASS], ENTITY_OWNER);
    }
    for (eden_value link = eden_slot(local[SUPERCLASSES], LINKED_FIRST); link != EDEN_NONE;
         link = eden_slot(link, LINK_NEXT)) {
        model_mix(model, number_at(eden_slot(link, LINK_VALUE), ENTITY_ID));
    }
    return true;
}

static bool query_method(struct model *model, eden_value method) {
    EDEN_FRAME(model->mutator, local, 1);
    local[0] = method;
    for (size_t at = 0; at < eden_slot_count(eden_slot(local[0], ENTITY_OUTGOING));) {
        if (!query_statement(model, local[0], &at)) {
            return false;
        }
    }
    size_t incoming = 0;
    for (eden_value association = eden_slot(local[0], ENTITY_INCOMING); association != EDEN_NONE;
         association = eden_slot(association, ASSOCIATION_NEXT)) {
        incoming++;
    }
    model_mix(model, incoming);
    return query_hierarchy(model, eden_slot(local[0], ENTITY_OWNER));
}

bool model_query(struct model *model) {
    for (size_t i = source_first_method(&model->source, 0); i < source_entities(&model->source); i++) {
        if (!query_method(model, model_entity(model, i))) {
            return false;
        }
    }
    return true;
}
