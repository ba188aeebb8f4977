/* The classes of the animated scene and the places of the program that make their instances.
 *
 * Names follow Pharo and its graphical framework Bloc; the flock's are ours, as Bloc has none. Every allocation goes
 * through a site, so that a profile separates, say, the Points of one steering rule from those of another. */
#ifndef BOIDS_CLASSES_H
#define BOIDS_CLASSES_H

#include "program.h"

/* Slots of the FIXED classes. */
enum { POINT_X, POINT_Y, POINT_SLOTS };
enum { COLLECTION_ARRAY, COLLECTION_COUNT, COLLECTION_SLOTS };
enum { BOUNDS_LEFT, BOUNDS_TOP, BOUNDS_RIGHT, BOUNDS_BOTTOM, BOUNDS_SLOTS };

enum {
    ELEMENT_PARENT,      /* EDEN_NONE: the root */
    ELEMENT_CHILDREN,    /* OrderedCollection, back to front; EDEN_NONE: a leaf */
    ELEMENT_LAYOUT,      /* what places the children; EDEN_NONE: a leaf */
    ELEMENT_CONSTRAINTS, /* what the element asks of its parent's layout */
    ELEMENT_PADDING,     /* BlInsets */
    ELEMENT_BOUNDS,      /* BlBounds in the parent's coordinates */
    ELEMENT_MEASURED,    /* Point: width and height */
    ELEMENT_SPEC,        /* the BlExtentMeasurementSpec that it was measured with */
    ELEMENT_STATE,       /* of enum state */
    ELEMENT_BACKGROUND,  /* a colour, or EDEN_NONE */
    ELEMENT_CONTENT,     /* ByteString of a text, BoidTrail of a polyline */
    ELEMENT_HANDLERS,    /* Array of BlEventHandlers, or EDEN_NONE */
    ELEMENT_SLOTS
};
enum { LAYOUT_DIRECTION, LAYOUT_SPACING, LAYOUT_SLOTS };
enum {
    CONSTRAINTS_WIDTH_KIND,
    CONSTRAINTS_WIDTH,
    CONSTRAINTS_HEIGHT_KIND,
    CONSTRAINTS_HEIGHT,
    CONSTRAINTS_POSITION,
    CONSTRAINTS_SLOTS
};
enum { SPEC_MODE, SPEC_SIZE, SPEC_SLOTS };
enum { EXTENT_SPEC_WIDTH, EXTENT_SPEC_HEIGHT, EXTENT_SPEC_SLOTS };
enum { HANDLER_EVENT, HANDLER_ACTION, HANDLER_RECEIVER, HANDLER_SLOTS };
enum { CHANGE_SOURCE, CHANGE_OLD, CHANGE_NEW, CHANGE_SLOTS };
enum { MOUSE_POSITION, MOUSE_CURRENT, MOUSE_CONSUMED, MOUSE_SLOTS };
enum { COMMAND_KIND, COMMAND_BOUNDS, COMMAND_COLOUR, COMMAND_CONTENT, COMMAND_SLOTS };

enum { FLOCK_BOIDS, FLOCK_GRID, FLOCK_POINTER, FLOCK_SLOTS };
enum { GRID_CELLS, GRID_SLOTS };
enum { BOID_POSITION, BOID_VELOCITY, BOID_NEIGHBOURS, BOID_ELEMENT, BOID_LABEL, BOID_TRAIL_ELEMENT, BOID_SLOTS };
enum { NEIGHBOUR_BOID, NEIGHBOUR_OFFSET, NEIGHBOUR_SLOTS };
enum { TRAIL_POINTS, TRAIL_NEXT, TRAIL_COUNT, TRAIL_BOUNDS, TRAIL_SLOTS };

/* The places that allocate; classes.def names them. */
enum site {
#define SITE(constant, class, name) constant,
#include "classes.def"
    SITES
};

/* Defines them all; sites gets SITES of them. False, after program_fail. */
bool classes_define(struct program *program, eden_heap *heap, eden_class *sites);

#endif
