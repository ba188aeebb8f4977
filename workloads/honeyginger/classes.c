/* The classes of the fluid, and the places that make their instances. */
#include "fluid.h"

static const eden_class_definition classes[FLUID_CLASSES] = {
    [ARRAY] = {"Array", EDEN_FORMAT_VARIABLE, 0},
    [POINT] = {"HG2dPoint", EDEN_FORMAT_FIXED, POINT_SLOTS},
    [PARTICLE] = {"HGParticle", EDEN_FORMAT_FIXED, PARTICLE_SLOTS},
    [CONTACT] = {"HGContact", EDEN_FORMAT_FIXED, CONTACT_SLOTS},
    [SCREEN_POINT] = {"Point", EDEN_FORMAT_FIXED, POINT_SLOTS},
    [RECTANGLE] = {"Rectangle", EDEN_FORMAT_FIXED, RECTANGLE_SLOTS},
    [FORM] = {"Form", EDEN_FORMAT_FIXED, FORM_SLOTS},
    [BITMAP] = {"Bitmap", EDEN_FORMAT_BYTES, 0},
};

static const struct program_site sites[FLUID_SITES] = {
    [SITE_PARTICLES] = {ARRAY, "HGSimulator>>initialize"},
    [SITE_PARTICLE] = {PARTICLE, "HGSimulator>>addParticleAt:temperature:mass:"},
    [SITE_START] = {POINT, "HGRandomPosition>>effect:in:deltaT:"},
    [SITE_MAP] = {ARRAY, "HGSpatialPartitionedCollection>>initialize"},
    [SITE_CELL] = {ARRAY, "HGSpatialPartitionedCollection>>at:add:"},
    [SITE_INDEX] = {POINT, "HGSpatialPartitionedCollection>>indexPointAt:"},
    [SITE_CORNER] = {POINT, "HG2dPoint>>corner:do:"},
    [SITE_DIRECTION] = {POINT, "HGSimulator>>particlesAt:within:do:"},
    [SITE_CONTACT] = {CONTACT, "HGSimulator>>particlesAt:within:do:"},
    [SITE_PRESSURE] = {POINT, "HGPressureRepulsion>>effect:in:deltaT:"},
    [SITE_VISCOSITY] = {POINT, "HGViscosityTraction>>effect:in:deltaT:"},
    [SITE_GRAVITY] = {POINT, "HGGravity>>effect:in:deltaT:"},
    [SITE_ACCELERATED] = {POINT, "HGForceIntegration>>effect:in:deltaT:"},
    [SITE_MOVED] = {POINT, "HGVelocityIntegration>>effect:in:deltaT:"},
    [SITE_TILE] = {FORM, "HGSimulatorMorph>>drawOn:"},
    [SITE_TILE_BITS] = {BITMAP, "Form>>setExtent:depth:"},
    [SITE_TILE_OFFSET] = {SCREEN_POINT, "Form>>offset:"},
    [SITE_BOUNDS] = {RECTANGLE, "HGParticle>>bounds"},
    [SITE_BOUNDS_CORNER] = {SCREEN_POINT, "HGParticle>>bounds"},
};

bool fluid_define(struct fluid *fluid) {
    eden_class ignored[FLUID_CLASSES];
    return program_define(fluid->program, eden_mutator_heap(fluid->mutator), classes, FLUID_CLASSES, ignored, sites,
                          FLUID_SITES, fluid->sites);
}
