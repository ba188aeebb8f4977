/* The scene: what all files of the program share, and the steps that a frame is made of, in their order.
 *
 * A frame: the pointer's events find their elements as they stand (pointer.c); the flock moves (flock.c) and its
 * elements show that (show.c); the tree is measured and laid out (measure.c, arrange.c); the bounds that changed are
 * merged into the damage region (damage.c), and what meets the region is drawn (draw.c).
 *
 * Functions that may collect say so; those that answer false or EDEN_NONE have noted why with the program. Elements
 * have whole coordinates, as pixels have; boids have doubles. */
#ifndef BOIDS_SCENE_H
#define BOIDS_SCENE_H

#include "classes.h"
#include "random.h"

/* Pixels. The flock's world is what the layout leaves of the window (check.c makes sure of it). */
enum { WINDOW_WIDTH = 1280, WINDOW_HEIGHT = 720, PANEL_WIDTH = 200, HEADER_HEIGHT = 40 };
enum { WORLD_WIDTH = WINDOW_WIDTH - PANEL_WIDTH, WORLD_HEIGHT = WINDOW_HEIGHT - HEADER_HEIGHT };

#define SPEED_LIMIT 3.0 /* pixels a frame */

/* Objects that the scene holds: slots of an EDEN_FRAME of the caller's. */
enum {
    ROOT_SPACE,      /* the root element */
    ROOT_HORIZONTAL, /* layouts, shared by all elements; the tight ones have no spacing */
    ROOT_VERTICAL,
    ROOT_HORIZONTAL_TIGHT,
    ROOT_VERTICAL_TIGHT,
    ROOT_BASIC,
    ROOT_STAGE, /* the element that the flock is shown in */
    ROOT_FLOCK,
    ROOT_PANEL,       /* the histogram: a row of bar and text for each class of speeds */
    ROOT_FRAME_LABEL, /* text elements of the header */
    ROOT_HITS_LABEL,
    ROOT_POINTER,  /* Point in the window */
    ROOT_HOVERED,  /* OrderedCollection: the elements that the pointer is over, from the root down */
    ROOT_CHANGED,  /* OrderedCollection: what changed in this frame, BlBounds in the window */
    ROOT_REGION,   /* OrderedCollection: the damage region of this frame */
    ROOT_COMMANDS, /* OrderedCollection: the draw list of this frame */
    ROOTS
};

struct scene {
    struct program *program;
    eden_mutator *mutator;
    eden_class sites[SITES];
    eden_value *roots;
    struct random random;
    int64_t boids, trail, moves, drag;

    /* The answer. */
    uint64_t checksum; /* of all draw lists */
    int64_t damage;    /* pixels redrawn, where rectangles of a region overlap as often as that */
    int64_t hits;      /* pointer moves over a boid */
    int64_t enters;    /* times that the pointer came over a boid */
    int64_t measured;  /* elements measured */
    int64_t commands;
    int64_t elements;
};

/* The three ways to allocate. May collect; EDEN_NONE, noted, where memory is exhausted. */
eden_value scene_new(struct scene *scene, enum site site);
eden_value scene_new_slots(struct scene *scene, enum site site, size_t count);
eden_value scene_new_bytes(struct scene *scene, enum site site, size_t count);

/* Makes flock and tree. May collect. */
bool scene_build(struct scene *scene);
/* Puts the pointer in the middle of the window, over the root alone. May collect. */
bool pointer_begin(struct scene *scene);

/* The steps of a frame. May collect, all but scene_check. */
bool pointer_events(struct scene *scene);
bool flock_step(struct scene *scene);
bool show_flock(struct scene *scene, int64_t frame);
bool layout_tree(struct scene *scene);
bool damage_begin(struct scene *scene);
bool damage_region(struct scene *scene);
bool draw_tree(struct scene *scene);
bool scene_check(struct scene *scene);

#endif
