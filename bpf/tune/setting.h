/* What a search chooses among: axes, one a parameter, each with the values that are worth trying, and settings, which
 * are a choice of one value on each axis. */
#ifndef EDEN_TUNE_SETTING_H
#define EDEN_TUNE_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum setting_axis {
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
    SETTING_AXES
};

enum { SETTING_VALUES = 32, SETTING_VALUE_SIZE = 32, SETTING_TEXT = 1024 };

struct setting_values {
    const char *name; /* of the parameter; NULL: of AXIS_REST */
    bool ordered;     /* neighbours are alike, so that one can walk along them */
    unsigned stride;  /* values to step over at first */
    size_t count;
    size_t as_is; /* the value that the program has by itself, and that is never written down */
    char text[SETTING_VALUES][SETTING_VALUE_SIZE];
    double number[SETTING_VALUES]; /* of ordered axes, rising */
};

struct setting_space {
    struct setting_values axis[SETTING_AXES];
    char rest[SETTING_TEXT]; /* the second value of AXIS_REST */
};

struct setting {
    uint8_t choice[SETTING_AXES]; /* index of a value on each axis */
};

/* The usual values. What the program has by itself is taken to be the table's default, or what `options` (EDEN_OPTIONS;
 * NULL: not set) says, and the eden that its heap told of, in bytes. */
void setting_space_init(struct setting_space *space, uint64_t eden_size, const char *options);

/* The setting in which the program is as it is. */
struct setting setting_as_is(const struct setting_space *space);

/* The setting of proposed options, whose values are put on the axes where they are not there. Call it before settings
 * are made, as their numbers change. False: an axis is full, or the text too long. */
bool setting_add(struct setting_space *space, const char *options);
struct setting setting_of(const struct setting_space *space, const char *options);

/* As EDEN_OPTIONS takes it: what differs from as it is. Writes to `text` and returns it. */
char *setting_text(char text[SETTING_TEXT], const struct setting_space *space, const struct setting *setting);

size_t setting_changes(const struct setting_space *space, const struct setting *setting); /* axes that differ */

#endif
