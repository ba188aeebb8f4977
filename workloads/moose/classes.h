/* The classes of the importer and of the model, and the places of the program that make their instances. Names follow
 * Pharo and Moose. */
#ifndef MOOSE_CLASSES_H
#define MOOSE_CLASSES_H

#include "program.h"

enum moose_class {
    ARRAY,
    WIDE_STRING,
    WIDE_SYMBOL,
    ORDERED_COLLECTION,
    SET,
    LINKED_LIST,
    VALUE_LINK,
    INTERVAL,
    PAIR,
    WRITE_STREAM,
    CLOSURE,
    TOKEN,
    NODE,
    CLASS_ENTITY,
    ATTRIBUTE,
    METHOD,
    REFERENCE, /* to a class */
    ACCESS,    /* to an attribute */
    INVOCATION,
    CANDIDATES, /* of an invocation */
    ANCHOR,
    MOOSE_CLASSES
};

enum moose_site {
    SITE_TEXT,
    SITE_SYMBOL,
    SITE_TOKEN,
    SITE_TOKEN_INTERVAL,
    SITE_NODE,
    SITE_STATEMENT,
    SITE_STATEMENT_ARRAY,
    SITE_STATEMENTS,
    SITE_STATEMENTS_LINK,
    SITE_CLASS,
    SITE_ATTRIBUTE,
    SITE_METHOD,
    SITE_REFERENCE,
    SITE_ACCESS,
    SITE_INVOCATION,
    SITE_CANDIDATES,
    SITE_ANCHOR,
    SITE_OUTGOING,
    SITE_ENTITIES,
    SITE_NAMES,
    SITE_TARGETS,
    SITE_TARGETS_ARRAY,
    SITE_RESULT,
    SITE_RESULT_ARRAY,
    SITE_RESULT_PAIR,
    SITE_RESULT_BLOCK,
    SITE_STREAM,
    SITE_FULL_NAME,
    SITE_EXTENT,
    SITE_HIERARCHY,
    SITE_HIERARCHY_LINK,
    MOOSE_SITES
};

/* Slots. */
enum { LIST_ARRAY, LIST_FIRST, LIST_LAST, LIST_SLOTS }; /* OrderedCollection */
enum { SET_ARRAY, SET_TALLY, SET_SLOTS };
enum { LINKED_FIRST, LINKED_LAST, LINKED_SLOTS };
enum { LINK_NEXT, LINK_VALUE, LINK_SLOTS };
enum { INTERVAL_START, INTERVAL_STOP, INTERVAL_STEP, INTERVAL_SLOTS };
enum { PAIR_KEY, PAIR_VALUE, PAIR_SLOTS };
enum { STREAM_COLLECTION, STREAM_POSITION, STREAM_READ_LIMIT, STREAM_WRITE_LIMIT, STREAM_SLOTS };
enum { CLOSURE_OUTER, CLOSURE_CODE, CLOSURE_ARGUMENTS, CLOSURE_RECEIVER, CLOSURE_COPIED, CLOSURE_SLOTS };
enum { TOKEN_TEXT, TOKEN_START, TOKEN_STOP, TOKEN_COMMENTS, TOKEN_SLOTS };
enum { NODE_PARENT, NODE_TOKEN, NODE_INTERVAL, NODE_PROPERTIES, NODE_COMMENTS, NODE_SCOPE, NODE_SLOTS };
enum { CANDIDATES_OWNER, CANDIDATES_OPPOSITE, CANDIDATES_VALUES, CANDIDATES_SLOTS };
enum { ANCHOR_ELEMENT, ANCHOR_FILE, ANCHOR_START, ANCHOR_STOP, ANCHOR_SLOTS };
/* Classes, attributes and methods. */
enum {
    ENTITY_ID,
    ENTITY_NAME,
    ENTITY_OWNER,    /* of an attribute or a method: its class; of a class: its superclass, or EDEN_NONE */
    ENTITY_INCOMING, /* the newest association to it, which leads to the others */
    ENTITY_OUTGOING, /* of a method: Array of associations from it */
    ENTITY_SLOTS
};
/* References, accesses and invocations. */
enum {
    ASSOCIATION_SOURCE,
    ASSOCIATION_TARGET,
    ASSOCIATION_NEXT, /* the association to this target before it */
    ASSOCIATION_ANCHOR,
    ASSOCIATION_STATEMENT,  /* its number in the method */
    ASSOCIATION_CANDIDATES, /* of an invocation */
    ASSOCIATION_MODEL,
    ASSOCIATION_SLOTS
};

/* Defines them all; `sites` has MOOSE_SITES places. False after program_fail. */
bool moose_define(struct program *program, eden_heap *heap, eden_class *sites);

#endif
