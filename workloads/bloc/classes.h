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

/* The places that allocate; classes.c names them. */
enum site {
    /* Long-lived: the tree and the flock, made once. */
    SITE_ELEMENT,
    SITE_TEXT_ELEMENT,
    SITE_TRAIL_ELEMENT,
    SITE_LINEAR_LAYOUT,
    SITE_BASIC_LAYOUT,
    SITE_CONSTRAINTS,
    SITE_INSETS,
    SITE_HANDLERS,
    SITE_HANDLER,
    SITE_CHILDREN,
    SITE_CHILDREN_ARRAY,
    SITE_FIRST_BOUNDS,
    SITE_FLOCK,
    SITE_FLOCK_BOIDS,
    SITE_BOID,
    SITE_BOID_START,
    SITE_TRAIL,
    SITE_TRAIL_POINTS,
    /* The flock's step. */
    SITE_BOXED,
    SITE_GRID,
    SITE_GRID_CELLS,
    SITE_GRID_CELL,
    SITE_GRID_CELL_ARRAY,
    SITE_OFFSET,
    SITE_NEIGHBOURS,
    SITE_NEIGHBOURS_ARRAY,
    SITE_NEIGHBOUR,
    SITE_SEPARATION,
    SITE_ALIGNMENT,
    SITE_COHESION,
    SITE_PACE,
    SITE_FLEE,
    SITE_ACCELERATION,
    SITE_ACCELERATIONS,
    SITE_VELOCITY,
    SITE_POSITION,
    SITE_TRAIL_BOUNDS,
    /* Elements. */
    SITE_RELOCATE,
    SITE_TEXT,
    SITE_SPEC,
    SITE_SPEC_SHRUNK,
    SITE_EXTENT_SPEC,
    SITE_MEASURED,
    SITE_BOUNDS,
    SITE_BOUNDS_CHANGED,
    /* Damage and drawing. */
    SITE_CHANGED,
    SITE_CHANGED_ARRAY,
    SITE_REGION,
    SITE_REGION_ARRAY,
    SITE_TRANSLATED,
    SITE_MERGED,
    SITE_ORIGIN,
    SITE_DRAWN_BOUNDS,
    SITE_COMMAND,
    SITE_COMMAND_POINTS,
    SITE_COMMANDS,
    SITE_COMMANDS_ARRAY,
    /* The pointer's events. */
    SITE_POINTER,
    SITE_LOCAL_POINT,
    SITE_PATH,
    SITE_PATH_ARRAY,
    SITE_MOUSE_MOVE,
    SITE_MOUSE_ENTER,
    SITE_MOUSE_LEAVE,
    SITE_TURNED,
    SITES
};

/* Defines them all; sites gets SITES of them. False, after program_fail. */
bool classes_define(struct program *program, eden_heap *heap, eden_class *sites);

#endif
