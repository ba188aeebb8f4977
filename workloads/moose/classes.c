#include "classes.h"

static const eden_class_definition classes[MOOSE_CLASSES] = {
    [ARRAY] = {"Array", EDEN_FORMAT_VARIABLE, 0},
    [WIDE_STRING] = {"WideString", EDEN_FORMAT_WORDS32, 0},
    [WIDE_SYMBOL] = {"WideSymbol", EDEN_FORMAT_WORDS32, 0},
    [ORDERED_COLLECTION] = {"OrderedCollection", EDEN_FORMAT_FIXED, LIST_SLOTS},
    [SET] = {"Set", EDEN_FORMAT_FIXED, SET_SLOTS},
    [LINKED_LIST] = {"LinkedList", EDEN_FORMAT_FIXED, LINKED_SLOTS},
    [VALUE_LINK] = {"ValueLink", EDEN_FORMAT_FIXED, LINK_SLOTS},
    [INTERVAL] = {"Interval", EDEN_FORMAT_FIXED, INTERVAL_SLOTS},
    [PAIR] = {"Association", EDEN_FORMAT_FIXED, PAIR_SLOTS},
    [WRITE_STREAM] = {"WriteStream", EDEN_FORMAT_FIXED, STREAM_SLOTS},
    [CLOSURE] = {"FullBlockClosure", EDEN_FORMAT_FIXED, CLOSURE_SLOTS},
    [TOKEN] = {"RBIdentifierToken", EDEN_FORMAT_FIXED, TOKEN_SLOTS},
    [NODE] = {"RBVariableNode", EDEN_FORMAT_FIXED, NODE_SLOTS},
    [CLASS_ENTITY] = {"FamixStClass", EDEN_FORMAT_FIXED, ENTITY_SLOTS},
    [ATTRIBUTE] = {"FamixStAttribute", EDEN_FORMAT_FIXED, ENTITY_SLOTS},
    [METHOD] = {"FamixStMethod", EDEN_FORMAT_FIXED, ENTITY_SLOTS},
    [REFERENCE] = {"FamixStReference", EDEN_FORMAT_FIXED, ASSOCIATION_SLOTS},
    [ACCESS] = {"FamixStAccess", EDEN_FORMAT_FIXED, ASSOCIATION_SLOTS},
    [INVOCATION] = {"FamixStInvocation", EDEN_FORMAT_FIXED, ASSOCIATION_SLOTS},
    [CANDIDATES] = {"FMMultivalueLink", EDEN_FORMAT_FIXED, CANDIDATES_SLOTS},
    [ANCHOR] = {"FamixStFileAnchor", EDEN_FORMAT_FIXED, ANCHOR_SLOTS},
};

static const struct program_site sites[MOOSE_SITES] = {
    [SITE_TEXT] = {WIDE_STRING, "RBScanner>>scanWord"},
    [SITE_SYMBOL] = {WIDE_SYMBOL, "WideString>>asSymbol"},
    [SITE_TOKEN] = {TOKEN, "RBScanner>>next"},
    [SITE_TOKEN_INTERVAL] = {INTERVAL, "RBToken>>sourceInterval"},
    [SITE_NODE] = {NODE, "RBParser>>parseVariableNode"},
    [SITE_STATEMENT] = {ORDERED_COLLECTION, "RBParser>>parseStatementList"},
    [SITE_STATEMENT_ARRAY] = {ARRAY, "RBParser>>parseStatementList: array"},
    [SITE_STATEMENTS] = {LINKED_LIST, "RBParser>>parseMethod"},
    [SITE_STATEMENTS_LINK] = {VALUE_LINK, "RBParser>>parseMethod: add:"},
    [SITE_CLASS] = {CLASS_ENTITY, "MooseImporter>>importClass:"},
    [SITE_ATTRIBUTE] = {ATTRIBUTE, "MooseImporter>>importAttribute:"},
    [SITE_METHOD] = {METHOD, "MooseImporter>>importMethod:"},
    [SITE_REFERENCE] = {REFERENCE, "MooseImporter>>newReference"},
    [SITE_ACCESS] = {ACCESS, "MooseImporter>>newAccess"},
    [SITE_INVOCATION] = {INVOCATION, "MooseImporter>>newInvocation"},
    [SITE_CANDIDATES] = {CANDIDATES, "FamixStInvocation>>candidates"},
    [SITE_ANCHOR] = {ANCHOR, "MooseImporter>>newAnchor"},
    [SITE_OUTGOING] = {ARRAY, "FamixStMethod>>outgoing"},
    [SITE_ENTITIES] = {ARRAY, "MooseModel>>entities"},
    [SITE_NAMES] = {ARRAY, "MooseModel>>entitiesByName"},
    [SITE_TARGETS] = {SET, "MooseQuery>>targets asSet"},
    [SITE_TARGETS_ARRAY] = {ARRAY, "MooseQuery>>targets asSet: array"},
    [SITE_RESULT] = {ORDERED_COLLECTION, "MooseQuery>>collect:"},
    [SITE_RESULT_ARRAY] = {ARRAY, "MooseQuery>>collect: array"},
    [SITE_RESULT_PAIR] = {PAIR, "MooseQuery>>name -> target"},
    [SITE_RESULT_BLOCK] = {CLOSURE, "MooseQuery>>collect: block"},
    [SITE_STREAM] = {WRITE_STREAM, "WideString class>>streamContents:"},
    [SITE_FULL_NAME] = {WIDE_STRING, "MooseEntity>>mooseName"},
    [SITE_EXTENT] = {INTERVAL, "FamixStFileAnchor>>interval"},
    [SITE_HIERARCHY] = {LINKED_LIST, "FamixStClass>>superclassHierarchy"},
    [SITE_HIERARCHY_LINK] = {VALUE_LINK, "FamixStClass>>superclassHierarchy: add:"},
};

bool moose_define(struct program *program, eden_heap *heap, eden_class *defined) {
    eden_class ignored[MOOSE_CLASSES];
    return program_define(program, heap, classes, MOOSE_CLASSES, ignored, sites, MOOSE_SITES, defined);
}
