#include "classes.h"

static const eden_class_definition definitions[CLASSES] = {
    [KIND_STRUCT] = {"FamixCStruct", EDEN_FORMAT_FIXED, RECORD_SLOTS},
    [KIND_UNION] = {"FamixCUnion", EDEN_FORMAT_FIXED, RECORD_SLOTS},
    [KIND_ENUM] = {"FamixCEnum", EDEN_FORMAT_FIXED, OWNER_SLOTS},
    [KIND_PRIMITIVE] = {"FamixPrimitiveType", EDEN_FORMAT_FIXED, TYPE_SLOTS},
    [KIND_FORWARD] = {"FamixForwardType", EDEN_FORMAT_FIXED, TYPE_SLOTS},
    [KIND_FUNCTION_TYPE] = {"FamixFunctionType", EDEN_FORMAT_FIXED, OWNER_SLOTS},
    [KIND_POINTER] = {"FamixPointerType", EDEN_FORMAT_FIXED, TYPE_SLOTS},
    [KIND_TYPEDEF] = {"FamixTypedef", EDEN_FORMAT_FIXED, TYPE_SLOTS},
    [KIND_CONST] = {"FamixConstType", EDEN_FORMAT_FIXED, TYPE_SLOTS},
    [KIND_VOLATILE] = {"FamixVolatileType", EDEN_FORMAT_FIXED, TYPE_SLOTS},
    [KIND_RESTRICT] = {"FamixRestrictType", EDEN_FORMAT_FIXED, TYPE_SLOTS},
    [KIND_TYPE_TAG] = {"FamixTypeTag", EDEN_FORMAT_FIXED, TYPE_SLOTS},
    [KIND_ARRAY] = {"FamixArrayType", EDEN_FORMAT_FIXED, ARRAY_SLOTS},
    [KIND_FUNCTION] = {"FamixCFunction", EDEN_FORMAT_FIXED, ROOT_ENTITY_SLOTS},
    [KIND_VARIABLE] = {"FamixGlobalVariable", EDEN_FORMAT_FIXED, ROOT_ENTITY_SLOTS},
    [KIND_SECTION] = {"FamixDataSection", EDEN_FORMAT_FIXED, SECTION_SLOTS},
    [KIND_TAG] = {"FamixAnnotation", EDEN_FORMAT_FIXED, ROOT_ENTITY_SLOTS},
    [KIND_ATTRIBUTE] = {"FamixAttribute", EDEN_FORMAT_FIXED, ATTRIBUTE_SLOTS},
    [KIND_ENUM_VALUE] = {"FamixEnumValue", EDEN_FORMAT_FIXED, ENUM_VALUE_SLOTS},
    [KIND_PARAMETER] = {"FamixParameter", EDEN_FORMAT_FIXED, PARAMETER_SLOTS},
    [CLASS_MODEL] = {"MooseModel", EDEN_FORMAT_FIXED, MODEL_SLOTS},
    [CLASS_REFERENCE] = {"FamixReference", EDEN_FORMAT_FIXED, REFERENCE_SLOTS},
    [CLASS_STATE] = {"MooseEntityState", EDEN_FORMAT_FIXED, STATE_SLOTS},
    [CLASS_STRING] = {"ByteString", EDEN_FORMAT_BYTES, 0},
    [CLASS_SYMBOL] = {"ByteSymbol", EDEN_FORMAT_BYTES, 0},
    [CLASS_POSITIVE] = {"LargePositiveInteger", EDEN_FORMAT_BYTES, 0},
    [CLASS_NEGATIVE] = {"LargeNegativeInteger", EDEN_FORMAT_BYTES, 0},
    [CLASS_ARRAY] = {"Array", EDEN_FORMAT_VARIABLE, 0},
    [CLASS_WORDS] = {"WordArray", EDEN_FORMAT_WORDS32, 0},
    [CLASS_LIST] = {"OrderedCollection", EDEN_FORMAT_FIXED, LIST_SLOTS},
    [CLASS_LINK] = {"FMMultivalueLink", EDEN_FORMAT_FIXED, LIST_SLOTS},
    [CLASS_GROUP] = {"MooseGroup", EDEN_FORMAT_FIXED, LIST_SLOTS},
    [CLASS_SET] = {"Set", EDEN_FORMAT_FIXED, HASHED_SLOTS},
    [CLASS_DICTIONARY] = {"Dictionary", EDEN_FORMAT_FIXED, HASHED_SLOTS},
    [CLASS_PAIR] = {"Association", EDEN_FORMAT_FIXED, PAIR_SLOTS},
    [CLASS_INTERVAL] = {"Interval", EDEN_FORMAT_FIXED, INTERVAL_SLOTS},
    [CLASS_VISIT] = {"MooseNestingVisit", EDEN_FORMAT_FIXED, VISIT_SLOTS},
    [CLASS_NODE] = {"MalTarjanNode", EDEN_FORMAT_FIXED, NODE_SLOTS},
    [CLASS_REPORT] = {"MooseReport", EDEN_FORMAT_FIXED, LIST_SLOTS},
};

static const struct program_site sites[SITES] = {
    [KIND_STRUCT] = {KIND_STRUCT, "MooseBtfImporter>>importStruct"},
    [KIND_UNION] = {KIND_UNION, "MooseBtfImporter>>importUnion"},
    [KIND_ENUM] = {KIND_ENUM, "MooseBtfImporter>>importEnum"},
    [KIND_PRIMITIVE] = {KIND_PRIMITIVE, "MooseBtfImporter>>importPrimitive"},
    [KIND_FORWARD] = {KIND_FORWARD, "MooseBtfImporter>>importForward"},
    [KIND_FUNCTION_TYPE] = {KIND_FUNCTION_TYPE, "MooseBtfImporter>>importFunctionType"},
    [KIND_POINTER] = {KIND_POINTER, "MooseBtfImporter>>importPointer"},
    [KIND_TYPEDEF] = {KIND_TYPEDEF, "MooseBtfImporter>>importTypedef"},
    [KIND_CONST] = {KIND_CONST, "MooseBtfImporter>>importConst"},
    [KIND_VOLATILE] = {KIND_VOLATILE, "MooseBtfImporter>>importVolatile"},
    [KIND_RESTRICT] = {KIND_RESTRICT, "MooseBtfImporter>>importRestrict"},
    [KIND_TYPE_TAG] = {KIND_TYPE_TAG, "MooseBtfImporter>>importTypeTag"},
    [KIND_ARRAY] = {KIND_ARRAY, "MooseBtfImporter>>importArray"},
    [KIND_FUNCTION] = {KIND_FUNCTION, "MooseBtfImporter>>importFunction"},
    [KIND_VARIABLE] = {KIND_VARIABLE, "MooseBtfImporter>>importVariable"},
    [KIND_SECTION] = {KIND_SECTION, "MooseBtfImporter>>importSection"},
    [KIND_TAG] = {KIND_TAG, "MooseBtfImporter>>importAnnotation"},
    [KIND_ATTRIBUTE] = {KIND_ATTRIBUTE, "MooseBtfImporter>>importAttribute"},
    [KIND_ENUM_VALUE] = {KIND_ENUM_VALUE, "MooseBtfImporter>>importEnumValue"},
    [KIND_PARAMETER] = {KIND_PARAMETER, "MooseBtfImporter>>importParameter"},
    [SITE_NAME] = {CLASS_STRING, "MooseBtfImporter>>nextName"},
    [SITE_SYMBOL] = {CLASS_SYMBOL, "String>>asSymbol"},
    [SITE_SYMBOLS] = {CLASS_SET, "Symbol class>>symbolTable"},
    [SITE_SYMBOLS_ARRAY] = {CLASS_ARRAY, "Symbol class>>symbolTable"},
    [SITE_POSITIVE] = {CLASS_POSITIVE, "MooseBtfImporter>>nextInteger"},
    [SITE_NEGATIVE] = {CLASS_NEGATIVE, "MooseBtfImporter>>nextInteger"},
    [SITE_REFERENCE] = {CLASS_REFERENCE, "MooseBtfImporter>>referFrom:to:"},
    [SITE_PARTS] = {CLASS_LINK, "FamixType>>addPart:"},
    [SITE_PARTS_ARRAY] = {CLASS_ARRAY, "FamixType>>addPart:"},
    [SITE_INCOMING] = {CLASS_LINK, "FamixType>>addIncomingReference:"},
    [SITE_INCOMING_ARRAY] = {CLASS_ARRAY, "FamixType>>addIncomingReference:"},
    [SITE_MODEL] = {CLASS_MODEL, "MooseModel class>>new"},
    [SITE_TYPES] = {CLASS_ARRAY, "MooseModel>>types"},
    [SITE_GROUPS] = {CLASS_ARRAY, "MooseModel>>initialize"},
    [SITE_GROUP] = {CLASS_GROUP, "MooseModel>>add:"},
    [SITE_GROUP_ARRAY] = {CLASS_ARRAY, "MooseModel>>add:"},
    [SITE_MARKS] = {CLASS_WORDS, "MooseNestingVisitor>>checkChains"},
    [SITE_VISIT] = {CLASS_VISIT, "MooseNestingVisitor>>visit:"},
    [SITE_VISITS] = {CLASS_LIST, "MooseNestingVisitor>>initialize"},
    [SITE_VISITS_ARRAY] = {CLASS_ARRAY, "MooseNestingVisitor>>initialize"},
    [SITE_STATE] = {CLASS_STATE, "MooseEntity>>privateState"},
    [SITE_INTERVAL] = {CLASS_INTERVAL, "FamixAttribute>>bitInterval"},
    [SITE_PROVIDER_SET] = {CLASS_SET, "FamixCStruct>>queryProviders"},
    [SITE_PROVIDER_SET_ARRAY] = {CLASS_ARRAY, "FamixCStruct>>queryProviders asSet"},
    [SITE_PROVIDERS] = {CLASS_GROUP, "FamixCStruct>>queryProviders"},
    [SITE_PROVIDERS_ARRAY] = {CLASS_ARRAY, "FamixCStruct>>queryProviders"},
    [SITE_CLIENT_SET] = {CLASS_SET, "FamixCStruct>>queryClients"},
    [SITE_CLIENT_SET_ARRAY] = {CLASS_ARRAY, "FamixCStruct>>queryClients asSet"},
    [SITE_CLIENTS] = {CLASS_GROUP, "FamixCStruct>>queryClients"},
    [SITE_CLIENTS_ARRAY] = {CLASS_ARRAY, "FamixCStruct>>queryClients"},
    [SITE_ALIASES] = {CLASS_LIST, "FamixType>>allAliases"},
    [SITE_ALIASES_ARRAY] = {CLASS_ARRAY, "FamixType>>allAliases"},
    [SITE_REACHED_SET] = {CLASS_SET, "MooseQuery>>closure"},
    [SITE_REACHED_SET_ARRAY] = {CLASS_ARRAY, "MooseQuery>>closure asSet"},
    [SITE_REACHED] = {CLASS_GROUP, "MooseQuery>>closure"},
    [SITE_REACHED_ARRAY] = {CLASS_ARRAY, "MooseQuery>>closure"},
    [SITE_SCOPE_SET] = {CLASS_SET, "MooseGroup>>asSet"},
    [SITE_SCOPE_SET_ARRAY] = {CLASS_ARRAY, "MooseGroup>>asSet"},
    [SITE_SCOPE] = {CLASS_GROUP, "MooseGroup>>union:"},
    [SITE_SCOPE_ARRAY] = {CLASS_ARRAY, "MooseGroup>>union:"},
    [SITE_NODE] = {CLASS_NODE, "MalTarjan>>nodes:"},
    [SITE_NODES] = {CLASS_DICTIONARY, "MalTarjan>>nodes:"},
    [SITE_NODES_ARRAY] = {CLASS_ARRAY, "MalTarjan>>nodes:"},
    [SITE_NODES_PAIR] = {CLASS_PAIR, "MalTarjan>>nodes:"},
    [SITE_TRAIL] = {CLASS_LIST, "MalTarjan>>traverse:"},
    [SITE_TRAIL_ARRAY] = {CLASS_ARRAY, "MalTarjan>>traverse:"},
    [SITE_STACK] = {CLASS_LIST, "MalTarjan>>putOnStack:"},
    [SITE_STACK_ARRAY] = {CLASS_ARRAY, "MalTarjan>>putOnStack:"},
    [SITE_COMPONENT] = {CLASS_LIST, "MalTarjan>>popComponent:"},
    [SITE_COMPONENT_ARRAY] = {CLASS_ARRAY, "MalTarjan>>popComponent:"},
    [SITE_COMPONENTS] = {CLASS_LIST, "MalTarjan>>stronglyConnectedComponents"},
    [SITE_COMPONENTS_ARRAY] = {CLASS_ARRAY, "MalTarjan>>stronglyConnectedComponents"},
    [SITE_RANKED] = {CLASS_LIST, "MooseGroup>>rankedBy:"},
    [SITE_RANKED_ARRAY] = {CLASS_ARRAY, "MooseGroup>>rankedBy:"},
    [SITE_RANKED_PAIR] = {CLASS_PAIR, "MooseGroup>>rankedBy:"},
    [SITE_SORTED] = {CLASS_ARRAY, "SequenceableCollection>>sorted:"},
    [SITE_SCRATCH] = {CLASS_ARRAY, "ArrayedCollection>>mergeSortFrom:to:by:"},
    [SITE_ROW] = {CLASS_ARRAY, "MooseReport>>row"},
    [SITE_ROWS] = {CLASS_LIST, "MooseReport>>rows"},
    [SITE_ROWS_ARRAY] = {CLASS_ARRAY, "MooseReport>>rows"},
    [SITE_GROUPED] = {CLASS_DICTIONARY, "MooseGroup>>groupedBy:"},
    [SITE_GROUPED_ARRAY] = {CLASS_ARRAY, "MooseGroup>>groupedBy:"},
    [SITE_GROUPED_PAIR] = {CLASS_PAIR, "MooseGroup>>groupedBy:"},
    [SITE_GROUPED_LIST] = {CLASS_LIST, "MooseGroup>>groupedBy: value"},
    [SITE_GROUPED_LIST_ARRAY] = {CLASS_ARRAY, "MooseGroup>>groupedBy: value"},
    [SITE_BAG] = {CLASS_DICTIONARY, "MooseGroup>>namesAsBag"},
    [SITE_BAG_ARRAY] = {CLASS_ARRAY, "MooseGroup>>namesAsBag"},
    [SITE_BAG_PAIR] = {CLASS_PAIR, "MooseGroup>>namesAsBag"},
    [SITE_VALUES] = {CLASS_SET, "FamixCEnum>>values asSet"},
    [SITE_VALUES_ARRAY] = {CLASS_ARRAY, "FamixCEnum>>values asSet"},
    [SITE_SELECTED] = {CLASS_GROUP, "MooseGroup>>select:"},
    [SITE_SELECTED_ARRAY] = {CLASS_ARRAY, "MooseGroup>>select:"},
    [SITE_TAKER_SET] = {CLASS_SET, "FamixCStruct>>queryTakers"},
    [SITE_TAKER_SET_ARRAY] = {CLASS_ARRAY, "FamixCStruct>>queryTakers asSet"},
    [SITE_TAKERS] = {CLASS_GROUP, "FamixCStruct>>queryTakers"},
    [SITE_TAKERS_ARRAY] = {CLASS_ARRAY, "FamixCStruct>>queryTakers"},
    [SITE_PARAMETER_TYPES] = {CLASS_ARRAY, "FamixCFunction>>parameterTypes"},
    [SITE_PREFIX] = {CLASS_STRING, "String>>first:"},
    [SITE_REPORT] = {CLASS_REPORT, "MooseReport class>>new"},
    [SITE_REPORT_ARRAY] = {CLASS_ARRAY, "MooseReport>>at:put:"},
    [SITE_REPORT_PAIR] = {CLASS_PAIR, "MooseReport>>at:put:"},
    [SITE_ROUNDS] = {CLASS_LIST, "MooseSession>>rounds"},
    [SITE_ROUNDS_ARRAY] = {CLASS_ARRAY, "MooseSession>>rounds"},
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
