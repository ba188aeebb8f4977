#include "classes.h"

enum {
    BOXED_FLOAT,
    ARRAY,
    ASSOCIATION,
    DICTIONARY,
    ORDERED_COLLECTION,
    POINT,
    PARTICLE,
    PARTICLE_MAP,
    SAMPLE,
    CLASSES
};

static const eden_class_definition definitions[CLASSES] = {
    [BOXED_FLOAT] = {"BoxedFloat64", EDEN_FORMAT_WORDS64, 0},
    [ARRAY] = {"Array", EDEN_FORMAT_VARIABLE, 0},
    [ASSOCIATION] = {"Association", EDEN_FORMAT_FIXED, ASSOCIATION_SLOTS},
    [DICTIONARY] = {"Dictionary", EDEN_FORMAT_FIXED, DICTIONARY_SLOTS},
    [ORDERED_COLLECTION] = {"OrderedCollection", EDEN_FORMAT_FIXED, LIST_SLOTS},
    [POINT] = {"HG2dPoint", EDEN_FORMAT_FIXED, POINT_SLOTS},
    [PARTICLE] = {"HGParticle", EDEN_FORMAT_FIXED, PARTICLE_SLOTS},
    [PARTICLE_MAP] = {"HGSpatialPartitionedCollection", EDEN_FORMAT_FIXED, MAP_SLOTS},
    [SAMPLE] = {"HGSample", EDEN_FORMAT_FIXED, SAMPLE_SLOTS},
};

static const struct program_site site_definitions[SITES] = {
    [SITE_FLOAT] = {BOXED_FLOAT, "BoxedFloat64 class>>basicNew"},

    [SITE_PARTICLES] = {ARRAY, "HGSimulator>>initialize"},
    [SITE_PARTICLE] = {PARTICLE, "HGSimulator>>addParticleAt:temperature:mass:"},
    [SITE_START_POSITION] = {POINT, "HGRandomPosition>>effect:in:deltaT:"},
    [SITE_START_VELOCITY] = {POINT, "HGVelocityInitialization>>effect:in:deltaT:"},
    [SITE_SAMPLES] = {ORDERED_COLLECTION, "HGSimulator>>samples"},
    [SITE_SAMPLE] = {SAMPLE, "HGSimulator>>addSample"},

    [SITE_MAP] = {PARTICLE_MAP, "HGSpatialPartitionedCollection class>>origin:corner:step:"},
    [SITE_MAP_SIZE] = {POINT, "HGSpatialPartitionedCollection class>>origin:corner:step:"},
    [SITE_MAP_PARTITIONS] = {DICTIONARY, "HGSpatialPartitionedCollection>>initialize"},
    [SITE_MAP_ARRAY] = {ARRAY, "Dictionary>>initialize:"},
    [SITE_PARTITION] = {ORDERED_COLLECTION, "HGSpatialPartitionedCollection>>at:add:"},
    [SITE_PARTITION_KEYED] = {ASSOCIATION, "Dictionary>>at:put:"},
    [SITE_DICTIONARY_GROWN] = {ARRAY, "Dictionary>>grow"},
    [SITE_LIST_ARRAY] = {ARRAY, "OrderedCollection>>initialize:"},
    [SITE_LIST_GROWN] = {ARRAY, "OrderedCollection>>growAtLast"},
    [SITE_INDEX_POINT] = {POINT, "HGSpatialPartitionedCollection>>indexPointAt:"},
    [SITE_RANGE] = {POINT, "HGSpatialPartitionedCollection>>at:within:do:"},
    [SITE_CORNER] = {POINT, "HG2dPoint>>corner:do:"},
    [SITE_NEIGHBORS] = {ORDERED_COLLECTION, "HGSimulator>>neighborsOf:within:"},
    [SITE_NEIGHBOR] = {ASSOCIATION, "HGSimulator>>neighborsOf:within:"},

    [SITE_FORCE] = {POINT, "HGForceInitialization>>effect:in:deltaT:"},
    [SITE_PRESSURE] = {POINT, "HGPressureRepulsion>>effect:in:deltaT:"},
    [SITE_VISCOSITY] = {POINT, "HGViscosityTraction>>effect:in:deltaT:"},
    [SITE_GRAVITY] = {POINT, "HGGravity>>effect:in:deltaT:"},

    [SITE_ACCELERATED] = {POINT, "HGForceIntegration>>effect:in:deltaT:"},
    [SITE_MOVED] = {POINT, "HGVelocityIntegration>>effect:in:deltaT:"},
    [SITE_REFLECTED] = {POINT, "HGBoundingBox>>effect:in:deltaT:"},

    [SITE_MOMENTUM] = {POINT, "HGSimulator>>momentum"},
    [SITE_CENTRE] = {POINT, "HGSimulator>>centreOfMass"},
};

bool sph_sites_define(struct program *program, eden_heap *heap, eden_class sites[SITES]) {
    eden_class classes[CLASSES];
    return program_define(program, heap, definitions, CLASSES, classes, site_definitions, SITES, sites);
}
