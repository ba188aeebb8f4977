/* The import of bodies: a statement's text becomes tokens and nodes, which live until its end; each node becomes an
 * association to the entity that it names, with an anchor in the text, and these live on. */
#include "model.h"

#include <string.h>

/* ---- parsing ----------------------------------------------------------------------------------------------------- */

static eden_value token_new(struct model *model, struct word word) {
    EDEN_FRAME(model->mutator, local, 1);
    local[0] = model_new_text(model, SITE_TEXT, word.stop - word.start);
    if (local[0] == EDEN_NONE) {
        return EDEN_NONE;
    }
    memcpy(eden_raw(local[0]), word.letters, (word.stop - word.start) * sizeof *word.letters);
    eden_value token = model_new(model, SITE_TOKEN);
    if (token != EDEN_NONE) {
        eden_slot_set(model->mutator, token, TOKEN_TEXT, local[0]);
        number_at_put(model, token, TOKEN_START, word.start);
        number_at_put(model, token, TOKEN_STOP, word.stop);
    }
    return token;
}

/* A node of the statement, which must be in a root. */
static bool parse_node(struct model *model, const eden_value *statement, struct word word) {
    enum { NEW_TOKEN, NEW_INTERVAL, LOCALS };
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[NEW_TOKEN] = token_new(model, word);
    if (local[NEW_TOKEN] == EDEN_NONE) {
        return false;
    }
    local[NEW_INTERVAL] = interval_new(model, SITE_TOKEN_INTERVAL, word.start, word.stop);
    eden_value node = local[NEW_INTERVAL] == EDEN_NONE ? EDEN_NONE : model_new(model, SITE_NODE);
    if (node == EDEN_NONE) {
        return false;
    }
    eden_slot_set(model->mutator, node, NODE_PARENT, *statement);
    eden_slot_set(model->mutator, node, NODE_TOKEN, local[NEW_TOKEN]);
    eden_slot_set(model->mutator, node, NODE_INTERVAL, local[NEW_INTERVAL]);
    list_add(model, *statement, node);
    return true;
}

/* A statement, from *at to its full stop. */
static eden_value parse_statement(struct model *model, size_t *at) {
    EDEN_FRAME(model->mutator, local, 1);
    local[0] = list_new(model, SITE_STATEMENT, SITE_STATEMENT_ARRAY);
    while (local[0] != EDEN_NONE && model->source.text[*at] != '.') {
        if (!parse_node(model, &local[0], model_next_word(model, at))) {
            return EDEN_NONE;
        }
    }
    (*at)++;
    return local[0];
}

/* ---- associations ------------------------------------------------------------------------------------------------ */

static enum moose_site association_site(const struct model *model, size_t id) {
    return id < model->source.classes                              ? SITE_REFERENCE
           : id < model->source.classes + model->source.attributes ? SITE_ACCESS
                                                                   : SITE_INVOCATION;
}

/* The entity that a node names. Does not collect. */
static eden_value resolve(const struct model *model, eden_value node) {
    eden_value text = eden_slot(eden_slot(node, NODE_TOKEN), TOKEN_TEXT);
    eden_value entity = model_lookup(model, eden_raw(text), eden_raw_count(text));
    if (entity == EDEN_NONE) {
        program_fail(model->program, "a body names what nothing declares");
    }
    return entity;
}

/* The methods that an invocation, in a root, may lead to. */
static bool add_candidates(struct model *model, const eden_value *invocation) {
    eden_value link = model_new(model, SITE_CANDIDATES);
    if (link != EDEN_NONE) {
        eden_slot_set(model->mutator, link, CANDIDATES_OWNER, *invocation);
        eden_slot_set(model->mutator, link, CANDIDATES_VALUES, eden_slot(*invocation, ASSOCIATION_TARGET));
        eden_slot_set(model->mutator, *invocation, ASSOCIATION_CANDIDATES, link);
    }
    return link != EDEN_NONE;
}

static eden_value anchor_new(struct model *model, eden_value association, eden_value node) {
    enum { ELEMENT, PLACE, LOCALS };
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[ELEMENT] = association;
    local[PLACE] = eden_slot(node, NODE_INTERVAL);
    eden_value anchor = model_new(model, SITE_ANCHOR);
    if (anchor != EDEN_NONE) {
        eden_value method = eden_slot(local[ELEMENT], ASSOCIATION_SOURCE);
        eden_slot_set(model->mutator, anchor, ANCHOR_ELEMENT, local[ELEMENT]);
        eden_slot_set(model->mutator, anchor, ANCHOR_FILE, eden_slot(eden_slot(method, ENTITY_OWNER), ENTITY_NAME));
        eden_slot_set(model->mutator, anchor, ANCHOR_START, eden_slot(local[PLACE], INTERVAL_START));
        eden_slot_set(model->mutator, anchor, ANCHOR_STOP, eden_slot(local[PLACE], INTERVAL_STOP));
    }
    return anchor;
}

/* The association of a node in a method's statement of this number. */
static eden_value associate(struct model *model, size_t method, size_t statement, eden_value node) {
    enum { NODE_OF_THIS, TARGET, THIS, LOCALS };
    eden_mutator *m = model->mutator;
    EDEN_FRAME(m, local, LOCALS);
    local[NODE_OF_THIS] = node;
    local[TARGET] = resolve(model, node);
    if (local[TARGET] == EDEN_NONE) {
        return EDEN_NONE;
    }
    size_t id = number_at(local[TARGET], ENTITY_ID);
    local[THIS] = model_new(model, association_site(model, id));
    if (local[THIS] == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_slot_set(m, local[THIS], ASSOCIATION_SOURCE, model_entity(model, method));
    eden_slot_set(m, local[THIS], ASSOCIATION_TARGET, local[TARGET]);
    number_at_put(model, local[THIS], ASSOCIATION_STATEMENT, statement);
    if (association_site(model, id) == SITE_INVOCATION && !add_candidates(model, &local[THIS])) {
        return EDEN_NONE;
    }
    eden_value anchor = anchor_new(model, local[THIS], local[NODE_OF_THIS]);
    if (anchor == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_slot_set(m, local[THIS], ASSOCIATION_ANCHOR, anchor);
    eden_slot_set(m, local[THIS], ASSOCIATION_NEXT, eden_slot(local[TARGET], ENTITY_INCOMING));
    eden_slot_set(m, local[TARGET], ENTITY_INCOMING, local[THIS]);
    model->associations++;
    model->named += source_named(method, id);
    return local[THIS];
}

/* How many words the newest text has. */
static size_t count_words(const struct source *source) {
    size_t words = 0;
    for (size_t i = 0; i < source->size; i++) {
        words += source->text[i] == ' ';
    }
    return words;
}

/* Makes the associations of a statement's nodes, into the method's outgoing ones from *count on. Both are in roots. */
static bool associate_all(struct model *model, size_t method, size_t statement, const eden_value *nodes,
                          const eden_value *outgoing, size_t *count) {
    for (size_t i = 0; i < list_size(*nodes); i++) {
        eden_value association = associate(model, method, statement, list_at(*nodes, i));
        if (association == EDEN_NONE) {
            return false;
        }
        eden_slot_set(model->mutator, *outgoing, (*count)++, association);
    }
    return true;
}

static bool import_body(struct model *model, size_t class, size_t method) {
    enum { OUTGOING, STOPS, STATEMENT, LOCALS };
    EDEN_FRAME(model->mutator, local, LOCALS);
    source_body(&model->source, class, method);
    local[OUTGOING] = model_new_array(model, SITE_OUTGOING, count_words(&model->source));
    if (local[OUTGOING] == EDEN_NONE || (local[STOPS] = model_new(model, SITE_STATEMENTS)) == EDEN_NONE) {
        return false;
    }
    eden_slot_set(model->mutator, model_entity(model, method), ENTITY_OUTGOING, local[OUTGOING]);
    size_t count = 0;
    for (size_t at = 0, statement = 0; at < model->source.size; statement++) {
        local[STATEMENT] = parse_statement(model, &at);
        if (local[STATEMENT] == EDEN_NONE ||
            linked_add(model, SITE_STATEMENTS_LINK, &local[STOPS], eden_int((int64_t)at)) == EDEN_NONE ||
            !associate_all(model, method, statement, &local[STATEMENT], &local[OUTGOING], &count)) {
            return false;
        }
    }
    for (eden_value link = eden_slot(local[STOPS], LINKED_FIRST); link != EDEN_NONE;
         link = eden_slot(link, LINK_NEXT)) {
        model_mix(model, number_at(link, LINK_VALUE));
    }
    return true;
}

bool model_import(struct model *model) {
    const struct source *source = &model->source;
    for (size_t class = 0; class < source->classes; class ++) {
        for (size_t i = source_first_method(source, class); i < source_first_method(source, class + 1); i++) {
            if (!import_body(model, class, i)) {
                return false;
            }
        }
    }
    return model->named == source->named ||
           program_fail(model->program, "the model is wrong: its associations are not those of the source");
}
