/* Elements: the tree that the scene is shown in. Nothing here collects but what says so. */
#ifndef BOIDS_ELEMENT_H
#define BOIDS_ELEMENT_H

#include "objects.h"

enum state {
    STATE_DIRTY = 1,     /* its size may have changed: to be measured again */
    STATE_UNPLACED = 2,  /* measured, its children not placed yet */
    STATE_UNTOUCHED = 4, /* the pointer does not see it */
    STATE_TEXT = 8,      /* its content is a ByteString */
    STATE_TRAIL = 16,    /* its content is a BoidTrail */
};

/* What an element asks for in one direction. */
enum resizer { FIT_CONTENT, MATCH_PARENT, EXACTLY };
enum direction { BASIC, HORIZONTAL, VERTICAL };
enum mode { MODE_EXACT, MODE_AT_MOST, MODE_UNSPECIFIED };

enum event { EVENT_MOVE, EVENT_ENTER, EVENT_LEAVE };
/* What handlers do (pointer.c). */
enum action { ACTION_HIT, ACTION_STARTLE, ACTION_CALM, ACTION_FOLLOW, ACTION_FORGET };

enum colour {
    COLOUR_BOID = 0x99BBEE,
    COLOUR_DOT = 0x3366CC,
    COLOUR_HOVERED = 0xCC3333,
    COLOUR_BAR = 0x339966,
    COLOUR_PANEL = 0xEEEEEE
};

static inline bool element_is(eden_value element, enum state state) {
    return (whole(element, ELEMENT_STATE) & state) != 0;
}
static inline void element_become(eden_mutator *mutator, eden_value element, enum state state, bool on) {
    int64_t now = whole(element, ELEMENT_STATE);
    whole_set(mutator, element, ELEMENT_STATE, on ? now | state : now & ~(int64_t)state);
}

static inline size_t children_count(eden_value element) {
    eden_value children = eden_slot(element, ELEMENT_CHILDREN);
    return children == EDEN_NONE ? 0 : collection_count(children);
}
static inline eden_value child_at(eden_value element, size_t index) {
    return collection_at(eden_slot(element, ELEMENT_CHILDREN), index);
}
static inline int64_t padding(eden_value element, size_t side) {
    return whole(eden_slot(element, ELEMENT_PADDING), side);
}

/* The element's size, or that of something in it, may have changed: it and all it stands in are to be measured again.
 */
void request_layout(eden_mutator *mutator, eden_value element);

/* The element looks otherwise, whether or not its bounds change: they are damaged. May collect. False, noted, where
 * memory is exhausted, as below. */
bool invalidate(struct scene *scene, eden_value element);
/* Its bounds have been replaced by others, fired as an event: where it was and where it is are damaged. May collect. */
bool bounds_changed(struct scene *scene, eden_value element, eden_value old);

/* Whether bounds in the window meet the damage region. */
bool region_meets(const struct scene *scene, struct box box);

/* Both halves of layout_tree. May collect. */
bool measure(struct scene *scene, eden_value element, eden_value spec);
bool arrange(struct scene *scene, eden_value element);
/* New BlExtentMeasurementSpec: just so large. May collect; EDEN_NONE where memory is exhausted. */
eden_value spec_exactly(struct scene *scene, int64_t width, int64_t height);

/* Trees are made from the root down: adds a new element to its parent (EDEN_NONE: none). May collect. */
struct element_plan {
    enum state state; /* STATE_TEXT, STATE_TRAIL, STATE_UNTOUCHED */
    int64_t padding;
    enum resizer width_kind;
    int64_t width;
    enum resizer height_kind;
    int64_t height;
    int layout;     /* its root; -1: a leaf */
    int64_t colour; /* -1: none */
};
eden_value element_new(struct scene *scene, eden_value parent, const struct element_plan *plan);

#endif
