/* The scene: a space with a flock of boids in it, and above them a panel of labels.
 *
 * A frame: the flock moves and the labels are printed (flock.c); then all elements are measured, laid out and drawn
 * (element.c). Each of these three walks visits the children of an element by elevation, and sorts them anew. */
#ifndef BLOC_SCENE_H
#define BLOC_SCENE_H

#include "classes.h"
#include "random.h"

enum { WIDTH = 1280, HEIGHT = 720, UNIT = 256, WORLD_WIDTH = WIDTH * UNIT, WORLD_HEIGHT = HEIGHT * UNIT };
enum { LABELS = 8, ELEVATIONS = 10, PATH = 512 };

/* What lives to the end: slots of an EDEN_FRAME of the caller's. */
enum { ROOT_SPACE, ROOT_PANEL, ROOTS };

struct scene {
    struct program *program;
    eden_mutator *mutator;
    eden_class sites[BLOC_SITES];
    eden_value *roots;
    struct random random;
    size_t boids; /* the first children of the space; the last is the panel */
    size_t frame;
    uint64_t drawn;    /* elements, so far */
    uint64_t moved;    /* elements that the layout has moved, so far */
    uint64_t checksum; /* of all that was drawn */
};

/* Passes a new object on to --keep-class. EDEN_NONE, after program_fail, where memory is exhausted. May collect. */
static inline eden_value scene_kept(struct scene *scene, eden_value object) {
    object = program_kept(scene->program, scene->mutator, object);
    if (object == EDEN_NONE) {
        program_exhausted(scene->program, scene->mutator);
    }
    return object;
}
static inline eden_value scene_new(struct scene *scene, enum bloc_site site) {
    return scene_kept(scene, eden_new(scene->mutator, scene->sites[site]));
}
/* A new object whose slots from 0 on hold integers. */
static inline eden_value scene_new_numbers(struct scene *scene, enum bloc_site site, size_t count,
                                           const int64_t *numbers) {
    eden_value object = scene_new(scene, site);
    for (size_t i = 0; object != EDEN_NONE && i < count; i++) {
        eden_slot_set(scene->mutator, object, i, eden_int(numbers[i]));
    }
    return object;
}

static inline int64_t number_at(eden_value object, size_t slot) { return eden_int_value(eden_slot(object, slot)); }
static inline void number_at_put(struct scene *scene, eden_value object, size_t slot, int64_t number) {
    eden_slot_set(scene->mutator, object, slot, eden_int(number));
}
static inline eden_value scene_child(eden_value element, size_t index) {
    return eden_slot(eden_slot(element, ELEMENT_CHILDREN), index);
}

/* These return false after program_fail, and may collect. */

/* Makes all elements, with boids at random places. */
bool scene_make(struct scene *scene);
/* Each boid moves; every fifth steers first. */
bool flock_step(struct scene *scene);
/* Prints the flock's figures into the labels. */
bool flock_label(struct scene *scene);
/* Measures, lays out and draws all elements. */
bool scene_measure(struct scene *scene);
bool scene_layout(struct scene *scene);
bool scene_draw(struct scene *scene);

#endif
