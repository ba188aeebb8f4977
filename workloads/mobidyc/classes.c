/* The classes of the world, and the places that make their instances. */
#include "world.h"

static const eden_class_definition classes[WORLD_CLASSES] = {
    [ARRAY] = {"Array", EDEN_FORMAT_VARIABLE, 0},
    [DICTIONARY] = {"Dictionary", EDEN_FORMAT_FIXED, DICTIONARY_SLOTS},
    [ASSOCIATION] = {"Association", EDEN_FORMAT_FIXED, ASSOCIATION_SLOTS},
    [GENERATOR] = {"RMDFishmanMooreRandomGenerator", EDEN_FORMAT_FIXED, GENERATOR_SLOTS},
    [POINT] = {"Point", EDEN_FORMAT_FIXED, POINT_SLOTS},
    [PATCH] = {"RMDPatch", EDEN_FORMAT_FIXED, PATCH_SLOTS},
    [GOAT_CLASS] = {"Goat", EDEN_FORMAT_FIXED, ANIMAT_SLOTS},
    [WOLF_CLASS] = {"Wolf", EDEN_FORMAT_FIXED, ANIMAT_SLOTS},
};

static const struct program_site sites[WORLD_SITES] = {
    [SITE_PATCHES] = {ARRAY, "RMDInterpreter>>setupPatches"},
    [SITE_PATCH] = {PATCH, "RMDPatch class>>new"},
    [SITE_HERD] = {ARRAY, "OrderedCollection>>growAtLast"},
    [SITE_GOAT] = {GOAT_CLASS, "Goat class>>new"},
    [SITE_WOLF] = {WOLF_CLASS, "Wolf class>>new"},
    [SITE_PLACE] = {POINT, "RMDAnimat>>moveTo:"},
    [SITE_GENERATOR] = {GENERATOR, "RMDTask>>randomGenerator"},
    [SITE_AROUND] = {ARRAY, "RMDInterpreter>>patchesAround:"},
    [SITE_WEIGHTS] = {ARRAY, "RMDTask>>weightsOf:"},
    [SITE_ARGUMENTS] = {DICTIONARY, "RMDTask>>arguments"},
    [SITE_ARGUMENTS_ARRAY] = {ARRAY, "RMDTask>>arguments"},
    [SITE_ARGUMENT] = {ASSOCIATION, "RMDTask>>arguments"},
    [SITE_MEMORY] = {DICTIONARY, "RMDAgent>>nextMemory"},
    [SITE_MEMORY_ARRAY] = {ARRAY, "RMDAgent>>nextMemory"},
    [SITE_ATTRIBUTE] = {ASSOCIATION, "RMDAgent>>attributeAt:put:"},
};

bool world_define(struct world *world) {
    eden_class ignored[WORLD_CLASSES];
    return program_define(world->program, eden_mutator_heap(world->mutator), classes, WORLD_CLASSES, ignored, sites,
                          WORLD_SITES, world->sites);
}
