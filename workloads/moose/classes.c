#include "classes.h"

static const eden_class_definition definitions[CLASSES] = {
#define KIND(constant, name, class, slots, site) {class, EDEN_FORMAT_FIXED, slots},
#define CLASS(constant, name, format, slots) {name, format, slots},
#include "classes.def"
};

static const struct program_site sites[SITES] = {
#define KIND(constant, name, class, slots, site) {constant, site},
#define SITE(constant, class, name) {class, name},
#include "classes.def"
};

bool model_define(struct model *model) {
    return program_define(model->program, eden_mutator_heap(model->mutator), definitions, CLASSES, model->classes,
                          sites, SITES, model->sites);
}

static eden_value checked(struct model *model, eden_value object) {
    if (object == EDEN_NONE) {
        program_exhausted(model->program, model->mutator);
    }
    return object;
}

eden_value object_new(struct model *model, enum site site) {
    return checked(model, eden_new(model->mutator, model->sites[site]));
}

eden_value array_new(struct model *model, enum site site, size_t size) {
    return checked(model, eden_new_slots(model->mutator, model->sites[site], size));
}

eden_value bytes_new(struct model *model, enum site site, const void *bytes, size_t size) {
    eden_value object = checked(model, eden_new_raw(model->mutator, model->sites[site], size));
    if (object != EDEN_NONE && size > 0) {
        memcpy(eden_raw(object), bytes, size);
    }
    return object;
}

eden_value words_new(struct model *model, enum site site, size_t count) {
    eden_value words = checked(model, eden_new_raw(model->mutator, model->sites[site], count));
    if (words != EDEN_NONE) {
        memset(eden_raw(words), 0, count * sizeof(uint32_t));
    }
    return words;
}

eden_value pair_new(struct model *model, enum site site, eden_value key, eden_value value) {
    EDEN_FRAME(model->mutator, local, PAIR_SLOTS);
    local[PAIR_KEY] = key;
    local[PAIR_VALUE] = value;
    eden_value pair = object_new(model, site);
    if (pair != EDEN_NONE) {
        eden_slot_set(model->mutator, pair, PAIR_KEY, local[PAIR_KEY]);
        eden_slot_set(model->mutator, pair, PAIR_VALUE, local[PAIR_VALUE]);
    }
    return pair;
}
