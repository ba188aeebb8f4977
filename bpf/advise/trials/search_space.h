/* What a search chooses among: axes, one a parameter, each with the values that are worth trying, and points, which
 * are a choice of one value on each axis. */
#ifndef EDEN_TUNE_SEARCH_SPACE_H
#define EDEN_TUNE_SEARCH_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum search_axis {
    AXIS_EDEN,
    AXIS_RATIO,
    AXIS_MIN_OLD,
    AXIS_HEADROOM,
    AXIS_SHRINK,
    AXIS_PROPORTION,
    AXIS_FILL,
    AXIS_CRITERION,
    AXIS_COMPACTOR,
    AXIS_REMEMBERED,
    AXIS_REST, /* whatever else the proposed options set, as one: set or not */
    SEARCH_AXES
};

enum { AXIS_VALUES = 32, AXIS_VALUE_SIZE = 32, SEARCH_POINT_TEXT = 1024 };

struct axis_values {
    const char *name; /* of the parameter; NULL: of AXIS_REST */
    bool ordered;     /* neighbours are alike, so that a search can follow them */
    unsigned stride;  /* values to step over at first */
    size_t count;
    size_t as_is; /* the value that the program has by itself, and that is never written down */
    char text[AXIS_VALUES][AXIS_VALUE_SIZE];
    double number[AXIS_VALUES]; /* of ordered axes, rising */
};

struct search_space {
    struct axis_values axis[SEARCH_AXES];
    char rest[SEARCH_POINT_TEXT]; /* the second value of AXIS_REST */
};

struct search_point {
    uint8_t choice[SEARCH_AXES]; /* index of a value on each axis */
};

/* The usual values. What the program has by itself is taken to be the table's default, or what `options` (in the form
 * of EDEN_OPTIONS; NULL: nothing) says, and the eden that its heap reported, in bytes. */
void search_space_init(struct search_space *space, uint64_t eden_size, const char *options);

/* The point in which the program is as it is. */
struct search_point search_as_is(const struct search_space *space);

/* The point of proposed options, whose values are put on the axes where they are not there. Call it before points
 * are made, as their numbers change. False: an axis is full, or the text too long. */
bool search_space_add(struct search_space *space, const char *options);
struct search_point search_point_of(const struct search_space *space, const char *options);

/* As EDEN_OPTIONS takes it: what differs from as it is. Writes to `text` and returns it. */
char *search_point_text(char text[SEARCH_POINT_TEXT], const struct search_space *space,
                        const struct search_point *point);

size_t search_point_changes(const struct search_space *space, const struct search_point *point); /* axes that differ */

#endif
