/* Declarations: entities and their names; and the collections that all of the program uses. */
#include "model.h"

#include <string.h>

eden_value list_new(struct model *model, enum moose_site site, enum moose_site array_site) {
    EDEN_FRAME(model->mutator, local, 1);
    local[0] = model_new(model, site);
    eden_value array = local[0] == EDEN_NONE ? EDEN_NONE : model_new_array(model, array_site, LIST_ROOM);
    if (array == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_slot_set(model->mutator, local[0], LIST_ARRAY, array);
    number_at_put(model, local[0], LIST_FIRST, 0);
    number_at_put(model, local[0], LIST_LAST, 0);
    return local[0];
}

eden_value linked_add(struct model *model, enum moose_site site, const eden_value *list, eden_value value) {
    eden_mutator *m = model->mutator;
    EDEN_FRAME(m, local, 1);
    local[0] = value;
    eden_value link = model_new(model, site);
    if (link == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_slot_set(m, link, LINK_VALUE, local[0]);
    eden_value last = eden_slot(*list, LINKED_LAST);
    eden_slot_set(m, last == EDEN_NONE ? *list : last, last == EDEN_NONE ? LINKED_FIRST : LINK_NEXT, link);
    eden_slot_set(m, *list, LINKED_LAST, link);
    return link;
}

eden_value interval_new(struct model *model, enum moose_site site, size_t start, size_t stop) {
    eden_value interval = model_new(model, site);
    if (interval != EDEN_NONE) {
        number_at_put(model, interval, INTERVAL_START, start);
        number_at_put(model, interval, INTERVAL_STOP, stop);
        number_at_put(model, interval, INTERVAL_STEP, 1);
    }
    return interval;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* FNV-1a, with a letter where that has a byte. */
static size_t name_hash(const uint32_t *letters, size_t size) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ letters[i]) * 0x100000001B3u;
    }
    return (size_t)(hash >> 20);
}

/* The slot that the name's entity is in, or would be. */
static size_t name_slot(const struct model *model, const uint32_t *letters, size_t size) {
    size_t at = name_hash(letters, size) % model->names;
    for (;; at = (at + 1) % model->names) {
        eden_value entity = eden_slot(model->roots[ROOT_NAMES], at);
        if (entity == EDEN_NONE) {
            return at;
        }
        eden_value name = eden_slot(entity, ENTITY_NAME);
        if (eden_raw_count(name) == size && memcmp(eden_raw(name), letters, size * sizeof *letters) == 0) {
            return at;
        }
    }
}

eden_value model_lookup(const struct model *model, const uint32_t *letters, size_t size) {
    return eden_slot(model->roots[ROOT_NAMES], name_slot(model, letters, size));
}

/* ---- entities ---------------------------------------------------------------------------------------------------- */

/* Reads a name, as a WideString that becomes a symbol, and adds its entity. */
static bool add_entity(struct model *model, enum moose_site site, size_t id, eden_value owner, struct word word) {
    eden_mutator *m = model->mutator;
    size_t size = word.stop - word.start;
    EDEN_FRAME(m, local, 3);
    local[0] = owner;
    local[1] = model_new_text(model, SITE_TEXT, size);
    if (local[1] == EDEN_NONE) {
        return false;
    }
    memcpy(eden_raw(local[1]), word.letters, size * sizeof *word.letters);
    local[2] = model_new_text(model, SITE_SYMBOL, size);
    if (local[2] == EDEN_NONE) {
        return false;
    }
    memcpy(eden_raw(local[2]), eden_raw(local[1]), size * sizeof *word.letters);
    eden_value entity = model_new(model, site);
    if (entity == EDEN_NONE) {
        return false;
    }
    number_at_put(model, entity, ENTITY_ID, id);
    eden_slot_set(m, entity, ENTITY_NAME, local[2]);
    eden_slot_set(m, entity, ENTITY_OWNER, local[0]);
    eden_slot_set(m, model->roots[ROOT_ENTITIES], id, entity);
    eden_slot_set(m, model->roots[ROOT_NAMES], name_slot(model, word.letters, size), entity);
    return true;
}

static bool declare_class(struct model *model, size_t class) {
    struct source *source = &model->source;
    source_declare(source, class);
    size_t at = 0;
    struct word name = model_next_word(model, &at);
    struct word super = class == 0 ? name : model_next_word(model, &at);
    if (!add_entity(model, SITE_CLASS, class, model_lookup(model, super.letters, super.stop - super.start), name)) {
        return false;
    }
    for (size_t i = 0; i < ATTRIBUTES_A_CLASS; i++) {
        size_t id = source->classes + class * ATTRIBUTES_A_CLASS + i;
        if (!add_entity(model, SITE_ATTRIBUTE, id, model_entity(model, class), model_next_word(model, &at))) {
            return false;
        }
    }
    at++; /* the full stop */
    for (size_t id = source_first_method(source, class); id < source_first_method(source, class + 1); id++) {
        if (!add_entity(model, SITE_METHOD, id, model_entity(model, class), model_next_word(model, &at))) {
            return false;
        }
    }
    return true;
}

bool model_declare(struct model *model) {
    size_t entities = source_entities(&model->source);
    for (model->names = 1; model->names < 2 * entities; model->names *= 2) {
    }
    if ((model->roots[ROOT_ENTITIES] = model_new_array(model, SITE_ENTITIES, entities)) == EDEN_NONE ||
        (model->roots[ROOT_NAMES] = model_new_array(model, SITE_NAMES, model->names)) == EDEN_NONE) {
        return false;
    }
    for (size_t class = 0; class < model->source.classes; class ++) {
        if (!declare_class(model, class)) {
            return false;
        }
    }
    return true;
}
