#include "classes.h"

bool classes_define(struct program *program, eden_heap *heap, eden_class sites[SITES]) {
    enum {
        ARRAY,
        POINT,
        ORDERED_COLLECTION,
        HEAP,
        PATCH_CLASS,
        PATCH_STATE,
        ANIMAT_STATE,
        TASK,
        CENSUS,
        SPECIES_CLASS,
        CLASSES = SPECIES_CLASS + SPECIES
    };
    static const eden_class_definition definitions[CLASSES] = {
        [ARRAY] = {"Array", EDEN_FORMAT_VARIABLE, 0},
        [POINT] = {"Point", EDEN_FORMAT_FIXED, POINT_SLOTS},
        [ORDERED_COLLECTION] = {"OrderedCollection", EDEN_FORMAT_FIXED, LIST_SLOTS},
        [HEAP] = {"Heap", EDEN_FORMAT_FIXED, LIST_SLOTS},
        [PATCH_CLASS] = {"RMDPatch", EDEN_FORMAT_FIXED, PATCH_SLOTS},
        [PATCH_STATE] = {"RMDPatchState", EDEN_FORMAT_FIXED, GROWN_SLOTS},
        [ANIMAT_STATE] = {"RMDAnimatState", EDEN_FORMAT_FIXED, STATE_SLOTS},
        [TASK] = {"RMDTask", EDEN_FORMAT_FIXED, TASK_SLOTS},
        [CENSUS] = {"RMDCensus", EDEN_FORMAT_FIXED, CENSUS_SLOTS},
        [SPECIES_CLASS + GOAT] = {"Goat", EDEN_FORMAT_FIXED, ANIMAT_SLOTS},
        [SPECIES_CLASS + WOLF] = {"Wolf", EDEN_FORMAT_FIXED, ANIMAT_SLOTS},
    };
    static const struct program_site site_definitions[SITES] = {
        [SITE_PATCHES] = {ARRAY, "RMDInterpreter>>setupPatches"},
        [SITE_PATCH] = {PATCH_CLASS, "RMDPatch class>>column:row:"},
        [SITE_PATCH_SETUP] = {PATCH_STATE, "RMDPatch>>setup"},
        [SITE_PATCH_GROW] = {PATCH_STATE, "RMDPatch>>growGrass"},
        [SITE_AROUND] = {ARRAY, "RMDInterpreter>>patchesAround:"},
        [SITE_SETUP + GOAT] = {SPECIES_CLASS + GOAT, "Goat class>>setup"},
        [SITE_SETUP + WOLF] = {SPECIES_CLASS + WOLF, "Wolf class>>setup"},
        [SITE_BORN + GOAT] = {SPECIES_CLASS + GOAT, "Goat>>reproduce"},
        [SITE_BORN + WOLF] = {SPECIES_CLASS + WOLF, "Wolf>>reproduce"},
        [SITE_PLACE_SETUP] = {POINT, "RMDAnimat>>setupPlace"},
        [SITE_PLACE_GRASS] = {POINT, "Goat>>walkForGrass"},
        [SITE_PLACE_STRAY] = {POINT, "Wolf>>stray"},
        [SITE_VECTOR_MOVE] = {POINT, "RMDAnimat>>respire"},
        [SITE_VECTOR_CHASE] = {POINT, "RMDInteractionSpace>>nearestAnimatAround:"},
        [SITE_STATE_SETUP] = {ANIMAT_STATE, "RMDAnimat>>setupState"},
        [SITE_STATE_NEXT] = {ANIMAT_STATE, "RMDAnimat>>nextState"},
        [SITE_STATE_BORN] = {ANIMAT_STATE, "RMDAnimat>>bornState"},
        [SITE_TASK] = {TASK, "RMDInterpreter>>schedule:"},
        [SITE_QUEUE] = {HEAP, "RMDInterpreter>>setupTasks"},
        [SITE_QUEUE_GROW] = {ARRAY, "RMDInterpreter>>growTasks"},
        [SITE_SPACE] = {ARRAY, "RMDInteractionSpace class>>width:height:"},
        [SITE_CELL] = {ORDERED_COLLECTION, "RMDInteractionSpace>>add:"},
        [SITE_CELL_GROW] = {ARRAY, "RMDInteractionSpace>>growCell:"},
        [SITE_ANIMATS] = {ORDERED_COLLECTION, "RMDInterpreter>>survivors"},
        [SITE_ANIMATS_GROW] = {ARRAY, "RMDInterpreter>>growSurvivors"},
        [SITE_YOUNG] = {ORDERED_COLLECTION, "RMDInterpreter>>young"},
        [SITE_YOUNG_GROW] = {ARRAY, "RMDInterpreter>>growYoung"},
        [SITE_CENSUS] = {CENSUS, "RMDInterpreter>>census"},
        [SITE_CHRONICLE] = {ORDERED_COLLECTION, "RMDChronicle class>>new"},
        [SITE_CHRONICLE_GROW] = {ARRAY, "RMDChronicle>>grow"},
    };
    eden_class classes[CLASSES];
    return program_define(program, heap, definitions, CLASSES, classes, site_definitions, SITES, sites);
}
