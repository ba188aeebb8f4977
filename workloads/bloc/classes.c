#include "classes.h"

static const eden_class_definition classes[BLOC_CLASSES] = {
    [ARRAY] = {"Array", EDEN_FORMAT_VARIABLE, 0},
    [BYTE_STRING] = {"ByteString", EDEN_FORMAT_BYTES, 0},
    [POINT] = {"Point", EDEN_FORMAT_FIXED, POINT_SLOTS},
    [VECTOR] = {"BlVector2D", EDEN_FORMAT_FIXED, POINT_SLOTS},
    [BOUNDS] = {"BlBounds", EDEN_FORMAT_FIXED, BOUNDS_SLOTS},
    [SPEC] = {"BlExtentMeasurementSpec", EDEN_FORMAT_FIXED, SPEC_SLOTS},
    [SORTED] = {"BlChildrenSortedByElevation", EDEN_FORMAT_FIXED, SORTED_SLOTS},
    [EVENT] = {"BlElementBoundsChangedEvent", EDEN_FORMAT_FIXED, EVENT_SLOTS},
    [TRANSFORMATION] = {"BlAffineTransformation", EDEN_FORMAT_FIXED, MATRIX_SLOTS},
    [WRITE_STREAM] = {"WriteStream", EDEN_FORMAT_FIXED, STREAM_SLOTS},
    [ELEMENT] = {"BlElement", EDEN_FORMAT_FIXED, ELEMENT_SLOTS},
};

static const struct program_site sites[BLOC_SITES] = {
    [SITE_ELEMENT] = {ELEMENT, "BlElement class>>new"},
    [SITE_CHILDREN] = {ARRAY, "BlElement>>addChildren:"},
    [SITE_PATH] = {ARRAY, "Boid>>initialize"},
    [SITE_SORTED] = {SORTED, "BlChildren>>sortedByElevation"},
    [SITE_SORTED_ARRAY] = {ARRAY, "BlChildrenSortedByElevation>>sort"},
    [SITE_SPEC] = {SPEC, "BlLayout>>specFor:"},
    [SITE_EXTENT] = {POINT, "BlElement>>measure:"},
    [SITE_BOUNDS] = {BOUNDS, "BlElement>>applyLayoutIn:"},
    [SITE_EVENT] = {EVENT, "BlElement>>fireBoundsChanged"},
    [SITE_TRANSFORMATION] = {TRANSFORMATION, "BlElement>>fullDrawOn:"},
    [SITE_VECTOR] = {VECTOR, "Boid>>steer"},
    [SITE_POSITION] = {POINT, "Boid>>move"},
    [SITE_STREAM] = {WRITE_STREAM, "String class>>streamContents:"},
    [SITE_BUFFER] = {BYTE_STRING, "String class>>new:streamContents:"},
    [SITE_CONTENTS] = {BYTE_STRING, "WriteStream>>contents"},
};

bool bloc_define(struct program *program, eden_heap *heap, eden_class *defined) {
    eden_class ignored[BLOC_CLASSES];
    return program_define(program, heap, classes, BLOC_CLASSES, ignored, sites, BLOC_SITES, defined);
}
