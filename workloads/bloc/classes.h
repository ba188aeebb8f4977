/* The classes of the scene, and the places of the program that make their instances. Names follow Pharo's Bloc. */
#ifndef BLOC_CLASSES_H
#define BLOC_CLASSES_H

#include "program.h"

enum bloc_class {
    ARRAY,
    BYTE_STRING,
    POINT,
    VECTOR, /* a velocity */
    BOUNDS,
    SPEC, /* what a parent asks of a child that is measured */
    SORTED,
    EVENT,
    TRANSFORMATION,
    WRITE_STREAM,
    ELEMENT,
    BLOC_CLASSES
};

enum bloc_site {
    SITE_ELEMENT,
    SITE_CHILDREN,
    SITE_PATH,
    SITE_SORTED,
    SITE_SORTED_ARRAY,
    SITE_SPEC,
    SITE_EXTENT,
    SITE_BOUNDS,
    SITE_EVENT,
    SITE_TRANSFORMATION,
    SITE_VECTOR,
    SITE_POSITION,
    SITE_STREAM,
    SITE_BUFFER,
    SITE_CONTENTS,
    BLOC_SITES
};

/* Slots. Numbers are integers: positions and velocities in 1/256 pixel, all else in pixels. */
enum { POINT_X, POINT_Y, POINT_SLOTS };
enum { BOUNDS_LEFT, BOUNDS_TOP, BOUNDS_RIGHT, BOUNDS_BOTTOM, BOUNDS_SLOTS };
enum { SPEC_WIDTH_MODE, SPEC_WIDTH, SPEC_HEIGHT_MODE, SPEC_HEIGHT, SPEC_SLOTS };
enum { SORTED_OWNER, SORTED_ARRAY, SORTED_COUNT, SORTED_LOWEST, SORTED_HIGHEST, SORTED_SLOTS };
enum { EVENT_SOURCE, EVENT_OLD, EVENT_NEW, EVENT_FRAME, EVENT_SLOTS };
enum { MATRIX_SX, MATRIX_SHY, MATRIX_SHX, MATRIX_SY, MATRIX_X, MATRIX_Y, MATRIX_SLOTS };
enum { STREAM_COLLECTION, STREAM_POSITION, STREAM_READ_LIMIT, STREAM_WRITE_LIMIT, STREAM_SLOTS };
enum {
    ELEMENT_CHILDREN, /* Array; EDEN_NONE: a leaf */
    ELEMENT_ELEVATION,
    ELEMENT_BOUNDS,   /* BlBounds in the parent; EDEN_NONE before the first layout */
    ELEMENT_EXTENT,   /* Point: as measured */
    ELEMENT_POSITION, /* Point, of boids: where the layout is to put it; EDEN_NONE: below its siblings */
    ELEMENT_VELOCITY, /* BlVector2D, of boids */
    ELEMENT_PATH,     /* Array, a ring: where the boid was in the last frames */
    ELEMENT_TEXT,     /* ByteString, of labels */
    ELEMENT_SLOTS
};

/* Defines them all; `sites` has BLOC_SITES places. False after program_fail. */
bool bloc_define(struct program *program, eden_heap *heap, eden_class *sites);

#endif
