/* The model of a company's software: what is declared (declare.c), what its bodies refer to (import.c), and what is
 * asked of it (query.c). */
#ifndef MOOSE_MODEL_H
#define MOOSE_MODEL_H

#include "classes.h"
#include "source.h"

/* What lives to the end: slots of an EDEN_FRAME of the caller's. */
enum {
    ROOT_ENTITIES, /* Array of entities, by number */
    ROOT_NAMES,    /* Array, a hash table of entities by name, of a power of two of slots */
    ROOTS
};

struct model {
    struct program *program;
    eden_mutator *mutator;
    eden_class sites[MOOSE_SITES];
    eden_value *roots;
    struct source source;
    size_t names;          /* slots of the hash table */
    uint64_t associations; /* made by the import */
    uint64_t named;        /* the importer's sum of what bodies name, as the source has one */
    uint64_t checksum;     /* of where statements end, and of all answers */
};

/* A word of the newest text: letters from `start` to before `stop`. */
struct word {
    const uint32_t *letters;
    size_t start, stop;
};

/* The next word from *at on, which it leaves behind the word. */
static inline struct word model_next_word(const struct model *model, size_t *at) {
    const uint32_t *text = model->source.text;
    size_t start = *at;
    while (text[*at] != ' ' && text[*at] != '.') {
        (*at)++;
    }
    struct word word = {text + start, start, *at};
    (*at)++;
    return word;
}

/* A step of FNV-1a, with a word where that has a byte. */
static inline void model_mix(struct model *model, uint64_t word) {
    model->checksum = (model->checksum ^ word) * 0x100000001B3u;
}

/* Passes a new object on to --keep-class. EDEN_NONE, after program_fail, where memory is exhausted. May collect. */
static inline eden_value model_kept(struct model *model, eden_value object) {
    object = program_kept(model->program, model->mutator, object);
    if (object == EDEN_NONE) {
        program_exhausted(model->program, model->mutator);
    }
    return object;
}
static inline eden_value model_new(struct model *model, enum moose_site site) {
    return model_kept(model, eden_new(model->mutator, model->sites[site]));
}
static inline eden_value model_new_array(struct model *model, enum moose_site site, size_t size) {
    return model_kept(model, eden_new_slots(model->mutator, model->sites[site], size));
}
/* Of so many letters, which are not set. */
static inline eden_value model_new_text(struct model *model, enum moose_site site, size_t size) {
    return model_kept(model, eden_new_raw(model->mutator, model->sites[site], size));
}

static inline size_t number_at(eden_value object, size_t slot) {
    return (size_t)eden_int_value(eden_slot(object, slot));
}
static inline void number_at_put(struct model *model, eden_value object, size_t slot, size_t number) {
    eden_slot_set(model->mutator, object, slot, eden_int((int64_t)number));
}
static inline eden_value model_entity(const struct model *model, size_t id) {
    return eden_slot(model->roots[ROOT_ENTITIES], id);
}

/* These make objects, of arguments that they root themselves; EDEN_NONE after program_fail. May collect. */

/* An OrderedCollection with room for LIST_ROOM; list_add does not collect. */
enum { LIST_ROOM = 10 };
eden_value list_new(struct model *model, enum moose_site site, enum moose_site array_site);
/* Appends a new ValueLink on `value` to a LinkedList, which must be in a root. */
eden_value linked_add(struct model *model, enum moose_site site, const eden_value *list, eden_value value);
/* An Interval. */
eden_value interval_new(struct model *model, enum moose_site site, size_t start, size_t stop);

static inline size_t list_size(eden_value list) { return number_at(list, LIST_LAST); }
static inline eden_value list_at(eden_value list, size_t index) {
    return eden_slot(eden_slot(list, LIST_ARRAY), index);
}
static inline void list_add(struct model *model, eden_value list, eden_value item) {
    size_t size = list_size(list);
    eden_slot_set(model->mutator, eden_slot(list, LIST_ARRAY), size, item);
    number_at_put(model, list, LIST_LAST, size + 1);
}

/* The entity of a name, or EDEN_NONE: none has it. Does not collect. */
eden_value model_lookup(const struct model *model, const uint32_t *letters, size_t size);

/* These return false after program_fail, and may collect. */

/* Makes the entities that the source declares. */
bool model_declare(struct model *model);
/* Parses all bodies and makes their associations. */
bool model_import(struct model *model);
/* Asks of each method what it refers to. */
bool model_query(struct model *model);

#endif
